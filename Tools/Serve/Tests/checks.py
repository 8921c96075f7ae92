"""A page in a browser, the server behind it, and checks that compare the two."""

import json
import os
import urllib.error
import urllib.parse
import urllib.request


class Failure(Exception):
    """A check that failed."""


class Page:
    """What a scenario uses: `browser`, the server's answers, and checks."""

    def __init__(self, browser, address, screenshots=None):
        self.browser = browser
        self.address = address
        self.base, _, self.token = address.partition("#")
        self.screenshots = screenshots
        self.count = 0
        # Statuses that the scenario has provoked.
        self.expected = set()

    # The server

    def read(self, path, **parameters):
        """The server's answer to a question."""
        return self._ask(path + "?" + urllib.parse.urlencode(parameters))[1]

    def refusal(self, path, **parameters):
        """The status and the answer when the server refuses."""
        return self._ask(path + "?" + urllib.parse.urlencode(parameters), fails=True)

    def save(self, *edits):
        """Saves edits past the page, as another process would."""
        return self._ask("save", json.dumps({"edits": edits}).encode())[1]

    def _ask(self, path, body=None, fails=False):
        request = urllib.request.Request(
            f"{self.base}api/{path}", data=body, headers={"Authorization": f"Bearer {self.token}"})
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            answer = json.load(error)
            if fails:
                return error.code, answer
            raise Failure(f"/api/{path}: {error.code} {answer.get('error')}") from error

    # The page

    def show(self, address):
        """Goes to a place of the page, as a link would."""
        self.browser.evaluate(f"location.hash = {json.dumps(address)}")

    def value(self, script):
        return self.browser.evaluate(script)

    def text(self, selector):
        """The text of the element that the selector finds; None without one."""
        return self.value(f"document.querySelector({json.dumps(selector)})?.textContent ?? null")

    def texts(self, selector):
        return self.value(
            f"[...document.querySelectorAll({json.dumps(selector)})].map((node) => node.textContent)")

    def rows(self):
        """The rows of the table that is shown, by what their links say."""
        links = self.value(
            "[...document.querySelectorAll('.rows tbody th a')].map((a) => a.getAttribute('href'))")
        return [urllib.parse.unquote(link.rpartition("/")[2]) for link in links]

    def wait_for_rows(self, rows, what):
        """Waits until the table has these rows in this order."""
        script = ("JSON.stringify([...document.querySelectorAll('.rows tbody th a')]"
                  ".map((a) => decodeURIComponent(a.getAttribute('href').split('/').pop())))")
        wanted = json.dumps(json.dumps(rows, separators=(",", ":")))
        self.check(self.browser.wait(f"{script} === {wanted}"), what, lambda: self.rows()[:5])

    def screenshot(self, name):
        if self.screenshots:
            self.browser.screenshot(os.path.join(self.screenshots, f"{name}.png"))

    # Checks

    def check(self, condition, what, found=None):
        """Fails unless the condition holds; `found` says what is there instead."""
        if not condition:
            there = found() if callable(found) else found
            raise Failure(what if there is None else f"{what}; found {there!r}")
        self.count += 1
        print(f"ok  {what}", flush=True)

    def wait(self, script, what):
        """Fails unless an expression becomes true on the page."""
        self.check(self.browser.wait(script), what)

    def wait_for(self, selector, what):
        self.wait(f"document.querySelector({json.dumps(selector)}) !== null", what)

    def check_complaints(self):
        self.check(not self.browser.complaints, "the console has no errors", self.browser.complaints)
        others = [each for each in self.browser.refusals if each[0] not in self.expected]
        self.check(not others, "no request was refused unexpectedly", others)
