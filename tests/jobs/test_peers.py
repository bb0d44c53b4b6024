"""Jobs that several processes compute together."""

import time
from pathlib import Path

import psutil
import pytest

from workbench.jobs import peers
from workbench.jobs.events import Output
from workbench.jobs.queue import Queue
from workbench.jobs.spec import JobSpec

pytestmark = pytest.mark.process


@pytest.fixture
def queue(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    queue = Queue()
    yield queue
    queue.close(keep=False, timeout=10)


def job(folder, **params):
    return JobSpec("job_targets:meets", params, str(folder), processes=3, stoppable=True)


def processes(folder):
    """Ids of the processes that have come."""
    return [int(path.read_text()) for path in folder.glob("here-*")]


def are_gone(ids):
    ends = time.monotonic() + 10
    while any(map(psutil.pid_exists, ids)) and time.monotonic() < ends:
        time.sleep(0.05)
    return not any(map(psutil.pid_exists, ids))


def test_the_first_process_reports_for_all(queue, tmp_path):
    together = queue.add(job(tmp_path))
    assert queue.wait(together, 30)

    lines = [event.payload["line"] for event in together.events if isinstance(event, Output)]
    assert (together.status, together.result) == ("done", {"number": 0})
    assert lines == ["0 of 3"]
    assert len(processes(tmp_path)) == 3 and are_gone(processes(tmp_path))


@pytest.mark.parametrize("how, reason", [("fails", "This one is full."), ("dies", "return code 7")])
def test_all_end_with_a_message_when_one_of_them_does(how, reason, queue, tmp_path):
    together = queue.add(
        JobSpec(
            "job_targets:meets",
            {how: 2},
            str(tmp_path),
            processes=3,
        )
    )
    assert queue.wait(together, peers.HANGS + 30)

    assert together.status == "crashed"
    assert together.message == f"Process 3 of 3 ended: {reason}"
    assert are_gone(processes(tmp_path))


def test_cancel_ends_all(queue, tmp_path):
    together = queue.add(job(tmp_path, waits=True))
    queue.dispatch.wait(lambda: len(processes(tmp_path)) == 3, 30)

    together.cancel()

    assert queue.wait(together, 20) and together.status == "cancelled"
    assert are_gone(processes(tmp_path))
