"""Headless Chromium over its own pipe (`--remote-debugging-pipe`): no driver, no port, no package."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
KEYS = {
    "Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36,
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
}  # fmt: skip


def find() -> str | None:
    """The browser that is installed here: `COSTMODEL_BROWSER`, else by name."""
    return os.environ.get("COSTMODEL_BROWSER") or next((p for p in map(shutil.which, NAMES) if p), None)


class Browser:
    """One tab. `console` and `requests` collect what the page logs and asks for."""

    def __init__(self, program: str, profile: Path, timeout: float = 60):
        ours_read, theirs_write = os.pipe()
        theirs_read, ours_write = os.pipe()
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (theirs_read, theirs_write)]

        def wire():
            os.dup2(high[0], 3, inheritable=True)
            os.dup2(high[1], 4, inheritable=True)

        silent = subprocess.DEVNULL
        command = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent, close_fds=False, preexec_fn=wire)
        for fd in (theirs_read, theirs_write, *high):
            os.close(fd)
        self.read, self.write, self.timeout = ours_read, ours_write, timeout
        self.buffer, self.count, self.session = b"", 0, None
        self.console: list[str] = []
        self.requests: list[str] = []
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """End the browser."""
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.read)
        os.close(self.write)

    def call(self, method: str, **params):
        """The result of a command; events that arrive before it are noted."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": params} | ({"sessionId": self.session} if self.session else {})
        os.write(self.write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + self.timeout
        while True:
            found = self._next(end)
            if found.get("id") == self.count:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                return found["result"]
            self._note(found)

    def _next(self, end: float) -> dict:
        while b"\0" not in self.buffer:
            ready = select.select([self.read], [], [], max(0, end - time.monotonic()))[0]
            data = os.read(self.read, 1 << 20) if ready else b""
            if not data:
                raise TimeoutError("the browser does not answer")
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def _note(self, event: dict) -> None:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.console.append(json.dumps(params["exceptionDetails"])[:600])
        elif method == "Runtime.consoleAPICalled":
            self.console.append(json.dumps(params["args"])[:600])
        elif method == "Log.entryAdded":
            self.console.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def open(self, page: Path, width: int = 1280, height: int = 900, mobile: bool = False, scheme: str = "light") -> None:
        """Show a file in a window of a size; returns when it has been drawn."""
        self.window(width, height, mobile, scheme)
        self.console.clear()
        self.requests.clear()
        self.call("Page.navigate", url=page.as_uri())
        self.wait("document.readyState === 'complete'")
        self.settle()

    def window(self, width: int, height: int, mobile: bool = False, scheme: str = "light") -> None:
        """The size of the window, and its colour scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def settle(self) -> None:
        """Wait until two frames have been drawn."""
        self.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def wait(self, condition: str) -> None:
        """Wait until an expression holds."""
        end = time.monotonic() + self.timeout
        while not self.js(condition):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.05)

    def js(self, expression: str):
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"].get("exception", {}).get("description", str(found)))
        return found["result"].get("value")

    def press(self, key: str, times: int = 1, shift: bool = False) -> None:
        """Press a key, as a keyboard does."""
        code = KEYS[key]
        more = {"text": "\r" if key == "Enter" else " "} if key in ("Enter", " ") else {}
        for _ in range(times):
            for kind in ("keyDown", "keyUp"):
                given = {"type": kind, "key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": code}
                self.call("Input.dispatchKeyEvent", **given, **(more if kind == "keyDown" else {}), modifiers=8 if shift else 0)
        self.settle()

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.call("Input.insertText", text=text)
        self.settle()

    def picture(self, file: Path, full: bool = True) -> None:
        """A screenshot as PNG."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=full)["data"]
        file.write_bytes(base64.b64decode(data))

    def names(self) -> list[tuple[str, str]]:
        """(role, accessible name) of everything that can have the focus."""
        found = []
        for node in self.call("Accessibility.getFullAXTree")["nodes"]:
            focusable = any(p["name"] == "focusable" and p["value"]["value"] for p in node.get("properties", ()))
            if focusable and not node.get("ignored"):
                found.append((node["role"]["value"], node.get("name", {}).get("value", "")))
        return found
