"""Chromium without a window, driven over its DevTools protocol. Needs nothing but Python.

    with Chromium() as browser:
        browser.open("http://127.0.0.1:8080/")
        browser.wait("document.querySelector('h1')")
        browser.press("Enter")
        browser.screenshot("page.png")

The protocol goes through two pipes, so that no port is open to others: the browser reads commands from
descriptor 3 and writes answers and events to descriptor 4, each a JSON text that ends with a zero byte.
"""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

# Keys that are no characters: the code of their place, and the number that they have in the protocol.
KEYS = {
    "Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "Tab": ("Tab", 9, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""), "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowRight": ("ArrowRight", 39, ""), "ArrowDown": ("ArrowDown", 40, ""),
    "PageUp": ("PageUp", 33, ""), "PageDown": ("PageDown", 34, ""), "End": ("End", 35, ""),
    "Home": ("Home", 36, ""), "Delete": ("Delete", 46, ""), "Backspace": ("Backspace", 8, ""),
    "F2": ("F2", 113, ""),
}
MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}


class PageError(Exception):
    """What the browser or the page refuses."""


class Chromium:
    """One browser with one page."""

    def __init__(self, program="chromium", timeout=20):
        self.timeout = timeout
        # What the page complains of: exceptions, and errors and warnings on the console.
        self.complaints = []
        # The requests that were refused or failed: (status, address); the status is 0 without an answer.
        self.refusals = []
        # The dialogs that opened, by type; each was accepted.
        self.dialogs = []
        self._answers = {}
        self._next_id = 1
        self._loaded = threading.Event()
        self._news = threading.Condition()
        self._is_over = False
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        self._start(shutil.which(program) or program)
        try:
            target = self._command("Target.createTarget", {"url": "about:blank"})["targetId"]
            self._session = self._command(
                "Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.command(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def _start(self, program):
        # Both ends are moved out of the way of the numbers that the browser expects.
        (read_commands, write_commands), (read_answers, write_answers) = (
            [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in pipe]
            for pipe in (self._pipe(), self._pipe()))

        def arrange():
            os.dup2(read_commands, 3)
            os.dup2(write_answers, 4)

        self._session = None
        self._process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--hide-scrollbars", "--disable-extensions", "--remote-debugging-pipe",
             f"--user-data-dir={self._profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(3, 4), preexec_fn=arrange, start_new_session=True)
        os.close(read_commands)
        os.close(write_answers)
        self._commands = os.fdopen(write_commands, "wb")
        self._events = os.fdopen(read_answers, "rb")
        threading.Thread(target=self._listen, daemon=True).start()

    @staticmethod
    def _pipe():
        ends = os.pipe()
        for end in ends:
            os.set_inheritable(end, False)
        return ends

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the browser and removes what it has written."""
        self._is_over = True
        try:
            self._command("Browser.close", wait=False)
            self._process.wait(5)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    # The protocol

    def command(self, method, parameters=None):
        """Sends a command about the page; returns its result."""
        return self._command(method, parameters, session=self._session)

    def _command(self, method, parameters=None, session=None, wait=True):
        with self._news:
            message = {"id": self._next_id, "method": method, "params": parameters or {}}
            self._next_id += 1
            if session:
                message["sessionId"] = session
            self._commands.write(json.dumps(message).encode() + b"\0")
            self._commands.flush()
        if not wait:
            return None
        with self._news:
            has_answer = self._news.wait_for(
                lambda: message["id"] in self._answers or self._is_over, self.timeout)
            answer = self._answers.pop(message["id"], None)
        if not has_answer or answer is None:
            raise PageError(f"The browser does not answer {method}.")
        if "error" in answer:
            raise PageError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _listen(self):
        text = b""
        while part := self._events.read1(1 << 16):
            *messages, text = (text + part).split(b"\0")
            for message in map(json.loads, messages):
                if "id" in message:
                    with self._news:
                        self._answers[message["id"]] = message
                        self._news.notify_all()
                else:
                    self._note(message["method"], message["params"])
        with self._news:
            self._is_over = True
            self._news.notify_all()

    def _note(self, method, event):
        if method == "Page.loadEventFired":
            self._loaded.set()
        elif method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.complaints.append(
                details.get("exception", {}).get("description") or details.get("text", "exception"))
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            texts = [str(value.get("value", value.get("description"))) for value in event["args"]]
            self.complaints.append(" ".join(texts))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            # Refused requests are kept apart, with their status.
            if event["entry"]["source"] != "network":
                self.complaints.append(event["entry"]["text"])
        elif method == "Network.responseReceived" and event["response"]["status"] >= 400:
            self.refusals.append((event["response"]["status"], event["response"]["url"]))
        elif method == "Network.loadingFailed" and not event.get("canceled"):
            self.refusals.append((0, event.get("errorText", "")))
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(event["type"])
            # The answer would be waited for by the thread that has to hear it.
            threading.Thread(
                target=self.command, args=("Page.handleJavaScriptDialog", {"accept": True})).start()

    # The page

    def open(self, address):
        """Opens an address and waits until it is loaded."""
        # An address that differs in its fragment only would not be loaded anew.
        self._load("Page.navigate", {"url": "about:blank"})
        self._load("Page.navigate", {"url": address})

    def reload(self):
        """Loads the page anew."""
        self._load("Page.reload")

    def _load(self, method, parameters=None):
        self._loaded.clear()
        result = self.command(method, parameters)
        if result.get("errorText"):
            raise PageError(f"The page cannot be opened: {result['errorText']}")
        if not self._loaded.wait(self.timeout):
            raise PageError("The page is not loaded in time.")

    def evaluate(self, script):
        """The value of an expression on the page; a promise is waited for."""
        result = self.command("Runtime.evaluate", {
            "expression": script, "awaitPromise": True, "returnByValue": True, "userGesture": True})
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise PageError(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    def wait(self, script, timeout=10):
        """Waits until an expression is true on the page; returns its value, which is false in time."""
        end = time.monotonic() + timeout
        while not (value := self.evaluate(script)) and time.monotonic() < end:
            time.sleep(0.02)
        return value

    def type(self, text):
        """Types a text into what has the focus."""
        self.command("Input.insertText", {"text": text})

    def press(self, key, *modifiers):
        """Presses a key, as "a", "Enter" or "F2", while others are held, as "Control"."""
        code, number, text = KEYS.get(key, ("", ord(key[0].upper()), key))
        held = sum(MODIFIERS[modifier] for modifier in modifiers)
        event = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": held}
        if text and not held & ~MODIFIERS["Shift"]:
            self.command("Input.dispatchKeyEvent", {**event, "type": "keyDown", "text": text})
        else:
            self.command("Input.dispatchKeyEvent", {**event, "type": "rawKeyDown"})
        self.command("Input.dispatchKeyEvent", {**event, "type": "keyUp"})

    def click(self, selector, count=1):
        """Clicks into the middle of the element that a selector finds."""
        x, y = self._middle(selector)
        for number in range(1, count + 1):
            event = {"x": x, "y": y, "button": "left", "clickCount": number}
            self.command("Input.dispatchMouseEvent", {**event, "type": "mousePressed"})
            self.command("Input.dispatchMouseEvent", {**event, "type": "mouseReleased"})

    def hover(self, selector, x=None, y=None):
        """Moves the pointer over an element: to its middle, or to a place from its corner."""
        place = self._middle(selector)
        if x is not None:
            left, top = self.evaluate(
                f"(({{ left, top }}) => [left, top])"
                f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")
            place = [left + x, top + y]
        x, y = place
        self.command("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})

    def _middle(self, selector):
        place = self.evaluate(
            f"(() => {{ const node = document.querySelector({json.dumps(selector)});"
            " if (!node) return null;"
            " node.scrollIntoView({ block: 'nearest', inline: 'nearest' });"
            " const box = node.getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()")
        if place is None:
            raise PageError(f"There is no '{selector}' on the page.")
        return place

    # What the page is shown on

    def set_size(self, width, height, scale=1, is_phone=False):
        """Sets the size of the page's window."""
        self.command("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": scale, "mobile": is_phone})

    def set_dark(self, is_dark):
        """Sets what `prefers-color-scheme` says."""
        feature = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.command("Emulation.setEmulatedMedia", {"features": [feature]})

    def set_offline(self, is_offline):
        """Cuts the page off from the network, or joins it again."""
        self.command("Network.emulateNetworkConditions", {
            "offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})

    def screenshot(self, path):
        """Writes what the window shows as a PNG."""
        data = self.command("Page.captureScreenshot", {"format": "png"})["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
