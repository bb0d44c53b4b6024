"""A linear-chain CRF over sparse features, trained by CRFsuite and decoded by `runtime.crf`.

Source: Lafferty, McCallum and Pereira 2001.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Self
from unicodedata import category

import numpy as np

from workbench.base import scratch
from workbench.base.i18n import N_, _, ngettext
from workbench.baselines.base import MIN_LOGIT, Baseline, prepared
from workbench.baselines.feature_crf.info import INFO
from workbench.runtime.crf import Transitions
from workbench.runtime.inputs import Prepared
from workbench.tasks.spec import TaskInfo
from workbench.text.document import Document
from workbench.text.sentences import SENTENCE, unit_at, units_of

AFFIX = 4  # code points of the longest prefix and suffix
NEIGHBOURS = (-2, -1, 1, 2)  # places of the neighbours
LONG = 12  # code points: the shape of a longer word is written without repetitions only
CACHED = 100_000  # words
# Features for display; {text} is what follows "=" in the name.
_FLAGS = {
    "upper": N_("in capitals"),
    "title": N_("capitalized"),
    "digits": N_("only digits"),
    "digit": N_("with a digit"),
    "mark": N_("without letters and digits"),
    "hyphen": N_("with a hyphen"),
    "bias": N_("every word"),
    "begin": N_("first word of a sentence"),
    "end": N_("last word of a sentence"),
}
_VALUES = {
    "word": N_("word {text}"),
    "short": N_("short shape {text}"),
    "shape": N_("shape {text}"),
    "prefix": N_("prefix {text}"),
    "suffix": N_("suffix {text}"),
    "pair+1": N_("this and the next word: {text}"),
    "pair-1": N_("the word before and this one: {text}"),
}


def word_features(document: Document, words: Sequence[tuple[int, int]]) -> list[list[str]]:
    """The features of each word, all binary.

    words: (start, end) in order. Neighbours do not extend beyond the sentence.
    """
    text, sentences = document.text, units_of(document, SENTENCE)
    features: list[list[str]] = []
    for _number, group in groupby(words, lambda word: unit_at(sentences, word[0])):
        features += _sentence([text[start:end] for start, end in group])
    return features


def _sentence(words: Sequence[str]) -> list[list[str]]:
    word_features = [["bias", *_own(word)] for word in words]
    for at, features in enumerate(word_features):
        for step in NEIGHBOURS:
            if 0 <= at + step < len(words):
                features += _near(words[at + step], step)
    for (first, after), (left, right) in zip(pairwise(word_features), pairwise(words), strict=True):
        pair = f"{left.lower()} {right.lower()}"
        first.append(f"pair+1={pair}")
        after.append(f"pair-1={pair}")
    word_features[0].append("begin")
    word_features[-1].append("end")
    return word_features


@lru_cache(CACHED)
def _own(word: str) -> tuple[str, ...]:
    lower = word.lower()
    sizes = range(1, min(AFFIX, len(lower)) + 1)
    features = [f"word={lower}", f"short={short_shape(word)}"]
    features += [f"prefix={lower[:size]}" for size in sizes]
    features += [f"suffix={lower[-size:]}" for size in sizes]
    if len(word) <= LONG:
        features.append(f"shape={shape(word)}")
    return (*features, *_flags(word))


@lru_cache(CACHED)
def _near(word: str, step: int) -> tuple[str, ...]:
    features = (f"word={word.lower()}", f"short={short_shape(word)}", *_flags(word))
    return tuple(f"{step:+}:{feature}" for feature in features)


def _flags(word: str) -> list[str]:
    answers = {
        "upper": word.isupper(),
        "title": word[:1].isupper() and not word[1:].isupper(),
        "digits": word.isdecimal(),
        "digit": any(letter.isdecimal() for letter in word),
        "mark": not any(letter.isalnum() for letter in word),
        "hyphen": "-" in word[1:-1],
    }
    return [name for name, answer in answers.items() if answer]


def shape(word: str) -> str:
    """Upper-case letters as X, other letters as x, digits as d; other characters as they are."""
    return "".join(map(_kind, word))


def _kind(letter: str) -> str:
    if letter.isupper():
        return "X"
    if letter.isalpha() or category(letter).startswith("M"):
        return "x"
    return "d" if letter.isdecimal() else letter


def short_shape(word: str) -> str:
    """The shape without repetitions: Xx for "Tram", Xd for "A380"."""
    return "".join(mark for mark, _group in groupby(shape(word)))


def described(feature: str) -> str:
    """A feature for display, such as "suffix am" or "1 word before: capitalized"."""
    place, mark, rest = feature.partition(":")
    if mark and place in (f"{step:+}" for step in NEIGHBOURS):
        far = abs(int(place))
        message = ngettext("{n} word after: {feature}", "{n} words after: {feature}", far)
        if place.startswith("-"):
            message = ngettext("{n} word before: {feature}", "{n} words before: {feature}", far)
        return message.format(n=far, feature=described(rest))
    name, _equals, text = feature.partition("=")
    if name in _VALUES:
        return _(_VALUES[name], text=text)
    return _(_FLAGS[name]) if name in _FLAGS else name


FEATURES, WEIGHTS = "features.json", "weights.npz"
SETTINGS = {"c1": 0.1, "c2": 0.1, "max_iterations": 100}  # of CRFsuite: L1, L2

Sequenced = tuple[list[list[str]], list[int]]  # features of adjacent words, their outputs


@dataclass(frozen=True)
class CrfWeights:
    """Learned values: weight `values[i]` of feature `rows[i]` for output `columns[i]`.

    step (L, L): of transitions, from → to. seen bool (L,): outputs that occur in training.
    """

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    step: np.ndarray
    seen: np.ndarray


class FeatureCrf(Baseline):
    """features: those with a weight. sequence: whether the task decodes with the transitions.

    Tasks without decoding of sequences are given the logarithms of the marginal probabilities.
    """

    info = INFO

    def __init__(self, features: Sequence[str], weights: CrfWeights, *, sequence: bool):
        self.features = {name: number for number, name in enumerate(features)}
        self.weights, self.sequence = weights, sequence

    @classmethod
    def fit(
        cls,
        task: TaskInfo,
        documents: Sequence[Document],
        golds: Sequence[Any],
        labels: Sequence[str],
        *,
        seed: int,
    ) -> Self:
        """The objective is convex and CRFsuite starts at 0: `seed` changes nothing."""
        outputs = task.output_names(labels)
        numbers: dict[str, int] = {}
        weights = _trained(_sequences(task, documents, golds, outputs), numbers, len(outputs))
        used, rows = np.unique(weights.rows, return_inverse=True)
        names = [*numbers]
        weights = CrfWeights(rows, weights.columns, weights.values, weights.step, weights.seen)
        baseline = cls([names[number] for number in used], weights, sequence=True)
        baseline.sequence = task.transitions(labels, baseline.decoder) is not None
        return baseline

    def logits(self, prepared: Prepared) -> list[np.ndarray]:
        """Per document (W, L): scores of its words, or the logarithms of their marginals."""
        return [
            scores if self.sequence else self._log_marginals(scores)
            for document, words in zip(prepared.documents, prepared.words, strict=True)
            for scores in [self.emissions(word_features(document, words))]
        ]

    def emissions(self, words: Sequence[Sequence[str]]) -> np.ndarray:
        """The sum of the weights of the features of each word, (W, L)."""
        from scipy.sparse import csr_matrix

        known = self.features
        numbers = [[known[name] for name in names if name in known] for names in words]
        ends = np.cumsum([0, *map(len, numbers)])
        columns = np.array([number for row in numbers for number in row], np.int64)
        chosen = csr_matrix((np.ones(len(columns)), columns, ends), (len(words), len(known)))
        scores: np.ndarray = (chosen @ self._table).toarray()
        scores[:, ~self.weights.seen] = MIN_LOGIT
        return scores

    @cached_property
    def _table(self) -> Any:
        """The weights as a sparse matrix (features, L)."""
        from scipy.sparse import csr_matrix

        weights = self.weights
        shape = len(self.features), len(weights.seen)
        return csr_matrix((weights.values, (weights.rows, weights.columns)), shape)

    def _log_marginals(self, scores: np.ndarray) -> np.ndarray:
        edge = np.zeros(len(self.weights.seen))
        chain = Transitions(tuple(map(str, range(len(edge)))), edge, self.weights.step, edge)
        logs: np.ndarray = np.log(np.maximum(chain.marginals(scores), np.exp(MIN_LOGIT)))
        return logs

    @property
    def seen(self) -> np.ndarray:
        """bool (L,): outputs that occur in training."""
        return self.weights.seen

    @property
    def steps(self) -> np.ndarray:
        """(L, L): learned scores of transitions, from → to."""
        return self.weights.step

    def word_scores(self, document: Document, words: Sequence[tuple[int, int]]) -> np.ndarray:
        """The sums of the weights of each word (W, L)."""
        return self.emissions(word_features(document, words))

    def path(self, scores: np.ndarray, chain: Transitions) -> np.ndarray:
        """The predicted output (W,) of each word, from the sums of its weights (W, L)."""
        return chain.best(scores) if self.sequence else chain.marginals(scores).argmax(axis=1)

    def names(self, document: Document, words: Sequence[tuple[int, int]]) -> list[list[str]]:
        return [
            [name for name in row if name in self.features]
            for row in word_features(document, words)
        ]

    def described(self, feature: str) -> str:
        return described(feature)

    def weight(self, feature: str, output: int) -> float:
        return float(self._table[self.features[feature], output])

    def strongest(self, output: int, most: int) -> tuple[list[str], int]:
        own = self.weights.columns == output
        rows, values = self.weights.rows[own], self.weights.values[own]
        order, names = np.argsort(-values, kind="stable"), [*self.features]
        highest = [at for at in order[:most] if values[at] > 0]
        lowest = [at for at in order[-most:] if values[at] < 0]
        return [names[rows[at]] for at in (*highest, *lowest)], len(values)

    def save(self, folder: Path) -> None:
        raw = {"features": [*self.features], "sequence": self.sequence}
        (folder / FEATURES).write_text(json.dumps(raw, ensure_ascii=True), encoding="utf-8")
        np.savez_compressed(folder / WEIGHTS, **vars(self.weights))

    @classmethod
    def load(cls, folder: Path) -> Self:
        raw = json.loads((folder / FEATURES).read_text(encoding="utf-8"))
        with np.load(folder / WEIGHTS, allow_pickle=False) as arrays:
            weights = CrfWeights(**{name: arrays[name] for name in CrfWeights.__annotations__})
        return cls(raw["features"], weights, sequence=raw["sequence"])

    @property
    def parameters(self) -> int:
        return len(self.weights.values) + int(np.count_nonzero(self.weights.step))

    @property
    def decoder(self) -> Mapping[str, Any]:
        if not self.sequence:
            return {}
        edge = [0.0] * len(self.weights.seen)  # CRFsuite has features of the boundaries instead
        chain = {"start": edge, "step": self.weights.step.tolist(), "end": edge}
        return {"decoder": "crf", "transitions": chain}


def _sequences(
    task: TaskInfo, documents: Sequence[Document], golds: Sequence[Any], outputs: Sequence[str]
) -> Iterator[Sequenced]:
    """Each run of adjacent words that have a gold output."""
    number = {name: at for at, name in enumerate(outputs)}
    prepared_documents = prepared(task, documents)
    for document, gold, words in zip(documents, golds, prepared_documents.words, strict=True):
        tags = task.word_outputs(gold, words)
        pairs = zip(word_features(document, words), tags, strict=True)
        for is_gold, group in groupby(pairs, lambda pair: pair[1] is not None):
            if is_gold:
                tagged = [(features, number[tag]) for features, tag in group if tag is not None]
                yield [features for features, _tag in tagged], [tag for _features, tag in tagged]


def _trained(sequences: Iterable[Sequenced], numbers: dict[str, int], count: int) -> CrfWeights:
    """Train with CRFsuite; `numbers` receives the number of each feature.

    CRFsuite knows features and outputs by number: its listing of a model cannot be read again if
    names contain its marks, and it then writes no text of the user to its temporary file.
    """
    from pycrfsuite import Tagger, Trainer

    trainer = Trainer(verbose=False)
    trainer.set_params(SETTINGS)
    occurs = np.zeros(count, bool)
    for words, tags in sequences:
        rows = [[str(numbers.setdefault(name, len(numbers))) for name in row] for row in words]
        trainer.append(rows, [str(tag) for tag in tags])
        occurs[tags] = True
    with scratch.folder("crf") as folder:
        file = str(folder / "model")
        trainer.train(file)
        tagger = Tagger()
        tagger.open(file)
        info = tagger.info()  # six digits after the point
        tagger.close()
    step = np.zeros((count, count))
    for (before, after), weight in info.transitions.items():
        step[int(before), int(after)] = weight
    places = np.array([*info.state_features], dtype=np.int64).reshape(-1, 2)
    values = np.array([*info.state_features.values()], np.float64)
    return CrfWeights(places[:, 0], places[:, 1], values, step, occurs)
