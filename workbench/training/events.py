"""Events of a training: frozen dataclasses, one JSON object each, distinguished by "kind"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from workbench.base.records import JsonRecord

PER_STEP = ("learning_rate", "gradient_norm")  # fields of which every value is kept, see jobs.steps


class TrainingEvent(JsonRecord):
    kind: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **super().to_json()}


@dataclass(frozen=True)
class Step(TrainingEvent):
    """One optimizer update.

    `losses` are named parts, each plotted as a curve; `epoch` starts at 1; memory in MB, of the
    device.
    """

    kind: ClassVar = "step"
    step: int
    total: int
    epoch: int
    losses: Mapping[str, float] = field(hash=False)
    learning_rate: float
    examples_per_second: float
    memory_mb: int
    seconds_left: float
    gradient_norm: float | None = None  # of all gradients together, before they are clipped

    def to_json(self) -> dict[str, Any]:
        return {"per_step": list(PER_STEP), **super().to_json()}


@dataclass(frozen=True)
class RatePlan(TrainingEvent):
    """Before the first update: the gradient clipping, 0 for none, and the rates of the parts.

    rates: embeddings, layer_1 … head → learning rate at each of `steps` (from 1 on), 0 where the
    part is frozen; {} if all parts have the rate of the steps.
    """

    kind: ClassVar = "rate_plan"
    clip: float
    steps: tuple[int, ...] = ()
    rates: Mapping[str, tuple[float, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Evaluated(TrainingEvent):
    """Scores (fractions of 1) and mean loss of a split after `step` updates.

    The loss is None if it was not computed.
    """

    kind: ClassVar = "evaluated"
    step: int
    split: str
    scores: Mapping[str, float] = field(hash=False)
    loss: float | None


@dataclass(frozen=True)
class EvaluatedLayer(TrainingEvent):
    """As `Evaluated`, for another layer that is trained together with the first one."""

    kind: ClassVar = "evaluated_layer"
    step: int
    layer: str
    split: str
    scores: Mapping[str, float] = field(hash=False)
    loss: float | None


@dataclass(frozen=True)
class Saved(TrainingEvent):
    """The checkpoint after `step` updates is the best so far and was saved in the run's folder."""

    kind: ClassVar = "saved"
    step: int


@dataclass(frozen=True)
class StateSaved(TrainingEvent):
    """The training can be continued from after `step` updates; `bytes` on the disk."""

    kind: ClassVar = "state"
    step: int
    bytes: int


@dataclass(frozen=True)
class Resumed(TrainingEvent):
    """The training continues after `step` updates: earlier events of later steps do not count.

    adapting: of the adaptation of the language model, before all steps of the training itself.
    """

    kind: ClassVar = "resumed"
    step: int
    adapting: bool = False


@dataclass(frozen=True)
class Tick(TrainingEvent):
    """A heartbeat between steps."""

    kind: ClassVar = "tick"
    step: int


@dataclass(frozen=True)
class FeatureProgress(TrainingEvent):
    """Features of `done` of `total` inputs are computed, before the first step."""

    kind: ClassVar = "features"
    done: int
    total: int


@dataclass(frozen=True)
class LogMessage(TrainingEvent):
    """A log message; `device` is set in the one that names the device of the run."""

    kind: ClassVar = "log"
    line: str
    device: str = ""


@dataclass(frozen=True)
class PrecisionTrial(TrainingEvent):
    """Two ways to compute a step were measured: bf16 or fp32, or two kinds of attention. `speedup`
    of the one over the other; `key` names processor, torch, threads and what was measured.

    Pass it to later runs as `precision_trials`, {key: speedup}, so that they need not measure it.
    """

    kind: ClassVar = "precision_trial"
    key: str
    speedup: float


@dataclass(frozen=True)
class LayerWeights(TrainingEvent):
    """Weights of the layers that the head reads, embeddings first, after `step` updates; sum 1.

    gamma: the factor of a scalar mix, None for other combinations. parts: "weights" and "gamma" of
    models in the embeddings, by name.
    """

    kind: ClassVar = "layer_weights"
    step: int
    weights: tuple[float, ...] = ()
    gamma: float | None = None
    parts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Adapting(TrainingEvent):
    """One update of the language model on the texts of a project, before the training itself.

    `losses` are named parts; `epoch` starts at 1.
    """

    kind: ClassVar = "adapting"
    step: int
    total: int
    epoch: int
    losses: Mapping[str, float] = field(hash=False)
    seconds_left: float


@dataclass(frozen=True)
class Adapted(TrainingEvent):
    """A measurement of the language model on held-out text after `step` of its updates.

    scores: perplexity (per unit) and, where the objective defines it, perplexity_per_word.
    """

    kind: ClassVar = "adapted"
    step: int
    scores: Mapping[str, float] = field(hash=False)


Event = (
    Step
    | RatePlan
    | Evaluated
    | EvaluatedLayer
    | Saved
    | StateSaved
    | Resumed
    | Tick
    | LogMessage
    | FeatureProgress
    | PrecisionTrial
    | LayerWeights
    | Adapting
    | Adapted
)
