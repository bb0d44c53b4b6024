"""The view of predictions by layer."""

import numpy as np

from tests.ui.panels.inspect.shown import cells, show, texts
from workbench.inspection.logit_lens.info import LogitLens
from workbench.inspection.spec import TokenRow, WordRow

TOKENS = (
    TokenRow("[CLS]", "[CLS]", 2, 0, 0, "", None, special=True),
    TokenRow("late", "late", 5, 0, 4, "text", 0),
    TokenRow("again", "again", 6, 5, 10, "text", 1),
)
WORDS = (WordRow(0, 4, "text", "late"), WordRow(5, 10, "text", "again"))
SHARES = np.array([[0.2, 0.3], [0.6, 0.9]], np.float32)
FINAL = np.array([[0.1, 0.0], [0.6, 0.9]], np.float32)


def shown(qtbot, **more):
    best = (("the", "bus"), ("late", "again"))
    arrays = {"shares": SHARES, "final": FINAL, "entropies": SHARES}
    result = LogitLens(TOKENS, WORDS, False, best, **arrays, positions=(1, 2), **more)
    return show(qtbot, "logit_lens", result, size=(700, 600))


def test_the_last_layer_stands_on_top_and_the_chart_follows_the_selected_token(qtbot):
    view = shown(qtbot)

    table, chart = view.part("table"), view.part("chart")
    assert cells(table) == [["late", "again"], ["the", "bus"]]
    assert chart.series[0].name == "again"  # of the last token
    table.choose(1, 0)
    assert (
        "Layer 0, at “late”: the with 20.0%, the final prediction late with 10.0%, entropy 0.2 bits"
    ) in texts(view)
    (series,) = chart.series
    assert series.name == "late" and np.allclose(series.y, (0.1, 0.6))
    assert len(view.data()) == 5 and view.data()[1][:4] == [0, 1, "late", "the"]


def test_a_point_of_the_chart_selects_its_layer(qtbot):
    view = shown(qtbot)

    view.part("chart").moved.emit(0, 0)

    current = view.part("table").currentIndex()
    assert (current.row(), current.column()) == (1, 1)


def test_words_are_masked_only_in_masked_models(qtbot):
    assert not shown(qtbot).part("mask").isVisibleTo(None)

    view = shown(qtbot, masked=True)
    view.part("table").choose(0, 1)
    view.part("mask").click()
    assert view.page.asked == [{"words": "1"}]


def test_a_masked_word_is_unmasked(qtbot):
    view = shown(qtbot, masked=True, hidden=(1,))
    view.state.options = {"words": "1"}

    assert view.part("mask").text() == "Unmask word"
    view.part("mask").click()
    assert view.page.asked == [{"words": ""}]
