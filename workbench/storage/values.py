"""Python values ↔ what SQLite holds."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from array import array
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from workbench.base.errors import ProjectError
from workbench.base.i18n import _


def now() -> str:
    """ISO 8601, UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_uid() -> str:
    return os.urandom(8).hex()


def text_in(content: str) -> str | bytes:
    """A text as it is stored.

    SQLite does not accept lone surrogates; such a text is stored as a blob, without loss.
    """
    if content.isascii():
        return content
    try:
        content.encode("utf-8")
    except UnicodeEncodeError:
        return content.encode("utf-8", "surrogatepass")
    return content


def text_out(stored: str | bytes) -> str:
    """Raises ProjectError for what was never stored: the file is damaged."""
    if isinstance(stored, str):
        return stored
    try:
        return stored.decode("utf-8", "surrogatepass")
    except (AttributeError, UnicodeDecodeError) as error:
        raise _damaged(_("a text")) from error


def name_in(name: str) -> str:
    """A key or name: lone surrogates become U+FFFD, as they have no meaning there."""
    return (
        name.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if not name.isascii()
        else name
    )


Row = tuple[Any, ...]  # a row as sqlite3 returns it


def new_id(cursor: sqlite3.Cursor) -> int:
    """The id of the row that the cursor has just inserted."""
    return cast(int, cursor.lastrowid)


def json_in(value: Mapping[str, Any] | Iterable[Any] | None) -> str | None:
    """JSON for a column; empty and None become NULL. ASCII only, so lone surrogates survive."""
    return json.dumps(value, separators=(",", ":")) if value else None


def json_out(stored: str | None) -> dict[str, Any]:
    """The stored object, {} for NULL. Raises ProjectError for what was never stored: the file is
    damaged.
    """
    try:
        found: dict[str, Any] = json.loads(stored) if stored else {}
        return found
    except (TypeError, ValueError, RecursionError) as error:
        raise _damaged(_("a record")) from error


def ids_in(ids: Iterable[int]) -> str:
    """Ids for `json_each(?)`: any number of them in one parameter."""
    return json.dumps(list(map(int, ids)), separators=(",", ":"))


def borders_in(borders: Iterable[tuple[int, int]]) -> bytes:
    """(start, end) pairs as little-endian unsigned 32-bit numbers."""
    flat = array("I", (position for border in borders for position in border))
    if sys.byteorder == "big":
        flat.byteswap()
    return flat.tobytes()


def borders_out(stored: bytes) -> tuple[tuple[int, int], ...]:
    """Raises ProjectError for what was never stored: the file is damaged."""
    flat = array("I")
    try:
        flat.frombytes(stored)
        if sys.byteorder == "big":
            flat.byteswap()
        return tuple(zip(flat[::2], flat[1::2], strict=True))
    except (TypeError, ValueError) as error:
        raise _damaged(_("the borders of tokens")) from error


def _damaged(what: str) -> ProjectError:
    return ProjectError(
        _("The project file is damaged: {what} in it cannot be read.").format(what=what),
        hint=_("Restore it from a backup. `glossbench project check` lists the damage."),
    )
