"""The map of points: what the lasso and the mouse meet, zoom around a place, shapes, keys."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from workbench.ui.widgets.charts import point_stamps
from workbench.ui.widgets.charts.point_legend import PointLegend
from workbench.ui.widgets.charts.point_map import PointGroup, PointMap

POINTS = np.array([(0, 0), (1, 0), (0, 1), (1, 1), (0.5, 0.5)], np.float32)


@pytest.fixture
def shown(qtbot):
    found = PointMap("points", lambda number: f"point {number}")
    qtbot.addWidget(found)
    found.resize(400, 300)
    found.set_points(POINTS)
    found.taken = []
    found.selected.connect(lambda numbers: found.taken.append(numbers.tolist()))
    return found


def place(shown, number):
    return QPointF(*map(float, shown.pixels[number]))


def test_all_points_are_within_the_widget_with_y_upwards(shown):
    pixels = shown.pixels

    assert pixels.min() >= 0 and pixels[:, 0].max() <= 400 and pixels[:, 1].max() <= 300
    assert pixels[2][1] < pixels[0][1]


def test_the_lasso_takes_what_is_inside(shown):
    middle = place(shown, 4)
    corners = [middle + QPointF(x, y) for x, y in ((-20, -20), (20, -20), (20, 20), (-20, 20))]
    assert shown.numbers_in(corners).tolist() == [4]

    left = [
        QPointF(0, 0),
        QPointF(middle.x() - 5, 0),
        QPointF(middle.x() - 5, 300),
        QPointF(0, 300),
    ]
    assert shown.numbers_in(left).tolist() == [0, 2]


def test_dragging_selects_shift_adds_and_escape_clears(shown, qtbot):
    def drag(number, modifiers):
        at = place(shown, number).toPoint()
        corners = [at.__class__(at.x() + x, at.y() + y) for x, y in ((-9, -9), (9, -9), (9, 9))]
        corners.append(at.__class__(at.x() - 9, at.y() + 9))
        qtbot.mousePress(shown, Qt.MouseButton.LeftButton, modifiers, corners[0])
        for corner in corners[1:]:
            qtbot.mouseMove(shown, corner)
        qtbot.mouseRelease(shown, Qt.MouseButton.LeftButton, modifiers, corners[-1])

    drag(1, Qt.KeyboardModifier.NoModifier)
    drag(3, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(shown, Qt.Key.Key_Escape)

    assert shown.taken == [[1], [1, 3], []]


def test_the_nearest_point_is_met_within_some_pixels(shown):
    assert shown.number_at(place(shown, 3) + QPointF(3, 3)) == 3
    assert shown.number_at(place(shown, 3) + QPointF(-40, 40)) == -1


def test_zooming_keeps_the_place_under_the_mouse(shown):
    before = place(shown, 1)
    shown.zoom(2.0, before)
    after = place(shown, 1)

    assert (after.x(), after.y()) == pytest.approx((before.x(), before.y()), abs=0.01)
    assert shown.number_at(before) == 1


def test_keys_move_zoom_and_show_all(shown, qtbot):
    before = shown.pixels.copy()
    qtbot.keyClick(shown, Qt.Key.Key_Left)
    assert (shown.pixels[:, 0] - before[:, 0]).tolist() == pytest.approx([40] * 5, abs=0.01)

    qtbot.keyClick(shown, Qt.Key.Key_Plus)
    qtbot.keyClick(shown, Qt.Key.Key_0)
    assert np.allclose(shown.pixels, before, atol=0.01)

    qtbot.keyClick(shown, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert shown.taken == [[0, 1, 2, 3, 4]]


def test_points_have_the_colours_of_their_groups_and_recede_when_others_are_selected(shown):
    groups = [PointGroup("a", "#ff0000"), PointGroup("b", "#0000ff", "square")]
    shown.set_groups(groups, [0, 0, 1, 1, 1])

    def colour(number):
        pixel = place(shown, number).toPoint()
        return shown.grab().toImage().pixelColor(pixel).name()

    assert (colour(0), colour(2)) == ("#ff0000", "#0000ff")
    shown.choose([2])
    assert colour(2) == "#0000ff" and colour(0) != "#ff0000"


@pytest.mark.parametrize("shape", point_stamps.SHAPES)
def test_shapes_differ_and_have_about_the_same_ink(shape):
    cover = {(row, column): part for row, column, part in point_stamps.stamp(shape, 5.0)}
    others = [
        {(row, column): part for row, column, part in point_stamps.stamp(other, 5.0)}
        for other in point_stamps.SHAPES
        if other != shape
    ]

    assert 30 < sum(cover.values()) < 95
    assert all(other != cover for other in others)


def test_many_points_are_painted_inside_the_image_alone():
    image = np.zeros((20, 20), np.uint32)
    places = np.array([(-3, 4), (4, 25), (19, 19), (10, 10)], np.int32)
    point_stamps.paint(image, places, np.zeros(4, int), [(1, 2, 3)], ["circle"], 1.3)

    assert image[10:12, 10:12].tolist() == [[0xFF010203] * 2] * 2
    assert np.count_nonzero(image) == 4


def test_the_legend_names_groups_and_a_click_selects_one(qtbot):
    legend, chosen = PointLegend(), []
    qtbot.addWidget(legend)
    legend.chosen.connect(chosen.append)
    legend.set([PointGroup(f"g{n}", "#ff0000") for n in range(14)], range(14))

    assert legend.buttons[1].text() == "g1 1"
    assert legend.buttons[-1].text() == "2 more groups 25"
    legend.buttons[1].click()
    assert chosen == [1]


def test_an_ampersand_in_the_name_of_a_group_is_shown(qtbot):
    legend = PointLegend()
    qtbot.addWidget(legend)

    legend.set((PointGroup("R&D", "#000000", "circle"),), (2,))

    assert legend.buttons[0].text() == "R&&D 2"  # a single "&" would underline the D
    assert legend.buttons[0].accessibleName() == "R&D 2"
