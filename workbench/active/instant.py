"""The instant model: a linear head on vectors, trained again after each label.

The vectors are those of an index, for documents with `active.word_features` beside them; the latter
alone until there is an index. Runs in a host process that keeps the index memory-mapped.
scikit-learn, no torch.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.active import word_features
from workbench.active.base import DECISIONS, KIND, VECTORS, Decisions, Pool, Strategy
from workbench.active.ordering import ordered
from workbench.base.registry import registry
from workbench.inspection.corpus.index import CorpusIndex
from workbench.tasks.answers import read_documents

STRENGTH = 0.1  # inverse of the L2 penalty on standardized vectors
ITERATIONS, FURTHER = 30, 8  # of the first training, and of each that continues it
BLOCK_ROWS = 16_384  # rows that are predicted at a time


class Head:
    """Classes (`several` False: exactly one of them) of rows of a fixed width."""

    def __init__(self, outputs: int, *, several: bool = False):
        self.outputs, self.several = outputs, several
        self._mean, self._scale = np.zeros(0, np.float32), np.ones(0, np.float32)
        self._models: dict[int, Any] = {}  # -1 for one class of several, else by label

    @property
    def ready(self) -> bool:
        """Whether the scale of the vectors is known."""
        return len(self._mean) > 0

    def standardize(self, rows: np.ndarray, *, alike: int = 0, share: float = 1.0) -> None:
        """Use the mean and standard deviation of these rows (R, W); once, before training.

        alike: so many of the last columns have one standard deviation, because the first of them
        matter most, and are scaled to `share` of the others.
        """
        sample = rows.astype(np.float32)
        self._mean = sample.mean(0)
        variances = sample.var(0)
        if alike:
            variances[-alike:] = variances[-alike:].mean() / share**2
        self._scale = 1 / np.maximum(np.sqrt(variances), 1e-6)

    def fit(self, rows: np.ndarray, targets: np.ndarray) -> None:
        """rows (M, W); targets int (M,), or with `several` bool (M, outputs)."""
        if not self.ready:
            self.standardize(rows)
        standardized = (rows.astype(np.float32) - self._mean) * self._scale
        if not self.several:
            self._fit(-1, standardized, targets)
            return
        for label in range(self.outputs):
            self._fit(label, standardized, targets[:, label].astype(int))

    def _fit(self, key: int, rows: np.ndarray, targets: np.ndarray) -> None:
        from sklearn.linear_model import LogisticRegression

        present = np.unique(targets)
        if len(present) < 2:
            self._models[key] = int(present[0]) if len(present) else None
            return
        before = self._models.get(key)
        if not isinstance(before, LogisticRegression) or len(before.classes_) != len(present):
            before = LogisticRegression(C=STRENGTH, max_iter=ITERATIONS, tol=1e-3, warm_start=True)
        else:
            before.max_iter = FURTHER
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it continues with the next labels
            before.fit(rows, targets)
        self._models[key] = before

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """float32 (M, outputs); with `several`, of each label on its own. rows may be float16."""
        probabilities = np.zeros((len(rows), self.outputs), np.float32)
        for key, model in self._models.items():
            columns, weights, bias = self._linear(key, model)
            if weights is None:
                probabilities[:, columns] = 1.0
                continue
            for start in range(0, len(rows), BLOCK_ROWS):
                part = (
                    rows[start : start + BLOCK_ROWS].astype(np.float32, copy=False) @ weights + bias
                )
                probabilities[start : start + BLOCK_ROWS, columns] = _normalized(part)
        return probabilities

    def _linear(self, key: int, model: Any) -> tuple[list[int], Any, Any]:
        """Columns that it predicts, weights (W, C) for unscaled rows, and biases (C,).

        Without weights where training has seen one class only, which then is certain.
        """
        if model is None or isinstance(model, int):
            certain = model if key < 0 else (key if model else None)
            return [certain] if certain is not None else [], None, None
        coefficients, intercepts = model.coef_, model.intercept_
        if key < 0 and len(coefficients) == 1:  # two classes: the first one is the reference
            coefficients = np.concatenate([np.zeros_like(coefficients), coefficients])
            intercepts = np.concatenate([[0.0], intercepts])
        weights = (coefficients * self._scale).astype(np.float32).T
        bias = (intercepts - self._mean @ weights).astype(np.float32)
        return [int(class_) for class_ in model.classes_] if key < 0 else [key], weights, bias


def _normalized(logits: np.ndarray) -> np.ndarray:
    """Softmax of (M, C); of one column, the logistic function."""
    if logits.shape[1] == 1:
        probabilities: np.ndarray = 1 / (1 + np.exp(-logits))
        return probabilities
    probabilities = np.exp(logits - logits.max(1, keepdims=True))
    probabilities /= probabilities.sum(1, keepdims=True)
    return probabilities


MIN_LABELLED = 10  # labelled documents before the first training
POINT = 10  # new labels between two points of the learning curve
FOLDS = 5  # parts of the labelled documents, each of which is held out once
MIN_DEV = 10  # labelled documents of dev from which these are measured instead
SCALED = 20_000  # rows that the scale of the vectors is taken from
IN_MEMORY = 512 << 20  # bytes of vectors
CLASSES = 5  # classes of a document whose probabilities are returned
CHANCES = 3  # labels of a word whose probabilities are returned
BESIDE = 0.5  # scale of word features beside vectors: best on TREC and Banking77
CERTAIN = 0.5  # probability from which a label of several is predicted
Request = Mapping[str, Any]


def serve(params: Request) -> InstantModel:
    """Host target. params: index (path), texts (of documents as JSON lines), or both; labels
    (names), words (labels are of words, else of documents), several (labels per document), single
    (every word is a span of its own).
    """
    import sklearn.linear_model  # noqa: F401 (before the first label, not after it)

    return InstantModel(params)


class InstantModel:
    """Answers requests with fields

    gold: {document id: labels}, changes since the last request: numbers of labels, for words
    [start, end, number] of spans; None for a document that is not labelled any more, False for one
    that is finished but not learned from; {"draft": labels} for one that is not finished: its
    labels are learned, words without one are not. dev: ids of labelled documents that are only
    measured. strategy, share, seed: of the order. show: number of documents at its beginning whose
    labels are returned; also: ids of others.

    An answer has `labelled` (number of documents), and from MIN_LABELLED on `ids`, `scores`,
    `control` (arrays, unlabelled documents in order), `answers` {id: [[label, start, end,
    probability]]}, `chances` {id: [[start, end, [[label, probability]]]]} of the words of `also`,
    the CHANCES most probable, where every word has a tag; `classes` {id: [[label, probability]]} of
    the documents of `answers`, the CLASSES most probable of a layer of classes; `score` on held-out
    labels (None if not measurable) with `tested` documents, `agreement` (Cohen's kappa with the
    predictions POINT labels ago, else None), `seconds`.
    """

    def __init__(self, params: Request):
        self.places, self.vectors, self._alike = _read(params)
        self._share = BESIDE if "index" in params else 1.0
        self.words, self.several = bool(params["words"]), bool(params.get("several"))
        self.single = bool(params.get("single"))
        self.count = len(params["labels"])
        self.ids, first = np.unique(self.places[:, 0], return_index=True)
        self.starts = np.append(first, len(self.places))
        self.row = {int(id): at for at, id in enumerate(self.ids)}
        self.head, self.other = self._head(), self._head()
        self.gold: dict[int, np.ndarray] = {}  # number of the document → targets of its rows
        self.drafts: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # → rows to learn, targets
        self.closed: set[int] = set()  # numbers of finished documents that it does not learn from
        self.held_out: dict[int, np.ndarray] = {}  # → predicted when it was left out
        self._train: list[int] = []  # what the last training learned from
        self._before: np.ndarray | None = None  # decisions at the last point
        self._point = 0  # labels at the last point

    def _head(self) -> Head:
        head = Head(self.count + self.words, several=self.several)
        step = max(1, len(self.vectors) // SCALED)
        head.standardize(self.vectors[::step], alike=self._alike, share=self._share)
        return head

    # ------------------------------------------------------------ requests

    def __call__(self, request: Request) -> dict[str, Any]:
        began = time.perf_counter()
        self._take(request["gold"])
        if self.labelled < MIN_LABELLED:
            return {"labelled": self.labelled}
        dev = {self.row[id] for id in request["dev"] if id in self.row} & set(self.gold)
        dev = dev if len(dev) >= MIN_DEV else set()
        self._train = [number for number in self.gold if number not in dev]
        self._fit(self.head, self._train)
        probabilities = self.head.probabilities(self.vectors)
        chosen = self._chosen(probabilities)
        score, tested = self._measured(dev, chosen)
        order = self._order(request, probabilities)
        ids = [*order["ids"][: request["show"]].tolist(), *request["also"]]
        rows = {id: self.row[id] for id in ids if id in self.row}
        return {
            **order,
            "labelled": self.labelled,
            "answers": {id: self._answers(row, probabilities) for id, row in rows.items()},
            "chances": {
                id: self._chances(self.row[id], probabilities)
                for id in request["also"]
                if self.single and id in self.row
            },
            "classes": {
                id: self._classes(row, probabilities) for id, row in rows.items() if not self.words
            },
            "score": score,
            "tested": tested,
            "agreement": self._agreement(chosen),
            "seconds": time.perf_counter() - began,
        }

    def _take(self, changes: Mapping[str, Any]) -> None:
        for id, labels in changes.items():
            number = self.row.get(int(id))
            if number is None:
                continue  # added since the index was computed
            self.held_out.pop(number, None)
            self.closed.discard(number)
            self.drafts.pop(number, None)
            if isinstance(labels, Mapping):
                self.gold.pop(number, None)
                self._take_draft(number, self._targets(number, labels["draft"]))
            elif labels is None or labels is False:
                self.gold.pop(number, None)
                self.closed |= {number} if labels is False else set()
            else:
                self.gold[number] = self._targets(number, labels)

    def _take_draft(self, number: int, targets: np.ndarray) -> None:
        rows = np.arange(self.starts[number], self.starts[number + 1])
        known = targets > 0 if self.words else np.ones(len(rows), bool)
        if known.any():
            self.drafts[number] = rows[known], targets[known]

    @property
    def labelled(self) -> int:
        """Documents it has learned from. Drafts of words teach labels, but not what has none."""
        return len(self.gold) + (0 if self.words else len(self.drafts))

    def _targets(self, number: int, labels: Sequence[Any]) -> np.ndarray:
        """The target of each row of a document: its class, or bool (1, labels) for several."""
        if self.several:
            return np.isin(np.arange(self.count), labels)[None]
        if not self.words:
            return np.array(labels[:1], int)
        places = self.places[self._rows(number)]
        targets = np.zeros(len(places), int)
        for start, end, label in labels:
            targets[(places[:, 1] < end) & (start < places[:, 2])] = label + 1
        return targets

    def _rows(self, number: int) -> slice:
        return slice(int(self.starts[number]), int(self.starts[number + 1]))

    # ------------------------------------------------------------ training

    def _fit(self, head: Head, documents: Sequence[int]) -> None:
        rows = [self.vectors[self._rows(document)] for document in documents]
        targets = [self.gold[document] for document in documents]
        rows += [self.vectors[at] for at, _targets in self.drafts.values()]
        targets += [draft_targets for _at, draft_targets in self.drafts.values()]
        head.fit(np.concatenate(rows), np.concatenate(targets))

    def _chosen(self, probabilities: np.ndarray) -> np.ndarray:
        """The predicted class of each row; with several, bool (N, labels)."""
        return probabilities > CERTAIN if self.several else probabilities.argmax(1)

    def _measured(self, dev: set[int], chosen: np.ndarray) -> tuple[float | None, int]:
        """Score on dev, else on the labels that `idle_steps` has held out."""
        predicted = (
            {number: chosen[self._rows(number)] for number in dev}
            if dev
            else {
                number: self.held_out[number] for number in self._train if number in self.held_out
            }
        )
        if len(predicted) < MIN_LABELLED:
            return None, len(predicted)
        pairs = [(self.gold[number], answer) for number, answer in predicted.items()]
        return self._score(pairs), len(pairs)

    @property
    def idle_steps(self) -> Iterator[int]:
        """Predict each part of the labels by a model that was trained on the others."""
        for fold in range(FOLDS) if len(self.gold) >= MIN_LABELLED else ():
            rest = [
                number for number in self._train if number % FOLDS != fold and number in self.gold
            ]
            part = [
                number for number in self._train if number % FOLDS == fold and number in self.gold
            ]
            if part and rest:
                self._fit(self.other, rest)
                rows = [self.vectors[self._rows(number)] for number in part]
                answers = self._chosen(self.other.probabilities(np.concatenate(rows)))
                ends = np.cumsum([len(row) for row in rows])[:-1]
                self.held_out.update(zip(part, np.split(answers, ends), strict=True))
            yield fold

    def _score(self, pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
        """Accuracy of classes and tags, micro F1 of several classes, F1 of whole spans."""
        if self.several:
            right = sum(int((gold & answer).sum()) for gold, answer in pairs)
            total = sum(int(gold.sum() + answer.sum()) for gold, answer in pairs)
        elif self.words and not self.single:
            spans = [(set(runs(gold)), set(runs(answer))) for gold, answer in pairs]
            right = sum(len(gold & answer) for gold, answer in spans)
            total = sum(len(gold) + len(answer) for gold, answer in spans)
        else:
            same = [gold == answer for gold, answer in pairs]
            return float(np.concatenate(same).mean())
        return 2 * right / total if total else 0.0

    def _agreement(self, chosen: np.ndarray) -> float | None:
        """Cohen's kappa with the last point, on documents that are not labelled."""
        if self._before is not None and self.labelled < self._point + POINT:
            return None
        before, self._before, self._point = self._before, chosen, self.labelled
        if before is None:
            return None
        is_open = np.ones(len(self.ids), bool)
        is_open[[*self.gold, *self.drafts, *self.closed]] = False
        rows = np.repeat(is_open, np.diff(self.starts))
        return kappa(before[rows].ravel().astype(int), chosen[rows].ravel().astype(int))

    # ------------------------------------------------------------ the order and answers

    def _order(self, request: Request, probabilities: np.ndarray) -> dict[str, np.ndarray]:
        strategy: Strategy = registry().get(KIND, request["strategy"])()
        left = np.setdiff1d(np.arange(len(self.ids)), [*self.gold, *self.closed])
        inputs: dict[str, Any] = {}
        if DECISIONS in strategy.needs:
            inputs[DECISIONS] = self._decisions(probabilities)
        if VECTORS in strategy.needs or not strategy.needs <= {DECISIONS}:
            raise ValueError(f"the instant model has no {sorted(strategy.needs - {DECISIONS})}")
        scores = strategy.scores(Pool(len(self.ids), seed=request["seed"], **inputs))[left]
        order = ordered(scores, share=request["share"], seed=request["seed"])
        return {
            "ids": self.ids[left][order.rows],
            "scores": scores[order.rows].astype(np.float32),
            "control": order.control,
        }

    def _decisions(self, probabilities: np.ndarray) -> Decisions:
        if self.several:
            both = np.stack([1 - probabilities, probabilities], axis=2).reshape(-1, 2)
            return Decisions(both, np.arange(len(self.ids) + 1) * self.count)
        return Decisions(probabilities, self.starts, outside=self.words and not self.single)

    def _answers(self, number: int, probabilities: np.ndarray) -> list[list[Any]]:
        """[label, start, end, probability]; without offsets for a document."""
        values = probabilities[self._rows(number)]
        if self.several:
            sure = np.flatnonzero(values[0] > CERTAIN)
            return [[int(number), None, None, float(values[0, number])] for number in sure]
        if not self.words:
            best = int(values[0].argmax())
            return [[best, None, None, float(values[0, best])]]
        places = self.places[self._rows(number)]
        return [
            [label - 1, int(places[first, 1]), int(places[last - 1, 2]),
             float(np.exp(np.log(np.maximum(values[first:last, label], 1e-12)).mean()))]
            for first, last, label in runs(values.argmax(1), single=self.single)
        ]  # fmt: skip

    def _classes(self, number: int, probabilities: np.ndarray) -> list[list[Any]]:
        """[label, probability] of a document, the most probable first."""
        values = probabilities[self._rows(number)][0]
        best = np.argsort(-values, kind="stable")[:CLASSES]
        return [[int(item), float(values[item])] for item in best]

    def _chances(self, number: int, probabilities: np.ndarray) -> list[list[Any]]:
        """[start, end, [[label, probability]]] of each word, the most probable first."""
        values, places = probabilities[self._rows(number)][:, 1:], self.places[self._rows(number)]
        best = np.argsort(-values, axis=1, kind="stable")[:, :CHANCES]
        return [
            [int(place[1]), int(place[2]), [[int(item), float(row[item])] for item in order]]
            for place, row, order in zip(places, values, best, strict=True)
        ]


