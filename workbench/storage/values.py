"""Python values ↔ what SQLite holds."""

from __future__ import annotations

import json
import os
import sys
from array import array
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime


def now() -> str:
    """ISO 8601, UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_uid() -> str:
    return os.urandom(8).hex()


def text_in(content: str) -> str | bytes:
    """A text as it is stored. SQLite takes no lone surrogate as text; such a text becomes a blob and comes back unchanged."""
    if content.isascii():
        return content
    try:
        content.encode("utf-8")
    except UnicodeEncodeError:
        return content.encode("utf-8", "surrogatepass")
    return content


def text_out(stored: str | bytes) -> str:
    return stored if isinstance(stored, str) else stored.decode("utf-8", "surrogatepass")


def name_in(name: str) -> str:
    """A key or name: lone surrogates become U+FFFD, as they have no meaning there."""
    return name.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if not name.isascii() else name


def json_in(value: Mapping | Iterable | None) -> str | None:
    """JSON for a column; empty and None become NULL. ASCII only, so lone surrogates survive."""
    return json.dumps(value, separators=(",", ":")) if value else None


def json_out(stored: str | None, empty=None):
    return json.loads(stored) if stored else ({} if empty is None else empty)


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
    flat = array("I")
    flat.frombytes(stored)
    if sys.byteorder == "big":
        flat.byteswap()
    return tuple(zip(flat[::2], flat[1::2], strict=True))
