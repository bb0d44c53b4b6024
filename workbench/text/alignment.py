"""Characters ↔ tokens: which tokens a span covers, and what tags cannot represent."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.text import schemes
from workbench.text.document import TEXT, Document
from workbench.text.schemes import TokenSpan
from workbench.text.segment import words
from workbench.text.spans import Span, flatten

Borders = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Audit:
    """Counts of spans that tags cannot represent.

    crowded: shared a token with a longer span. shifted: moved to token boundaries. lost: covered no
    token.
    """

    crowded: int = 0
    shifted: int = 0
    lost: int = 0

    def __add__(self, other: Audit) -> Audit:
        return Audit(
            self.crowded + other.crowded, self.shifted + other.shifted, self.lost + other.lost
        )


def token_range(borders: Borders, start: int, end: int) -> tuple[int, int] | None:
    """Tokens [first, last) that overlap [start, end), None if there is none. Borders are sorted."""
    first = bisect_right([border[1] for border in borders], start)
    last = bisect_left([border[0] for border in borders], end)
    return (first, last) if first < last else None


def to_tokens(borders: Borders, spans: Iterable[Span]) -> tuple[tuple[TokenSpan, ...], Audit]:
    """Flat spans of tokens, in order.

    Of overlapping spans the longest is kept, the earliest on a tie.
    """
    flat, left_out = flatten(spans)
    ends, starts = [border[1] for border in borders], [border[0] for border in borders]
    found: list[TokenSpan] = []
    shifted = lost = 0
    used_until = 0
    for span in flat:
        first, last = max(bisect_right(ends, span.start), used_until), bisect_left(starts, span.end)
        if first >= last:
            lost += 1
            continue
        shifted += borders[first][0] != span.start or borders[last - 1][1] != span.end
        found.append(TokenSpan(first, last, span.label))
        used_until = last
    return tuple(found), Audit(left_out, shifted, lost)


def tags(borders: Borders, spans: Iterable[Span], scheme: str = "IOB2") -> tuple[list[str], Audit]:
    """A tag for each token."""
    found, audit = to_tokens(borders, spans)
    return schemes.tags(found, len(borders), scheme), audit


def token_style(documents: Iterable[Document]) -> dict[str, Any] | None:
    """How imported tokens compare with the words of text.segment; None without imported tokens.

    "documents": number with tokens. "of": number of all documents. "alike": share of their tokens
    with the same boundaries as words of text.segment.

    A tagger learns a tag for each token; for raw text it predicts tags of text.segment's words.
    """
    given = alike = tokens = total = 0
    for item in documents:
        total += 1
        if borders := {
            (start, end) for start, end in item.tokens.get(TEXT, ()) if item.text[start:end].strip()
        }:
            given, tokens, alike = (
                given + 1,
                tokens + len(borders),
                alike + len(borders & set(words(item.text))),
            )
    return {"documents": given, "of": total, "alike": alike / tokens} if given else None
