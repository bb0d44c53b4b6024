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
from workbench.inspection.uses import senses
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
    gold, names = senses.numbered(labels)
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
        senses.macro_f1(gold, frequent, len(names)),
        float((gold == frequent).mean()),
        senses.same_at_random(gold),
    )


def _layer(layer: int, vectors: np.ndarray, gold: np.ndarray, count: int) -> LayerSenses:
    predicted = senses.centroid_predictions(vectors, gold)
    return LayerSenses(
        layer,
        senses.macro_f1(gold, predicted, count),
        float((predicted == gold).mean()),
        senses.same_among_nearest(vectors, gold),
        senses.pair_accuracy(vectors, gold),
    )
