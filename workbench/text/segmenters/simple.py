"""Segmenters without a dictionary."""

from __future__ import annotations

from workbench.text import segment
from workbench.text.segmenters.base import Words


class Rules:
    """White space and punctuation; letters of scripts without spaces are words of their own."""

    def words(self, text: str) -> Words:
        return segment.words(text)


class Characters:
    """Every character, as the user perceives it, is a word."""

    def words(self, text: str) -> Words:
        return [(start, end) for start, end in segment.graphemes(text) if text[start:end].strip()]
