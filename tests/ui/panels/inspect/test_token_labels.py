"""The label distribution of every word, in a wide and in a narrow pane."""

import pytest

from tests.ui.panels.inspect.shown import Page
from workbench.base.events import ALL
from workbench.inspection.spec import TokenRow, WordRow
from workbench.inspection.token_scores.info import TokenLabels
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.views.token_labels import NARROW_WIDTH, TokenLabelsView

WORDS = (WordRow(0, 3, "text", "Ada"), WordRow(4, 7, "text", "met"))
TOKENS = (
    TokenRow("ada", "ada", 7, 0, 3, "text", 0, best=(("B-PER", 0.6), ("O", 0.4)), entropy=0.97),
    TokenRow("met", "met", 8, 4, 7, "text", 1, best=(("O", 1.0),), entropy=0.0),
)


@pytest.fixture
def view(qtbot):
    page = Page()
    page.document = type("Typed", (), {"text": "Ada met"})()
    page.chosen_token, page.labels, page.choose_token = None, {}, lambda _token: None
    state = InspectorState(page, "token_scores")
    view = TokenLabelsView(state)
    qtbot.addWidget(view)
    state.result = TokenLabels(TOKENS, WORDS)
    return view


@pytest.mark.parametrize("width", [NARROW_WIDTH - 170, NARROW_WIDTH + 170])
def test_a_narrow_pane_shows_the_words_above_alone_and_cuts_no_column(view, width):
    view.resize(width, 500)
    view.show()
    view.show_state(ALL)

    assert view._table.isVisible() is (width > NARROW_WIDTH)
    for table in (view._table, view._labels):
        header = table.horizontalHeader()
        for at in range(table.model().columnCount()):
            if table.isVisible() and not table.isColumnHidden(at):
                assert header.sectionSize(at) >= table.sizeHintForColumn(at)
    assert [row.name for row in view._labels.rows()] == ["B-PER", "O"]  # of the doubtful word
    assert len(view.data()) == 3  # the saved data have all words
