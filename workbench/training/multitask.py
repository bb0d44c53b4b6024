"""Multi-task training: several layers, one encoder, one head for each.

Each update is on the examples of one layer, drawn in proportion to their number to the power of
`task_alpha` (with accumulation, of several). Every layer is a `FineTuning` of its own, whose
checkpoint, predictions and result are those of a training on it alone.
Source: Liu et al. 2019, Multi-Task Deep Neural Networks (MT-DNN), algorithm 1.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from torch import nn

from workbench.base import owned_folder
from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.models.precision import TrialStep
from workbench.tasks import model as networks
from workbench.tasks.base import Loss, SharedEncoder
from workbench.text.dataset import Dataset
from workbench.training import batches, checkpoints, prepare, states
from workbench.training.events import Evaluated, EvaluatedLayer, Event, LogMessage, Tick
from workbench.training.finetuning import FineTuning
from workbench.training.general import SELECT_OVER, TASK_ALPHA
from workbench.training.learning import Events, Measurement, Optimization, T, TrainingState
from workbench.training.plan import Plan
from workbench.training.results import TrainResult
from workbench.training.spec import TrainSpec
from workbench.training.states import StateHeader


@dataclass(frozen=True)
class OtherData:
    """The data of another layer; see `training.loop.train`."""

    data: Dataset
    splits: Mapping[str, Sequence[int]] | None = None
    plan: Plan | None = None


class TaskBatch(NamedTuple):
    """chosen: int (B,), positions among the training inputs of the layer with this number."""

    number: int
    chosen: np.ndarray


def shares(sizes: Sequence[int], alpha: float) -> np.ndarray:
    """The probability of each layer, float (N,): its size to the power alpha, sum 1."""
    powers: np.ndarray = np.asarray(sizes, float) ** alpha
    whole: np.ndarray = powers / powers.sum()
    return whole


def drawn_layers(
    sizes: Sequence[int], alpha: float, count: int, rng: np.random.Generator
) -> np.ndarray:
    """The layer of each of `count` batches, int (count,)."""
    return rng.choice(len(sizes), count, p=shares(sizes, alpha))


class MultiTask:
    """A Learning of several layers; the settings are those of the first one."""

    best_only = divides = True
    report_every = 0.0
    usual: Mapping[str, float | None]
    options: Mapping[str, Any]

    def __init__(
        self,
        spec: TrainSpec,
        data: Dataset,
        folder: Path,
        splits: Mapping[str, Sequence[int]] | None,
        planned: Plan | None,
        also: Sequence[OtherData],
    ):
        """folder: gets `tasks/0`, `tasks/1` …, each with `model` and `predictions.jsonl`."""
        if missing := [other.layer for other in spec.others[len(also) :]]:
            message = _("The data of these layers are missing: {names}.", names=", ".join(missing))
            raise SpecError(message)
        self.spec, self.folder, self.state = spec, folder, TrainingState()
        specs = [spec, *(spec.of_other(number) for number in range(len(also)))]
        first = OtherData(data, splits, planned)
        self.parts = [
            FineTuning(one, of.data, states.task_folder(folder, n), of.splits, of.plan, self.state)
            for n, (one, of) in enumerate(zip(specs, (first, *also), strict=True))
        ]
        weights = [1.0, *(other.weight for other in spec.others)]
        self.weights = [weight / fmean(weights) for weight in weights]
        self.seed, self.options = spec.seed, spec.all_options
        self.model_name = self.first.model_name
        self.checkpoint: Path | None = folder / states.TASKS

    @property
    def first(self) -> FineTuning:
        return self.parts[0]

    # ------------------------------------------------------------ model and data

    def check(self) -> None:
        for part in self.parts:
            part.check()

    def load(self) -> Events[None]:
        first, *others = self.parts
        self.best: float | None = None  # value of the best checkpoint
        self.stale = 0  # evaluations since then
        self.place = (0, 0)  # epoch, updates of it that were begun
        for part in self.parts:
            part.begin()
        yield Tick(0)
        model = first.build([record for part in self.parts for record in part.records["train"]])
        models = [model, *(networks.beside(model, part.setting) for part in others)]
        self.model = SharedEncoder(models)
        first.use(self.model)
        self.method = first.method
        for part, own in zip(self.parts, models, strict=True):
            method = copy.copy(self.method)  # what it has inserted and frozen is that of all
            method.model = own
            part.share(own, method)

    def width(self) -> int:
        return self.first.width()

    def trial_step(self) -> TrialStep:
        return self.first.trial_step()

    def prepare(self) -> Events[None]:
        checkpoints.check_room(self.folder, self.model)
        for part in self.parts:
            yield from part.read()
        inputs = [encoded for part in self.parts for encoded in part.train_set.prepared.inputs]
        self.model.encoder.narrow(inputs)
        plan, *others = [part.resolved() for part in self.parts]
        self.plan = plan.together(others, self.spec)
        self.sizes = [len(part.train_set.lengths) for part in self.parts]
        for part, own in zip(self.parts, (plan, *others), strict=True):
            part.settle(replace(self.plan, max_length=own.max_length, best_by=own.best_by))
        self.usual = {
            self.name(number, loss): count
            for number, part in enumerate(self.parts)
            for loss, count in part.usual.items()
        }
        first = self.first.train_set.prepared
        for line in prepare.messages(self.plan, self.spec, first, self.model.encoder):
            yield LogMessage(line)
        for part, share in zip(self.parts, shares(self.sizes, self.alpha), strict=True):
            line = _(
                "Layer {layer}: {share:.0%} of the batches", layer=part.spec.layer, share=share
            )
            yield LogMessage(line)
            yield from part.try_task()

    @property
    def alpha(self) -> float:
        return float(self.options[TASK_ALPHA.name])

    def name(self, number: int, loss: str) -> str:
        """Of a loss of a layer, among those of all."""
        layer = self.parts[number].spec.layer
        return layer if loss == "task" else f"{layer}, {loss}"

    # ------------------------------------------------------------ updates

    def optimization(self) -> Optimization:
        groups = self.method.checked_groups(self.plan.learning_rate)
        return replace(self.first.optimization(), groups=groups)

    def updates(self) -> Iterator[Sequence[TaskBatch]]:
        rng = np.random.default_rng(self.seed)
        endless = [self.endless(number) for number in range(len(self.parts))]
        first = self.place  # earlier batches are drawn too, so that the later ones are the same
        count = self.plan.steps_per_epoch * int(self.options["accumulation"])
        for epoch in range(self.plan.epochs):
            self.state.epoch = epoch
            self.method.start_epoch(epoch)
            if (epoch, 0) >= first:
                for part in self.parts:
                    part.begin_epoch()
            drawn = drawn_layers(self.sizes, self.alpha, count, rng)
            following = (next(endless[number]) for number in drawn.tolist())
            bundles = prepare.bundles(following, int(self.options["accumulation"]))
            for number, bundle in enumerate(bundles):
                if (epoch, number) < first:
                    continue
                self.place = epoch, number + 1
                self.method.train_mode(epoch)
                yield bundle

    def endless(self, number: int) -> Iterator[TaskBatch]:
        """The batches of a layer, in a new order after each pass over it."""
        part, rng = self.parts[number], np.random.default_rng((self.seed, number))
        while True:
            for chosen in batches.drawn(
                part.train_set.lengths, self.plan.batch_size, rng, part.often
            ):
                yield TaskBatch(number, chosen)

    def position(self) -> tuple[int, int]:
        return self.first.position()

    def losses(self, batch: TaskBatch) -> dict[str, Loss]:
        number, weight = batch.number, self.weights[batch.number]
        own = self.parts[number].losses(batch.chosen)
        return {
            self.name(number, name): Loss(loss.total * weight, loss.count)
            for name, loss in own.items()
        }

    def size(self, batch: TaskBatch) -> int:
        return len(batch.chosen)

    def part(self, batch: TaskBatch, number: int, count: int) -> TaskBatch | None:
        chosen = self.first.part(batch.chosen, number, count)
        return None if chosen is None else TaskBatch(batch.number, chosen)

    def recompute(self) -> bool:
        return self.model.encoder.checkpoint_layers(batches.replayed(self.model))

    def count(self, batch: TaskBatch, losses: Mapping[str, Loss]) -> None:
        part, weight = self.parts[batch.number], self.weights[batch.number]
        part.count(
            batch.chosen,
            {name: Loss(loss.total / weight, loss.count) for name, loss in losses.items()},
        )

    def progress(self) -> float:
        return self.first.progress()

    def reports(self) -> Iterable[Event]:
        return self.first.reports()

    # ------------------------------------------------------------ evaluation and best checkpoint

    def is_due(self) -> bool:
        return self.first.is_due()

    def is_done(self) -> bool:
        """Whether it is out of patience."""
        return bool(self.options["patience"]) and self.stale >= self.options["patience"]

    def evaluate(self) -> Events[Measurement | None]:
        """The scores of the first layer, and of the others as events; None if one has no dev."""
        self.measured = []
        for part in self.parts:
            measurement = yield from part.evaluate()
            if measurement is None:
                return None
            self.measured.append(measurement)
            if part is not self.first:
                scores, loss = measurement.scores, measurement.loss
                yield EvaluatedLayer(self.state.step, part.spec.layer, "dev", scores, loss)
        return self.measured[0]

    def improves(self, measurement: Measurement | None) -> bool:
        if measurement is None:
            return False
        for part, own in zip(self.parts, self.measured, strict=True):
            part.latest.value = part.value_of(own.scores, own.loss)
        values = [part.latest.value or 0.0 for part in self.parts]
        value = fmean(values) if self.options[SELECT_OVER.name] == "all" else values[0]
        is_better = checkpoints.better(value, self.best)
        self.stale = 0 if is_better else self.stale + 1
        self.best = value if is_better else self.best
        return is_better

    def save(self) -> None:
        """Write the checkpoints of all layers together."""
        checkpoints.ensure_room(self.folder, self.model)
        written = []

        def fill(draft: Path) -> None:
            for number, part in enumerate(self.parts):
                folder = draft / str(number)
                folder.mkdir()
                written.append(part.written(folder))

        owned_folder.replace(self.folder / states.TASKS, fill)
        for part, best in zip(self.parts, written, strict=True):
            part.best = best

    # ------------------------------------------------------------ state

    def header(self) -> StateHeader:
        fingerprints = "\n".join(part.data_fingerprint for part in self.parts)
        data = hashlib.blake2b(fingerprints.encode(), digest_size=16).hexdigest()
        return replace(self.first.header(), data=data)

    def modules(self) -> dict[str, nn.Module]:
        return {"model": self.model}

    def state_dict(self) -> dict[str, Any]:
        return {
            "place": list(self.place),
            "stale": self.stale,
            "best": self.best,
            "parts": [part.state_dict() for part in self.parts],
        }

    def load_state_dict(self, state: Mapping[str, Any], *, longer: bool) -> None:
        """More epochs begin with all of their patience."""
        self.place, self.stale = tuple(state["place"]), 0 if longer else state["stale"]
        self.best = state["best"]
        for part, own in zip(self.parts, state["parts"], strict=True):
            part.load_state_dict(own, longer=longer)

    # ------------------------------------------------------------ end of a run

    def finish(self) -> Events[TrainResult]:
        results = []
        for part in self.parts:
            result = yield from self.of_layer(part, part.finish())
            results.append(result)
        return replace(results[0], also=tuple(results[1:]))

    def of_layer(self, part: FineTuning, work: Events[T]) -> Events[T]:
        """The events of a part as those of its layer."""
        while True:
            try:
                event = next(work)
            except StopIteration as end:
                returned: T = end.value
                return returned
            if isinstance(event, Evaluated) and part is not self.first:
                layer = part.spec.layer
                event = EvaluatedLayer(event.step, layer, event.split, event.scores, event.loss)
            yield event

    def release(self) -> None:
        for part in self.parts:
            part.release()
        for name in ("model", "method"):
            vars(self).pop(name, None)

    def read_back(self) -> None:
        for part in self.parts:
            part.read_back()
