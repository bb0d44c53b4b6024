"""PySide6 6.12.0 on Python 3.11 loses references until the process aborts.

It loses one to None at each void call and one to True at each emit.
"""

import subprocess
import sys

import pytest

CALLS = 20_000
PROGRAM = f"""
import sys
from PySide6.QtCore import QObject, Signal

class Sender(QObject):
    message = Signal(int)

before = sys.getrefcount(None), sys.getrefcount(True)
it, sender = QObject(), Sender()
sender.message.connect(lambda _n: None)
for number in range({CALLS}):
    it.setObjectName("a")
    sender.message.emit(number)
after = sys.getrefcount(None), sys.getrefcount(True)
assert all(abs(a - b) < 1000 for a, b in zip(before, after)), (before, after)
"""


@pytest.mark.process
def test_twenty_thousand_void_calls_and_emits_lose_no_reference():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60
    )

    assert done.returncode == 0, done.stderr[-500:]
