"""A page shows which run its job is waiting for, and can run the job first."""

from types import SimpleNamespace

import pytest

from tests import panel_tasks
from tests.jobs.test_turns import StillQueue
from workbench.jobs.spec import JobSpec
from workbench.ui.panels.jobs.state import JobsState
from workbench.ui.panels.jobs.view import JobsView
from workbench.ui.project.queue_position import QueuePosition, of_project
from workbench.ui.widgets.wait_line import WaitLine


@pytest.fixture
def queue():
    made = StillQueue()
    yield made
    made.close()


def train(queue, name, device="cuda"):
    return queue.add(JobSpec("t:t", device=device, title=f"Train {name}", name=name))


def predict(queue, project, run_id=1, device="cuda"):
    about = {"project": project.uid, "id": run_id, "purpose": "predict"}
    spec = JobSpec("t:t", {"run": about}, device=device, title="Predict", short=True)
    return queue.add(spec)


@pytest.fixture
def line(look, qtbot, queue, project):
    context = panel_tasks.add_tasks(SimpleNamespace(queue=queue))
    made = WaitLine(QueuePosition(context, of_project(project, "predict")))
    qtbot.addWidget(made)
    return made


def test_the_line_names_the_run_and_goes_when_the_job_begins(line, queue, project, qtbot):
    training = train(queue, "first")
    assert line.text() == ""

    predict(queue, project)
    assert line.text() == "Waiting for first"
    queue.end(training)
    assert line.text() == ""


def test_run_first_begins_a_prediction_beside_the_training(line, queue, project):
    train(queue, "first")
    job = predict(queue, project)

    line._first.click()
    assert job.status == "running" and line.isHidden()


def test_a_long_name_is_cut_in_the_middle_and_stands_in_the_tooltip(line, queue, project):
    name = "a very long name of a run that nobody can read in one line of a page, number 7"
    train(queue, name)
    predict(queue, project)

    assert "…" in line.text() and line.text().endswith("number 7")
    assert line._message.toolTip() == name


def test_jobs_of_other_projects_and_purposes_say_nothing_here(line, queue, project):
    train(queue, "first")
    queue.add(
        JobSpec("t:t", {"run": {"project": "x", "id": 1, "purpose": "predict"}}, device="cuda")
    )

    assert line.text() == ""


def test_the_list_of_jobs_says_what_each_waits_for_and_lets_one_go_first(look, qtbot, queue):
    view = JobsView(JobsState(panel_tasks.context(queue=queue)))
    qtbot.addWidget(view)
    view.show()
    jobs = [train(queue, name) for name in ("first", "second", "third")]
    rows = [view.list.rows[job.id] for job in jobs]
    assert [row._left.text() for row in rows] == ["", "Waiting for first", "Waiting for first"]
    assert [row._first.isVisibleTo(row) for row in rows] == [False, False, True]

    rows[2]._first.click()
    assert [row._first.isVisibleTo(row) for row in rows] == [False, True, False]
    queue.end(jobs[0])
    assert jobs[2].status == "running" and rows[1]._left.text() == "Waiting for third"
    view.state.close()
