"""Chains of coreferent mentions: candidates are ranked, and each has its best antecedent or none.

numpy only, shared by training, hosts and exported models. Candidates and their representations g
are those of `runtime.candidates`; the most probable mentions are ranked. The score of an antecedent
j of a mention i is

    log p(i) + log p(j) + gᵢ·A·gⱼ + u·relu(gᵢ·B + gⱼ·C + (gᵢ∘gⱼ)·D + distance + same words)

with p the probability of being a mention, and 0 of having no antecedent. The last term is computed
for the best ANTECEDENTS by the others. Sources: Lee et al. 2017, End-to-end Neural Coreference
Resolution; Lee et al. 2018, Higher-order Coreference Resolution with Coarse-to-fine Inference.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from workbench.runtime import decoding
from workbench.runtime.candidates import SpanCandidate, SpanScorer, WordStates, compatible
from workbench.text.fields import Chains, Prediction
from workbench.text.spans import NESTED, Span

ANTECEDENTS = 50  # of each mention that are scored in full
# The least distance in words of each bucket; wider and wider, as in Lee et al. 2017.
DISTANCES = (0, 2, 3, 4, 5, 8, 16, 32, 64, 128, 256, 512)
_PRIME, _FORMS = 1_000_003, (1 << 62) - 1  # of the numbers of words


@dataclass(frozen=True, eq=False)
class LinkScorer:
    """The layers on top of the representations of mentions; all float32.

    coarse, first, second, product (D, D): A, B, C, D of the module. distances (N, D): of DISTANCES,
    with the bias. same (D,): added if both mentions have the same words. output (D,): u.
    """

    coarse: np.ndarray
    first: np.ndarray
    second: np.ndarray
    product: np.ndarray
    distances: np.ndarray
    same: np.ndarray
    output: np.ndarray

    def __call__(
        self, mentions: np.ndarray, chances: np.ndarray, starts: np.ndarray, numbers: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(positions (M,) of antecedents, their scores (M,)) of each of K mentions in text order.

        mentions (K, D); chances (K,): log probabilities of being a mention; starts (K,): their
        first words; numbers (K,): of `forms`.
        """
        projected, second = mentions @ self.coarse, mentions @ self.second
        for at, mention in enumerate(mentions):
            coarse = mentions[:at] @ projected[at] + chances[at] + chances[:at]
            best = top(coarse, ANTECEDENTS)
            hidden = (
                mention @ self.first
                + second[best]
                + (mention * mentions[best]) @ self.product
                + self.distances[bucket(starts[at] - starts[best])]
                + (numbers[best] == numbers[at])[:, None] * self.same
            )
            yield best, coarse[best] + np.maximum(hidden, 0) @ self.output


@dataclass(frozen=True, eq=False)
class ChainScorer:
    """mentions: scores the labels of candidates, without `none`. links: their antecedents.
    per_word: candidates that are ranked, per word of the text.
    """

    mentions: SpanScorer
    links: LinkScorer
    per_word: float

    @classmethod
    def from_json(cls, raw: Mapping[str, Any], labels: int) -> Self:
        """Raises ValueError if the sizes do not match each other or the number of labels."""
        mentions = SpanScorer.from_json(raw["mentions"], labels)
        links = LinkScorer(**{item.name: _array(raw[item.name]) for item in fields(LinkScorer)})
        hidden = mentions.widths.shape[1]
        sizes = {item.name: getattr(links, item.name).shape[-1] for item in fields(LinkScorer)}
        if set(sizes.values()) != {hidden}:
            raise ValueError(f"weights of links {sizes} for {hidden} units")
        return cls(mentions, links, float(raw["per_word"]))

    def to_json(self) -> dict[str, Any]:
        """The weights of links as bytes in Base64, with their shapes."""
        packed = {item.name: _packed(getattr(self.links, item.name)) for item in fields(LinkScorer)}
        return {"mentions": self.mentions.to_json(), **packed, "per_word": self.per_word}


def forms(words: Sequence[str], longest: int) -> np.ndarray:
    """int64 (P, W): a number of the words of each candidate, equal for equal words in any case.

    Numbers of candidates beyond the last word are meaningless.
    """
    codes = np.array([zlib.crc32(word.casefold().encode()) for word in words], np.int64)
    numbers = np.zeros((len(words), longest), np.int64)
    before = np.zeros_like(codes)
    for width in range(min(longest, len(words))):
        with np.errstate(over="ignore"):
            before = (before * _PRIME + np.roll(codes, -width)) & _FORMS
        numbers[:, width] = before
    return numbers


