"""The view of nearest words: selection, measure, typed word."""

import pytest
from PySide6.QtCore import Qt

from tests import panel_tasks
from workbench.base.events import ALL, State
from workbench.inspection.neighbours.info import Near, NearWord, NearWords
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.views.neighbours import NeighboursView

RESULT = NearWords(
    (
        NearWord("Unseen", "", False, ()),
        NearWord("Cat", "cat", True, (Near("dog", 0.8), Near("sat", -0.2))),
        NearWord("dogs", "dogs", False, (Near("dog", 0.9),)),
    ),
    "cosine",
    1234,
)


class Page(State):
    def __init__(self):
        super().__init__()
        self.choice, self.document, self.asked = object(), object(), []
        self.choices = ()
        self.context = panel_tasks.context()

    def ask_host(self, _state, options, _done, _failed):
        self.asked.append(options)


@pytest.fixture
def view(qtbot):
    state = InspectorState(Page(), "neighbours")
    state.result = RESULT
    view = NeighboursView(state)
    qtbot.addWidget(view)
    view.resize(900, 500)
    view.show_state(ALL)
    return view


def shown(view):
    return [row.word for row in view._near.rows()]


def test_the_first_word_with_a_vector_is_selected(view):
    assert shown(view) == ["dog", "sat"]
    assert view._title.text() == "Nearest to “cat”"
    assert view._note.text() == "1,234 words in the vocabulary"
    assert view.data()[:2] == [["Word", "Neighbour", "Cosine similarity"], ["Cat", "dog", 0.8]]


def test_selecting_a_word_shows_its_neighbours(view):
    view._words.choose({"dogs"})
    view._words.chosen.emit()
    assert view._title.text() == "Nearest to “dogs” (vector composed of its n-grams)"

    view._words.choose({"Unseen"})
    view._words.chosen.emit()
    assert (shown(view), view._title.text()) == ([], "“Unseen” has no vector")


def test_bars_are_relative_to_the_nearest_word(view):
    assert [view.share(neighbour) for neighbour in RESULT.words[1].neighbours] == [1.0, 0.0]


def test_another_measure_and_a_typed_word_ask_again(view, qtbot):
    view._by.setCurrentIndex(2)
    assert view.page.asked[-1] == {"by": "euclid"}

    qtbot.keyClicks(view._typed, "king")
    qtbot.keyClick(view._typed, Qt.Key.Key_Return)
    assert view.page.asked[-1] == {"by": "euclid", "word": "king"}

    view._typed.clear()
    assert view.page.asked[-1] == {"by": "euclid", "word": ""}
