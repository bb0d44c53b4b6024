"""A worker whose time and memory are limited, driven from any thread."""

import os
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from workbench.base.errors import Cancelled, JobFailed
from workbench.base.watch import Watch
from workbench.jobs.limited import LimitedHost, OutOfMemory, OutOfTime
from workbench.jobs.spec import Limits

pytestmark = pytest.mark.process
MEGABYTE = 1024 * 1024


@pytest.fixture(autouse=True)
def targets(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


@pytest.fixture
def host():
    host = LimitedHost("job_targets:consumer", Limits(seconds=0.3, memory=100 * MEGABYTE))
    yield host
    host.close()


def test_the_parts_of_an_answer_arrive_in_order(host):
    parts = []

    answer = host.ask({"parts": 3}, on_part=parts.append)

    assert parts == [0, 1, 2] and answer == {"parts": 3}


def test_it_starts_with_the_first_request_and_stays(host):
    assert host.pid is None
    host.ask({"parts": 1})
    first = host.pid
    host.ask({"parts": 1})

    assert host.pid == first is not None


@pytest.mark.parametrize("way", ["loop", "native"])
def test_a_request_over_its_time_is_ended_and_the_next_one_is_answered(host, way):
    host.ask({"parts": 1})
    start = time.monotonic()

    with pytest.raises(OutOfTime):
        host.ask({way: True})

    assert time.monotonic() - start < 10
    assert host.ask({"parts": 1}) == {"parts": 1}


def test_native_code_is_ended_where_the_worker_has_no_limits_of_its_own(host):
    """As on Windows, where only the parent watches."""
    with pytest.raises(OutOfTime):
        host.ask({"native": True, "unlimited": True})
    assert host.ask({"parts": 1}) == {"parts": 1}


@pytest.mark.parametrize("unlimited", [False, True])
def test_a_request_over_its_memory_is_ended(host, unlimited):
    with pytest.raises(OutOfMemory):
        host.ask({"memory": 400 * MEGABYTE, "loop": True, "unlimited": unlimited})
    assert host.ask({"parts": 1}) == {"parts": 1}


def test_time_counts_anew_after_each_part(host):
    parts = []
    host.ask({"parts": 6, "work": 0.1}, on_part=parts.append)

    assert len(parts) == 6  # 0.6 s in all, 0.1 s each, limit 0.3 s


def test_a_crash_is_reported_and_the_next_request_starts_a_new_worker(host):
    with pytest.raises(JobFailed, match="ended unexpectedly"):
        host.ask({"die": True})

    assert host.ask({"parts": 1}) == {"parts": 1}


def test_an_error_of_the_target_is_raised_with_its_message(host):
    with pytest.raises(JobFailed, match="That text is empty"):
        host.ask({"bad": True})


def test_cancelling_ends_a_request_that_is_being_worked_on(host):
    host = LimitedHost("job_targets:consumer", Limits(seconds=60, memory=100 * MEGABYTE))
    watch, raised = Watch(), []

    def ask():
        try:
            host.ask({"native": True}, watch=watch)
        except Cancelled as error:
            raised.append(error)

    try:
        host.ask({"parts": 1})
        thread = threading.Thread(target=ask)
        thread.start()
        watch.cancel()
        thread.join(10)

        assert raised and host.ask({"parts": 1}) == {"parts": 1}
    finally:
        host.close()


def test_cancelling_while_the_worker_starts_lets_it_start(host):
    """Else someone who types without a pause would end one after the other before it is ready."""
    watch = Watch()
    watch.cancel()
    for _again in range(3):
        with pytest.raises(Cancelled):
            host.ask({"parts": 1}, watch=watch)
    assert host.pid is None  # refused before anything starts

    late, pids = Watch(), []

    def ask():
        with pytest.raises(Cancelled):
            host.ask({"parts": 1}, watch=late)
        pids.append(host.pid)

    thread = threading.Thread(target=ask)
    thread.start()
    late.cancel()
    thread.join(20)

    assert host.ask({"parts": 1}) == {"parts": 1} and pids in ([host.pid], [None])


def test_closing_ends_a_request_in_another_thread(host):
    host = LimitedHost("job_targets:consumer", Limits(seconds=60, memory=100 * MEGABYTE))
    host.ask({"parts": 1})
    raised = []

    def ask():
        try:
            host.ask({"native": True})
        except JobFailed as error:
            raised.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    host.close()
    thread.join(10)

    assert raised and host.pid is None
    with pytest.raises(JobFailed, match="closed"):
        host.ask({"parts": 1})


def test_requests_of_two_threads_are_answered_one_after_the_other(host):
    got = {}

    def ask(number):
        got[number] = host.ask({"parts": number})

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert got == {number: {"parts": number} for number in range(1, 5)}


@pytest.mark.skipif(sys.platform == "win32", reason="resource limits are POSIX")
def test_a_worker_whose_parent_has_died_ends_itself_in_native_code(tmp_path):
    """Nobody watches it then, and native code that holds the interpreter lock hears of nothing."""
    import subprocess

    program = (
        "import sys, os\n"
        "from workbench.jobs.limited import LimitedHost\n"
        "from workbench.jobs.spec import Limits\n"
        "host = LimitedHost('job_targets:consumer', Limits(seconds=0.3, memory=10**8))\n"
        "host.ask({'parts': 1})\n"
        "print(host.pid, flush=True)\n"
        "host._child.send({'type': 'ask', 'id': 9, 'kind': 'x', 'request': {'native': True}})\n"
        "sys.stdin.read(1)\n"
        "os._exit(1)\n"
    )
    folder, root = Path(__file__).parent, Path(__file__).parents[2]
    parent = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{root}"},
    )
    worker = psutil.Process(int(parent.stdout.readline()))
    parent.communicate(b"x")

    _gone, alive = psutil.wait_procs([worker], timeout=30)
    assert alive == []
