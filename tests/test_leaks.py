"""The look-out for what tests leave behind sees it, and says what it is."""

import subprocess
import sys
import threading

import pytest

from tests import leaks


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    monkeypatch.setattr(leaks, "PATIENCE", 0.1)


def test_a_thread_is_named():
    before, end = leaks.snapshot(), threading.Event()
    thread = threading.Thread(target=end.wait, name="forgotten")
    thread.start()

    left = leaks.left_since(before)
    end.set()
    thread.join()

    assert left == ["thread forgotten"]


@pytest.mark.process
def test_a_child_process_is_reported_with_its_command():
    before = leaks.snapshot()
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])

    left = leaks.left_since(before)
    child.kill()
    child.wait()

    assert len(left) == 1 and "time.sleep(60)" in left[0]


def test_a_window_is_named(qapp):
    from PySide6.QtWidgets import QWidget

    before = leaks.snapshot()
    widget = QWidget()
    widget.setObjectName("orphan")

    left = leaks.left_since(before)
    widget.deleteLater()

    assert len(left) == 1 and "orphan" in left[0]


def test_an_open_project_file_is_reported(tmp_path):
    before = leaks.snapshot()
    with open(tmp_path / "x.glossbench", "w"):
        left = leaks.left_since(before)

    assert len(left) == 1 and "x.glossbench" in left[0]


def test_what_ends_in_time_is_no_leak():
    before = leaks.snapshot()
    threading.Timer(0.02, lambda: None).start()

    assert leaks.left_since(before) == []


def test_tests_reach_loopback_only():
    import socket

    with socket.socket() as outward, pytest.raises(ConnectionRefusedError, match="loopback only"):
        outward.connect(("192.0.2.1", 80))
