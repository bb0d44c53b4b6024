"""The Jobs dock in a window."""

import pytest

from tests import panel_tasks
from workbench.jobs.spec import JobSpec
from workbench.ui.panels.jobs.state import JobsState
from workbench.ui.panels.jobs.view import JobsView

SPEC = JobSpec("tests.jobs.job_targets:counts", {"total": 4}, title="Count to four")


@pytest.fixture
def view(look, qtbot, inline_jobs):
    state = JobsState(panel_tasks.context(queue=inline_jobs))
    view = JobsView(state)
    qtbot.addWidget(view)
    view.resize(600, 200)
    view.show()
    yield view
    state.close()


def test_without_work_it_says_so(view):
    assert view._stack.currentWidget() is view._empty


def test_a_job_has_its_row_with_title_and_cancel_and_loses_it_at_its_end(view, inline_jobs):
    job = inline_jobs.add(SPEC)
    line = view.list.rows[job.id]
    assert line._title.text() == "Count to four"
    assert line._cancel.isVisible()

    inline_jobs.wait(job)

    assert not line._cancel.isVisible() and not line._meter.isVisible()
    assert view.clear.isEnabled()


def test_clearing_leaves_the_empty_list(view, inline_jobs):
    inline_jobs.wait(inline_jobs.add(SPEC))

    view.clear.click()

    assert view.list.rows == {}
    assert view._stack.currentWidget() is view._empty


def test_cancel_in_the_row_ends_the_job(view, inline_jobs):
    inline_jobs.add(SPEC)
    second = inline_jobs.add(SPEC)

    view.list.rows[second.id]._cancel.click()

    assert second.status == "cancelled"