def bucket(distances: np.ndarray) -> np.ndarray:
    """The position in DISTANCES of each distance in words."""
    return np.searchsorted(np.array(DISTANCES), distances, side="right") - 1


def top(scores: np.ndarray, count: int) -> np.ndarray:
    """Positions of the highest scores (N,), ascending, at most `count`."""
    if len(scores) <= count:
        return np.arange(len(scores))
    return np.sort(np.argpartition(-scores, count)[:count])


def count_ranked(words: int, per_word: float) -> int:
    """How many candidates of a text are ranked."""
    return max(1, round(per_word * words))


def decode(
    scorer: ChainScorer, states: WordStates, words: Sequence[str], *, singletons: bool
) -> list[list[SpanCandidate]]:
    """The chains of a text, each in text order, by their first mention.

    words: their texts. singletons: mentions that are linked to none are chains of one, if they are
    more probable than not. The score of a mention is its probability times that of its antecedent,
    or of having none.
    """
    if not words:
        return []
    mentions = _ranked(scorer, states)
    first = np.array([item.first for item in mentions])
    widths = np.array([item.last for item in mentions]) - first
    chances = -np.logaddexp(0.0, -np.array([item.score for item in mentions]))
    units = np.concatenate(
        [
            block[first[rows] - begin, widths[rows]]
            for begin, block, _inside in scorer.mentions.units(states)
            for rows in [(first >= begin) & (first < begin + len(block))]
        ]
    )
    numbers = forms(words, scorer.mentions.longest)[first, widths]
    chains: list[list[SpanCandidate]] = []
    chain_of: list[int] = []
    for item, chance, (best, scores) in zip(
        mentions, chances, scorer.links(units, chances, first, numbers), strict=True
    ):
        shares = decoding.softmax(np.append(scores, 0.0))
        chosen = int(shares.argmax())
        if chosen == len(best):
            chain_of.append(len(chains))
            chains.append([])
        else:
            chain_of.append(chain_of[best[chosen]])
        sure = float(np.exp(chance) * shares[chosen])
        chains[chain_of[-1]].append(SpanCandidate(item.first, item.last, item.label, sure))
    alone = {(item.first, item.last) for item in mentions if singletons and item.score > 0}
    return [chain for chain in chains if len(chain) > 1 or (chain[0].first, chain[0].last) in alone]


def prediction(
    offsets: Sequence[tuple[int, int]],
    chains: Sequence[Sequence[SpanCandidate]],
    labels: Sequence[str],
) -> Prediction:
    """offsets: (start, end) of the words that the mentions name."""
    spans = [
        Span(
            offsets[item.first][0],
            offsets[item.last][1],
            labels[item.label],
            score=item.score,
            chain=number,
        )
        for number, chain in enumerate(chains, 1)
        for item in chain
    ]
    return Prediction((Chains(tuple(sorted(spans, key=lambda span: (span.start, -span.end)))),))


def _ranked(scorer: ChainScorer, states: WordStates) -> list[SpanCandidate]:
    """The most probable candidates that do not cross a better one, in text order; their score is
    the log odds of being a mention.
    """
    rows, count = [], count_ranked(len(states), scorer.per_word)
    for begin, units, inside in scorer.mentions.units(states):
        logits = units @ scorer.mentions.weight.T + scorer.mentions.bias  # (N, W, L)
        scores, labels = np.logaddexp.reduce(logits, axis=-1)[inside], logits.argmax(-1)[inside]
        first, more = np.nonzero(inside)
        rows.append(np.stack([first + begin, first + begin + more, labels, scores], axis=1))
    table = np.concatenate(rows).astype(np.float64)
    candidates = [
        SpanCandidate(int(first), int(last), int(label), float(score))
        for first, last, label, score in table[top(table[:, 3], 2 * count)].tolist()
    ]
    chosen = compatible(candidates, NESTED)[:count]
    return sorted(chosen, key=lambda item: (item.first, item.last))


def _packed(array: np.ndarray) -> dict[str, Any]:
    values = np.ascontiguousarray(array, "<f4").tobytes()
    return {"shape": list(array.shape), "base64": base64.b64encode(values).decode()}


def _array(raw: Mapping[str, Any]) -> np.ndarray:
    """Raises ValueError if the bytes do not have the shape."""
    values = np.frombuffer(base64.b64decode(raw["base64"]), "<f4")
    return values.reshape(raw["shape"]).astype(np.float32)
