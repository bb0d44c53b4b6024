"""The view of predictions by layer."""

import numpy as np

from tests.ui.panels.inspect.test_neighbours import Page
from workbench.base.events import ALL
from workbench.inspection.logit_lens.info import LogitLens
from workbench.inspection.spec import TokenRow, WordRow
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.views.logit_lens import LogitLensView

TOKENS = (
    TokenRow("[CLS]", "[CLS]", 2, 0, 0, "", None, special=True),
    TokenRow("late", "late", 5, 0, 4, "text", 0),
    TokenRow("again", "again", 6, 5, 10, "text", 1),
)
WORDS = (WordRow(0, 4, "text", "late"), WordRow(5, 10, "text", "again"))
SHARES = np.array([[0.2, 0.3], [0.6, 0.9]], np.float32)
FINAL = np.array([[0.1, 0.0], [0.6, 0.9]], np.float32)


def shown(qtbot, **more):
    state = InspectorState(Page(), "logit_lens")
    view = LogitLensView(state)
    qtbot.addWidget(view)
    view.resize(700, 600)
    best = (("the", "bus"), ("late", "again"))
    arrays = {"shares": SHARES, "final": FINAL, "entropies": SHARES}
    state.result = LogitLens(TOKENS, WORDS, False, best, **arrays, positions=(1, 2), **more)
    view.show_state(ALL)
    return view


def test_the_last_layer_stands_on_top_and_the_chart_follows_the_selected_token(qtbot):
    view = shown(qtbot)

    model = view._table.model()
    assert [[model.index(row, at).data() for at in (0, 1)] for row in (0, 1)] == [
        ["late", "again"],
        ["the", "bus"],
    ]
    view._table.choose(1, 0)
    assert view._detail.text() == (
        "Layer 0, at “late”: the with 20.0%, the final prediction late with 10.0%, entropy 0.2 bits"
    )
    (series,) = view._chart._series
    assert series.name == "late" and np.allclose(series.y, (0.1, 0.6))
    assert len(view.data()) == 5 and view.data()[1][:4] == [0, 1, "late", "the"]


def test_words_are_masked_only_in_masked_models(qtbot):
    assert not shown(qtbot)._mask.isVisibleTo(None)

    view, asked = shown(qtbot, masked=True), []
    view.state.ask = lambda: asked.append(view.state.option("words"))
    view._table.choose(0, 1)
    view._mask.click()
    assert asked == ["1"]
