"""Clients that mean harm, or do not know better: each is refused or bounded, and the server goes on.

    hostile.py ADDRESS
"""
import http.client
import json
import socket
import sys
import time

ADDRESS = sys.argv[1]
PLACE, TOKEN = ADDRESS.removeprefix("http://").split("/#")
HOST, PORT = PLACE.split(":")[0], int(PLACE.split(":")[1])
failures = []


def check(name, holds, found=""):
    print(("ok    " if holds else "FAILED ") + name + ("" if holds else f": {found}"))
    if not holds:
        failures.append(name)


def ask(method, path, headers=None, body=None):
    """The status and the body of an ordinary request."""
    connection = http.client.HTTPConnection(HOST, PORT, timeout=60)
    try:
        all_headers = {"Authorization": f"Bearer {TOKEN}"} | (headers or {})
        connection.request(method, path, body=body, headers=all_headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def raw(data, seconds=30):
    """What comes back for these bytes until the server closes."""
    with socket.create_connection((HOST, PORT), timeout=seconds) as client:
        try:
            client.sendall(data)
            answer = b""
            while part := client.recv(65536):
                answer += part
            return answer
        except (ConnectionError, socket.timeout) as error:
            return repr(error).encode()


def head(path="/api/store", more=""):
    return (f"GET {path} HTTP/1.1\r\nHost: {PLACE}\r\nAuthorization: Bearer {TOKEN}\r\n{more}").encode()


def serves():
    """Whether an ordinary request is answered, if not at once."""
    end = time.monotonic() + 60
    while True:
        status, body = ask("GET", "/api/store")
        if status != 503 or time.monotonic() > end:
            return status == 200 and "classes" in json.loads(body)
        time.sleep(0.2)


def refused(answer):
    return b" 200 " not in answer.split(b"\r\n")[0]


check("an ordinary request is answered", serves())

# Others' names, sites and tokens.
check("another host is refused", ask("GET", "/api/store", {"Host": "evil.example"})[0] == 403)
check("another origin is refused", ask("GET", "/api/store", {"Origin": "http://evil.example"})[0] == 403)
check("a wrong token is refused", ask("GET", "/api/store", {"Authorization": "Bearer 0"})[0] == 401)
check("a preflight is refused", ask("OPTIONS", "/api/save", {"Origin": "http://evil.example"})[0] == 403)
for path in ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/api/../store", "/\\..\\x"]:
    status, body = ask("GET", path)
    check(f"the path {path} leads nowhere", status == 404 and b"root:" not in body, status)

# What is no HTTP, or too much of it.
check("noise is refused", refused(raw(b"\x16\x03\x01\x02\x00" * 100 + b"\r\n\r\n")))
check("a request without an end is let go", refused(raw(b"GET / HTTP/1.1\r\nHost: x")))
check("a header of a mebibyte is refused", refused(raw(head(more="X: " + "a" * (1 << 20) + "\r\n\r\n"))))
check("ten thousand headers are refused", refused(raw(head(more="X: a\r\n" * 10_000 + "\r\n"))))
check("an endless path is refused", refused(raw(b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\n\r\n")))
both = head().replace(b"GET", b"POST") + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
raw(both, 3)
check("two lengths of a body do no harm", serves())

# Predicates and bodies.
status, _ = ask("GET", "/api/rows?class=Person&query=" + "(" * 8000)
check("a deep predicate is refused", status == 400, status)
status, _ = ask("GET", "/api/rows?class=Person&query=" + "a" * 20_000)
check("a long predicate is refused", status == 413, status)
status, _ = ask("GET", "/api/rows?class=Person&query=" + "age%3D1%20OR%20" * 600 + "age%3D1")
check("a wide predicate is answered", status in (200, 400), status)
status, _ = ask("POST", "/api/save", body=b"[" * (1 << 19))
check("a deep body is refused", status in (400, 403), status)
try:
    status, _ = ask("POST", "/api/save", body=b" " * (8 << 20))
except ConnectionError:
    status = "closed"
check("a long body is refused", status in (413, 403, "closed"), status)

# Clients that take their time.
start = time.monotonic()
slow = socket.create_connection((HOST, PORT))
slow.settimeout(60)
slow.sendall(head("/api/save").replace(b"GET", b"POST") + b"Content-Length: 1000\r\n\r\n")
check("others are served while a body does not come", serves())
try:
    while time.monotonic() - start < 40:
        slow.sendall(b" ")
        slow.settimeout(1)
        try:
            if slow.recv(1) is not None:
                break
        except socket.timeout:
            pass
except ConnectionError:
    pass
check("a body that does not come is given up", time.monotonic() - start < 40)
slow.close()

clients = []
for _ in range(1000):
    client = socket.socket()
    client.settimeout(2)
    try:
        client.connect((HOST, PORT))
        client.sendall(b"GET / HT")
        clients.append(client)
    except OSError:
        client.close()
check("a thousand connections end, and the server goes on", serves())
for client in clients:
    client.close()

# Clients that ask and do not take what they asked for.
clients = []
for _ in range(100):
    client = socket.create_connection((HOST, PORT))
    client.sendall(head("/api/rows?class=Person&count=500", "\r\n") * 5)
    clients.append(client)
for client in clients:
    client.close()
check("clients that do not read do no harm", serves())

client = socket.socket()
client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
client.connect((HOST, PORT))
client.sendall(head("/api/rows?class=Person&count=500", "\r\n") * 200)
client.settimeout(1)
start = time.monotonic()
while time.monotonic() - start < 120:
    # What the other side has closed answers that it knows of no such connection.
    try:
        client.send(b" ")
    except TimeoutError:
        pass
    except ConnectionError:
        break
    time.sleep(1)
check("a client that does not take its answers is let go", time.monotonic() - start < 120)
check("the server goes on after it", serves())
client.close()

statuses = set()
streams = []
for _ in range(40):
    client = socket.create_connection((HOST, PORT), timeout=20)
    client.sendall(head("/api/events", "\r\n"))
    statuses.add(client.recv(12).split(b" ")[1])
    streams.append(client)
check("only so many pages are told of changes", statuses == {b"200", b"503"}, statuses)
for client in streams:
    client.close()
check("the server still answers", serves())

sys.exit(1 if failures else 0)
