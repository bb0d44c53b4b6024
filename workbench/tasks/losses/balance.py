"""What training inputs have to learn, and what the settings make of uneven labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.tasks.losses.info import (
    CLASS_WEIGHTS,
    NONE,
    PLAIN,
    ROOT,
    SAMPLING,
    parse_class_weights,
)

BINS = 10  # of numbers, of equal width


@dataclass(frozen=True)
class TargetCounts:
    """How often each of C labels is a target in each of N inputs.

    names: of the labels. counts: float (N, C). label_of: for each output of the network the number
    of its label, -1 if it has none; by default the outputs are the labels.
    """

    names: tuple[str, ...]
    counts: np.ndarray
    label_of: tuple[int, ...] = ()

    @classmethod
    def of_classes(cls, names: Sequence[str], classes: Sequence[np.ndarray]) -> TargetCounts:
        """One class for each input: int () each, a number of a name."""
        counts = np.zeros((len(classes), len(names)), np.float32)
        counts[np.arange(len(classes)), np.asarray(classes, np.int64)] = 1
        return cls(tuple(names), counts)

    @classmethod
    def of_rows(
        cls, names: Sequence[str], rows: Sequence[np.ndarray], label_of: Sequence[int] = ()
    ) -> TargetCounts:
        """Outputs of the targets of each input, int (T,) each; negative ones are left out."""
        to_label = np.asarray(label_of or range(len(names)))
        counts = np.zeros((len(rows), len(names)), np.float32)
        for number, row in enumerate(rows):
            labels = to_label[row[row >= 0]]
            counts[number] = np.bincount(labels[labels >= 0], minlength=len(names))
        return cls(tuple(names), counts, tuple(label_of))

    @classmethod
    def of_numbers(cls, values: Sequence[np.ndarray]) -> TargetCounts:
        """BINS of equal width from the lowest to the highest number, without empty ones.

        Source: Yang et al. 2021, Delving into Deep Imbalanced Regression, section 3. Bins with
        equally many numbers would leave nothing to balance.
        """
        numbers = np.asarray(values, np.float64)
        edges = np.linspace(numbers.min(), numbers.max(), BINS + 1)
        places = np.clip(np.searchsorted(edges, numbers, "right") - 1, 0, BINS - 1)
        present, classes = np.unique(places, return_inverse=True)
        names = [f"{edges[place]:.3g} – {edges[place + 1]:.3g}" for place in present]
        return cls.of_classes(names, list(classes))


def class_weights(
    counts: np.ndarray, names: Sequence[str], setting: str, *, others: np.ndarray | None = None
) -> np.ndarray | None:
    """Weights (C,) of labels with these counts (C,); None if all have weight 1.

    others (C,): how often a label is not the target, where each is decided on its own; a weight is
    then that of the targets against the others, as `pos_weight` of torch. Else the mean weight of
    all targets is 1, except for weights by hand. Labels that do not occur have weight 1.
    Source: scikit-learn's compute_class_weight("balanced"); Cui et al. 2019, equation 2.
    """
    rule = parse_class_weights(setting)
    if rule == NONE:
        return None
    weights = np.ones(len(counts))
    if isinstance(rule, dict):
        return np.array([rule.get(name, 1.0) for name in names])
    present = (counts > 0) & (others > 0) if others is not None else counts > 0
    if not present.any():
        return weights
    size = np.asarray(counts[present], np.float64)
    if others is not None:
        weights[present] = _size(others[present], rule) / _size(size, rule)
        return weights
    inverse = 1 / _size(size, rule)
    weights[present] = inverse * size.sum() / (inverse * size).sum()
    return weights


def _size(counts: np.ndarray, rule: str | float) -> np.ndarray:
    """What a weight is inversely proportional to."""
    if isinstance(rule, float):  # the effective number, for β
        effective: np.ndarray = -np.expm1(counts * math.log(rule)) / (1 - rule)
        return effective
    return np.sqrt(counts) if rule == ROOT else counts


def sampling_weights(counts: np.ndarray, setting: str) -> np.ndarray | None:
    """How often each input is drawn, relative (N,), from the counts (N, C) of its labels.

    The highest factor of its labels, which is 1 / f, or its square root, for a label in the share f
    of the inputs; inputs without a label are a class of their own. None: each input once.
    Source: repeat factors of Gupta et al. 2019 (LVIS), section 4, with t = 1.
    """
    if setting == PLAIN or not len(counts):
        return None
    has = counts > 0
    has = np.column_stack([has, ~has.any(1)])
    factors = 1 / np.maximum(has.mean(0), 1 / len(has))
    if setting == ROOT:
        factors = np.sqrt(factors)
    weights: np.ndarray = np.where(has, factors, 0.0).max(1)
    return weights


@dataclass(frozen=True)
class Balance:
    """What the settings of a run make of its uneven labels.

    counts: None for a task whose targets have no labels. weights: of the labels in the loss, (C,);
    often: relative frequency of each input, (N,); None for equal ones.
    """

    counts: TargetCounts | None = None
    weights: np.ndarray | None = None
    often: np.ndarray | None = None

    @classmethod
    def of(
        cls, counts: TargetCounts | None, options: Mapping[str, Any], *, independent: bool
    ) -> Balance:
        """independent: each label is decided on its own, so that weights are those of its targets
        against the other inputs.
        """
        if counts is None:
            return cls()
        sums = counts.counts.sum(0)
        others = len(counts.counts) - sums if independent else None
        setting = str(options.get(CLASS_WEIGHTS.name) or NONE)
        return cls(
            counts,
            class_weights(sums, counts.names, setting, others=others),
            sampling_weights(counts.counts, str(options.get(SAMPLING.name) or PLAIN)),
        )

    def of_outputs(self) -> tuple[float, ...]:
        """Weights of the outputs of the network, () for equal ones."""
        if self.counts is None or self.weights is None:
            return ()
        label_of = self.counts.label_of or range(len(self.weights))
        return tuple(float(self.weights[at]) if at >= 0 else 1.0 for at in label_of)

    def rows(self) -> list[dict[str, Any]]:
        """The effect on an expected batch, for each label.

        "label"; "count": targets in the training data; "plain" and "sampled": its expected share of
        the targets in a batch without and with the sampling; "weight" in the loss.
        """
        if self.counts is None or not len(self.counts.counts):
            return []
        counts = self.counts.counts
        sums = counts.sum(0)
        drawn = sums if self.often is None else self.often @ counts
        plain, sampled = (part / max(float(part.sum()), 1e-12) for part in (sums, drawn))
        weights = self.weights if self.weights is not None else [1.0] * len(sums)
        columns = zip(self.counts.names, sums, plain, sampled, weights, strict=True)
        return [
            {
                "label": name,
                "count": int(count),
                "plain": float(share),
                "sampled": float(other),
                "weight": float(weight),
            }
            for name, count, share, other, weight in columns
        ]
