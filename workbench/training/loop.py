"""The training loop, and train(): a generator of events that fine-tunes a model.

`send("stop")` keeps the best checkpoint and ends training.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, cast

import torch
from torch import Tensor

from workbench.base.errors import WorkbenchError, is_disk_full, is_out_of_memory
from workbench.base.i18n import _, ngettext
from workbench.models import device as devices
from workbench.models import precision
from workbench.tasks.base import Loss
from workbench.tasks.predictor import LossSum
from workbench.text.dataset import Dataset, read
from workbench.training import batches, optim, prepare, ranks, resume, states
from workbench.training.divergence import Diverged, LossWatch
from workbench.training.events import (
    Evaluated,
    Event,
    LogMessage,
    PrecisionTrial,
    RatePlan,
    Resumed,
    Saved,
    StateSaved,
    Step,
    Tick,
)
from workbench.training.finetuning import FineTuning
from workbench.training.general import CHECKPOINTING
from workbench.training.learning import B, Events, Learning, R, T
from workbench.training.multitask import MultiTask, OtherData
from workbench.training.plan import Plan
from workbench.training.results import TrainResult
from workbench.training.resume import States
from workbench.training.spec import Teaching, TrainSpec
from workbench.training.states import StateHeader

Feed = Generator[Event, str | None, None]
StoredState = tuple[StateHeader, Mapping[str, Any]]
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
    states: States | None = None,
    also: Sequence[OtherData] = (),
    teaching: Teaching | None = None,
) -> Generator[Event, str | None, TrainResult]:
    """Fine-tune `spec.model` on the documents of `data`; save the best model in `folder/model`.

    splits: document ids (Document.id) of train, dev and test; without it every submitted document
    by its own split, test only with `spec.with_test`. plan: the settings as resolved before the
    start; without it they are resolved for the documents and the loaded model. Yields a Step per
    update, Evaluated, Saved, Log, and a Tick at least once per second if possible. `send("stop")`
    keeps the best checkpoint and ends; `close()` writes nothing more. `precision_trials` are
    measurements of earlier runs (PrecisionTrial). states: where the state of the training is
    kept, `folder/state` by default; with `resume` it continues from there, with more epochs if the
    plan has more. also: the data of the other layers of the settings; then `folder/tasks/0` has
    model and predictions of the first layer, `tasks/1` those of the next, and so on. teaching: what
    the teacher of the setting gives; by default that is the folder of a trained model.

    Writes `folder/predictions.jsonl` for dev (and test), and `folder/state`. Raises SpecError or
    ModelError before the first step if data, settings and model are incompatible. If memory is
    short, batches are divided and then activations computed again; torch.OutOfMemoryError is raised
    if that does not suffice.
    """
    stored = states or States(Path(folder))
    if spec.others:
        together = MultiTask(spec, data, Path(folder), splits, plan, also)
        return Loop(together, precision_trials, stored).go()
    learning = FineTuning(spec, data, Path(folder), splits, plan, teaching=teaching)
    return Loop(learning, precision_trials, stored).go()


def run(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target. params: spec (TrainSpec as JSON), data (path of a snapshot), splits (ids), plan,
    precision_trials, resume, teaching, also (data, splits and plan of each other layer). Yields
    events as JSON objects.
    """
    spec = TrainSpec.from_json(params["spec"])
    trials = params.get("precision_trials")
    data = read(Path(params["data"]))
    plan = Plan.from_json(params.get("plan"))
    work = train(
        spec,
        data,
        folder,
        params.get("splits"),
        plan=plan,
        precision_trials=trials,
        states=States(folder, resume=bool(params.get("resume"))),
        also=other_data(params),
        teaching=Teaching.from_json(params.get("teaching")),
    )
    return (yield from as_job(work))


def other_data(params: Mapping[str, Any]) -> list[OtherData]:
    """The data of the other layers, from the parameters of a job."""
    return [
        OtherData(read(Path(item["data"])), item.get("splits"), Plan.from_json(item.get("plan")))
        for item in params.get("also", ())
    ]


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
            result: Result | None = end.value
            return {} if result is None else result.to_json()


