"""The text of a file of WebAnno TSV 3, put together from its sentences."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.base.i18n import _
from workbench.importers.base import Fault, show
from workbench.importers.inception import points_of_units
from workbench.importers.webanno_lines import Sentence, Unit

LARGEST_GAP = 100_000  # UTF-16 units between two sentences; more is damage


class Text:
    """The whole text. Raises Fault where the offsets of a token do not cover its text.

    The file has no characters between sentences: line breaks are put there.
    """

    def __init__(self, found: Sequence[Sentence]) -> None:
        pieces: list[str] = []
        length = 0  # of the pieces, in UTF-16 units
        for sentence in found:
            text, start = _placed(sentence)
            if not 0 <= start - length <= LARGEST_GAP:
                raise _wrong(sentence.units[0], "".join(pieces)[-20:])
            pieces += "\n" * (start - length), text
            length = start + _units(text)
        self.text = "".join(pieces)
        self._points = points_of_units(self.text)
        for sentence in found:
            for unit in sentence.units:
                start, end = self.offsets(unit)
                if self.text[start:end] != unit.text:
                    raise _wrong(unit, self.text[start:end])

    def offsets(self, unit: Unit) -> tuple[int, int]:
        """Start and end of a token in code points. Raises Fault beyond the text."""
        if not 0 <= unit.start <= unit.end <= self._length:
            raise _wrong(unit, "")
        if self._points is None:
            return unit.start, unit.end
        return self._points[unit.start], self._points[unit.end]

    @property
    def _length(self) -> int:
        return len(self.text) if self._points is None else len(self._points) - 1


def _placed(sentence: Sentence) -> tuple[str, int]:
    """The text of a sentence and where it starts, in UTF-16 units."""
    first, text = sentence.units[0], sentence.text
    at = text.find(first.text)
    if not text or at < 0:
        raise _wrong(first, text[:20])
    return text, first.start - _units(text[:at])


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _wrong(unit: Unit, found: str) -> Fault:
    return Fault(
        _("line {line}: the token {start}–{end} covers {found}, but the file says {said}").format(
            line=unit.line, start=unit.start, end=unit.end, found=show(found), said=show(unit.text)
        )
    )
