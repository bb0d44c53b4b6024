"""The view of nearest words: selection, measure, typed word."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from tests.ui.panels.inspect.shown import choose, named, show, texts
from workbench.inspection.neighbours.info import Near, NearWord, NearWords
from workbench.ui.widgets.tables.table_rows import SHARE

RESULT = NearWords(
    (
        NearWord("Unseen", "", False, ()),
        NearWord("Cat", "cat", True, (Near("dog", 0.8), Near("sat", -0.2))),
        NearWord("dogs", "dogs", False, (Near("dog", 0.9),)),
    ),
    "cosine",
    1234,
)


@pytest.fixture
def view(qtbot):
    return show(qtbot, "neighbours", RESULT, size=(900, 500))


def nearest(view):
    return [row.word for row in named(view, "Nearest words").rows()]


def test_the_first_word_with_a_vector_is_selected(view):
    assert nearest(view) == ["dog", "sat"]
    assert {"Nearest to “cat”", "1,234 words in the vocabulary"} <= set(texts(view))
    assert view.data()[:2] == [["Word", "Neighbour", "Cosine similarity"], ["Cat", "dog", 0.8]]


def test_selecting_a_word_shows_its_neighbours(view):
    table = named(view, "Words")
    table.selectRow(2)
    assert "Nearest to “dogs” (vector composed of its n-grams)" in texts(view)

    table.selectRow(0)
    assert nearest(view) == [] and "“Unseen” has no vector" in texts(view)


def test_bars_are_relative_to_the_nearest_word(view):
    model = named(view, "Nearest words").model()

    assert [model.index(row, 1).data(SHARE) for row in range(2)] == [1.0, 0.0]


def test_another_measure_and_a_typed_word_ask_again(view, qtbot):
    choose(view, "Measure", 2)
    assert view.page.asked[-1] == {"by": "euclid"}

    entry = named(view, "Look up a word", QLineEdit)
    qtbot.keyClicks(entry, "king")
    qtbot.keyClick(entry, Qt.Key.Key_Return)
    assert view.page.asked[-1] == {"by": "euclid", "word": "king"}

    entry.clear()
    assert view.page.asked[-1] == {"by": "euclid", "word": ""}
