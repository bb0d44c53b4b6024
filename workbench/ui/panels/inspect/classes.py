"""Class: the probability of every class as a bar, gold marked."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.widgets.layout import card, row
from workbench.ui.widgets.table import Column, Table
from workbench.ui.widgets.words import IconLabel, words


class ClassView(QWidget):
    def __init__(self, state):
        super().__init__()
        self.state = state
        self._verdict, self._mark = words("", "ui"), IconLabel("circle", "muted", 16)
        self._table = Table(_columns(self), name=_("Classes"), key=lambda pair: pair[0])
        texts = card(
            row(words(_("Class probabilities"), weight=600), None, self._mark, self._verdict),
            (self._table, 1),
            gap=8,
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(texts)

    def show_state(self, fields: frozenset[str]) -> None:
        state = self.state
        if (
            not concerns(fields, "answer", "gold", "choice")
            or state.answer is None
            or not state.answer.classes
        ):
            return
        ordered = sorted(state.answer.classes, key=lambda pair: -pair[1])
        self._table.rows_model.set_rows(ordered)
        best, gold = ordered[0][0], state.gold.label if state.gold is not None else None
        if gold is None:
            text, icon, tone = (
                (
                    _("No gold to compare with")
                    if state.document_id is None
                    else _("No class in gold")
                ),
                "circle",
                "faint",
            )
        elif gold == best:
            text, icon, tone = _("Agrees with gold"), "circle-check", "good"
        else:
            text, icon, tone = _("Gold says {label}").format(label=gold), "circle-x", "bad"
        self._verdict.setText(text)
        self._mark.set(icon, tone)


def _columns(view: ClassView) -> list[Column]:
    def chip(pair):
        return pair[0], view.state.labels.get(pair[0]), ""

    def gold(pair):
        state = view.state
        return ("check", "good") if state.gold is not None and state.gold.label == pair[0] else None

    return [
        Column(_("Class"), lambda pair: pair[0], 220, chip=chip),
        Column(_("Gold"), lambda pair: _("gold") if gold(pair) else "", 90, icon=gold),
        Column(
            _("Probability, %"),
            lambda pair: f"{100 * pair[1]:.1f}",
            None,
            share=lambda pair: pair[1],
        ),
    ]
