"""Pre-annotation in Annotate: chosen, kept, shown with the document, decided on."""

import json
from pathlib import Path

import pytest

from tests import panel_tasks
from tests.operations.conftest import HeldQueue
from tests.ui.panels.annotate.test_session import add_run, key_of, layer_id
from workbench.operations.annotation import document_view, preannotate, provenance
from workbench.operations.runs import results, run_folders
from workbench.operations.schema import labels
from workbench.storage.runs import runs
from workbench.text.fields import ClassScores, Prediction
from workbench.ui.widgets.controls.button import Button


@pytest.fixture
def run(filled):
    id = add_run(filled, labels.layers(filled)[0], "classify", {})
    folder = run_folders.model(filled, id)
    folder.mkdir(parents=True)
    (folder / "glossbench.json").write_text("{}")
    return id


@pytest.fixture
def ahead(context, run):
    """A state with the run chosen, whose job waits for `answer`."""
    from workbench.ui.panels.annotate.state import Desk

    context.queue, context.predicting = HeldQueue(), panel_tasks.hold(context, "predictions")
    state = Desk(context)
    state.prefetch.choose("mood", run)
    yield state
    state.close()


def answer(state):
    """Let the prediction run: everything is good, with 0.8."""
    state.context.queue.worker = _predict_good
    state.context.predicting.pop(0)()


def _predict_good(job):
    asked = Path(job.spec.params["input"]).read_text().splitlines()[1:]
    given = Prediction((ClassScores(("bad", "good"), (0.2, 0.8)),)).to_json()
    lines = [
        json.dumps({"document_id": json.loads(line)["id"], "text_hash": "", "prediction": given})
        for line in asked
    ]
    Path(job.spec.params["output"]).write_text("\n".join(lines))
    job.start()
    job.end("done", {})


def test_the_next_documents_have_suggestions_when_they_are_opened(ahead):
    assert ahead.session.suggestions == () and ahead.prefetch.line == "predicting…"

    answer(ahead)

    assert ahead.prefetch.line == "next 5 pre-annotated"
    assert [row.suggestion_count for row in ahead.queue.rows(ahead.queue.ids)] == [1, 1, 1, 1, 1, 0]
    here = [ahead.session.suggestions]
    ahead.queue.step(1)
    here.append(ahead.session.suggestions)
    for (row,) in here:
        assert (row.score, ahead.session.origins.maker(row), row.id < 0) == (0.8, "run first", True)
    assert ahead.project.undo_title == "Add documents"  # nothing is in the history


def test_predictions_of_a_task_whose_plugin_is_disabled_are_not_shown(ahead, monkeypatch):
    answer(ahead)
    monkeypatch.setattr(results, "task_of", lambda _run: "gone.stars")

    ahead.session.open(ahead.queue.ids[1])

    assert ahead.session.document_id == ahead.queue.ids[1] and ahead.session.suggestions == ()


def test_accepting_one_stores_it_with_its_source(ahead):
    answer(ahead)

    ahead.accept()

    (mark,) = document_view.view(ahead.project, ahead.session.document_id).marks
    assert provenance.origin_of(mark).kind == "run" and mark.score == 0.8
    ahead.project.undo()
    assert document_view.view(ahead.project, ahead.session.document_id).marks == ()


def test_the_choice_is_kept_for_the_project_and_can_be_taken_back(ahead, context, run):
    from workbench.ui.panels.annotate.state import Desk

    answer(ahead)
    again = Desk(context)

    assert (
        again.prefetch.chosen == {layer_id(again, "mood"): run}
        and len(again.session.suggestions) == 1
    )
    again.prefetch.choose("mood", None)
    assert (
        again.session.suggestions == ()
        and again.prefetch.line == ""
        and again.prefetch.chosen == {}
    )
    again.close()


def test_what_went_wrong_is_told(ahead):
    ahead.context.queue.worker = lambda job: job.end("failed", message="No space left.")
    ahead.context.predicting.pop(0)()

    assert (
        ahead.prefetch.line == "Pre-annotation stopped" and ahead.prefetch.tip == "No space left."
    )


def test_the_newest_run_takes_over_when_it_ends(ahead):
    answer(ahead)
    ahead.prefetch.choose("mood", 0)
    layer, spec = layer_id(ahead, "mood"), {"task": "classify"}

    with ahead.project.write():
        later = runs.add(ahead.project.db, "again", layer_id=layer, spec=spec, status="done")

    assert [item.id for item in ahead.prefetch.running.runs] == [later.id]
    assert ahead.prefetch.choices[0].runs[1] == (0, "Newest run (again)")


def test_the_menu_names_the_runs_and_the_line_says_how_far_it_is(ahead, open_view, qtbot):
    view = open_view(ahead)
    part = view.ahead
    answer(ahead)
    qtbot.wait(0)
    part.menu.aboutToShow.emit()

    entries = {action.text(): action.isChecked() for action in part.menu.actions()}
    assert entries == {"No run": False, "Newest run (first)": False, "first": True}
    assert part.line.text() == "next 5 pre-annotated" and part.line.isVisible()
    next(action for action in part.menu.actions() if action.text() == "No run").trigger()
    assert not part.line.isVisible() and key_of(ahead) == "k0"


def test_an_ensemble_without_one_of_its_runs_is_listed_with_the_reason(ahead, open_view, qtbot):
    layer = labels.layers(ahead.project)[0]
    spec = {"task": "classify", "members": [{"id": 99, "uid": "x", "name": "gone"}]}
    with ahead.project.write():
        made = runs.add(
            ahead.project.db,
            "both",
            "ensemble",
            layer_id=layer.id,
            spec=spec,
            status="done",
        )
    part = open_view(ahead).ahead

    part.menu.aboutToShow.emit()

    listed = {action.text(): action for action in part.menu.actions()}
    assert [*listed] == ["No run", "Newest run (first)", "both", "first"]
    assert not listed["both"].isEnabled() and "gone" in listed["both"].toolTip()
    refused = ahead.queue.order_choices(layer.id).refused
    assert [*refused] == [made.id] and preannotate.newest(ahead.project, layer).name == "first"


def test_the_header_offers_to_train_again_once_there_is_a_run(state, open_view):
    view = open_view(state)
    (button,) = [item for item in view.findChildren(Button) if item.accessibleName() == "Train"]
    button.click()
    assert state.context.gone == [("train", {})]

    add_run(state.project, labels.layers(state.project)[0], "classify", {})

    assert button.accessibleName() == "Train again" and "Train first again" in button.toolTip()
