"""What a worker says of its end when even its own folder cannot be written. /dev/full is a disk without room."""

import errno
import json
import os
import sqlite3
from pathlib import Path

import pytest

from workbench.jobs import events, worker
from workbench.jobs.channel import Channel

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
def test_the_parent_hears_the_end_though_the_record_cannot_be_written():
    incoming, outgoing = os.pipe()
    channel = Channel(outgoing, FULL)

    channel.send(events.Finished("failed", message="one"))
    channel.send(events.Finished("failed", message="two"))
    channel.close()
    os.close(outgoing)

    with os.fdopen(incoming) as lines:
        assert [json.loads(line)["message"] for line in lines] == ["one", "two"]


def test_a_record_that_cannot_be_made_is_no_fault(tmp_path):
    Channel(os.open(os.devnull, os.O_WRONLY), tmp_path / "gone" / "events.jsonl").send(
        events.Finished("done")
    )


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
def test_a_full_disk_is_told_as_such_though_the_log_lies_on_it(monkeypatch, error):
    monkeypatch.setattr("sys.stderr", FullLog())

    finished = worker.failure(error)

    assert (
        finished.status == "failed"
        and finished.message.startswith("There is no room left on the disk")
        and finished.hint
    )
