"""Uses of a word in the documents of a project: the heavy part."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.inspection.base import words_of
from workbench.inspection.corpus.index import CorpusIndex
from workbench.inspection.corpus.vectors import WORD, text_vectors, use_at
from workbench.inspection.spec import WordRow
from workbench.inspection.subject import Subject
from workbench.inspection.uses.info import (
    INFO,
    LayerSenses,
    Senses,
    StaticNear,
    Use,
    UseRanking,
    Uses,
)
from workbench.runtime.vectors.lexicon import Lexicon
from workbench.text.document import Document

MAX_SCORED_USES = 1_000  # labelled uses that scores of senses are computed from
STATIC = 12  # neighbours of the static vector
SEED = 1
CARD = "README.md"


class UsesInspector:
    """For every model with states. Computed from an index of the uses, see `corpus`."""

    info = INFO

    def __init__(self) -> None:
        self._open = lru_cache(maxsize=1)(Lexicon.open)

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> Uses:
        """Raises ModelError if the index cannot be read, and SpecError for a use that does not
        exist.
        """
        (document,) = documents
        words = words_of(document, 1)
        forms = options["word"].casefold().split()
        use = use_at(words, forms, options["start"])
        static, name = self._static(options["word"].split(), options["static"])
        static_uses = Uses(words, options["word"], use, static=static, static_name=name)
        if not forms or not options["index"]:
            return static_uses
        index = CorpusIndex(options["index"])
        if (of := options["use"]) >= index.count:
            message = _("use is {number}, expected a whole number from 0 to {last}, or -1.")
            raise SpecError(message.format(number=of, last=index.count - 1))
        if of < 0 and use < 0:
            of = 0  # the word is not in the text: the first use of the documents
        labels = json.loads(options["labels"] or "[]") or [""] * index.count
        rankings, uses = _nearest(subject, document, words, use, of, index, options, labels)
        return Uses(
            words,
            options["word"],
            use if of < 0 else -1,
            of,
            index.count,
            index.total,
            index.layers,
            rankings,
            uses,
            static,
            name,
            _scores(index, labels, options["senses"]) if options["senses"] else None,
        )

    def _static(self, forms: Sequence[str], model: str) -> tuple[tuple[StaticNear, ...], str]:
        if not forms or not model:
            return (), ""
        lexicon = self._open(Path(model))
        form = lexicon.known(forms[0])
        near = lexicon.neighbours(form, by="cosine", top=STATIC) if form else ()
        nearest = tuple(StaticNear(neighbour.word, neighbour.score) for neighbour in near or ())
        return nearest, _name(Path(model))


def _name(vectors: Path) -> str:
    """The name of the model that a file of vectors is of: its folder if that has a card."""
    is_model = (vectors.parent / CARD).is_file()
    return vectors.parent.name if is_model else vectors.name


def _nearest(
    subject: Subject,
    document: Document,
    words: Sequence[WordRow],
    use: int,
    of: int,
    index: CorpusIndex,
    options: Mapping[str, Any],
    labels: Sequence[str],
) -> tuple[tuple[UseRanking, ...], tuple[Use, ...]]:
    """Rankings by layer, and the uses in them. A use in the same text at the same place is left
    out.
    """
    itself = np.zeros(index.count, bool)
    if of >= 0:
        queries = {layer: index.vectors(layer)[of].astype(np.float32) for layer in index.layers}
        itself[of] = True
    else:
        word = words[use]
        layers = text_vectors(subject, document, WORD, word.start, word.end)
        queries = {layer: layers[layer] for layer in index.layers}
        same = np.flatnonzero((index.places[:, 1:] == (word.start, word.end)).all(1))
        hashes = [line["hash"] for line in index.lines(same)]
        itself[same] = [hash_ == document.text_hash for hash_ in hashes]
    rankings = []
    for layer, vector in queries.items():
        cosines = np.where(itself, -np.inf, index.cosines(layer, vector))
        order = np.argsort(-cosines, kind="stable")[: options["top"]]
        order = order[~itself[order]]
        rankings.append(UseRanking(layer, tuple(order.tolist()), tuple(cosines[order].tolist())))
    numbers = sorted(
        {number for ranking in rankings for number in ranking.numbers}
        | {*([of] if of >= 0 else [])}
    )
    return tuple(rankings), tuple(_uses(index, numbers, labels))


def _uses(index: CorpusIndex, numbers: Sequence[int], labels: Sequence[str]) -> list[Use]:
    uses = []
    for number, line in zip(numbers, index.lines(numbers), strict=True):
        id, start, end = index.places[number].tolist()
        label = labels[number] if number < len(labels) else ""
        uses.append(
            Use(
                number, id, line["key"], start, end,
                line["left"], line["word"], line["right"], label,
            )
        )  # fmt: skip
    return uses


def _scores(index: CorpusIndex, labels: Sequence[str], name: str) -> Senses:
    gold, names = numbered(labels)
    counts = {label: int((gold == at).sum()) for at, label in enumerate(names)}
    rows = np.flatnonzero(gold >= 0)
    if sum(count >= 2 for count in counts.values()) < 2:
        return Senses(name, counts, 0)
    if len(rows) > MAX_SCORED_USES:
        rows = np.sort(np.random.default_rng(SEED).choice(rows, MAX_SCORED_USES, replace=False))
    gold = gold[rows]
    frequent = np.full(len(gold), np.bincount(gold).argmax())
    return Senses(
        name,
        counts,
        len(rows),
        tuple(
            _layer(layer, index.vectors(layer)[rows], gold, len(names)) for layer in index.layers
        ),
        macro_f1(gold, frequent, len(names)),
        float((gold == frequent).mean()),
        same_at_random(gold),
    )


def _layer(layer: int, vectors: np.ndarray, gold: np.ndarray, count: int) -> LayerSenses:
    predicted = centroid_predictions(vectors, gold)
    return LayerSenses(
        layer,
        macro_f1(gold, predicted, count),
        float((predicted == gold).mean()),
        same_among_nearest(vectors, gold),
        pair_accuracy(vectors, gold),
    )


NEIGHBOURS = 10
PAIRS = 2_000
SENSE_SEED = 1


def centroid_predictions(vectors: np.ndarray, senses: np.ndarray) -> np.ndarray:
    """The sense (N,) whose centroid has the highest cosine, each use left out of its own one.

    vectors float (N, H), rows of length 1; senses int (N,), from 0. A sense without another use has
    no centroid. Source: Peters et al. 2018, section 5.3, with centroids of the labelled uses.
    """
    count = int(senses.max()) + 1
    member = np.eye(count, dtype=np.float64)[senses]  # (N, C)
    x = np.asarray(vectors, np.float64)
    sums = member.T @ x  # (C, H)
    dots, lengths = x @ sums.T, (sums**2).sum(1)  # (N, C), (C,)
    own = (x**2).sum(1)[:, None]
    # without the use itself: x·(S - x) and |S - x|², where the sense is its own
    without = lengths[None] - member * (2 * dots - own)
    scores = (dots - member * own) / np.sqrt(np.maximum(without, 1e-12))
    scores[(member.sum(0)[None] - member) < 1] = -np.inf
    nearest: np.ndarray = scores.argmax(1)
    return nearest


def macro_f1(gold: np.ndarray, predicted: np.ndarray, count: int) -> float:
    """Mean F1 over the senses 0 … count - 1; 0 where a sense is never right.

    gold, predicted int (N,).
    """
    scores = []
    for sense in range(count):
        right = int(((gold == sense) & (predicted == sense)).sum())
        both = int((gold == sense).sum() + (predicted == sense).sum())
        scores.append(2 * right / both if both else 0.0)
    return float(np.mean(scores))


def same_among_nearest(vectors: np.ndarray, senses: np.ndarray) -> float:
    """Mean share of the own sense among the NEIGHBOURS other uses by cosine.

    vectors (N, W) of length 1; senses int (N,). N is at least 2.
    """
    x = np.asarray(vectors, np.float32)
    most = min(NEIGHBOURS, len(x) - 1)
    similar = x @ x.T
    np.fill_diagonal(similar, -np.inf)
    nearest = np.argpartition(-similar, most - 1, axis=1)[:, :most]
    return float((senses[nearest] == senses[:, None]).mean())


def same_at_random(senses: np.ndarray) -> float:
    """The expected share of the same sense if all uses are equally near. senses int (N,), N at
    least 2.
    """
    counts = np.bincount(senses)
    return float((counts * (counts - 1)).sum() / (len(senses) * (len(senses) - 1)))


def pair_accuracy(vectors: np.ndarray, senses: np.ndarray) -> float:
    """Accuracy of "same sense" for pairs of uses, half of them the same, by a cosine threshold.

    vectors (N, W) of length 1; senses int (N,). The threshold is the best one on half of the pairs
    and scored on the other half, both ways.
    Source: Pilehvar and Camacho-Collados 2019, section 4 (threshold baseline of WiC).
    """
    first, second, same = _pairs(senses)
    x = np.asarray(vectors, np.float32)
    cosines = (x[first] * x[second]).sum(1)
    halves = np.arange(len(same)) % 4 < 2  # pairs alternate between same and different
    if not halves.any() or halves.all():
        return 0.0
    right = [
        ((cosines[~half] >= _threshold(cosines[half], same[half])) == same[~half]).sum()
        for half in (halves, ~halves)
    ]
    return float(sum(right) / len(same))


def _threshold(cosines: np.ndarray, same: np.ndarray) -> float:
    """The lowest cosine that counts as the same sense, with the highest accuracy."""
    order = np.argsort(-cosines, kind="stable")
    gains = np.cumsum(np.where(same[order], 1, -1))
    best = int(gains.argmax())
    return float(cosines[order[best]]) if gains[best] > 0 else np.inf


def _pairs(senses: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random pairs, alternately of the same and of different senses."""
    left, right = np.triu_indices(len(senses), 1)
    same = senses[left] == senses[right]
    random = np.random.default_rng(SENSE_SEED)
    each = min(PAIRS // 2, int(same.sum()), int((~same).sum()))
    chosen = [random.choice(np.flatnonzero(kind), each, replace=False) for kind in (same, ~same)]
    numbers = np.stack(chosen, 1).reshape(-1)
    return left[numbers], right[numbers], same[numbers]


def numbered(labels: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Senses of labels (N,), and their names, the most frequent first; "" is -1."""
    names, counts = np.unique([label for label in labels if label], return_counts=True)
    order = [str(names[at]) for at in np.argsort(-counts, kind="stable")]
    number = {name: at for at, name in enumerate(order)}
    return np.array([number.get(label, -1) for label in labels], np.int64), tuple(order)
