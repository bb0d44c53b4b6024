"""Pretraining on plain text, and pretrain(): a generator of events.

`send("stop")` saves the model as it is and ends.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from workbench.base import checksums, owned_folder, scratch
from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.models import boundary, precision
from workbench.models import device as devices
from workbench.models import folder as folders
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
from workbench.training import batches, optim, rates, resume
from workbench.training.events import Event, LogMessage, Tick
from workbench.training.learning import Events, Measurement, Optimization, TrainingState
from workbench.training.loop import Loop, as_job
from workbench.training.prepare import settle, versions
from workbench.training.resume import States
from workbench.training.states import StateHeader

MOST_HELD_OUT = 50_000  # tokens of held-out text per evaluation
REPORT_EVERY = 0.5  # seconds between the events of single steps
MAY_CHANGE = ("epochs", "device", "precision", "checkpointing")  # of a continued run
PARTS = 100_000  # of the training, in which its schedule counts


def run(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, object], str | None, dict[str, Any]]:
    """Job target. params: spec (PretrainSpec as JSON), out (path of the new model),
    precision_trials, resume. Yields events as JSON objects.
    """
    work = pretrain(
        PretrainSpec.from_json(params["spec"]),
        Path(params["out"]),
        precision_trials=params.get("precision_trials"),
        states=States(folder, resume=bool(params.get("resume"))),
    )
    return (yield from as_job(work))


def show_batch(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, object], str | None, dict[str, Any]]:
    """Job target. params: spec, and batches, 1 by default.

    Returns {"objective", "fingerprint", "rows"}, the rows of the first batch; with several also
    "more", the rows of each of the others.
    """
    spec, count = PretrainSpec.from_json(params["spec"]), int(params.get("batches", 1))
    work = (run := Pretraining(spec, folder)).show(count)
    while True:
        try:
            yield next(work).to_json()
        except StopIteration as end:
            first, *others = [[row.to_json() for row in rows] for rows in end.value]
            batch = {"objective": spec.objective, "fingerprint": run.texts.fingerprint()}
            return {**batch, "rows": first, **({"more": others} if count > 1 else {})}


def pretrain(
    spec: PretrainSpec,
    out: Path,
    *,
    precision_trials: Mapping[str, float] | None = None,
    states: States | None = None,
) -> Generator[Event, str | None, PretrainResult]:
    """Train `spec.model` on plain text and write it, in the format of its family, to `out`.

    The model is saved at every evaluation. `send("stop")` saves it and ends. states: where the
    state of the training is kept, None if it need not be continued. Raises SpecError or
    ModelError before the first step if model and objective do not fit.
    """
    return Loop(Pretraining(spec, out), precision_trials, states).go()


class Pretraining:
    """A Learning of plain text. The model is saved at every evaluation and at the end."""

    best_only = False
    usual: Mapping[str, float | None] = {}
    checkpoint: Path | None = None

    def __init__(self, spec: PretrainSpec, out: Path):
        self.spec, self.out, self.state = spec, out, TrainingState()
        self.seed, self.model_name = spec.seed, spec.model
        self.options: Mapping[str, Any] = spec.settings()
        self.report_every = REPORT_EVERY
        self.folder = Path(spec.model)
        self.restart()

    def restart(self) -> None:
        self.began = time.monotonic()  # of the training itself
        self.evaluating = 0.0  # seconds that evaluations took
        self.next_evaluation = 0.0  # fraction of the training
        self.read = 0.0  # fraction of the text that is done in this epoch
        self.tokens, self.words = 0, 0.0
        self.curve: list[dict[str, Any]] = []
        self.first: list[ShownRow] = []  # of the first batch
        self.place, self.carried = (0, 0), None  # epoch, batches of it; of the batch before

    def check(self) -> None:
        owned_folder.check(self.out)
        self.texts = self.training_texts()

    def show(self, count: int) -> Generator[Event, None, list[list[ShownRow]]]:
        """The first batches of the run, as text; nothing is trained or saved."""
        self.texts = self.training_texts()
        self.state.device = devices.pick("cpu")
        settle(self.seed, self.state.device)
        try:
            yield from self.create()
            self.encoder = self.loaded()
            self.objective = self.new_objective(self.seed)
            self.objective.module = self.new_module()
            first = islice(contract.batches(self.objective, self.texts), count)
            rows = [contract.shown(self.objective, batch) for batch in first]
            if not rows:
                raise self.too_short()
            return rows
        finally:
            self.release()

    # ------------------------------------------------------------ model

    def load(self) -> Events[None]:
        self.restart()
        yield from self.create()
        self.encoder = self.loaded()
        self.objective = self.new_objective(self.seed)
        self.divides = self.objective.divides
        self.module = self.new_module()

    def create(self) -> Events[None]:
        """Write a new model into a folder of its own, which is needed until it was saved."""
        new = self.spec.created
        if new is None:
            return
        self.spec.info.check(new.card())
        self.folder = scratch.make("model")
        family = registry().get("family", new.family)()
        if not isinstance(family, CreatesModels):
            raise TypeError(f"{new.family} creates no models")
        yield LogMessage(_("Building the vocabulary"))
        options = {**new.settings(self.options), segmenters.OPTION: self.segmenter}
        texts = self.training_texts()
        for _done in family.create(
            new.architecture, options, texts, self.folder, seed=self.spec.seed
        ):
            yield Tick(0)

    def loaded(self, *, saved: bool = False) -> Encoder:
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
                _(
                    "{objective} cannot be trained with {model}: the architecture {architecture} "
                    "has no head for it.",
                    objective=self.spec.objective,
                    model=info.name,
                    architecture=info.architecture,
                ),
                hint=_("Choose another model or objective."),
            )
        options = LoadOptions(
            head=head,
            seed=self.seed,
            random=self.options["init"] == "random" and not saved,
            allow_pickle=self.spec.allow_pickle or is_own,
            dropout=self.options["dropout"],
        )
        encoder = family.load(info, options)
        read_by(encoder, self.segmenter)
        if self.state.device.type == "cpu":
            batches.use_cheap_dropout(encoder, self.seed)
        return encoder.to(self.state.device)

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
                raise boundary.damaged(path, error) from error
        return module.to(self.state.device)

    def new_objective(self, seed: int) -> Objective:
        created: Objective = registry().get("objective", self.spec.objective)(
            self.encoder, self.options, np.random.default_rng(seed)
        )
        if (module := getattr(self, "module", None)) is not None:
            created.module = module
        return created

    def width(self) -> int:
        return self.encoder.width

    def trial_step(self) -> precision.TrialStep:
        return precision.block((self.encoder.width, self.encoder.feed_forward))

    def prepare(self) -> Events[None]:
        self.began = time.monotonic()
        yield Tick(0)

    # ------------------------------------------------------------ updates

    def optimization(self) -> Optimization:
        groups = optim.groups(
            optim.Levels.of_language_model(self.encoder, self.module),
            rate=self.spec.peak,
            decay=self.options["layer_decay"],
            weight_decay=self.options["weight_decay"],
        )
        schedule = rates.schedule(self.options["schedule"], ratio=self.options["ratio"])
        return Optimization(groups, schedule, self.options["warmup"], self.options["grad_clip"])

    def updates(self) -> Iterator[Sequence[TextBatch]]:
        first = self.place  # earlier batches are drawn too, so that the later ones are the same
        for epoch in range(self.options["epochs"]):
            self.state.epoch = epoch
            self.read = self.read if (epoch, 0) < first else 0.0
            for number, batch in enumerate(contract.batches(self.objective, self.texts)):
                if (epoch, number) < first:
                    continue
                if (epoch, number) == first and number:
                    self.objective.carry(self.carried)
                self.place = epoch, number + 1
                self.first = self.first or contract.shown(self.objective, batch)
                self.encoder.train()
                yield [batch]
        if not self.state.step:
            raise self.too_short()

    def too_short(self) -> SpecError:
        return SpecError(
            _("The text is too short for a batch ({paths}).", paths=", ".join(self.spec.texts)),
            hint=_("Use more text, a smaller length or a smaller batch_size."),
        )

    def position(self) -> tuple[int, int]:
        return int(self.progress() * PARTS), PARTS

    def losses(self, batch: TextBatch) -> dict[str, Loss]:
        arrays, device = (batch.inputs, batch.targets), self.state.device
        inputs, targets = (self.objective.tensors(each, device) for each in arrays)
        return contract.losses(self.objective, inputs, targets)

    def size(self, batch: TextBatch) -> int:
        return len(next(iter(batch.inputs.values())))

    def part(self, batch: TextBatch, number: int, count: int) -> TextBatch | None:
        if number >= self.size(batch):
            return None
        arrays = (batch.inputs, batch.targets)
        inputs, targets = ({name: a[number::count] for name, a in each.items()} for each in arrays)
        return batch._replace(inputs=inputs, targets=targets)

    def recompute(self) -> bool:
        return self.encoder.checkpoint_layers(batches.replayed(self.encoder))

    def count(self, batch: TextBatch, losses: Mapping[str, Loss]) -> None:
        others = self.spec.info.others
        self.tokens += sum(int(loss.count) for name, loss in losses.items() if name not in others)
        self.words += batch.words
        self.read = batch.progress

    def progress(self) -> float:
        """Fraction of the training that is done: of the text, the time or the steps, 0 to 1."""
        read = (self.state.epoch + self.read) / self.options["epochs"]
        return float(min(1.0, max(read, self.spent())))

    def spent(self) -> float:
        """Fraction of the time or the steps that is used up; the text may be read ahead of both."""
        spent = 0.0
        if self.options["minutes"]:
            seconds = time.monotonic() - self.began - self.evaluating
            spent = seconds / (60 * self.options["minutes"])
        if self.options["max_steps"]:
            spent = max(spent, self.state.step / self.options["max_steps"])
        return spent

    def reports(self) -> Iterable[Event]:
        return ()

    # ------------------------------------------------------------ evaluation and saving

    def is_due(self) -> bool:
        if self.progress() < self.next_evaluation:
            return False
        self.next_evaluation += 1 / self.options["evaluations"]
        return True

    def is_done(self) -> bool:
        return self.spent() >= 1

    def training_texts(self) -> Texts:
        paths = [Path(path) for path in self.spec.texts]
        return Texts(paths, held_out=None if self.spec.held_out else False)

    def held_out(self) -> Texts:
        if self.spec.held_out:
            return Texts([Path(path) for path in self.spec.held_out])
        return Texts([Path(path) for path in self.spec.texts], held_out=True)

    def evaluate(self) -> Events[Measurement | None]:
        """Mean loss on held-out text; with a fixed seed, so that all evaluations are comparable."""
        trained, self.objective = self.objective, self.new_objective(0)
        self.encoder.eval()
        begun, sums, words, tokens = time.monotonic(), LossSum(), 0.0, 0
        try:
            with torch.inference_mode():
                for batch in contract.batches(self.objective, self.held_out()):
                    sums.add(self.losses(batch))
                    words += batch.words
                    tokens += math.prod(next(iter(batch.inputs.values())).shape[:2])
                    yield Tick(self.state.step)
                    if tokens >= MOST_HELD_OUT:
                        break
        finally:
            self.objective = trained
            self.evaluating += time.monotonic() - begun
        means = sums.means()
        if not means:
            return None
        scores = self.scores(sums, words)
        self.curve.append({"step": self.state.step, "losses": dict(means), **scores})
        return Measurement("held-out", scores or means, sum(means.values()))

    def scores(self, sums: LossSum, words: float) -> dict[str, float]:
        """Perplexities: exp of the mean negative log-likelihood, the mean over all parts.

        {} if no part of the loss predicts tokens of the text.
        """
        others, every = self.spec.info.others, (sums.means(), sums.totals)
        means, totals = ({name: of[name] for name in of if name not in others} for of in every)
        if not means:
            return {}
        scores = {"perplexity": _exp(sum(means.values()) / len(means))}
        if self.spec.info.perplexity and words:
            scores["perplexity_per_word"] = _exp(sum(totals.values()) / len(means) / words)
        return scores

    def improves(self, measurement: Measurement | None) -> bool:
        """The model of every evaluation is saved, but not the one that is trained."""
        return self.state.step > 0

    def save(self) -> None:
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

    # ------------------------------------------------------------ state

    def header(self) -> StateHeader:
        epochs = self.options["epochs"]
        fixed = {name: value for name, value in self.options.items() if name not in MAY_CHANGE}
        return StateHeader(
            self.state.step,
            round(self.state.step / max(self.progress(), 1e-9)),
            self.state.epoch,
            epochs,
            data=self.texts.fingerprint(),
            model=self.base_sha256,
            settings=resume.plain({"objective": self.spec.objective, "seed": self.seed, **fixed}),
            versions=versions(),
        )

    @cached_property
    def base_sha256(self) -> str:
        return "" if self.spec.created is not None else folders.sha256(self.folder)

    def modules(self) -> dict[str, nn.Module]:
        own = {} if self.module is None else {"objective": self.module}
        return {"encoder": self.encoder, **own}

    def state_dict(self) -> dict[str, Any]:
        return {
            "place": list(self.place),
            "carried": self.objective.carried(),
            "next_evaluation": self.next_evaluation,
            "read": self.read,
            "tokens": self.tokens,
            "words": self.words,
            "curve": resume.plain(self.curve),
            "first": resume.plain([row.to_json() for row in self.first]),
            "seconds": time.monotonic() - self.began,
            "evaluating": self.evaluating,
        }

    def load_state_dict(self, state: Mapping[str, Any], *, longer: bool) -> None:
        """With more epochs, the evaluations are those of the longer training."""
        self.place, self.carried = tuple(state["place"]), state["carried"]
        self.read, self.tokens, self.words = state["read"], state["tokens"], state["words"]
        self.next_evaluation = state["next_evaluation"]
        self.curve = list(state["curve"])
        self.first = [ShownRow.from_json(row) for row in state["first"]]
        self.began, self.evaluating = self.began - state["seconds"], state["evaluating"]
        self.state.epoch = self.place[0]
        if longer:
            each = 1 / self.options["evaluations"]
            self.next_evaluation = math.ceil(self.progress() / each) * each

    # ------------------------------------------------------------ end of a run

    def finish(self) -> Events[PretrainResult]:
        yield Tick(self.state.step)
        self.expected = self.fingerprint()
        return self.result()

    def fingerprint(self) -> dict[str, np.ndarray]:
        """The mean losses of the first batch of the training text, in eval mode and float32, and
        the norm of each parameter: a loss near that of random guesses shows little of the weights.
        """
        trained, self.objective = self.objective, self.new_objective(0)
        self.encoder.eval()
        try:
            with torch.inference_mode():
                batch = next(iter(self.objective.batches(self.training_texts())))
                losses = self.losses(batch)
        finally:
            self.objective = trained
        numbers = {name: loss.total / loss.count.clamp(min=1) for name, loss in losses.items()}
        for name, parameter in self.encoder.named_parameters():
            numbers[f"norm:{name}"] = parameter.detach().float().norm()
        return {name: value.cpu().numpy() for name, value in numbers.items()}

    def release(self) -> None:
        for name in ("encoder", "objective", "module"):
            vars(self).pop(name, None)
        if self.spec.created is not None:
            scratch.remove(self.folder)

    def read_back(self) -> None:
        """Raises ModelError unless the saved model has the losses of the trained one."""
        self.encoder = self.loaded(saved=True)
        self.objective = self.new_objective(0)
        self.module = self.new_module(saved=True)
        agreement.ensure_equal(self.out, [self.expected], [self.fingerprint()])

    def result(self) -> PretrainResult:
        return PretrainResult(
            path=str(self.out),
            objective=self.spec.objective,
            model=Path(self.spec.model).name,
            steps=self.state.step,
            units=self.tokens,
            words=round(self.words),
            seconds=round(time.monotonic() - self.began, 3),
            cpu_seconds=round(self.state.spent()[1], 3),
            device=devices.name(self.state.device),
            bf16=self.state.bf16,
            stopped=self.state.stopping,
            fingerprint=self.texts.fingerprint(),
            options=self.options,
            curve=tuple(self.curve),
            versions=versions(),
            remarks=tuple(self.state.remarks),
        )


def _exp(value: float) -> float:
    return math.exp(min(value, 700.0))  # a larger value is no finite float
