"""train(): a generator of steps. The caller decides the rest: `send("stop")` keeps the best and ends, `close()` writes nothing more."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from workbench.base.errors import SpecError, is_disk_full
from workbench.base.i18n import _
from workbench.base.registry import builtins
from workbench.models import device as devices
from workbench.models import folder as folders
from workbench.models.base import Checkpoint
from workbench.tasks import spec as tasks
from workbench.tasks.base import CHUNK, Features, collate
from workbench.tasks.predictor import infer, write_answers
from workbench.text.alignment import token_style
from workbench.text.dataset import Dataset, read
from workbench.text.fields import Prediction
from workbench.training import batches, checkpoints, optim
from workbench.training.events import Evaluated, Event, Log, Saved, Step, Tick
from workbench.training.prepare import bundles, check, planned, records_of, settle, versions
from workbench.training.spec import TrainSpec, plan

Feed = Generator[Event, str | None, object]


def train(
    spec: TrainSpec,
    data: Dataset,
    folder: Path | str,
    splits: Mapping[str, Sequence[int]] | None = None,
) -> Generator[Event, str | None, dict]:
    """Fine-tune `spec.model` on the documents of `data`, the best version going to `folder/model`.

    splits: document ids (Document.id) for train, dev and test; without it every submitted document by its own split, test only
    with `spec.with_test`. Yields Step per update, Evaluated, Saved, Log, and Tick at least each second where the work allows.
    Writes `folder/predictions.jsonl` for dev (and test) and returns the result described in `_Run.result`.
    Raises SpecError or ModelError before the first step where data, settings and model do not fit; torch.OutOfMemoryError passes.
    """
    return _Run(spec, data, Path(folder), splits).go()


def run(params: Mapping, folder: Path) -> Generator[dict, str | None, dict]:
    """Job target. params: spec (TrainSpec as JSON), data (path of a snapshot), splits (document ids). Yields events as JSON objects."""
    spec = TrainSpec.from_json(params["spec"])
    work = train(spec, read(Path(params["data"])), folder, params.get("splits"))
    command = None
    try:
        while True:
            event = work.send(command)
            command = yield event.to_json()
    except StopIteration as end:
        return end.value
    finally:
        work.close()


class _Run:
    """One training from the first line of the log to the last prediction."""

    def __init__(
        self,
        spec: TrainSpec,
        data: Dataset,
        folder: Path,
        splits: Mapping[str, Sequence[int]] | None,
    ):
        self.spec, self.folder = spec, folder
        self.layer = data.layer(spec.layer)
        self.labels = self.layer.names
        self.records = records_of(spec, data, splits)
        self.task = builtins().get("task", spec.task)()
        self.family = builtins().get("family", "transformer")()
        self.golds = {
            split: [tasks.gold(spec.task, one, spec.layer) for one in found]
            for split, found in self.records.items()
        }
        self.stopping = False
        self.began, self.quiet_since = time.monotonic(), time.monotonic()
        self.best: float | None = None
        self.best_step, self.best_scores, self.best_answers = 0, {}, []
        self.stale = 0
        self.saved_step = -1
        self.step, self.epoch = 0, 0
        self.losses: list[float] = []

    # ------------------------------------------------------------ the course of a run

    def go(self) -> Generator[Event, str | None, dict]:
        check(self.spec, self.records, self.labels)
        yield from self.say(
            Log(_("Loading {model}").format(model=self.spec.model_name or self.spec.model))
        )
        self.device = devices.pick(self.spec.option("device"))
        if self.spec.option("precision") == "bf16" and not devices.has_bf16(self.device):
            raise SpecError(
                _("precision is 'bf16', which {device} does not have in hardware.").format(
                    device=devices.name(self.device)
                ),
                hint=_("Choose auto or fp32."),
            )
        threads = settle(self.spec.seed, self.device)
        self.checkpoint = self.load()
        checkpoints.check_room(self.folder, self.checkpoint)
        try:
            yield from self.say(
                Log(
                    _("On {device}, {threads} threads, {precision}, torch {version}").format(
                        device=devices.name(self.device),
                        threads=threads,
                        precision="bf16" if self.bf16 else "fp32",
                        version=torch.__version__,
                    ),
                    devices.name(self.device),
                )
            )
            self.train_set = Features.join((yield from self.encode("train")))
            self.dev_set = (yield from self.encode("dev")) if self.records["dev"] else []
            self.plan = plan(
                self.spec,
                documents=len(self.train_set.documents),
                items=len(self.train_set.items),
                width=self.checkpoint.width,
                model_length=self.checkpoint.max_length,
            )
            yield from self.say(Log(planned(self.plan)))
            yield from self.learn()
            return (yield from self.finish())
        finally:
            device = self.device
            self.checkpoint = self.train_set = self.dev_set = None
            devices.release(device)

    def say(self, event: Event) -> Feed:
        """Hand one event out and take the caller's answer in."""
        command = yield event
        self.stopping = self.stopping or command == "stop"
        self.quiet_since = time.monotonic()

    def breathe(self) -> Feed:
        if time.monotonic() - self.quiet_since >= 0.5:
            yield from self.say(Tick(self.step))

    def load(self) -> Checkpoint:
        checkpoint = self.family.load(
            self.spec.model,
            head=self.task.head,
            labels=self.task.outputs_of(self.labels),
            seed=self.spec.seed,
            allow_pickle=self.spec.allow_pickle,
            attention_dropout=0.0,  # with it there is no fast attention kernel: half the time on long texts
            dropout=self.spec.option("dropout"),
        )
        if self.device.type == "cpu":
            batches.use_cheap_dropout(checkpoint.model, self.spec.seed)
        checkpoint.model.to(self.device)
        return checkpoint

    def encode(self, split: str) -> Generator[Event, str | None, list[Features]]:
        """Features of a split in chunks of documents."""
        records, golds, found = self.records[split], self.golds[split], []
        length = min(self.spec.option("max_length") or 512, self.checkpoint.max_length)
        for start in range(0, len(records), CHUNK):
            part = slice(start, start + CHUNK)
            documents = [one.document for one in records[part]]
            found.append(
                self.task.features(
                    documents,
                    self.checkpoint.tokenizer,
                    self.labels,
                    length,
                    golds=golds[part],
                    options=self.spec.all_options,
                )
            )
            yield from self.breathe()
        return found

    # ------------------------------------------------------------ learning

    def learn(self) -> Feed:
        option, model = self.spec.option, self.checkpoint.model
        parts = self.family.parts(model)
        freezing = optim.Freezing(
            parts, freeze=option("freeze"), gradual=option("gradual_unfreezing")
        )
        freezing.apply(10**6)  # the optimiser knows all that will ever learn
        groups = optim.groups(
            parts,
            rate=self.plan.learning_rate,
            decay=option("layer_decay"),
            weight_decay=option("weight_decay"),
        )
        optimiser = optim.optimiser(groups, self.device)
        rng = np.random.default_rng(self.spec.seed)
        self.usual = batches.usual_targets(self.train_set.targets or (), self.plan.batch_size)
        self.started = time.monotonic()
        for epoch in range(self.plan.epochs):
            self.epoch = epoch
            freezing.apply(epoch)
            self.losses = []
            drawn = batches.bucketed(self.train_set.lengths, self.plan.batch_size, rng)
            for bundle in bundles(drawn, option("accumulation")):
                model.train()
                freezing.quiet(epoch)
                yield from self.update(optimiser, bundle)
                if self.step % self.plan.evaluate_every == 0 or self.step == self.plan.steps:
                    yield from self.look()
                if self.stopping or self.out_of_patience():
                    return

    def update(self, optimiser: torch.optim.Optimizer, bundle: Sequence[np.ndarray]) -> Feed:
        """One optimiser step over one or more batches."""
        begun, sums = time.monotonic(), {}
        for chosen in bundle:
            batch = collate(
                self.train_set,
                chosen,
                pad=self.checkpoint.tokenizer.pad,
                types=self.checkpoint.types,
                device=self.device,
            )
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
                outputs = self.task.forward(self.checkpoint.model, batch)
            (
                sum(outputs.losses.values()) * batches.weight(batch, self.usual) / len(bundle)
            ).backward()
            for name, loss in outputs.losses.items():
                sums[name] = sums.get(name, 0.0) + float(loss.detach()) / len(bundle)
            yield from self.breathe()
        self.apply_gradients(optimiser)
        self.step += 1
        total = sum(sums.values())
        if not math.isfinite(total):
            raise SpecError(
                _("The loss became {total} at step {step}: the training has diverged.").format(
                    total=total, step=self.step
                ),
                hint=_("Use a smaller learning_rate, or precision fp32."),
            )
        self.losses.append(total)
        yield from self.say(
            self.stepped(
                optimiser, sums, sum(map(len, bundle)) / max(1e-9, time.monotonic() - begun)
            )
        )

    def apply_gradients(self, optimiser: torch.optim.Optimizer) -> None:
        if clip := self.spec.option("grad_clip"):
            learning = [
                one
                for group in optimiser.param_groups
                for one in group["params"]
                if one.grad is not None
            ]
            torch.nn.utils.clip_grad_norm_(learning, clip)
        schedule = optim.SCHEDULES[self.spec.option("schedule")]
        for group in optimiser.param_groups:
            group["lr"] = schedule(
                self.step, self.plan.steps, peak=group["peak"], cut=self.plan.warmup
            )
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    def stepped(
        self, optimiser: torch.optim.Optimizer, losses: Mapping[str, float], speed: float
    ) -> Step:
        spent = time.monotonic() - self.started
        left = spent / self.step * (self.plan.steps - self.step)
        rate = max(group["lr"] for group in optimiser.param_groups)
        return Step(
            self.step,
            self.plan.steps,
            self.epoch + 1,
            dict(losses),
            rate,
            speed,
            devices.memory_mb(self.device),
            left,
        )

    @property
    def bf16(self) -> bool:
        """While learning only: scores come from float32, as later answers do."""
        return self.spec.option("precision") != "fp32" and devices.has_bf16(self.device)

    # ------------------------------------------------------------ the score on dev, and the best version

    def look(self) -> Feed:
        """Score dev and keep this version if it is the best so far; without dev the last one is the best."""
        if not self.dev_set:
            return
        answers, loss = yield from self.answers(self.dev_set)
        scores = tasks.score(self.spec.task, self.golds["dev"], answers)
        yield from self.say(Evaluated(self.step, "dev", scores, loss))
        by = self.plan.best_by
        value = {"loss": -loss, "last": float(self.step)}.get(by, scores.get(by, 0.0))
        if not checkpoints.better(value, self.best):
            self.stale += 1
            return
        before = self.best, self.best_step, self.best_scores, self.best_answers
        self.best, self.best_step, self.best_scores, self.best_answers, self.stale = (
            value,
            self.step,
            scores,
            answers,
            0,
        )
        try:
            yield from self.keep()
        except Exception as error:
            if before[0] is None or not is_disk_full(error):
                raise
            self.best, self.best_step, self.best_scores, self.best_answers = before
            self.stopping = True
            yield from self.say(
                Log(
                    _(
                        "The disk is full: the training ends here, and the version of step {step} is kept."
                    ).format(step=self.best_step)
                )
            )

    def answers(
        self, chunks: Sequence[Features]
    ) -> Generator[Event, str | None, tuple[list[Prediction], float]]:
        """Predictions of every document, and the mean loss."""
        self.checkpoint.model.eval()
        found, total, weight = [], 0.0, 0
        for features in chunks:
            work = infer(self.task, self.checkpoint, features)
            while True:
                try:
                    next(work)
                except StopIteration as end:
                    logits, loss, count = end.value
                    break
                yield from self.breathe()
            found += self.task.decode(logits, features, self.labels)
            total, weight = total + loss, weight + count
        return found, total / max(1, weight)

    def out_of_patience(self) -> bool:
        return bool(self.spec.option("patience")) and self.stale >= self.spec.option("patience")

    def keep(self) -> Feed:
        checkpoints.save(self.family, self.checkpoint, self.folder, self.description())
        self.saved_step = self.step
        yield from self.say(Saved(self.step))

    def description(self) -> dict:
        """glossbench.json: all that is needed to use the weights, and where they come from."""
        return {
            "task": self.spec.task,
            "layer": self.spec.layer,
            "labels": list(self.labels),
            "max_length": self.plan.max_length,
            "model": self.spec.model_name or Path(self.spec.model).name,
            "seed": self.spec.seed,
            "step": self.step,
            "options": {**self.spec.all_options, **self.plan.__dict__},
            "cut": int(self.train_set.cut.sum()),
            "tokens": token_style(self.train_set.documents) if self.spec.task == "tag" else None,
            "versions": versions(),
        }

    # ------------------------------------------------------------ the end

    def finish(self) -> Generator[Event, str | None, dict]:
        stopped = self.stopping
        if self.dev_set and self.best is None:  # stopped before the first score
            yield from self.look()
        if self.best is None:  # no dev, or no score is a number: the last version is kept
            self.best_step = self.step
            if self.dev_set:
                self.best_answers, _ = yield from self.answers(self.dev_set)
                self.best_scores = tasks.score(self.spec.task, self.golds["dev"], self.best_answers)
            yield from self.keep()
        scores = {"dev": self.best_scores} if self.dev_set else {}
        test: list[Prediction] = []
        if self.records["test"]:
            test = yield from self.test()
            scores["test"] = tasks.score(self.spec.task, self.golds["test"], test)
            yield from self.say(Evaluated(self.best_step, "test", scores["test"], None))
        self.write({"dev": self.best_answers, "test": test})
        return self.result(scores, stopped, test)

    def test(self) -> Generator[Event, str | None, list[Prediction]]:
        """Answers of the best version on the test documents."""
        if self.saved_step != self.step:
            best = self.family.load(
                self.folder / checkpoints.MODEL,
                head=self.task.head,
                labels=self.task.outputs_of(self.labels),
            )
            self.checkpoint.model.load_state_dict(best.model.state_dict())
        found, _ = yield from self.answers((yield from self.encode("test")))
        return found

    def write(self, answers: Mapping[str, Sequence[Prediction]]) -> None:
        draft = self.folder / "predictions.jsonl.new"
        with open(draft, "w", encoding="utf-8", newline="\n") as file:
            for split, found in answers.items():
                write_answers(
                    file,
                    [one.document for one in self.records[split]][: len(found)],
                    found,
                    split=split,
                )
        os.replace(draft, self.folder / "predictions.jsonl")

    def result(self, scores: Mapping, stopped: bool, test: Sequence[Prediction]) -> dict:
        """What the run leaves beside its files; `cut` and `windows` tell of texts longer than the model takes."""
        golds = self.golds["train"]
        cut = {
            "train": int(self.train_set.cut.sum()),
            "dev": sum(one.cut for one in self.best_answers),
            "test": sum(one.cut for one in test),
        }
        return {
            "scores": dict(scores),
            "used": {split: len(found) for split, found in self.records.items()},
            "cut": sum(cut.values()),
            "cut_by_split": cut,
            "windows": len(self.train_set.items) - len(self.train_set.documents),
            "flat_left_out": sum(one.left_out for one in golds),
            "shifted": self.train_set.shifted,
            "loss": float(np.mean(self.losses)) if self.losses else None,
            "steps": self.step,
            "best_step": self.best_step,
            "stopped": stopped,
            "seconds": round(time.monotonic() - self.began, 3),
            "cpu_seconds": round(time.process_time(), 3),
            "device": devices.name(self.device),
            "bf16": self.bf16,
            "plan": dict(self.plan.__dict__),
            "options": self.spec.all_options,
            "versions": versions(),
            "base_sha256": folders.sha256(Path(self.spec.model)),
            "weights_sha256": folders.sha256(self.folder / checkpoints.MODEL),
        }
