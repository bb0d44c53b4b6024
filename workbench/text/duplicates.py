"""Documents with the same text, and with nearly the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_NOISE = re.compile(r"[\W_]+")


def plain(text: str) -> str:
    """A text as near duplicates share it: without case, accents, punctuation and spaces."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return (
        _NOISE.sub("", "".join(char for char in folded if not unicodedata.combining(char))) or text
    )


def groups(texts: Iterable[tuple[int, str]]) -> dict[int, int]:
    """id → the first id with the same text but for case, accents, punctuation and spaces. Documents without a twin are left out."""
    first: dict[str, int] = {}
    members: dict[int, int] = {}
    for id, text in texts:
        head = first.setdefault(plain(text), id)
        if head != id:
            members[id] = members[head] = head
    return members
