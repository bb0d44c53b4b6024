"""Class: the probability of every class as a bar, gold marked."""

from __future__ import annotations

from workbench.base.i18n import _
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.widgets.layout import card, row
from workbench.ui.widgets.table import Column, Table
from workbench.ui.widgets.words import IconLabel, words


class ClassesView(InspectorView):
    def __init__(self, state):
        super().__init__(state)
        self._verdict, self._mark = words("", "ui"), IconLabel("circle", "muted", 16)
        self._table = Table(_columns(self), name=_("Classes"), key=lambda pair: pair[0])
        texts = card(
            row(words(_("Class probabilities"), weight=600), None, self._mark, self._verdict),
            (self._table, 1),
            gap=8,
        )
        self.layout().addWidget(texts)

    def clear(self) -> None:
        self._table.rows_model.set_rows([])

    def show_result(self, result) -> None:
        page = self.page
        ordered = sorted(result.classes, key=lambda pair: -pair[1])
        self._table.rows_model.set_rows(ordered)
        best, gold = ordered[0][0], page.gold.label if page.gold is not None else None
        if gold is None:
            text, icon, tone = (
                (
                    _("No gold to compare with")
                    if page.document_id is None
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


def _columns(view: ClassesView) -> list[Column]:
    def chip(pair):
        return pair[0], view.page.labels.get(pair[0]), ""

    def gold(pair):
        page = view.page
        return ("check", "good") if page.gold is not None and page.gold.label == pair[0] else None

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
