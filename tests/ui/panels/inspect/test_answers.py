"""The view of answers: starts and ends painted on the tokens, one question at a time."""

import pytest

from tests.ui.panels.inspect.test_neighbours import Page
from workbench.base.events import ALL
from workbench.inspection.answer_scores.info import (
    AnswerAlternatives,
    Boundaries,
    BoundaryToken,
    ConsideredAnswer,
)
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.views.answers import AnswersView

TEXT = "Ada met Bob."
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
WHOM = Boundaries("Whom?", tuple(BoundaryToken(t.shown, 0, 0, 0, 0) for t in WHO.tokens), 0, 0)
RESULT = AnswerAlternatives(
    (
        ConsideredAnswer("Who?", "Ada", 0, 3, 0.9, True),
        ConsideredAnswer("Whom?", "Bob", 8, 11, 0.8, True),
    ),
    (WHO, WHOM),
)


@pytest.fixture
def view(qtbot):
    page = Page()
    page.document = type("Typed", (), {"text": TEXT})()
    state = InspectorState(page, "answer_scores")
    view = AnswersView(state)
    qtbot.addWidget(view)
    state.result = RESULT
    view.show_state(ALL)
    return view


def test_probable_starts_and_ends_are_boxed_and_improbable_tokens_recede(view):
    ada, met, bob = view._strip.words

    assert [(share.name, share.share) for share in ada.shares] == [("Start", 0.8), ("End", 0.7)]
    assert (met.shares, bool(met.ground)) == ((), True)
    assert bob.shares[1].share == 0.2
    assert view._null.text() == "No answer: start 10.0%, end 5.0%"
    assert view._tip(0) == "Start: 80.0%\nEnd: 70.0%"


def test_a_range_that_is_selected_shows_its_question(view):
    view._table.choose({("Whom?", 8, 11)})
    view._table.chosen.emit()

    assert view._asked.text() == "Whom?" and view._null.text() == ""
    assert {word.ink for word in view._strip.words} == {"muted"}


def test_the_table_of_numbers_has_a_row_per_question_and_token(view):
    rows = view.data()

    assert rows[1] == ["Who?", "ada", 0, 3, 0.8, 0.7] and len(rows) == 1 + 6
