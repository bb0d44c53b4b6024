"""Texts with markers around spans, as models of relations and of arguments read them.

numpy only, shared by training, hosts and exported models. A span and its label are written into the
text, `@ * PER * Ada @ was born in # ^ LOC ^ London #`: the typed entity markers (punct) of Zhou and
Chen 2022, An Improved Baseline for Sentence-level Relation Extraction, section 3.1. They are made
of ordinary tokens, so that every vocabulary has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.runtime.inputs import EncodedInput
from workbench.text.alignment import token_range
from workbench.text.document import TEXT, Document
from workbench.text.segment import tokens_of
from workbench.text.spans import Span

MARKS = "marks"  # array int32 (T,): bits of the markers whose first character a token has
SIGNS = (("@", "*"), ("#", "^"))  # of the first and the second span: around it, around its label


@dataclass(frozen=True)
class MarkedText:
    """A part of a text with markers.

    marks: where the marker of each span begins. words: (start, end) of the words in the part, and
    of the same words in the text that it was made of; markers are no words of it.
    """

    document: Document
    marks: tuple[int, ...]
    words: tuple[tuple[int, int], ...]
    sources: tuple[tuple[int, int], ...]


def marked(document: Document, spans: Sequence[Span], context: int) -> MarkedText:
    """The part of a text with one or two spans, and at most `context` words before and after."""
    words, text = tokens_of(document), document.text
    start, end = min(span.start for span in spans), max(span.end for span in spans)
    first, last = token_range(words, start, end) or (0, len(words))
    low = words[max(0, first - context)][0] if words else 0
    high = words[min(len(words), last + context) - 1][1] if words else len(text)
    low, high = min(low, start), max(high, end)
    written, at = _Written(), low
    marks = [0] * len(spans)
    chunks = list[tuple[int, int, int]]()  # start and end in the text, start in the part
    for place, number, is_open in _insertions(spans):
        chunks.append((at, place, written.length))
        written.add(text[at:place])
        at, (outer, inner), label = place, SIGNS[number], spans[number].label
        if is_open:
            marks[number] = written.length
            for sign in (outer, *([inner, *label.split(), inner] if label else ())):
                written.add_sign(sign)
                written.add(" ")
        else:
            written.add(" ")
            written.add_sign(outer)
    chunks.append((at, high, written.length))
    written.add(text[at:high])
    places, sources = _moved(words, chunks)
    tokens = {TEXT: tuple(sorted((*written.signs, *places)))}
    part = Document(document.key, ((TEXT, written.text),), tokens=tokens)
    return MarkedText(part, tuple(marks), tuple(places), tuple(sources))


class _Written:
    """A text as it is put together. signs: (start, end) of the tokens of markers."""

    def __init__(self) -> None:
        self._pieces, self.length = list[str](), 0
        self.signs = list[tuple[int, int]]()

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, piece: str) -> None:
        self._pieces.append(piece)
        self.length += len(piece)

    def add_sign(self, sign: str) -> None:
        self.signs.append((self.length, self.length + len(sign)))
        self.add(sign)


def _insertions(spans: Sequence[Span]) -> list[tuple[int, int, bool]]:
    """(place in the text, number of the span, whether it begins), in order: at one place the inner
    span ends first, and the outer one begins first.
    """
    ends = [((span.end, 0, -span.start), (span.end, at, False)) for at, span in enumerate(spans)]
    starts = [((span.start, 1, -span.end), (span.start, at, True)) for at, span in enumerate(spans)]
    return [insertion for _order, insertion in sorted([*ends, *starts])]


def _moved(
    words: Sequence[tuple[int, int]], chunks: Sequence[tuple[int, int, int]]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The words in the part and in the text; of a word with a marker inside, each piece is one."""
    places, sources = list[tuple[int, int]](), list[tuple[int, int]]()
    for begin, stop, new in chunks:
        inside = token_range(words, begin, stop) if begin < stop else None
        for start, end in words[slice(*inside)] if inside else ():
            cut = max(start, begin), min(end, stop)
            if cut[0] < cut[1]:
                places.append((cut[0] - begin + new, cut[1] - begin + new))
                sources.append(cut)
    return places, sources


def with_marks(encoded: EncodedInput, marks: Sequence[int]) -> EncodedInput:
    """The input with the array MARKS: bit n is set at the token that the marker n begins with."""
    array = np.zeros(len(encoded), np.int32)
    for number, place in enumerate(marks):
        array[token_at(encoded, place)] |= 1 << number
    return replace(encoded, arrays={**encoded.arrays, MARKS: array})


def token_at(encoded: EncodedInput, place: int) -> int:
    """The position of the token of the first text with a character; 0 if it was truncated."""
    starts, ends = encoded.offsets[:, 0], encoded.offsets[:, 1]
    tokens = np.flatnonzero((encoded.text == 0) & (starts <= place) & (place < ends))
    return int(tokens[0]) if len(tokens) else 0


def mark_position(encoded: EncodedInput, number: int) -> int:
    """The position of the token that a marker begins with."""
    return int(np.flatnonzero(encoded.arrays[MARKS] & (1 << number))[0])
