"""ICU's word boundaries, with its dictionaries for languages without spaces."""

from __future__ import annotations

from workbench.text.segmenters.base import Words
from workbench.text.segmenters.joined import offsets

LOCALE = "en"  # ICU chooses the dictionary by the script of the text


class Icu:
    """Unicode Standard Annex 29 with ICU's dictionaries."""

    def __init__(self) -> None:
        from icu4py.breakers import WordBreaker

        self._breaker = WordBreaker

    def words(self, text: str) -> Words:
        return offsets(self._breaker(text, LOCALE))
