"""Work of a context that is held back, and answered in the order that a test wants."""

from __future__ import annotations

from typing import Any


class Held:
    """Stands in for the threads of a context with `tests.panel_tasks` from now on.

    `end` lets work run at once again.

    `compute` does the work of a request, so that its answer is that of this moment; `answer`
    delivers it, computing it before if need be. Requests are numbered from 0.
    """

    def __init__(self, context: Any):
        self._context = context
        self._asked: list[tuple[Any, Any]] = []
        self._answered: set[int] = set()
        self._found: dict[int, tuple[Any, Exception | None]] = {}
        context.runner.run = self._start

    def __len__(self) -> int:
        return len(self._asked)

    def _start(self, work, done):
        self._asked.append((work, done))

    def compute(self, number: int) -> None:
        try:
            self._found[number] = self._asked[number][0](), None
        except Exception as error:
            self._found[number] = None, error

    def answer(self, *numbers: int) -> None:
        for number in numbers:
            if number not in self._found:
                self.compute(number)
            self._answered.add(number)
            self._asked[number][1](*self._found[number])

    def error(self, number: int) -> type[Exception] | None:
        """What the work of a request has raised."""
        error = self._found[number][1]
        return None if error is None else type(error)

    def rest(self) -> None:
        """Answer what is left, and what it asks for, in this order."""
        while left := [n for n in range(len(self)) if n not in self._answered]:
            self.answer(left[0])

    def asking(self, name: str) -> list[int]:
        """The numbers of the requests that call or refer to a function of this name."""
        works = [work for work, _done in self._asked]
        return [n for n, work in enumerate(works) if name in _names(work)]

    def fail(self, number: int, error: Exception) -> None:
        self._answered.add(number)
        self._asked[number][1](None, error)

    def forget(self, number: int) -> None:
        """Drop the answer of a request, as a thread does that has delivered it."""
        del self._found[number]

    def end(self) -> None:
        del self._context.runner.run


def _names(work: Any) -> tuple[str, ...]:
    work = getattr(work, "func", work)  # of a partial
    code = getattr(work, "__code__", None)
    return (work.__name__, *code.co_names) if code is not None else (work.__name__,)
