"""Which answer counts, of requests that end in another order than they were started."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


class Latest:
    """The newest request of one kind; answers of earlier ones are ignored.

    Used on the main thread, with one object for each thing that is shown. For `done` and `failed`:

        context.run(work, *self._reading.newest(done, context.fail))

    Elsewhere `ticket = begin()`, and in the answer `if ends(ticket)`.
    """

    def __init__(self) -> None:
        self._ticket: object | None = None

    @property
    def waiting(self) -> bool:
        """Whether the newest request has no answer yet."""
        return self._ticket is not None

    def begin(self) -> object:
        """A new request; returns its ticket. Answers of earlier requests are ignored."""
        self._ticket = object()
        return self._ticket

    def is_newest(self, ticket: object) -> bool:
        """Whether this is the newest request, without an answer yet."""
        return self._ticket is ticket

    def ends(self, ticket: object) -> bool:
        """Whether this is the answer of the newest request, which has ended with it."""
        if not self.is_newest(ticket):
            return False
        self._ticket = None
        return True

    def drop(self) -> None:
        """Ignore all answers that are still to come."""
        self._ticket = None

    def newest(
        self, done: Callable[[Result], None], failed: Callable[[Exception], None]
    ) -> tuple[Callable[[Result], None], Callable[[Exception], None]]:
        """A new request; returns `done` and `failed`, which do nothing if it is not the newest."""
        ticket = self.begin()

        def ended(result: Result) -> None:
            if self.ends(ticket):
                done(result)

        def broken(error: Exception) -> None:
            if self.ends(ticket):
                failed(error)

        return ended, broken
