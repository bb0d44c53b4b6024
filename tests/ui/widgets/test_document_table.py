import pytest

from workbench.text.find import marks
from workbench.ui.widgets.document_delegates import FoundText, _laid_out
from workbench.ui.widgets.document_table import DocumentRows, DocumentTable


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
def test_text_from_right_to_left_is_read_and_aligned_so_with_and_without_a_search(
    look, qtbot, text
):
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QStandardItem, QStandardItemModel
    from PySide6.QtWidgets import QStyleOptionViewItem, QTableView

    rtl, item = not text.isascii(), QStandardItem(text)
    model, view = QStandardItemModel(), QTableView()
    model.appendRow(item)
    qtbot.addWidget(view)
    shown, name = QStyleOptionViewItem(), QStyleOptionViewItem()
    FoundText(view, marks).initStyleOption(shown, item.index())
    FoundText(view, marks, middle=True).initStyleOption(name, item.index())
    layout = _laid_out(text, marks(text, "42"), 600)
    line = layout.lineAt(0)

    assert (shown.direction == Qt.LayoutDirection.RightToLeft) == rtl
    assert (line.naturalTextRect().right() > 590) == rtl
    assert (line.naturalTextRect().left() == 0) != rtl
    assert name.direction == Qt.LayoutDirection.LeftToRight  # keys stay at their left
