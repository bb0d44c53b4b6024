"""Words as labelled points in a plane."""

from workbench.ui.widgets.charts.word_plot import WordPlot


def test_labels_do_not_overlap_and_important_words_come_first(look, qtbot):
    plot = WordPlot("Words")
    qtbot.addWidget(plot)
    plot.resize(500, 400)
    plot.show()
    words = ("near", "same", "here", "far", "away")
    places = ((0.0, 0.0), (0.0, 0.0), (0.001, 0.0), (5.0, 5.0), (-5.0, 5.0))
    plot.show_words(words, places, axes=("first", "second"), strong=("same",))
    plot.place_labels()

    assert {"same", "far", "away"} <= set(plot.labels())
    assert "near" not in plot.labels() or "here" not in plot.labels()
    assert plot.labels()[0] == "same"
