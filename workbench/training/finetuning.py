"""Fine-tuning: a model learns a task from labelled documents, the best checkpoint is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.registry import needed_plugin, registry
from workbench.metrics.evaluation import Evaluation
from workbench.models import device as devices
from workbench.models import folder as folders
from workbench.models import precision
from workbench.models import spec as models
from workbench.models.base import LoadOptions
from workbench.models.spec import ModelInfo
from workbench.runtime.inputs import CHUNK, Prepared
from workbench.tasks import contract
from workbench.tasks import model as networks
from workbench.tasks.base import Features, Loss, Model, collate
from workbench.tasks.predictor import LossSum
from workbench.tasks.references import References
from workbench.tasks.spec import Gold, evaluate, is_error
from workbench.text.dataset import Dataset, Record, lines
from workbench.text.document import Document
from workbench.text.fields import Prediction
from workbench.training import (
    batches,
    checkpoints,
    features,
    inference,
    prepare,
    rates,
    resume,
)
from workbench.training.checkpoints import Best
from workbench.training.distillation import Distillation
from workbench.training.events import Evaluated, Event, LayerWeights, LogMessage, Tick
from workbench.training.general import ALL, initial_levels
from workbench.training.inference import Inference
from workbench.training.learning import Events, Measurement, Optimization, TrainingState
from workbench.training.methods.base import Method
from workbench.training.methods.spec import FIRST
from workbench.training.optim import Levels
from workbench.training.plan import Plan, input_length
from workbench.training.results import Scoring, TrainResult
from workbench.training.spec import Teaching, TrainSpec
from workbench.training.states import StateHeader

TRIAL_BATCH = 32  # most documents of a trial of precision
WRITTEN = 128  # dev documents, at most, for which texts are written at each evaluation
LAYER_REPORTS = 100  # events with the weights of layers per run
MAY_CHANGE = ("epochs", "patience", "device", "precision", "checkpointing")  # of a continued run


class FineTuning:
    """A Learning of labelled documents. A batch: int (B,), positions among the training inputs, or
    int (P, 2) of pairs.
    """

    best_only = divides = True
    report_every = 0.0
    usual: Mapping[str, float | None]
    often: np.ndarray | None  # (N,), see `batches.drawn`

    def __init__(
        self,
        spec: TrainSpec,
        data: Dataset,
        folder: Path,
        splits: Mapping[str, Sequence[int]] | None,
        planned: Plan | None,
        state: TrainingState | None = None,
        teaching: Teaching | None = None,
    ):
        self.spec, self.folder, self.planned = spec, folder, planned
        self.state = state or TrainingState()
        self.seed = spec.seed
        self.options: Mapping[str, Any] = spec.all_options
        self.model_name = spec.model_name or spec.model
        self.labels = prepare.labels_of(spec, data)
        self.records = prepare.records_of(spec, data, splits)
        self.task = networks.task_of(spec.task)
        self.info = self.task.info = spec.info
        self.golds = {
            split: [
                gold
                for record in records
                if (gold := self.info.gold(record, spec.layer)) is not None
            ]
            for split, records in self.records.items()
        }
        self.checkpoint: Path | None = folder / checkpoints.MODEL
        self.distillation = Distillation.of(spec, teaching, folder)

    # ------------------------------------------------------------ model and data

    def check(self) -> None:
        prepare.check(self.spec, self.records, self.labels)

    def load(self) -> Events[None]:
        self.begin()
        yield Tick(0)
        self.use(self.build(self.records["train"]))

    def begin(self) -> None:
        self.best = self.latest = Best()  # of all evaluations, of the last one
        self.stale = 0  # evaluations since the best checkpoint
        self.epoch_loss = LossSum()  # of the current epoch
        self.place = (0, 0)  # epoch, updates of it that were begun
        self.references: References | None = None

    def build(self, records: Sequence[Record]) -> Model:
        """The model before training. records: a model without weights has their vocabulary."""
        options = LoadOptions(
            seed=self.seed,
            random=self.options["init"] == "random",
            allow_pickle=self.spec.allow_pickle,
            attention_dropout=0.0,  # otherwise torch cannot use the fast attention kernels
            dropout=self.options["dropout"],
            settings=self.spec.family_settings,
            documents=[record.document for record in records],
        )
        info = models.read_folder(self.spec.model, allow_pickle=self.spec.allow_pickle)
        return self._built(info, options)

    def use(self, model: Model) -> None:
        """Let the method train the model on the device of the state."""
        if self.state.device.type == "cpu":
            batches.use_cheap_dropout(model, self.seed, self.state.ranks.number)
        self.model = model.to(self.state.device)
        self.method: Method = registry().get("method", self.spec.method)(self.model, self.options)
        self.method.prepare()
        self.state.ranks.share_weights(self.model)
        self.share(self.model, self.method)

    def share(self, model: Model, method: Method) -> None:
        """Train a model that a method was prepared for."""
        self.model, self.method = model, method
        self.inference = Inference(self.task, model, self.labels, self.options, self.state)

    def _built(self, info: ModelInfo, options: LoadOptions) -> Model:
        """The model with the lowest layers of `init_layers` alone, the others random.

        Raises SpecError if it has fewer layers.
        """
        count = initial_levels(self.options["init_layers"])
        if count is None or options.random:
            return networks.build(info, self.setting, options)
        model = networks.build(info, self.setting, replace(options, random=True))
        lower = Levels.of(model).parameters()[:-1]  # without the top, which is new in any case
        if count > len(lower):
            raise SpecError(
                ngettext(
                    "init_layers is {text}, but the model has only {n} layer.",
                    "init_layers is {text}, but the model has only {n} layers.",
                    len(lower) - 1,
                    text=self.options["init_layers"],
                ),
                hint=_("Choose a smaller number, or all."),
            )
        source = Levels.of(networks.build(info, self.setting, options)).parameters()
        with torch.no_grad():
            for own, level in zip(lower[:count], source[:count], strict=True):
                for parameter, other in zip(own, level, strict=True):
                    parameter.copy_(other)
        return model

    @property
    def setting(self) -> networks.Setting:
        golds = self.golds["train"]
        return networks.Setting.new(self.task, self.labels, golds, self.options, self.seed)

    def width(self) -> int:
        return self.model.encoder.width

    def trial_step(self) -> precision.TrialStep:
        """A pass over documents of about median length, without dropout."""
        encoder, golds = self.model.encoder, self.golds["train"]
        texts = [len(record.document.text) for record in self.records["train"]]
        middle = sorted(range(len(texts)), key=texts.__getitem__)[len(texts) // 3 :]
        chosen = middle[: self.options["batch_size"] or TRIAL_BATCH]
        records = [self.records["train"][index] for index in chosen]
        items = self.features_of(records, [golds[index] for index in chosen])
        longest = int(max(items.lengths, default=1))
        rows = min(len(items.lengths), max(1, precision.ROWS // longest))
        batch = collate(items, np.arange(rows), encoder=encoder, device=self.state.device)
        self.model.eval()

        def run(bf16: bool) -> None:
            with torch.autocast(self.state.device.type, torch.bfloat16, enabled=bf16):
                losses = self.task.forward(self.model, batch).losses
            batches.weighted(losses, {}).backward()
            self.model.zero_grad(set_to_none=True)

        tokens = f"{rows}x{1 << (longest - 1).bit_length()}"
        size = f"{encoder.width}x{encoder.feed_forward}x{encoder.info.layers}"
        name = f"step {encoder.info.architecture} {self.spec.task} {self.spec.method}"
        return precision.TrialStep(f"{name} {size} {tokens}", run)

    def prepare(self) -> Events[None]:
        checkpoints.check_room(self.folder, self.model)
        yield from self.read()
        encoder = self.model.encoder
        encoder.narrow(self.batch_set.prepared.inputs)
        self.settle(self.resolved())
        if self.info.writes and len(self.records["dev"]) > WRITTEN:
            yield LogMessage(_sampled(len(self._written_sample()), len(self.records["dev"])))
        for line in prepare.messages(self.plan, self.spec, self.train_set.prepared, encoder):
            yield LogMessage(line)
        yield from self.try_task()

    def read(self) -> Events[None]:
        if self.task.reference:
            yield from self.compute_references()
        self.train_set = Features.join((yield from self.encode("train")))
        if notice := self.task.notice():
            self.state.remarks.append(notice)
            yield LogMessage(notice)
        self.batch_set = self.train_set if self.distillation is None else (yield from self.teach())
        self.dev_set = (yield from self.encode("dev")) if self.records["dev"] else []

    def resolved(self) -> Plan:
        """The settings for the data that was read."""
        golds, items = self.golds["train"], len(self.batch_set.lengths)
        encoder, labels = self.model.encoder, len(self.labels)
        return prepare.plan_for(encoder, self.spec, golds, items, labels, self.planned)

    def settle(self, plan: Plan) -> None:
        self.plan, targets = plan, self.train_set.targets
        self.often = self.task.balance(targets, self.labels, self.options).often
        epoch = batches.expected(targets, self.often)
        self.usual = self.task.usual_counts(epoch, plan.batch_size)
        if self.distillation is not None:
            own = self.often, self.usual, self.train_set, self.batch_set, plan.batch_size
            self.often, self.usual = self.distillation.spread(*own)

    def try_task(self) -> Events[None]:
        yield Tick(0)
        if needed_plugin(self.info.id):  # logits that its `decode` does not fit: before training
            self.inference.predict(self.sample(), self.plan.max_length)

    def teach(self) -> Events[Features]:
        """The training inputs, and those of documents without gold, with what the teacher says."""
        assert self.distillation is not None
        records, chunks = self.distillation.records, list[Features]()
        for start in range(0, len(records), CHUNK):
            documents = [record.document for record in records[start : start + CHUNK]]
            chunks.append(Features(self.prepared(documents), {}))
            yield Tick(self.state.step)
        yield from self.with_features(chunks, bf16=self.state.bf16)
        own = self.task, self.model, self.labels, self.train_set
        return (yield from self.distillation.taught(*own, chunks))

    def encode(self, split: str) -> Events[list[Features]]:
        """Features of a split in chunks of documents."""
        records, golds, chunks = self.records[split], self.golds[split], []
        for start in range(0, len(records), CHUNK):
            part = slice(start, start + CHUNK)
            features = self.features_of(records[part], golds[part])
            if split == "train":
                rng = np.random.default_rng((self.seed, start))
                features = self.task.sampled(features, self.options, rng)
            chunks.append(features)
            yield Tick(self.state.step)
        yield from self.with_features(chunks, bf16=self.state.bf16 and split == "train")
        return chunks

    def features_of(self, records: Sequence[Record], golds: Sequence[Gold]) -> Features:
        prepared = self.prepared([record.document for record in records])
        if self.references is not None:
            prepared = self.references.attached(prepared, self.task.reference)
        targets = contract.targets(self.task, prepared, golds, self.labels, self.options)
        return Features(prepared, targets)

    def compute_references(self) -> Events[None]:
        """Those of all splits, with the initial weights; of train in the precision of its updates.

        They are read from the folder of a run that continues.
        """
        length = input_length(self.options["max_length"], self.model.encoder.max_length)
        is_pretrained = self.options["init"] != "random" and self.options["init_layers"] == ALL
        source = (self.spec.model, self.base_sha256) if is_pretrained else ("", "")
        references = References(*source, length)
        stored = References.read(self.folder)
        references = stored if stored is not None and stored.fits(references) else references
        documents = {
            split: references.missing([record.document for record in records])
            for split, records in self.records.items()
        }
        if count := sum(map(len, documents.values())):
            line = ngettext(
                "Computing the reference log-probabilities of {n:,} document…",
                "Computing the reference log-probabilities of {n:,} documents…",
                count,
            )
            yield LogMessage(line)
        for split, missing in documents.items():
            for start in range(0, len(missing), CHUNK):
                part = missing[start : start + CHUNK]
                prepared = self.prepared(part)
                bf16 = self.state.bf16 and split == "train"
                work = self.inference.logits([Features(prepared, {})], LossSum(), bf16=bf16)
                references.add(prepared, (yield from work)[0])
        if count and self.state.ranks.first:
            references.write(self.folder)
        self.references = references

    def prepared(self, documents: Sequence[Document]) -> Prepared:
        length = input_length(self.options["max_length"], self.model.encoder.max_length)
        return self.info.prepare(self.model.encoder.preparer, documents, length)

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
            self.part_rates(),
        )

    def part_rates(self) -> rates.LayerRates | None:
        """Those of the embeddings, layers and head over the run; None if they are all the same."""
        layers = len(self.model.encoder.parts().layers)
        planned = rates.layer_steps(self.spec, self.plan, layers)
        return planned if len(set(planned.rates)) > 1 else None

    def updates(self) -> Iterator[Sequence[np.ndarray]]:
        yield from self.first_updates()
        rng = np.random.default_rng(self.seed)
        first = self.place  # earlier batches are drawn too, so that the later ones are the same
        for epoch in range(self.plan.epochs):
            self.state.epoch = epoch
            self.method.start_epoch(epoch)
            if (epoch, 0) >= first:
                self.begin_epoch()
            drawn = batches.drawn(self.batch_set.lengths, self.plan.batch_size, rng, self.often)
            bundles = prepare.bundles(drawn, self.options["accumulation"])
            for number, bundle in enumerate(bundles):
                if (epoch, number) < first:
                    continue
                self.place = epoch, number + 1
                self.method.train_mode(epoch)
                yield bundle

    def first_updates(self) -> Iterator[Sequence[np.ndarray]]:
        """Those of the stage of the method before the epochs; batches of pairs, int (P, 2)."""
        steps, size = self.plan.first_steps, self.plan.batch_size
        if self.state.step >= steps:
            return
        self.method.start_epoch(FIRST)
        classes = np.asarray(self.train_set.targets[self.class_name])
        batches = self.method.first_batches(classes, steps, size, self.seed)
        for pairs in islice(batches, self.state.step, None):
            self.method.train_mode(FIRST)
            yield [pairs]

    @property
    def class_name(self) -> str:
        """Of the targets of a task that predicts classes."""
        return self.task.loss_targets["task"]

    def begin_epoch(self) -> None:
        self.epoch_loss = LossSum()

    def position(self) -> tuple[int, int]:
        first, step = self.plan.first_steps, self.state.step
        return (step, first) if step < first else (step - first, self.plan.steps - first)

    def losses(self, chosen: np.ndarray) -> dict[str, Loss]:
        encoder, device = self.model.encoder, self.state.device
        items = chosen.T.ravel()  # of pairs the first ones, then the second ones
        batch = collate(self.batch_set, items, encoder=encoder, device=device)
        if chosen.ndim > 1:
            return self.method.first_losses(batch.inputs, batch.targets[self.class_name])
        if self.distillation is not None:
            return self.distillation.losses(self.task, self.model, batch)
        return dict(self.task.forward(self.model, batch).losses)

    def size(self, chosen: np.ndarray) -> int:
        return len(chosen)

    def part(self, chosen: np.ndarray, number: int, count: int) -> np.ndarray | None:
        part = chosen[number::count]  # neighbours are of similar length
        return part if len(part) else None

    def recompute(self) -> bool:
        return self.model.encoder.checkpoint_layers(batches.replayed(self.model))

    def count(self, chosen: np.ndarray, losses: Mapping[str, Loss]) -> None:
        self.epoch_loss.add(losses)

    def progress(self) -> float:
        return self.state.step / self.plan.steps

    def reports(self) -> Iterator[Event]:
        if self.state.step == self.plan.first_steps:
            yield LogMessage(_("Training the head on the tuned encoder"))
        step, every = self.state.step, max(1, self.plan.steps // LAYER_REPORTS)
        if step % every and step != self.plan.steps:
            return
        if weights := self.model.layer_weights():
            yield LayerWeights(step, **weights)

    # ------------------------------------------------------------ evaluation and best checkpoint

    def is_due(self) -> bool:
        step = self.state.step - self.plan.first_steps
        is_last = self.state.step == self.plan.steps
        return step > 0 and (step % self.plan.evaluate_every == 0 or is_last)

    def is_done(self) -> bool:
        """Whether it is out of patience."""
        return bool(self.options["patience"]) and self.stale >= self.options["patience"]

    def evaluate(self) -> Events[Measurement | None]:
        if not self.dev_set:
            return None
        if self.info.writes:
            return (yield from self._evaluate_written(self.dev_set))
        golds = self.golds["dev"]
        predictions, loss, fitted = yield from self.inference.predict_and_fit(self.dev_set, golds)
        scores = self.info.score(golds, predictions)
        self.latest = Best(None, self.state.step, scores, predictions, fitted)
        return Measurement("dev", scores, loss)

    def _evaluate_written(self, dev_set: Sequence[Features]) -> Events[Measurement]:
        """The loss of all of dev, and the scores of the texts that are written for a sample of it:
        writing takes many times as long.
        """
        losses = LossSum()
        yield from self.inference.logits(dev_set, losses, bf16=self.state.bf16)
        chosen = self._written_sample()
        items = self.features_of(
            [self.records["dev"][at] for at in chosen], [self.golds["dev"][at] for at in chosen]
        )
        predictions = yield from self.predicted([items])
        scores = self.info.score([self.golds["dev"][at] for at in chosen], predictions)
        self.latest = Best(None, self.state.step, scores, predictions)
        return Measurement("dev", scores, sum(losses.means().values()))

    def _written_sample(self) -> list[int]:
        """Positions of the dev documents for which texts are written at each evaluation."""
        count = len(self.records["dev"])
        return sorted(
            {*np.linspace(0, count - 1, min(count, WRITTEN)).round().astype(int).tolist()}
        )

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
        checkpoints.ensure_room(self.folder, self.model)
        self.best = self.written(self.folder)

    def written(self, folder: Path) -> Best:
        """Write the model of the present step into `folder/model`."""
        best = replace(self.latest, step=self.state.step)
        checkpoints.save(self.method.save, folder, self.description(best))
        best.layers = self.model.layer_weights()
        documents, length = self.sample(), self.plan.max_length
        best.sample = inference.logits_of(self.task, self.model, documents, length)
        return best

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
            "chain": list(self.chain),
            "licence": self.licence,
            "seed": self.seed,
            "step": best.step,
            "options": {**self.options, **self.plan.__dict__},
            "decoder": {**self.setting.stored(self.model), **best.fitted},
            "cut": int(prepared.cut.sum()),
            "tokens": prepare.tokens(prepared, self.spec),
            "versions": prepare.versions(),
            **self.saved_memory(),
        }

    def saved_memory(self) -> dict[str, Any]:
        """What the training did as memory was short; {} if it was not."""
        names = {"micro_batch": self.state.most, "checkpointing": self.state.recomputes}
        return {name: value for name, value in names.items() if value}

    # ------------------------------------------------------------ state

    def header(self) -> StateHeader:
        settings = {**self._named_models(), **self.plan.__dict__}
        fixed = {name: value for name, value in settings.items() if name not in MAY_CHANGE}
        return StateHeader(
            self.state.step,
            self.plan.steps,
            self.state.epoch,
            self.plan.epochs,
            data=self.data_fingerprint,
            model=self.base_sha256,
            settings=resume.plain({"task": self.spec.task, "seed": self.seed, **fixed}),
            versions=prepare.versions(),
        )

    def _named_models(self) -> dict[str, Any]:
        """The options with names for paths of models, which may move before a run is continued."""

        def named(path: str) -> ModelInfo:
            return ModelInfo(Path(path).name, Path(path).name)

        family = registry().info("family", self.model.encoder.info.family)
        options: dict[str, Any] = family.resolved(self.options, named)
        return options

    @cached_property
    def data_fingerprint(self) -> str:
        """Of the documents and gold labels of train and dev."""
        digest = hashlib.blake2b(repr(self.labels).encode(), digest_size=16)
        for split in ("train", "dev"):
            for line in lines((), self.records[split]):
                digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
        return digest.hexdigest()

    @cached_property
    def chain(self) -> tuple[str, ...]:
        return models.chain(self.spec.model, self.spec.model_name)

    @cached_property
    def licence(self) -> str:
        return models.card(self.spec.model, allow_pickle=self.spec.allow_pickle).licence

    @cached_property
    def base_sha256(self) -> str:
        return folders.sha256(Path(self.spec.model))

    def modules(self) -> dict[str, nn.Module]:
        return {"model": self.model}

    def state_dict(self) -> dict[str, Any]:
        best = self.best
        plain = {**vars(best), "predictions": [one.to_json() for one in best.predictions]}
        sample = [{name: torch.from_numpy(a) for name, a in one.items()} for one in best.sample]
        return {
            "place": list(self.place),
            "stale": self.stale,
            "epoch_loss": resume.plain(vars(self.epoch_loss)),
            "best": {**resume.plain({**plain, "sample": None}), "sample": sample},
        }

    def load_state_dict(self, state: Mapping[str, Any], *, longer: bool) -> None:
        """More epochs begin with all of their patience."""
        self.place, self.stale = tuple(state["place"]), 0 if longer else state["stale"]
        vars(self.epoch_loss).update(state["epoch_loss"])
        best = dict(state["best"])
        best["predictions"] = [Prediction.from_json(one) for one in best["predictions"]]
        best["sample"] = [{name: t.numpy() for name, t in one.items()} for one in best["sample"]]
        self.best = Best(**best)

    # ------------------------------------------------------------ end of a run

    def finish(self) -> Events[TrainResult]:
        stopped = self.state.stopping
        if self.best.step <= self.plan.first_steps > 0:
            self.state.remarks.append(
                _(
                    "The training was stopped before the head was trained, so the predictions are "
                    "at random. Continue the run, or delete it."
                )
            )
        scores = {"dev": self.best.scores} if self.dev_set else {}
        predictions = {"dev": self.best.predictions} if self.dev_set else {}
        is_latest = self.best.step == self.state.step
        again = bool(self.dev_set) and (self.state.bf16 or self.info.writes)
        if not is_latest and (self.records["test"] or again):
            self.method.restore(self.folder / checkpoints.MODEL, self.setting)
        if again:  # evaluated in bf16, or on a sample, so far
            predictions["dev"] = yield from self.predicted(self.dev_set)
            scores["dev"] = self.info.score(self.golds["dev"], predictions["dev"])
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
        return (yield from self.predicted((yield from self.encode("test"))))

    def predicted(self, chunks: Sequence[Features]) -> Events[list[Prediction]]:
        """Predictions of the best checkpoint, in float32 as later ones."""
        if self.info.writes:
            chunks = [Features(chunk.prepared, {}) for chunk in chunks]
        logits = yield from self.inference.logits(chunks, LossSum())
        return self.inference.decode(chunks, logits, self.best.fitted)

    def result(
        self,
        evaluations: Mapping[str, Evaluation],
        stopped: bool,
        predictions: Mapping[str, Sequence[Prediction]],
    ) -> TrainResult:
        prepared, golds = self.train_set.prepared, self.golds["train"]
        cut = {part: sum(one.cut for one in predictions.get(part, ())) for part in ("dev", "test")}
        cut = {"train": int(prepared.cut.sum()), **cut}
        parameters, trained = self.method.sizes()
        seconds, cpu_seconds = self.state.spent()
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
            seconds=round(seconds, 3),
            cpu_seconds=round(cpu_seconds, 3),
            device=devices.name(self.state.device),
            bf16=self.state.bf16,
            micro_batch=self.state.most,
            checkpointing=self.state.recomputes,
            plan=self.plan,
            options=self.options,
            versions=prepare.versions(),
            predicting=self.inference.cost(documents, self.plan.max_length),
            layer_weights=self.best.layers,
            parameters=parameters,
            trained_parameters=trained,
            base_sha256=self.base_sha256,
            weights_sha256=folders.sha256(self.folder / checkpoints.MODEL),
            scoring=Scoring.of(self.info),
            remarks=tuple(self.state.remarks),
        )

    def release(self) -> None:
        for name in ("model", "method", "inference", "train_set", "batch_set", "dev_set"):
            vars(self).pop(name, None)

    def read_back(self) -> None:
        target = self.folder / checkpoints.MODEL
        inference.check_read_back(target, self.sample(), self.best.sample, self.state.device)


def _sampled(count: int, total: int) -> str:
    return ngettext(
        "Scores during training: texts are written for {n} of {total} dev documents; the scores at "
        "the end are of all of them",
        "Scores during training: texts are written for {n} of {total} dev documents; the scores at "
        "the end are of all of them",
        count,
        total=total,
    )
