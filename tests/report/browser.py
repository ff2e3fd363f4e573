"""Drive a real headless Chromium over its debugging pipe, with nothing but the standard library."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
TIMEOUT_S = 300.0
FLAGS = (
    "--headless=new",
    "--no-sandbox",  # containers have no user namespaces; the page is our own
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--remote-debugging-pipe",
    "--window-size=1200,900",
)


def find_browser() -> str | None:
    """Return a Chromium's program: ``$CHROMIUM``, or the first of the usual names on the path."""
    return os.environ.get("CHROMIUM") or next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page of a browser; commands are those of the Chrome DevTools Protocol.

    Attributes:
        requests: addresses that the page asked for, itself aside.
        complaints: errors and warnings of its console, and exceptions that nothing caught.
    """

    def __init__(self, program: str):
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._folder = tempfile.mkdtemp(prefix="gpugraph-browser-")
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()

        def wire() -> None:  # the pipe is file descriptors 3 and 4, which may be taken by what is to be moved there
            spare_in, spare_out = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out))
            os.dup2(spare_in, 3)
            os.dup2(spare_out, 4)

        self._process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={self._folder}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=wire,
            close_fds=False,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._rest = b""
        self._count = 0
        self._session: str | None = None
        target = next(t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its answer."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self._count:
                assert "error" not in answer, f"{method}: {answer.get('error')}"
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, path: Path) -> None:
        """Open a page and wait until it says that it is ready."""
        self.requests.clear()
        self.complaints.clear()
        self.run("delete document.documentElement.dataset.ready")  # it may show that page already
        self.send("Page.navigate", url=path.as_uri())
        deadline = time.monotonic() + TIMEOUT_S
        state = "location.href + document.readyState + document.documentElement?.dataset.ready"
        while self.run(state) != f"{path.as_uri()}completetrue":
            assert time.monotonic() < deadline, f"the page does not become ready: {self.complaints}"
            time.sleep(0.02)

    def run(self, script: str) -> Any:
        """Return the value of an expression on the page."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def close(self) -> None:
        """End the browser."""
        with contextlib.suppress(OSError, AssertionError):
            self._session = None
            self.send("Browser.close")
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _receive(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            read = os.read(self._from, 1 << 20)
            assert read, "the browser has ended"
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, event: str | None, told: dict[str, Any]) -> None:
        if event == "Network.requestWillBeSent":
            url = told["request"]["url"]
            if told.get("type") != "Document" and not url.startswith(("data:", "blob:")):
                self.requests.append(url)
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(told["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(told["args"]))
        elif event == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.complaints.append(json.dumps(told["entry"]))
