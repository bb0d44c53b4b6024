from dataclasses import replace

import pytest
from PySide6.QtGui import QFontMetrics

from workbench.storage.queries.listing import DocumentRow
from workbench.text.queries.find import marks
from workbench.ui.style import theme
from workbench.ui.widgets.tables.document_cells import FoundText, _elided, _laid_out
from workbench.ui.widgets.tables.document_rows import (
    KEY,
    LENGTH,
    SPLIT,
    STATE,
    TEXT,
    DocumentRows,
    Extra,
)
from workbench.ui.widgets.tables.document_table import DocumentTable


def test_choosing_all_of_a_long_table_does_not_ask_for_every_row(look, qtbot, monkeypatch):
    asked, count = [], DocumentRows.rowCount
    monkeypatch.setattr(
        DocumentRows, "rowCount", lambda self, *parent: asked.append(1) or count(self, *parent)
    )
    table = DocumentTable(lambda ids: [], dict, "Documents")
    qtbot.addWidget(table)
    table.resize(900, 400)
    table.show()
    table.show_ids(range(60_000))

    table.selectAll()
    table.grab()

    assert table.chosen_count() == 60_000 and len(asked) < 3000


@pytest.mark.parametrize(
    ("text", "wanted", "marked"),
    [
        ("The tram was late", "tram", "tram"),
        ("👍👍 tram 🚋", "tram", "tram"),  # UTF-16 places differ from code points
        ("וצאנו עם tram הביתה", "הביתה", "הביתה"),
    ],
)
def test_the_marked_units_are_those_of_the_letters_found(look, text, wanted, marked):
    layout = _laid_out(text, marks(text, wanted), 600)
    (part,) = layout.formats()
    units = text.encode("utf-16-le")

    decoded = units[2 * part.start : 2 * (part.start + part.length)].decode("utf-16-le")
    assert layout.text() == text and decoded == marked


def test_what_is_cut_away_is_not_marked(look):
    text = "word " * 100 + "tram"
    layout = _laid_out(text, ((0, 4), (500, 504)), 200)

    assert layout.text().endswith("…")
    assert [(part.start, part.length) for part in layout.formats()] == [(0, 4)]


def test_of_a_key_cut_in_the_middle_what_is_in_sight_is_marked(look):
    from PySide6.QtCore import Qt

    key = "👍customer-00042-of-november-2026-transcript….txt"
    result = ((0, 9), (20, 28), (len(key) - 4, len(key)))
    layout = _laid_out(key, result, 150, Qt.TextElideMode.ElideMiddle)

    units = layout.text().encode("utf-16-le")
    marked = [
        units[2 * format_.start : 2 * (format_.start + format_.length)].decode("utf-16-le")
        for format_ in layout.formats()
    ]
    assert layout.text().count("…") == 2
    assert key.startswith(marked[0]) and len(marked[0]) > 3 and marked[-1] == ".txt"
    assert len(marked) == 2


@pytest.mark.parametrize("text", ["נסענו ב-42 הביתה!", "Line 42"])
def test_text_from_right_to_left_is_read_and_aligned_so_with_and_without_a_search(look, text):
    rtl = not text.isascii()
    layout = _laid_out(text, marks(text, "42"), 600)
    line = layout.lineAt(0)
    shown, name = _ink(text), _ink(text, middle=True)

    assert (line.naturalTextRect().right() > 590) == rtl
    assert (line.naturalTextRect().left() == 0) != rtl
    assert shown[0] > 300 if rtl else shown[1] < 300
    assert name[1] < 300  # keys stay at their left


def test_a_long_text_is_cut_where_qt_cuts_it(look):
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QFontMetrics

    from workbench.ui.style import theme

    metrics, mode = QFontMetrics(theme.font()), Qt.TextElideMode.ElideRight
    texts = ("i" * 400, "W" * 400, "The 42 tram was late again. " * 20, "short", "电车" * 100)

    for text in texts:
        assert _elided(text, mode, 300, metrics) == metrics.elidedText(text, mode, 300)


def _ink(text, *, middle=False):
    """The first and last column of 600 that a cell with the text paints in the text's colour."""
    from PySide6.QtCore import QRect
    from PySide6.QtGui import QImage, QPainter

    image = QImage(600, 30, QImage.Format.Format_RGB32)
    image.fill(0xFFFFFF)
    painter = QPainter(image)
    FoundText(lambda _row: text, marks, middle=middle).draw(painter, QRect(0, 0, 600, 30), None)
    painter.end()
    dark = [x for x in range(600) for y in range(29) if image.pixelColor(x, y).lightness() < 90]
    return min(dark), max(dark)


def test_the_table_paints_each_column_selected_rows_and_further_columns(look, qtbot):
    table = DocumentTable(_rows, dict, "Documents")
    qtbot.addWidget(table)
    table.resize(1000, 400)
    table.show_ids(range(100))
    table.show_extras((Extra("meta.n", "N", str),))
    with qtbot.waitExposed(table):
        table.show()
    empty, full = table.grab().toImage(), []
    for column in (KEY, TEXT, LENGTH, SPLIT, STATE, STATE + 1):
        box = table.visualRect(table.documents.index(3, column))
        full.append(_colours(empty, box, table))

    assert all(len(colours) > 1 for colours in full)
    table.choose_rows(3, 3)
    chosen = table.grab().toImage()
    box = table.visualRect(table.documents.index(3, KEY))
    assert _colours(chosen, box, table) != full[0]
    box = table.visualRect(table.documents.index(4, KEY))
    assert _colours(chosen, box, table) == _colours(empty, box, table)


def test_a_small_part_of_the_table_paints_its_rows_only(look, qtbot, monkeypatch):
    table = DocumentTable(_rows, dict, "Documents")
    qtbot.addWidget(table)
    table.resize(1000, 400)
    table.show_ids(range(100))
    with qtbot.waitExposed(table):
        table.show()
    asked = []
    row = table.documents.row
    monkeypatch.setattr(table.documents, "row", lambda number: asked.append(number) or row(number))

    table.viewport().repaint(table.visualRect(table.documents.index(5, TEXT)))
    assert asked == [5]


def _rows(ids):
    return [
        DocumentRow(id, f"key-{id}", f"text {id}", "train", "draft", (), 2, 0, 7, (), "", (id,))
        for id in ids
    ]


def _colours(image, box, table):
    top = table.viewport().y()
    return {
        image.pixel(x, top + y)
        for x in range(box.left(), box.right(), 1)
        for y in range(box.top() + 2, box.bottom() - 2)
    }


def test_keys_use_the_room_that_the_text_can_spare(look, qtbot):
    keys = {1: "k1", 2: "customer-mail-2024-03-17-reply-0002"}
    row = DocumentRow(1, "", "The tram was late.", None, "pending", (), 0, 0)

    def fetch(ids):
        return [replace(row, id=id, key=keys[id]) for id in ids]

    table = DocumentTable(fetch, dict, "Documents")
    qtbot.addWidget(table)
    table.resize(1200, 400)
    table.show()
    table.show_ids([1])
    short = table.columnWidth(KEY)

    table.show_ids([1, 2])
    needed = QFontMetrics(theme.font()).horizontalAdvance(keys[2])
    assert short < needed < table.columnWidth(KEY)
    table.resize(700, 400)
    assert table.columnWidth(KEY) == short and table.columnWidth(TEXT) > 0
    table.setColumnWidth(KEY, 200)  # by the user
    table.resize(1200, 400)
    assert table.columnWidth(KEY) == 200