class Loop(Generic[B, R]):
    """One training, from the first log message to the check of the saved model.

    states: where its state is written, and read to continue; None if it cannot be continued.
    """

    def __init__(
        self,
        learning: Learning[B, R],
        trials: Mapping[str, float] | None = None,
        states: States | None = None,
    ):
        self.learning, self.state = learning, learning.state
        self.trials = precision.Trials(trials)
        self.states = states
        self.saved: int | None = None  # step of the checkpoint on the disk
        self.continuable: int | None = None  # step of the state on the disk
        self.state_failed = False  # the last one, which was logged
        self.disk_full = False
        self.rate_factor = 1.0  # of all learning rates, less after a divergence
        self.watch = LossWatch()  # of the losses of the last update
        self.watches: dict[str, LossWatch] = {}  # of each stage or layer, by names of losses
        self.checkpointing = learning.options.get(CHECKPOINTING.name, CHECKPOINTING.default)
        self.short: Exception | None = None  # why this process could not go on, until all meet
        self.names: frozenset[str] | None = None  # of the losses, once they were computed
        self.quiet_since, self.reported = time.monotonic(), -math.inf

    def go(self) -> Generator[Event, str | None, R]:
        learning = self.learning
        learning.check()
        yield from self.emit(LogMessage(_("Loading {model}", model=learning.model_name)))
        self.state.ranks, self.state.device = ranks.join(devices.pick(learning.options["device"]))
        precision.check(learning.options["precision"], self.state.device)
        try:
            is_first = self.state.ranks.first
            state = self.states.begin(is_first) if self.states is not None else None
            yield from self.begin(state)
            while True:
                try:
                    yield from self.learn()
                except Diverged as error:
                    yield from self.go_back(error)
                else:
                    break
            if not self.state.ranks.first:
                return cast(R, None)  # the first process saves the model and has the result
            yield from self.save_last()
            result = yield from self.relay(learning.finish())
            self.release()
            if learning.best_only or not self.disk_full:  # otherwise an earlier one was saved
                yield from self.emit(LogMessage(_("Loading the saved model to verify it")))
                learning.read_back()
            return result
        finally:
            self.release()
            self.state.ranks.leave()

    def begin(self, state: StoredState | None) -> Feed:
        """Load and prepare everything for the first update, or for the one after a state."""
        learning, device = self.learning, self.state.device
        threads = prepare.settle(learning.seed, device)
        self.state.step, self.state.epoch, self.saved = 0, 0, None
        self.watch, self.watches = LossWatch(), {}
        recomputes, self.state.recomputes = self.state.recomputes, False
        yield from self.relay(learning.load())
        yield from self.choose_precision(threads, None if state is None else state[1]["bf16"])
        yield from self.relay(learning.prepare())
        self.optimization = learning.optimization()
        self.optimizer = optim.optimizer(self.optimization.groups, device)
        if recomputes or (state is not None and state[1]["recomputes"]):
            self.recompute()
        elif self.checkpointing == "on" and not self.recompute():
            line = _("The layers of this model cannot be trained with gradient checkpointing.")
            yield from self.emit(LogMessage(line))
        self.reserve = devices.reserve(device)
        self.started = time.monotonic()
        if state is not None:
            yield from self.restore(*state)
        if self.states is not None:
            self.states.expect(self.optimizer)
        yield from self.emit(self.rate_plan())

    def release(self) -> None:
        """Free the memory of the device."""
        for name in ("optimizer", "optimization", "reserve"):  # they hold the parameters
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

    def choose_precision(self, threads: int, bf16: bool | None) -> Feed:
        """bf16: whether it is used, of a training that continues; None to choose."""
        state = self.state
        if bf16 is not None:
            state.bf16 = bf16
            yield from self.emit(prepare.where(state.device, threads, bf16=bf16))
            return
        learning = self.learning
        setting, width = learning.options["precision"], learning.width()
        with precision.measuring(self.trials):
            choice = precision.choose(
                setting, state.device, width, learning.trial_step, self.trials
            )
        state.bf16 = state.ranks.agree(choice.bf16)
        yield from self.emit(prepare.where(state.device, threads, bf16=state.bf16))
        if sentence := choice.sentence():
            yield from self.emit(LogMessage(sentence))
        yield from self.report_trials()

    def report_trials(self) -> Feed:
        while self.trials.new:
            yield from self.emit(PrecisionTrial(*self.trials.new.popitem()))

    # ------------------------------------------------------------ updates

    def learn(self) -> Feed:
        learning = self.learning
        if not self.state.step and learning.is_due():
            yield from self.evaluate()
        has_ended = self.state.step > 0 and (self.state.stopping or learning.is_done())
        for bundle in () if self.state.ranks.agree(has_ended) else learning.updates():
            yield from self.update(bundle)
            for event in learning.reports():
                yield from self.emit(event)
            if learning.is_due():
                yield from self.evaluate()
            # after a divergence, another one ends with the checkpoint of the last state
            needs_state = self.rate_factor < 1 and self.saved == self.state.step
            is_due = self.states is not None and (needs_state or self.states.is_due())
            ends, saves = self.state.ranks.agree(
                (self.state.stopping or learning.is_done(), is_due)
            )
            if ends:
                break
            if saves:
                yield from self.save_state()
        yield from self.save_state()

    def update(self, bundle: Sequence[B]) -> Feed:
        """One optimizer step over one or more batches."""
        learning, state = self.learning, self.state
        begun = time.monotonic()
        step, total = learning.position()
        sums = yield from self.gradients(bundle)
        yield from self.report_trials()
        state.ranks.sum_gradients(self.trained())
        norm = optim.apply_gradients(
            self.optimizer,
            clip=self.optimization.clip,
            rate=self.rate,
            step=step,
            total=total,
            cut=self.optimization.warmup,
        )
        state.step += 1
        means = sums.means()
        self.watch = self.watches.setdefault(", ".join(sorted(means)), LossWatch())
        self.watch.add(sum(means.values()), norm, state.step)
        now = time.monotonic()
        if now - self.reported >= learning.report_every:
            self.reported = now
            speed = sum(map(learning.size, bundle)) / max(1e-9, now - begun)
            yield from self.emit(self.stepped(means, speed, norm))

    def gradients(self, bundle: Sequence[B]) -> Generator[Event, str | None, LossSum]:
        """Add up the gradients of an update; its losses. Where memory is short it begins again, in
        a way that takes less.
        """
        while True:
            done: list[dict[str, Loss]] = []
            try:
                for batch in bundle:
                    with precision.measuring(self.trials):
                        done.append(self.backward(batch, len(bundle)))
                    yield from self.tick()
                self.meet()
                break
            except (RuntimeError, MemoryError) as error:
                saving = self.save_memory(bundle) if is_out_of_memory(error) else None
                if saving is None:
                    raise
            self.optimizer.zero_grad(set_to_none=True)
            devices.release(self.state.device)
            yield from self.emit(saving)
        sums = LossSum()
        for batch, losses in zip(bundle, done, strict=True):
            sums.add(losses)
            self.learning.count(batch, losses)
        return sums

    def backward(self, batch: B, batches_of_update: int) -> dict[str, Loss]:
        """Add the gradients of a batch, in micro-batches where memory is short; its losses."""
        learning, parts = self.learning, self.micro_batches(batch)
        counts, whole = self.counts(parts), dict[str, Loss]()
        for part in parts:
            share = learning.size(part) / learning.size(batch)
            losses = self.tried(partial(self.losses, part)) or {}
            self.meet()
            done = self.state.ranks.whole(losses)
            counted = {
                name: Loss(loss.total, counts.get(name, done[name].count / share))
                for name, loss in losses.items()
            }
            loss = batches.weighted(counted, learning.usual) / batches_of_update
            self.tried(loss.backward)
            whole = batches.added(whole, done)
        return whole

    def tried(self, compute: Callable[[], T]) -> T | None:
        """What a function computes; with several processes, None if memory does not suffice, which
        all of them hear of when they meet.
        """
        if self.state.ranks.count == 1:
            return compute()
        try:
            return compute() if self.short is None else None
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            self.short = error
            return None

    def meet(self) -> None:
        """Raise in every process that the memory of one of them does not suffice, before they wait
        for its losses or gradients.
        """
        if self.state.ranks.any(self.short is not None):
            error, self.short = self.short, None
            raise error or torch.OutOfMemoryError(_("Another process is out of memory."))

    def micro_batches(self, batch: B) -> list[B]:
        learning = self.learning
        size = learning.size(batch)
        count = -(-size // (self.state.most or size))
        if count == 1:
            return [batch]
        parts = (learning.part(batch, number, count) for number in range(count))
        return [part for part in parts if part is not None]

    def counts(self, parts: Sequence[B]) -> dict[str, Tensor]:
        """What the losses of the parts of a batch are divided by, by name: the counts of all of it,
        computed without gradients. {} where every example counts the same, or for one part.
        """
        ranks, usual = self.state.ranks, self.learning.usual.keys()
        is_needed = self.names is None or not self.names <= usual
        if len(parts) == 1 or not ranks.any(is_needed):
            return {}
        own = self.tried(partial(self.added_losses, parts)) or {}
        self.meet()
        return {name: loss.count for name, loss in ranks.whole(own).items()}

    @torch.no_grad()
    def added_losses(self, parts: Sequence[B]) -> dict[str, Loss]:
        whole: dict[str, Loss] = {}
        for part in parts:
            whole = batches.added(whole, self.losses(part))
        return whole

    def losses(self, batch: B) -> dict[str, Loss]:
        """The losses of this process's part of a batch."""
        with torch.autocast(self.state.device.type, torch.bfloat16, enabled=self.state.bf16):
            losses = self.losses_of_rank(batch)
        self.names = frozenset(losses)
        return losses

    def losses_of_rank(self, batch: B) -> dict[str, Loss]:
        learning, ranks = self.learning, self.state.ranks
        if ranks.count == 1:
            return learning.losses(batch)
        part = learning.part(batch, ranks.number, ranks.count)
        if part is not None:
            return learning.losses(part)
        # fewer examples than processes: the losses are needed by name, and count nothing
        example = learning.part(batch, 0, learning.size(batch))
        assert example is not None
        nothing = learning.losses(example)
        return {name: Loss(*(value * 0 for value in loss)) for name, loss in nothing.items()}

    def trained(self) -> list[torch.nn.Parameter]:
        return [parameter for group in self.optimizer.param_groups for parameter in group["params"]]

    def save_memory(self, bundle: Sequence[B]) -> LogMessage | None:
        """Use less memory from now on: smaller micro-batches, then gradient checkpointing. None if
        there is nothing left to do.
        """
        learning, state = self.learning, self.state
        if self.reserve is not None:
            self.reserve.close()
        size = max(map(learning.size, bundle))
        size = min(size, state.most or size)
        if learning.divides and size > state.ranks.count:  # which each have a part of it
            state.most = -(-size // 2)
            line = ngettext(
                "Out of memory. Continuing with micro-batches of {n} example: the batch size "
                "stays the same by gradient accumulation.",
                "Out of memory. Continuing with micro-batches of {n} examples: the batch size "
                "stays the same by gradient accumulation.",
                state.most,
            )
            return LogMessage(line)
        if self.checkpointing != "auto" or not self.recompute():
            return None
        line = _(
            "Out of memory. Continuing with gradient checkpointing: activations are computed again "
            "in the backward pass instead of being kept."
        )
        return LogMessage(line)

    def recompute(self) -> bool:
        """Use gradient checkpointing from now on; False if the model cannot, or does already."""
        state = self.state
        before, state.recomputes = state.recomputes, state.recomputes or self.learning.recompute()
        return state.recomputes and not before

    def rate_plan(self) -> RatePlan:
        clip, parts = self.optimization.clip or 0.0, self.optimization.parts
        if parts is None:
            return RatePlan(clip)
        by_part = {
            name: tuple(self.rate_factor * rate for rate in rates)
            for name, rates in zip(parts.parts, parts.rates, strict=True)
        }
        return RatePlan(clip, tuple(step + 1 for step in parts.steps), by_part)

    def rate(self, step: int, total: int, *, peak: float, cut: float) -> float:
        return self.rate_factor * self.optimization.schedule(step, total, peak=peak, cut=cut)

    def go_back(self, error: Diverged) -> Feed:
        """Continue from the last state, or from the beginning, with half the rate.

        A second time, end with the checkpoint of that state. Raises the error if there is none.
        """
        has_state = self.state.ranks.agree(self.continuable is not None)
        stored = self.states.read() if self.states is not None and has_state else None
        is_second = self.rate_factor < 1
        if is_second and (stored is None or stored[1]["saved"] is None):
            raise error
        yield from self.emit(LogMessage(str(error)))
        self.release()
        remarks = list(self.state.remarks)  # the tasks add theirs again
        yield from self.begin(stored)
        self.state.remarks = remarks
        if not is_second:
            self.rate_factor = 0.5
            yield from self.emit(self.rate_plan())
            line = _(
                "The training diverged at step {step}; it continued from step {back} with half "
                "the learning rate.",
                step=error.step,
                back=self.state.step,
            )
            if stored is None:
                yield from self.emit(Resumed(0))
        else:
            self.state.stopping = True
            line = _(
                "The training diverged again at step {step} and ended; the checkpoint of step "
                "{saved} is kept. Use a smaller learning_rate, or precision fp32.",
                step=error.step,
                saved=self.saved,
            )
        yield from self.remark(line)

    def remark(self, line: str) -> Feed:
        """Say it in the log and in the result."""
        self.state.remarks.append(line)
        yield from self.emit(LogMessage(line))

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
        if not self.state.ranks.first:
            return
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
            self.state.stopping = self.disk_full = True
            line = _(
                "The disk is full: training ends, and the checkpoint of step {step} is kept.",
                step=self.saved,
            )
            yield from self.remark(line)

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
        if self.learning.best_only or self.disk_full:
            return self.saved is not None
        return self.saved == self.state.step

    # ------------------------------------------------------------ state

    def save_state(self) -> Feed:
        """Write the state of the present step, from which the training can be continued.

        After a full disk the evaluation of this step is incomplete: the earlier state is kept.
        """
        is_wanted = self.continuable != self.state.step and self.watch.is_good
        is_wanted = is_wanted and not self.disk_full
        if self.states is None or not self.state.ranks.agree(is_wanted):
            return
        generators = resume.generators(self.modules(), self.state.device)
        others = self.state.ranks.gather(generators)[1:]
        if not self.state.ranks.first:  # the others have the same weights
            return
        learning, step = self.learning, self.state.step
        checkpoint = learning.checkpoint if self.saved is not None else None
        try:
            content = {**self.state_dict(), "generators": generators, "others": others}
            self.states.write(content, learning.header(), checkpoint, self.modules())
        except (OSError, RuntimeError, WorkbenchError) as error:  # torch raises its own if full
            line = _("The state of the training could not be written: {error}.", error=error)
            if not self.state_failed:
                yield from self.emit(LogMessage(line))
            self.state_failed = True
            return
        self.continuable, self.state_failed = step, False
        yield from self.emit(StateSaved(step, states.size(self.states.folder)))

    def modules(self) -> list[torch.nn.Module]:
        return list(self.learning.modules().values())

    def state_dict(self) -> dict[str, Any]:
        trained = resume.parameters_of(self.optimizer)
        return {
            "step": self.state.step,
            "saved": self.saved,
            "bf16": self.state.bf16,
            "trials": dict(self.trials.known),
            "most": self.state.most,
            "recomputes": self.state.recomputes,
            "rate_factor": self.rate_factor,
            "remarks": list(self.state.remarks),
            "seconds": time.monotonic() - self.started,
            "spent": self.state.spent(),
            "watches": {name: watch.state_dict() for name, watch in self.watches.items()},
            "names": sorted(self.names or ()),
            "weights": {
                name: resume.changing(module, trained)
                for name, module in self.learning.modules().items()
            },
            "optimizer": self.optimizer.state_dict(),
            "learning": self.learning.state_dict(),
        }

    def restore(self, header: StateHeader, content: Mapping[str, Any]) -> Feed:
        """Continue from a state. Raises SpecError if it belongs to another training."""
        learning, state, present = self.learning, self.state, self.learning.header()
        header.check(present)
        for name, module in learning.modules().items():
            resume.load_changing(module, content["weights"][name])
        self.optimizer.load_state_dict(content["optimizer"])
        state.step, self.saved, state.most = content["step"], content["saved"], content["most"]
        self.rate_factor, state.remarks = content["rate_factor"], list(content["remarks"])
        self.trials.known = dict(content["trials"])  # the same kernels, bit for bit
        for names, watch in content.get("watches", {}).items():
            self.watches.setdefault(names, LossWatch()).load_state_dict(watch)
        self.names = frozenset(content.get("names", ())) or None
        self.started -= content["seconds"]
        if self.continuable is None:  # not one that this process has written
            state.continued = tuple(content["spent"])
        self.continuable = state.step
        if self.states is not None and self.saved is not None and state.ranks.first:
            self.states.restore_checkpoint(learning.checkpoint)
        learning.load_state_dict(content["learning"], longer=present.epochs > header.epochs)
        saved = [content["generators"], *content.get("others", ())]
        if state.ranks.number < len(saved):  # more processes than before draw other numbers
            generators = saved[state.ranks.number]
            resume.restore_generators(generators, self.modules(), state.device)
        yield from self.emit(Resumed(state.step))
        line = _("Continuing after step {step}", step=state.step)
        yield from self.emit(LogMessage(line))
        if changes := header.changes(present):
            yield from self.remark(changes)
