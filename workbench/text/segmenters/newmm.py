"""Thai words by maximal matching with the dictionary of PyThaiNLP."""

from __future__ import annotations

from workbench.text.segmenters.base import Words
from workbench.text.segmenters.joined import offsets


class Newmm:
    """PyThaiNLP's engine "newmm"."""

    def __init__(self) -> None:
        from pythainlp.tokenize import word_tokenize

        self._tokenize = word_tokenize

    def words(self, text: str) -> Words:
        return offsets(self._tokenize(text, engine="newmm", keep_whitespace=True))
