"""What the training loop learns: the contract of fine-tuning and pretraining."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

import torch
from torch import nn

from workbench.models.precision import TrialStep
from workbench.tasks.base import Loss
from workbench.training.events import Event
from workbench.training.ranks import Ranks
from workbench.training.rates import LayerRates, Schedule
from workbench.training.states import StateHeader

T = TypeVar("T")
B = TypeVar("B")  # a batch
R = TypeVar("R", covariant=True)  # the result
Events = Generator[Event, None, T]  # what a learning reports until it returns


@dataclass
class TrainingState:
    """Where a training is; the loop writes it, and the learning reads it.

    step: updates so far. epoch: 0-based, written by `Learning.updates`. stopping: the user asked to
    stop, or the disk is full. ranks: the processes that train together. bf16: whether training uses
    bfloat16; evaluations are in float32, as later predictions. most: examples of a micro-batch,
    into which batches are divided where memory is short, None for whole batches. recomputes:
    whether gradient checkpointing is used. remarks: sentences for the result, about what happened
    to the training. began: of this process; continued: seconds and processor seconds before it.
    """

    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    bf16: bool = False
    step: int = 0
    epoch: int = 0
    stopping: bool = False
    ranks: Ranks = field(default_factory=Ranks)
    most: int | None = None
    recomputes: bool = False
    remarks: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    continued: tuple[float, float] = (0.0, 0.0)

    def spent(self) -> tuple[float, float]:
        """Seconds, and processor seconds, of this process and of those that it continues."""
        seconds = time.monotonic() - self.began, time.process_time()
        return seconds[0] + self.continued[0], seconds[1] + self.continued[1]


@dataclass(frozen=True)
class Optimization:
    """How the weights are updated.

    groups: of AdamW, each with its own `peak` learning rate, see `optim.groups`. warmup: fraction
    of the training during which the rate rises. clip: largest norm of all gradients together, 0
    for no limit. parts: the rates of the parts of the model, None if all have the same.
    """

    groups: Sequence[dict[str, Any]]
    schedule: Schedule
    warmup: float
    clip: float
    parts: LayerRates | None = None


@dataclass(frozen=True)
class Measurement:
    """Scores, and the mean loss, of a split at the present step."""

    split: str
    scores: Mapping[str, float]
    loss: float


class Learning(Protocol[B, R]):
    """One run from its data to its result, called by `Loop` in the order of the methods here.

    Methods that take time yield events, and a Tick whenever they can;
    the loop passes on no more ticks than are needed.

    model_name: as the log names it. options: device, precision and checkpointing are read.
    best_only: whether only the best checkpoint is saved; otherwise the last is saved too.
    report_every: seconds between the events of steps, 0 for every step. usual: name of a loss → its
    usual count in a batch, which it is divided by instead of its own, see `batches.weighted`.
    divides: whether examples of a batch can be trained on one after another. checkpoint: folder of
    the best one, without which the training cannot be continued; None if the last one is kept.
    """

    state: TrainingState
    seed: int
    model_name: str
    options: Mapping[str, Any]
    best_only: bool
    report_every: float
    usual: Mapping[str, float | None]
    divides: bool
    checkpoint: Path | None

    def check(self) -> None:
        """Raises SpecError before anything is loaded if data and settings do not fit."""

    def load(self) -> Events[None]:
        """Load the model onto the device of the state, with all counters at their beginning.

        Called again when the training goes back to an earlier state.
        """

    def width(self) -> int:
        """Hidden size of the model."""

    def trial_step(self) -> TrialStep:
        """What the precision is chosen by; it changes neither weights nor random numbers."""

    def prepare(self) -> Events[None]:
        """Prepare the data."""

    def optimization(self) -> Optimization: ...

    def header(self) -> StateHeader:
        """What a state of the present step belongs to."""

    def modules(self) -> Mapping[str, nn.Module]:
        """Everything that is trained, by name."""

    def state_dict(self) -> dict[str, Any]:
        """What it needs besides weights and optimizer to continue: tensors, numbers, texts, lists
        and dicts.
        """

    def load_state_dict(self, state: Mapping[str, Any], *, longer: bool) -> None:
        """Continue from a `state_dict`, after `prepare`: `updates` yields those that follow.

        longer: whether there are more epochs than were planned.
        """

    def updates(self) -> Iterator[Sequence[B]]:
        """The batches of each update, with the model in training mode; all epochs that are left."""

    def position(self) -> tuple[int, int]:
        """How far the schedule is before the next update: a step (0-based) of a total."""

    def losses(self, batch: B) -> dict[str, Loss]: ...

    def size(self, batch: B) -> int:
        """Number of examples."""

    def part(self, batch: B, number: int, count: int) -> B | None:
        """The examples of a batch of part `number` of `count`; None if there are none."""

    def recompute(self) -> bool:
        """Use gradient checkpointing from now on; False if the layers of the model cannot."""

    def count(self, batch: B, losses: Mapping[str, Loss]) -> None:
        """Take note of a batch that was trained on, and of its losses, detached."""

    def progress(self) -> float:
        """Fraction of the training that is done, 0 to 1."""

    def reports(self) -> Iterable[Event]:
        """Further events after an update."""

    def is_due(self) -> bool:
        """Whether to evaluate now. Asked once before the first update and once after each."""

    def is_done(self) -> bool:
        """Whether to end before all updates."""

    def evaluate(self) -> Events[Measurement | None]:
        """None without data to evaluate on."""

    def improves(self, measurement: Measurement | None) -> bool:
        """Whether to save the checkpoint that this is the measurement of."""

    def save(self) -> None:
        """Write the checkpoint of the present step."""

    def finish(self) -> Events[R]:
        """The result, with everything that needs the trained model."""

    def release(self) -> None:
        """Drop everything that holds memory of the device; called at every end, also twice."""

    def read_back(self) -> None:
        """Raises ModelError unless the saved model computes what the trained one did."""
