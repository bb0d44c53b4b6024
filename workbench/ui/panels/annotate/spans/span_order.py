"""From span to span and suggestion in text order, without sorting all of them. No Qt."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.ui.panels.annotate.session import GOLD, SUGGESTED, Name

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import SpanRow, SuggestionRow
    from workbench.operations.annotation.document_view import SpanRows

# number of the text, start, end (negative: longer ones first), name
Key = tuple[int, int, int, Name]


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
