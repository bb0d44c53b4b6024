"""The view of one row of an attention head."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtWidgets import QLineEdit

from tests.ui.panels.inspect.shown import cells, choose, named, renew, show, texts
from workbench.inspection.attention_cell.info import AttentionCell
from workbench.inspection.spec import TokenRow
from workbench.ui.style import formats

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
    return show(qtbot, "attention_cell", cell(), size=(700, 600))


def keys(view):
    """The rows of the table without its hidden columns."""
    table = named(view, "Keys")
    return cells(table, *(column for column in range(7) if not table.isColumnHidden(column)))


def test_each_key_is_a_row_of_the_arithmetic(view):
    rows = keys(view)

    assert rows[0] == ["late", "4.00", "2.00", "0.00", "0.75", "0.750"]
    assert rows[1][3] == "−∞" and "Σ q × k = 4.00, times 0.5000 = 2.00" in texts(view)


def test_another_key_is_shown_element_by_element(view):
    named(view, "Keys").selectRow(1)

    assert "Σ q × k = 0.00, times 0.5000 = 0.00" in texts(view)
    assert named(view, "k").accessibleDescription() == "bus 0.50, −1.00"


def test_the_rows_stay_readable_until_the_next_result_arrives(view):
    view.state.result = None  # the text has changed
    view.show_state(frozenset({"result"}))

    assert keys(view)[0][:2] == ["late", "4.00"]


def test_what_a_model_adds_and_caps_is_shown(view):
    assert "Target text" in texts(view) and view.data()[0][3] == "Mask"

    renew(view, replace(cell(), kinds=("self",), bias=np.array([0.25, -1.0]), cap=50.0))

    assert keys(view)[1][3] == "−1.00" and "Target text" not in texts(view)
    assert "Σ q × k = 4.00, times 0.5000, capped at ±50 by tanh = 2.00" in texts(view)
    assert view.data()[1][3] == 0.25


def test_a_difference_from_the_model_is_told_and_marked(view):
    message = f"Largest difference from the model's own output: {formats.scientific(2e-7)}"
    assert message in texts(view)
    before = view.part("mark").pixmap().toImage()

    renew(view, cell(0.01))

    assert view.part("mark").pixmap().toImage() != before


def test_query_and_kind_are_asked_for(view):
    choose(view, "Query token", 0)
    assert view.page.asked[-1] == {"query": 0}

    choose(view, "Kind of attention", 1)
    assert view.page.asked[-1] == {"query": 1, "kind": "cross", "layer": 1}


def test_a_token_beyond_the_queries_is_not_followed(view):
    view.page.chosen_head, view.page.chosen_token = (2, 3), 99
    view.show_state(frozenset(("chosen_head",)))

    assert view.page.asked[-1] == {"layer": 2, "head": 3}


def test_another_target_text_begins_at_its_first_query(view):
    choose(view, "Query token", 0)
    entry = named(view, "Target text", QLineEdit)
    entry.setText("late")
    entry.editingFinished.emit()

    assert view.page.asked[-1] == {"query": 1, "target": "late"}


def test_the_head_and_the_token_of_another_view_are_followed(view):
    view.page.chosen_head, view.page.chosen_token = (2, 3), 1
    view.show_state(frozenset(("chosen_head",)))

    assert view.page.asked[-1] == {"layer": 2, "head": 3, "query": 1}
