"""Scores by label name their gold labels, on dev and on test."""

import pytest

from tests.ui.panels.results.test_state import Context
from workbench.operations.annotation import annotate
from workbench.operations.runs import results
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.panels.results.runs.scores import ORIGINAL
from workbench.ui.panels.results.selection import RunSelection
from workbench.ui.panels.results.state import ResultsState


def prediction(label):
    other = {"good": "bad", "bad": "good"}[label]
    scores = {label: 0.9, other: 0.1}
    return {"scores": scores, "label": label, "tokens": [], "spans": [], "cut": False}


@pytest.fixture
def gold_file(scored_file):
    """`scored_file`, whose run `second` stored its dev scores and has predictions on test.

    Test gold: good, bad; predicted: good, good.
    """
    project = Project.open(scored_file)
    records = [
        Record(
            Document(f"t{n}", (("text", f"Test text {n}"),), "test"),
            {"class": "submitted"},
            {"class": (label,)},
        )
        for n, label in enumerate(("good", "bad"))
    ]
    with project.edit("Add documents"):
        ids = documents.add(project.db, records, source_id=project.source("person"))
    run = runs.by_name(project.db, "second")
    dev = results.results(project, run.id).current.to_json()
    with project.write():
        rows = zip(ids, (record.document.text_hash for record in records), strict=True)
        saved = [(id, text_hash, prediction("good")) for id, text_hash in rows]
        runs.save_predictions(project.db, run.id, saved)
        runs.update(project.db, run.id, result={"evaluations": {"dev": dev}})
    project.close()
    return scored_file


@pytest.fixture
def state(gold_file, monkeypatch):
    monkeypatch.setattr(RunSelection, "can_answer", True)
    project = Project.open(gold_file)
    state = ResultsState(Context(project))
    state.watch(True)
    yield state
    state.close()
    project.close()


def relabel(project, key, label):
    (layer,) = labels.layers(project)
    (id,) = [
        record.document.id for record in documents.records(project.db) if record.document.key == key
    ]
    annotate.set_class(project, id, layer.label(label).id)


def support(evaluation):
    return {row.label: row.support for row in evaluation.per_label}


def test_scores_per_label_are_there_for_both_golds(state):
    relabel(state.project, "k0", "bad")

    assert support(state.selection.evaluation("dev", "run")) == {"good": 3, "bad": 3}
    assert support(state.selection.evaluation("dev", "today")) == {"good": 2, "bad": 4}
    assert state.selection.gold_changed("dev") is True


def test_a_run_that_stored_only_scores_has_no_original_table_by_label(state):
    state.selection.choose((next(run.id for run in state.selection.runs if run.name == "first"),))

    assert (
        not state.selection.evaluation("dev", "run").is_complete
        and state.selection.gold_changed("dev") is None
    )
    state.selection.show_by_label("dev", "run")
    assert state.selection.by_label == ("dev", "today")


def test_test_scores_per_label_appear_only_after_show_test_score(state):
    assert state.selection.evaluation("test", "today") is None and state.selection.splits_shown == (
        "dev",
    )
    assert {row.split for row in state.selection.score_rows()} == {"dev"}

    state.actions.show_test()

    assert state.selection.by_label == ("test", "today")
    assert support(state.selection.evaluation("test", "today")) == {"good": 1, "bad": 1}
    assert support(state.selection.evaluation("test", "run")) == {"good": 1, "bad": 1}
    accuracy = [row for row in state.selection.score_rows() if row.name == "Accuracy"]
    assert [(row.split, row.current) for row in accuracy] == [("dev", 0.5), ("test", 0.5)]


def test_the_test_score_is_hidden_again_when_its_gold_changes_and_not_otherwise(state):
    state.actions.show_test()
    relabel(state.project, "k0", "bad")
    assert state.selection.splits_shown == ("dev", "test")

    relabel(state.project, "t0", "bad")

    assert state.selection.splits_shown == ("dev",) and state.selection.by_label == ("dev", "today")
    state.actions.show_test()
    assert state.selection.gold_changed("test") is True
    assert support(state.selection.evaluation("test", "run")) == {"good": 1, "bad": 1}
    assert support(state.selection.evaluation("test", "today")) == {"good": 0, "bad": 2}
    assert state.selection.run.seen_test == 2


def test_another_run_begins_with_dev_and_todays_gold(state):
    state.actions.show_test()

    state.selection.choose((next(run.id for run in state.selection.runs if run.name == "first"),))

    assert state.selection.by_label == ("dev", "today") and state.selection.splits_shown == ("dev",)


@pytest.fixture
def panel(app, gold_file, qtbot, monkeypatch):
    monkeypatch.setattr(RunSelection, "can_answer", True)
    assert app.open_project(gold_file, page="results")
    panel = app.window.panel("results")
    qtbot.waitUntil(lambda: panel.state.selection.details is not None)
    return panel


def test_the_table_says_which_gold_it_is_against(panel, qtbot):
    scores = panel.view._pages.widget(0)
    text = scores._gold_note.text
    assert not scores._split.isVisibleTo(scores)
    assert text().startswith(
        "Dev: 6 documents, against the current gold labels. Nothing has changed"
    )
    assert not scores._gold.isVisibleTo(scores)  # both golds are the same
    assert scores._scores.isColumnHidden(ORIGINAL)
    assert "riginal" not in scores._main._hint.text()

    relabel(panel.state.project, "k0", "bad")
    qtbot.waitUntil(lambda: scores._gold.isVisibleTo(scores))
    assert not scores._scores.isColumnHidden(ORIGINAL)
    assert scores._main._hint.text().startswith("original · current gold ")
    scores._gold.button("run").click()
    assert text().startswith("Dev: 6 documents, against the gold labels at the end of the run.")

    panel.state.actions.show_test()
    qtbot.waitUntil(lambda: scores._split.isVisibleTo(scores))
    assert text().startswith("Test: 2 documents, against the current gold labels.")
    scores._gold.button("run").click()
    assert "when this score was first shown (today" in text()


def test_as_run_rests_where_nothing_was_stored(panel, qtbot):
    relabel(panel.state.project, "k0", "bad")
    panel.state.selection.choose(
        (next(run.id for run in panel.state.selection.runs if run.name == "first"),)
    )
    qtbot.waitUntil(lambda: panel.state.selection.details is not None)

    button = panel.view._pages.widget(0)._gold.button("run")
    assert not button.isEnabled() and "did not store" in button.toolTip()
