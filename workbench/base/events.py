"""Signal and State: notify user interfaces of changes. Always emitted on the main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

ALL = frozenset({"*"})


class Signal:
    """A list of callbacks, called in the order in which they were connected."""

    def __init__(self, name: str = ""):
        self.name = name
        self._callbacks: list[Callable[..., None]] = []

    def connect(self, callback: Callable[..., None]) -> Callable[[], None]:
        """Add `callback`; returns a function that disconnects it."""
        self._callbacks.append(callback)
        return lambda: self.disconnect(callback)

    def disconnect(self, callback: Callable[..., None]) -> None:
        if callback in self._callbacks:
            self._callbacks.remove(callback)

    def emit(self, *args: Any) -> None:
        for callback in tuple(self._callbacks):
            if callback in self._callbacks:  # an earlier callback may have closed a panel
                callback(*args)

    @property
    def listeners(self) -> tuple[Callable[..., None], ...]:
        return tuple(self._callbacks)


@dataclass
class _Listening:
    drops: list[Callable[[], None]] = field(default_factory=list)


class State:
    """The state that a panel shows: plain attributes and one `changed` signal with field names.

    `listen` remembers every connection made through it, so `close` can drop them all.
    """

    def __init__(self) -> None:
        self.changed = Signal(type(self).__name__)
        self._listening = _Listening()
        self._untold: set[str] | None = None

    def listen(self, signal: Signal, callback: Callable[..., None]) -> None:
        self._listening.drops.append(signal.connect(callback))

    def update(self, **values: Any) -> None:
        """Set fields and emit `changed` once with the names of those that differ."""
        names = frozenset(
            name for name, value in values.items() if getattr(self, name, _MISSING) is not value
        )
        for name in names:
            setattr(self, name, values[name])
        if names:
            self.announce(*names)

    def announce(self, *names: str) -> None:
        """Emit `changed` with the names of fields."""
        if self._untold is not None:
            self._untold.update(names)
        else:
            self.changed.emit(frozenset(names))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Emit `changed` once at the end, with the names of all fields that are set within."""
        if self._untold is not None:
            yield
            return
        self._untold = set()
        try:
            yield
        finally:
            names, self._untold = frozenset(self._untold), None
            if names:
                self.changed.emit(names)

    def close(self) -> None:
        for drop in self._listening.drops:
            drop()
        self._listening.drops.clear()


_MISSING = object()


def concerns(fields: frozenset[str], *names: str) -> bool:
    """Whether a render of `fields` must update because of any of `names`."""
    return fields is ALL or "*" in fields or not fields.isdisjoint(names)