def _read(params: Request) -> tuple[np.ndarray, np.ndarray, int]:
    """Places (N, 3) as in an index, vectors (N, W), and how many of the last are of words."""
    if "index" not in params:
        places, vectors = _of_texts(params)
        return places, in_memory(vectors), vectors.shape[1]
    index = CorpusIndex(params["index"])
    vectors = index.vectors(layer_of(index))
    room = 4 * len(vectors) * (vectors.shape[1] + word_features.WIDTH) <= IN_MEMORY
    if "texts" not in params or not room:
        return index.places, in_memory(vectors), 0
    places, words = _of_texts(params)
    row = {int(id): at for at, id in enumerate(places[:, 0])}
    rows = [row.get(int(id), -1) for id in index.places[:, 0]]
    words = np.concatenate([words, np.zeros((1, words.shape[1]), words.dtype)])[rows]
    both = np.concatenate([vectors.astype(np.float32), words], axis=1)
    return index.places, both, words.shape[1]


def _of_texts(params: Request) -> tuple[np.ndarray, np.ndarray]:
    of = word_features.of_words if params["words"] else word_features.of_documents
    return of(read_documents(Path(params["texts"])))


def in_memory(rows: np.ndarray) -> np.ndarray:
    """Rows (N, W) as float32 where there is room, which is faster; else as they are."""
    return rows.astype(np.float32) if 4 * rows.size <= IN_MEMORY else rows


def layer_of(index: CorpusIndex) -> int:
    """Two thirds of the way up: better than the last layer on TREC and WNUT-17."""
    return index.nearest_layer(round(2 * index.layers[-1] / 3))


def runs(labels: np.ndarray, *, single: bool = False) -> list[tuple[int, int, int]]:
    """(first, end, label) of runs of equal labels above 0; with `single`, of every one alone.

    labels: int (W,), one per word.
    """
    label_runs: list[tuple[int, int, int]] = []
    for at, label in enumerate(labels.tolist()):
        if label and not single and label_runs and label_runs[-1][1:] == (at, label):
            label_runs[-1] = (label_runs[-1][0], at + 1, label)
        elif label:
            label_runs.append((at, at + 1, label))
    return label_runs


def kappa(first: np.ndarray, second: np.ndarray) -> float:
    """Cohen's kappa of two labellings (N,); 1 if both give one label to everything."""
    if not len(first):
        return 1.0
    labels = max(int(first.max()), int(second.max())) + 1
    counts = [np.bincount(array, minlength=labels) / len(array) for array in (first, second)]
    chance = float(counts[0] @ counts[1])
    return 1.0 if chance == 1.0 else (float((first == second).mean()) - chance) / (1 - chance)
