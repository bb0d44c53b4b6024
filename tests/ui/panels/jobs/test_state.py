"""The list of jobs, without a window and without a worker."""

from tests import panel_tasks
from workbench.jobs.spec import JobSpec
from workbench.ui.panels.jobs.state import JobsState

SPEC = JobSpec("tests.jobs.job_targets:counts", {"total": 2})


def test_what_runs_stands_above_what_waits_and_the_ended_come_last(inline_jobs):
    context = panel_tasks.context(queue=inline_jobs)
    state = JobsState(context)
    first, second, third = (inline_jobs.add(SPEC) for _ in range(3))
    assert state.jobs == (first, second, third)

    second.cancel()

    assert state.jobs == (first, third, second)
    state.close()
    context.close()
    assert not inline_jobs.changed.listeners


def test_ended_jobs_are_cleared_and_the_others_stay(inline_jobs):
    state = JobsState(panel_tasks.context(queue=inline_jobs))
    first, second = inline_jobs.add(SPEC), inline_jobs.add(SPEC)
    second.cancel()

    state.clear()

    assert state.jobs == (first,)
    assert inline_jobs.jobs == (first,)
    state.close()


def test_progress_names_the_job_and_leaves_the_order_alone(inline_jobs):
    state, message = JobsState(panel_tasks.context(queue=inline_jobs)), []
    job = inline_jobs.add(SPEC)
    state.changed.connect(lambda fields: message.append((sorted(fields), state.latest)))

    inline_jobs.wait(job)

    assert (["latest"], job) in message
    state.close()
