"""Sentences, tokens and parts of tokens of a document, as WebAnno TSV 3 numbers them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from workbench.text.document import Document
from workbench.text.segment import tokens_of
from workbench.text.sentences import SENTENCE, units_of
from workbench.text.spans import Span

Piece = tuple[int, int, int]  # number of its token, start and end in code points
NONE = "_"  # a cell without an annotation
_CONTROLS = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", "\b": "\\b"}
_IN_TEXT = str.maketrans(_CONTROLS)
_IN_VALUES = str.maketrans(_CONTROLS | {sign: f"\\{sign}" for sign in "[]|_;*"})
_ARROW = re.compile("->")


def escaped(label: str) -> str:
    """A label as the value of a cell."""
    return _ARROW.sub(r"\\->", label.translate(_IN_VALUES))


@dataclass(frozen=True)
class ExportedSentence:
    """heading: the lines with its text; a line break in it begins a new one."""

    heading: list[str]
    pieces: list[Piece]


class TokenPieces:
    """The tokens of the first text of a document, with parts where spans begin or end in them.

    `of` is called for all spans first: the numbers of parts follow from their order.
    """

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self.tokens = _apart(tokens_of(document))
        self._starts = [start for start, _end in self.tokens]
        self._ends = [end for _start, end in self.tokens]
        self._units = _units(self._text)
        self._parts: dict[int, dict[Piece, None]] = {}  # token → its parts
        begin = (bisect_left(self._starts, start) for start, _end in units_of(document, SENTENCE))
        self._firsts = sorted({0, *(first for first in begin if first < len(self.tokens))})

    def of(self, span: Span) -> tuple[Piece, ...]:
        """The tokens that a span covers, with parts of its first and last one; () without any.

        An empty span is an empty part of the token at its place.
        """
        if span.start == span.end:
            first = bisect_left(self._ends, span.start)
            is_inside = first < len(self.tokens) and self._starts[first] <= span.start
            last = first + is_inside
        else:
            first = bisect_right(self._ends, span.start)
            last = bisect_left(self._starts, span.end)
        pieces = [
            (at, max(span.start, self._starts[at]), min(span.end, self._ends[at]))
            for at in range(first, last)
        ]
        for piece in pieces:
            if piece[1:] != self.tokens[piece[0]]:
                self._parts.setdefault(piece[0], {})[piece] = None
        return tuple(pieces)

    def sentences(self) -> Iterator[ExportedSentence]:
        """All sentences; text between two belongs to the first of them.

        Line breaks at their ends are left out, as readers put them between sentences. White space
        before the first token is, too: the text of a sentence begins with its first token.
        """
        text, begun = self._text, self._starts[0]
        for first, last in zip(self._firsts, [*self._firsts[1:], len(self.tokens)], strict=True):
            is_last = last == len(self.tokens)
            end = len(text) if is_last else self._starts[last]
            sentence_text = text[begun:end] if is_last else text[begun:end].rstrip("\n")
            pieces = [piece for at in range(first, last) for piece in self._all(at)]
            yield ExportedSentence(
                [f"#Text={_plain(line)}" for line in sentence_text.split("\n")], pieces
            )
            begun = end

    def id(self, piece: Piece) -> str:
        """`sentence-token`, or `sentence-token.part`."""
        at = piece[0]
        sentence = bisect_right(self._firsts, at)
        token = f"{sentence}-{at - self._firsts[sentence - 1] + 1}"
        part = self._all(at).index(piece)
        return f"{token}.{part}" if part else token

    def cells(self, piece: Piece) -> tuple[str, str, str]:
        """The id, the offsets in UTF-16 units, and the text of a token."""
        _at, start, end = piece
        places = f"{self._place(start)}-{self._place(end)}"
        return self.id(piece), places, _plain(self._text[start:end])

    def _all(self, at: int) -> list[Piece]:
        """A token and its parts in order, longer ones first."""
        parts = sorted(self._parts.get(at, ()), key=lambda part: (part[1], -part[2]))
        return [(at, *self.tokens[at]), *parts]

    def _place(self, at: int) -> int:
        return at if self._units is None else self._units[at]


def _plain(text: str) -> str:
    return text.translate(_IN_TEXT)


def _apart(tokens: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Without tokens that overlap an earlier one."""
    separate: list[tuple[int, int]] = []
    for start, end in tokens:
        if not separate or separate[-1][1] <= start:
            separate.append((start, end))
    return separate


def _units(text: str) -> list[int] | None:
    """The UTF-16 unit at each code point and at the end; None if both counts are equal."""
    if max(text, default="") <= "\uffff":
        return None
    return [0, *accumulate(2 if character > "\uffff" else 1 for character in text)]
