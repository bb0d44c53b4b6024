"""The token grid: wrapping, arrow keys along and between lines, accessible description."""

import pytest
from PySide6.QtCore import Qt

from workbench.text.labels import Label
from workbench.ui.widgets.tokens.token_grid import GridToken, Tag, TokenGrid

Key = Qt.Key


def cells(count, first=0):
    tag = Tag("NOUN", Label("NOUN"))
    return [GridToken(number, f"word{number}", (tag,)) for number in range(first, first + count)]


@pytest.fixture
def grid(look, qtbot):
    made = TokenGrid("Tokens")
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.chosen.connect(made.choose)
    return made


def test_it_wraps_at_its_width_and_a_new_line_of_the_text_begins_a_line(grid):
    grid.set([*cells(30), GridToken(30, "next", breaks=True)])

    assert max(area.right() for area in grid._areas) <= 400
    assert grid._areas[30].left() == 0 and grid._areas[30].top() > grid._areas[29].top()


def test_arrows_lead_along_a_line_and_to_the_nearest_token_of_the_next(grid, qtbot):
    grid.set(cells(12))
    grid.choose(1)

    qtbot.keyClick(grid, Key.Key_Right)
    assert grid.number == 2
    qtbot.keyClick(grid, Key.Key_Down)
    below = grid.number
    assert abs(grid._areas[below].center().x() - grid._areas[2].center().x()) < 34
    assert grid._areas[below].top() > grid._areas[2].top()
    qtbot.keyClick(grid, Key.Key_Up)
    qtbot.keyClick(grid, Key.Key_Left)
    assert grid.number == 1


def test_in_a_text_from_right_to_left_the_left_arrow_leads_on(grid, qtbot):
    grid.set(cells(4), rtl=True)
    grid.choose(0)

    qtbot.keyClick(grid, Key.Key_Left)

    assert grid.number == 1 and grid._areas[1].right() < grid._areas[0].left()


def test_an_arrow_out_of_the_cells_is_reported(grid, qtbot):
    grid.set(cells(3, first=10))
    grid.choose(12)

    with qtbot.waitSignal(grid.left) as message:
        qtbot.keyClick(grid, Key.Key_Right)

    assert message.args == [1] and grid.number == 12


def test_a_click_chooses_the_token(grid, qtbot):
    grid.set(cells(5))

    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=grid._areas[3].center().toPoint())

    assert grid.number == 3
    assert grid.accessibleDescription() == "word3: NOUN"
