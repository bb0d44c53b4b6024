"""The ladder experiment: trainings of rungs × decoders × seeds on one layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.base.records import JsonRecord
from workbench.operations.experiments import experiment
from workbench.operations.experiments.experiment import MISSING, Cell, Experiment, Row, ScoreText
from workbench.operations.experiments.ladder_rungs import (
    RUNGS,
    Available,
    Rung,
    available,
    check_parts,
    to_json,
)
from workbench.operations.models import installed
from workbench.operations.runs import run_results, training_data
from workbench.operations.runs.kinds.train.info import INFO
from workbench.storage.labels import labels
from workbench.tasks import spec as tasks
from workbench.text.columns import Column, ValueKind
from workbench.training.spec import TrainSpec, parse_settings
from workbench.training.spec import options as settings_of

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.project.project import Project

FILE = "ladder.json"  # with the last experiment on each layer
DECODER = "decoder"  # the setting of tasks that decode sequences
DECODERS = ("crf", "greedy")


@dataclass(frozen=True)
class LadderSpec(JsonRecord):
    """The description of an experiment.

    decoders: of DECODERS, ("",) for a task without. settings: `KEY` of every rung that has it,
    `RUNG.KEY` of one alone → value as text. parts: see `ladder_rungs.PARTS`.
    """

    task: str
    layer: str
    rungs: tuple[Rung, ...]
    seeds: tuple[int, ...] = (1, 2, 3)
    decoders: tuple[str, ...] = ("",)
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    parts: Mapping[str, str] = field(default_factory=dict, hash=False)

    def settings_of(self, rung: str = "") -> dict[str, str]:
        """The settings of one rung alone, those of every rung by default."""
        parted = ((*name.rpartition("."), value) for name, value in self.settings.items())
        return {name: value for owner, _dot, name, value in parted if owner == rung}


S = TypeVar("S", bound=LadderSpec)


def keep(project: Project, spec: LadderSpec, file: str = FILE) -> None:
    """Store a started experiment as the last one on its layer."""
    own = {rung.id: spec.settings_of(rung.id) for rung in spec.rungs}
    record = {
        **spec.to_json(),
        "rungs": [to_json(rung) for rung in spec.rungs],
        "settings": spec.settings_of(),
        "of_rungs": {rung: settings for rung, settings in own.items() if settings},
    }
    experiment.keep(project, file, spec.layer, record)


def last(project: Project, layer: str = "") -> LadderSpec | None:
    """The last experiment on a layer, on any layer by default; None if there is none."""
    return stored(project, FILE, LadderSpec, layer)


def stored(project: Project, file: str, form: type[S], layer: str = "") -> S | None:
    """The same of a file that `keep` wrote, and of the form of its descriptions."""
    name, record = experiment.last(project, file, layer)
    known = {rung.id: rung for rung in RUNGS}
    try:
        spec = form.from_json({**record, "layer": name})
        own = {
            f"{rung}.{name}": value
            for rung, settings in record["of_rungs"].items()
            for name, value in settings.items()
        }
        rungs = tuple(known.get(rung.id, rung) for rung in spec.rungs)
        return replace(spec, rungs=rungs, settings={**spec.settings, **own})
    except (KeyError, TypeError, ValueError, AttributeError):  # none, or of another version
        return None


def decoders(task: str) -> tuple[str, ...]:
    """The decoders that the experiment compares: none for tasks that do not decode."""
    choices = [option.choices for option in tasks.info(task).options if option.name == DECODER]
    supported = tuple(decoder for decoder in DECODERS if choices and decoder in choices[0])
    return supported or ("",)


def decoder_title(task: str, decoder: str) -> str:
    """Display name of a decoder; "" for a task without."""
    for option in tasks.info(task).options:
        if decoder and decoder in option.choices and option.choice_titles:
            return _(option.choice_titles[option.choices.index(decoder)])
    return decoder


def task_of(project: Project, layer: str) -> str:
    """The task that learns a layer. Raises SpecError if there is none or no such layer."""
    known = labels.layer_by_name(project.db, layer)
    fitting = tasks.fitting(known) if known is not None else ()
    if fitting:
        return fitting[0].id
    names = [layer.name for layer in labels.layers(project.db) if tasks.fitting(layer)]
    message = _("The project has no layer {name!r}.")
    if known is not None:
        message = _("No task can learn layer {name}.")
    raise SpecError(
        message.format(name=layer),
        hint=_("Layers that can be learned: {names}.", names=", ".join(names) or _("none")),
    )


class Ladder(Experiment):
    """The experiment of a description: groups are rungs, series decoders.

    rungs: id → the rung with its models. Raises SpecError for settings that no rung has, or with
    wrong values. file: where the description is kept.
    """

    file = FILE

    def __init__(self, project: Project, spec: LadderSpec, *, settings: Settings | None = None):
        check_parts(spec.parts)
        cards = installed.list(settings)
        self.spec = spec
        self.rungs = {rung.id: available(rung, cards, spec.parts) for rung in spec.rungs}
        super().__init__(project, self.planned(), task=spec.task)

    def planned(self) -> Sequence[Cell]:
        """The cells of the description."""
        return _cells(self.spec, list(self.rungs.values()))

    def check(self) -> None:
        """Store the experiment; raises WorkbenchError if there are not enough documents."""
        keep(self.project, self.spec, self.file)
        limits = {cell.spec.option("train_limit") for cell in self.cells if cell.spec is not None}
        limit = limits.pop() if len(limits) == 1 else None  # else some rungs have one of their own
        plan = training_data.plan(self.project, self.spec.task, self.spec.layer, train_limit=limit)
        if plan.problem:
            raise WorkbenchError(plan.problem)

    @property
    def used(self) -> Mapping[str, int]:
        """Split → documents of the finished runs, {} without one."""
        return next((run_results.trained(cell.run).used for cell in self.cells if cell.run), {})

    def columns(self, text: ScoreText | None = None) -> tuple[Column, ...]:
        """Of the rows, for people. text: of a score, by default in percent or its own unit."""
        text = text or partial(tasks.score_text, self.score)
        return (
            Column(_("Rung"), lambda row: row.title),
            Column(_("Input"), lambda row: self.input_of(row.group)),
            Column(
                _("Trained"),
                lambda row: row.first.trained,
                kind=ValueKind.COUNT,
                hint=_("Trained parameters"),
            ),
            *(
                experiment.mean_column(decoder, decoder_title(self.task, decoder), text)
                for decoder in self.spec.decoders
            ),
            *experiment.gain_columns(text),
        )

    def input_of(self, group: str) -> str:
        """The model or the embeddings of a rung, or why it cannot be trained."""
        rung = self.rungs[group]
        return rung.missing or rung.rung.options.get("embeddings") or rung.rung.model

    def report(self) -> dict[str, Any]:
        """The experiment in machine-readable form; scores are fractions of 1, but for errors."""
        data = [cell.run.data_fingerprint for cell in self.cells if cell.run]
        return {
            "task": self.task,
            "layer": self.spec.layer,
            "status": self.status,
            "split": self.split,
            "score": self.score,
            "seeds": list(self.spec.seeds),
            "decoders": list(self.spec.decoders),
            "settings": self.spec.settings_of(),
            "used": dict(self.used),
            "fingerprint": data[0] if data else "",
            "rungs": [self._row_json(row) for row in self.rows],
        }

    def _row_json(self, row: Row) -> dict[str, Any]:
        cell = row.first.cells[0]
        return {
            **to_json(self.rungs[row.group].rung),
            "missing": cell.message if cell.spec is None else "",
            "gain": row.gain and row.gain.absolute,
            "errors_removed": row.gain and row.gain.errors_removed,
            "results": [
                {"decoder": decoder, **experiment.to_json(self, summary)}
                for decoder, summary in row.by_series.items()
            ],
        }


# ---------------------------------------------------------------- cells


def _cells(spec: LadderSpec, rungs: Sequence[Available]) -> list[Cell]:
    _check_settings(spec, rungs)
    options = {rung.rung.id: _options(spec, rung) for rung in rungs}
    return [
        _cell(spec, rung, options[rung.rung.id], decoder, seed)
        for decoder in spec.decoders
        for rung in rungs
        for seed in spec.seeds
    ]


def _check_settings(spec: LadderSpec, rungs: Sequence[Available]) -> None:
    ids = [rung.rung.id for rung in rungs]
    owners = (name.rpartition(".")[0] for name in spec.settings)
    if unknown := [owner for owner in owners if owner and owner not in ids]:
        raise SpecError(
            _("The experiment has no rung {name!r}.", name=unknown[0]),
            hint=_("Rungs: {names}.", names=", ".join(ids)),
        )
    known = {name for rung in rungs if rung.card for name in _names(spec, rung)}
    if unknown := [name for name in spec.settings_of() if known and name not in known]:
        raise SpecError(
            _("No rung has the setting {name!r}.", name=unknown[0]),
            hint=_("Known: {known}.", known=", ".join(sorted(known))),
        )


def _names(spec: LadderSpec, rung: Available) -> set[str]:
    """The settings that a rung has, besides those that the experiment varies."""
    own = {**rung.rung.options, **spec.settings_of(rung.rung.id)}
    family = rung.card.family if rung.card else ""
    method = own.get("method") or spec.settings.get("method")
    return {option.name for option in settings_of(spec.task, method, family=family)}


def _options(spec: LadderSpec, rung: Available) -> dict[str, object]:
    """The settings of a rung as values; {} for one that cannot be trained. Raises SpecError."""
    if rung.card is None or installed.unfit(rung.card, spec.task):
        return {}
    names = _names(spec, rung)
    texts = {
        **rung.rung.usually,
        **{name: value for name, value in spec.settings_of().items() if name in names},
        **rung.rung.options,
        **spec.settings_of(rung.rung.id),
    }
    return parse_settings(spec.task, texts, rung.card.family)


def _cell(
    spec: LadderSpec, rung: Available, options: Mapping[str, object], decoder: str, seed: int
) -> Cell:
    id, card = rung.rung.id, rung.card
    cell = Cell(id, _(rung.rung.title), decoder, seed, INFO.id, None)
    reason = rung.missing if card is None else installed.unfit(card, spec.task)
    if card is None or reason:
        return replace(cell, status=MISSING, message=reason)
    train_spec = TrainSpec(
        spec.task,
        spec.layer,
        card.path,
        card.name,
        seed,
        {**options, **({DECODER: decoder} if decoder else {})},
        allow_pickle=card.pickled,
        family=card.family,
    )
    name = "-".join(("ladder", *filter(None, (id, decoder, str(seed)))))
    return replace(cell, spec=train_spec, name=name)
