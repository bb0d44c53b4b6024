"""Signals while a command waits for a job are handled, whatever the main thread is doing."""

import os
import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workbench.jobs.dispatch import Mailbox

JOBS = Path(__file__).parents[1] / "jobs"


def follow(job, session):
    """Wait as `train` does: stop at the first signal, cancel at the second."""
    from workbench.cli.session import interrupts

    act = {1: job.stop, 2: job.cancel}
    with interrupts(lambda count: act.get(count, job.cancel)(), post=session.mailbox):
        session.queue.wait(job)


def test_a_signal_is_acted_upon_by_the_loop_that_waits_not_by_the_handler():
    from workbench.cli.session import interrupts

    mailbox, heard, flagged = Mailbox(), [], []
    with interrupts(heard.append, post=mailbox, at_once=lambda: flagged.append(True)):
        signal.raise_signal(signal.SIGINT)
        assert (heard, flagged) == ([], [True])
        mailbox.drain()
        signal.raise_signal(signal.SIGTERM)
        mailbox.drain()
        signal.raise_signal(signal.SIGINT)

    mailbox.drain()
    assert heard == [1, 2]  # what nobody waits for any more is dropped


PAIRS = 50
COMMAND = f"""
import signal, sys
sys.path[:0] = [{str(JOBS.parents[1])!r}, {str(JOBS)!r}]
from tests.cli.test_session import follow
from workbench.cli.session import session
from workbench.jobs.spec import JobSpec

signal.signal(signal.SIGINT, signal.SIG_IGN)  # a signal too many, between two jobs
with session(None) as opened:
    for number in range({PAIRS}):
        job = opened.queue.add(JobSpec("job_targets:ignores_stop"))
        opened.mailbox.wait(lambda: bool(job.progress))
        opened.mailbox(lambda: print("ready", flush=True))
        follow(job, opened)
        print(job.status, flush=True)
"""


def answer(child):
    """The next line. The system merges signals, so another one is sent if none arrives."""
    for _attempt in range(300):
        if select.select([child.stdout], [], [], 0.1)[0]:
            return child.stdout.readline()
        child.send_signal(signal.SIGINT)
    return "no answer"


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.timeout(90)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_fifty_pairs_of_signals_at_random_distances_end_fifty_jobs():
    chance = random.Random(7)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(JOBS.parents[1]), str(JOBS)])}
    child = subprocess.Popen(
        [sys.executable, "-c", COMMAND], stdout=subprocess.PIPE, text=True, env=env
    )
    try:
        for _number in range(PAIRS):
            assert child.stdout.readline() == "ready\n"
            child.send_signal(signal.SIGINT)
            until = time.perf_counter() + chance.choice((0.0002, 0.001, 0.01)) * chance.random()
            while time.perf_counter() < until:
                pass
            child.send_signal(signal.SIGINT)
            assert answer(child) == "cancelled\n"
        assert child.wait(20) == 0
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def test_a_project_that_does_not_exist_is_refused_with_the_command_that_creates_one(tmp_path):
    from workbench.base.errors import ProjectError
    from workbench.cli.session import session

    with (
        pytest.raises(ProjectError, match="does not exist") as raised,
        session(tmp_path / "my texts.glossbench"),
    ):
        raise AssertionError("a session without a project")

    assert raised.value.hint.endswith(f"project new '{tmp_path}/my texts.glossbench'")
