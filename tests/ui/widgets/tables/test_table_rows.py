"""What a table tells its view after an edit of many rows: only what has changed."""

from typing import NamedTuple

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication

from workbench.base.ordered_rows import OrderedRows
from workbench.text import columns
from workbench.ui.style import theme
from workbench.ui.widgets.tables.table import Column, Table


class Row(NamedTuple):
    id: int
    name: str


class ByName(OrderedRows):
    @staticmethod
    def order(row):
        return row.name, row.id


@pytest.fixture
def rows():
    return ByName(Row(number, f"{number:04}") for number in range(500))


@pytest.fixture
def table(look, qtbot, rows):
    table = Table((Column("Name", lambda row: row.name),), name="Rows", key=lambda row: row.id)
    qtbot.addWidget(table)
    table.resize(300, 400)
    with qtbot.waitExposed(table):
        table.show()
    table.set_rows(rows)
    table.choose({3})
    return table


def shown(table):
    model = table.rows_model
    return [model.index(number, 0).data() for number in range(model.rowCount())]


def test_a_row_changed_in_place_is_the_only_one_told(table, rows):
    message, model = [], table.rows_model
    model.dataChanged.connect(lambda first, last, _roles: message.append((first.row(), last.row())))
    model.modelReset.connect(lambda: message.append("reset"))
    renamed = rows.exchanged([5], [Row(5, "0005a")])

    table.set_rows(renamed)

    assert shown(table) == [row.name for row in renamed]
    assert message == [(5, 5)]


def test_rows_come_and_go_and_the_selection_stays(table, rows):
    edited = rows.exchanged([1, 7, 499], [Row(600, "0002a"), Row(7, "0400a")])

    table.set_rows(edited)

    assert shown(table) == [row.name for row in edited]
    assert [row.id for row in table.chosen_rows()] == [3]


def test_the_selected_row_goes_without_another_one_taking_its_place(table, rows):
    heard = []
    table.chosen.connect(lambda: heard.append(True))

    table.set_rows(rows.exchanged([3], []))

    assert table.chosen_rows() == []
    assert heard == []


def test_many_changes_at_once_show_the_same_rows(table, rows):
    edited = rows.exchanged(range(0, 200, 2), [Row(900 + n, f"{n:04}b") for n in range(80)])

    table.set_rows(edited)

    assert shown(table) == [row.name for row in edited]
    assert [row.id for row in table.chosen_rows()] == [3]


def test_a_row_out_of_view_is_shown_amid_its_neighbours(table):
    table.choose({300})

    place = table.rowViewportPosition(300)
    assert abs(place - table.viewport().height() / 2) < 2 * table.rowHeight(300)


def test_rows_that_come_or_go_are_painted_once(table, rows, qtbot):
    QApplication.processEvents()
    painted = Paints()
    table.viewport().installEventFilter(painted)

    table.set_rows(rows.exchanged([4], [Row(600, "0004b")]))
    QApplication.processEvents()

    assert painted.count == 1


class Paints(QObject):
    count = 0

    def eventFilter(self, _watched, event):
        self.count += event.type() == QEvent.Type.Paint
        return False


def test_a_column_that_was_squeezed_and_then_hidden_has_its_width_again(look, qtbot):
    columns = (
        Column("Name", str),
        Column("Paper", str, 150, prose=True),
        Column("Licence", str, 120, prose=True),
    )
    table = Table(columns, name="models", key=str)
    qtbot.addWidget(table)
    table.resize(240, 200)
    with qtbot.waitExposed(table):
        table.show()

    assert table.columnWidth(2) < theme.px(120)
    table.setColumnHidden(2, True)
    table.resize(500, 200)
    table.setColumnHidden(2, False)
    table.resize(900, 200)

    assert [table.columnWidth(at) for at in (1, 2)] == [theme.px(150), theme.px(120)]


