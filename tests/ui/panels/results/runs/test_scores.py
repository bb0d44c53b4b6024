"""Tables of the scores of a run."""

from workbench.ui.panels.results.runs.details import SchemeRow
from workbench.ui.panels.results.runs.scores import OUTCOMES, span_table


def test_every_outcome_of_spans_can_be_scrolled_to_and_no_row_is_hidden(look, qtbot):
    table = span_table()
    qtbot.addWidget(table)
    outcomes = dict.fromkeys(OUTCOMES, 1)
    schemes = ("strict", "exact", "partial", "type")
    table.set_rows([SchemeRow(scheme, outcomes, 0.5, 0.4, 0.6, "") for scheme in schemes])
    table.fit_height(4)
    table.resize(395, table.height())
    table.show()

    sideways = table.horizontalScrollBar()
    qtbot.waitUntil(sideways.isVisible)
    sideways.setValue(sideways.maximum())
    last = table.visualRect(table.model().index(3, len(OUTCOMES) + 2))
    assert table.viewport().rect().contains(last)
