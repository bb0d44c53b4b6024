"""Events of a training: frozen dataclasses, one JSON object each, distinguished by "kind"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

PER_STEP = ("learning_rate", "gradient_norm")  # fields of which every value is kept, see jobs.steps


@dataclass(frozen=True)
class Step:
    """One optimizer update.

    `losses` are named parts, each plotted as a curve; `epoch` starts at 1; memory in MB, of the
    device.
    """

    step: int
    total: int
    epoch: int
    losses: Mapping[str, float] = field(hash=False)
    learning_rate: float
    examples_per_second: float
    memory_mb: int
    seconds_left: float
    gradient_norm: float | None = None  # of all gradients together, before they are clipped

    def to_json(self) -> dict[str, object]:
        return {"kind": "step", "per_step": list(PER_STEP), **asdict(self)}


@dataclass(frozen=True)
class Evaluated:
    """Scores (fractions of 1) and mean loss of a split after `step` updates.

    The loss is None if it was not computed.
    """

    step: int
    split: str
    scores: Mapping[str, float] = field(hash=False)
    loss: float | None

    def to_json(self) -> dict[str, object]:
        return {"kind": "evaluated", **asdict(self)}


@dataclass(frozen=True)
class Saved:
    """The checkpoint after `step` updates is the best so far and was saved in the run's folder."""

    step: int

    def to_json(self) -> dict[str, object]:
        return {"kind": "saved", **asdict(self)}


@dataclass(frozen=True)
class Tick:
    """A heartbeat between steps."""

    step: int

    def to_json(self) -> dict[str, object]:
        return {"kind": "tick", **asdict(self)}


@dataclass(frozen=True)
class FeatureProgress:
    """Features of `done` of `total` inputs are computed, before the first step."""

    done: int
    total: int

    def to_json(self) -> dict[str, object]:
        return {"kind": "features", **asdict(self)}


@dataclass(frozen=True)
class LogMessage:
    """A log message; `device` is set in the one that names the device of the run."""

    line: str
    device: str = ""

    def to_json(self) -> dict[str, object]:
        return {"kind": "log", **asdict(self)}


@dataclass(frozen=True)
class PrecisionTrial:
    """bf16 was measured: `speedup` over fp32. `key` names processor, torch, threads, shape.

    Pass it to later runs as `precision_trials`, {key: speedup}, so that they need not measure it.
    """

    key: str
    speedup: float

    def to_json(self) -> dict[str, object]:
        return {"kind": "precision_trial", **asdict(self)}


@dataclass(frozen=True)
class LayerWeights:
    """Weights of the layers that the head reads, embeddings first, after `step` updates; sum 1.

    gamma: the factor of a scalar mix, None for other combinations. parts: "weights" and "gamma" of
    models in the embeddings, by name.
    """

    step: int
    weights: tuple[float, ...] = ()
    gamma: float | None = None
    parts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)

    def to_json(self) -> dict[str, object]:
        return {"kind": "layer_weights", **asdict(self)}


@dataclass(frozen=True)
class Adapting:
    """One update of the language model on the texts of a project, before the training itself.

    `losses` are named parts; `epoch` starts at 1.
    """

    step: int
    total: int
    epoch: int
    losses: Mapping[str, float] = field(hash=False)
    seconds_left: float

    def to_json(self) -> dict[str, object]:
        return {"kind": "adapting", **asdict(self)}


@dataclass(frozen=True)
class Adapted:
    """A measurement of the language model on held-out text after `step` of its updates.

    scores: perplexity (per unit) and, where the objective defines it, perplexity_per_word.
    """

    step: int
    scores: Mapping[str, float] = field(hash=False)

    def to_json(self) -> dict[str, object]:
        return {"kind": "adapted", **asdict(self)}


Event = (
    Step
    | Evaluated
    | Saved
    | Tick
    | LogMessage
    | FeatureProgress
    | PrecisionTrial
    | LayerWeights
    | Adapting
    | Adapted
)
