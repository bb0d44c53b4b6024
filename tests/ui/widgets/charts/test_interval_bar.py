"""A score with its interval in a cell."""

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QStyleOptionViewItem, QTableView

from workbench.ui.widgets.charts.interval_bar import Interval, IntervalDelegate


@pytest.fixture
def painted(look, qtbot):
    """painted(text, width) → the image of its cell."""
    view = QTableView()
    qtbot.addWidget(view)

    def paint(text, width=250):
        model = QStandardItemModel()
        model.appendRow(QStandardItem(text))
        image = QImage(width, 32, QImage.Format.Format_RGB32)
        image.fill(0xFFFFFF)
        option = QStyleOptionViewItem()
        option.rect, option.font = QRect(0, 0, width, 32), view.font()
        painter = QPainter(image)
        IntervalDelegate(view, lambda _row: Interval(None)).paint(
            painter, option, model.index(0, 0)
        )
        painter.end()
        return image

    return paint


def test_no_digit_of_a_long_error_score_is_clipped(painted):
    assert painted("9234.567  8000.000 – 9999.000") != painted("1234.567  8000.000 – 9999.000")


def test_an_error_has_no_scale_from_0_to_1(painted):
    image = painted("0.375  0.138 – 0.612")

    assert {image.pixelColor(x, 15).name() for x in range(75, 135)} == {"#ffffff"}


def test_in_a_narrow_cell_the_bounds_leave_the_value_alone(painted):
    assert painted("40.0  32.6 – 56.6", 90) == painted("40.0  ", 90)
