"""Who waits for a long act: hears how far it is, and may call it off."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from workbench.base.errors import Cancelled

EVERY = 0.1  # seconds between two words to the one who waits

Item = TypeVar("Item")


class Watch:
    """Made by the one who waits and handed down to the act, which calls `at` between its pieces.

    `told(share)` is called on the thread of the act, ten times a second at most. `cancel` may be called from any thread;
    the act then ends at its next `at` with `Cancelled`, and the transaction around it takes everything back.
    """

    def __init__(
        self,
        told: Callable[[float], None] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.share = 0.0
        self.cancelled = False
        self._told, self._clock = told, clock
        self._last = -EVERY

    def cancel(self) -> None:
        self.cancelled = True

    def at(self, share: float) -> None:
        """`share` of the act, in [0, 1], is done. Raises Cancelled if nobody wants the rest."""
        if self.cancelled:
            raise Cancelled()
        self.share = max(self.share, min(share, 1.0))
        if self._told is not None and self._clock() - self._last >= EVERY:
            self._last = self._clock()
            self._told(self.share)

    def part(self, start: float, end: float) -> Watch:
        """For a piece of the act that reaches from `start` to `end` of the whole."""
        return _Part(self, start, end)

    def over(self, items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
        """Slices of `size` items; asks before each and after the last."""
        for start in range(0, len(items), size):
            self.at(start / len(items))
            yield items[start : start + size]
        self.at(1.0)


class _Part(Watch):
    def __init__(self, whole: Watch, start: float, end: float):
        super().__init__()
        self._whole, self._start, self._end = whole, start, end

    def at(self, share: float) -> None:
        self._whole.at(self._start + (self._end - self._start) * min(max(share, 0.0), 1.0))


class _Quiet(Watch):
    def cancel(self) -> None:
        raise TypeError("nobody waits for this act, so nobody can call it off")

    def at(self, share: float) -> None:
        pass


QUIET = _Quiet()
"""Nobody waits: the act runs to its end."""
