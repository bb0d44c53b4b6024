"""The training loop, and train(): a generator of events that fine-tunes a model.

`send("stop")` keeps the best checkpoint and ends training.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Generic, Protocol

import torch

from workbench.base.errors import SpecError, is_disk_full
from workbench.base.i18n import _
from workbench.models import device as devices
from workbench.models import precision
from workbench.tasks.base import Loss
from workbench.tasks.predictor import LossSum
from workbench.text.dataset import Dataset, read
from workbench.training import batches, optim, prepare
from workbench.training.events import (
    Evaluated,
    Event,
    LogMessage,
    PrecisionTrial,
    Saved,
    Step,
    Tick,
)
from workbench.training.finetuning import FineTuning
from workbench.training.learning import B, Events, Learning, R, T
from workbench.training.plan import Plan
from workbench.training.results import TrainResult
from workbench.training.spec import TrainSpec

Feed = Generator[Event, str | None, None]
TICK = 0.5  # seconds without an event before a Tick is sent


class Result(Protocol):
    def to_json(self) -> dict[str, Any]: ...


def train(
    spec: TrainSpec,
    data: Dataset,
    folder: Path | str,
    splits: Mapping[str, Sequence[int]] | None = None,
    *,
    plan: Plan | None = None,
    precision_trials: Mapping[str, float] | None = None,
) -> Generator[Event, str | None, TrainResult]:
    """Fine-tune `spec.model` on the documents of `data`; save the best model in `folder/model`.

    splits: document ids (Document.id) of train, dev and test; without it every submitted document
    by its own split, test only with `spec.with_test`. plan: the settings as resolved before the
    start; without it they are resolved for the documents and the loaded model. Yields a Step per
    update, Evaluated, Saved, Log, and a Tick at least once per second if possible. `send("stop")`
    keeps the best checkpoint and ends; `close()` writes nothing more. `precision_trials` are
    measurements of earlier runs (PrecisionTrial).

    Writes `folder/predictions.jsonl` for dev (and test). Raises SpecError or ModelError before the
    first step if data, settings and model are incompatible; torch.OutOfMemoryError is propagated.
    """
    return Loop(FineTuning(spec, data, Path(folder), splits, plan), precision_trials).go()


def run(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target. params: spec (TrainSpec as JSON), data (path of a snapshot), splits (ids), plan,
    precision_trials. Yields events as JSON objects.
    """
    spec = TrainSpec.from_json(params["spec"])
    trials = params.get("precision_trials")
    data = read(Path(params["data"]))
    plan = Plan.from_json(params.get("plan"))
    work = train(spec, data, folder, params.get("splits"), plan=plan, precision_trials=trials)
    return (yield from as_job(work))


