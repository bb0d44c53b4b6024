"""The view of the uses of a word: layers, senses, selection, right-to-left text."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QPushButton, QStyleOptionViewItem

from workbench.base.events import ALL, State
from workbench.inspection.spec import WordRow
from workbench.inspection.uses.info import LayerSenses, Senses, Use, UseRanking, Uses
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.views.uses import UsesView

RESULT = Uses(
    words=(),
    word="stop",
    count=2,
    total=2,
    layers=(0, 1),
    of=0,
    rankings=(UseRanking(0, (1, 2), (0.9, 0.5)), UseRanking(1, (2, 1), (0.8, 0.7))),
    uses=(
        Use(0, 7, "m-7", 0, 4, "", "Stop", " here"),
        Use(1, 8, "m-8", 4, 8, "the ", "stop", " is closed", "place"),
        Use(2, 9, "m-9", 0, 3, "", "قف", " هنا"),
    ),
    senses=Senses(
        "senses", {"place": 2, "act": 2}, 4,
        (LayerSenses(0, 0.5, 0.5, 0.4, 0.5), LayerSenses(1, 1.0, 1.0, 0.9, 0.95)), 0.33, 0.5, 0.3,
    ),
)  # fmt: skip


class _Corpus:
    can_write = True

    def __init__(self, page):
        self.page, self.given = page, []

    def choose(self, ids):
        self.page.update(chosen_documents=tuple(ids))

    def sense_layers(self):
        return ("senses",)

    def sense_target(self, layer):
        return layer or "senses"

    def sense_names(self, _layer):
        return ("place", "act")

    def label(self, _layer, _name):
        return None

    def assign(self, layer, sense, places, then):
        self.given.append((layer, sense, places))
        then()


class Page(State):
    choice, document, document_id = object(), None, None

    def __init__(self):
        super().__init__()
        self.chosen_documents = ()
        self.corpus = _Corpus(self)


@pytest.fixture
def view(qtbot):
    state = InspectorState(Page(), "uses")
    state.result = RESULT
    view = UsesView(state)
    qtbot.addWidget(view)
    view.resize(900, 700)
    view.show_state(ALL)
    return view


def shown(view):
    return [(use.number, cosine) for use, cosine in view._table.rows()]


def test_the_last_layer_is_shown_and_another_one_reorders_the_uses(view):
    assert shown(view) == [(2, 0.8), (1, 0.7)]

    view._layer._take(0)

    assert shown(view) == [(1, 0.9), (2, 0.5)]
    assert view._title.text() == "Nearest uses, layer 0"


def test_a_point_of_the_chart_selects_its_layer(view):
    view._chart.chart.opened.emit(0, 0)

    assert shown(view) == [(1, 0.9), (2, 0.5)]
    assert "Layer 0: F1 50.0%" in view._chart._note.text()


def test_selected_uses_select_their_documents_in_every_view(view):
    view._table.choose({1})
    view._table.chosen.emit()
    assert view.page.chosen_documents == (8,)

    view.page.chosen_documents = (9,)
    view.show_state(frozenset({"chosen_documents"}))
    assert [use.document for use, _cosine in view._table.chosen_rows()] == [9]


def test_a_sense_is_given_to_the_selected_uses(view, monkeypatch):
    monkeypatch.setattr(view.state, "ask", lambda: None)
    view._table.choose({1})

    next(choice for choice in view._sense_choices() if choice.title == "act").act()

    assert view.page.corpus.given == [("senses", "act", [(8, 4, 8)])]
    assert view.state.option("senses") == "senses"


def test_without_a_word_sample_texts_with_a_word_are_offered(view, monkeypatch):
    taken = []
    view.page.type_text = taken.append
    monkeypatch.setattr(view.state, "ask", lambda: None)
    view.show_result(Uses(()))
    assert view._empty.isVisibleTo(view) and not view._found.isVisibleTo(view)

    text = "Please tell the driver to stop at the next stop."
    next(item for item in view.findChildren(QPushButton) if item.text() == "stop").click()

    assert (taken, view.state.option("word")) == ([text], "stop")


def test_a_short_text_takes_one_line_and_a_long_one_two(view):
    def height(text):
        words = tuple(WordRow(at, at + 1, "text", word) for at, word in enumerate(text.split()))
        view.show_result(replace(RESULT, words=words))
        return view._strip_area.height()

    one, many = height("to the stop"), height("stop " * 200)

    assert one < many == height("stop " * 400)


def test_the_saved_table_has_every_layer(view):
    rows = view.data()

    assert len(rows) == 5
    assert rows[1] == [0, 0.9, "m-8", 4, 8, "the ", "stop", " is closed", "place"]


def test_what_comes_before_stands_on_the_right_in_right_to_left_text(view, qtbot):
    """The ink of the following words is left of the keyword."""
    index = view._table.model().index(0, 1)  # the Arabic use: nothing before, one word after
    image = QImage(400, 32, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter, option = QPainter(image), QStyleOptionViewItem()
    option.rect = image.rect()
    view._table.itemDelegateForColumn(1).paint(painter, option, index)
    painter.end()
    keyword = range(int(400 * 0.58) - 12, int(400 * 0.58) + 12)
    dark = {x for x in range(400) for y in range(2, 28) if image.pixelColor(x, y).lightness() < 140}

    assert dark and min(dark) < keyword.start
    assert max(dark) < keyword.stop + 8
