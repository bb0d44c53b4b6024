"""The plot of a long run: all points are kept, few are drawn."""

import csv
import math
import random
from time import process_time

import pytest
from PySide6.QtWidgets import QLabel

from workbench.ui.style import escaping
from workbench.ui.widgets.charts.layers import MOST_POINTS, decimated
from workbench.ui.widgets.charts.live_plot import LivePlot, nearest

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
    plot.grab()

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
    qtbot.mouseMove(plot, plot.frame.geometry().center())

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
        qtbot.mouseMove(plot, plot.frame.geometry().center())

    assert "a part, d" in shown[0] and shown[1] == ""


def test_a_plot_without_points_says_what_will_appear(look, qtbot):
    plot = LivePlot("Loss", empty="The loss appears here after the first step.")
    qtbot.addWidget(plot)
    plot.resize(400, 300)
    plot.show()
    shown = [label.text() for label in plot.findChildren(QLabel) if label.isVisible()]
    assert "The loss appears here after the first step." in shown and not plot.frame.isVisible()

    plot.add("loss", 1, 0.5)
    plot.draw()

    shown = [label.text() for label in plot.findChildren(QLabel) if label.isVisible()]
    assert "The loss appears here after the first step." not in shown and plot.frame.isVisible()
