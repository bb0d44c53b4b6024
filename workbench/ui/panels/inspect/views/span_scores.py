"""Scores of span candidates: a triangle of first and last words, and the best spans as a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.parts import (
    ButtonPart,
    ChoicePart,
    HeatPart,
    RowBox,
    TextPart,
    ViewContext,
    ViewSpec,
    caption,
)
from workbench.ui.style import formats
from workbench.ui.widgets.tables.heat_table import HeatCell, HeatStyle

if TYPE_CHECKING:
    from workbench.inspection.span_scores.info import SpanScoreTable

SHOWN = 0.01  # probability from which a cell has a number
CONTENTS = 18  # characters of the chosen label that are shown at least
MAX_CELL_WIDTH = 72  # maximum width of a cell, pixels at 100%
AXES = _("Rows: first word. Columns: last word. Framed: predicted spans.")


def _is_candidate(result: SpanScoreTable, first: int, last: int) -> bool:
    longest: int = result.scores.shape[1]
    return 0 <= first <= last < min(len(result.words), first + longest)


def _candidates(result: SpanScoreTable) -> list[tuple[int, int]]:
    """(first, last) word of every candidate."""
    firsts, longest = len(result.scores), result.scores.shape[1]
    return [
        (first, last)
        for first in range(firsts)
        for last in range(first, min(len(result.words), first + longest))
    ]


def _cell(view: ViewContext, first: int, last: int) -> HeatCell:
    result: SpanScoreTable = view.result
    label = view.chosen("label") or ""
    if not _is_candidate(result, first, last):
        return HeatCell("", 0.0, blank=True)
    scores = result.scores[first, last - first]
    at = result.labels.index(label) if label in result.labels else int(scores.argmax())
    share, name = float(scores[at]), result.labels[at]
    text = ""
    if share >= SHOWN:
        text = formats.points(share) if label else f"{name} {formats.points(share)}"
    start, end = result.words[first].start, result.words[last].end
    labels = (label,) if label else result.labels
    marked = any((s.start, s.end) == (start, end) and s.label in labels for s in result.spans)
    return HeatCell(text, share, marked)


def _describe(view: ViewContext, first: int, last: int) -> str:
    """The span and its labels, most probable first, as a sentence."""
    result: SpanScoreTable = view.result
    if not _is_candidate(result, first, last):
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


def _best(view: ViewContext) -> tuple[int, int] | None:
    """The cell of the most probable span."""
    scores = view.result.scores
    if not scores.size:
        return None
    best = scores.max(-1)
    first, width = np.unravel_index(int(best.argmax()), best.shape)
    return int(first), int(first + width)


def _summary(view: ViewContext) -> str:
    result: SpanScoreTable = view.result
    count, predicted = len(_candidates(result)), len(result.spans)
    parts = [
        ngettext("{n:,} candidate", "{n:,} candidates", count),
        ngettext("{n:,} predicted", "{n:,} predicted", predicted),
    ]
    if result.rejected:
        parts.append(_("{n:,} rejected because of overlap", n=result.rejected))
    if result.temperature != 1:
        parts.append(_("temperature {value:.2f} applied", value=result.temperature))
    return " · ".join(parts)


def _part(view: ViewContext) -> str:
    return _("Part {part} of {parts}", part=view.result.part, parts=view.result.parts)


def _step(step: int, icon: str, name: str) -> ButtonPart:
    def go(view: ViewContext) -> None:
        part = view.result.part + step
        if 1 <= part <= view.result.parts:
            view.state.set_options(part=part)

    return ButtonPart("", go, icon, "quiet", name=name)


def _words(view: ViewContext) -> list[str]:
    return [word.text for word in view.result.words]


def _data(view: ViewContext) -> list[list[object]]:
    result: SpanScoreTable = view.result
    rows: list[list[object]] = [[_("Start"), _("End"), _("Text"), *result.labels]]
    for first, last in _candidates(result):
        start, end = result.words[first].start, result.words[last].end
        scores = result.scores[first, last - first].tolist()
        rows.append([start, end, view.text[start:end], *scores])
    return rows


SPAN_SCORES = ViewSpec(
    title=_("Span scores"),
    beside=(
        TextPart(_summary, "small", "muted", elide=True, stretch=1),
        RowBox(
            TextPart(_part, "small", "muted"),
            _step(-1, "chevron-left", _("Previous part")),
            _step(1, "chevron-right", _("Next part")),
            gap=4,
            visible=lambda view: view.result.parts > 1,
        ),
        ChoicePart(
            _("Label"),
            items=lambda view: [
                ("", _("Most probable label")),
                *((label, label) for label in view.result.labels),
            ],
            titled=False,
            contents=CONTENTS,
            id="label",
        ),
    ),
    parts=(
        caption(AXES),
        HeatPart(
            _("Span scores"),
            AXES,
            lambda view: _words(view)[: len(view.result.scores)],
            _words,
            _cell,
            _describe,
            first=_best,
            style=HeatStyle(most=MAX_CELL_WIDTH),
            id="table",
            stretch=1,
        ),
        TextPart(lambda view: _describe(view, *view.chosen("table")), "small", select=True),
    ),
    data=_data,
)
