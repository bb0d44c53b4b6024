"""Characters ↔ tokens: which tokens a span covers, and what tags cannot represent."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base import deprecation
from workbench.text import schemes
from workbench.text.document import TEXT, Document
from workbench.text.schemes import TokenSpan
from workbench.text.segment import words
from workbench.text.spans import Span, flatten

Offsets = Sequence[tuple[int, int]]

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, Borders="Offsets")


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


@deprecation.renamed(borders="offsets")
def token_range(offsets: Offsets, start: int, end: int) -> tuple[int, int] | None:
    """Tokens [first, last) that overlap [start, end), None if there is none. Offsets are sorted."""
    first = bisect_right([pair[1] for pair in offsets], start)
    last = bisect_left([pair[0] for pair in offsets], end)
    return (first, last) if first < last else None


@deprecation.renamed(borders="offsets")
def to_tokens(offsets: Offsets, spans: Iterable[Span]) -> tuple[tuple[TokenSpan, ...], Audit]:
    """Flat spans of tokens, in order.

    Of overlapping spans the longest is kept, the earliest on a tie.
    """
    flat, left_out = flatten(spans)
    ends, starts = [pair[1] for pair in offsets], [pair[0] for pair in offsets]
    token_spans: list[TokenSpan] = []
    shifted = lost = 0
    used_until = 0
    for span in flat:
        first, last = max(bisect_right(ends, span.start), used_until), bisect_left(starts, span.end)
        if first >= last:
            lost += 1
            continue
        shifted += offsets[first][0] != span.start or offsets[last - 1][1] != span.end
        token_spans.append(TokenSpan(first, last, span.label))
        used_until = last
    return tuple(token_spans), Audit(left_out, shifted, lost)


@deprecation.renamed(borders="offsets")
def tags(offsets: Offsets, spans: Iterable[Span], scheme: str = "IOB2") -> tuple[list[str], Audit]:
    """A tag for each token."""
    token_spans, audit = to_tokens(offsets, spans)
    return schemes.tags(token_spans, len(offsets), scheme), audit


def token_style(documents: Iterable[Document]) -> dict[str, Any] | None:
    """How imported tokens compare with the words of text.segment; None without imported tokens.

    "documents": number with tokens. "of": number of all documents. "alike": share of their tokens
    with the same boundaries as words of text.segment.

    A tagger learns a tag for each token; for raw text it predicts tags of text.segment's words.
    """
    tokenized = alike = tokens = total = 0
    for item in documents:
        total += 1
        if offsets := {
            (start, end) for start, end in item.tokens.get(TEXT, ()) if item.text[start:end].strip()
        }:
            tokenized, tokens, alike = (
                tokenized + 1,
                tokens + len(offsets),
                alike + len(offsets & set(words(item.text))),
            )
    return {"documents": tokenized, "of": total, "alike": alike / tokens} if tokenized else None
