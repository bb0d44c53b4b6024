"""How well labels can be read from each layer of an encoder: the heavy part."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.layer_states import DOCUMENT, LayerStates, layer_states
from workbench.inspection.probes.info import INFO, ProbedLayer, ProbedModel, ProbeInterval, Probes
from workbench.inspection.spec import LAYER
from workbench.inspection.subject import Subject
from workbench.metrics import resampling
from workbench.runtime.units import WORD
from workbench.tasks import spec as tasks
from workbench.tasks.spec import TaskInfo
from workbench.text.dataset import Dataset, Record
from workbench.text.segment import tokens_of

ITERATIONS = 100  # of the logistic regression, at most
TOLERANCE = 1e-3  # of its gradient
SPLITS = ("train", "dev")


@dataclass(frozen=True)
class Examples:
    """Rows of one split. states: (N, H) per layer; labels, types: of each row; owner: its document.

    The type is the word in lower case, for documents the first word: what a control task labels.
    """

    states: tuple[np.ndarray, ...]
    labels: tuple[str, ...]
    types: tuple[str, ...]
    owner: np.ndarray


class ProbesInspector:
    """A logistic regression per layer on standardized states; encoders stay as they are.

    The control task gives each type a random label, drawn from the labels of train, that a probe
    can only memorize. Source: Hewitt and Liang 2019, sections 2.2 and 2.3.
    """

    info = INFO

    def examine(
        self, subject: Subject, data: Dataset, task: str, options: Mapping[str, Any]
    ) -> Generator[float, None, Probes]:
        """Raises WorkbenchError for labels that cannot be probed, or without train or dev."""
        info, layer = tasks.info(task), str(options[LAYER])
        records = {split: data.by_split(split) for split in SPLITS}
        if not all(records.values()):
            raise WorkbenchError(
                _("Probes need labelled documents in train and dev."),
                hint=_("Assign splits in Data ▸ Splits, and submit documents of both."),
            )
        subjects = [subject]
        if (folder := subject.base_folder) is not None:
            subjects.insert(0, Subject(folder, device=str(subject.encoder.device)))
        about, probed = None, list[ProbedModel]()
        for number, item in enumerate(subjects):
            examples = {}
            for turn, split in enumerate(SPLITS):
                share = partial(_share, len(subjects), number, 0.2 * turn, 0.2)
                reading = _examples(item, info, layer, records[split], options)
                examples[split] = yield from _scaled(reading, share)
            _check(examples, layer)
            about = about or _about(examples, layer, info)
            probing = _layers(examples["train"], examples["dev"], options["seed"])
            layers = yield from _scaled(probing, partial(_share, len(subjects), number, 0.4, 0.6))
            probed.append(ProbedModel(item.info.name, layers, before=item is not subject))
        return Probes(layer, info.windows, tuple(probed), **(about or {}))


def _share(models: int, number: int, start: float, size: float, done: float) -> float:
    """The share of the whole work when a part of that of one model is done."""
    return (number + start + size * done) / models


def _scaled(work: Generator[float, None, Any], share: Any) -> Generator[float, None, Any]:
    while True:
        try:
            done = next(work)
        except StopIteration as end:
            return end.value
        yield share(done)


def _examples(
    subject: Subject,
    info: TaskInfo,
    layer: str,
    records: Sequence[Record],
    options: Mapping[str, Any],
) -> Generator[float, None, Examples]:
    documents = [record.document for record in records]
    unit, most = (WORD, options["words"]) if info.windows else (DOCUMENT, len(documents))
    states = yield from layer_states(subject, documents, unit=unit, most=most)
    read = _word_labels if info.windows else _document_labels
    labels, types = read(states, info, layer, records)
    labelled = np.array([at for at, label in enumerate(labels) if label is not None], np.int64)
    return Examples(
        tuple(rows[labelled] for rows in states.layers),
        tuple(str(labels[at]) for at in labelled),
        tuple(types[at] for at in labelled),
        states.owner[labelled],
    )


def _word_labels(
    states: LayerStates, info: TaskInfo, layer: str, records: Sequence[Record]
) -> tuple[list[str | None], list[str]]:
    """The output that is gold at each word, and the word in lower case."""
    labels, types = list[str | None](), list[str]()
    for number in dict.fromkeys(states.owner.tolist()):
        record = records[number]
        words = [tuple(item) for item in states.spans[states.owner == number].tolist()]
        labels += info.word_outputs(info.gold(record, layer), words)
        types += [record.document.text[start:end].casefold() for start, end in words]
    return labels, types


def _document_labels(
    states: LayerStates, info: TaskInfo, layer: str, records: Sequence[Record]
) -> tuple[list[str | None], list[str]]:
    """The only label of each document, and its first word. Raises WorkbenchError for several."""
    labels, types = list[str | None](), list[str]()
    for number in states.owner.tolist():
        document, gold = records[number].document, info.gold(records[number], layer)
        gold_labels = tuple(gold.labels()) if gold is not None else ()
        if len(gold_labels) > 1:
            raise WorkbenchError(
                _(
                    "Document {key!r} has several labels ({n}); a probe needs exactly one.",
                    key=document.key,
                    n=len(gold_labels),
                )
            )
        labels.append(gold_labels[0] if gold_labels else None)
        start, end = next(iter(tokens_of(document)), (0, 0))
        types.append(document.text[start:end].casefold())
    return labels, types


def _check(examples: Mapping[str, Examples], layer: str) -> None:
    if (
        not all(example.labels for example in examples.values())
        or len(set(examples["train"].labels)) < 2
    ):
        raise WorkbenchError(
            _("Layer {layer!r} needs at least two labels in train, and one in dev.", layer=layer)
        )


def _about(examples: Mapping[str, Examples], layer: str, info: TaskInfo) -> dict[str, Any]:
    train, dev = examples["train"], examples["dev"]
    values, counts = np.unique(train.labels, return_counts=True)
    most = str(values[counts.argmax()])
    known = set(train.types)
    return {
        "labels": len(values),
        "majority": sum(label == most for label in dev.labels) / len(dev.labels),
        "train": len(train.labels),
        "dev": len(dev.labels),
        "types": len(known.union(dev.types)),
        "seen": sum(type_ in known for type_ in dev.types) / len(dev.types),
    }


# ---------------------------------------------------------------- probes


def control_labels(
    types: Sequence[str], labels: Sequence[str], every: Sequence[str], *, seed: int
) -> list[str]:
    """The random label of each of `types`, equal for equal ones, drawn from the distribution of
    `labels`. every: all types, so that train and dev agree.
    """
    order = sorted(set(every))
    values, counts = np.unique(labels, return_counts=True)
    drawn = np.random.default_rng(seed).choice(len(values), len(order), p=counts / counts.sum())
    by_type = {name: str(values[number]) for name, number in zip(order, drawn, strict=True)}
    return [by_type[name] for name in types]


def _layers(
    train: Examples, dev: Examples, seed: int
) -> Generator[float, None, tuple[ProbedLayer, ...]]:
    every = [*train.types, *dev.types]
    targets = [
        (train.labels, dev.labels),
        tuple(
            control_labels(examples.types, train.labels, every, seed=seed)
            for examples in (train, dev)
        ),
    ]
    probed = []
    for number, (known, dev_states) in enumerate(zip(train.states, dev.states, strict=True)):
        rights = []
        for turn, (train_labels, dev_labels) in enumerate(targets):
            yield (number + turn / 2) / len(train.states)
            rights.append(probe(known, train_labels, dev_states) == np.array(dev_labels))
        probed.append(_intervals(rights[0], rights[1], dev.owner))
    return tuple(probed)


def probe(train: np.ndarray, labels: Sequence[str], dev: np.ndarray) -> np.ndarray:
    """The labels (M,) that a logistic regression on train (N, H) predicts for dev (M, H)."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    states = train.astype(np.float32)
    mean, spread = states.mean(0), states.std(0) + 1e-6
    if len(set(labels)) < 2:  # of a control task with few types
        return np.full(len(dev), labels[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a probe is compared, not deployed
        fitted = LogisticRegression(max_iter=ITERATIONS, tol=TOLERANCE).fit(
            (states - mean) / spread, labels
        )
    predicted: np.ndarray = fitted.predict((dev.astype(np.float32) - mean) / spread)
    return predicted


def _intervals(right: np.ndarray, control: np.ndarray, owner: np.ndarray) -> ProbedLayer:
    """right, control bool (M,); owner int (M,): documents are drawn, their rows stay together."""
    _ids, place = np.unique(owner, return_inverse=True)
    sums = [np.bincount(place, values) for values in (right, control, np.ones(len(right)))]
    counts = np.stack(sums, 1)  # (D, 3)

    def statistic(weights: np.ndarray) -> dict[str, np.ndarray]:
        totals = resampling.weighted_sums(weights, counts)  # (R, 3)
        shares = resampling.divided(totals[:, :2], totals[:, 2:])
        difference = shares[:, 0] - shares[:, 1]
        return {"accuracy": shares[:, 0], "control": shares[:, 1], "selectivity": difference}

    whole = statistic(np.ones((1, len(counts)), np.float32))
    drawn = resampling.resampled(statistic, len(counts))
    parts = {}
    for name, values in drawn.items():
        low, high = resampling.bounds(values)
        parts[name] = ProbeInterval(float(whole[name][0]), float(low), float(high))
    return ProbedLayer(**parts)
