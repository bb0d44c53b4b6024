"""Scores of pairs of spans, from the states of tokens that stand for them. numpy only.

The network gives P · D numbers at each token, D for each of P roles that a token can have in a
pair. The scores of a pair are those of the sum of its P tokens, each in its role: the first layer
over their concatenated states, split into sums. With markers the roles are the marker of the first
span and that of the second, and the sum has the scores already; from one encoding of the text they
are the first and the last token of each span, and a hidden layer follows. Sources: Zhong and Chen
2021, section 3.3; Baldini Soares et al. 2019, Matching the Blanks, section 3.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from workbench.runtime import marked
from workbench.runtime.decoding import softmax
from workbench.runtime.inputs import EncodedInput, Prepared, Preparer, numbered
from workbench.text.document import TEXT, Document
from workbench.text.relations import Relation
from workbench.text.segment import tokens_of
from workbench.text.spans import Span

MARKERS, ENCODED = "markers", "spans"  # how a model reads a pair
ROLES = {MARKERS: 2, ENCODED: 4}
LEAST = 0.01  # probability from which a relation that is not predicted is kept

Pair = tuple[Span, Span]
Placed = tuple[Pair, int, tuple[int, ...]]  # with the position of its input, and its tokens


@dataclass(frozen=True, eq=False)
class PairScorer:
    """What follows the sum; weight (C, D) and bias (C,) float32, with C = 1 + L outputs, of which
    the first one is no relation; None with markers, where D = C.
    """

    weight: np.ndarray | None = None
    bias: np.ndarray | None = None

    @classmethod
    def from_json(cls, raw: Mapping[str, Any] | None) -> Self:
        if not raw:
            return cls()
        return cls(*(np.array(raw[name], np.float32) for name in ("weight", "bias")))

    def to_json(self) -> dict[str, Any]:
        if self.weight is None or self.bias is None:
            return {}
        return {"weight": self.weight.tolist(), "bias": self.bias.tolist()}

    def shares(self, states: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """states (T, P · D) of an input, positions int (K, P) of its pairs → (K, C)."""
        roles = positions.shape[1]
        parts = states.reshape(len(states), roles, -1)  # (T, P, D)
        sums = parts[positions, np.arange(roles)].sum(1)  # (K, D)
        if self.weight is not None and self.bias is not None:
            sums = np.maximum(sums, 0) @ self.weight.T + self.bias
        shares: np.ndarray = softmax(sums)
        return shares


def pairs(document: Document, longest: int) -> list[Pair]:
    """The ordered pairs of different input spans with at most `longest` words between them."""
    spans = list(dict.fromkeys(_plain(span) for span in document.input_spans if _is_in(span)))
    ends = np.array([end for _start, end in tokens_of(document)])
    words = [
        (int(np.searchsorted(ends, span.start, "right")), int(np.searchsorted(ends, span.end - 1)))
        for span in spans
    ]
    return [
        (first, second)
        for at, first in enumerate(spans)
        for other, second in enumerate(spans)
        if (first.start, first.end) != (second.start, second.end)
        and max(words[at][0], words[other][0]) - min(words[at][1], words[other][1]) - 1 <= longest
    ]


def _plain(span: Span) -> Span:
    return Span(span.start, span.end, span.label)


def _is_in(span: Span) -> bool:
    return span.field == TEXT and span.start < span.end


def prepare(
    preparer: Preparer,
    documents: Sequence[Document],
    max_length: int,
    *,
    reading: str,
    longest: int,
    context: int,
) -> Prepared:
    """With markers one input for each pair of a document, see `runtime.marked`; else its windows.

    A document without a pair has one input, its beginning.
    """
    if reading == ENCODED:
        return preparer.windows(documents, max_length)
    owners, parts = list[tuple[int, int]](), list[marked.MarkedText]()
    for number, document in enumerate(documents):
        for place, pair in enumerate(pairs(document, longest)):
            owners.append((number, place))
            parts.append(marked.marked(document, pair, context))
        if not owners or owners[-1][0] != number:
            owners.append((number, 0))
            parts.append(marked.marked(document, [Span(0, 0, "")], context))
    prepared = preparer.whole([part.document for part in parts], max_length)
    prepared.inputs = [
        marked.with_marks(encoded, part.marks)
        for encoded, part in zip(prepared.inputs, parts, strict=True)
    ]
    return numbered(prepared, documents, owners)


def positions(prepared: Prepared, document: int, *, reading: str, longest: int) -> list[Placed]:
    """The pairs of a document with their tokens, in the order of the roles.

    Left out are pairs whose spans are in no window together.
    """
    every, inputs = pairs(prepared.documents[document], longest), prepared.of(document)
    if reading == MARKERS:
        return [
            (pair, item, tuple(marked.mark_position(prepared.inputs[item], n) for n in (0, 1)))
            for pair, item in zip(every, inputs, strict=False)
        ]
    windows = [_Window(prepared.inputs[item]) for item in inputs]
    placed = []
    for pair in every:
        rooms = [window.room(pair) for window in windows]
        best = int(np.argmax(rooms))
        if rooms[best] >= 0:
            placed.append((pair, inputs[best], windows[best].tokens(pair)))
    return placed


def scores(
    scorer: PairScorer, logits: Sequence[Mapping[str, np.ndarray]], placed: Sequence[Placed]
) -> list[tuple[Pair, np.ndarray]]:
    """Pairs with their probabilities (C,). logits: "parts" (T, P · D) of every input."""
    by_input: dict[int, list[Placed]] = {}
    for entry in placed:
        by_input.setdefault(entry[1], []).append(entry)
    scored = []
    for item, entries in by_input.items():
        tokens = np.array([tokens for _pair, _item, tokens in entries])
        shares = scorer.shares(logits[item]["parts"], tokens)
        scored += [(pair, row) for (pair, _item, _t), row in zip(entries, shares, strict=True)]
    return scored


class _Window:
    """Where the spans of pairs are among the tokens of an input."""

    def __init__(self, encoded: EncodedInput):
        inside = (encoded.text == 0) & (encoded.offsets[:, 1] > encoded.offsets[:, 0])
        self._tokens = np.flatnonzero(inside)
        self._starts, self._ends = encoded.offsets[self._tokens].T

    def room(self, pair: Pair) -> int:
        """Characters between the pair and the nearer end of the window, -1 if it does not fit."""
        if not len(self._tokens):
            return -1
        start, end = min(span.start for span in pair), max(span.end for span in pair)
        return max(-1, int(min(start - self._starts[0], self._ends[-1] - end)))

    def tokens(self, pair: Pair) -> tuple[int, ...]:
        """The first and the last token of each span."""
        places = []
        for span in pair:
            first = int(np.searchsorted(self._ends, span.start, "right"))
            last = max(first, int(np.searchsorted(self._starts, span.end)) - 1)
            most = len(self._tokens) - 1
            places += [self._tokens[min(first, most)], self._tokens[min(last, most)]]
        return tuple(map(int, places))


def decode(
    scored: Iterable[tuple[Pair, np.ndarray]], labels: Sequence[str], undirected: Sequence[str]
) -> tuple[tuple[Relation, ...], tuple[Relation, ...]]:
    """The relations of a text, and those that were not predicted, by place in the text.

    scored: pairs with their probabilities (C,). A pair has the most probable label, if no relation
    is less probable. A label without a direction is predicted once for a pair of spans, in the
    order of the text, with the higher probability.
    """
    chosen, others = dict[object, Relation](), dict[object, Relation]()
    for (first, second), shares in scored:
        best = int(shares[1:].argmax())
        label, score = labels[best], float(shares[1 + best])
        is_directed = label not in undirected
        if not is_directed and (second.start, second.end) < (first.start, first.end):
            first, second = second, first
        relation = Relation(label, first, second, score, directed=is_directed)
        rows = chosen if score > shares[0] else others
        before = rows.get(relation.place)
        if score >= LEAST and (before is None or score > (before.score or 0.0)):
            rows[relation.place] = relation
    left = (relation for place, relation in others.items() if place not in chosen)
    return tuple(sorted(chosen.values(), key=_order)), tuple(sorted(left, key=_order))


def _order(relation: Relation) -> tuple[int, ...]:
    first, second = relation.from_span, relation.to_span
    return first.start, first.end, second.start, second.end
