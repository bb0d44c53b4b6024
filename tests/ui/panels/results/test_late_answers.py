"""Answers on the Results page that come late: after another choice, or after labels changed."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests import panel_tasks
from tests.held import Held
from tests.ui.panels.results.test_state import state  # noqa: F401 (a fixture)
from workbench.base.errors import WorkbenchError
from workbench.metrics.evaluation import Evaluation
from workbench.operations.annotation import annotate
from workbench.operations.evaluation import folds, label_errors, quality, reviews
from workbench.operations.runs import results
from workbench.operations.schema import labels as schema
from workbench.storage.runs import runs
from workbench.ui.panels.results.review.label_errors_state import LabelErrorsState


@pytest.fixture
def page(state):  # noqa: F811
    """The page, with the part of errors shown."""
    state.browser.watch(True)
    return state


def relabel(page, document, name):
    """Change the class of a document, as another page does."""
    (layer,) = schema.layers(page.project)
    annotate.set_class(page.project, document, layer.label(name).id)


# ---------------------------------------------------------------- one run


def test_details_that_were_read_before_a_change_do_not_replace_later_ones(page):
    page.watch(True)
    held = Held(page.context)
    page.selection.reload()
    (first,) = held.asking("details")
    held.compute(first)
    relabel(page, 1, "bad")
    second = held.asking("details")[-1]

    held.answer(second, first)

    current = page.selection.details.results.current
    assert current.scores["accuracy"] == 2 / 6  # three before, one more is wrong


def test_an_error_of_earlier_details_is_not_shown(page):
    held = Held(page.context)
    page.selection.reload()
    page.selection.reload()
    first, second = held.asking("details")

    held.answer(second)
    held.fail(first, WorkbenchError("no longer there"))

    assert page.selection.problem == ""


def test_intervals_that_cannot_be_computed_any_more_are_not_kept(page, monkeypatch):
    assert page.selection.details.results.current.intervals is not None
    bare = lambda evaluation, *_of: replace(evaluation, intervals=None)  # noqa: E731
    monkeypatch.setattr(quality, "with_intervals", bare)

    page.selection.measure("dev")

    assert page.selection.details.results.current.intervals is None


def test_a_test_score_is_read_again_if_labels_changed_while_it_was_computed(page, monkeypatch):
    run, old = page.selection.shown_run, Evaluation("test", fingerprint="before the change")
    monkeypatch.setattr(type(page.selection), "can_show_test", True)
    monkeypatch.setattr(results, "evaluate", lambda *_of: old)

    page.actions.show_test()

    assert run.id not in page.selection.tests and page.selection.busy == ""


def test_a_run_is_trained_again_once_however_often_the_button_is_clicked(page):
    held = Held(page.context)
    page.actions.train_again()
    page.actions.train_again()

    assert len(held) == 1


# ---------------------------------------------------------------- errors of a run


def test_errors_that_were_read_before_a_change_do_not_replace_later_ones(page):
    browser, held = page.browser, Held(page.context)
    browser._known = None
    browser.follow()
    (first,) = held.asking("items")
    held.compute(first)
    relabel(page, 3, "bad")  # it was predicted bad
    second = held.asking("items")[-1]

    held.answer(second, first)

    assert {item.key for item in browser.items} == {"k1", "k5"}


def test_errors_of_a_split_are_not_shown_under_another(page):
    browser = page.browser
    page.selection.update(tests={page.selection.shown_run.id: SimpleNamespace(fingerprint="")})
    held = Held(page.context)

    browser.show_split("test")
    assert browser.split == "test" and browser.items is None and browser.shown == ()
    held.answer(0)

    assert browser.items == ()


# ---------------------------------------------------------------- several runs


def test_a_comparison_does_not_come_back_after_fewer_than_two_runs_were_chosen(page):
    held = Held(page.context)
    page.comparing.show((1, 2))
    held.compute(0)

    page.comparing.show((1,))
    held.answer(0)

    assert page.comparing.comparison is None and page.comparing.busy == ""


def test_a_comparison_on_one_split_is_not_shown_under_another(page):
    page.comparing.show((1, 2))
    assert page.comparing.comparison is not None
    held = Held(page.context)

    page.comparing.show((2, 1))
    assert page.comparing.comparison is not None  # the same numbers in another order
    page.comparing.show((2, 1), "test")

    assert page.comparing.comparison is None and len(held) == 2


def test_runs_are_scored_on_the_split_that_was_shown_when_they_were_asked_for(page, monkeypatch):
    scored, comparing = [], page.comparing
    monkeypatch.setattr(
        results, "evaluate", lambda _project, _queue, run, split: scored.append((run.id, split))
    )
    comparing.show((1, 2))
    comparing.update(problem="Predictions are missing.")
    held = Held(page.context)
    comparing.score_all()
    (first,) = range(len(held))

    comparing.show((1, 2), "test")
    assert comparing.busy.startswith("Scoring")
    held.end()
    held.answer(first)
    held.rest()

    assert scored == [(1, "dev"), (2, "dev")]
    assert comparing.busy == ""


def test_runs_that_cannot_be_scored_leave_no_message_that_they_are(page, monkeypatch):
    def refuse(*_given, **_named):
        raise WorkbenchError("no weights")

    monkeypatch.setattr(results, "evaluate", refuse)
    page.comparing.show((1, 2))
    page.comparing.update(problem="Predictions are missing.")
    page.comparing.score_all()
    page.board.watch(True)
    entry = SimpleNamespace(run=page.selection.runs[0], problem="not scored")
    page.board.score_here(entry)

    assert [str(fault) for fault in page.context.faults] == ["no weights"] * 2
    assert page.comparing.busy == page.board.busy == ""


def test_runs_without_a_model_are_not_offered_to_be_scored(page):
    with page.project.write():
        runs.update(page.project.db, page.selection.runs[0].id, kind="imported")
    page.selection.refresh()
    page.comparing.show((1, 2))
    page.comparing.update(problem="Predictions are missing.")

    assert [run.id for run in page.comparing.unscored] == [1]


# ---------------------------------------------------------------- the board


def test_a_board_is_not_shown_under_another_split(page):
    page.board.watch(True)
    assert page.board.board is not None
    held = Held(page.context)

    page.board.show_split("test")
    assert page.board.board is None and page.board.busy == "Scoring…"
    held.answer(0)

    assert page.board.busy == ""


def test_a_board_stays_busy_until_all_its_runs_are_scored_on_its_split(page, monkeypatch):
    board, scored = page.board, []
    monkeypatch.setattr(
        results, "evaluate", lambda _project, _queue, run, split: scored.append(split)
    )
    scoring = panel_tasks.hold(page.context, "<lambda>")
    board.watch(True)
    first, second = (
        SimpleNamespace(run=run, problem="not scored") for run in page.selection.runs[:2]
    )
    board.score_here(first, second)

    board.outdated()  # the first predictions are stored
    assert board.busy.startswith("Scoring ") and not board.can_score(second)
    board.show_split("test")
    for _run in range(2):
        scoring.pop(0)()

    assert scored == ["dev", "dev"]
    assert board.busy == "" and board.chosen == ()


def test_a_run_that_is_deleted_while_the_board_is_scored_leaves_no_busy_board(page):
    page.board.watch(True)
    held = Held(page.context)
    page.board.load()

    held.fail(0, KeyError("deleted"))

    assert page.board.busy == ""


# ---------------------------------------------------------------- label errors


@dataclass(frozen=True)
class Doubt:
    """A doubtful label, as `Suspect` without its prediction."""

    document_id: int
    key: str
    mistake: Any
    review: Any = None

    @property
    def identity(self):
        return (self.document_id,)

    @property
    def verdict(self):
        return self.review.verdict if self.review else ""


@pytest.fixture
def doubts(page, monkeypatch):
    """Label errors with one doubtful label, and the held back work of the page."""
    found = SimpleNamespace(
        suspects=(Doubt(1, "k0", SimpleNamespace(gold="good")),),
        measured=SimpleNamespace(predictions={}, task="classify"),
    )
    monkeypatch.setattr(label_errors, "ranking", lambda *_given: found)
    monkeypatch.setattr(label_errors, "keep", lambda *_given, **_named: None)
    made = LabelErrorsState(page.context)
    made.watch(True)
    return made, Held(page.context)


def test_a_decision_is_not_undone_by_a_ranking_that_was_read_before_it(doubts):
    shown, held = doubts
    shown._load()
    shown.keep()
    assert shown.items[0].verdict == reviews.KEPT
    changes = SimpleNamespace(origin=shown, rows={}, documents={1}, touches=lambda *_given: True)
    shown.project_changed(changes)
    before = len(held)

    held.answer(0)

    assert before == 2 and shown.items[0].verdict == reviews.KEPT


def test_a_ranking_that_cannot_be_read_leaves_no_message_that_it_is_read(doubts):
    shown, held = doubts
    shown.choose_layer(shown.layer.name)
    assert shown.items is None

    held.fail(0, error := ValueError("damaged"))

    assert shown.items is not None and shown.context.faults == [error]


def test_a_measurement_that_is_cancelled_while_it_is_prepared_is_not_started(doubts, monkeypatch):
    shown, held = doubts
    started, job = [], SimpleNamespace(folder="none")

    def run(job, watch):
        watch.at(0.0)
        started.append(job)

    shown.context.queue = SimpleNamespace(run=run)
    monkeypatch.setattr(folds, "prepare", lambda *_of, **_named: SimpleNamespace(job=job))
    shown.measure(shown.models[0][0], 3)
    assert shown.share == 0.0

    shown.cancel()
    held.answer(0)

    assert shown.share is None and not started and not shown.context.faults
    assert shown.context.notes[-1].startswith("Cancelled")
