"""The failure of a target, described for the user."""

import errno
import sqlite3

import pytest

from workbench.jobs import target


class FullLog:
    def write(self, _text):
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device", "/small/model.safetensors"),
        sqlite3.OperationalError("database or disk is full"),
        RuntimeError("I/O error: No space left on device (os error 28)"),
    ],
)
def test_a_full_disk_is_reported_as_such_though_the_log_lies_on_it(monkeypatch, error):
    monkeypatch.setattr("sys.stderr", FullLog())

    finished = target.failure(error)

    assert (
        finished.status == "failed"
        and finished.message.startswith("No space left on the disk")
        and finished.hint
    )
