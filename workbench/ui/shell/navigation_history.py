"""The places that were shown before the current one, for Back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shiboken6 import isValid

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

MAX_ENTRIES = 50  # places that are kept


@dataclass(frozen=True)
class HistoryEntry:
    """A page, the arguments of `Panel.shown` that lead there, and the widget that had the focus."""

    page: str
    args: Mapping[str, Any]
    focus: QWidget | None = field(default=None, compare=False)

    def take_focus(self) -> None:
        """Give the focus back, if the widget is still there."""
        widget = self.focus
        if widget is not None and isValid(widget) and widget.isVisible() and widget.isEnabled():
            widget.setFocus()


class NavigationHistory:
    """Places, the latest last: other pages, and earlier states of the same page."""

    def __init__(self) -> None:
        self._places: list[HistoryEntry] = []
        self._rests = False

    def push(self, place: HistoryEntry | None) -> None:
        """Remember a place that is being left; nothing while resting, or if there is none."""
        if place is not None and not self._rests and self._places[-1:] != [place]:
            self._places = [*self._places[1 - MAX_ENTRIES :], place]

    @property
    def empty(self) -> bool:
        return not self._places

    def pop(self, now: HistoryEntry | None) -> HistoryEntry | None:
        """The latest place that is not the current one; it and what came after it are forgotten.

        None if there is none.
        """
        while self._places:
            if (entry := self._places.pop()) != now:
                return entry
        return None

    def clear(self) -> None:
        self._places.clear()

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Going back leaves no place to return to."""
        self._rests = True
        try:
            yield
        finally:
            self._rests = False
