"""The frame of charts: axes and layers on a scene of pyqtgraph."""

import pytest
from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QColor, QFontMetricsF, QImage
from PySide6.QtWidgets import QGraphicsView

from workbench.base.settings import Settings
from workbench.ui.style import style_sheet, theme
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.frame import ChartFrame
from workbench.ui.widgets.charts.layers import Bars, ChartLine
from workbench.ui.widgets.charts.saving import save_drawing


@pytest.fixture
def frame(look, qtbot):
    frame = ChartFrame(Axis("step", whole=True), Axis("loss"))
    qtbot.addWidget(frame)
    frame.resize(400, 300)
    return frame


def colours(image, x):
    """Of the pixels in a column of an image."""
    return [QColor(image.pixel(x, y)).name().upper() for y in range(image.height())]


def test_a_scene_is_built_when_a_chart_with_data_is_shown(frame):
    frame.show()
    assert frame.findChildren(QGraphicsView) == []
    frame.hide()
    frame.show_layers([ChartLine((0, 1), (0, 1))])
    assert frame.findChildren(QGraphicsView) == []

    frame.show()
    assert len(frame.findChildren(QGraphicsView)) == 1


def test_a_place_leads_back_to_its_point(frame):
    frame.show_layers([ChartLine((0, 10), (2, 4))], (0.0, 10.0), (2.0, 4.0))

    area = frame.area()
    assert frame.place(0, 2) == area.bottomLeft() and frame.place(10, 4) == area.topRight()
    assert frame.point(frame.place(3, 2.5)) == pytest.approx((3, 2.5))
    assert frame.point(QPointF(area.center())) == pytest.approx((5, 3))


def test_the_last_text_below_has_room(frame):
    last = "1,234,567 documents"
    frame.set_axes(Axis("step", names=((0.0, "0"), (6.0, last))), Axis("loss"))
    frame.show_layers([ChartLine((0, 6), (0, 1))], (0.0, 6.0), (0.0, 1.0))

    half = QFontMetricsF(theme.font("caption")).horizontalAdvance(last) / 2
    assert frame.area().right() + half <= frame.width()


def test_bars_are_where_the_axes_say_in_the_colours_of_the_theme(frame, look):
    frame.show_layers([Bars([0.0], 1.0, [1.0])])
    frame.show()
    inside, above = frame.place(0.5, 0.5).toPoint(), frame.area().top() - 8
    for name in ("light", "dark"):
        style_sheet.apply(look, Settings(theme=name))
        image = frame.grab().toImage()

        assert QColor(image.pixel(inside)).name().upper() == theme.colour("accent").upper()
        assert image.pixel(inside.x(), int(above)) != image.pixel(inside)
    style_sheet.apply(look, Settings(theme="light"))


def test_lines_are_as_wide_in_a_picture_with_two_pixels_per_point(frame, tmp_path):
    frame.show_layers([ChartLine((0, 1), (0.5, 0.5), width=4.0)])
    frame.show()
    column = int(frame.place(0.5, 0.5).x())
    shown = colours(frame.grab().toImage(), column)

    save_drawing(tmp_path / "a.png", QSize(400, 300), frame.draw)
    saved = colours(QImage(str(tmp_path / "a.png")), 2 * column)

    wide = [column.count(theme.colour("accent").upper()) for column in (shown, saved)]
    assert wide[0] >= 3 and abs(wide[1] - 2 * wide[0]) <= 1
