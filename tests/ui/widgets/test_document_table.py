import pytest

from workbench.text.find import marks
from workbench.ui.widgets.document_delegates import FoundText, _elided, _laid_out
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
    rtl = not text.isascii()
    layout = _laid_out(text, marks(text, "42"), 600)
    line = layout.lineAt(0)
    shown, name = _ink(qtbot, text), _ink(qtbot, text, middle=True)

    assert (line.naturalTextRect().right() > 590) == rtl
    assert (line.naturalTextRect().left() == 0) != rtl
    assert shown[0] > 300 if rtl else shown[1] < 300
    assert name[1] < 300  # keys stay at their left


def test_a_long_text_is_cut_where_qt_cuts_it(look):
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QFontMetrics

    from workbench.ui import theme

    metrics, mode = QFontMetrics(theme.font()), Qt.TextElideMode.ElideRight
    texts = ("i" * 400, "W" * 400, "The 42 tram was late again. " * 20, "short", "电车" * 100)

    for text in texts:
        assert _elided(text, mode, 300, metrics) == metrics.elidedText(text, mode, 300)


def _ink(qtbot, text, *, middle=False):
    """The first and last column of 600 that a cell with the text paints in the text's colour."""
    from PySide6.QtCore import QRect
    from PySide6.QtGui import QImage, QPainter, QStandardItem, QStandardItemModel
    from PySide6.QtWidgets import QStyleOptionViewItem, QTableView

    model, view = QStandardItemModel(), QTableView()
    model.appendRow(item := QStandardItem(text))
    qtbot.addWidget(view)
    option, image = QStyleOptionViewItem(), QImage(600, 30, QImage.Format.Format_RGB32)
    option.rect = QRect(0, 0, 600, 30)
    image.fill(0xFFFFFF)
    painter = QPainter(image)
    FoundText(view, marks, middle=middle).paint(painter, option, item.index())
    painter.end()
    dark = [x for x in range(600) for y in range(29) if image.pixelColor(x, y).lightness() < 90]
    return min(dark), max(dark)
