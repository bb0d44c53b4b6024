"""Wrapping layouts: rows, springs, and rows that become columns."""

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QBoxLayout, QWidget

from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.words import Wrapped
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import TurningRow


def part(width: int, height: int = 20) -> QWidget:
    it = QWidget()
    it.setFixedSize(width, height)
    return it


class Wide(QWidget):
    """A widget with a size hint, which may be wider."""

    def __init__(self, width: int):
        super().__init__()
        self._hint = QSize(width, 20)

    def sizeHint(self) -> QSize:
        return self._hint


def shown(frame, width: int, qtbot) -> QWidget:
    qtbot.addWidget(frame)
    frame.resize(width, frame.layout().heightForWidth(width))
    frame.show()
    return frame


def test_parts_go_on_in_the_next_line_where_there_is_no_room(look, qtbot):
    parts = [part(100) for _number in range(3)]
    frame = shown(flow(*parts, gap=10), 215, qtbot)

    assert [(part.x(), part.y()) for part in parts] == [(0, 0), (110, 0), (0, 28)]
    assert frame.layout().heightForWidth(215) == 48 and frame.layout().heightForWidth(320) == 20
    assert frame.sizeHint().width() == 320 and frame.minimumSizeHint().width() == 100


@pytest.mark.parametrize(("width", "places"), [(300, [0, 220]), (150, [0, 70])])
def test_what_follows_a_spring_ends_at_the_right_edge_on_any_line(look, qtbot, width, places):
    left, right = part(80), part(80)
    _frame = shown(flow(left, None, right, gap=10), width, qtbot)

    assert [left.x(), right.x()] == places
    assert (right.y() == left.y()) == (width == 300)


def test_low_parts_stand_in_the_middle_of_their_line_and_hidden_ones_take_nothing(look, qtbot):
    low, gone, high = part(50, 10), part(50), part(50, 30)
    gone.hide()
    _frame = shown(flow(low, gone, high, gap=10), 300, qtbot)

    assert (low.y(), high.y(), high.x()) == (10, 0, 60)


def test_filled_lines_are_equal_parts_where_their_widgets_allow_it(look, qtbot):
    hints = (40, 40, 130, 60)
    parts = [Wide(hint) for hint in hints]
    _frame = shown(flow(*parts, gap=0, fill=True), 250, qtbot)

    assert [part.width() for part in parts] == [60, 60, 130, 250]


def test_a_wrapped_text_is_as_high_as_the_width_of_its_line_requires(look, qtbot):
    text = Wrapped("some words " * 12)
    one_line = text.sizeHint()
    frame = shown(flow(text), one_line.width() // 3, qtbot)

    assert text.height() >= 3 * one_line.height() and text.width() == frame.width()


def test_a_flow_beside_a_text_goes_below_it_before_it_wraps(look, qtbot):
    text, acts = Wrapped("a text that has room for some of its words"), flow(part(90), part(90))
    row = TurningRow((text, 1), acts, gap=10)
    holder = shown(flow(row), 600, qtbot)
    row.resize(180 + 10 + 150, 60)
    assert acts.x() == text.geometry().right() + 1 + 10
    row.resize(180 + 10 + 149, 60)
    qtbot.waitUntil(lambda: acts.y() > text.geometry().bottom())
    assert holder.isVisible()


def test_a_flow_beside_something_higher_is_in_its_middle_and_below_it_at_the_left(look, qtbot):
    text, acts = part(100, 80), flow(part(30))
    row = TurningRow((text, 1), acts, gap=10)
    holder = shown(flow(row), 300, qtbot)
    row.resize(200, 80)
    qtbot.waitUntil(lambda: acts.geometry().center().y() == text.geometry().center().y())

    row.resize(120, 200)
    qtbot.waitUntil(lambda: acts.y() > text.y() and acts.x() == 0)
    assert holder.isVisible()


def test_a_row_turns_into_a_column_where_its_parts_have_no_room(look, qtbot):
    holder = QWidget()
    qtbot.addWidget(holder)
    row = TurningRow(part(100), part(100), gap=10)
    row.setParent(holder)
    holder.show()

    for width, way in ((210, "LeftToRight"), (209, "TopToBottom"), (400, "LeftToRight")):
        row.resize(width, 60)
        assert row._line.direction() == getattr(QBoxLayout.Direction, way)
    assert row.minimumSizeHint().width() == 100


def test_fields_side_by_side_begin_at_the_same_height(look, qtbot):
    low, high = TitledField("Low", part(80)), TitledField("High", part(80), "A hint below.")
    row = TurningRow((low, 1), (high, 1), gap=10)
    holder = shown(flow(row), 400, qtbot)
    row.resize(400, 120)

    qtbot.waitUntil(lambda: low.y() == high.y() == 0 and low.height() < high.height())
    assert holder.isVisible()
