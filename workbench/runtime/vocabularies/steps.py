"""WordPiece step by step: how merges are chosen, and how a word is divided. No library.

Two rules choose the next pair to merge: its count, as in BPE (Sennrich et al. 2016), and the score
f(ab) / (f(a) · f(b)), which WordPiece is taught with (Schuster and Nakajima 2012 maximize the
likelihood of the text).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

COUNT, SCORE = "count", "score"
PREFIX = "##"  # of a token that continues a word
MAX_WORD_CHARS = 100  # characters; a longer word is unknown, as in BERT's tokenizer

Pair = tuple[str, str]


@dataclass(frozen=True)
class Merge:
    """A merge of two adjacent tokens, with the counts that it was chosen by."""

    first: str
    second: str
    merged: str
    count: int
    first_count: int
    second_count: int

    @property
    def score(self) -> float:
        return self.count / (self.first_count * self.second_count)

    def to_json(self) -> dict[str, object]:
        return {**asdict(self), "score": self.score}


def joined(first: str, second: str) -> str:
    return first + second.removeprefix(PREFIX)


class Learner:
    """Learns merges from counts of words; each word starts as characters, all but the first with
    "##".
    """

    def __init__(self, words: Mapping[str, int], rule: str = SCORE):
        self.rule = rule
        self._words = [[word[0], *(PREFIX + text for text in word[1:])] for word in words if word]
        self._weights = [count for word, count in words.items() if word]
        self.units: Counter[str] = Counter()
        self.pairs: Counter[Pair] = Counter()
        self._places: dict[Pair, set[int]] = {}  # pair → numbers of the words that may have it
        for number in range(len(self._words)):
            self._add(number, 1)

    def _add(self, number: int, sign: int) -> None:
        units, weight = self._words[number], sign * self._weights[number]
        for unit in units:
            self.units[unit] += weight
        for pair in zip(units, units[1:], strict=False):
            self.pairs[pair] += weight
            if sign > 0:
                self._places.setdefault(pair, set()).add(number)

    def candidates(self, most: int) -> list[Merge]:
        """The best pairs, best first."""
        pairs = sorted(self._live(), key=self._value, reverse=True)[:most]
        return [self._merge(pair) for pair in pairs]

    def next(self) -> Merge | None:
        """Merge the best pair everywhere; None if no word has two tokens."""
        best = max(self._live(), key=self._value, default=None)
        if best is None:
            return None
        merge = self._merge(best)
        for number in sorted(self._places.pop(best)):
            self._add(number, -1)
            self._words[number] = _merged(self._words[number], best, merge.merged)
            self._add(number, 1)
        self.pairs += Counter()  # drops what no longer occurs
        return merge

    def _live(self) -> Iterator[Pair]:
        return (pair for pair, count in self.pairs.items() if count > 0)

    def _value(self, pair: Pair) -> tuple[float, int, Pair]:
        """Ties go to the more frequent pair, then to the later one in the alphabet."""
        count = self.pairs[pair]
        score = count / (self.units[pair[0]] * self.units[pair[1]])
        return (score if self.rule == SCORE else float(count), count, pair)

    def _merge(self, pair: Pair) -> Merge:
        first, second = pair
        return Merge(
            *(first, second, joined(first, second)),
            *(self.pairs[pair], self.units[first], self.units[second]),
        )


def _merged(units: Sequence[str], pair: Pair, merged: str) -> list[str]:
    units_after: list[str] = []
    at = 0
    while at < len(units):
        if tuple(units[at : at + 2]) == pair:
            units_after.append(merged)
            at += 2
        else:
            units_after.append(units[at])
            at += 1
    return units_after


@dataclass(frozen=True)
class MatchStep:
    """One longest-match step: the candidates that were tried at a position, longest first.

    found: the last of `tried`, or "" if none is in the vocabulary: the whole word is unknown.
    """

    position: int
    tried: tuple[str, ...]
    found: str


def longest_match(word: str, vocabulary: Mapping[str, int]) -> tuple[MatchStep, ...]:
    """The steps of WordPiece on one word that is already normalized.

    The last step has no `found` if the word is unknown. Source: BERT's WordpieceTokenizer.
    """
    if len(word) > MAX_WORD_CHARS:
        return (MatchStep(0, (), ""),)
    steps = []
    start = 0
    while start < len(word):
        tried = []
        for end in range(len(word), start, -1):
            tried.append((PREFIX if start else "") + word[start:end])
            if tried[-1] in vocabulary:
                break
        is_known = tried[-1] in vocabulary
        steps.append(MatchStep(start, tuple(tried), tried[-1] if is_known else ""))
        if not is_known:
            break
        start += len(tried[-1]) - (len(PREFIX) if start else 0)
    return tuple(steps)
