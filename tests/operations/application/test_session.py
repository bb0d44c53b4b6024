"""A session of a program: jobs that are waited for."""

import pytest

from workbench.base.watch import Watch
from workbench.jobs.spec import JobSpec
from workbench.operations.application.session import Session


def test_an_interrupted_wait_cancels_the_job_and_its_watch(monkeypatch):
    session = Session(None)
    watch = Watch()
    try:
        job = session.queue.add(JobSpec("time:sleep", {}, "", title="Sleep"))
        wait, calls = session.queue.wait, []

        def interrupted(job, timeout=None):
            calls.append(job)
            if len(calls) == 1:
                raise KeyboardInterrupt
            return wait(job, timeout)

        monkeypatch.setattr(session.queue, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.wait(job, watch=watch)

        assert job.over and job.ending == "cancel" and watch.cancelled
    finally:
        session.close()


def test_a_session_without_a_project_says_so():
    session = Session(None)
    with pytest.raises(RuntimeError, match="no project"):
        session.project  # noqa: B018
    session.close()
