"""pretrain(): a generator of events. `send("stop")` saves the model as it is and ends."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from workbench.base import checksums, owned_folder, scratch
from workbench.base.errors import ModelError, SpecError
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.models import device as devices
from workbench.models import precision
from workbench.models import spec as models
from workbench.models.base import CreatesModels, Encoder, LoadOptions
from workbench.models.loading import family_of
from workbench.pretraining import contract, report
from workbench.pretraining.objectives.base import Objective, TextBatch
from workbench.pretraining.results import PretrainResult, ShownRow
from workbench.pretraining.spec import PretrainSpec
from workbench.pretraining.streams import read_by
from workbench.pretraining.texts import Texts
from workbench.tasks import agreement
from workbench.tasks.base import Loss
from workbench.tasks.predictor import LossSum
from workbench.text.segmenters import base as segmenters
from workbench.training import batches, optim, rates
from workbench.training.events import Evaluated, Event, Log, PrecisionTrial, Saved, Step, Tick
from workbench.training.prepare import settle, versions, where

Feed = Generator[Event, str | None, None]
MOST_HELD_OUT = 50_000  # tokens of held-out text per evaluation
REPORT_EVERY = 0.5  # seconds between the events of single steps


def run(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, object], str | None, dict[str, Any]]:
    """Job target. params: spec (PretrainSpec as JSON), out (path of the new model),
    precision_trials. Yields events as JSON objects.
    """
    spec = PretrainSpec.from_json(params["spec"])
    work = pretrain(spec, Path(params["out"]), precision_trials=params.get("precision_trials"))
    command = None
    try:
        while True:
            command = yield work.send(command).to_json()
    except StopIteration as end:
        result: PretrainResult = end.value
        return result.to_json()
    finally:
        work.close()


def show_batch(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, object], str | None, dict[str, Any]]:
    """Job target. params: spec, and batches, 1 by default.

    Returns {"objective", "fingerprint", "rows"}, the rows of the first batch; with several also
    "more", the rows of each of the others.
    """
    spec, count = PretrainSpec.from_json(params["spec"]), int(params.get("batches", 1))
    work = (run := _Pretraining(spec, folder, None)).show(count)
    while True:
        try:
            yield next(work).to_json()
        except StopIteration as end:
            first, *others = [[row.to_json() for row in rows] for rows in end.value]
            found = {"objective": spec.objective, "fingerprint": run.texts.fingerprint()}
            return {**found, "rows": first, **({"more": others} if count > 1 else {})}


def pretrain(
    spec: PretrainSpec, out: Path, *, precision_trials: Mapping[str, float] | None = None
) -> Generator[Event, str | None, PretrainResult]:
    """Train `spec.model` on plain text and write it, in the format of its family, to `out`.

    The model is saved at every evaluation. `send("stop")` saves it and ends. Raises SpecError or
    ModelError before the first step if model and objective do not fit.
    """
    return _Pretraining(spec, out, precision_trials).go()


class _Pretraining:
    """State of one run."""

    def __init__(self, spec: PretrainSpec, out: Path, trials: Mapping[str, float] | None):
        self.spec, self.out, self.trials = spec, out, trials
        self.options = spec.settings()
        self.stopping = False
        self.evaluating = 0.0  # seconds that evaluations took
        self.read = 0.0  # fraction of the text that is done in this epoch
        self.epoch, self.step, self.tokens = 0, 0, 0
        self.words = 0.0
        self.curve: list[dict[str, Any]] = []
        self.first: list[ShownRow] = []  # of the first batch

    def go(self) -> Generator[Event, str | None, PretrainResult]:
        owned_folder.check(self.out)
        self.texts = self.training_texts()
        self.device = devices.pick(self.options["device"])
        precision.check(self.options["precision"], self.device)
        yield from self.emit(Log(_("Loading {model}").format(model=self.spec.model)))
        threads = settle(self.spec.seed, self.device)
        self.folder = Path(self.spec.model)
        try:
            yield from self.create()
            return (yield from self.train(threads))
        finally:
            if self.spec.created is not None:
                scratch.remove(self.folder)

    def show(self, count: int) -> Generator[Event, str | None, list[list[ShownRow]]]:
        """The first batches of the run, as text; nothing is trained or saved."""
        self.texts = self.training_texts()
        self.device = devices.pick("cpu")
        settle(self.spec.seed, self.device)
        self.folder = Path(self.spec.model)
        try:
            yield from self.create()
            self.encoder = self.load()
            self.objective = self.new_objective(self.spec.seed)
            found = islice(contract.batches(self.objective, self.texts), count)
            shown = [contract.shown(self.objective, batch) for batch in found]
            if not shown:
                raise self.too_short()
            return shown
        finally:
            if self.spec.created is not None:
                scratch.remove(self.folder)

    def create(self) -> Feed:
        """Write a new model into a folder of its own, which is needed until it was saved."""
        new = self.spec.created
        if new is None:
            return
        self.spec.info.check(new.card())
        self.folder = scratch.make("model")
        family = registry().get("family", new.family)()
        if not isinstance(family, CreatesModels):
            raise TypeError(f"{new.family} creates no models")
        yield from self.emit(Log(_("Building the vocabulary")))
        options = {**new.settings(self.options), segmenters.OPTION: self.segmenter}
        texts = self.training_texts()
        for _done in family.create(
            new.architecture, options, texts, self.folder, seed=self.spec.seed
        ):
            yield from self.emit(Tick(0))

    def train(self, threads: int) -> Generator[Event, str | None, PretrainResult]:
        self.encoder = self.load()
        self.objective = self.new_objective(self.spec.seed)
        self.module = self.new_module()
        try:
            yield from self.choose_precision(threads)
            self.began = time.monotonic()
            yield from self.evaluate()
            yield from self.learn()
            if not self.curve or self.curve[-1]["step"] != self.step:
                yield from self.evaluate()
            yield from self.save()
            expected = self.fingerprint()
            self.release()
            yield from self.read_back(expected)
            return self.result()
        finally:
            self.release()

    def release(self) -> None:
        """Free the memory of the device."""
        for name in ("encoder", "objective", "module", "trained"):
            vars(self).pop(name, None)
        devices.release(self.device)

    def emit(self, event: Event) -> Feed:
        command = yield event
        self.stopping = self.stopping or command == "stop"

    def load(self, *, saved: bool = False) -> Encoder:
        """The model to train, or the `saved` one."""
        is_own = self.spec.created is not None or saved
        folder = self.out if saved else self.folder
        info = models.read_folder(folder, allow_pickle=self.spec.allow_pickle or is_own)
        self.spec.info.check(info)
        family = family_of(info)
        heads = family.heads(info)
        head = next((head for head in self.spec.info.heads if head in heads), "")
        if not head and self.spec.info.needs_head:
            raise SpecError(
                _("{objective} cannot be trained with {model}: the architecture {architecture} "
                  "has no head for it.").format(
                    objective=self.spec.objective, model=info.name, architecture=info.architecture
                ),
                hint=_("Choose another model or objective."),
            )  # fmt: skip
        options = LoadOptions(
            head=head,
            seed=self.spec.seed,
            random=self.options["init"] == "random" and not saved,
            allow_pickle=self.spec.allow_pickle or is_own,
            dropout=self.options["dropout"],
        )
        encoder = family.load(info, options)
        read_by(encoder, self.segmenter)
        if self.device.type == "cpu":
            batches.use_cheap_dropout(encoder, self.spec.seed)
        return encoder.to(self.device)

    @property
    def segmenter(self) -> str:
        return segmenters.chosen(self.options)

    def new_module(self, *, saved: bool = False) -> nn.Module | None:
        """The objective's own parameters: those beside the model, else new ones."""
        module = self.objective.module
        path = self.spec.module_of(self.out if saved else self.folder)
        if module is None:
            return None
        if path.is_file() and (saved or self.options["init"] != "random"):
            try:
                module.load_state_dict(load_file(path))
            except (OSError, RuntimeError, SafetensorError) as error:
                raise ModelError(
                    _("{path} cannot be loaded: {error}.").format(
                        path=path, error=str(error).splitlines()[0][:200]
                    ),
                    hint=_("Delete the file to start with new weights."),
                ) from error
        return module.to(self.device)

    def new_objective(self, seed: int) -> Objective:
        created: Objective = registry().get("objective", self.spec.objective)(
            self.encoder, self.options, np.random.default_rng(seed)
        )
        if (module := getattr(self, "module", None)) is not None:
            created.module = module
        return created

    def choose_precision(self, threads: int) -> Feed:
        shape = (self.encoder.width, self.encoder.feed_forward)
        chosen = precision.choose(self.options["precision"], self.device, shape, self.trials)
        self.bf16 = chosen.bf16
        yield from self.emit(where(self.device, threads, bf16=self.bf16))
        if chosen.new and chosen.speedup is not None:
            yield from self.emit(PrecisionTrial(chosen.key, chosen.speedup))

    # ------------------------------------------------------------ training

    def learn(self) -> Feed:
        optimizer = optim.optimizer(self.parameters(), self.device)
        self.trained = [p for group in optimizer.param_groups for p in group["params"]]
        reported, next_evaluation = 0.0, 1 / self.options["evaluations"]
        for batch in self.stream():
            self.first = self.first or contract.shown(self.objective, batch)
            begun = time.monotonic()
            losses = self.update(optimizer, batch)
            self.step, self.read = self.step + 1, batch.progress
            if time.monotonic() - reported >= REPORT_EVERY:
                reported = time.monotonic()
                yield from self.emit(self.stepped(losses, batch, reported - begun))
            if self.progress() >= next_evaluation:
                next_evaluation += 1 / self.options["evaluations"]
                yield from self.evaluate()
                if self.progress() < 1:
                    yield from self.save()
            if self.stopping or self.spent() >= 1:
                return

    def stream(self) -> Iterator[TextBatch]:
        for epoch in range(self.options["epochs"]):
            self.epoch, self.read = epoch, 0.0
            yield from contract.batches(self.objective, self.texts)
        if not self.step:
            raise self.too_short()

    def too_short(self) -> SpecError:
        return SpecError(
            _("The text is too short for a batch ({paths}).").format(
                paths=", ".join(self.spec.texts)
            ),
            hint=_("Use more text, a smaller length or a smaller batch_size."),
        )

    def progress(self) -> float:
        """Fraction of the training that is done: of the text, the time or the steps, 0 to 1."""
        read = (self.epoch + self.read) / self.options["epochs"]
        return float(min(1.0, max(read, self.spent())))

    def spent(self) -> float:
        """Fraction of the time or the steps that is used up; the text may be read ahead of both."""
        spent = 0.0
        if self.options["minutes"]:
            seconds = time.monotonic() - self.began - self.evaluating
            spent = seconds / (60 * self.options["minutes"])
        if self.options["max_steps"]:
            spent = max(spent, self.step / self.options["max_steps"])
        return spent

    def parameters(self) -> list[dict[str, Any]]:
        return optim.groups(
            optim.Levels.of_language_model(self.encoder, self.module),
            rate=self.peak(),
            decay=self.options["layer_decay"],
            weight_decay=self.options["weight_decay"],
        )

    def peak(self) -> float:
        return self.spec.peak

    def update(self, optimizer: torch.optim.Optimizer, batch: TextBatch) -> dict[str, float]:
        self.encoder.train()
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            losses = self.losses(batch)
        total = torch.stack(
            [loss.total / loss.count.clamp(min=1) for loss in losses.values()]
        ).sum()
        if not math.isfinite(value := float(total.detach())):
            raise SpecError(
                _("The loss became {total} at step {step}: the training has diverged.").format(
                    total=value, step=self.step
                ),
                hint=_("Use a smaller learning_rate, or precision fp32."),
            )
        total.backward()
        if clip := self.options["grad_clip"]:
            torch.nn.utils.clip_grad_norm_(self.trained, clip)
        schedule = rates.schedule(self.options["schedule"], ratio=self.options["ratio"])
        for group in optimizer.param_groups:
            position = int(self.progress() * 100_000)
            group["lr"] = schedule(
                position, 100_000, peak=group["peak"], cut=self.options["warmup"]
            )
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        others = self.spec.info.others
        self.tokens += sum(int(loss.count) for name, loss in losses.items() if name not in others)
        self.words += batch.words
        means = {name: loss.total / loss.count.clamp(min=1) for name, loss in losses.items()}
        return {name: float(mean.detach()) for name, mean in means.items()}

    def losses(self, batch: TextBatch) -> dict[str, Loss]:
        objective = self.objective
        arrays = (batch.inputs, batch.targets)
        inputs, targets = (objective.tensors(given, self.device) for given in arrays)
        return contract.losses(objective, inputs, targets)

    def stepped(self, losses: Mapping[str, float], batch: TextBatch, seconds: float) -> Step:
        done = max(self.progress(), 1e-9)
        spent = time.monotonic() - self.began
        return Step(
            self.step,
            self.step if done == 1 else max(self.step + 1, round(self.step / done)),
            self.epoch + 1,
            dict(losses),
            self.peak(),
            len(next(iter(batch.inputs.values()))) / max(seconds, 1e-9),
            devices.memory_mb(self.device),
            spent / done * (1 - done),
        )

    # ------------------------------------------------------------ evaluation and saving

    def training_texts(self) -> Texts:
        paths = [Path(path) for path in self.spec.texts]
        return Texts(paths, held_out=None if self.spec.held_out else False)

    def held_out(self) -> Texts:
        if self.spec.held_out:
            return Texts([Path(path) for path in self.spec.held_out])
        return Texts([Path(path) for path in self.spec.texts], held_out=True)

    def evaluate(self) -> Feed:
        """Mean loss on held-out text; with a fixed seed, so that all evaluations are comparable."""
        kept, self.objective = self.objective, self.new_objective(0)
        self.encoder.eval()
        begun, sums, words, tokens = time.monotonic(), LossSum(), 0.0, 0
        try:
            with torch.inference_mode():
                for batch in contract.batches(self.objective, self.held_out()):
                    sums.add(self.losses(batch))
                    words += batch.words
                    tokens += math.prod(next(iter(batch.inputs.values())).shape[:2])
                    yield from self.emit(Tick(self.step))
                    if tokens >= MOST_HELD_OUT:
                        break
        finally:
            self.objective = kept
            self.evaluating += time.monotonic() - begun
        means = sums.means()
        if not means:
            return
        scores = self.scores(sums, words)
        self.curve.append({"step": self.step, "losses": dict(means), **scores})
        yield from self.emit(Evaluated(self.step, "held-out", scores or means, sum(means.values())))

    def scores(self, sums: LossSum, words: float) -> dict[str, float]:
        """Perplexities: exp of the mean negative log-likelihood, the mean over all parts.

        {} if no part of the loss predicts tokens of the text.
        """
        others, every = self.spec.info.others, (sums.means(), sums.totals)
        means, totals = ({name: of[name] for name in of if name not in others} for of in every)
        if not means:
            return {}
        found = {"perplexity": _exp(sum(means.values()) / len(means))}
        if self.spec.info.perplexity and words:
            found["perplexity_per_word"] = _exp(sum(totals.values()) / len(means) / words)
        return found

    def save(self) -> Feed:
        family = family_of(self.encoder.info)

        def fill(draft: Path) -> None:
            family.save(self.encoder, draft)
            if self.module is not None:
                path = self.spec.module_of(draft)
                path.parent.mkdir(exist_ok=True)
                save_file(self.module.state_dict(), path)
            report.write(draft, self.result(), self.first)
            checksums.write(draft)

        owned_folder.replace(self.out, fill)
        yield from self.emit(Saved(self.step))

    def fingerprint(self) -> dict[str, np.ndarray]:
        """The mean losses of the first batch of the training text, in eval mode and float32, and
        the norm of each parameter: a loss near that of random guesses shows little of the weights.
        """
        kept, self.objective = self.objective, self.new_objective(0)
        self.encoder.eval()
        try:
            with torch.inference_mode():
                batch = next(iter(self.objective.batches(self.training_texts())))
                losses = self.losses(batch)
        finally:
            self.objective = kept
        found = {name: loss.total / loss.count.clamp(min=1) for name, loss in losses.items()}
        for name, parameter in self.encoder.named_parameters():
            found[f"norm:{name}"] = parameter.detach().float().norm()
        return {name: value.cpu().numpy() for name, value in found.items()}

    def read_back(self, expected: Mapping[str, np.ndarray]) -> Feed:
        """Raises ModelError unless the saved model has the losses of the trained one."""
        yield from self.emit(Log(_("Loading the saved model to verify it")))
        self.encoder = self.load(saved=True)
        self.objective = self.new_objective(0)
        self.module = self.new_module(saved=True)
        agreement.ensure_equal(self.out, [expected], [self.fingerprint()])

    def result(self) -> PretrainResult:
        return PretrainResult(
            path=str(self.out),
            objective=self.spec.objective,
            model=Path(self.spec.model).name,
            steps=self.step,
            units=self.tokens,
            words=round(self.words),
            seconds=round(time.monotonic() - self.began, 3),
            cpu_seconds=round(time.process_time(), 3),
            device=devices.name(self.device),
            bf16=self.bf16,
            stopped=self.stopping,
            fingerprint=self.texts.fingerprint(),
            options=self.options,
            curve=tuple(self.curve),
            versions=versions(),
        )


def _exp(value: float) -> float:
    return math.exp(min(value, 700.0))  # a larger value is no finite float
