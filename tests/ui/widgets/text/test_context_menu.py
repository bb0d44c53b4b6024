"""A context menu opens for the item under the mouse or the current one, and shows keys."""

import pytest
from PySide6.QtCore import QPoint

from tests.ui.context import choose, open_menu
from workbench.ui.commands import SEPARATOR, MenuChoice
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.context_menu import RowMenu


@pytest.fixture
def table(look, qtbot):
    made = Table((Column("Name", str),), name="Names", key=str, many=True)
    qtbot.addWidget(made)
    made.set_rows(["Ada", "Bob", "Cleo"])
    made.resize(300, 200)
    made.show()
    made.done = []
    RowMenu(
        made,
        lambda: (
            MenuChoice("&Greet", lambda: made.done.append(tuple(made.chosen_rows())), key="G"),
            SEPARATOR,
            MenuChoice("Never", enabled=False),
            MenuChoice(
                "More", choices=(MenuChoice("Inner", lambda: made.done.append("inner"), on=True),)
            ),
        ),
    )
    return made


def place(table, row: int) -> QPoint:
    return table.visualRect(table.model().index(row, 0)).center()


def test_a_row_that_is_not_chosen_is_chosen_first_and_others_stay_chosen(table):
    table.choose({"Ada", "Bob"})
    choose(open_menu(table, place(table, 1)), "Greet")
    assert table.done == [("Ada", "Bob")]

    choose(open_menu(table, place(table, 2)), "Greet")
    assert table.done[-1] == ("Cleo",)


def test_the_menu_key_opens_it_on_the_current_row(table):
    table.setFocus()
    table.selectRow(1)

    choose(open_menu(table), "Greet")
    assert table.done == [("Bob",)]


def test_beside_the_rows_there_is_no_menu(table):
    assert open_menu(table, QPoint(20, 190)) == {}


def test_lines_rest_have_ticks_and_submenus(table):
    result = open_menu(table, place(table, 0))

    assert not result["Never"].isEnabled() and result["Greet"].text().endswith("\tG")
    assert result["More/Inner"].isChecked()
    choose(result, "More/Inner")
    assert table.done == ["inner"]
