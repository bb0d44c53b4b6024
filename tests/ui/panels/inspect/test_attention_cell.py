"""The view of one row of an attention head."""

from dataclasses import replace

import numpy as np
import pytest

from tests.ui.panels.inspect.test_neighbours import Page
from workbench.base.events import ALL
from workbench.inspection.attention_cell.info import AttentionCell
from workbench.inspection.spec import TokenRow
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.views.attention_cell import BIAS, AttentionCellView

TOKENS = tuple(
    TokenRow(item, item, at, 0, 0, "text", at) for at, item in enumerate(("late", "bus"))
)


def cell(difference=2e-7):
    weights, k = np.array([0.75, 0.25]), np.array([[1.0, 2.0], [0.5, -1.0]])
    q = np.array([2.0, 1.0])
    return AttentionCell(
        TOKENS, TOKENS, 1, "self", ("self", "cross"), 1, 2, 1, 4, 0.5, q, k, q * k, k @ q,
        k @ q / 2, np.array([0, -1e30]), weights, weights, q, "causal", difference,
    )  # fmt: skip


@pytest.fixture
def view(qtbot):
    state = InspectorState(Page(), "attention_cell")
    view = AttentionCellView(state)
    qtbot.addWidget(view)
    view.resize(700, 600)
    state.result = cell()
    view.show_state(ALL)
    return view


def test_each_key_is_a_row_of_the_arithmetic(view):
    model = view._table.model()
    shown = [column for column in range(7) if not view._table.isColumnHidden(column)]
    rows = [[model.index(row, column).data() for column in shown] for row in range(2)]

    assert rows[0] == ["late", "4.00", "2.00", "0.00", "0.75", "0.750"]
    assert rows[1][3] == "−∞" and view._sum.text() == "Σ q × k = 4.00, times 0.5000 = 2.00"


def test_the_rows_stay_readable_until_the_next_result_arrives(view):
    view.state.result = None  # the text has changed
    view.show_state(frozenset({"result"}))

    model = view._table.model()
    assert [model.index(0, column).data() for column in (0, 1)] == ["late", "4.00"]


def test_what_a_model_adds_and_caps_is_shown(view):
    assert view._target.isHidden() is False and view.data()[0][3] == "Mask"

    view.state.result = replace(cell(), kinds=("self",), bias=np.array([0.25, -1.0]), cap=50.0)
    view.show_state(ALL)

    assert view._table.model().index(1, BIAS).data() == "−1.00"
    assert not view._table.isColumnHidden(BIAS) and view._target.isHidden()
    assert view._sum.text() == "Σ q × k = 4.00, times 0.5000, capped at ±50 by tanh = 2.00"
    assert view.data()[1][3] == 0.25


def test_a_difference_from_the_model_is_marked(view):
    assert "2" in view._verdict.text() and view._mark._tone == "good"

    view.state.result = cell(0.01)
    view.show_state(ALL)
    assert view._mark._tone == "bad"


def test_query_and_kind_are_asked_for(view):
    view._query.activated.emit(0)
    assert view.page.asked[-1] == {"query": 0}

    view._kind.setCurrentIndex(1)
    view._kind.activated.emit(1)
    assert view.page.asked[-1] == {"query": 1, "kind": "cross", "layer": 1}


def test_a_token_beyond_the_queries_is_not_followed(view):
    view.page.chosen_head, view.page.chosen_token = (2, 3), 99
    view.show_state(frozenset(("chosen_head",)))

    assert view.page.asked[-1] == {"layer": 2, "head": 3}


def test_another_target_text_begins_at_its_first_query(view):
    view._query.activated.emit(0)
    view._target._line.setText("late")
    view._target._line.editingFinished.emit()

    assert view.page.asked[-1] == {"query": 1, "target": "late"}


def test_the_head_and_the_token_of_another_view_are_followed(view):
    view.page.chosen_head, view.page.chosen_token = (2, 3), 1
    view.show_state(frozenset(("chosen_head",)))

    assert view.page.asked[-1] == {"layer": 2, "head": 3, "query": 1}
