"""What can be chosen for a training run, and the run's description to and from JSON. No torch here."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _

TASKS = ("classify", "pairs", "tag")
DEVICES = ("auto", "cpu", "cuda", "mps")


@dataclass(frozen=True)
class Option:
    """One setting of a run. `kind` is int, float, bool, choice or text.

    `default` None means automatic; `automatic` then says by what rule, and "auto" is a legal value.
    `low` and `high` are inclusive bounds. `group` is main (always shown) or more.
    """

    name: str
    kind: str
    default: object
    help: str
    choices: tuple[str, ...] = ()
    tasks: tuple[str, ...] = TASKS
    group: str = "more"
    low: float | None = None
    high: float | None = None
    automatic: str = ""
    title: str = ""

    def parse(self, value: object) -> object:
        """The value in its own type. Raises SpecError that names the key and the value."""
        text = str(value).strip()
        if self.automatic and (value is None or text.lower() in ("auto", "")):
            return None
        try:
            parsed = _READERS[self.kind](text)
        except ValueError:
            raise SpecError(
                _("{name} is {text!r}, expected {wanted}.").format(
                    name=self.name, text=text, wanted=self._wanted()
                ),
                hint=_(self.help),
            ) from None
        if self.choices and self.kind == "choice" and parsed not in self.choices:
            raise SpecError(
                _("{name} is {text!r}, expected one of {choices}.").format(
                    name=self.name, text=text, choices=", ".join(self.choices)
                ),
                hint=_(self.help),
            )
        if (self.low is not None and parsed < self.low) or (
            self.high is not None and parsed > self.high
        ):
            raise SpecError(
                _("{name} is {text}, expected {wanted}.").format(
                    name=self.name, text=text, wanted=self._wanted()
                ),
                hint=_(self.help),
            )
        if self.name == "freeze":
            frozen_layers(parsed)
        return parsed

    def _wanted(self) -> str:
        kinds = {
            "int": _("a whole number"),
            "float": _("a number"),
            "bool": _("yes or no"),
            "choice": _("a choice"),
            "text": _("text"),
        }
        low = _("from {number:g}").format(number=self.low) if self.low is not None else ""
        high = _("to {number:g}").format(number=self.high) if self.high is not None else ""
        return " ".join(
            [
                kinds[self.kind],
                *filter(None, (low, high)),
                *([_("or auto")] if self.automatic else []),
            ]
        )


def _read_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _read_bool(text: str) -> bool:
    known = {
        "true": True,
        "yes": True,
        "on": True,
        "1": True,
        "false": False,
        "no": False,
        "off": False,
        "0": False,
    }
    if text.lower() not in known:
        raise ValueError(text)
    return known[text.lower()]


_READERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": _read_float,
    "bool": _read_bool,
    "choice": str,
    "text": str,
}


def frozen_layers(freeze: str) -> int | str:
    """ "none", "embeddings" and "encoder" as they are, a number of lowest layers as int. Raises SpecError."""
    if freeze in ("none", "embeddings", "encoder"):
        return freeze
    if freeze.isascii() and freeze.isdigit():
        return int(freeze)
    raise SpecError(
        _("freeze is {freeze!r}, expected none, embeddings, encoder or a number of layers.").format(
            freeze=freeze
        ),
        hint=_("3 keeps the embeddings and the three lowest layers as they are."),
    )


OPTIONS: tuple[Option, ...] = (
    Option("epochs", "int", None, N_("How often the training documents are gone through."), group="main", low=1, high=1000, title=N_("Epochs"),
           automatic=N_("so that few documents get enough steps: up to 15 for a small set, 3 from some thousand documents, 1 from 100,000")),
    Option("batch_size", "int", None, N_("Documents (windows, for tags) in one step."), group="main", low=1, high=4096, title=N_("Batch size"),
           automatic=N_("16 under 1,000 documents, else 32")),
    Option("learning_rate", "float", None, N_("The highest rate of the schedule."), group="main", low=1e-8, high=1.0, title=N_("Learning rate"),
           automatic=N_("by task, width of the model and amount of data; 0.0001 for classes and 0.0003 for tags with a model 384 wide and few documents")),
    Option("max_length", "int", None, N_("Subwords the model sees at once. Longer texts are cut (classes, pairs) or run in overlapping windows (tags)."),
           group="main", low=8, high=100_000, title=N_("Maximum length"), automatic=N_("what the model takes, at most 512")),
    Option("freeze", "text", "none", N_("Parts that stay as they are: none, embeddings, a number of lowest layers (embeddings included), or encoder (only the head learns)."),
           choices=("none", "embeddings", "encoder"), group="main", title=N_("Freeze")),
    Option("best_by", "choice", None, N_("Which score on dev picks the version that is kept; the earlier on a tie."), choices=("macro_f1", "accuracy", "span_f1", "token_accuracy", "loss", "last"),
           title=N_("Best by"), automatic=N_("macro F1 for classes and pairs, strict span F1 for tags")),
    Option("train_limit", "int", None, N_("Use only so many training documents, drawn by the seed."), low=1, high=100_000_000, title=N_("Training documents"), automatic=N_("all")),
    Option("device", "text", "auto", N_("Where it computes: auto, cpu, cuda, cuda:1, mps."), choices=DEVICES, title=N_("Device")),
    Option("schedule", "choice", "linear", N_("How the rate goes after warm-up: linear to zero, constant, or slanted triangular (Howard and Ruder 2018)."),
           choices=("linear", "constant", "slanted"), title=N_("Schedule")),
    Option("warmup", "float", None, N_("Share of the steps in which the rate rises."), low=0.0, high=0.9, title=N_("Warm-up"),
           automatic=N_("none for models up to 512 wide, 0.06 for wider ones, 0.1 for the slanted schedule")),
    Option("weight_decay", "float", 0.01, N_("Pull of the weights towards zero (not of biases and norms)."), low=0.0, high=1.0, title=N_("Weight decay")),
    Option("layer_decay", "float", 1.0, N_("Each lower layer learns slower by this factor; 2.6 after Howard and Ruder 2018, 1 for one rate."), low=1.0, high=100.0, title=N_("Rate decay by layer")),
    Option("gradual_unfreezing", "bool", False, N_("First only the head learns; each epoch one more layer from the top joins in."), title=N_("Gradual unfreezing")),
    Option("dropout", "float", None, N_("Share of hidden values set to zero while learning."), low=0.0, high=0.9, title=N_("Dropout"), automatic=N_("the model's own")),
    Option("label_subwords", "choice", "first", N_("Which subwords of a word are learned from: the first, or all (the rest as I-)."), choices=("first", "all"), tasks=("tag",), title=N_("Label subwords")),
    Option("evaluate_every", "int", None, N_("Steps between two scores on dev."), low=1, high=1_000_000, title=N_("Evaluate every"), automatic=N_("at the end of epochs, about ten times a run")),
    Option("patience", "int", 0, N_("End after so many scores on dev without a gain; 0 goes through to the end."), low=0, high=1000, title=N_("Patience")),
    Option("accumulation", "int", 1, N_("Batches whose gradients are added before one step; saves memory."), low=1, high=1024, title=N_("Accumulation")),
    Option("grad_clip", "float", 1.0, N_("Longest gradient of one step; 0 for no limit."), low=0.0, high=1000.0, title=N_("Gradient limit")),
    Option("precision", "choice", "auto", N_("fp32, or bf16 where the device has it in hardware."), choices=("auto", "fp32", "bf16"), title=N_("Precision")),
)  # fmt: skip
BY_NAME = {one.name: one for one in OPTIONS}
BEST_BY = {
    "classify": ("macro_f1", "accuracy", "loss", "last"),
    "pairs": ("macro_f1", "accuracy", "loss", "last"),
    "tag": ("span_f1", "token_accuracy", "loss", "last"),
}


def options(task: str) -> tuple[Option, ...]:
    """The settings of a task; the choices of `best_by` are those the task has. Raises SpecError for an unknown task."""
    if task not in TASKS:
        raise SpecError(
            _("There is no task {task!r}.").format(task=task),
            hint=_("Known: {known}.").format(known=", ".join(TASKS)),
        )
    return tuple(
        _with_choices(one, BEST_BY[task]) if one.name == "best_by" else one
        for one in OPTIONS
        if task in one.tasks
    )


def _with_choices(option: Option, choices: tuple[str, ...]) -> Option:
    return Option(**{**option.__dict__, "choices": choices})


def parse_settings(task: str, settings: Mapping[str, object]) -> dict[str, object]:
    """`{"epochs": "3"}` → `{"epochs": 3}`, only what was given. Raises SpecError naming key and value."""
    known = {one.name: one for one in options(task)}
    parsed = {}
    for name, value in settings.items():
        if name not in known:
            raise SpecError(
                _("There is no setting {name!r} (value {value!r}) for task {task}.").format(
                    name=name, value=value, task=task
                ),
                hint=_("Known: {known}.").format(known=", ".join(known)),
            )
        parsed[name] = known[name].parse(value)
    return parsed


def defaults(task: str) -> dict[str, object]:
    return {one.name: one.default for one in options(task)}


MOST_SEED = 2**32 - 1  # what every generator of random numbers takes


@dataclass(frozen=True)
class TrainSpec:
    """Everything that describes a run. `model` is a folder; `options` holds what differs from the defaults."""

    task: str
    layer: str
    model: str
    model_name: str = ""
    seed: int = 1
    options: Mapping[str, object] = field(default_factory=dict, hash=False)
    name: str = ""
    with_test: bool = False
    allow_pickle: bool = False

    def __post_init__(self):
        object.__setattr__(self, "options", parse_settings(self.task, self.options))
        if (
            isinstance(self.seed, bool)
            or not isinstance(self.seed, int)
            or not 0 <= self.seed <= MOST_SEED
        ):
            raise SpecError(
                _("The seed is {seed}, expected a whole number from 0 to {most:,}.").format(
                    seed=self.seed, most=MOST_SEED
                ),
                hint=_("Any will do; equal ones give equal runs."),
            )

    def option(self, name: str) -> Any:
        return self.options.get(name, BY_NAME[name].default)

    @property
    def all_options(self) -> dict[str, Any]:
        return {**defaults(self.task), **self.options}

    def to_json(self) -> dict:
        return {**{name: getattr(self, name) for name in _FIELDS}, "options": dict(self.options)}

    @classmethod
    def from_json(cls, raw: Mapping) -> TrainSpec:
        """Keys of a later version are dropped. Raises SpecError where a value does not fit, KeyError where one is missing."""
        given = {name: raw[name] for name in _FIELDS if name in raw}
        known = {one.name for one in options(raw["task"])}
        return cls(
            **{
                **given,
                "options": {
                    name: value for name, value in raw.get("options", {}).items() if name in known
                },
            }
        )


_FIELDS = ("task", "layer", "model", "model_name", "seed", "name", "with_test", "allow_pickle")


# ---------------------------------------------------------------- what "automatic" comes to

FEW_STEPS = {"classify": 130, "pairs": 130, "tag": 150}  # updates that a small set gets
EVALUATIONS = 10


@dataclass(frozen=True)
class Plan:
    """The settings with every automatic value worked out. `steps` are optimiser updates."""

    epochs: int
    batch_size: int
    learning_rate: float
    max_length: int
    steps_per_epoch: int
    evaluate_every: int
    best_by: str
    warmup: float = 0.0

    @property
    def steps(self) -> int:
        return self.epochs * self.steps_per_epoch


def plan(
    spec: TrainSpec,
    *,
    documents: int,
    width: int = 384,
    model_length: int = 512,
    items: int | None = None,
) -> Plan:
    """Work out the automatic settings for so many training documents (`items`: windows, where tags have more).

    `width` is the hidden size of the model, `model_length` the most subwords that it takes.
    """
    items = items or documents
    batch = spec.option("batch_size") or (16 if items < 1000 else 32)
    per_epoch = max(1, math.ceil(math.ceil(items / batch) / spec.option("accumulation")))
    epochs = spec.option("epochs") or _epochs(spec.task, items, per_epoch)
    rate = spec.option("learning_rate") or _rate(spec.task, epochs * per_epoch, width)
    length = min(spec.option("max_length") or 512, model_length)
    best = spec.option("best_by") or BEST_BY[spec.task][0]
    if best not in BEST_BY[spec.task]:
        raise SpecError(
            _("best_by is {best!r}, expected one of {choices} for task {task}.").format(
                best=best, choices=", ".join(BEST_BY[spec.task]), task=spec.task
            )
        )
    every = spec.option("evaluate_every") or _evaluate_every(epochs, per_epoch)
    return Plan(epochs, batch, rate, length, per_epoch, every, best, _warmup(spec, width))


def _epochs(task: str, items: int, per_epoch: int) -> int:
    if items >= 100_000:
        return 1
    if items >= 20_000:
        return 2
    return min(15, max(3, round(FEW_STEPS[task] / per_epoch)))


def _rate(task: str, steps: int, width: int) -> float:
    """Small sets are passed over in few steps and need the higher rate; wide models the lower one."""
    base = 3e-4 if task == "tag" else 1e-4
    return float(f"{base * min(1.0, 384 / width) * (1.0 if steps < 500 else 0.5):.3g}")


def _warmup(spec: TrainSpec, width: int) -> float:
    """Wide models diverge more often without (Mosbach et al. 2021; 0.06 as in RoBERTa); small ones lose the first of their few steps.

    On WNUT-17, three epochs with the starter, span F1 on test was 40.4 with a tenth of the steps and 43.9 with none.
    """
    if (chosen := spec.option("warmup")) is not None:
        return chosen
    if spec.option("schedule") == "slanted":
        return 0.1  # cut_frac of Howard and Ruder 2018
    return 0.06 if width > 512 else 0.0


def _evaluate_every(epochs: int, per_epoch: int) -> int:
    """At epoch ends where an epoch is short, inside the epoch where it is long: about ten times a run."""
    if epochs >= EVALUATIONS:
        return per_epoch * math.ceil(epochs / EVALUATIONS)
    return (
        max(1, math.ceil(per_epoch / max(1, EVALUATIONS // epochs)))
        if per_epoch >= 200
        else per_epoch
    )


def limited(ids: Sequence[int], limit: int | None, seed: int) -> list[int]:
    """`limit` of the ids, drawn by the seed, in their order; all of them if there are no more. Growing limits are nested."""
    if not limit or limit >= len(ids):
        return list(ids)
    order = list(range(len(ids)))
    random.Random(seed).shuffle(order)
    return [ids[index] for index in sorted(order[:limit])]
