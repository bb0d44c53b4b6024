"""The pages that were shown before the current one, for Back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

MOST = 50  # places that are kept

Place = tuple[str, dict[str, Any]]


class Trail:
    """Places as (page, arguments of `Panel.shown` that lead there), the latest last."""

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._rests = False

    def push(self, page: str, args: Mapping[str, Any]) -> None:
        """Remember a place that is being left; nothing while resting."""
        if not self._rests:
            self._places = [*self._places[1 - MOST :], (page, dict(args))]

    def leads_from(self, page: str) -> bool:
        """Whether another page was shown before this one."""
        return any(before != page for before, _args in self._places)

    def pop(self, page: str) -> Place:
        """The latest place on another page; it and what came after it are forgotten.

        Raises IndexError if there is none.
        """
        while (found := self._places.pop())[0] == page:
            pass
        return found

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
