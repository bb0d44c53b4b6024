"""The keyboard focus is seen on chips, primary buttons and rows, whatever their colours."""

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor

from workbench.text.labels import Label
from workbench.ui import theme
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.chip import ChipButton
from workbench.ui.widgets.table import Column, Table


def colours(widget, points):
    picture = widget.grab().toImage()
    return [picture.pixelColor(point).name().upper() for point in points]


@pytest.fixture
def shown(look, qtbot):
    def show(widget):
        qtbot.addWidget(widget)
        with qtbot.waitActive(widget):
            widget.show()
            widget.activateWindow()
        return widget

    return show


def test_the_ring_of_a_focused_chip_stands_off_its_outline(shown):
    chip = shown(ChipButton("person", Label("person", position=0), key="1", checkable=True))
    chip.setChecked(True)
    middle = chip.height() // 2
    chip.setFocus()

    ring, gap = colours(chip, [QPoint(1, middle), QPoint(2, middle)])

    assert ring == theme.colour("accent").upper()
    assert theme.contrast(ring, gap) >= 3
    chip.clearFocus()
    assert colours(chip, [QPoint(1, middle)]) != [ring]


def test_a_focused_primary_button_has_a_ring_inside_its_border(shown):
    button = shown(Button("Start", kind="primary"))
    row = [QPoint(x, button.height() // 2) for x in (3, 4)]

    def contrast():
        ground = theme.colour("accent")
        return max(theme.contrast(colour, ground) for colour in colours(button, row))

    button.setFocus()
    focused = contrast()
    button.clearFocus()

    assert focused >= 3 > contrast()


def test_the_current_row_is_marked_while_the_table_has_the_focus(shown):
    table = Table([Column("Name", str)], name="Names")
    table.set_rows(["Ada", "Bob"])
    shown(table)
    table.setFocus()
    table.selectRow(1)
    ys = [table.visualRect(table.model().index(row, 0)).center().y() for row in (0, 1)]

    marks = colours(table.viewport(), [QPoint(1, y) for y in ys])
    table.clearFocus()
    after = colours(table.viewport(), [QPoint(1, y) for y in ys])

    accent = QColor(theme.colour("accent")).name().upper()
    assert marks[1] == accent and accent not in (marks[0], *after)
    assert theme.contrast(accent, after[1]) >= 3
