"""Words of libraries that split a text into parts, white space included."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.text.segmenters.base import Words


def offsets(parts: Iterable[str]) -> Words:
    """Offsets of parts that are the text when joined; parts of white space are left out."""
    words, at = [], 0
    for part in parts:
        start, at = at, at + len(part)
        if part.strip():
            words.append((start, at))
    return words
