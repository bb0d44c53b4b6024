"""The settings of a training with every automatic value resolved. Does not import torch."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.base import learning_rates
from workbench.base.i18n import ngettext
from workbench.base.records import from_plain
from workbench.tasks.spec import TaskInfo
from workbench.training.methods import spec as methods
from workbench.training.spec import TrainSpec

EVALUATIONS = 10
RARE_LABEL_VIEWS = 140  # how often a rare label is seen, at least; see `rare_documents`
DEFAULT_MAX_LENGTH = 512  # tokens of an input, if neither the settings nor the model say less


@dataclass(frozen=True)
class Plan:
    """The settings with every automatic value resolved. `steps` are optimizer updates.

    It is made once, before the start, and stored with the run; the worker obeys it.
    adapt_objective, adapt_learning_rate: None if the model is not adapted first. first_steps,
    first_rate: updates of a stage of the method before the epochs, and its peak rate.
    """

    epochs: int
    batch_size: int
    learning_rate: float
    max_length: int
    steps_per_epoch: int
    evaluate_every: int
    best_by: str
    warmup: float = 0.0
    adapt_objective: str | None = None
    adapt_learning_rate: float | None = None
    first_steps: int = 0
    first_rate: float = 0.0

    @property
    def steps(self) -> int:
        """Those of all epochs, and of the stage before them."""
        return self.first_steps + self.epochs * self.steps_per_epoch

    def first_stage(self) -> str:
        """A sentence about the stage before the epochs, "" without one."""
        if not self.first_steps:
            return ""
        return ngettext(
            "First {n} step with pairs of documents, peak learning rate {rate:g}.",
            "First {n} steps with pairs of documents, peak learning rate {rate:g}.",
            self.first_steps,
            rate=self.first_rate,
        )

    @classmethod
    def from_json(cls, raw: Mapping[str, Any] | None) -> Plan | None:
        """Parse `to_plain`; None for a run of an earlier version, which has none."""
        return from_plain(cls, raw) if raw else None

    def together(self, others: Sequence[Plan], spec: TrainSpec) -> Plan:
        """For a training on this and other data: an epoch has the batches of all."""
        steps = self.steps_per_epoch + sum(other.steps_per_epoch for other in others)
        every = spec.option("evaluate_every") or _evaluate_every(self.epochs, steps)
        return replace(self, steps_per_epoch=steps, evaluate_every=every)

    def with_items(self, items: int, accumulation: int) -> Plan:
        """For the number of model inputs that were made; it is the planned one unless the texts,
        or how they are divided into windows, differ from what was counted before the start.
        """
        return replace(self, steps_per_epoch=_per_epoch(items, self.batch_size, accumulation))


def plan(
    spec: TrainSpec,
    *,
    documents: int,
    labels: int = 2,
    rare: int = 0,
    width: int = 384,
    model_length: int = 512,
    items: int | None = None,
    learning_rate: float = 0.0,
) -> Plan:
    """Resolve the automatic settings for a number of training documents.

    `labels` is the number of labels of the layer, `rare` the `rare_documents`, 0 if not known.
    `items` is the number of model inputs if documents have several (windows of long texts).
    `width` is the model's hidden size, `model_length` its maximum input length; `learning_rate` is
    the recommended rate of the model, 0 if it has none.
    """
    items = items or documents
    batch = spec.option("batch_size") or spec.info.usual_batch or (16 if items < 1000 else 32)
    per_epoch = _per_epoch(items, batch, spec.option("accumulation"))
    if spec.info.windows:
        labels, rare = 2, 0  # a document has several, so that each is seen often enough
    epochs = spec.option("epochs") or _epochs(spec.info, items, per_epoch, labels, rare)
    rate = spec.option("learning_rate")
    rate = rate or _rate(spec, learning_rate, width, epochs * per_epoch, labels)
    length = input_length(spec.option("max_length"), model_length)
    best = spec.option("best_by") or spec.info.main
    every = spec.option("evaluate_every") or _evaluate_every(epochs, per_epoch)
    method, options = methods.info(spec.method), spec.all_options
    return Plan(
        epochs,
        batch,
        rate,
        length,
        per_epoch,
        every,
        best,
        _warmup(spec, width),
        first_steps=method.first_steps(options, documents, batch),
        first_rate=method.first_rate(options, width),
    )


def input_length(chosen: int | None, model_length: int) -> int:
    """The most tokens of an input; model_length: that of the model, 0 if it has no limit."""
    return min(chosen or DEFAULT_MAX_LENGTH, model_length or DEFAULT_MAX_LENGTH)


def rare_documents(labels: Iterable[Iterable[str]]) -> int:
    """How many documents have a rare label: the one at the lower quartile of the labels that occur.

    labels: of each training document. 0 if none has any.
    """
    counts = sorted(Counter(label for names in labels for label in set(names)).values())
    return counts[len(counts) // 4] if counts else 0


def _per_epoch(items: int, batch: int, accumulation: int) -> int:
    """Optimizer updates of an epoch."""
    return max(1, math.ceil(math.ceil(items / batch) / accumulation))


def _epochs(info: TaskInfo, items: int, per_epoch: int, labels: int, rare: int) -> int:
    """Many classes need more steps: each is the gold of few documents of a batch. Rare ones need
    more epochs, however many the documents of the others.
    """
    if items >= 100_000:
        return 1
    if items >= 20_000:
        return 2
    steps = info.few_steps * learning_rates.bits(labels)
    fewest = max(3, round(RARE_LABEL_VIEWS / rare)) if rare else 3
    return min(20 if labels > 2 else 15, max(fewest, round(steps / per_epoch)))


def _rate(spec: TrainSpec, model: float, width: int, steps: int, labels: int) -> float:
    method = methods.info(spec.method)
    return learning_rates.fine_tuning(
        task=spec.info.learning_rate,
        method=method.learning_rate,
        factor=method.rate_factor,
        model=model,
        width=width,
        steps=steps,
        labels=labels,
    )


def _warmup(spec: TrainSpec, width: int) -> float:
    """Wide models diverge more often without warm-up; for small ones it wastes steps.

    Source: Mosbach et al. 2021; 0.06 as in RoBERTa. On WNUT-17, three epochs with the starter,
    span F1 on test was 40.4 with warm-up over a tenth of the steps and 43.9 without.
    """
    is_slanted = spec.option("schedule") == "slanted"
    chosen: float | None = spec.option("cut_frac") if is_slanted else None
    chosen = spec.option("warmup") if chosen is None else chosen
    if chosen is not None:
        return chosen
    if is_slanted:
        return 0.1  # cut_frac of Howard and Ruder 2018
    return 0.06 if width > 512 else 0.0


def _evaluate_every(epochs: int, per_epoch: int) -> int:
    """Steps between evaluations: at the end of short epochs, within long ones."""
    if epochs >= EVALUATIONS:
        return per_epoch * math.ceil(epochs / EVALUATIONS)
    if per_epoch < 200:
        return per_epoch
    return max(1, math.ceil(per_epoch / max(1, EVALUATIONS // epochs)))
