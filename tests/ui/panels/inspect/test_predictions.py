"""Views of what a run predicts for a document: a class, labels, a number, answers, an ensemble."""

from types import SimpleNamespace

import pytest

from tests.ui.panels.inspect.shown import Page, cells, named, renew, show, texts
from workbench.base.events import ALL
from workbench.inspection.answer_scores.info import (
    AnswerAlternatives,
    Boundaries,
    BoundaryToken,
    ConsideredAnswer,
)
from workbench.inspection.class_scores.info import ClassProbabilities
from workbench.inspection.label_scores.info import LabelProbabilities, LabelProbability
from workbench.inspection.members.info import Members, MemberScores
from workbench.inspection.number.info import PredictedNumber
from workbench.operations.inspecting.inspect import DocumentGold

WHO = Boundaries(
    "Who?",
    (
        BoundaryToken("ada", 0, 3, 0.8, 0.7),
        BoundaryToken("met", 4, 7, 0.02, 0.001),
        BoundaryToken("bob", 8, 11, 0.001, 0.2),
    ),
    0.1,
    0.05,
)
WHOM = Boundaries(
    "Whom?", tuple(BoundaryToken(t.shown, t.start, t.end, 0, 0) for t in WHO.tokens), 0, 0
)
ANSWERS = AnswerAlternatives(
    (
        ConsideredAnswer("Who?", "Ada", 0, 3, 0.9, True),
        ConsideredAnswer("Whom?", "Bob", 8, 11, 0.8, True),
    ),
    (WHO, WHOM),
)


def with_gold(gold):
    page = Page()
    page.gold = gold
    return page


# ---------------------------------------------------------------- numbers, labels, ensembles


def test_a_number_is_shown_beside_gold(qtbot):
    page = with_gold(DocumentGold(None, (), True, 0, number=2.5))
    view = show(qtbot, "number", PredictedNumber(3.25), page=page)
    assert texts(view)[1:] == ["3.250", "Gold: 2.5. Difference: +0.750."]

    page.gold = None
    view.show_state(frozenset({"gold"}))
    assert texts(view)[2] == "No gold to compare with"


def test_labels_show_threshold_prediction_and_gold(qtbot):
    labels = (LabelProbability("late", 0.75, 0.5), LabelProbability("full", 0.25, 0.5))
    page = with_gold(DocumentGold(None, (), True, 0, ("late",)))
    view = show(qtbot, "label_scores", LabelProbabilities(labels), page=page)

    assert cells(named(view, "Labels")) == [
        ["late", "gold", "predicted", "50.0", "75.0"],
        ["full", "", "", "50.0", "25.0"],
    ]
    assert "Agrees with gold" in texts(view)
    assert view.data()[1:] == [["late", 0.75, 0.5], ["full", 0.25, 0.5]]

    page.gold = DocumentGold(None, (), True, 0, ("late", "full"))
    view.show_state(frozenset({"gold"}))
    assert "Differs from gold" in texts(view)


def test_each_run_of_an_ensemble_has_a_column_beside_the_mean(qtbot):
    runs = (MemberScores("first", "bad", (0.9, 0.1)), MemberScores("second", "good", (0.3, 0.7)))
    view = show(qtbot, "members", Members(("bad", "good"), runs, (0.6, 0.4)))

    assert cells(view.part("table"), 1, 2, 3) == [
        ["60.0", "90.0", "30.0"],
        ["40.0", "10.0", "70.0"],
    ]
    assert "bad: first · good: second" in texts(view)
    assert view.data() == [
        ["Class", "Mean", "first", "second"],
        ["bad", 0.6, 0.9, 0.3],
        ["good", 0.4, 0.1, 0.7],
    ]

    renew(view, Members(("bad", "good"), runs[:1], (0.9, 0.1)))
    assert cells(view.part("table")) == [["bad", "90.0", "90.0"], ["good", "10.0", "10.0"]]
    assert "All runs predict bad." in texts(view)


# ---------------------------------------------------------------- answers


@pytest.fixture
def answers(qtbot):
    return show(qtbot, "answer_scores", ANSWERS, page=Page("Ada met Bob."))


def test_probable_starts_and_ends_are_boxed_and_improbable_tokens_recede(answers):
    ada, met, bob = answers.part("tokens").words

    assert [(share.name, share.share) for share in ada.shares] == [("Start", 0.8), ("End", 0.7)]
    assert (met.shares, bool(met.ground)) == ((), True)
    assert bob.shares[1].share == 0.2
    assert "No answer: start 10.0%, end 5.0%" in texts(answers)


def test_a_range_that_is_selected_shows_its_question(answers):
    named(answers, "Answers").selectRow(1)

    assert "Whom?" in texts(answers)
    assert not any(text.startswith("No answer") for text in texts(answers))
    assert {word.ink for word in answers.part("tokens").words} == {"muted"}
    assert answers.part("tokens").number == 2  # where the answer is


def test_the_data_have_a_row_per_question_and_token(answers):
    rows = answers.data()

    assert rows[1] == ["Who?", "ada", 0, 3, 0.8, 0.7] and len(rows) == 1 + 6


def test_a_result_of_another_model_is_taken_off(answers):
    answers.page.choice, answers.state.result = object(), None
    answers.show_state(ALL)

    assert cells(named(answers, "Answers")) == [] and answers.part("tokens").words == ()
    assert "Who?" not in texts(answers)


def test_a_class_is_compared_with_gold(qtbot):
    result = ClassProbabilities((("good", 0.25), ("bad", 0.75)), choices=("On time.", "Late."))
    view = show(qtbot, "class_scores", result, page=with_gold(SimpleNamespace(label="good")))

    assert cells(named(view, "Classes")) == [
        ["bad · Late.", "", "75.0"],
        ["good · On time.", "gold", "25.0"],
    ]
    assert "Gold: good" in texts(view)
