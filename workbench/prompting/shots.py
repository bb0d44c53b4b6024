"""Labelled examples for a prompt, selected from the training split for each document.

A document is never shown itself, nor a text that is equal or similar to it. numpy only.

Source of "mmr": Carbonell and Goldstein 1998, "The use of MMR, diversity-based reranking for
reordering documents and producing summaries".
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from workbench.prompting.base import Example
from workbench.prompting.spec import (
    BALANCED,
    BY_VECTORS,
    MMR,
    NEAREST_BALANCED,
    NEAREST_LAST,
    PINNED,
    RANDOM,
    SHUFFLED,
    UNCERTAIN,
)
from workbench.text.similar.near_duplicates import SIMILARITY, Shingles, jaccard

OF_LABEL = "of-label"  # a reason besides the methods: the best one of a label
CANDIDATES = 256  # most similar ones that "mmr" chooses from: R of the source
MAX_SHINGLES = 20_000  # texts whose shingles are remembered


@dataclass(frozen=True, slots=True)
class Shot:
    """A training document that can be shown as an example, or one question about it."""

    document_id: int
    text_hash: str
    example: Example

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it is an example of; the answer itself if it has none."""
        example = self.example
        if example.spans:
            return tuple(dict.fromkeys(label for _start, _end, label in example.spans))
        return example.labels or (example.label,)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A selected example and why.

    reason: the method, or OF_LABEL. value: the entropy for "uncertain", the marginal relevance for
    "mmr", the place (1, 2, …) among those of its label for "nearest-balanced". similarity: cosine
    of its text and that of the document in [-1, 1], None if they were not compared.
    """

    shot: Shot
    reason: str
    value: float | None = None
    similarity: float | None = None


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors of documents: rows float (N, W) of length 1, and the row of each document id."""

    rows: np.ndarray
    places: Mapping[int, int]

    def of(self, ids: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        """float32 (K, W), zeros for documents without a row, and whether each has one (K,)."""
        places = np.array([self.places.get(id, -1) for id in ids], int)
        rows = self.rows[np.maximum(places, 0)].astype(np.float32)
        rows[places < 0] = 0.0
        return rows, places >= 0

    def get(self, id: int | None) -> np.ndarray | None:
        """float32 (W,)."""
        at = self.places.get(id) if id is not None else None
        return None if at is None else self.rows[at].astype(np.float32)


class Shots:
    """Selects examples from the pool of all training documents.

    order: one of `spec.SELECTIONS`. Random orders are those of a seed, so that it gives the same
    examples for all prompts, as far as possible. every_label: each label occurs, if there is room.
    pinned: ids in order. entropies: document id → uncertainty in nats. vectors: of the pool and of
    the documents; one without a vector gets random examples. diversity: weight in [0, 1] of the
    difference from earlier examples, 1 - λ of the source.
    """

    def __init__(
        self,
        pool: Sequence[Shot],
        *,
        order: str = BALANCED,
        seed: int = 1,
        every_label: bool = False,
        pinned: Sequence[int] = (),
        entropies: Mapping[int, float] | None = None,
        vectors: Vectors | None = None,
        diversity: float = 0.5,
    ):
        self._pool, self._order, self._seed = tuple(pool), order, seed
        self._every_label, self._diversity = every_label, diversity
        self._entropies = entropies or {}
        self._labels = [frozenset(shot.labels) for shot in self._pool]
        self._known = frozenset[str]().union(*self._labels)
        self._shingles, self._cache = Shingles(), dict[int, np.ndarray]()
        self._vectors = vectors
        if vectors is not None:
            self._rows, self._has_row = vectors.of(shot.document_id for shot in self._pool)
        self._fixed = self._fixed_order(pinned)

    def __len__(self) -> int:
        return len(self._pool)

    def _fixed_order(self, pinned: Sequence[int]) -> list[int]:
        """Places in the pool, the most important first, for methods that do not read the text."""
        if self._order == PINNED:
            return _pinned(self._pool, pinned)
        draw = random.Random(self._seed)
        if self._order == BALANCED:
            return _balanced(self._pool, draw)
        numbers = draw.sample(range(len(self._pool)), len(self._pool))
        if self._order != UNCERTAIN:
            return numbers
        known = [at for at in numbers if self._pool[at].document_id in self._entropies]
        return sorted(known, key=lambda at: -self._entropies[self._pool[at].document_id])

    def take(
        self,
        count: int,
        *,
        document_id: int | None = None,
        text_hash: str = "",
        texts: Sequence[str] = (),
    ) -> tuple[Chosen, ...]:
        """Up to `count` examples for a document, the most important first.

        None of them is the document itself, or has the same texts or similar ones.
        """
        if not count or not self._pool:
            return ()
        selection = _Selection(self, document_id, text_hash, texts)
        places = selection.places(count)
        if not self._every_label:
            return tuple(map(selection.chosen, islice(places, count)))
        return self._with_every_label(selection, places, count)

    def _with_every_label(
        self, selection: _Selection, places: Iterable[int], count: int
    ) -> tuple[Chosen, ...]:
        """The best one of each label first, then the best of all."""
        leading, others = list[int](), list[int]()
        late = set[int]()  # those that are not among the first `count`
        covered = frozenset[str]()
        for number, at in enumerate(places):
            if self._labels[at] - covered:
                covered |= self._labels[at]
                leading.append(at)
                late |= {at} if number >= count else set()
            elif len(others) < count:
                others.append(at)
            if covered == self._known and len(leading) + len(others) >= count:
                break
        chosen = [*leading, *others][:count]
        return tuple(selection.chosen(at, of_label=at in late) for at in chosen)


class _Selection:
    """The selection for one document; places are those in the pool."""

    def __init__(self, shots: Shots, document_id: int | None, text_hash: str, texts: Sequence[str]):
        self._shots, self._id, self._hash = shots, document_id, text_hash
        self._own = shots._shingles.of(texts) if any(texts) else None
        self._cosines: np.ndarray | None = None
        self._values: dict[int, float] = {}
        query = shots._vectors.get(document_id) if shots._vectors is not None else None
        if query is not None:
            self._cosines = shots._rows @ query

    def chosen(self, at: int, *, of_label: bool = False) -> Chosen:
        shots, cosines = self._shots, self._cosines
        reason, value = shots._order, self._values.get(at)
        if reason in BY_VECTORS and cosines is None:
            reason = RANDOM
        if reason == UNCERTAIN:
            value = shots._entropies[shots._pool[at].document_id]
        reason = OF_LABEL if of_label else reason
        similarity = None if cosines is None else float(cosines[at])
        return Chosen(shots._pool[at], reason, value, similarity)

    def places(self, count: int) -> Iterator[int]:
        """All that may be shown, the most important first; of "mmr" the first ones, at least
        `count`, are by marginal relevance.
        """
        order = self._shots._order
        if self._cosines is None or order not in BY_VECTORS:
            return filter(self._may_show, self._shots._fixed)
        if order == NEAREST_BALANCED:
            return self._by_label()
        return self._marginal(count) if order == MMR else filter(self._may_show, self._nearest())

    def _may_show(self, at: int) -> bool:
        shot = self._shots._pool[at]
        if shot.document_id == self._id or shot.text_hash == self._hash:
            return False
        return self._own is None or not _similar(self._own, self._shingles_of(at, shot.example))

    def _shingles_of(self, at: int, example: Example) -> np.ndarray:
        cache = self._shots._cache
        if at not in cache:
            if len(cache) >= MAX_SHINGLES:
                cache.clear()
            texts = (example.text, example.text_b) if example.text_b else (example.text,)
            cache[at] = self._shots._shingles.of(texts)
        return cache[at]

    # ------------------------------------------------------------ by vectors

    def _nearest(self) -> Iterator[int]:
        """The highest cosine first; of equal ones, the first in the pool."""
        order = np.argsort(-self._similarities, kind="stable")
        return iter(order[self._shots._has_row[order]].tolist())

    @property
    def _similarities(self) -> np.ndarray:
        assert self._cosines is not None  # asked only if the document has a vector
        return self._cosines

    def _by_label(self) -> Iterator[int]:
        """Rounds: the nearest of each label that is left, in the order of similarity."""
        left = list(self._nearest())
        number = 0
        while left:
            number += 1
            covered, later = frozenset[str](), list[int]()
            for at in left:
                labels = self._shots._labels[at]
                if labels <= covered:
                    later.append(at)
                    continue
                if not self._may_show(at):
                    continue
                covered |= labels
                self._values[at] = number
                yield at
            left = later

    def _marginal(self, count: int) -> Iterator[int]:
        """Each has the highest (1 - diversity) · its similarity - diversity · the highest
        similarity to an earlier one; then the others, the nearest first.
        """
        nearest, weight = self._nearest(), self._shots._diversity
        left = list(islice(nearest, max(CANDIDATES, 4 * count)))
        rows, cosines = self._shots._rows[left], self._similarities[left]
        known = np.zeros(len(left), np.float32)  # to the nearest example so far
        open_ones, any_chosen = np.ones(len(left), bool), False
        for _round in range(len(left)):
            relevance = np.where(open_ones, (1 - weight) * cosines - weight * known, -np.inf)
            at = int(relevance.argmax())
            open_ones[at] = False
            if not self._may_show(left[at]):
                continue
            self._values[left[at]] = float(relevance[at])
            yield left[at]
            similarity = rows @ rows[at]
            known = np.maximum(known, similarity) if any_chosen else similarity
            any_chosen = True
        yield from filter(self._may_show, nearest)


def _similar(own: np.ndarray, other: np.ndarray) -> bool:
    few, many = sorted((len(own), len(other)))
    return few >= SIMILARITY * many and jaccard(own, other) >= SIMILARITY


def _pinned(pool: Sequence[Shot], ids: Sequence[int]) -> list[int]:
    """The first of each document in the order of the ids, then further questions about them."""
    by_id: dict[int, list[int]] = {}
    for at, shot in enumerate(pool):
        by_id.setdefault(shot.document_id, []).append(at)
    known = [by_id[id] for id in dict.fromkeys(ids) if id in by_id]
    return [numbers[0] for numbers in known] + [at for numbers in known for at in numbers[1:]]


def _balanced(pool: Sequence[Shot], draw: random.Random) -> list[int]:
    """Rounds with one document of each label in random order; frequent labels come last.

    One with several labels counts for the rarest.
    """
    counts: dict[str, int] = {}
    for shot in pool:
        for label in shot.labels:
            counts[label] = counts.get(label, 0) + 1
    by_label: dict[str, list[int]] = {}
    for at, shot in enumerate(pool):
        rarest = min(shot.labels, key=lambda label: (counts[label], label))
        by_label.setdefault(rarest, []).append(at)
    for label in sorted(by_label):
        draw.shuffle(by_label[label])
    ordered: list[int] = []
    for number in range(max(map(len, by_label.values()), default=0)):
        turn = [places[number] for _, places in sorted(by_label.items()) if number < len(places)]
        draw.shuffle(turn)
        ordered += turn
    return ordered


# ---------------------------------------------------------------- the order in the prompt


def keys(
    chosen: Sequence[Chosen], arrangement: str, seed: int = 1, *, number: int = 0
) -> tuple[float, ...]:
    """Sort keys of the examples, by which they come in the prompt; () to keep their order.

    number: of the order, if they are shuffled.
    """
    if arrangement == SHUFFLED:
        draw = random.Random(f"order {seed} {number}")
        return tuple(draw.random() for _example in chosen)
    if arrangement == NEAREST_LAST:
        if all(item.similarity is not None for item in chosen):
            return tuple(item.similarity or 0.0 for item in chosen)
        return tuple(-float(number) for number in range(len(chosen)))
    return ()


def arranged(chosen: Sequence[Chosen], arrangement: str, seed: int = 1) -> tuple[Chosen, ...]:
    """The examples in the order of the prompt."""
    sort_keys = keys(chosen, arrangement, seed)
    if not sort_keys:
        return tuple(chosen)
    return tuple(chosen[at] for at in sorted(range(len(chosen)), key=sort_keys.__getitem__))
