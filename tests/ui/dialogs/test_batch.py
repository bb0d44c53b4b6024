"""The first batches of a run in a dialog."""

from tests import panel_tasks
from tests.held import Held
from tests.ui.panels.train.test_state import context, state  # noqa: F401 (fixtures)
from workbench.base.errors import JobFailed
from workbench.ui.dialogs.batch import BatchDialog
from workbench.ui.dialogs.batch_state import BatchState
from workbench.ui.widgets.tables.table import Table
from workbench.ui.widgets.tokens.unit_flow import UnitFlow

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


def test_units_show_what_was_done_to_them_and_batches_can_be_turned(look, qtbot):
    state = BatchState("bert")  # noqa: F811
    dialog = BatchDialog(None, state)
    qtbot.addWidget(dialog)
    other = {**ROW, "units": ROW["units"][:1]}
    result = {"objective": "o", "rows": [ROW], "more": [[other, other]]}
    state.compute(panel_tasks.context(), lambda: result)

    flow = dialog.findChild(UnitFlow)
    assert flow.accessibleDescription() == (
        "the [MASK] → tram (masked) sea → is (replaced by a random token)"
    )
    assert state.shown[0].title == "Input 1  ·  next sentence: random"
    assert dialog._message.text() == (
        "Batch 1 of the run: 1 input. The loss is taken at 2 positions."
    )

    dialog._next.click()
    assert len(state.shown) == 2 and not dialog._next.isEnabled()
    dialog.reject()


def test_what_the_boundary_predicts_stands_below_the_input(look, qtbot):
    state = BatchState("spanbert")  # noqa: F811
    dialog = BatchDialog(None, state)
    qtbot.addWidget(dialog)
    best = [["tram", 0.5], ["bus", 0.125]]
    item = {"unit": 1, "left": 0, "right": 2, "place": 1, "own": 0.5, "best": best}

    state.compute(panel_tasks.context(), lambda: {"rows": [{**ROW, "boundaries": [item]}, ROW]})

    (table,) = dialog.findChildren(Table)
    (row,) = table.rows()
    shown = [column.text(row) for column in table.rows_model.columns]
    assert shown == ["tram", "the", "sea", "1", "50.0", "tram 50.0, bus 12.5"]
    dialog.reject()


def test_the_labels_of_an_expected_batch_stand_above_it(look, qtbot):
    state = BatchState("bert")  # noqa: F811
    dialog = BatchDialog(None, state)
    qtbot.addWidget(dialog)
    rare = {"label": "rare", "count": 1200, "plain": 0.125, "sampled": 0.5, "weight": 2.5}

    state.compute(panel_tasks.context(), lambda: {"rows": [ROW], "balance": [rare]})

    (table,) = dialog.findChildren(Table)
    (row,) = table.rows()
    columns = table.rows_model.columns
    assert [column.text(row) for column in columns] == ["rare", "1,200", "12.5", "50.0", "2.50"]
    dialog.reject()


def test_an_error_is_told_and_closing_cancels_the_job(look, qtbot):
    state, watches, context = BatchState("bert"), [], panel_tasks.context()  # noqa: F811
    dialog = BatchDialog(None, state)
    qtbot.addWidget(dialog)

    def fail(*, watch):
        watches.append(watch)
        raise JobFailed("Too short.", hint="Use more text.")

    state.compute(context, fail)
    assert state.error == "Too short. Use more text."

    held = Held(context)
    state.compute(context, fail)
    dialog.reject()
    held.compute(0)
    assert watches[1].cancelled and not context.waiting(state)


def test_a_batch_of_a_fine_tuning_is_that_of_its_choices(state, context):  # noqa: F811
    units = [{"input": "a", "target": None}]
    row = {"document": "k1", "texts": ["A"], "units": units, "notes": {"class": "good"}}
    context.queue.results.append({"task": state.task, "rows": [row]})

    shown = state.first_batch()

    (job,) = context.queue.jobs
    assert job.spec.params["batches"] > 1 and job.spec.params["spec"]["task"] == state.task
    assert shown.shown[0].original == "A" and shown.shown[0].title.endswith("k1  ·  class: good")
    shown.close()