def as_job(
    work: Generator[Event, str | None, Result],
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """A training as a job: its events and its result as JSON objects."""
    command = None
    with closing(work):
        try:
            while True:
                command = yield work.send(command).to_json()
        except StopIteration as end:
            result: Result = end.value
            return result.to_json()


class Loop(Generic[B, R]):
    """One training, from the first log message to the check of the saved model."""

    def __init__(self, learning: Learning[B, R], trials: Mapping[str, float] | None = None):
        self.learning, self.state, self.trials = learning, learning.state, trials
        self.saved: int | None = None  # step of the checkpoint on the disk
        self.quiet_since, self.reported = time.monotonic(), -math.inf

    def go(self) -> Generator[Event, str | None, R]:
        learning = self.learning
        learning.check()
        yield from self.emit(LogMessage(_("Loading {model}", model=learning.model_name)))
        self.state.device = devices.pick(learning.options["device"])
        precision.check(learning.options["precision"], self.state.device)
        threads = prepare.settle(learning.seed, self.state.device)
        try:
            yield from self.relay(learning.load())
            yield from self.choose_precision(threads)
            yield from self.relay(learning.prepare())
            yield from self.learn()
            yield from self.save_last()
            result = yield from self.relay(learning.finish())
            self.release()
            yield from self.emit(LogMessage(_("Loading the saved model to verify it")))
            learning.read_back()
            return result
        finally:
            self.release()

    def release(self) -> None:
        """Free the memory of the device."""
        for name in ("optimizer", "optimization"):  # they hold the parameters
            vars(self).pop(name, None)
        self.learning.release()
        devices.release(self.state.device)

    # ------------------------------------------------------------ events

    def emit(self, event: Event) -> Feed:
        """Yield one event and process the caller's command."""
        command = yield event
        self.state.stopping = self.state.stopping or command == "stop"
        self.quiet_since = time.monotonic()

    def tick(self) -> Feed:
        if time.monotonic() - self.quiet_since >= TICK:
            yield from self.emit(Tick(self.state.step))

    def relay(self, work: Events[T]) -> Generator[Event, str | None, T]:
        """Pass on what the learning reports; ticks only after a time without events."""
        with closing(work):
            while True:
                try:
                    event = next(work)
                except StopIteration as end:
                    returned: T = end.value
                    return returned
                yield from self.tick() if isinstance(event, Tick) else self.emit(event)

    def choose_precision(self, threads: int) -> Feed:
        state = self.state
        setting, shape = self.learning.options["precision"], self.learning.shape()
        choice = precision.choose(setting, state.device, shape, self.trials)
        state.bf16 = choice.bf16
        yield from self.emit(prepare.where(state.device, threads, bf16=state.bf16))
        if sentence := choice.sentence():
            yield from self.emit(LogMessage(sentence))
        if choice.new and choice.speedup is not None:
            yield from self.emit(PrecisionTrial(choice.key, choice.speedup))

    # ------------------------------------------------------------ updates

    def learn(self) -> Feed:
        learning = self.learning
        self.optimization = learning.optimization()
        self.optimizer = optim.optimizer(self.optimization.groups, self.state.device)
        self.started = time.monotonic()
        if learning.is_due():
            yield from self.evaluate()
        for bundle in learning.updates():
            yield from self.update(bundle)
            for event in learning.reports():
                yield from self.emit(event)
            if learning.is_due():
                yield from self.evaluate()
            if self.state.stopping or learning.is_done():
                return

    def update(self, bundle: Sequence[B]) -> Feed:
        """One optimizer step over one or more batches."""
        learning, state = self.learning, self.state
        begun, sums = time.monotonic(), LossSum()
        step, total = learning.position()
        for batch in bundle:
            with torch.autocast(state.device.type, torch.bfloat16, enabled=state.bf16):
                losses = learning.losses(batch)
            (batches.weighted(losses, learning.usual) / len(bundle)).backward()
            detached = {name: Loss(*map(torch.detach, loss)) for name, loss in losses.items()}
            sums.add(detached)
            learning.count(batch, detached)
            yield from self.tick()
        norm = optim.apply_gradients(
            self.optimizer,
            clip=self.optimization.clip,
            rate=self.optimization.schedule,
            step=step,
            total=total,
            cut=self.optimization.warmup,
        )
        state.step += 1
        means = sums.means()
        self.check_finite(sum(means.values()))
        now = time.monotonic()
        if now - self.reported >= learning.report_every:
            self.reported = now
            speed = sum(map(learning.size, bundle)) / max(1e-9, now - begun)
            yield from self.emit(self.stepped(means, speed, norm))

    def check_finite(self, loss: float) -> None:
        if not math.isfinite(loss):
            raise SpecError(
                _(
                    "The loss became {total} at step {step}: the training has diverged.",
                    total=loss,
                    step=self.state.step,
                ),
                hint=_("Use a smaller learning_rate, or precision fp32."),
            )

    def stepped(self, losses: Mapping[str, float], speed: float, norm: float | None) -> Step:
        """speed: examples per second; norm: of the gradients."""
        step, groups = self.state.step, self.optimizer.param_groups
        done = max(self.learning.progress(), 1e-9)
        return Step(
            step,
            step if done == 1 else max(step + 1, round(step / done)),
            self.state.epoch + 1,
            dict(losses),
            max(group["lr"] / group.get("factor", 1.0) for group in groups),
            speed,
            devices.memory_mb(self.state.device),
            (time.monotonic() - self.started) / done * (1 - done),
            norm,
        )

    # ------------------------------------------------------------ evaluations and checkpoints

    def evaluate(self) -> Feed:
        """Evaluate, and save the checkpoint if the learning wants it."""
        measurement = yield from self.relay(self.learning.evaluate())
        if measurement is not None:
            scores, loss = measurement.scores, measurement.loss
            yield from self.emit(Evaluated(self.state.step, measurement.split, scores, loss))
        if not self.learning.improves(measurement):
            return
        try:
            yield from self.save()
        except Exception as error:
            if self.saved is None or not is_disk_full(error):
                raise
            self.state.stopping = True
            line = _(
                "The disk is full: training ends, and the checkpoint of step {step} is kept.",
                step=self.saved,
            )
            yield from self.emit(LogMessage(line))

    def save(self) -> Feed:
        self.learning.save()
        self.saved = self.state.step
        yield from self.emit(Saved(self.state.step))

    def save_last(self) -> Feed:
        """Save the checkpoint of the last step, unless a better one was saved."""
        if not self.is_saved():
            yield from self.evaluate()
        if not self.is_saved():
            yield from self.save()

    def is_saved(self) -> bool:
        if self.learning.best_only:
            return self.saved is not None
        return self.saved == self.state.step
