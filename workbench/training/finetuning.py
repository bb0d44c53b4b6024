"""Fine-tuning: a model learns a task from labelled documents, the best checkpoint is kept."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.base.registry import needed_plugin, registry
from workbench.metrics.evaluation import Evaluation
from workbench.models import device as devices
from workbench.models import folder as folders
from workbench.models import spec as models
from workbench.models.base import LoadOptions
from workbench.tasks import contract
from workbench.tasks import model as networks
from workbench.tasks.base import CHUNK, Features, Loss, collate
from workbench.tasks.predictor import LossSum
from workbench.tasks.spec import evaluate, is_error
from workbench.text.dataset import Dataset
from workbench.text.document import Document
from workbench.text.fields import Prediction
from workbench.training import batches, checkpoints, features, inference, optim, prepare, rates
from workbench.training.checkpoints import Best
from workbench.training.events import Evaluated, Event, LayerWeights, LogMessage, Tick
from workbench.training.inference import Inference
from workbench.training.learning import Events, Measurement, Optimization, TrainingState
from workbench.training.methods.base import Method
from workbench.training.plan import Plan, input_length
from workbench.training.results import Scoring, TrainResult
from workbench.training.spec import TrainSpec

LAYER_REPORTS = 100  # events with the weights of layers per run


class FineTuning:
    """A Learning of labelled documents. A batch: int (B,), positions among the training inputs."""

    best_only = True
    report_every = 0.0
    usual: Mapping[str, float | None]

    def __init__(
        self,
        spec: TrainSpec,
        data: Dataset,
        folder: Path,
        splits: Mapping[str, Sequence[int]] | None,
        planned: Plan | None,
    ):
        self.spec, self.folder, self.planned = spec, folder, planned
        self.state = TrainingState()
        self.seed = spec.seed
        self.options: Mapping[str, Any] = spec.all_options
        self.model_name = spec.model_name or spec.model
        self.labels = prepare.labels_of(spec, data)
        self.records = prepare.records_of(spec, data, splits)
        self.task = networks.task_of(spec.task)
        self.info = spec.info
        self.golds = {
            split: [
                gold
                for record in records
                if (gold := self.info.gold(record, spec.layer)) is not None
            ]
            for split, records in self.records.items()
        }
        resolved = self.task.resolve(self.golds["train"], self.labels, self.options)
        self.task_options = {**self.options, **resolved}
        self.began = time.monotonic()
        self.best = self.latest = Best()  # of all evaluations, of the last one
        self.stale = 0  # evaluations since the best checkpoint
        self.epoch_loss = LossSum()  # of the current epoch

    # ------------------------------------------------------------ model and data

    def check(self) -> None:
        prepare.check(self.spec, self.records, self.labels)

    def load(self) -> Events[None]:
        yield Tick(0)
        options = LoadOptions(
            seed=self.seed,
            random=self.options["init"] == "random",
            allow_pickle=self.spec.allow_pickle,
            attention_dropout=0.0,  # otherwise torch cannot use the fast attention kernels
            dropout=self.options["dropout"],
            settings=self.spec.family_settings,
            documents=[record.document for record in self.records["train"]],
        )
        info = models.read_folder(self.spec.model, allow_pickle=self.spec.allow_pickle)
        model = networks.build(info, self.setting, options)
        if self.state.device.type == "cpu":
            batches.use_cheap_dropout(model, self.seed)
        self.model = model.to(self.state.device)
        self.method: Method = registry().get("method", self.spec.method)(self.model, self.options)
        self.method.prepare()
        self.inference = Inference(self.task, self.model, self.labels, self.options, self.state)

    @property
    def setting(self) -> networks.Setting:
        golds = self.golds["train"]
        return networks.Setting.new(self.task, self.labels, golds, self.options, self.seed)

    def shape(self) -> tuple[int, int]:
        return self.model.encoder.width, self.model.encoder.feed_forward

    def prepare(self) -> Events[None]:
        checkpoints.check_room(self.folder, self.model)
        self.train_set = Features.join((yield from self.encode("train")))
        self.dev_set = (yield from self.encode("dev")) if self.records["dev"] else []
        encoder = self.model.encoder
        encoder.narrow(self.train_set.prepared.inputs)
        golds, items = self.golds["train"], len(self.train_set.lengths)
        labels = len(self.labels)
        self.plan = prepare.plan_for(encoder, self.spec, golds, items, labels, self.planned)
        self.usual = self.task.usual_counts(self.train_set.targets, self.plan.batch_size)
        for line in prepare.messages(self.plan, self.spec, self.train_set.prepared, encoder):
            yield LogMessage(line)
        if needed_plugin(self.info.id):  # logits that its `decode` does not fit: before training
            self.inference.predict(self.sample(), self.plan.max_length)

    def encode(self, split: str) -> Events[list[Features]]:
        """Features of a split in chunks of documents."""
        records, golds, chunks = self.records[split], self.golds[split], []
        length = input_length(self.options["max_length"], self.model.encoder.max_length)
        for start in range(0, len(records), CHUNK):
            part = slice(start, start + CHUNK)
            documents = [record.document for record in records[part]]
            prepared = self.info.prepare(self.model.encoder.preparer, documents, length)
            targets = contract.targets(
                self.task, prepared, golds[part], self.labels, self.task_options
            )
            chunks.append(Features(prepared, targets))
            yield Tick(self.state.step)
        yield from self.with_features(chunks, bf16=self.state.bf16 and split == "train")
        return chunks

    def with_features(self, chunks: Sequence[Features], *, bf16: bool) -> Events[None]:
        """See `features.provided`; stopping leaves the rest to be computed when it is needed."""
        inputs, is_fixed = [chunk.prepared for chunk in chunks], self.method.fixes_encoder
        for event in features.provided(self.model, self.spec, inputs, is_fixed=is_fixed, bf16=bf16):
            yield event
            if self.state.stopping:
                return

    # ------------------------------------------------------------ updates

    def optimization(self) -> Optimization:
        return Optimization(
            self.method.checked_groups(self.plan.learning_rate),
            rates.schedule(self.options["schedule"], ratio=self.options["ratio"]),
            self.plan.warmup,
            self.options["grad_clip"],
        )

    def updates(self) -> Iterator[Sequence[np.ndarray]]:
        rng = np.random.default_rng(self.seed)
        often = self.task.sampling_weights(self.train_set.targets, self.task_options)
        for epoch in range(self.plan.epochs):
            self.state.epoch = epoch
            self.method.start_epoch(epoch)
            self.epoch_loss = LossSum()
            drawn = batches.drawn(self.train_set.lengths, self.plan.batch_size, rng, often)
            for bundle in prepare.bundles(drawn, self.options["accumulation"]):
                self.method.train_mode(epoch)
                yield bundle

    def position(self) -> tuple[int, int]:
        return self.state.step, self.plan.steps

    def losses(self, chosen: np.ndarray) -> dict[str, Loss]:
        encoder, device = self.model.encoder, self.state.device
        batch = collate(self.train_set, chosen, encoder=encoder, device=device)
        return dict(self.task.forward(self.model, batch).losses)

    def size(self, chosen: np.ndarray) -> int:
        return len(chosen)

    def count(self, chosen: np.ndarray, losses: Mapping[str, Loss]) -> None:
        self.epoch_loss.add(losses)

    def progress(self) -> float:
        return self.state.step / self.plan.steps

    def reports(self) -> Iterator[Event]:
        step, every = self.state.step, max(1, self.plan.steps // LAYER_REPORTS)
        if step % every and step != self.plan.steps:
            return
        if weights := self.model.layer_weights():
            yield LayerWeights(step, **weights)

    # ------------------------------------------------------------ evaluation and best checkpoint

    def is_due(self) -> bool:
        step = self.state.step
        return step > 0 and (step % self.plan.evaluate_every == 0 or step == self.plan.steps)

    def is_done(self) -> bool:
        """Whether it is out of patience."""
        return bool(self.options["patience"]) and self.stale >= self.options["patience"]

    def evaluate(self) -> Events[Measurement | None]:
        if not self.dev_set:
            return None
        golds = self.golds["dev"]
        predictions, loss, fitted = yield from self.inference.predict_and_fit(self.dev_set, golds)
        scores = self.info.score(golds, predictions)
        self.latest = Best(None, self.state.step, scores, predictions, fitted)
        return Measurement("dev", scores, loss)

    def value_of(self, scores: Mapping[str, float], loss: float) -> float:
        """What the best checkpoint is selected by, so that higher is better."""
        by = self.plan.best_by
        score = -scores.get(by, 0.0) if is_error(by) else scores.get(by, 0.0)
        return {"loss": -loss, "last": float(self.state.step)}.get(by, score)

    def improves(self, measurement: Measurement | None) -> bool:
        if measurement is None:
            return False
        self.latest.value = value = self.value_of(measurement.scores, measurement.loss)
        is_better = checkpoints.better(value, self.best.value)
        self.stale = 0 if is_better else self.stale + 1
        return is_better

    def save(self) -> None:
        """Write the checkpoint; it is the best one when all of it was written."""
        best = replace(self.latest, step=self.state.step)
        checkpoints.save(self.method.save, self.folder, self.description(best))
        best.layers = self.model.layer_weights()
        documents, length = self.sample(), self.plan.max_length
        best.sample = inference.logits_of(self.task, self.model, documents, length)
        self.best = best

    def sample(self) -> list[Document]:
        """The documents whose predictions are compared when the saved model is read back."""
        records = self.records["dev"] or self.records["train"]
        return inference.read_back_sample([record.document for record in records])

    def description(self, best: Best) -> dict[str, Any]:
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
            "seed": self.seed,
            "step": best.step,
            "options": {**self.options, **self.plan.__dict__},
            "decoder": {**self.setting.stored(self.model), **best.fitted},
            "cut": int(prepared.cut.sum()),
            "tokens": prepare.tokens(prepared, self.spec),
            "versions": prepare.versions(),
        }

    # ------------------------------------------------------------ end of a run

    def finish(self) -> Events[TrainResult]:
        stopped = self.state.stopping
        scores = {"dev": self.best.scores} if self.dev_set else {}
        predictions = {"dev": self.best.predictions} if self.dev_set else {}
        if self.records["test"]:
            predictions["test"] = yield from self.test()
            golds = self.golds["test"]
            scores["test"] = self.info.score(golds, predictions["test"])
            yield Evaluated(self.best.step, "test", scores["test"], None)
        checkpoints.write_predictions(self.folder, self.records, predictions)
        evaluations = {
            split: evaluate(
                self.info,
                split,
                [record.document for record in self.records[split]],
                self.golds[split],
                predicted,
                scores[split],
            )
            for split, predicted in predictions.items()
        }
        return self.result(evaluations, stopped, predictions)

    def test(self) -> Events[list[Prediction]]:
        """Predictions of the best checkpoint on the test documents."""
        if self.best.step != self.state.step:
            self.method.restore(self.folder / checkpoints.MODEL, self.setting)
        test_set = yield from self.encode("test")
        logits = yield from self.inference.logits(test_set, LossSum())
        return self.inference.decode(test_set, logits, self.best.fitted)

    def result(
        self,
        evaluations: Mapping[str, Evaluation],
        stopped: bool,
        predictions: Mapping[str, Sequence[Prediction]],
    ) -> TrainResult:
        prepared, golds = self.train_set.prepared, self.golds["train"]
        cut = {part: sum(one.cut for one in predictions.get(part, ())) for part in ("dev", "test")}
        cut = {"train": int(prepared.cut.sum()), **cut}
        parameters, trained = optim.sizes(self.model)
        documents = [record.document for record in self.records["dev"] or self.records["train"]]
        return TrainResult(
            evaluations=evaluations,
            used={split: len(records) for split, records in self.records.items()},
            cut=sum(cut.values()),
            cut_by_split=cut,
            windows=len(prepared.inputs) - len(prepared.documents),
            flat_left_out=sum(gold.left_out for gold in golds),
            shifted=self.info.shifted(prepared, golds),
            loss=sum(losses.values()) if (losses := self.epoch_loss.means()) else None,
            steps=self.state.step,
            best_step=self.best.step,
            stopped=stopped,
            seconds=round(time.monotonic() - self.began, 3),
            cpu_seconds=round(time.process_time(), 3),
            device=devices.name(self.state.device),
            bf16=self.state.bf16,
            plan=self.plan,
            options=self.options,
            versions=prepare.versions(),
            predicting=self.inference.cost(documents, self.plan.max_length),
            layer_weights=self.best.layers,
            parameters=parameters,
            trained_parameters=trained,
            base_sha256=folders.sha256(Path(self.spec.model)),
            weights_sha256=folders.sha256(self.folder / checkpoints.MODEL),
            scoring=Scoring.of(self.info),
        )

    def release(self) -> None:
        for name in ("model", "method", "inference", "train_set", "dev_set"):
            vars(self).pop(name, None)

    def read_back(self) -> None:
        target = self.folder / checkpoints.MODEL
        inference.check_read_back(target, self.sample(), self.best.sample, self.state.device)
