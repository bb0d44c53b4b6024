"""TF-IDF of words and word pairs with a linear classifier of scikit-learn on top."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from workbench.baselines.base import MIN_LOGIT, Baseline, Feature, classes, is_exclusive
from workbench.runtime.inputs import Prepared
from workbench.tasks.spec import TaskInfo
from workbench.text.document import Document
from workbench.text.segment import tokens_of

WORDS, WEIGHTS = "words.json", "weights.npz"
MAX_FEATURES = 50_000  # most frequent features that are kept
SECOND = "\x1f"  # begins the features of a second text
Place = tuple[str, int, int]  # of a word: field, start, end


def grams(document: Document) -> list[str]:
    """Lower-case words and pairs of neighbours; those of a second text are features of their own.

    Words are the imported tokens, else those of `text.segment`.
    """
    return [gram for gram, _words in placed_grams(document)]


def placed_grams(document: Document) -> list[tuple[str, tuple[Place, ...]]]:
    """Each of `grams` with the places of its words."""
    grams: list[tuple[str, tuple[Place, ...]]] = []
    for number, (name, text) in enumerate(document.texts[:2]):
        mark = SECOND if number else ""
        places = [(name, start, end) for start, end in tokens_of(document, name)]
        words = [text[start:end].lower() for _name, start, end in places]
        grams += [(mark + word, (place,)) for word, place in zip(words, places, strict=True)]
        pairs = zip(pairwise(words), pairwise(places), strict=True)
        grams += [(f"{mark}{item} {other}", both) for (item, other), both in pairs]
    return grams


class TfidfLinear(Baseline):
    """coef (L, V), intercept (L,): logit of each label; absent labels have MIN_LOGIT."""

    def __init__(
        self, words: Mapping[str, int], idf: np.ndarray, coef: np.ndarray, intercept: np.ndarray
    ):
        self.words, self.idf, self.coef, self.intercept = dict(words), idf, coef, intercept

    @classmethod
    @abstractmethod
    def classifier(cls, seed: int) -> Any:
        """A new linear classifier of scikit-learn."""

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
        vectorizer = _vectorizer()
        features = vectorizer.fit_transform(documents)
        words = {word: int(number) for word, number in vectorizer.vocabulary_.items()}
        coef = np.zeros((len(labels), features.shape[1]), np.float32)
        intercept = np.full(len(labels), MIN_LOGIT)
        gold = classes(task, golds, labels)
        if is_exclusive(task):
            _fit_classes(cls.classifier(seed), features, gold.argmax(axis=1), coef, intercept)
        else:
            for number, relevant in enumerate(gold.T):
                _fit_label(cls.classifier(seed), features, relevant, number, coef, intercept)
        return cls(words, vectorizer.idf_, coef, intercept)

    def logits(self, prepared: Prepared) -> list[np.ndarray]:
        """Per document (L,)."""
        if not prepared.documents:
            return []
        logits = self._values(prepared.documents) @ self.coef.T + self.intercept
        return [*np.asarray(logits)]

    def _values(self, documents: Sequence[Document]) -> Any:
        """TF-IDF, sparse (N, V)."""
        vectorizer = _vectorizer(self.words)
        vectorizer.idf_ = self.idf
        return vectorizer.transform(documents)

    def features(self, document: Document) -> tuple[list[Feature], np.ndarray]:
        """The features in a document, each with weights (L,), and the intercepts (L,)."""
        places: dict[str, list[tuple[Place, ...]]] = {}
        for gram, words in placed_grams(document):
            if gram in self.words:
                places.setdefault(gram, []).append(words)
        row = self._values([document])
        values = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        features = [
            Feature(
                gram.removeprefix(SECOND),
                tuple(where),
                values.get(self.words[gram], 0.0),
                self.coef[:, self.words[gram]],
            )
            for gram, where in places.items()
        ]
        return features, self.intercept

    def save(self, folder: Path) -> None:
        text = json.dumps(self.words, ensure_ascii=True)
        (folder / WORDS).write_text(text, encoding="utf-8")
        np.savez_compressed(
            folder / WEIGHTS, idf=self.idf, coef=self.coef, intercept=self.intercept
        )

    @classmethod
    def load(cls, folder: Path) -> Self:
        words = json.loads((folder / WORDS).read_text(encoding="utf-8"))
        with np.load(folder / WEIGHTS, allow_pickle=False) as arrays:
            return cls(words, arrays["idf"], arrays["coef"], arrays["intercept"])

    @property
    def parameters(self) -> int:
        return self.coef.size + self.intercept.size


def _vectorizer(words: Mapping[str, int] | None = None) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    limit = MAX_FEATURES if words is None else None
    return TfidfVectorizer(analyzer=grams, sublinear_tf=True, max_features=limit, vocabulary=words)


def _fit_classes(
    model: Any, features: Any, gold: np.ndarray, coef: np.ndarray, intercept: np.ndarray
) -> None:
    """One model of all classes that occur; of two, scikit-learn gives the row of the second."""
    known = np.unique(gold)
    if len(known) == 1:
        intercept[known] = 0.0
        return
    model.fit(features, gold)
    if len(known) == 2:
        coef[known[1]], intercept[known] = model.coef_[0], (0.0, model.intercept_[0])
    else:
        coef[known], intercept[known] = model.coef_, model.intercept_


def _fit_label(
    model: Any,
    features: Any,
    relevant: np.ndarray,
    number: int,
    coef: np.ndarray,
    intercept: np.ndarray,
) -> None:
    """A label on its own; one that all or no documents have needs no model."""
    if relevant.all():
        intercept[number] = -MIN_LOGIT
    elif relevant.any():
        model.fit(features, relevant)
        coef[number], intercept[number] = model.coef_[0], model.intercept_[0]
