"""A page in headless Chromium, through the DevTools protocol on two pipes."""

import json
import os
import shutil
import subprocess
import time
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage")
COMMANDS, ANSWERS = 3, 4  # the file descriptors that Chromium reads from and writes to
SECONDS = 60  # until a page is ready


def needed():
    """The program; skips the test without one."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("Chromium is not installed")
    return program


@contextmanager
def opened(profile):
    """A Page; `profile` is a new folder for what Chromium stores."""
    commands, to_chromium = os.pipe()
    from_chromium, answers = os.pipe()

    def connect():
        high = [os.dup(commands), os.dup(answers)]  # neither is overwritten by the next line
        os.dup2(high[0], COMMANDS)
        os.dup2(high[1], ANSWERS)

    process = subprocess.Popen(
        [needed(), *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}"],
        preexec_fn=connect,
        close_fds=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(commands)
    os.close(answers)
    try:
        with os.fdopen(to_chromium, "wb", 0) as sent, os.fdopen(from_chromium, "rb") as received:
            yield Page(sent, received)
    finally:
        process.terminate()
        process.wait(timeout=20)


class Page:
    """requests: the addresses that the page has asked for."""

    def __init__(self, sent, received):
        self.sent, self.received, self.number, self.session = sent, received, 0, None
        self.requests = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        self.call("Page.enable")
        self.call("Network.enable")

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.sent.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])
            if answer.get("id") == self.number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _read(self):
        parts = []
        while (byte := self.received.read(1)) != b"\0":
            assert byte, "Chromium has ended"
            parts.append(byte)
        return json.loads(b"".join(parts))

    def evaluate(self, code):
        """The value of an expression, or what its promise resolves to."""
        result = self.call(
            "Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def open(self, address, ready):
        """Open an address, and wait until the expression `ready` is true."""
        self.call("Page.navigate", url=address)
        self.wait(ready)

    def wait(self, ready):
        end = time.monotonic() + SECONDS
        while not self.evaluate(f"Boolean({ready})"):
            assert time.monotonic() < end, self.evaluate("document.body?.innerText ?? ''")
            time.sleep(0.05)
