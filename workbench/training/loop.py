"""train(): a generator of events. `send("stop")` keeps the best checkpoint and ends training."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from workbench.base.errors import SpecError, is_disk_full
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.metrics.evaluation import Evaluation
from workbench.models import device as devices
from workbench.models import folder as folders
from workbench.models import precision
from workbench.models import spec as models
from workbench.models.base import LoadOptions
from workbench.tasks import contract
from workbench.tasks import model as networks
from workbench.tasks.base import CHUNK, Features, Loss, Model, collate
from workbench.tasks.predictor import LossSum
from workbench.tasks.spec import evaluate, is_error
from workbench.text.dataset import Dataset, read
from workbench.text.document import Document
from workbench.text.fields import Prediction
from workbench.training import batches, checkpoints, features, optim, prepare, rates, read_back
from workbench.training.checkpoints import Best
from workbench.training.events import (
    Evaluated,
    Event,
    LayerWeights,
    Log,
    PrecisionTrial,
    Saved,
    Step,
    Tick,
)
from workbench.training.inference import DevPredictions, Inference
from workbench.training.methods.base import Method
from workbench.training.plan import Plan, input_length
from workbench.training.results import Scoring, TrainResult
from workbench.training.spec import TrainSpec

Feed = Generator[Event, str | None, None]
TICK = 0.5  # seconds without an event before a Tick is sent
LAYER_REPORTS = 100  # events with the weights of layers per run


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
    return _Training(spec, data, Path(folder), splits, plan, precision_trials).go()


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
    command = None
    try:
        while True:
            event = work.send(command)
            command = yield event.to_json()
    except StopIteration as end:
        result: TrainResult = end.value
        return result.to_json()
    finally:
        work.close()


class _Training:
    """State of one run, from the first log message to the last prediction."""

    def __init__(
        self,
        spec: TrainSpec,
        data: Dataset,
        folder: Path,
        splits: Mapping[str, Sequence[int]] | None,
        planned: Plan | None,
        trials: Mapping[str, float] | None,
    ):
        self.spec, self.folder, self.planned, self.trials = spec, folder, planned, trials
        self.labels = prepare.labels_of(spec, data)
        self.records = prepare.records_of(spec, data, splits)
        self.task = networks.task_of(spec.task)
        self.info = spec.info
        self.golds = {
            split: [
                gold for record in found if (gold := self.info.gold(record, spec.layer)) is not None
            ]
            for split, found in self.records.items()
        }
        resolved = self.task.resolve(self.golds["train"], self.labels, spec.all_options)
        self.options = {**spec.all_options, **resolved}
        self.stopping = False
        self.began, self.quiet_since = time.monotonic(), time.monotonic()
        self.best = Best()
        self.stale = 0  # evaluations since the best checkpoint
        self.saved_step, self.step, self.epoch = -1, 0, 0
        self.epoch_loss = LossSum()  # of the current epoch

    # ------------------------------------------------------------ phases of a run

    def go(self) -> Generator[Event, str | None, TrainResult]:
        prepare.check(self.spec, self.records, self.labels)
        name = self.spec.model_name or self.spec.model
        yield from self.emit(Log(_("Loading {model}").format(model=name)))
        self.device = devices.pick(self.spec.option("device"))
        precision.check(self.spec.option("precision"), self.device)
        threads = prepare.settle(self.spec.seed, self.device)
        self.model = self.load()
        settings = self.spec.all_options
        self.method: Method = registry().get("method", self.spec.method)(self.model, settings)
        self.method.prepare()
        self.inference = Inference(self.task, self.model, self.labels, settings, self.yield_tick)
        self.precision = self.choose_precision()
        checkpoints.check_room(self.folder, self.model)
        try:
            yield from self.emit(prepare.where(self.device, threads, bf16=self.bf16))
            yield from self.report_precision()
            self.train_set = Features.join((yield from self.encode("train")))
            self.dev_set = (yield from self.encode("dev")) if self.records["dev"] else []
            encoder = self.model.encoder
            encoder.narrow(self.train_set.prepared.inputs)
            documents, items = len(self.records["train"]), len(self.train_set.lengths)
            labels = len(self.labels)
            self.plan = prepare.plan_for(encoder, self.spec, documents, items, labels, self.planned)
            for line in prepare.messages(self.plan, self.spec, self.train_set.prepared, encoder):
                yield from self.emit(Log(line))
            yield from self.learn()
            return (yield from self.finish())
        finally:
            self.release()

    def release(self) -> None:
        """Free the memory of the device."""
        for name in ("model", "method", "inference", "train_set", "dev_set"):
            vars(self).pop(name, None)
        devices.release(self.device)

    def choose_precision(self) -> precision.Choice:
        shape = (self.model.encoder.width, self.model.encoder.feed_forward)
        return precision.choose(self.spec.option("precision"), self.device, shape, self.trials)

    def emit(self, event: Event) -> Feed:
        """Yield one event and process the caller's command."""
        command = yield event
        self.stopping = self.stopping or command == "stop"
        self.quiet_since = time.monotonic()

    def report_precision(self) -> Feed:
        if sentence := self.precision.sentence():
            yield from self.emit(Log(sentence))
        speedup = self.precision.speedup
        if self.precision.new and speedup is not None:
            yield from self.emit(PrecisionTrial(self.precision.key, speedup))

    def yield_tick(self) -> Feed:
        if time.monotonic() - self.quiet_since >= TICK:
            yield from self.emit(Tick(self.step))

    @property
    def setting(self) -> networks.Setting:
        settings, seed = self.spec.all_options, self.spec.seed
        return networks.Setting.new(self.task, self.labels, self.golds["train"], settings, seed)

    def load(self) -> Model:
        options = LoadOptions(
            seed=self.spec.seed,
            random=self.spec.option("init") == "random",
            allow_pickle=self.spec.allow_pickle,
            attention_dropout=0.0,  # otherwise torch cannot use the fast attention kernels
            dropout=self.spec.option("dropout"),
            settings=self.spec.family_settings,
            documents=[record.document for record in self.records["train"]],
        )
        info = models.read_folder(self.spec.model, allow_pickle=self.spec.allow_pickle)
        model = networks.build(info, self.setting, options)
        if self.device.type == "cpu":
            batches.use_cheap_dropout(model, self.spec.seed)
        return model.to(self.device)

    def encode(self, split: str) -> Generator[Event, str | None, list[Features]]:
        """Features of a split in chunks of documents."""
        records, golds, found = self.records[split], self.golds[split], []
        length = input_length(self.spec.option("max_length"), self.model.encoder.max_length)
        for start in range(0, len(records), CHUNK):
            part = slice(start, start + CHUNK)
            documents = [record.document for record in records[part]]
            prepared = self.info.prepare(self.model.encoder.preparer, documents, length)
            targets = contract.targets(self.task, prepared, golds[part], self.labels, self.options)
            found.append(Features(prepared, targets))
            yield from self.yield_tick()
        yield from self.with_features(found, bf16=self.bf16 and split == "train")
        return found

    def with_features(self, parts: Sequence[Features], *, bf16: bool) -> Feed:
        """See `features.provided`; stopping leaves the rest to be computed when it is needed."""
        found, is_fixed = [part.prepared for part in parts], self.method.fixes_encoder
        for event in features.provided(self.model, self.spec, found, is_fixed=is_fixed, bf16=bf16):
            yield from self.emit(event)
            if self.stopping:
                return

    # ------------------------------------------------------------ training

    def learn(self) -> Feed:
        optimizer = optim.optimizer(self.method.groups(self.plan.learning_rate), self.device)
        rng = np.random.default_rng(self.spec.seed)
        self.usual = self.task.usual_counts(self.train_set.targets, self.plan.batch_size)
        often = self.task.sampling_weights(self.train_set.targets, self.options)
        self.started = time.monotonic()
        for epoch in range(self.plan.epochs):
            self.epoch = epoch
            self.method.start_epoch(epoch)
            self.epoch_loss = LossSum()
            drawn = batches.drawn(self.train_set.lengths, self.plan.batch_size, rng, often)
            for bundle in prepare.bundles(drawn, self.spec.option("accumulation")):
                self.method.train_mode(epoch)
                yield from self.update(optimizer, bundle)
                yield from self.report_layers()
                if self.step % self.plan.evaluate_every == 0 or self.step == self.plan.steps:
                    yield from self.evaluate()
                if self.stopping or self.out_of_patience():
                    return

    def update(self, optimizer: torch.optim.Optimizer, bundle: Sequence[np.ndarray]) -> Feed:
        """One optimizer step over one or more batches."""
        begun, sums = time.monotonic(), LossSum()
        for chosen in bundle:
            batch = collate(self.train_set, chosen, encoder=self.model.encoder, device=self.device)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
                outputs = self.task.forward(self.model, batch)
            (batches.weighted(outputs.losses, self.usual) / len(bundle)).backward()
            detached = {
                name: Loss(*map(torch.detach, loss)) for name, loss in outputs.losses.items()
            }
            sums.add(detached)
            self.epoch_loss.add(detached)
            yield from self.yield_tick()
        self.norm = optim.apply_gradients(
            optimizer,
            clip=self.spec.option("grad_clip"),
            rate=rates.schedule(self.spec.option("schedule"), ratio=self.spec.option("ratio")),
            step=self.step,
            total=self.plan.steps,
            cut=self.plan.warmup,
        )
        self.step += 1
        losses = sums.means()
        total = sum(losses.values())
        if not math.isfinite(total):
            raise SpecError(
                _("The loss became {total} at step {step}: the training has diverged.").format(
                    total=total, step=self.step
                ),
                hint=_("Use a smaller learning_rate, or precision fp32."),
            )
        speed = sum(map(len, bundle)) / max(1e-9, time.monotonic() - begun)
        yield from self.emit(self.stepped(optimizer, losses, speed))

    def stepped(
        self, optimizer: torch.optim.Optimizer, losses: Mapping[str, float], speed: float
    ) -> Step:
        spent = time.monotonic() - self.started
        return Step(
            self.step,
            self.plan.steps,
            self.epoch + 1,
            dict(losses),
            max(group["lr"] / group.get("factor", 1.0) for group in optimizer.param_groups),
            speed,
            devices.memory_mb(self.device),
            spent / self.step * (self.plan.steps - self.step),
            self.norm,
        )

    def report_layers(self) -> Feed:
        every = max(1, self.plan.steps // LAYER_REPORTS)
        if self.step % every and self.step != self.plan.steps:
            return
        if found := self.model.layer_weights():
            yield from self.emit(LayerWeights(self.step, **found))

    @property
    def bf16(self) -> bool:
        """Whether training uses bfloat16; dev is evaluated in float32, like later predictions."""
        return self.precision.bf16

    # ------------------------------------------------------------ evaluation and best checkpoint

    def value_of(self, scores: Mapping[str, float], loss: float) -> float:
        """What the best checkpoint is selected by, so that higher is better."""
        by = self.plan.best_by
        score = -scores.get(by, 0.0) if is_error(by) else scores.get(by, 0.0)
        return {"loss": -loss, "last": float(self.step)}.get(by, score)

    def evaluate(self) -> Feed:
        """Evaluate dev and keep the checkpoint if it is the best; without dev keep the last."""
        if not self.dev_set:
            return
        predictions, loss, fitted = yield from self.predict_dev()
        scores = contract.score(self.info, self.golds["dev"], predictions)
        yield from self.emit(Evaluated(self.step, "dev", scores, loss))
        value = self.value_of(scores, loss)
        if not checkpoints.better(value, self.best.value):
            self.stale += 1
            return
        before, self.best, self.stale = self.best, Best(), 0
        self.best.value, self.best.step = value, self.step
        self.best.scores, self.best.predictions, self.best.fitted = scores, predictions, fitted
        try:
            yield from self.keep()
        except Exception as error:
            if before.value is None or not is_disk_full(error):
                raise
            self.best, self.stopping = before, True
            line = _("The disk is full: training ends, and the checkpoint of step {step} is kept.")
            yield from self.emit(Log(line.format(step=before.step)))

    def predict_dev(self) -> Generator[Event, str | None, DevPredictions]:
        return self.inference.predict_and_fit(self.dev_set, self.golds["dev"])

    def out_of_patience(self) -> bool:
        return bool(self.spec.option("patience")) and self.stale >= self.spec.option("patience")

    def keep(self) -> Feed:
        checkpoints.save(self.method.save, self.folder, self.description())
        self.best.layers = self.model.layer_weights()
        documents, length = self.sample(), self.plan.max_length
        self.best.sample = read_back.logits(self.task, self.model, documents, length)
        self.saved_step = self.step
        yield from self.emit(Saved(self.step))

    def sample(self) -> list[Document]:
        """The documents whose predictions are compared when the saved model is read back."""
        records = self.records["dev"] or self.records["train"]
        return read_back.sample([record.document for record in records])

    def description(self) -> dict[str, Any]:
        """glossbench.json: everything needed to use the weights, and their origin."""
        prepared = self.train_set.prepared
        return {
            "task": self.spec.task,
            "method": self.spec.method,
            "family": self.model.encoder.info.family,
            "own_head": self.model.own_head,
            "layer": self.spec.layer,
            "labels": list(self.labels),
            "max_length": self.plan.max_length,
            "model": self.spec.model_name or Path(self.spec.model).name,
            "seed": self.spec.seed,
            "step": self.step,
            "options": {**self.spec.all_options, **self.plan.__dict__},
            "decoder": {**self.setting.stored(self.model), **self.best.fitted},
            "cut": int(prepared.cut.sum()),
            "tokens": prepare.tokens(prepared, self.spec),
            "versions": prepare.versions(),
        }

    # ------------------------------------------------------------ end of a run

    def finish(self) -> Generator[Event, str | None, TrainResult]:
        stopped = self.stopping
        if self.dev_set and self.best.value is None:  # stopped before the first evaluation
            yield from self.evaluate()
        if self.best.value is None:  # no dev, or all scores are NaN: keep the last checkpoint
            self.best.step = self.step
            if self.dev_set:
                predictions, _loss, self.best.fitted = yield from self.predict_dev()
                self.best.predictions = predictions
                self.best.scores = contract.score(self.info, self.golds["dev"], predictions)
            yield from self.keep()
        scores = {"dev": self.best.scores} if self.dev_set else {}
        found = {"dev": self.best.predictions} if self.dev_set else {}
        if self.records["test"]:
            found["test"] = yield from self.test()
            scores["test"] = contract.score(self.info, self.golds["test"], found["test"])
            yield from self.emit(Evaluated(self.best.step, "test", scores["test"], None))
        checkpoints.write_predictions(self.folder, self.records, found)
        evaluations = {
            split: evaluate(
                self.info,
                split,
                [record.document for record in self.records[split]],
                self.golds[split],
                predictions,
                scores[split],
            )
            for split, predictions in found.items()
        }
        result = self.result(evaluations, stopped, found)
        yield from self.emit(Log(_("Loading the saved model to verify it")))
        self.release()
        target = self.folder / checkpoints.MODEL
        read_back.check(target, self.sample(), self.best.sample, self.device)
        return result

    def test(self) -> Generator[Event, str | None, list[Prediction]]:
        """Predictions of the best checkpoint on the test documents."""
        if self.saved_step != self.step:
            self.method.restore(self.folder / checkpoints.MODEL, self.setting)
        test_set = yield from self.encode("test")
        logits = yield from self.inference.logits(test_set, LossSum())
        return self.inference.decode(test_set, logits, self.best.fitted)

    def result(
        self,
        evaluations: Mapping[str, Evaluation],
        stopped: bool,
        found: Mapping[str, Sequence[Prediction]],
    ) -> TrainResult:
        prepared, golds = self.train_set.prepared, self.golds["train"]
        cut = {part: sum(item.cut for item in found.get(part, ())) for part in ("dev", "test")}
        cut = {"train": int(prepared.cut.sum()), **cut}
        parameters, trained = optim.sizes(self.model)
        documents = [record.document for record in self.records["dev"] or self.records["train"]]
        return TrainResult(
            evaluations=evaluations,
            used={split: len(found) for split, found in self.records.items()},
            cut=sum(cut.values()),
            cut_by_split=cut,
            windows=len(prepared.inputs) - len(prepared.documents),
            flat_left_out=sum(gold.left_out for gold in golds),
            shifted=self.info.shifted(prepared, golds),
            loss=sum(losses.values()) if (losses := self.epoch_loss.means()) else None,
            steps=self.step,
            best_step=self.best.step,
            stopped=stopped,
            seconds=round(time.monotonic() - self.began, 3),
            cpu_seconds=round(time.process_time(), 3),
            device=devices.name(self.device),
            bf16=self.bf16,
            plan=self.plan,
            options=self.spec.all_options,
            versions=prepare.versions(),
            predicting=self.inference.cost(documents, self.plan.max_length),
            layer_weights=self.best.layers,
            parameters=parameters,
            trained_parameters=trained,
            base_sha256=folders.sha256(Path(self.spec.model)),
            weights_sha256=folders.sha256(self.folder / checkpoints.MODEL),
            scoring=Scoring.of(self.info),
        )