@pytest.mark.parametrize("most", [None, 400])
def test_a_stretching_column_can_keep_the_room_of_its_texts_while_others_grow(look, qtbot, most):
    name, paper = "adapted-starter-ulmfit-forward", "A paper with a title that is very long indeed"
    columns = (Column("Name", lambda _row: name, most=most),
               Column("Paper", lambda _row: paper, 80, most=500))  # fmt: skip
    table = Table(columns, name="models", key=str)
    qtbot.addWidget(table)
    table.resize(420, 200)
    with qtbot.waitExposed(table):
        table.show()
    table.set_rows(["one"])

    fits = table.columnWidth(0) >= table.fontMetrics().horizontalAdvance(name)
    assert fits == bool(most) and table.columnWidth(1) > theme.px(80)


@pytest.mark.parametrize("width", [330, 240])
def test_columns_give_up_what_they_do_not_need_before_a_name_is_elided(look, qtbot, width):
    """330 pixels are enough for the name beside short papers; in 240 the widest shrink."""
    name, paper = "starter-ulmfit-forward", "Short"
    columns = (
        Column("Name", lambda _row: name, most=240),
        Column("Paper", lambda _row: paper, 150),
        Column("Kind", lambda _row: paper, 120),
    )
    table = Table(columns, name="models", key=str)
    qtbot.addWidget(table)
    table.resize(theme.px(width), 200)
    with qtbot.waitExposed(table):
        table.show()
    table.set_rows(["one"])

    text = table.fontMetrics().horizontalAdvance
    assert (table.columnWidth(0) >= text(name)) == (width == 330)
    assert all(table.columnWidth(at) > text(paper) for at in (1, 2)) or width == 240
    assert table.columnWidth(0) > table.columnWidth(1)  # the longest name keeps the most room

    table.resize(theme.px(900), 200)
    assert [table.columnWidth(at) for at in (1, 2)] == [theme.px(150), theme.px(120)]


def test_short_texts_stay_whole_in_a_narrow_table_while_long_ones_are_elided(look, qtbot):
    columns = (
        Column("Key", lambda _row: "m-0083", 90),
        Column("Gold", lambda _row: "accessibility of trams", 180),
        Column("Said", lambda _row: "accessibility of buses", 180),
        Column("State"),
    )
    table = Table(columns, name="errors", key=str)
    qtbot.addWidget(table)
    table.resize(theme.px(340), 200)
    with qtbot.waitExposed(table):
        table.show()
    table.set_rows(["one"])

    text = table.fontMetrics().horizontalAdvance
    assert table.columnWidth(0) > text("m-0083") + 20
    assert table.columnWidth(1) == table.columnWidth(2) < text("accessibility of trams") + 20


def test_a_described_column_is_shown_aligned_and_sorted_by_its_kind(look, qtbot):
    described = columns.Column("F1", lambda row: row[0], kind=columns.ValueKind.SHARE, hint="mean")
    table = Table((Column.of(described, 60),), name="Scores", sortable=True)
    qtbot.addWidget(table)

    table.set_rows([(0.1234,), (None,), (0.1231,)])
    table.sortByColumn(0, Qt.SortOrder.AscendingOrder)

    cells = [table.rows_model.index(number, 0) for number in range(3)]
    assert [cell.data() for cell in cells] == ["12.3", "12.3", "–"]
    assert table.rows() == [(0.1231,), (0.1234,), (None,)]
    assert cells[0].data(Qt.ItemDataRole.TextAlignmentRole) & Qt.AlignmentFlag.AlignRight.value


def test_down_moves_from_a_chosen_row_whose_first_column_is_hidden(look, qtbot):
    columns = (Column("#", lambda row: str(row.id)), Column("Name", lambda row: row.name))
    table = Table(columns, name="Rows", key=lambda row: row.id)
    qtbot.addWidget(table)
    table.set_rows([Row(number, f"{number:04}") for number in range(5)])
    table.setColumnHidden(0, True)
    table.choose({1})
    qtbot.keyClick(table, Qt.Key.Key_Down)
    qtbot.keyClick(table, Qt.Key.Key_Down)
    assert [row.id for row in table.chosen_rows()] == [3]
