"""The view of cross-attention: written tokens by source tokens, with fields for what is shown."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QLineEdit

from tests.ui.panels.inspect.shown import Page, named, renew, show, texts
from workbench.inspection.cross_attention.info import CrossAttention
from workbench.inspection.spec import TokenRow
from workbench.ui.style import theme

SOURCE = tuple(TokenRow(name, name, n, n, n + 1, "text", n) for n, name in enumerate("abc"))
WEIGHTS = np.array([[0.7, 0.2, 0.1], [0.0, 0.5, 0.5]], np.float32)
RESULT = CrossAttention(
    SOURCE, ("late", "</s>"), "late", True, 1, 2, 2, 4, WEIGHTS, np.full((2, 4), 1.25, np.float32)
)


@pytest.fixture
def view(qtbot):
    return show(qtbot, "cross_attention", RESULT, page=Page("Late again"))


def table_of(view):
    return named(view, "Cross-attention")


def test_rows_are_written_tokens_and_columns_those_of_the_source(view):
    model = table_of(view).model()

    rows, columns = (
        [model.headerData(n, way) for n in range(count)]
        for way, count in ((Qt.Orientation.Vertical, 2), (Qt.Orientation.Horizontal, 3))
    )
    assert (rows, columns) == (["late", "</s>"], ["a", "b", "c"])
    assert model.index(0, 0).data() == "0.70" and model.index(1, 2).data() == "0.50"
    assert {
        "Layer 1 of 2, head 2 of 4",
        "entropy 1.25 bits · the model writes: late",
    } <= set(texts(view))
    assert view.data()[1] == ["late", *map(float, WEIGHTS[0])]


def test_cells_are_painted_in_shades_of_their_weights(view):
    view.resize(800, 400)
    table = table_of(view)

    picture = table.viewport().grab().toImage()

    places = (table.visualRect(table.model().index(*at)) for at in ((0, 0), (1, 0)))
    high, zero = (picture.pixelColor(place.left() + 5, place.top() + 5).name() for place in places)
    assert high.upper() == theme.sequential(0.7**0.5) and zero.upper() == theme.sequential(0)


def test_a_long_source_is_shown_without_reading_every_cell(view, qtbot, monkeypatch):
    read = []
    cells = table_of(view).model()
    plain = type(cells).data
    monkeypatch.setattr(
        type(cells), "data", lambda it, index, role=0: read.append(0) or plain(it, index, role)
    )
    source = tuple(TokenRow(f"t{n}", f"t{n}", n, n, n + 1, "text", n) for n in range(600))
    weights = np.full((2, 600), 1 / 600, np.float32)
    view.resize(800, 400)
    view.show()

    renew(view, replace(RESULT, source=source, weights=weights))
    qtbot.wait(1)

    across = table_of(view).horizontalHeader()
    names = QFontMetrics(across.font())
    assert across.count() == 600 and len(read) < 600
    assert across.sectionSize(599) > names.horizontalAdvance("t599")


def test_a_typed_target_is_asked_for(view, qtbot):
    field = named(view, "Target text", QLineEdit)

    field.setText("delay")
    field.editingFinished.emit()

    assert view.state.options["target"] == "delay"
