"""The probability of every class or label as a bar, gold marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.style import formats
from workbench.ui.widgets.controls.words import IconLabel, words
from workbench.ui.widgets.layout import card, layout_of, row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.inspection.label_scores.info import LabelProbability
    from workbench.ui.panels.inspect.inspector_state import InspectorState


class ClassesView(InspectorView):
    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self.choices: dict[str, str] = {}  # class → the text that it stands for
        self._verdict, self._mark = words("", "ui"), IconLabel("circle", "muted", 16)
        self._table = Table(_columns(self), name=_("Classes"), key=lambda pair: pair[0])
        texts = card(
            row(words(_("Class probabilities"), weight=600), None, self._mark, self._verdict),
            (self._table, 1),
            gap=8,
        )
        layout_of(self).addWidget(texts)

    def clear(self) -> None:
        self._table.rows_model.set_rows([])

    def show_result(self, result: Any) -> None:
        page = self.page
        names = [name for name, _share in result.classes]
        self.choices = dict(zip(names, result.choices, strict=False))
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
            text, icon, tone = _("Gold: {label}", label=gold), "circle-x", "bad"
        self._verdict.setText(text)
        self._mark.set(icon, tone)

    def data(self) -> list[list[object]]:
        rows: list[list[object]] = [[_("Class"), _("Probability")]]
        return rows + [list(pair) for pair in self.state.result.classes]


def _columns(view: ClassesView) -> list[Column]:
    def named(pair: tuple[str, float]) -> str:
        text = view.choices.get(pair[0], "")
        return f"{pair[0]} · {text}" if text else pair[0]

    def chip(pair: tuple[str, float]) -> tuple[str, Any, str]:
        return named(pair), view.page.labels.get(pair[0]), ""

    def gold(pair: tuple[str, float]) -> tuple[str, str] | None:
        page = view.page
        return ("check", "good") if page.gold is not None and page.gold.label == pair[0] else None

    return [
        Column(_("Class"), named, 220, chip=chip),
        Column(_("Gold"), lambda pair: _("gold") if gold(pair) else "", 90, icon=gold),
        Column(
            _("Probability, %"),
            lambda pair: formats.points(pair[1]),
            None,
            share=lambda pair: pair[1],
        ),
    ]


class LabelsView(InspectorView):
    """All labels with their thresholds; predicted and gold ones are marked."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._verdict, self._mark = words("", "ui"), IconLabel("circle", "muted", 16)
        self._table = Table(_label_columns(self), name=_("Labels"), key=lambda row: row.label)
        layout_of(self).addWidget(
            card(
                row(words(_("Label probabilities"), weight=600), None, self._mark, self._verdict),
                (self._table, 1),
                gap=8,
            )
        )

    def clear(self) -> None:
        self._table.rows_model.set_rows([])

    def show_result(self, result: Any) -> None:
        self._table.rows_model.set_rows(sorted(result.labels, key=lambda label: -label.score))
        gold = self.page.gold
        if gold is None or not gold.submitted:
            text, icon, tone = _("No gold to compare with"), "circle", "faint"
        elif {label.label for label in result.labels if label.predicted} == set(gold.labels):
            text, icon, tone = _("Agrees with gold"), "circle-check", "good"
        else:
            text, icon, tone = _("Differs from gold"), "circle-x", "bad"
        self._verdict.setText(text)
        self._mark.set(icon, tone)

    def data(self) -> list[list[object]]:
        rows: list[list[object]] = [[_("Label"), _("Probability"), _("Threshold")]]
        return rows + [[row.label, row.score, row.threshold] for row in self.state.result.labels]


def _label_columns(view: LabelsView) -> list[Column]:
    def is_gold(probability: LabelProbability) -> bool:
        return view.page.gold is not None and probability.label in view.page.gold.labels

    def mark(on: bool) -> tuple[str, str] | None:
        return ("check", "good") if on else None

    return [
        Column(
            _("Label"),
            lambda row: row.label,
            220,
            chip=lambda row: (row.label, view.page.labels.get(row.label), ""),
        ),
        Column(
            _("Gold"),
            lambda row: _("gold") if is_gold(row) else "",
            90,
            icon=lambda row: mark(is_gold(row)),
        ),
        Column(
            _("Predicted"),
            lambda row: _("predicted") if row.predicted else "",
            120,
            icon=lambda row: mark(row.predicted),
        ),
        Column(
            _("Threshold, %"),
            lambda row: formats.points(row.threshold),
            110,
            right=True,
            hint=_("The label is predicted if its probability reaches the threshold"),
        ),
        Column(
            _("Probability, %"),
            lambda row: formats.points(row.score),
            None,
            share=lambda row: row.score,
        ),
    ]
