"""What a training reported at each step, read from the events in the run's folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.base import paths
from workbench.jobs import events, steps

if TYPE_CHECKING:
    from workbench.project.project import Project

SERIES = ("learning_rate", "gradient_norm")  # one value per step, besides the losses
PARTS = 5  # most parts of a model whose rates are drawn
Points = tuple[tuple[int, ...], tuple[float, ...]]  # steps and values


@dataclass(frozen=True)
class TrainingCurves:
    """loss: sum of all parts; learning_rate, gradient_norm: empty if they were not recorded.

    parts: name → values of each loss where there are several, as of an auxiliary language model.
    scores: name → values on dev. best: step of the kept checkpoint, None without one.
    adapting: name → values of each loss while the language model was adapted before the training.
    adapted: name → its perplexities on dev; both empty for a run without this stage.
    held_out: name → perplexities, or losses, of a pretraining on held-out text. clip: limit of the
    gradient norm, 0 for none. part_rates: see the function.
    """

    loss: Points = ((), ())
    learning_rate: Points = ((), ())
    gradient_norm: Points = ((), ())
    scores: Mapping[str, Points] = field(default_factory=dict)
    best: int | None = None
    parts: Mapping[str, Points] = field(default_factory=dict)
    adapting: Mapping[str, Points] = field(default_factory=dict)
    adapted: Mapping[str, Points] = field(default_factory=dict)
    held_out: Mapping[str, Points] = field(default_factory=dict)
    clip: float = 0.0
    part_rates: Mapping[str, Points] = field(default_factory=dict)


def training_curves(project: Project, run_id: int) -> TrainingCurves | None:
    """None if the run has no events of a training. Run it in a thread: the file may be long."""
    reader = _Reader()
    try:
        path = paths.run_folder(project.path, run_id) / "events.jsonl"
        for event in events.recorded(path):
            if isinstance(event, events.Output):
                reader.take(event.payload)
    except (ValueError, KeyError, TypeError):
        return None
    return reader.curves() if reader.loss else None


class _Reader:
    def __init__(self) -> None:
        self.loss: list[tuple[int, float]] = []
        self.parts: dict[str, list[tuple[int, float]]] = {}
        self.series: dict[str, list[tuple[int, float]]] = {name: [] for name in SERIES}
        self.scores: dict[str, list[tuple[int, float]]] = {}
        self.saved: list[int] = []  # steps of the checkpoints
        self.adapting: dict[str, list[tuple[int, float]]] = {}
        self.adapted: dict[str, list[tuple[int, float]]] = {}
        self.held_out: dict[str, list[tuple[int, float]]] = {}
        self.clip = 0.0
        self.part_rates: dict[str, Points] = {}

    def take(self, payload: Mapping[str, Any]) -> None:
        kind = payload.get("kind")
        if kind == "step":
            numbers, losses = steps.curves(payload)
            sums = [sum(values) for values in zip(*losses.values(), strict=True)]
            self.loss += zip(numbers, sums, strict=True)
            for name, values in losses.items():
                self.parts.setdefault(name, []).extend(zip(numbers, values, strict=True))
            for name, pairs in self.series.items():
                pairs += steps.points(payload, name)
        elif kind == "rate_plan":
            self.clip = payload["clip"]
            self.part_rates = part_rates(payload)
        elif kind == "evaluated" and payload.get("split", "dev") == "dev":
            _append(self.scores, payload["step"], payload["scores"])
        elif kind == "evaluated" and payload.get("split") == "held-out":
            _append(self.held_out, payload["step"], payload["scores"])
        elif kind == "saved":
            self.saved.append(payload["step"])
        elif kind == "resumed":
            self.go_back(payload["step"], adapting=bool(payload.get("adapting")))
        elif kind == "adapting":
            _append(self.adapting, payload["step"], payload["losses"])
        elif kind == "adapted":
            _append(self.adapted, payload["step"], payload["scores"])

    def go_back(self, step: int, *, adapting: bool) -> None:
        """Drop the points after a step from which the training continued."""
        last = 0 if adapting else step  # of the training itself
        self.saved = [number for number in self.saved if number <= last]
        self.loss = _until(self.loss, last)
        for points in (self.parts, self.series, self.scores, self.held_out):
            points.update({name: _until(pairs, last) for name, pairs in points.items()})
        for points in (self.adapting, self.adapted) if adapting else ():
            points.update({name: _until(pairs, step) for name, pairs in points.items()})

    def curves(self) -> TrainingCurves:
        rate, norm = (_points(self.series[name]) for name in SERIES)
        several = self.parts if len(self.parts) > 1 else {}
        return TrainingCurves(
            _points(self.loss),
            rate,
            norm,
            _each(self.scores),
            self.saved[-1] if self.saved else None,
            _each(several),
            _each(self.adapting),
            _each(self.adapted),
            _each(self.held_out),
            self.clip,
            self.part_rates,
        )


def part_rates(payload: Mapping[str, Any]) -> dict[str, Points]:
    """The rates of the parts of a model from the event `rate_plan`: at most PARTS of them, from the
    embeddings to the head; {} if all parts have the same.
    """
    rates, numbers = payload.get("rates") or {}, tuple(payload.get("steps", ()))
    names = list(rates)
    share = (len(names) - 1) / (PARTS - 1)
    chosen = dict.fromkeys(names[round(number * share)] for number in range(PARTS) if names)
    return {name: (numbers, tuple(rates[name])) for name in chosen}


def _until(pairs: list[tuple[int, float]], step: int) -> list[tuple[int, float]]:
    return [pair for pair in pairs if pair[0] <= step]


def _append(
    series: dict[str, list[tuple[int, float]]], step: int, values: Mapping[str, float]
) -> None:
    for name, value in values.items():
        series.setdefault(name, []).append((step, value))


def _each(series: Mapping[str, list[tuple[int, float]]]) -> dict[str, Points]:
    return {name: _points(pairs) for name, pairs in series.items()}


def _points(pairs: list[tuple[int, float]]) -> Points:
    return tuple(step for step, _value in pairs), tuple(value for _step, value in pairs)
