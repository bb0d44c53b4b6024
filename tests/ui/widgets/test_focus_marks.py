"""The keyboard focus is seen on chips, primary buttons and rows, whatever their colours."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QWidget

from workbench.text.labels import Label
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.chip import ChipButton
from workbench.ui.widgets.tables.table import Column, Table

ROOT = Path(theme.__file__).parent


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


def painted():
    """Widgets that paint themselves, and views, by name."""
    from PySide6.QtWidgets import QListWidget, QTreeWidget, QTreeWidgetItem

    from workbench.ui.widgets.charts.axes import Axis
    from workbench.ui.widgets.charts.chart import Chart
    from workbench.ui.widgets.charts.point_map import PointMap
    from workbench.ui.widgets.charts.signed_bars import SignedBars
    from workbench.ui.widgets.text.view import TextView
    from workbench.ui.widgets.tokens.attention_heads import HeadsMap
    from workbench.ui.widgets.tokens.token_strip import TokenStrip
    from workbench.ui.widgets.tokens.word_strip import WordStrip

    def list_of_two():
        view = QListWidget()
        view.addItems(["Ada", "Bob"])
        return view

    def tree_of_two():
        view = QTreeWidget()
        view.addTopLevelItems([QTreeWidgetItem([name]) for name in ("Ada", "Bob")])
        return view

    def table_of_two():
        table = Table([Column("Name", str)], name="Names")
        table.set_rows(["Ada", "Bob"])
        return table

    named = (SignedBars, TokenStrip, WordStrip)
    made = {kind.__name__: lambda kind=kind: kind("x") for kind in named}
    made |= {"TextView": TextView, "HeadsMap": HeadsMap}
    made |= {
        "Chart": lambda: Chart("x", Axis("a"), Axis("b"), empty=""),
        "PointMap": lambda: PointMap("x", str),
    }
    return made | {"list": list_of_two, "tree": tree_of_two, "table": table_of_two}


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", painted())
def test_a_focused_widget_differs_from_the_same_without_focus_along_its_edge(shown, name, dark):
    from workbench.base import settings
    from workbench.ui.style import style_sheet

    style_sheet.apply(QApplication.instance(), settings.Settings(theme="dark" if dark else "light"))
    page = QWidget()
    widget = painted()[name]()
    for part in (other := Button("Other"), widget):
        part.setParent(page)
    other.move(0, 220)
    widget.setGeometry(10, 10, 240, 200)
    page.resize(260, 260)
    shown(page)
    edge = [(x, y) for x in range(10, 250) for y in (10, 11, 208, 209)]
    edge += [(x, y) for y in range(10, 210) for x in (10, 11, 248, 249)]

    other.setFocus()
    without = colours(page, [QPoint(*place) for place in edge])
    widget.setFocus()
    focused = colours(page, [QPoint(*place) for place in edge])

    seen = sum(
        before != now and theme.contrast(before, now) >= 3
        for before, now in zip(without, focused, strict=True)
    )
    style_sheet.apply(QApplication.instance(), settings.Settings(theme="light"))
    assert seen >= 2 * (240 + 200) - 40  # a line of one pixel around it, but for round corners


def test_every_widget_that_takes_the_focus_itself_shows_it():
    for file in sorted(ROOT.rglob("*.py")):
        code = file.read_text(encoding="utf-8")
        if re.search(r"self\.setFocusPolicy\(Qt\.FocusPolicy\.(Strong|Tab)Focus\)", code):
            assert "FocusRing(self)" in code or "hasFocus()" in code, file
