import csv
import math
import re
import tempfile
from pathlib import Path
from time import process_time

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter

from workbench.ui.widgets.charts.axes import Axis, log_ticks, scale_text, ticks
from workbench.ui.widgets.charts.chart import Chart, Series
from workbench.ui.widgets.charts.legend import (
    MARKERS,
    TONES,
    distinct,
    draw_marker,
    draw_names,
)
from workbench.ui.widgets.charts.saving import files


@pytest.fixture
def chart(qtbot):
    chart = Chart("Curve", Axis("recall", 0.0, 1.0), Axis("precision", 0.0, 1.0), empty="no runs")
    qtbot.addWidget(chart)
    chart.resize(400, 300)
    chart.set_series((Series("A", (0.0, 0.5, 1.0), (1.0, 0.8, 0.2), notes=("x", "y", "z")),))
    chart.show()
    return chart


def test_a_click_on_a_point_opens_it_and_one_beside_does_nothing(chart, qtbot):
    opened = []
    chart.opened.connect(lambda *point: opened.append(point))
    at = chart.place(0.5, 0.8).toPoint()

    qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(399, 299))

    assert opened == [(0, 1)]
    assert chart.describe(0, 1) == "A · recall 0.5 · precision 0.8 · y"


def test_thousands_of_points_are_painted_and_met_by_the_mouse_at_once(chart, qtbot):
    count = 20_000
    values = tuple(at / (count - 1) for at in range(count))
    chart.set_series((Series("A", values, values),))
    chart.grab()
    opened = []
    chart.opened.connect(lambda *point: opened.append(point))

    begun = process_time()
    chart.grab()
    qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=chart.place(0.5, 0.5).toPoint())

    assert abs(values[opened[0][1]] - 0.5) < 0.01 and process_time() - begun < 0.3


def test_arrows_move_along_the_curve_and_enter_opens(chart, qtbot):
    moved, opened = [], []
    chart.moved.connect(lambda *point: moved.append(point))
    chart.opened.connect(lambda *point: opened.append(point))

    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Return):
        qtbot.keyClick(chart, key)

    assert moved == [(0, 1), (0, 2), (0, 2)] and opened == [(0, 2)]


def test_the_picture_is_saved_as_png_and_svg_and_the_numbers_as_csv(chart, tmp_path):
    for name in ("a.png", "a.svg"):
        chart.save_picture(tmp_path / name)
    chart.save_numbers(tmp_path / "a.csv")

    assert (tmp_path / "a.png").read_bytes()[1:4] == b"PNG"
    assert "<path" in (tmp_path / "a.svg").read_text()
    rows = [*csv.reader((tmp_path / "a.csv").read_text().splitlines())]
    assert rows[0] == ["curve", "x", "y", "note"] and rows[2] == ["A", "0.5", "0.8", "y"]


def test_several_visible_charts_are_saved_as_numbered_files(chart, qtbot):
    other, hidden = (Chart("B", Axis("x"), Axis("y"), empty="") for _ in range(2))
    for item in (other, hidden):
        qtbot.addWidget(item)
    other.show()

    found = files((chart, hidden, other), "/somewhere/a.svg")

    assert [(item, path.name) for item, path in found] == [(chart, "a-1.svg"), (other, "a-2.svg")]
    assert files((chart, hidden), "a.png")[0][1].name == "a.png" and files((chart,), "") == []


def test_a_scale_that_fits_the_data_includes_intervals_and_the_level(qtbot):
    chart = Chart("A", Axis("x"), Axis("y"), empty="")
    qtbot.addWidget(chart)

    chart.resize(400, 300)

    def ends():
        """Places of the lowest and the highest value, from the lower and the upper end."""
        return chart.place(0, 0.9).y(), chart.place(0, low).y()

    low = 0.4
    chart.set_series([Series("a", (0, 1), (0.5, 0.6), "accent", low=(0.4, 0.5), high=(0.6, 0.9))])
    before = ends()

    low = 0.2
    chart.set_level(0.2)
    assert ends() == before


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (0, 36, [0, 10, 20, 30]), (1.2, 2.8, None)],
)
def test_scales_have_few_round_numbers(low, high, expected):
    found = ticks(low, high)

    assert 2 <= len(found) <= 7 and low <= found[0] and found[-1] <= high + 1e-9
    if expected is not None:
        assert found == pytest.approx(expected)


@pytest.mark.parametrize(("low", "high"), [(179, 181), (0, 3), (10, 250), (1, 100_000)])
def test_scales_of_counts_have_whole_numbers(low, high):
    found = ticks(low, high, whole=True)

    assert 2 <= len(found) <= 7 and all(value == round(value) for value in found)


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ((131.0, 124.6), ["126", "128", "130"]),
        ((6.31, 6.12), ["6.15", "6.20", "6.25", "6.30"]),
        ((5_000.0, 40.0), ["50", "100", "200", "500", "1,000", "2,000"]),
        ((2e6, 9.0), ["10", "100", "1,000", "10,000", "100,000", "1,000,000"]),
    ],
)
def test_a_logarithmic_axis_has_numbers_in_every_range(values, numbers):
    low, high = (math.log10(value) for value in sorted(values))

    assert [text for _place, text in log_ticks(low, high)] == numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.25, "0.25"),
        (2e-4, "2e-4"),
        (1.5e-5, "1.5e-5"),
        (-1e-4, "−1e-4"),
        (1e-3, "0.001"),
    ],
)
def test_small_numbers_fit_beside_a_scale(value, text):
    assert scale_text(value) == text


