"""Pair predicted spans with gold spans where they differ: label, boundary, missed, spurious; find
mentions that are linked to a wrong antecedent.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace

from workbench.text.fields import WordTag
from workbench.text.mistakes import BOUNDARY, LABEL, MISSED, SPURIOUS, Mistake, loss_of
from workbench.text.spans import Span, highest_ends


def span_mistakes(
    gold: Sequence[Span], predicted: Sequence[Span], words: Sequence[WordTag]
) -> list[Mistake]:
    """The mistakes of one text, in text order. Spans of either side may overlap.

    Each span has at most one partner among those that overlap it: first of equal offsets, then of
    equal label, then of any; the longer overlap first. `words` are those that were tagged.
    """
    right = {_key(span) for span in gold} & {_key(span) for span in predicted}
    ours = sorted(span for span in gold if _key(span) not in right)
    theirs = sorted(span for span in predicted if _key(span) not in right)
    tagged = _Tagged(gold, words)
    left, mistakes = set(range(len(theirs))), []
    for partner, other in _partners(ours, theirs):
        mine = ours[partner]
        if other is None:
            mistakes.append(tagged.mistake(MISSED, mine, None))
            continue
        left.discard(other)
        kind = BOUNDARY if mine.label == theirs[other].label else LABEL
        mistakes.append(tagged.mistake(kind, mine, theirs[other]))
    mistakes += [tagged.mistake(SPURIOUS, None, theirs[at]) for at in left]
    return sorted(mistakes, key=lambda item: (item.place or (0, 0), item.kind))


MAX_QUOTE = 60  # characters of a mention that are quoted


def chain_mistakes(
    text: str, gold: Sequence[Sequence[Span]], predicted: Sequence[Sequence[Span]]
) -> list[Mistake]:
    """Mentions that one side lacks or that have other boundaries, and wrong links, in text order.

    A link is that of a mention which both sides have to the one before it in its predicted chain,
    or to none. It is wrong (LABEL) unless gold has both in one chain, or the mention is the first
    of its gold chain, too. `gold` and `predicted` of a mistake quote mentions, of a link the
    antecedents.
    """

    def quote(span: Span | None) -> str:
        return " ".join(text[span.start : span.end].split())[:MAX_QUOTE] if span else ""

    ours, theirs = (
        [replace(span, label="", chain=None) for chain in chains for span in chain]
        for chains in (gold, predicted)
    )
    mistakes = [
        replace(
            mistake,
            gold=quote(mistake.at and Span(*mistake.at, "")),
            predicted=quote(mistake.predicted_at and Span(*mistake.predicted_at, "")),
        )
        for mistake in span_mistakes(ours, theirs, ())
    ]
    before, chain_of = _antecedents(gold), {}
    for chain in gold:
        chain_of.update(dict.fromkeys(((span.start, span.end) for span in chain), chain[0]))
    for chain in predicted:
        for at, span in enumerate(chain):
            place, linked = (span.start, span.end), chain[at - 1] if at else None
            if place not in before:
                continue
            right = before[place]
            if linked is None and right is None:
                continue
            if linked is not None and chain_of.get((linked.start, linked.end)) is chain_of[place]:
                continue
            sure = span.score or 0.0
            quotes = quote(right), quote(linked)
            mistakes.append(Mistake(LABEL, *quotes, sure, loss_of(1 - sure), place, place))
    return sorted(mistakes, key=lambda item: (item.place or (0, 0), item.kind))


def _antecedents(chains: Sequence[Sequence[Span]]) -> dict[tuple[int, int], Span | None]:
    """The mention before each in its chain, by place; None for the first one."""
    return {
        (span.start, span.end): chain[at - 1] if at else None
        for chain in chains
        for at, span in enumerate(chain)
    }


def _key(span: Span) -> tuple[int, int, str]:
    return span.start, span.end, span.label


def _partners(ours: Sequence[Span], theirs: Sequence[Span]) -> list[tuple[int, int | None]]:
    """Every gold position with the position of its predicted partner."""
    ends, starts = highest_ends(theirs), [span.start for span in theirs]
    pairs = []
    for our, mine in enumerate(ours):
        for other in range(bisect_right(ends, mine.start), bisect_left(starts, mine.end)):
            span = theirs[other]
            shared = min(mine.end, span.end) - max(mine.start, span.start)
            if shared <= 0:
                continue
            same = (mine.start, mine.end) == (span.start, span.end)
            rank = 0 if same else 1 if mine.label == span.label else 2
            pairs.append((rank, -shared, our, other))
    partner: dict[int, int] = {}
    taken: set[int] = set()
    for _rank, _shared, pair, other in sorted(pairs):
        if pair not in partner and other not in taken:
            partner[pair] = other
            taken.add(other)
    return [(number, partner.get(number)) for number in range(len(ours))]


class _Tagged:
    """The tagged words of a text with their gold labels."""

    def __init__(self, gold: Sequence[Span], words: Sequence[WordTag]):
        self._gold = sorted(gold)
        self._ends = highest_ends(self._gold)
        self._words = sorted(words, key=lambda word: word.start)
        self._starts = [word.start for word in self._words]

    def mistake(self, kind: str, mine: Span | None, span: Span | None) -> Mistake:
        at = (mine.start, mine.end) if mine is not None else None
        predicted_at = (span.start, span.end) if span is not None else None
        start = min(pair[0] for pair in (at, predicted_at) if pair)
        end = max(pair[1] for pair in (at, predicted_at) if pair)
        wrong = [word for word in self._in(start, end) if word.label not in self._gold_at(word)]
        if span is not None and span.score is not None:
            confidence = span.score
        else:
            confidence = sum(word.score for word in wrong) / len(wrong) if wrong else 0.0
        loss = sum(loss_of(1 - word.score) for word in wrong) or loss_of(1 - confidence)
        labels = mine.label if mine else "", span.label if span else ""
        return Mistake(kind, *labels, confidence, loss, at, predicted_at)

    def _in(self, start: int, end: int) -> list[WordTag]:
        last = bisect_left(self._starts, end)
        first = bisect_left(self._starts, start)
        while first and self._words[first - 1].end > start:
            first -= 1
        return self._words[first:last]

    def _gold_at(self, word: WordTag) -> set[str | None]:
        """The labels of the gold spans over the word; None if there are none."""
        labels: set[str | None] = set()
        for span in self._gold[bisect_right(self._ends, word.start) :]:
            if span.start >= word.end:
                break
            if span.end > word.start:
                labels.add(span.label)
        return labels or {None}
