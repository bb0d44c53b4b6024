"""Settings of training runs, and the conversion of a run's description to and from JSON.

Does not import torch.

The settings of a run are the general ones (`GENERAL`), those of its task (`TaskInfo.options`) and
those of its method (`MethodInfo.options`).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.tasks import spec as tasks
from workbench.tasks.spec import TaskInfo
from workbench.training.methods import spec as methods
from workbench.training.methods.spec import Forecast

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo

DEVICES = ("auto", "cpu", "cuda", "mps")
T = TypeVar("T")
NOT_SCORES = ("loss", "last")  # values of `best_by` that are not scores of the task


GENERAL: tuple[Option, ...] = (
    Option(
        "method",
        "choice",
        methods.DEFAULT,
        N_("Which parameters are trained, and how."),
        group="main",
        title=N_("Method"),
    ),
    Option(
        "epochs",
        "int",
        None,
        N_("Number of passes over the training data."),
        group="main",
        low=1,
        high=1000,
        title=N_("Epochs"),
        automatic=N_(
            "from the size of the training data: up to 15 for a small set, 3 from some thousand "
            "documents, 1 from 100,000"
        ),
    ),
    Option(
        "batch_size",
        "int",
        None,
        N_("Documents (windows of long texts, for tags) per batch."),
        group="main",
        low=1,
        high=4096,
        title=N_("Batch size"),
        automatic=N_("16 under 1,000 documents, else 32"),
    ),
    Option(
        "learning_rate",
        "float",
        None,
        N_("Peak learning rate of the schedule."),
        group="main",
        low=1e-8,
        high=1.0,
        title=N_("Learning rate"),
        automatic=N_(
            "from the task, the method, the width of the model and the number of steps; 0.0001 for "
            "classes and 0.0003 for tags with full fine-tuning of a model of width 384 and few "
            "documents"
        ),
    ),
    Option(
        "max_length",
        "int",
        None,
        N_(
            "Maximum number of tokens per input. Longer texts are truncated (classes, pairs) or "
            "processed in overlapping windows (tags)."
        ),
        group="main",
        low=8,
        high=100_000,
        title=N_("Maximum length"),
        automatic=N_("the model's maximum, at most 512"),
    ),
    Option(
        "init",
        "choice",
        "pretrained",
        N_(
            "Initial weights of the encoder: those of the model, or newly initialized ones, to "
            "measure what pretraining contributes."
        ),
        choices=("pretrained", "random"),
        choice_titles=(N_("Pretrained"), N_("Random")),
        title=N_("Initial weights"),
    ),
    Option(
        "best_by",
        "choice",
        None,
        N_("Score on dev that selects the checkpoint to keep; the earlier one on a tie."),
        title=N_("Best by"),
        automatic=N_("the main score of the task"),
    ),
    Option(
        "train_limit",
        "int",
        None,
        N_("Use at most this many training documents, sampled with the seed."),
        low=1,
        high=100_000_000,
        title=N_("Training documents"),
        automatic=N_("all"),
    ),
    Option(
        "device",
        "text",
        "auto",
        N_("Device to train on: auto, cpu, cuda, cuda:1, mps."),
        choices=DEVICES,
        title=N_("Device"),
    ),
    Option(
        "schedule",
        "choice",
        "linear",
        N_(
            "Learning-rate schedule after warm-up: linear decay to zero, constant, or slanted "
            "triangular (Howard and Ruder 2018)."
        ),
        choices=("linear", "constant", "slanted"),
        title=N_("Schedule"),
    ),
    Option(
        "warmup",
        "float",
        None,
        N_("Fraction of the steps during which the learning rate rises."),
        low=0.0,
        high=0.9,
        title=N_("Warm-up"),
        automatic=N_(
            "none for models up to width 512, 0.06 for wider ones, 0.1 for the slanted schedule"
        ),
    ),
    Option(
        "cut_frac",
        "float",
        None,
        N_(
            "Slanted triangular schedule: fraction of the steps during which the learning rate "
            "rises."
        ),
        low=0.0,
        high=0.9,
        title=N_("Rising fraction"),
        automatic=N_("the warm-up, 0.1 without one"),
    ),
    Option(
        "ratio",
        "float",
        32.0,
        N_("Slanted triangular schedule: the peak learning rate divided by the lowest one."),
        low=1.0,
        high=100_000,
        title=N_("Peak to lowest rate"),
    ),
    Option(
        "weight_decay",
        "float",
        0.01,
        N_("Weight decay (biases and norms excluded)."),
        low=0.0,
        high=1.0,
        title=N_("Weight decay"),
    ),
    Option(
        "dropout",
        "float",
        None,
        N_("Dropout probability of hidden states during training."),
        low=0.0,
        high=0.9,
        title=N_("Dropout"),
        automatic=N_("as in the model's configuration"),
    ),
    Option(
        "evaluate_every",
        "int",
        None,
        N_("Steps between evaluations on dev."),
        low=1,
        high=1_000_000,
        title=N_("Evaluate every"),
        automatic=N_("at the end of epochs, about ten times per run"),
    ),
    Option(
        "patience",
        "int",
        0,
        N_("Early stopping after this many evaluations without improvement; 0 disables it."),
        low=0,
        high=1000,
        title=N_("Patience"),
    ),
    Option(
        "accumulation",
        "int",
        1,
        N_("Gradient accumulation: batches per optimizer step. Saves memory."),
        low=1,
        high=1024,
        title=N_("Gradient accumulation"),
    ),
    Option(
        "grad_clip",
        "float",
        1.0,
        N_("Gradient clipping: maximum norm of the gradients; 0 disables it."),
        low=0.0,
        high=1000.0,
        title=N_("Gradient clipping"),
    ),
    Option(
        "precision",
        "choice",
        "auto",
        N_(
            "auto: bf16 if it is clearly faster (GPUs: by their generation; CPUs: by a "
            "measurement), else fp32."
        ),
        choices=("auto", "fp32", "bf16"),
        title=N_("Precision"),
    ),
)


def options(task: str, method: str | None = None) -> tuple[Option, ...]:
    """The settings of a task: general ones first, then those of the task and of the method.

    Raises SpecError for an unknown task or method.
    """
    info = tasks.info(task)
    own = methods.info(method or methods.DEFAULT).options
    known = methods.all_methods()
    fill: dict[str, dict[str, Any]] = {
        "best_by": {"choices": best_by(info)},
        "method": {
            "choices": tuple(one.id for one in known),
            "choice_titles": tuple(one.title for one in known),
        },
    }
    general = (replace(option, **fill.get(option.name, {})) for option in GENERAL)
    return (*general, *info.options, *own)


def best_by(info: TaskInfo) -> tuple[str, ...]:
    """What the best checkpoint can be selected by; the first is the default."""
    others = (score.name for score in info.scores if score.selects and score.name != info.main)
    return (info.main, *others, *NOT_SCORES)


def all_options(task: str | None = None) -> dict[Option, tuple[str, ...]]:
    """Every setting (of one task), with the tasks that have it and all its choices."""
    found: dict[str, Option] = {}
    ids: dict[str, dict[str, None]] = {}
    for info in [tasks.info(task)] if task else tasks.all_tasks():
        for method in methods.all_methods():
            for option in options(info.id, method.id):
                before = found.get(option.name, option)
                choices = tuple(dict.fromkeys((*before.choices, *option.choices)))
                found[option.name] = replace(before, choices=choices)
                ids.setdefault(option.name, {})[info.id] = None
    return {option: tuple(ids[name]) for name, option in found.items()}


def parse_settings(task: str, settings: Mapping[str, object]) -> dict[str, object]:
    """`{"epochs": "3"}` → `{"epochs": 3}`; only given settings.

    Raises SpecError that names the setting and its value.
    """
    method = str(settings.get("method", methods.DEFAULT)).strip()
    known = {option.name: option for option in options(task, method)}
    parsed = {}
    for name, value in settings.items():
        if name not in known:
            raise _unknown(task, method, name, value, known)
        parsed[name] = known[name].parse(value)
    return parsed


def _unknown(task: str, method: str, name: str, value: object, known: Iterable[str]) -> SpecError:
    others = [
        other.id
        for other in methods.all_methods()
        if any(option.name == name for option in other.options)
    ]
    if others:
        message = _("{name} (value {value!r}) is a setting of method {others}, not of {method}.")
        return SpecError(
            message.format(name=name, value=value, others=", ".join(others), method=method),
            hint=_("Set method={method} as well, or leave {name} out.").format(
                method=others[0], name=name
            ),
        )
    return SpecError(
        _("There is no setting {name!r} (value {value!r}) for task {task}.").format(
            name=name, value=value, task=task
        ),
        hint=_("Known: {known}.").format(known=", ".join(known)),
    )


def conflict(task: str, settings: Mapping[str, object]) -> tuple[str, str] | None:
    """(name, reason) of a parsed setting that conflicts with others; None if there is none."""
    method = str(settings.get("method", methods.DEFAULT))
    return tasks.info(task).conflict({**defaults(task, method), **settings})


def defaults(task: str, method: str | None = None) -> dict[str, object]:
    return {option.name: option.default for option in options(task, method)}


MAX_SEED = 2**32 - 1  # the largest seed that numpy's generators accept


@dataclass(frozen=True)
class TrainSpec:
    """The complete description of a run.

    `model` is a folder; `options` holds the settings that differ from the defaults.
    """

    task: str
    layer: str
    model: str
    model_name: str = ""
    seed: int = 1
    options: Mapping[str, object] = field(default_factory=dict, hash=False)
    name: str = ""
    with_test: bool = False
    allow_pickle: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", parse_settings(self.task, self.options))
        is_int = isinstance(self.seed, int) and not isinstance(self.seed, bool)
        if not is_int or not 0 <= self.seed <= MAX_SEED:
            raise SpecError(
                _("The seed is {seed}, expected a whole number from 0 to {most:,}.").format(
                    seed=self.seed, most=MAX_SEED
                ),
                hint=_("Runs with equal seeds and settings give equal results."),
            )
        if found := conflict(self.task, self.options):
            name, why = found
            raise SpecError(
                _("{name} is {value!r}, which conflicts with another setting. {why}").format(
                    name=name, value=self.option(name), why=why
                )
            )

    @property
    def info(self) -> TaskInfo:
        return tasks.info(self.task)

    def option(self, name: str) -> Any:
        """The given value, else the default. Raises KeyError for a setting the task lacks."""
        return self.options[name] if name in self.options else self._defaults[name]

    @property
    def all_options(self) -> dict[str, Any]:
        return {**self._defaults, **self.options}

    @property
    def method(self) -> str:
        return str(self.options.get("method", methods.DEFAULT))

    def forecast(self, model: ModelInfo) -> Forecast:
        """Number of trained parameters, and the memory they need."""
        return methods.info(self.method).forecast(model, self.all_options)

    @property
    def _defaults(self) -> dict[str, object]:
        return defaults(self.task, self.method)

    def to_json(self) -> dict[str, object]:
        return {**{name: getattr(self, name) for name in _FIELDS}, "options": dict(self.options)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> TrainSpec:
        """Parse `to_json`; settings of a later version are dropped.

        Raises SpecError for a bad value, KeyError for a missing one.
        """
        given = {name: raw[name] for name in _FIELDS if name in raw}
        saved = raw.get("options", {})
        known = {option.name for option in options(raw["task"], saved.get("method"))}
        kept = {name: value for name, value in saved.items() if name in known}
        return cls(**given, options=kept)


_FIELDS = ("task", "layer", "model", "model_name", "seed", "name", "with_test", "allow_pickle")


def limited(items: Sequence[T], limit: int | None, seed: int) -> list[T]:
    """`limit` of the items, sampled with the seed, in their order; all if there are fewer.

    Samples of growing limits are nested.
    """
    if not limit or limit >= len(items):
        return list(items)
    order = list(range(len(items)))
    random.Random(seed).shuffle(order)
    return [items[index] for index in sorted(order[:limit])]
