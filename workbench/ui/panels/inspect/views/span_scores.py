"""Scores of span candidates: a triangle of first and last words, and the best spans as a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.style import formats
from workbench.ui.widgets.controls.button import icon_button
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import card, layout_of, row
from workbench.ui.widgets.tables.heat_table import HeatCell, HeatTable

if TYPE_CHECKING:
    from workbench.inspection.span_scores.info import SpanScoreTable
    from workbench.ui.panels.inspect.inspector_state import InspectorState

SHOWN = 0.01  # probability from which a cell has a number
CONTENTS = 18  # characters of the chosen label that are shown at least
MAX_CELL_WIDTH = 72  # maximum width of a cell, pixels at 100%
BLANK = HeatCell("", 0.0, "", blank=True)


class SpanScoresView(InspectorView):
    """Rows: first words. Columns: last words. Framed: spans that the run predicts."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._label = combo(name=_("Label"))
        self._label.setMinimumContentsLength(CONTENTS)
        self._label.activated.connect(lambda _index: self._paint())
        self._part = words("", "small", "muted")
        back = icon_button("chevron-left", _("Previous part"), lambda: self._go(-1), small=True)
        on = icon_button("chevron-right", _("Next part"), lambda: self._go(1), small=True)
        self._parts = row(self._part, back, on, gap=4)
        self._about, self._cell = Elided("", "small", "muted"), words("", "small", select=True)
        axes = _("Rows: first word. Columns: last word. Framed: predicted spans.")
        self._table = HeatTable(_("Span scores"), axes, most=MAX_CELL_WIDTH)
        self._table.moved.connect(self._show_cell)
        title = row(words(_("Span scores"), weight=600), (self._about, 1), self._parts, self._label)
        hint = words(axes, "caption", "muted")
        layout_of(self).addWidget(card(title, hint, (self._table, 1), self._cell, gap=8))

    def clear(self) -> None:
        self._table.set_cells((), (), ())
        for part in (self._about, self._cell):
            part.setText("")
        self._parts.hide()

    def show_result(self, result: SpanScoreTable) -> None:
        named = [("", _("Most probable label")), *((label, label) for label in result.labels)]
        fill(self._label, named, str(self._label.currentData() or ""))
        message = _("Part {part} of {parts}", part=result.part, parts=result.parts)
        self._part.setText(message)
        self._parts.setVisible(result.parts > 1)
        self._about.setText(_summary(result))
        self._paint()

    def data(self) -> list[list[object]]:
        result: SpanScoreTable = self.state.result
        rows: list[list[object]] = [[_("Start"), _("End"), _("Text"), *result.labels]]
        text = self.page.document.text if self.page.document else ""
        for first, width in _places(result):
            start, end = result.words[first].start, result.words[first + width].end
            rows.append([start, end, text[start:end], *result.scores[first, width].tolist()])
        return rows

    # ---------------------------------------------------------------- the triangle

    def _paint(self) -> None:
        result: SpanScoreTable | None = self.state.result
        if result is None:
            return
        names = [word.text for word in result.words]
        cells = [[BLANK] * len(names) for _row in result.scores]
        chosen = {(span.start, span.end, span.label) for span in result.spans}
        label = self._label.currentData() or ""
        for first, width in _places(result):
            cells[first][first + width] = _cell(result, first, width, label, chosen)
        self._table.set_cells(names[: len(cells)], names, cells)
        if not self._table.currentIndex().isValid() and (place := _best(result)):
            self._table.choose(*place)
        current = self._table.currentIndex()
        self._show_cell(current.row(), current.column())

    def _show_cell(self, first: int, last: int) -> None:
        """State all labels of the span of the current cell."""
        result: SpanScoreTable | None = self.state.result
        self._cell.setText("" if result is None else _describe(result, first, last))

    def _go(self, step: int) -> None:
        result: SpanScoreTable | None = self.state.result
        if result is not None and 1 <= result.part + step <= result.parts:
            self.state.set_options(part=result.part + step)


def _places(result: SpanScoreTable) -> list[tuple[int, int]]:
    """(first, width) of every candidate, width 0 for one word."""
    longest = result.scores.shape[1]
    return [
        (first, width)
        for first in range(len(result.scores))
        for width in range(min(longest, len(result.words) - first))
    ]


def _cell(
    result: SpanScoreTable, first: int, width: int, label: str, chosen: set[tuple[int, int, str]]
) -> HeatCell:
    scores = result.scores[first, width]
    at = result.labels.index(label) if label in result.labels else int(scores.argmax())
    share, name = float(scores[at]), result.labels[at]
    start, end = result.words[first].start, result.words[first + width].end
    text = ""
    if share >= SHOWN:
        text = formats.points(share) if label else f"{name} {formats.points(share)}"
    labels = (label,) if label else result.labels
    marked = any((start, end, label) in chosen for label in labels)
    return HeatCell(text, share, _describe(result, first, first + width), marked)


def _describe(result: SpanScoreTable, first: int, last: int) -> str:
    """The span and its labels, most probable first, as a sentence."""
    if not (0 <= first <= last < len(result.words)) or last - first >= result.scores.shape[1]:
        return ""
    scores = result.scores[first, last - first]
    order = np.argsort(-scores, kind="stable")
    shares = [f"{result.labels[at]} {formats.points(float(scores[at]))}%" for at in order]
    if result.exclusive:
        no_span = result.none
        none = (
            max(0.0, 1 - scores.sum()) if no_span is None else float(no_span[first, last - first])
        )
        shares.append(_("no label {share}%", share=formats.points(none)))
    text = " ".join(word.text for word in result.words[first : last + 1])
    return f"{text}: {', '.join(shares)}"


def _best(result: SpanScoreTable) -> tuple[int, int] | None:
    """The cell of the most probable span."""
    if not result.scores.size:
        return None
    best = result.scores.max(-1)
    first, width = np.unravel_index(int(best.argmax()), best.shape)
    return int(first), int(first + width)


def _summary(result: SpanScoreTable) -> str:
    count = len(_places(result))
    message = ngettext("{n:,} candidate", "{n:,} candidates", count)
    n = len(result.spans)
    predicted = ngettext("{n:,} predicted", "{n:,} predicted", n)
    parts = [message, predicted]
    if result.rejected:
        parts.append(_("{n:,} rejected because of overlap", n=result.rejected))
    if result.temperature != 1:
        parts.append(_("temperature {value:.2f} applied", value=result.temperature))
    return " · ".join(parts)
