"""Documents with identical or nearly identical text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_NOISE = re.compile(r"[\W_]+")


def plain(text: str) -> str:
    """A normalized text, without case, accents, punctuation and spaces."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return (
        _NOISE.sub("", "".join(char for char in folded if not unicodedata.combining(char))) or text
    )


def groups(texts: Iterable[tuple[int, str]]) -> dict[int, int]:
    """id → the first id with the same normalized text; only documents that have a duplicate."""
    first: dict[str, int] = {}
    members: dict[int, int] = {}
    for id, text in texts:
        head = first.setdefault(plain(text), id)
        if head != id:
            members[id] = members[head] = head
    return members
