"""Spans of a text: labelling, correcting and moving them, and going from one to the next. No Qt."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from workbench.base.i18n import _
from workbench.operations.annotation import annotate, suggestion_edits
from workbench.operations.annotation.annotate import SpanRow, SuggestionRow
from workbench.text import snap
from workbench.text.document import TEXT
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.session import GOLD, SUGGESTED, Name
from workbench.ui.panels.annotate.tool import EditorTool

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import SpanRow, SuggestionRow
    from workbench.operations.annotation.document_view import SpanRows
    from workbench.project.project import Project
    from workbench.text.labels import Label, Layer
    from workbench.ui.panels.annotate.session import SpanTarget


# number of the text, start, end (negative: longer ones first), name
Key = tuple[int, int, int, Name]


class SpanTool(EditorTool):
    def label(self, layer: Layer, label: Label, target: SpanTarget | None) -> None:
        """Relabel the selected span, correct the selected suggestion, or label `target`, in this
        order.
        """
        if (span := self.session.chosen_span()) is not None:
            self._relabel(span, layer, row_id(label))
        elif (row := self.session.chosen_suggestion()) is not None and row.start is not None:
            self._correct(row, row_id(label))
        elif target is not None:
            self._add(target.start, target.end, row_id(label), target.field)

    def step(self, layer: Layer, group: Sequence[int]) -> bool:
        return self._step_row(self.session.chosen_span(), group)

    def delete_chosen(self) -> bool:
        span = self.session.chosen_span()
        if span is not None:
            self.session.attempt(annotate.delete_span, span.id)
        return span is not None

    def choose_step(self, way: int, field: str, caret: int) -> None:
        """Select the next (+1) or previous (-1) span or suggestion in text order, starting at the
        caret.
        """
        if self.session.doc is None:
            return
        fields = self.session.doc.document.fields
        order = SpanOrder(fields, self.session.spans, self.session.suggestions)
        name = order.step(way, self.session.chosen, (field, caret))
        if name is not None:
            self.session.choose(name)

    def _relabel(self, span: SpanRow, layer: Layer, label_id: int) -> None:
        if span.layer_id == layer.id:
            self.session.attempt(annotate.relabel_span, span.id, label_id)
        else:  # another layer: label the same words there as well
            self._add(span.start, span.end, label_id, span.field)

    def _correct(self, row: SuggestionRow, label_id: int) -> None:
        """Replace the suggestion by a span of the user, in one step."""

        def correct(project: Project, *, origin: object) -> Any:
            with project.edit(_("Correct suggestion"), origin=origin):
                self.session.deciding(suggestion_edits.reject)(project, [row.id], origin=origin)
                return annotate.add_span(
                    project,
                    self.session.shown_id,
                    cast(int, row.start),  # of a span, as `label` has checked
                    cast(int, row.end),
                    label_id,
                    field=row.field,
                    origin=origin,
                )

        id = self.session.attempt(correct)
        if id is not None:
            self.session.choose((GOLD, id))

    def _add(self, start: int, end: int, label_id: int, field: str) -> None:
        if field == TEXT:
            start, end = self.session.units.clipped(start, end)
        document = self.session.shown_doc.document
        place = {"field": field, "document": document}
        id = self.session.attempt(
            annotate.add_span, self.session.document_id, start, end, label_id, **place
        )
        if id is not None:
            self.session.choose((GOLD, id))

    def resize(self, start: int, end: int) -> None:
        """Move the boundaries of the selected span; empty spans are not created."""
        span = self.session.chosen_span()
        limits = self.session.units.limits(span.start, span.end) if span is not None else None
        if limits is not None:
            start, end = max(start, limits[0]), min(end, limits[1])
        if self.session.can_edit and span is not None and start < end:
            self.session.attempt(annotate.resize_span, span.id, start, end)

    @property
    def snap(self) -> str:
        """To what a selection snaps: the finest of the selected layers."""
        return snap.finest(layer for layer in self.session.active if layer.traits.in_text)

    def snap_of(self, label_id: int) -> str:
        """To what new spans with a label snap."""
        known = self.session.label_of.get(label_id)
        return snap.snap_of(known[0]) if known is not None else snap.WORD

    @property
    def snap_of_chosen(self) -> str:
        """To what the boundaries of the selected span snap."""
        span = self.session.chosen_span()
        layer = next(
            (layer for layer in self.session.layers if span and layer.id == span.layer_id), None
        )
        return snap.snap_of(layer) if layer is not None else snap.WORD


class SpanOrder:
    """Spans and suggestions of all texts as one order.

    `fields` are the names of the texts. Spans are sorted by text and start already, so they are
    only searched; suggestions, which may be listed by score, are sorted.
    """

    def __init__(
        self, fields: Sequence[str], spans: SpanRows, suggestions: Sequence[SuggestionRow]
    ) -> None:
        self._number = {field: number for number, field in enumerate(fields)}
        self._spans = spans
        self._parts = [_range(spans, field) for field in self._number]  # in the order of the texts
        self._suggested = sorted(
            (self._number.get(row.field, 0), row.start, -row.end, (SUGGESTED, row.id))
            for row in suggestions
            if row.start is not None and row.end is not None
        )

    def step(self, way: int, chosen: Name | None, here: tuple[str, int]) -> Name | None:
        """The name after (`way` 1) or before (-1) `chosen`, else from a position of a text on;
        after the last comes the first. None if there is none at all.
        """
        key = self._key_of(chosen)
        field, start = here
        position = key or (self._number.get(field, 0), start)
        at_gold, at = self._place(position), bisect_left(self._suggested, position)
        if way < 0:
            candidates = [*self._gold(at_gold - 1), *self._suggested[max(0, at - 1) : at]]
            candidates = candidates or [*self._gold(len(self) - 1), *self._suggested[-1:]]
            return max(candidates)[-1] if candidates else None
        if key is not None:  # the one after it
            at_gold += chosen is not None and chosen[0] == GOLD
            at += chosen is not None and chosen[0] == SUGGESTED
        candidates = [*self._gold(at_gold), *self._suggested[at : at + 1]]
        candidates = candidates or [*self._gold(0), *self._suggested[:1]]
        return min(candidates)[-1] if candidates else None

    def _key_of(self, name: Name | None) -> Key | None:
        if name is None:
            return None
        kind, id = name
        if kind == GOLD:
            row = self._spans.by_id.get(id)
            return self._key(row) if row is not None else None
        return next((key for key in self._suggested if key[-1] == name), None)

    def _key(self, row: SpanRow) -> Key:
        return self._number.get(row.field, 0), row.start, -row.end, (GOLD, row.id)

    def __len__(self) -> int:
        """Number of spans."""
        return sum(map(len, self._parts))

    def _row(self, number: int) -> SpanRow:
        for part in self._parts:
            if number < len(part):
                return self._spans[part[number]]
            number -= len(part)
        raise IndexError(number)

    def _gold(self, number: int) -> list[Key]:
        return [self._key(self._row(number))] if 0 <= number < len(self) else []

    def _place(self, position: Key | tuple[int, int]) -> int:
        """Number of spans before a key."""
        return bisect_left(range(len(self)), position, key=lambda n: self._key(self._row(n)))


def _range(spans: SpanRows, field: str) -> range:
    """The positions of the spans of a text."""
    first = bisect_left(spans, field, key=lambda row: row.field)
    return range(first, bisect_right(spans, field, first, key=lambda row: row.field))
