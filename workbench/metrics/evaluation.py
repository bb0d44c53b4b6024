"""The scores of predictions on a split: made by a worker, stored with a run, shown in Results.

Without numpy, so that the start of the window can import it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import isclose
from typing import Any

from workbench.base.records import JsonRecord
from workbench.metrics.classes import LabelScore


@dataclass(frozen=True)
class Measured(JsonRecord):
    """A score: a fraction of 1 (MCC and kappa from -1), with a 95% interval.

    None: not defined, for example without a document of the label.
    """

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)


UNKNOWN = Measured(None)


@dataclass(frozen=True)
class Intervals(JsonRecord):
    """Scores by name on n documents, more than those of the task; `labels`: label → name → score.

    rounds, seed: of the bootstrap over documents; 0 for an interval that a task computes itself.
    outcomes: mode → outcome → number of spans.
    """

    n: int
    rounds: int
    seed: int
    scores: Mapping[str, Measured]
    labels: Mapping[str, Mapping[str, Measured]]
    outcomes: Mapping[str, Mapping[str, int]]

    def of_label(self, label: str, name: str) -> Measured:
        return self.labels.get(label, {}).get(name, UNKNOWN)


@dataclass(frozen=True)
class ConfusionMatrix:
    """Confusion counts: `cells[gold][predicted]`, rows and columns in the order of `labels`;
    `documents` of each cell by id.

    For tags a unit is a span with equal offsets on both sides; a span that exists on one side only
    is in the row or column "–", which is then the value of `unmatched`.
    """

    labels: tuple[str, ...]
    cells: tuple[tuple[int, ...], ...]
    documents: Mapping[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)
    unmatched: str = ""

    def to_json(self) -> dict[str, object]:
        """Without the documents, whose ids mean nothing in another project."""
        cells = [list(row) for row in self.cells]
        return {"labels": list(self.labels), "cells": cells, "unmatched": self.unmatched}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> ConfusionMatrix:
        cells = tuple(map(tuple, raw["cells"]))
        return cls(tuple(raw["labels"]), cells, unmatched=raw["unmatched"])


@dataclass(frozen=True)
class Evaluation:
    """Predictions for n documents of a split, scored against their gold.

    fingerprint: of the texts and gold; "" if only the scores are known, as of a run that left no
    other result. per_label: of every label that is gold or predicted. at: when a score was first
    shown after the run, ISO 8601; "" for that of the run itself. confusion, intervals: None where
    they were not computed; a run stores neither, as they are large and of no use once gold changes.
    no_answer: documents of which a reply could not be read, which are wrong in the scores.
    """

    split: str
    n: int = 0
    fingerprint: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    per_label: tuple[LabelScore, ...] = ()
    at: str = ""
    confusion: ConfusionMatrix | None = None
    intervals: Intervals | None = None
    no_answer: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether more than the scores is known."""
        return bool(self.fingerprint)

    @property
    def measures(self) -> dict[str, Measured]:
        """Every score, with its interval if that is known."""
        measures = dict(self.intervals.scores) if self.intervals is not None else {}
        for name, value in self.scores.items():
            measures.setdefault(name, Measured(value))
        return measures

    def interval(self, name: str) -> tuple[float, float] | None:
        """The 95% interval of a score; None if it is unknown."""
        return self.measures.get(name, UNKNOWN).interval

    def of_label(self, label: str, name: str) -> Measured:
        """A score of a label with its interval; UNKNOWN before the intervals are computed."""
        return self.intervals.of_label(label, name) if self.intervals is not None else UNKNOWN

    def with_intervals(self, intervals: Intervals) -> Evaluation:
        """With these intervals; a score that both have keeps its value to the last bit.

        A statistic sums the same numbers in another order.
        """
        rows = {row.label: row for row in self.per_label}
        scores = {
            name: _exact(score, self.scores.get(name)) for name, score in intervals.scores.items()
        }
        labels = {
            label: {
                name: _exact(score, getattr(rows.get(label), name, None))
                for name, score in measured.items()
            }
            for label, measured in intervals.labels.items()
        }
        return replace(self, intervals=replace(intervals, scores=scores, labels=labels))

    def to_json(self) -> dict[str, Any]:
        """The form in the result of a job, with a run, and on the command line."""
        more = {
            "at": self.at,
            "no_answer": self.no_answer,
            "confusion": self.confusion.to_json() if self.confusion else None,
            "intervals": self.intervals.to_json() if self.intervals else None,
        }
        return {
            "split": self.split,
            "n": self.n,
            "fingerprint": self.fingerprint,
            "scores": dict(self.scores),
            "per_label": [row.to_json() for row in self.per_label],
            **{name: value for name, value in more.items() if value},
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any], split: str = "") -> Evaluation:
        """split: of a form without it. Raises KeyError or TypeError for anything else."""
        scores, rows = dict(raw["scores"]), tuple(map(_label_score, raw["per_label"]))
        confusion, intervals = raw.get("confusion"), raw.get("intervals")
        return cls(
            raw.get("split", split),
            raw["n"],
            raw["fingerprint"],
            scores,
            rows,
            str(raw.get("at", "")),
            ConfusionMatrix.from_json(confusion) if confusion else None,
            Intervals.from_json(intervals) if intervals else None,
            int(raw.get("no_answer", 0)),
        )


def _exact(score: Measured, value: float | None) -> Measured:
    same = value is not None and score.value is not None and isclose(value, score.value)
    return replace(score, value=value) if same else score


def _label_score(raw: Mapping[str, Any] | Sequence[Any]) -> LabelScore:
    """Runs of earlier versions stored a list of the values."""
    return LabelScore(**raw) if isinstance(raw, Mapping) else LabelScore(*raw)


def to_json(evaluations: Mapping[str, Evaluation]) -> dict[str, Any]:
    """Evaluations by split as a run stores them."""
    return {split: evaluation.to_json() for split, evaluation in evaluations.items()}


def from_json(raw: Mapping[str, Any]) -> dict[str, Evaluation]:
    """The evaluations in the result of a job or run, by split; damaged ones are left out.

    An earlier version, and a run whose worker left no result, has nothing but scores.
    """
    evaluations = {
        split: Evaluation(split, scores=dict(scores))
        for split, scores in (raw.get("scores") or {}).items()
        if scores and isinstance(scores, Mapping)
    }
    for split, item in (raw.get("evaluations") or {}).items():
        with suppress(KeyError, TypeError):
            evaluations[split] = Evaluation.from_json(item, split)
    return evaluations
