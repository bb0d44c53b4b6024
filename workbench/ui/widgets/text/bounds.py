"""Word, character and sentence boundaries of a displayed text. Positions are code points.

Uses the Unicode rules (UAX 29) of Qt in a window around the position, so that the cost does not
depend on the length of the text; for sentences those of `text.sentences`. If an import defined
tokens, these are the words.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from copy import copy

from PySide6.QtCore import QTextBoundaryFinder

from workbench.text.segment import has_spaceless, words
from workbench.text.sentences import sentences
from workbench.text.snap import GRAPHEME, OFF, SENTENCE, WORD
from workbench.ui.widgets.text.offsets import DisplayText, Utf16Map

_WINDOW = 400  # code points on each side
_SENTENCE_WINDOW = 4000
_ABBREVIATION = re.compile(
    r"(?<![^\W_])(?:[^\W\d_]\.){2,}(?![^\W_])|"
    r"(?<![^\W_])(?:[^\W\d_]\.)+[^\W\d_](?![^\W_])"
)
_APOSTROPHES = ("'", "\u2019")

Range = tuple[int, int]


class Bounds:
    """`tokens`: (start, end) offsets of the import, sorted; empty for none. `snaps_to`: one of
    `text.snap.SNAPS`.
    """

    def __init__(self, text: DisplayText, tokens: Sequence[Range] = (), *, snaps_to: str = WORD):
        self.text, self.snaps_to = text, snaps_to
        self._tokens = tuple(tokens)
        self._token_starts = [start for start, _ in self._tokens]
        self._token_ends = [end for _, end in self._tokens]
        self._last: tuple[Range, list[Range]] | None = None  # a window, and the words in it

    # ------------------------------------------------------------ words

    def word_at(self, position: int) -> Range:
        """The word at a caret: the one around or after it, else the one that ends here, else the
        next.

        Only words on the line are considered. Returns an empty range if the paragraph is blank.
        Where spans snap to sentences, the sentence.
        """
        if self.snaps_to == SENTENCE:
            return self.sentence_at(position)
        words, place = self._words(position), self.text.legal(position)
        for start, end in words:
            if start <= place < end:
                return start, end
        before = next((word for word in words if word[1] == place), None)
        after = next((word for word in words if word[0] > place), None)
        return before or after or (words[-1] if words else (place, place))

    def snap(self, start: int, end: int) -> Range:
        """Extend [start, end) to whole words, or what else spans snap to, without space at its
        ends.
        """
        if start >= end or self.snaps_to == OFF:
            return start, end
        head = [unit for unit in self._units(start) if unit[1] > start]
        tail = [unit for unit in self._units(end) if unit[0] < end]
        first = head[0][0] if head else start
        last = tail[-1][1] if tail else end
        return (first, last) if first < last else (start, end)

    def next_word(self, position: int) -> int:
        """The start of the next word, else the end of the paragraph, else the start of the next
        one.
        """
        place = self.text.legal(position)
        for start, _ in self._words(place):
            if start > place:
                return start
        paragraph = self.text.paragraph_at(place)
        if place < self.text.ends[paragraph]:
            return min(self.text.ends[paragraph], place + _WINDOW)
        return self.text.starts[paragraph + 1] if paragraph + 1 < len(self.text.starts) else place

    def previous_word(self, position: int) -> int:
        place = self.text.legal(position)
        for start, _ in reversed(self._words(place)):
            if start < place:
                return start
        paragraph = self.text.paragraph_at(place)
        if place > self.text.starts[paragraph]:
            return max(self.text.starts[paragraph], place - _WINDOW)
        return self.text.ends[paragraph - 1] if paragraph else 0

    def word_end_after(self, position: int) -> int:
        """The first word end after `position`, across paragraphs; `position` if there is none."""
        return self._step(
            position, lambda words: next((end for _, end in words if end > position), None), +1
        )

    def word_end_before(self, position: int) -> int:
        return self._step(
            position,
            lambda words: next((end for _, end in reversed(words) if end < position), None),
            -1,
        )

    def word_start_after(self, position: int) -> int:
        return self._step(
            position,
            lambda words: next((start for start, _ in words if start > position), None),
            +1,
        )

    def word_start_before(self, position: int) -> int:
        return self._step(
            position,
            lambda words: next((start for start, _ in reversed(words) if start < position), None),
            -1,
        )

    def _step(self, position: int, pick: Callable[[list[Range]], int | None], way: int) -> int:
        if (boundary := pick(self._units(position))) is not None:
            return boundary
        paragraph = self.text.paragraph_at(self.text.legal(position)) + way
        while 0 <= paragraph < len(self.text.starts):
            edge = self.text.starts[paragraph] if way > 0 else self.text.ends[paragraph]
            if (boundary := pick(self._units(edge))) is not None:
                return boundary
            paragraph += way
        return position

    def _words(self, position: int) -> list[Range]:
        """The words near a position, in its paragraph."""
        place = self.text.legal(position)
        paragraph = self.text.paragraph_at(place)
        low, high = self.text.starts[paragraph], self.text.ends[paragraph]
        if self._tokens:
            first = bisect_right(self._token_ends, max(low, place - _WINDOW))
            last = bisect_left(self._token_starts, min(high, place + _WINDOW))
            return [
                (max(start, low), min(end, high))
                for start, end in self._tokens[first:last]
                if start < end
            ]
        window = self._window(place, low, high, _WINDOW)
        if self._last is None or self._last[0] != window:
            segments = self._segments(*window, QTextBoundaryFinder.BoundaryType.Word)
            words = [word for segment in segments for word in self._divided(*segment)]
            self._last = window, self._abbreviated(words)
        return self._last[1]

    def _divided(self, start: int, end: int) -> list[Range]:
        """A segment; in scripts without spaces, where Qt takes whole clauses for a word, its
        letters. A possessive 's is a word of its own: names are labelled without it.
        """
        segment = self.text.shown[start:end]
        if segment[-2:-1] in _APOSTROPHES and segment[-1:] in "sS" and len(segment) > 2:
            return [*self._divided(start, end - 2), (end - 2, end)]
        if not has_spaceless(segment):
            return [(start, end)]
        return [(start + a, start + b) for a, b in words(segment)]

    def _abbreviated(self, words: list[Range]) -> list[Range]:
        """The words, with letters between full stops, such as U.S. or e.g., as one, which Qt
        divides.
        """
        if not words:
            return words
        low, high = words[0][0], words[-1][1]
        whole = {
            low + match.start(): low + match.end()
            for match in _ABBREVIATION.finditer(self.text.shown[low:high])
        }
        joined, until = [], low
        for start, end in words if whole else ():
            if start in whole:
                until = whole[start]
                joined.append((start, until))
            elif start >= until:
                joined.append((start, end))
        return joined or words

    def _window(self, place: int, low: int, high: int, size: int) -> Range:
        """[low, high) cut to about `size` on each side, at a space if possible."""
        text = self.text.shown
        if place - low > size:
            space = text.find(" ", place - size, place - size // 2)
            low = space if space >= 0 else place - size
        if high - place > size:
            space = text.rfind(" ", place + size // 2, place + size)
            high = space if space >= 0 else place + size
        return low, high

    def _segments(self, low: int, high: int, kind: QTextBoundaryFinder.BoundaryType) -> list[Range]:
        """The non-blank segments between two boundaries of `kind`."""
        text = self.text.shown[low:high]
        finder, units = QTextBoundaryFinder(kind, text), Utf16Map(text)
        segments, start = [], 0
        while (unit := finder.toNextBoundary()) != -1:
            end = units.to_point(unit)
            piece = text[start:end]
            if piece and not piece.isspace():
                segments.append((low + start, low + end))
            start = end
        return segments

    # ------------------------------------------------------------ sentences and characters

    def sentence_at(self, position: int) -> Range:
        """The sentence at a caret, without space at its ends; at most its paragraph."""
        place = self.text.legal(position)
        sentences = self._sentences(position)
        return next(
            (pair for pair in sentences if pair[0] <= place <= pair[1]),
            sentences[-1] if sentences else (place, place),
        )

    def _sentences(self, position: int) -> list[Range]:
        """The sentences near a position, in its paragraph."""
        low, high = self._near(position, _SENTENCE_WINDOW)
        return [(low + start, low + end) for start, end in sentences(self.text.text[low:high])]

    def _characters(self, position: int) -> list[Range]:
        low, high = self._near(position, _WINDOW)
        return self._segments(low, high, QTextBoundaryFinder.BoundaryType.Grapheme)

    def _code_points(self, position: int) -> list[Range]:
        low, high = self._near(position, _WINDOW)
        return [(at, at + 1) for at in range(low, high)]

    def _near(self, position: int, size: int) -> Range:
        place = self.text.legal(position)
        paragraph = self.text.paragraph_at(place)
        return self._window(place, self.text.starts[paragraph], self.text.ends[paragraph], size)

    # ------------------------------------------------------------ what spans snap to

    def of(self, snap: str) -> Bounds:
        """The boundaries of the same text for a layer that snaps to something else."""
        if snap == self.snaps_to:
            return self
        bounds = copy(self)
        bounds.snaps_to = snap
        return bounds

    def _units(self, position: int) -> list[Range]:
        """What spans snap to near a position, in its paragraph."""
        kinds = {
            WORD: self._words,
            GRAPHEME: self._characters,
            SENTENCE: self._sentences,
            OFF: self._code_points,
        }
        return kinds[self.snaps_to](position)