def test_a_saved_picture_names_its_curves_where_there_are_several(chart, tmp_path):
    curves = [Series(f"run {name}", (0.0, 1.0), (0.2, 0.6)) for name in "AB"]
    texts = []
    for drawn in (curves[:1], curves):
        chart.set_series(drawn)
        chart.save_picture(tmp_path / "a.svg")
        texts.append((tmp_path / "a.svg").read_text(encoding="utf-8"))

    assert ["run A" in text and "run B" in text for text in texts] == [False, True]


def test_many_long_names_wrap_below_the_chart(chart, tmp_path):
    curves = [Series(f"{number} {'long ' * 30}", (0.0,), (0.0,)) for number in range(3)]
    picture = QImage(400, 300, QImage.Format.Format_RGB32)
    painter = QPainter(picture)

    one = draw_names(painter, QRectF(0, 0, 400, 300), curves[:1])
    three = draw_names(painter, QRectF(0, 0, 400, 300), curves)
    painter.end()

    assert three == 3 * one


def test_each_marker_has_a_shape_of_its_own_and_pairs_differ(qtbot):
    shapes = set()
    for marker in MARKERS:
        picture = QImage(16, 16, QImage.Format.Format_RGB32)
        picture.fill(0)
        painter = QPainter(picture)
        draw_marker(painter, marker, "accent", QPointF(8, 8))
        painter.end()
        shapes.add(bytes(picture.constBits()))
    count = len(TONES) * len(MARKERS)

    assert len(shapes) == len(MARKERS)
    assert len({distinct(number) for number in range(count)}) == count


def test_a_chart_without_data_says_what_will_appear_in_place_of_scales(look, qtbot):
    chart = Chart("A", Axis("steps"), Axis("y"), empty="The loss appears here after a step.")
    qtbot.addWidget(chart)
    chart.resize(400, 300)
    assert chart.accessibleDescription() == "The loss appears here after a step."

    texts = drawn_texts(chart)
    assert texts == ["The loss appears here after a step."]
    chart.set_series((Series("a", (1.0,), (float("nan"),)),))
    assert drawn_texts(chart) == texts
    chart.set_series((Series("a", (1.0, 2.0), (0.5, 0.75)),))
    assert "steps" in drawn_texts(chart) and texts[0] not in drawn_texts(chart)
    assert chart.accessibleDescription() == "a: 2"


def drawn_texts(chart):
    """The words of a picture of the chart."""
    path = Path(tempfile.mkdtemp()) / "chart.svg"
    chart.save_picture(path)
    return [
        " ".join(text.split())
        for text in re.findall(r">([^<>]*[^\s<>][^<>]*)</text>", path.read_text(encoding="utf-8"))
    ]


def test_a_band_fills_the_area_around_its_curve(qtbot):
    chart = Chart("Curve", Axis("shots", 0.0, 2.0), Axis("score", 0.0, 1.0), empty="no runs")
    qtbot.addWidget(chart)
    chart.resize(400, 300)
    chart.show()
    x, y = (0.0, 2.0), (0.5, 0.5)
    inside = chart.place

    def colour_at(**look):
        chart.set_series((Series("A", x, y, low=(0.2, 0.2), high=(0.8, 0.8), **look),))
        return chart.grab().toImage().pixelColor(inside(1.0, 0.7).toPoint())

    assert colour_at(band=True) != colour_at()  # whiskers are at the points


def test_named_values_are_told_and_saved_by_their_names(chart, tmp_path):
    chart.set_axes(Axis("shots", names=((0.0, "0"), (1.0, "12"))), Axis("score"))
    chart.set_series((Series("A", (0.0, 1.0), (0.5, 0.75)),))

    assert chart.describe(0, 1) == "A · shots 12 · score 0.75"
    assert [row[1] for row in chart.numbers()] == ["x", "0", "12"]


def test_numbers_on_a_logarithmic_axis_are_saved_as_numbers(chart):
    """Not as the logarithms at which they are drawn, nor with the separators of their names."""
    chart.set_axes(Axis("labels", logarithmic=True, names=((3.0, "1,000"),)), Axis("score"))
    chart.set_series((Series("A", (math.log10(25), 3.0, 3.5), (0.5, 0.75, 0.8)),))

    assert [row[1] for row in chart.numbers()] == ["x", 25.0, 1000.0, 3162.28]
    assert chart.describe(0, 0) == "A · labels 25 · score 0.5"
    assert chart.describe(0, 1) == "A · labels 1,000 · score 0.75"
