"""The view of a running job that pages share."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from workbench.jobs.events import Finished, Started
from workbench.ui.project.job_progress import JobProgress, follow
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.job_view import JobView
from workbench.ui.widgets.layout import column


@pytest.fixture
def view(look, qtbot):
    state = SimpleNamespace(context=MagicMock(), is_live=lambda _job: False)
    made = JobView(state, Button("Stop"), Button("Cancel"), Button("Show results"))
    page = column(made, made.message)
    qtbot.addWidget(page)
    page.show()
    yield made


def shown(view):
    return [
        button.text() for button in (view.stop, view.cancel, view.results) if button.isVisible()
    ]


def test_only_the_buttons_that_can_be_pressed_are_shown(view):
    live = JobProgress(1, "run-1", "run-1")
    view.show_job(live, "")
    assert shown(view) == ["Cancel"]

    follow(live, Started(1, ""))
    view.show_job(live, "")
    assert shown(view) == ["Stop", "Cancel"] and view.chip.accessibleName() == "running"

    follow(live, Finished("done", {}))
    view.show_job(live, "")
    assert shown(view) == ["Show results"]


def test_a_job_that_is_stopping_cannot_be_stopped_again_but_cancelled(view):
    view.show_job(JobProgress(1, "run-1", "run-1", status="running", ending="stop"), "")

    assert view.chip.accessibleName() == "stopping"
    assert not view.stop.isEnabled() and view.cancel.isEnabled()


def test_a_job_that_pauses_looks_paused_already(view):
    pictures = []
    for status, ending in (("running", "pause"), ("paused", ""), ("running", "")):
        view.show_job(JobProgress(0, "", "1 of 2", status=status, ending=ending), "")
        pictures.append(view.chip.grab().toImage().pixelColor(view.chip.width() // 2, 1).name())

    assert pictures[0] == pictures[1] != pictures[2]


def test_before_there_is_a_job_its_preparation_can_be_cancelled(view):
    view.show_job(JobProgress(0, "", "Rendering prompts…", status="preparing", prepared=0.5), "")

    assert shown(view) == ["Cancel"] and view.chip.isHidden()
    assert view.meter.value() == 500


def test_the_reason_of_a_bad_end_is_shown_until_the_job_is_started_again(view):
    live = JobProgress(1, "run-1", "run-1", status="running")
    follow(live, Finished("failed", {}, "No memory.", "Close something."))
    view.show_job(live, "")
    assert view.message.text() == "No memory. Close something."

    follow(live, Started(1, ""))
    view.show_job(live, "")
    assert view.message.isHidden()
