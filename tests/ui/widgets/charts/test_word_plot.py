"""Words as labelled points in a plane."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from workbench.ui.widgets.charts.word_plot import WordPlot


def test_labels_do_not_overlap_and_important_words_come_first(look, qtbot):
    plot = WordPlot("Words")
    qtbot.addWidget(plot)
    plot.resize(500, 400)
    plot.show()
    words = ("near", "same", "here", "far", "away")
    places = ((0.0, 0.0), (0.0, 0.0), (0.001, 0.0), (5.0, 5.0), (-5.0, 5.0))
    plot.show_words(words, places, axes=("first", "second"), strong=("same",))
    plot.frame.place_names()

    assert {"same", "far", "away"} <= set(plot.frame.names)
    assert "near" not in plot.frame.names or "here" not in plot.frame.names
    assert plot.frame.names[0] == "same"


def test_zoom_labels_more_words_and_show_all_returns(look, qtbot):
    plot = WordPlot("Words")
    qtbot.addWidget(plot)
    plot.resize(500, 400)
    plot.show()
    words = [f"word {number}" for number in range(400)]
    places = [(number % 20 * 1.0, number // 20 * 1.0) for number in range(400)]
    plot.show_words(words, places, axes=("first", "second"))
    plot.frame.place_names()
    before, (x, _y) = set(plot.frame.names), plot.frame.range

    plot.grab()  # pyqtgraph computes its transforms when it paints
    wheel(plot.frame)
    plot.frame.place_names()
    (left, right), _y = plot.frame.range
    assert right - left < x[1] - x[0] and not set(plot.frame.names) <= before

    plot.show_all()
    assert plot.frame.range[0] == pytest.approx(x)


def test_a_word_is_labelled_in_a_cloud_of_points(look, qtbot):
    plot = WordPlot("Words")
    qtbot.addWidget(plot)
    plot.resize(500, 400)
    plot.show()
    words = ["here", *(f"word {number}" for number in range(2000))]
    places = [(0.5, 0.5), *((number % 50 / 50, number // 50 / 40) for number in range(2000))]
    plot.show_words(words, places, axes=("first", "second"), strong=("here",))
    plot.frame.place_names()

    assert plot.frame.names[0] == "here" and len(plot.frame.names) > 20


def wheel(frame):
    """Turn the wheel at the middle of the chart."""
    at = QPointF(frame.rect().center())
    turned = QWheelEvent(
        at,
        QPointF(frame.mapToGlobal(at)),
        QPoint(),
        QPoint(0, 600),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(frame.view.viewport(), turned)
