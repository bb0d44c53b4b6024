"""Pictures of tables and views have what is scrolled out of view, too."""

import re

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.ui.style import theme
from workbench.ui.widgets import whole as whole_module
from workbench.ui.widgets.layout import scrolled
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.whole import whole

ROWS = 40


@pytest.fixture
def table(qtbot):
    columns = [Column("Name", lambda row: f"row {row}", 120), Column("Twice", lambda row: "x")]
    found = Table(columns, name="Rows", key=lambda row: row)
    found.set_rows(range(ROWS))
    found.fit_height(5)
    frame = QWidget()
    layout = QVBoxLayout(frame)
    layout.addWidget(found)
    qtbot.addWidget(frame)
    frame.resize(400, 260)
    frame.show()
    yield found


def test_the_picture_of_a_table_has_all_rows_and_the_table_stays_as_it_was(table, tmp_path):
    before = table.geometry(), table.minimumSize(), table.maximumSize()

    table.save_picture(tmp_path / "a.png")
    table.save_picture(tmp_path / "a.svg")

    image = QImage(str(tmp_path / "a.png"))
    assert image.height() / 2 >= ROWS * theme.px(theme.ROW) > table.height()
    written = re.findall(r">row (\d+)</text>", (tmp_path / "a.svg").read_text("utf-8"))
    assert sorted(map(int, written)) == [*range(ROWS)]
    assert (table.geometry(), table.minimumSize(), table.maximumSize()) == before


def test_the_picture_of_a_short_table_ends_below_its_last_row(table, tmp_path):
    table.set_rows(range(2))
    table.setFixedHeight(400)

    table.save_picture(tmp_path / "a.png")

    rows = 2 * theme.px(theme.ROW) + table.horizontalHeader().height()
    assert rows <= QImage(str(tmp_path / "a.png")).height() / 2 <= rows + 8


def test_the_numbers_have_columns_that_are_hidden_for_lack_of_room(qtbot, tmp_path):
    columns = [Column(name, lambda row, at=at: row[at]) for at, name in enumerate("ABC")]
    table = Table(columns, name="Rows", key=lambda row: row)
    qtbot.addWidget(table)
    table.set_rows([("a", "−1.5", "–"), ("b", "–", "–")])
    for column in (1, 2):
        table.setColumnHidden(column, True)

    table.save_numbers(tmp_path / "a.csv")

    assert (tmp_path / "a.csv").read_text("utf-8").split() == ["A,B", "a,-1.5", "b,–"]


def test_a_picture_that_would_be_too_high_ends_with_a_note(table, tmp_path, monkeypatch):
    monkeypatch.setattr(whole_module, "MAX_PICTURE_SIDE", 600)

    table.save_picture(tmp_path / "a.svg")

    text = (tmp_path / "a.svg").read_text("utf-8")
    assert "The picture is cut off at 600 pixels" in text and ">row 39<" not in text


def test_scroll_areas_within_a_view_show_all_their_contents(qtbot):
    frame, inside = QWidget(), QWidget()
    inside.setMinimumHeight(900)
    layout = QVBoxLayout(frame)
    area = scrolled(inside)
    layout.addWidget(area)
    qtbot.addWidget(frame)
    frame.resize(300, 200)
    frame.show()

    with whole(frame) as found:
        assert area.viewport().height() >= 900 and found.note == ""

    assert (frame.width(), frame.height()) == (300, 200) and area.viewport().height() < 200
