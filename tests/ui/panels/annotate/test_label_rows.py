from types import SimpleNamespace

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from workbench.ui.panels.annotate.label_rows import PICTURES_PER_FRAME, LabelAndText, LabelTable
from workbench.ui.widgets.tables.marked_table import MarkedTable
from workbench.ui.widgets.tables.table import Column, Table


@pytest.fixture
def listed(look, qtbot):
    """A list of 500 rows of two lines each, of which ten and a half are visible."""
    table = LabelTable((Column("Text", lambda row: row.text),), name="Rows", key=lambda row: row.id)
    qtbot.addWidget(table)
    table.setItemDelegateForColumn(
        0,
        LabelAndText(
            table,
            lambda row: ("AB"[row.id % 2], None),
            lambda row: row.text,
            below_of=lambda row: f"you, {row.id % 3}",
            depends_on=lambda: 0,
        ),
    )
    table.horizontalHeader().hide()
    table.set_row_height(44)
    table.resize(300, 462)
    table.set_rows([SimpleNamespace(id=n, text=f"tram {n}") for n in range(500)])
    with qtbot.waitExposed(table):
        table.show()
    QApplication.processEvents()
    return table


def pixels(table) -> QImage:
    return table.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)


def test_the_list_paints_its_rows_as_qt_does(listed, monkeypatch):
    listed.choose({3})
    listed.setFocus()
    for scrolled in (0, 17, listed.verticalScrollBar().maximum()):
        listed.verticalScrollBar().setValue(scrolled)
        own = pixels(listed)
        with monkeypatch.context() as patch:
            patch.setattr(LabelTable, "paintEvent", MarkedTable.paintEvent)
            assert own == pixels(listed)


def test_after_a_scroll_to_a_row_it_is_painted_first_and_the_others_in_steps(listed, qtbot):
    delegate = listed.itemDelegateForColumn(0)
    before = delegate.made
    listed.choose({250})
    listed.viewport().repaint()
    assert delegate.made == before + PICTURES_PER_FRAME
    assert listed.rows()[250].text in {key[0].text for key in delegate._pictures}

    qtbot.waitUntil(lambda: delegate.made >= before + 11)
    listed.viewport().repaint()
    made = delegate.made
    listed.viewport().repaint()
    assert delegate.made == made


def test_texts_of_a_row_are_made_again_when_the_row_or_what_they_depend_on_changes(qtbot):
    made, basis = [], ["Monday"]

    def text_of(row):
        made.append(row.id)
        return f"{row.text}, {basis[0]}"

    table = Table((Column("Text", text_of),), key=lambda row: row.id, name="Rows")
    qtbot.addWidget(table)
    rows = LabelAndText(table, lambda row: ("A", None), text_of, depends_on=lambda: basis[0])
    first, changed = SimpleNamespace(id=1, text="tram"), SimpleNamespace(id=1, text="bus")

    assert [rows._shown(row).text for row in (first, first)] == ["tram, Monday"] * 2
    assert made == [1]
    assert rows._shown(changed).text == "bus, Monday"
    basis[0] = "Tuesday"
    assert rows._shown(first).text == "tram, Tuesday" and made == [1, 1, 1]
