"""The text of a file of WebAnno TSV 3, put together from its sentences."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from workbench.base.i18n import _
from workbench.importers.base import Fault, show
from workbench.importers.offsets import BYTES, POINTS, UTF16, length, points
from workbench.importers.webanno_lines import Sentence, Unit

LARGEST_GAP = 100_000  # between two sentences; more is damage


class Text:
    """The whole text. Raises Fault where the offsets of a token do not cover its text.

    The file has no characters between sentences: line breaks are put there. way: how the offsets
    are counted, in UTF-16 units unless they are wrong.
    """

    @classmethod
    def of(cls, found: Sequence[Sentence]) -> Text:
        """The text with the first counting in which each token covers its text. Raises Fault."""
        try:
            return cls(found)
        except Fault:
            for way in (POINTS, BYTES):
                with suppress(Fault):
                    return cls(found, way)
            raise

    def __init__(self, found: Sequence[Sentence], way: str = UTF16) -> None:
        self.way = way
        pieces: list[str] = []
        end = 0  # of the pieces, as offsets are counted
        for sentence in found:
            text, start = _placed(sentence, way)
            if not 0 <= start - end <= LARGEST_GAP:
                raise _wrong(sentence.units[0], "".join(pieces)[-20:])
            pieces += "\n" * (start - end), text
            end = start + length(text, way)
        if pieces[-1].endswith("\r"):  # the other half of a line break
            pieces.append("\n")
        self.text = "".join(pieces)
        self._points = points(self.text, way)
        for sentence in found:
            for unit in sentence.units:
                start, end = self.offsets(unit)
                if self.text[start:end] != unit.text:
                    raise _wrong(unit, self.text[start:end])

    def offsets(self, unit: Unit) -> tuple[int, int]:
        """Start and end of a token in code points. Raises Fault beyond the text."""
        start, end = self._points.get(unit.start), self._points.get(unit.end)
        if start is None or end is None or start > end:
            raise _wrong(unit, "")
        return start, end


def _placed(sentence: Sentence, way: str) -> tuple[str, int]:
    """The text of a sentence and where it starts."""
    first, text = sentence.units[0], sentence.text
    at = text.find(first.text)
    if not text or at < 0:
        raise _wrong(first, text[:20])
    return text, first.start - length(text[:at], way)


def _wrong(unit: Unit, found: str) -> Fault:
    return Fault(
        _("line {line}: the token {start}–{end} covers {found}, but the file says {said}").format(
            line=unit.line, start=unit.start, end=unit.end, found=show(found), said=show(unit.text)
        )
    )
