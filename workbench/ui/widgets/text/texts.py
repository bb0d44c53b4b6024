"""Texts that are made when they are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload


class LazyTexts(Sequence[str]):
    """A sequence of `count` texts, such as the notes of the points of a chart.

    `text(number)` makes one of them when it is asked for.
    """

    def __init__(self, count: int, text: Callable[[int], str]):
        self._count, self._text = count, text

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        places = range(self._count)[at]
        return self._text(places) if isinstance(places, int) else [*map(self._text, places)]
