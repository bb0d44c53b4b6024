"""Settings of training runs, and the conversion of a run's description to and from JSON.

Does not import torch.

The settings of a run are the general ones (`GENERAL`), those of its task (`TaskInfo.options`) and
those of its method (`MethodInfo.options`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.options import MAX_SEED, Option
from workbench.base.records import from_plain
from workbench.base.registry import registry
from workbench.tasks import spec as tasks
from workbench.tasks.spec import PER_ITEM, TaskInfo
from workbench.text.segmenters import base as segmenters
from workbench.training.general import (
    ALL_GPUS,
    ALSO,
    GENERAL,
    RUN_ON,
    OtherLayer,
    other_layers,
    other_layers_text,
)
from workbench.training.methods import spec as methods
from workbench.training.methods.spec import BYTES, Forecast

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo

T = TypeVar("T")
MANY_LAYERS, LATE = 100, 1_000_000  # an epoch at which gradual unfreezing has ended
# Measured with tests/benchmarks/training_memory.py. Activations relative to those of a training of
# everything in float32: if only modules beside frozen weights are trained, which need no inputs of
# linear modules, but on a CPU leave gaps in memory (CPU, GPU); with bfloat16.
KEPT_BESIDE, KEPT_IN_HALF = (1.34, 0.72), 0.61
RECOMPUTED = 3  # layers whose activations are there at a time with gradient checkpointing
EVALUATED = 4096  # tokens of a batch that is evaluated, which takes all states and
PASSING = 9  # numbers per token and unit of the width
NOT_SCORES = ("loss", "last")  # values of `best_by` that are not scores of the task


def options(task: str, method: str | None = None, family: str = "") -> tuple[Option, ...]:
    """The settings of a task: general ones first, then those of the task and of the method.

    family: of the model, whose own settings follow; "" if it is unknown.
    Raises SpecError for an unknown task or method.
    """
    info = tasks.info(task)
    chosen = methods.info(method or methods.DEFAULT)
    known, objectives = methods.all_methods(), registry().infos("objective")
    fill: dict[str, dict[str, Any]] = {
        "best_by": {"choices": best_by(info)},
        "method": {
            "choices": tuple(method.id for method in known),
            "choice_titles": tuple(method.title for method in known),
        },
        "adapt_objective": {
            "choices": tuple(objective.id for objective in objectives),
            "choice_titles": tuple(objective.title for objective in objectives),
        },
        segmenters.OPTION: {
            "choices": tuple(segmenters.titles()),
            "choice_titles": tuple(segmenters.titles().values()),
        },
    }
    general = (
        replace(option, **fill[option.name]) if option.name in fill else option
        for option in GENERAL
    )
    defaults = chosen.task_defaults
    of_task = (
        replace(option, default=defaults[option.name], automatic="")
        if option.name in defaults
        else option
        for option in info.options
    )
    return (*general, *of_task, *chosen.options, *family_options(family))


def family_options(family: str) -> tuple[Option, ...]:
    """The settings that only models of a family have."""
    if family not in registry().ids("family"):
        return ()
    family_settings: tuple[Option, ...] = registry().info("family", family).options
    return family_settings


def best_by(info: TaskInfo) -> tuple[str, ...]:
    """What the best checkpoint can be selected by; the first is the default."""
    others = (score.name for score in info.scores if score.selects and score.name != info.main)
    return (info.main, *others, *NOT_SCORES)


def all_options(task: str | None = None) -> dict[Option, tuple[str, ...]]:
    """Every setting (of one task), with the tasks that have it and all its choices."""
    by_name: dict[str, Option] = {}
    ids: dict[str, dict[str, None]] = {}
    own = [option for info in registry().infos("family") for option in info.options]
    for info in [tasks.info(task)] if task else tasks.all_tasks():
        for method in methods.all_methods():
            for option in (*options(info.id, method.id), *own):
                before = by_name.get(option.name, option)
                choices = tuple(dict.fromkeys((*before.choices, *option.choices)))
                by_name[option.name] = replace(before, choices=choices)
                ids.setdefault(option.name, {})[info.id] = None
    return {option: tuple(ids[name]) for name, option in by_name.items()}


def parse_settings(
    task: str, settings: Mapping[str, object], family: str = ""
) -> dict[str, object]:
    """`{"epochs": "3"}` → `{"epochs": 3}`; only given settings. family: of the model.

    Values that are typed already are checked. Raises SpecError that names the setting and its
    value.
    """
    method = str(settings.get("method", methods.DEFAULT)).strip()
    known = {option.name: option for option in options(task, method, family)}
    parsed = {}
    for name, value in settings.items():
        if name not in known:
            raise _unknown(task, method, name, value, known)
        parsed[name] = known[name].checked(value)
    return parsed


def _unknown(task: str, method: str, name: str, value: object, known: Iterable[str]) -> SpecError:
    others = [other.id for other in methods.all_methods() if _has(other.options, name)]
    if others:
        message = _("{name} (value {value!r}) is a setting of method {others}, not of {method}.")
        return SpecError(
            message.format(name=name, value=value, others=", ".join(others), method=method),
            hint=_(
                "Set method={method} as well, or leave {name} out.", method=others[0], name=name
            ),
        )
    families = [info for info in registry().infos("family") if _has(info.options, name)]
    if families:
        message = _("{name} (value {value!r}) is a setting of {families}, not of this model.")
        titles = ", ".join(_(info.title) for info in families)
        return SpecError(message.format(name=name, value=value, families=titles))
    return SpecError(
        _(
            "There is no setting {name!r} (value {value!r}) for task {task}.",
            name=name,
            value=value,
            task=task,
        ),
        hint=_("Known: {known}.", known=", ".join(known)),
    )


def _has(options: Iterable[Option], name: str) -> bool:
    return any(option.name == name for option in options)


def conflict(
    task: str, settings: Mapping[str, object], labels: Sequence[str] | None = None
) -> tuple[str, str] | None:
    """(name, reason) of a parsed setting that conflicts with others; None if there is none.

    labels: of the layer, where it is known.
    """
    method = str(settings.get("method", methods.DEFAULT))
    values = {**defaults(task, method), **settings}
    info, kinds = tasks.info(task), methods.info(method).layer_kinds
    if kinds and not {*kinds} & {*info.layer_kinds}:
        return "method", _("The method needs documents with one class each.")
    form = values.get(info.new_units, tasks.PLAIN)
    if form != tasks.PLAIN and not _trains_embeddings(method, values):
        return info.new_units, _("The method does not train the embeddings of new tokens.")
    together = values["device"] == ALL_GPUS or values["processes"] not in (None, 1)
    if values["adapt_epochs"] and together:
        return "adapt_epochs", _("The model is adapted by one process only.")
    if values[ALSO.name] and values[RUN_ON]:
        return ALSO.name, _("Several layers are trained together on this computer only.")
    if values[ALSO.name] and methods.info(method).first_steps(values, MANY_LAYERS, 1):
        return ALSO.name, _("The method begins with pairs of documents of one layer.")
    if values["teacher"] and (reason := _no_teacher(info, values)):
        return "teacher", reason
    if values["teacher"] and values[ALSO.name]:
        return "teacher", _("Several layers that are trained together have no teacher.")
    problem = info.conflict(values)
    return problem if problem or labels is None else info.label_conflict(values, labels)


def _no_teacher(info: TaskInfo, values: Mapping[str, object]) -> str:
    """Why a training with these settings cannot have a teacher, "" if it can."""
    if not info.taught:
        return _("Distillation is defined for document classes and for tags of words.")
    if values.get("decoder") == "crf":
        return _("A CRF has no probability of each word alone. Choose another decoder.")
    if values["hidden_weight"] and (info.taught != PER_ITEM or values.get("lm_weight")):
        return _("Hidden states are learned for document classes without lm_weight only.")
    return ""


def _trains_embeddings(method: str, options: Mapping[str, Any]) -> bool:
    return methods.info(method).most(MANY_LAYERS, options, LATE)[0] > 0


def defaults(task: str, method: str | None = None, family: str = "") -> dict[str, object]:
    return {option.name: option.default for option in options(task, method, family)}


@dataclass(frozen=True)
class TrainSpec:
    """The complete description of a run.

    `model` is a folder, `family` the id of its family; `options` holds the settings that differ
    from the defaults, as values of their own types (`parse_settings`), None where one is automatic.
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
    family: str = ""

    def __post_init__(self) -> None:
        parsed = parse_settings(self.task, self.options, self.family)
        object.__setattr__(self, "options", parsed)
        is_int = isinstance(self.seed, int) and not isinstance(self.seed, bool)
        if not is_int or not 0 <= self.seed <= MAX_SEED:
            raise SpecError(
                _(
                    "The seed is {seed}, expected a whole number from 0 to {most:,}.",
                    seed=self.seed,
                    most=MAX_SEED,
                ),
                hint=_("Runs with equal seeds and settings give equal results."),
            )
        if problem := conflict(self.task, self.options):
            name, why = problem
            raise SpecError(
                _(
                    "{name} is {value!r}, which conflicts with another setting. {why}",
                    name=name,
                    value=self.option(name),
                    why=why,
                )
            )

    @property
    def info(self) -> TaskInfo:
        """The task, as it reads documents with these settings."""
        return tasks.info(self.task).reading(self.all_options)

    @property
    def others(self) -> tuple[OtherLayer, ...]:
        """The layers that are trained together with `layer`."""
        return other_layers(str(self.option(ALSO.name)))

    def of_other(self, number: int) -> TrainSpec:
        """The same training for another layer of it: this layer becomes one of `others`.

        Settings that its task does not have are left out. The tasks of all layers must be known.
        """
        chosen = self.others[number]
        first = OtherLayer(self.layer, self.task, settings=self._own_settings())
        others = [first, *(other for other in self.others if other != chosen)]
        scaled = [replace(other, weight=other.weight / chosen.weight) for other in others]
        values = {**self.options, ALSO.name: other_layers_text(scaled)}
        own = {option.name: option for option in options(chosen.task, self.method, self.family)}
        if self.options.get("best_by") not in (None, *own["best_by"].choices):
            del values["best_by"]
        settings = {name: value for name, value in values.items() if name in own}
        for name, text in chosen.settings:
            if name not in {option.name for option in tasks.info(chosen.task).options}:
                raise SpecError(
                    _("Task {task} has no setting {name!r}.", task=chosen.task, name=name),
                    hint=_(
                        "`glossbench train --options --task {task}` lists them.", task=chosen.task
                    ),
                )
            settings[name] = own[name].parse(text)
        return replace(self, task=chosen.task, layer=chosen.layer, options=settings)

    def _own_settings(self) -> tuple[tuple[str, str], ...]:
        """Those that were chosen for the task alone, as text."""
        usual = {option.name: option.default for option in tasks.info(self.task).options}
        chosen = (pair for pair in self.options.items() if pair[0] in usual)
        return tuple((name, str(value)) for name, value in chosen if value != usual[name])

    def option(self, name: str) -> Any:
        """The given value, else the default. Raises KeyError for a setting the task lacks."""
        return self.options[name] if name in self.options else self._defaults[name]

    @property
    def every_class(self) -> bool:
        """Whether a sample of the training documents has every class."""
        return bool(self.option("train_sample") == "every_class")

    @property
    def all_options(self) -> dict[str, Any]:
        return {**self._defaults, **self.options}

    @property
    def family_settings(self) -> dict[str, Any]:
        """The given settings that only models of the family have."""
        names = [option.name for option in family_options(self.family)]
        return {name: self.options[name] for name in names if name in self.options}

    @property
    def segmenter(self) -> str:
        """The one that was chosen, else that of the pretrained model. Raises ModelError."""
        from workbench.models.spec import cards

        chosen = str(self.option(segmenters.OPTION))
        if chosen != segmenters.DEFAULT:
            return chosen
        return cards.segmenter(self.model, self.all_options)

    @property
    def method(self) -> str:
        return str(self.options.get("method", methods.DEFAULT))

    def forecast(self, model: ModelInfo, batch: int = 0, length: int = 0) -> Forecast:
        """Numbers of parameters and the memory they need; with a batch also that of activations.

        batch, length: examples and tokens of a micro-batch.
        """
        method, settings = methods.info(self.method), self.all_options
        forecast = method.forecast(model, settings)
        families = registry()
        if not batch or not model.usable or model.family not in families.ids("family"):
            return forecast
        batch *= method.texts
        rates = method.most(model.layers, settings, LATE)
        trained = [method.inserts or rate > 0 for rate in rates[:-1]]  # without the head
        lowest = trained.index(True) if any(trained) else len(trained)
        layers = max(0, model.layers - max(0, lowest - 1))
        on_gpu = str(settings["device"]).startswith("cuda")  # "auto" counts as the CPU
        is_half = settings["precision"] == "bf16"
        each = families.info("family", model.family).kept(model, settings, length)
        if method.inserts:
            each *= KEPT_BESIDE[on_gpu]
        if is_half:
            each *= KEPT_IN_HALF
        activations, width = each * layers, model.width
        if settings["checkpointing"] == "on":
            activations = min(activations, width * layers + RECOMPUTED * each)
        passing = EVALUATED * width * (model.layers + 1 + PASSING)
        inside = max(0, model.parameters - model.vocabulary * width)
        return replace(
            forecast,
            batch=batch,
            length=length,
            activations=int(BYTES * max(activations * batch * length, passing)),
            copies=2 * inside if is_half else 0,
            resident=not on_gpu,
        )

    @property
    def _defaults(self) -> dict[str, object]:
        return defaults(self.task, self.method, self.family)

    def to_json(self) -> dict[str, object]:
        return {**{name: getattr(self, name) for name in _FIELDS}, "options": dict(self.options)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> TrainSpec:
        """Parse `to_json`; settings of a later version are dropped.

        Raises SpecError for a bad value, KeyError for a missing one.
        """
        fields = {name: raw[name] for name in _FIELDS if name in raw}
        saved = raw.get("options", {})
        declared = options(raw["task"], saved.get("method"), str(raw.get("family", "")))
        known = {option.name for option in declared}
        stored = {name: value for name, value in saved.items() if name in known}
        return cls(**fields, options=stored)


@dataclass(frozen=True)
class Teaching:
    """What a training reads of its teacher.

    models: folders of trained models, whose probabilities are averaged. predictions: a file with
    what the teacher predicted for each document, instead of models; "" for none. unlabelled: a data
    set whose documents have the teacher's labels only; "" for none.
    """

    models: tuple[str, ...] = ()
    predictions: str = ""
    unlabelled: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        return (*self.models, self.predictions, self.unlabelled)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any] | None) -> Teaching | None:
        """Parse `to_plain`; None for a training without a teacher."""
        return from_plain(cls, raw) if raw else None


_FIELDS = (
    "task", "layer", "model", "model_name", "seed", "name", "with_test", "allow_pickle", "family",
)  # fmt: skip


def limited(
    items: Sequence[T],
    limit: int | None,
    seed: int,
    labels: Callable[[T], Iterable[str]] | None = None,
) -> list[T]:
    """`limit` of the items, sampled with the seed, in their order; all if there are fewer.

    Samples of growing limits are nested. labels: of an item; items with a label that is not yet in
    the sample come first.
    """
    if not limit or limit >= len(items):
        return list(items)
    order = list(range(len(items)))
    random.Random(seed).shuffle(order)
    if labels is not None:
        classes: set[str] = set()
        first: list[int] = []
        for index in order:
            names = set(labels(items[index]))
            if names - classes:
                first.append(index)
                classes |= names
        others = set(first)
        order = [*first, *(index for index in order if index not in others)]
    return [items[index] for index in sorted(order[:limit])]
