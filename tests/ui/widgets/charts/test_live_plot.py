"""The plot of a long run: all points are kept, few are drawn."""

import csv
import math
import random
from time import process_time

import pytest
from PySide6.QtWidgets import QLabel

from workbench.ui.style import escaping
from workbench.ui.widgets.charts.live_plot import MOST_POINTS, LivePlot, decimated, nearest

STEPS = 100_000


@pytest.fixture
def losses():
    rng = random.Random(1)
    values = [math.exp(-3 * n / STEPS) + 0.1 * rng.random() for n in range(STEPS)]
    values[54_321] = 9.0  # a spike of a single step
    return values


def test_few_points_are_drawn_and_spikes_and_ends_stay(losses):
    steps = list(range(1, STEPS + 1))

    x, y = decimated(steps, losses)

    assert len(x) == len(y) <= MOST_POINTS + 2
    assert (x[0], x[-1]) == (1, STEPS) and list(x) == sorted(x)
    assert max(y) == 9.0 and min(y) == min(losses)
    assert all(losses[step - 1] == value for step, value in zip(x, y, strict=True))


def test_a_short_curve_is_drawn_as_it_is():
    assert decimated([1, 2, 3], [3.0, 2.0, 1.0]) == ([1, 2, 3], [3.0, 2.0, 1.0])


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ((131.0, 124.6), ["126", "128", "130"]),
        ((6.31, 6.12), ["6.15", "6.20", "6.25", "6.30"]),
        ((5_000.0, 40.0), ["50", "100", "200", "500", "1,000", "2,000"]),
    ],
)
def test_a_logarithmic_axis_has_numbers_in_every_range(qtbot, values, numbers):
    plot = LivePlot("Perplexity", empty="", logarithmic=True)
    qtbot.addWidget(plot)
    axis = plot.view.getAxis("left")

    low, high = (math.log10(value) for value in sorted(values))
    shown = [axis.tickStrings(found, 1, gap) for gap, found in axis.tickValues(low, high, 220)]
    assert [text for level in shown for text in level if text] == numbers


def test_ticks_of_steps_are_whole_numbers(look, qtbot):
    plot = LivePlot("Loss", empty="no steps")
    qtbot.addWidget(plot)
    steps = plot.view.getAxis("bottom")

    for first, last in ((1, 3), (1, 2), (0, 40), (1, STEPS)):
        found = [at for _step, some in steps.tickValues(first, last, 400) for at in some]
        assert found and all(value == round(value) for value in found)


def test_the_numbers_saved_are_those_of_every_step(look, qtbot, losses, tmp_path):
    plot = LivePlot("Loss", empty="no steps")
    qtbot.addWidget(plot)
    plot.set_curves({"per step": (list(range(1, STEPS + 1)), losses)})

    plot.save_numbers(tmp_path / "loss.csv")

    with open(tmp_path / "loss.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == STEPS + 1 and rows[54_322] == ["per step", "54322", "9.0"]


def test_a_redraw_of_a_hundred_thousand_steps_stays_short(look, qtbot, losses):
    plot = LivePlot("Loss", empty="no steps")
    qtbot.addWidget(plot)
    curve = (list(range(1, STEPS + 1)), losses)
    plot.resize(800, 300)
    plot.show()
    plot.set_curves({"per step": curve}, widths={"per step": 1.0})

    begun = process_time()
    plot.draw()
    plot.view.grab()

    assert process_time() - begun < 0.2


def test_the_nearest_point_is_found_at_the_ends_and_in_gaps():
    x = [1, 2, 10]

    assert [nearest(x, value) for value in (-5, 1.4, 1.6, 5.9, 6.1, 99)] == [0, 0, 1, 1, 2, 2]


def test_long_names_and_values_leave_the_plot_narrow(look, qtbot):
    plot = LivePlot("Loss", empty="no steps")
    qtbot.addWidget(plot)
    alone = plot.minimumSizeHint().width()
    plot.set_curves({f"a part of the loss, {name}": ([1, 2], [2.0, 1.0]) for name in "abcd"})
    plot.draw()
    plot._value.setText("step 12:  " + 8 * "a part of the loss, a 1.23  ")

    assert plot.minimumSizeHint().width() < alone + 150  # the widest name, not all


def test_a_saved_picture_names_the_curves_where_there_are_several(look, qtbot, tmp_path):
    texts = []
    for names in (("sum",), ("sum", "task")):
        plot = LivePlot("Loss", empty="no steps")
        qtbot.addWidget(plot)
        plot.set_curves({name: ([1, 2], [2.0, 1.0]) for name in names})
        plot.save_picture(tmp_path / "a.svg")
        texts.append((tmp_path / "a.svg").read_text(encoding="utf-8"))

    assert [">task<" in text for text in texts] == [False, True]


def test_values_that_do_not_fit_are_shown_at_the_mouse(look, qtbot, monkeypatch):
    shown = []
    monkeypatch.setattr(escaping, "show_tip", lambda _at, text, _widget: shown.append(text))
    plot = LivePlot("Loss", empty="no steps")
    qtbot.addWidget(plot)
    for width in (300, 1200):
        plot.resize(width, 300)
        plot.set_curves({f"a part, {name}": ([1, 2], [2.0, 1.0]) for name in "abcd"})
        plot.show()
        plot.draw()
        qtbot.waitExposed(plot)
        plot._hover(plot.view.sceneBoundingRect().center())

    assert "a part, d" in shown[0] and shown[1] == ""


def test_a_plot_without_points_says_what_will_appear(look, qtbot):
    plot = LivePlot("Loss", empty="The loss appears here after the first step.")
    qtbot.addWidget(plot)
    plot.resize(400, 300)
    plot.show()
    shown = [label.text() for label in plot.findChildren(QLabel) if label.isVisible()]
    assert "The loss appears here after the first step." in shown and not plot.view.isVisible()

    plot.add("loss", 1, 0.5)
    plot.draw()

    shown = [label.text() for label in plot.findChildren(QLabel) if label.isVisible()]
    assert "The loss appears here after the first step." not in shown and plot.view.isVisible()
