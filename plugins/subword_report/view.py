"""Shows the statistics and the words with most subwords; runs in the window."""

from __future__ import annotations

from subword_report.info import Fertility
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, layout_of, row
from workbench.ui.widgets.tables.table import Column, Table


class FertilityView(InspectorView):
    def __init__(self, state: InspectorState):
        super().__init__(state)
        self._figures = words("", "body", wrap=True, select=True)
        columns = [
            Column("Word", lambda item: item.word, None),
            Column("Subwords", lambda item: str(item.subwords), 90, right=True),
            Column("Count", lambda item: str(item.count), 90, right=True),
        ]
        self._table = Table(columns, name="Words of most subwords", key=lambda item: item.word)
        layout_of(self).addWidget(card(row(self._figures), title="Subword fertility"))
        layout_of(self).addWidget(card(self._table, margins=(4, 4, 4, 4)))

    def clear(self) -> None:
        self._figures.setText("")
        self._table.rows_model.set_rows([])

    def show_result(self, result: Fertility) -> None:
        self._figures.setText(
            f"{result.fertility:.2f} subwords per word ({result.subwords:,} for {result.words:,} "
            f"words). {result.continued:.0%} of the words are split, {result.unknown:.0%} are "
            "unknown."
        )
        self._table.rows_model.set_rows(list(result.most_split))
