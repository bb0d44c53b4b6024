"""Conversion between Python values and the values stored in SQLite."""

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
    """The current time in UTC, ISO 8601, in seconds: "2026-01-31T12:00:00Z"."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_uid() -> str:
    """A random identifier of 16 hexadecimal digits."""
    return os.urandom(8).hex()


def text_in(content: str) -> str | bytes:
    """Convert a text to its stored form.

    SQLite cannot store lone surrogates as text; a text that contains them is stored as a blob.
    """
    if content.isascii():
        return content
    try:
        content.encode("utf-8")
    except UnicodeEncodeError:
        return content.encode("utf-8", "surrogatepass")
    return content


def text_out(stored: str | bytes) -> str:
    """Inverse of `text_in`. Raises ProjectError for any other value: the file is damaged."""
    if isinstance(stored, str):
        return stored
    try:
        return stored.decode("utf-8", "surrogatepass")
    except (AttributeError, UnicodeDecodeError) as error:
        raise _damaged(_("a text")) from error


def name_in(name: str) -> str:
    """A key or name for storage: lone surrogates are replaced by U+FFFD."""
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
    """JSON for a column; empty values and None become NULL. ASCII only: surrogates are escaped."""
    return json.dumps(value, separators=(",", ":")) if value else None


def json_out(stored: str | None) -> dict[str, Any]:
    """Inverse of `json_in`; {} for NULL.

    Raises ProjectError if the value is not JSON: the file is damaged.
    """
    try:
        content: dict[str, Any] = json.loads(stored) if stored else {}
        return content
    except (TypeError, ValueError, RecursionError) as error:
        raise _damaged(_("a record")) from error


def parts_out(stored: str | None) -> tuple[tuple[int, int], ...]:
    """The ranges of a discontinuous span, () for NULL. Inverse of `json_in`.

    Raises ProjectError for any other value: the file is damaged.
    """
    if stored is None:
        return ()
    try:
        return tuple((int(start), int(end)) for start, end in json.loads(stored))
    except (TypeError, ValueError, RecursionError) as error:
        raise _damaged(_("a span")) from error


def ids_in(ids: Iterable[int]) -> str:
    """Ids as a JSON array for `json_each(?)`, so that one parameter holds any number of them."""
    return json.dumps(list(map(int, ids)), separators=(",", ":"))


def offsets_in(offsets: Iterable[tuple[int, int]]) -> bytes:
    """Token offsets, (start, end) pairs, as little-endian unsigned 32-bit integers."""
    flat = array("I", (position for pair in offsets for position in pair))
    if sys.byteorder == "big":
        flat.byteswap()
    return flat.tobytes()


def offsets_out(stored: bytes) -> tuple[tuple[int, int], ...]:
    """Inverse of `offsets_in`. Raises ProjectError for any other value: the file is damaged."""
    flat = array("I")
    try:
        flat.frombytes(stored)
        if sys.byteorder == "big":
            flat.byteswap()
        return tuple(zip(flat[::2], flat[1::2], strict=True))
    except (TypeError, ValueError) as error:
        raise _damaged(_("the offsets of tokens")) from error


def _damaged(what: str) -> ProjectError:
    return ProjectError(
        _("The project file is damaged: {what} in it cannot be read.", what=what),
        hint=_("Restore it from a backup. `glossbench project check` lists the damage."),
    )
