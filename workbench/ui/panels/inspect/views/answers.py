"""Answers to the questions about a text, with the other ranges that were considered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.ui import formats
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.widgets.layout import card, layout_of
from workbench.ui.widgets.table import Column, Table

if TYPE_CHECKING:
    from workbench.inspection.answer_scores.info import ConsideredAnswer
    from workbench.ui.panels.inspect.shown import Shown


class AnswersView(InspectorView):
    def __init__(self, state: Shown) -> None:
        super().__init__(state)
        columns = [
            Column(_("Question"), lambda one: one.question, 260, tip=lambda one: one.question),
            Column(_("Answer"), _text, 240, tip=_text, icon=_mark),
            Column(
                _("Probability, %"),
                lambda one: formats.points(one.probability),
                None,
                share=lambda one: one.probability,
            ),
        ]
        self._table = Table(columns, name=_("Answers"), key=lambda one: (one.question, one.start,
                                                                         one.end))  # fmt: skip
        layout_of(self).addWidget(card(self._table, margins=(4, 4, 4, 4)))

    def clear(self) -> None:
        self._table.rows_model.set_rows([])

    def show_result(self, result: Any) -> None:
        self._table.rows_model.set_rows(list(result.answers))


def _text(one: ConsideredAnswer) -> str:
    return one.text or _("no answer in the text")


def _mark(one: ConsideredAnswer) -> tuple[str, str] | None:
    return ("check", "good") if one.chosen else None
