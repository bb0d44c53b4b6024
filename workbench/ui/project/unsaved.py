"""Texts that were written in a page and could not be stored, as on a full disk. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from workbench.base.errors import WorkbenchError


@dataclass(frozen=True)
class UnsavedText:
    """`place`: where it was written, for display."""

    place: str
    text: str


@runtime_checkable
class Keeping(Protocol):
    """A state of a page in which texts are written."""

    def unsaved_texts(self) -> tuple[UnsavedText, ...]:
        """The texts that are not stored yet."""
        ...

    def store_texts(self) -> WorkbenchError | None:
        """Store what was written. Returns why a text could not be stored; it is then kept."""
        ...


def store(states: Iterable[Keeping]) -> WorkbenchError | None:
    """Store the texts of all states; returns the last error."""
    error = None
    for state in states:
        error = state.store_texts() or error
    return error


def texts(states: Iterable[Keeping]) -> tuple[UnsavedText, ...]:
    return tuple(text for state in states for text in state.unsaved_texts())


def as_file(unsaved: Sequence[UnsavedText]) -> str:
    """The texts one after the other, each below the place it belongs to."""
    return "\n\n".join(f"[{item.place}]\n{item.text}" for item in unsaved) + "\n"


def write(path: Path, unsaved: Sequence[UnsavedText]) -> None:
    """Write the texts to a file. Raises OSError; an existing file is then unchanged."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(as_file(unsaved), encoding="utf-8", errors="surrogatepass", newline="")
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
