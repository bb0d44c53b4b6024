"""Gold and predicted spans in the text, and a table of all differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.style import theme
from workbench.ui.style.formats import points
from workbench.ui.widgets.controls.words import IconLabel, words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.layout import card, clear, layout_of, row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.span_layout import GOLD, PREDICTED, TextSpan
from workbench.ui.widgets.text.view import TextView

if TYPE_CHECKING:
    from workbench.metrics.differences import Difference
    from workbench.text.spans import Span
    from workbench.ui.panels.inspect.inspector_state import InspectorState

KINDS = {  # kind of difference → icon, tone, title, prefix of the label in the text
    "agreed": ("circle-check", "good", _("correct"), "✓"),
    "missed": ("circle", "bad", _("missed"), "○"),
    "extra": ("plus", "warn", _("false positive"), "+"),
    "border": ("circle-dot", "warn", _("wrong boundary"), "↔"),
    "label": ("circle-x", "bad", _("wrong label"), "×"),
}


CONFIDENCE = 3  # a column
NARROW_WIDTH = 620  # width below which it is hidden, pixels at 100%
WIDTHS = {False: (140, 180, 180), True: (92, 108, 108)}  # of the columns before it: narrow or not


class SpansView(InspectorView):
    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._differences: tuple[Difference, ...] = ()
        self._tally = row(gap=6)
        self._gold, self._predicted = TextView(), TextView()
        self._gold.setAccessibleName(_("Gold"))
        self._predicted.setAccessibleName(_("Predicted"))
        for view in (self._gold, self._predicted):
            view.setMinimumHeight(70)
            view.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
            view.set_lanes(0)
        self._gold_words = words(_("Gold"), "small", "muted", weight=500)
        self._remark = words("", "small", "muted", wrap=True)
        self._table = Table(
            _columns(self),
            name=_("Differences"),
            key=lambda row: (row.kind, row.gold, row.predicted),
            sortable=True,
        )
        self._table.opened.connect(lambda _row: self.page.correct())
        texts = card(
            row(words(_("Gold and predicted"), weight=600), None, self._tally),
            self._gold_words,
            (self._gold, 1),
            self._remark,
            words(_("Predicted"), "small", "muted", weight=500),
            (self._predicted, 1),
            gap=6,
        )
        self._table.setMinimumHeight(theme.px(theme.ROW) * 4 + 40)
        hint = _("There are no gold or predicted spans in this text.")
        self._agreed = EmptyState("circle-check", _("No spans in this text"), hint)
        self._below = card(self._table, self._agreed, margins=(4, 4, 4, 4))
        layout_of(self).addWidget(texts, 3)
        layout_of(self).addWidget(self._below, 2)

    def show_state(self, fields: frozenset[str]) -> None:
        if concerns(fields, "document") and self.page.document is not None:
            for view in (self._gold, self._predicted):
                view.set_text(self.page.document.text)
        super().show_state(fields)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < theme.px(NARROW_WIDTH)
        self._table.setColumnHidden(CONFIDENCE, narrow)
        for column, width in enumerate(WIDTHS[narrow]):
            self._table.setColumnWidth(column, theme.px(width))

    def clear(self) -> None:
        self._gold.set_spans([])
        self._predicted.set_spans([])
        self._table.rows_model.set_rows([])
        self._below.hide()  # nothing is known yet

    def show_result(self, result: Any) -> None:
        known = self.page.gold is not None
        self._differences = self.page.compare(result.spans)
        for frame in (self._gold_words, self._gold, self._below):
            frame.setVisible(known)
        self._remark.setText(self._remarks(predicted=bool(result.spans)))
        self._remark.setVisible(bool(self._remark.text()))
        gold, predicted = self._spans(result)
        self._gold.set_spans(gold)
        self._predicted.set_spans(predicted)
        self._table.rows_model.set_rows(list(self._differences))
        self._table.setVisible(bool(self._differences))
        self._agreed.setVisible(not self._differences)
        self._show_tally()

    def data(self) -> list[list[object]]:
        """The predicted spans."""
        rows: list[list[object]] = [[_("Start"), _("End"), _("Label"), _("Text"), _("Probability")]]
        text = self.page.document.text if self.page.document is not None else ""
        for span in self.state.result.spans:
            score = "" if span.score is None else span.score
            start, end = span.start, span.end
            rows.append([start, end, span.label or "", text[start:end], score])
        return rows

    def _remarks(self, *, predicted: bool) -> str:
        gold = self.page.gold
        if gold is None:
            message = [_("A typed text has no gold. Pick a document to compare.")]
            return " ".join(message if predicted else [*message, _("No spans are predicted.")])
        message = []
        if not gold.submitted:
            message.append(
                _("This document is not submitted, so its labels do not count as gold yet.")
            )
        if gold.left_out:
            message.append(
                _(
                    "Nested spans are left out, as tags are flat: {n} overlapped by a longer span.",
                    n=gold.left_out,
                )
            )
        return " ".join(message)

    def _spans(self, result: Any) -> tuple[list[TextSpan], list[TextSpan]]:
        """Both sides; labels start with the sign of their difference, which remains when elided."""
        if self.page.gold is None:
            return [], [
                self._span(span, number, PREDICTED, "", span.score)
                for number, span in enumerate(result.spans, 1)
            ]
        gold, predicted = [], []
        for number, difference in enumerate(self._differences, 1):
            if difference.gold is not None:
                gold.append(self._span(difference.gold, number, GOLD, difference.kind))
            if difference.predicted is not None:
                predicted.append(
                    self._span(difference.predicted, number, PREDICTED, difference.kind)
                )
        return gold, predicted

    def _span(
        self, span: Span, number: int, side: str, kind: str, score: float | None = None
    ) -> TextSpan:
        label = self.page.labels.get(span.label)
        labels = self.visible.labels
        tint = (
            label.colour or label.position
            if label is not None
            else labels.index(span.label)
            if span.label in labels
            else 0
        )
        sign = f"{KINDS[kind][3]} " if kind else ""
        note = KINDS[kind][2] if kind not in ("", "agreed") else ""
        return TextSpan(span.start, span.end, sign + span.label, tint, number, side, score, note)

    def _show_tally(self) -> None:
        clear(layout_of(self._tally))
        if self.page.gold is None:
            return
        kinds = [difference.kind for difference in self._differences]
        for kind, (icon, tone, word, _mark) in KINDS.items():
            if kind in kinds or kind == "agreed":
                layout_of(self._tally).addWidget(IconLabel(icon, tone, 15))
                layout_of(self._tally).addWidget(words(f"{kinds.count(kind)} {word}", "small"))
                layout_of(self._tally).addSpacing(8)


def _columns(view: SpansView) -> list[Column]:
    def text(difference: Difference) -> str:
        span, document = difference.gold or difference.predicted, view.page.document
        return document.text[span.start : span.end] if document and span else ""

    def side(span: Span | None) -> str:
        return f"{span.label}  {span.start}–{span.end}" if span is not None else "–"

    return [
        Column(
            _("Difference"),
            lambda row: KINDS[row.kind][2],
            WIDTHS[False][0],
            icon=lambda row: KINDS[row.kind][:2],
        ),
        Column(
            _("Gold"),
            lambda row: side(row.gold),
            WIDTHS[False][1],
            hint=_("Label and character offsets, end exclusive"),
        ),
        Column(_("Predicted"), lambda row: side(row.predicted), WIDTHS[False][2]),
        Column(
            _("Confidence, %"),
            lambda row: points(row.predicted.score) if row.predicted is not None else "–",
            70,
            right=True,
            hint=_("Mean probability of the tags of the words, in %"),
        ),
        Column(_("Text"), text, None, tip=text),
    ]
