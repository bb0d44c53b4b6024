"""Annotate by sentence or paragraph: the units of the open text, and the one in focus. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.events import State
from workbench.base.i18n import N_, _
from workbench.operations.documents import parts
from workbench.text.document import TEXT
from workbench.text.sentences import SENTENCE, UNITS, WHOLE, unit_at, units_of
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.text.document import Document
    from workbench.ui.panel import PanelContext

Range = tuple[int, int]
_KINDS = "annotate.units"  # project uid → kind
_PLACES = "annotate.unit_places"  # project uid → id of a document → where its unit begins
_FREE = "annotate.units_free"  # project uid → whether spans may cross the ends of units
MOST_PLACES = 200
LARGE_TEXT_LENGTH = 50_000  # code points above which a text is divided off the main thread: 25 ms
TITLES: Mapping[str, str] = {
    WHOLE: N_("Whole document"),
    "paragraph": N_("By paragraph"),
    SENTENCE: N_("By sentence"),
}
_PLACE_TOLD: Mapping[str, str] = {
    "paragraph": N_("Paragraph {n:,} of {all:,}"),
    SENTENCE: N_("Sentence {n:,} of {all:,}"),
}


class UnitState(State):
    """`kind`: what is labelled at a time, one of UNITS, kept for the project.

    `ranges`: the units of the first text; empty for whole documents, and for documents with several
    texts. `at`: the number of the unit in focus. `free`: spans may cross the ends of units.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self._context, self._uid = context, opened(context).uid
        kind = self._kept(_KINDS)
        self.kind: str = kind if kind in UNITS else WHOLE
        self.free = self._kept(_FREE) is True
        self.ranges: tuple[Range, ...] = ()
        self.at = 0
        self.beside = "", ""  # the text before and after a document that is a part of another one
        self._document: Document | None = None
        self._wanted: int | None = None  # a place to focus when the units are known

    def _kept(self, name: str) -> Any:
        return self._context.settings.window.get(name, {}).get(self._uid)

    def _keep(self, name: str, value: object) -> None:
        window = self._context.settings.window
        window[name] = {**window.get(name, {}), self._uid: value}
        self._context.settings.save()

    # ------------------------------------------------------------ the units

    def show(self, document: Document | None) -> None:
        """Divide the text of a document; it opens at the unit where it was left."""
        if document is not None and _same_text(document, self._document):
            self._document = document
            return
        self._remember()
        self._document = document
        project = opened(self._context)
        self.update(beside=parts.context(project, document) if document is not None else ("", ""))
        self._divide(self._places().get(str(document.id)) if document is not None else None)

    def _divide(self, place: int | None) -> None:
        document, kind = self._document, self.kind
        self._wanted = place
        self._context.drop("units")
        if document is None or kind == WHOLE or document.fields != (TEXT,):
            self.update(ranges=(), at=0)
        elif len(document.text) > LARGE_TEXT_LENGTH:
            self.update(ranges=(), at=0)
            self._context.task("units", partial(units_of, document, kind), self._take)
        else:
            self._take(units_of(document, kind))

    def _take(self, ranges: tuple[Range, ...]) -> None:
        self.update(ranges=ranges, at=unit_at(ranges, self._wanted or 0))

    @property
    def range(self) -> Range | None:
        """Code points of the unit in focus; None for whole documents."""
        return self.ranges[self.at] if self.at < len(self.ranges) else None

    @property
    def is_last(self) -> bool:
        """Whether no unit follows the one in focus."""
        return self.at + 1 >= len(self.ranges)

    @property
    def message(self) -> str:
        """Which unit of how many; "" for whole documents."""
        if not self.ranges:
            return ""
        return _(_PLACE_TOLD[self.kind], n=self.at + 1, all=len(self.ranges))

    def limits(self, start: int, end: int) -> Range | None:
        """Where a span at [start, end) may extend to: its units. None for anywhere."""
        if self.free or not self.ranges:
            return None
        first, last = unit_at(self.ranges, start), unit_at(self.ranges, max(start, end - 1))
        return self.ranges[first][0], self.ranges[last][1]

    def clipped(self, start: int, end: int) -> Range:
        """The part of [start, end) in its first unit, which may be empty."""
        limits = self.limits(start, start)
        return (max(start, limits[0]), min(end, limits[1])) if limits else (start, end)

    # ------------------------------------------------------------ actions

    def choose_kind(self, kind: str) -> None:
        if kind != self.kind:
            place = self.range[0] if self.range else self._wanted
            self._keep(_KINDS, kind)
            self.update(kind=kind, ranges=(), at=0)  # never units of another kind
            self._divide(place)

    def set_free(self, free: bool) -> None:
        self._keep(_FREE, free)
        self.update(free=free)

    def follow(self, position: int) -> None:
        """Focus the unit at a position."""
        if self.ranges:
            self.update(at=unit_at(self.ranges, position))
        else:
            self._wanted = position

    def step(self, way: int) -> bool:
        """Focus the next (+1) or previous (-1) unit; False at the end of the document."""
        to = self.at + way
        if not 0 <= to < len(self.ranges):
            return False
        self.update(at=to)
        return True

    # ------------------------------------------------------------ where a document was left

    def _places(self) -> dict[str, int]:
        return dict(self._kept(_PLACES) or {})

    def _remember(self) -> None:
        """Keep the place in the text, so that a book is continued there."""
        if self._document is None or not self.ranges:
            return
        places, id = self._places(), str(self._document.id)
        before = places.pop(id, 0)
        here = self.ranges[self.at][0] if 0 < self.at < len(self.ranges) - 1 else 0
        if here:
            places[id] = here
        if here != before:
            self._keep(_PLACES, dict(list(places.items())[-MOST_PLACES:]))

    def close(self) -> None:
        self._remember()
        super().close()


def _same_text(document: Document, other: Document | None) -> bool:
    """Whether a document is the other one, perhaps read again."""
    if other is None or document.id != other.id:
        return False
    return document is other or document.texts == other.texts
