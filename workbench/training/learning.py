"""What the training loop learns: the contract of fine-tuning and pretraining."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import torch

from workbench.tasks.base import Loss
from workbench.training.events import Event
from workbench.training.rates import Schedule

T = TypeVar("T")
B = TypeVar("B")  # a batch
R = TypeVar("R", covariant=True)  # the result
Events = Generator[Event, None, T]  # what a learning reports until it returns


@dataclass
class TrainingState:
    """Where a training is; the loop writes it, and the learning reads it.

    step: updates so far. epoch: 0-based, written by `Learning.updates`. stopping: the user asked to
    stop, or the disk is full. bf16: whether training uses bfloat16; evaluations are in float32, as
    later predictions.
    """

    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    bf16: bool = False
    step: int = 0
    epoch: int = 0
    stopping: bool = False


@dataclass(frozen=True)
class Optimization:
    """How the weights are updated.

    groups: of AdamW, each with its own `peak` learning rate, see `optim.groups`. warmup: fraction
    of the training during which the rate rises. clip: largest norm of all gradients together, 0
    for no limit.
    """

    groups: Sequence[dict[str, Any]]
    schedule: Schedule
    warmup: float
    clip: float


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

    model_name: as the log names it. options: device and precision are read. best_only: whether only
    the best checkpoint is saved; otherwise the last is saved too. report_every: seconds between the
    events of steps, 0 for every step. usual: name of a loss → its usual count in a batch, which it
    is divided by instead of its own, see `batches.weighted`.
    """

    state: TrainingState
    seed: int
    model_name: str
    options: Mapping[str, Any]
    best_only: bool
    report_every: float
    usual: Mapping[str, float | None]

    def check(self) -> None:
        """Raises SpecError before anything is loaded if data and settings do not fit."""

    def load(self) -> Events[None]:
        """Load the model onto the device of the state."""

    def shape(self) -> tuple[int, int]:
        """Hidden size and feed-forward width of the model."""

    def prepare(self) -> Events[None]:
        """Prepare the data."""

    def optimization(self) -> Optimization: ...

    def updates(self) -> Iterator[Sequence[B]]:
        """The batches of each update, with the model in training mode; all epochs."""

    def position(self) -> tuple[int, int]:
        """How far the schedule is before the next update: a step (0-based) of a total."""

    def losses(self, batch: B) -> dict[str, Loss]: ...

    def size(self, batch: B) -> int:
        """Number of examples."""

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
