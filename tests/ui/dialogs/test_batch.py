"""The first batches of a run in a dialog."""

from types import SimpleNamespace

import pytest

from tests.ui.panels.train.test_state import context, state  # noqa: F401 (fixtures)
from workbench.base.events import Signal
from workbench.jobs.events import Finished
from workbench.ui.dialogs.batch import BatchDialog
from workbench.ui.dialogs.batch_state import BatchState
from workbench.ui.widgets.unit_flow import UnitFlow

ROW = {
    "original": ["the", "tram", "is"],
    "units": [
        {"input": "the", "target": None, "what": ""},
        {"input": "[MASK]", "target": "tram", "what": "masked"},
        {"input": "sea", "target": "is", "what": "random"},
    ],
    "written": [],
    "spans": [[1, 3]],
    "notes": {"next_sentence": "random"},
}


@pytest.fixture
def job():
    made = SimpleNamespace(changed=Signal("job"), over=False, asked=[])
    made.cancel = lambda: made.asked.append("cancel")
    return made


def test_units_show_what_was_done_to_them_and_batches_can_be_turned(look, qtbot, job):
    state = BatchState("bert")  # noqa: F811
    dialog = BatchDialog(None, state)
    qtbot.addWidget(dialog)
    state.follow(job)
    other = {**ROW, "units": ROW["units"][:1]}
    job.changed.emit(Finished("done", {"objective": "o", "rows": [ROW], "more": [[other, other]]}))

    flow = dialog.findChild(UnitFlow)
    assert flow.accessibleDescription() == (
        "the [MASK] → tram (masked) sea → is (replaced by a random token)"
    )
    assert state.shown[0].title == "Input 1  ·  next sentence: random"
    assert dialog._message.text() == "Batch 1 of the run: 1 inputs, loss at 2 positions."

    dialog._next.click()
    assert len(state.shown) == 2 and not dialog._next.isEnabled()
    dialog.reject()


def test_an_error_is_told_and_closing_cancels_the_job(look, qtbot, job):
    state = BatchState("bert")  # noqa: F811
    dialog = BatchDialog(None, state)
    qtbot.addWidget(dialog)
    state.follow(job)
    job.changed.emit(Finished("failed", {}, "Too short.", "Use more text."))
    assert state.error == "Too short. Use more text."

    dialog.reject()
    assert job.asked == ["cancel"] and not job.changed.listeners


def test_a_batch_of_a_fine_tuning_is_that_of_its_choices(state, context):  # noqa: F811
    add = context.queue.add

    def added(spec):
        job = add(spec)
        job.changed, job.over = Signal("job"), False
        return job

    context.queue.add = added
    shown = state.first_batch()
    (job,) = context.queue.jobs
    assert job.spec.params["batches"] > 1 and job.spec.params["spec"]["task"] == state.task

    units = [{"input": "a", "target": None}]
    row = {"document": "k1", "texts": ["A"], "units": units, "notes": {"class": "good"}}
    job.changed.emit(Finished("done", {"task": state.task, "rows": [row]}))
    assert shown.shown[0].original == "A" and shown.shown[0].title.endswith("k1  ·  class: good")
    shown.close()
