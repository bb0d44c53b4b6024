"""Repeated training: systems trained with several seeds, on the splits or on every fold; with a
teacher, each of them without it and with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.metrics.significance import MeanInterval, t_interval
from workbench.operations.experiments import experiment, ladder, ladder_rungs
from workbench.operations.experiments.experiment import Cell, Experiment, Row, ScoreText
from workbench.operations.models import installed
from workbench.operations.runs import results, teachers, trained_on, training_data
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.kinds.train.info import INFO
from workbench.storage.runs.runs import Listing
from workbench.tasks import spec as tasks
from workbench.text.columns import Column, ValueKind
from workbench.training.general import DISTILLATION, LEAST_FOLDS, MOST_FOLDS
from workbench.training.spec import TrainSpec, parse_settings

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

FILE = "repeat.json"  # with the last experiment on each layer
LAST = ""  # the name of its layer there: the page shows one experiment, on any layer


@dataclass(frozen=True)
class System:
    """Settings that are trained repeatedly; their seed and fold are replaced."""

    title: str
    spec: TrainSpec


@dataclass(frozen=True)
class RepeatSpec:
    """The description of an experiment. folds: 0 for the train and dev splits as they are.

    teacher: the name of a run that also teaches each system, with its settings for distillation; ""
    for none.
    """

    systems: tuple[System, ...]
    seeds: tuple[int, ...] = (1, 2, 3)
    folds: int = 0
    teacher: str = ""

    @property
    def trained(self) -> tuple[System, ...]:
        """The systems that are trained; with a teacher, each without it and with it."""
        if not self.teacher:
            return self.systems
        return tuple(
            student
            for system in self.systems
            for student in (_alone(system), _taught(system, self.teacher))
        )

    def to_json(self) -> dict[str, Any]:
        systems = [{"title": item.title, "spec": item.spec.to_json()} for item in self.systems]
        plain = {"systems": systems, "seeds": list(self.seeds), "folds": self.folds}
        return {**plain, "teacher": self.teacher}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> RepeatSpec:
        """Raises SpecError, KeyError, TypeError or ValueError for one that cannot be read."""
        systems = (
            System(str(item["title"]), TrainSpec.from_json(item["spec"])) for item in raw["systems"]
        )
        seeds, teacher = tuple(map(int, raw["seeds"])), str(raw.get("teacher", ""))
        return cls(tuple(systems), seeds, int(raw["folds"]), teacher)


def last(project: Project) -> RepeatSpec | None:
    """The experiment that was started last; None if there is none."""
    try:
        return RepeatSpec.from_json(experiment.last(project, FILE, LAST)[1])
    except (SpecError, KeyError, TypeError, ValueError):
        return None


def can_repeat(run: Run) -> bool:
    """Whether the settings of a run can be repeated."""
    kind = kinds.info(run.kind)
    return kind.fine_tunes and kind.repeats and results.has_task(run)


def offered(project: Project) -> tuple[Run, ...]:
    """The runs whose settings can be repeated, newest first; archived ones and folds are left out,
    as those of experiments are.
    """
    return tuple(
        run
        for run in results.all_runs(project)
        if can_repeat(run) and not run.listing.archived and not trained_on.fold(run)
    )


def system_of(run: Run) -> System:
    """The settings of a run. Raises WorkbenchError if they cannot be repeated."""
    return System(run.name, replace(kinds.of(run).settings(run), name=run.name))


def system(project: Project, layer: str, text: str) -> System:
    """`Title: MODEL KEY=VALUE …` for a layer. Raises WorkbenchError for one that cannot be trained.

    As a string, in the syntax of a custom rung of the ladder.
    """
    rung = ladder_rungs.parse(text)
    task = ladder.task_of(project, layer)
    card = installed.find(rung.filled({}).model)
    installed.check_task(card, task)
    options = parse_settings(task, rung.filled({}).options, card.family)
    spec = TrainSpec(
        task,
        layer,
        card.path,
        card.name,
        options=options,
        allow_pickle=card.pickled,
        family=card.family,
    )
    return System(rung.title, spec)


@dataclass(frozen=True)
class SystemDifference:
    """How much better the second system is than the first, over runs with equal seed and fold."""

    first: str
    second: str
    interval: MeanInterval


class Repeat(Experiment):
    """Groups are systems; the cells of each are its seeds, and of each seed its folds. The last
    group is the teacher, with its own run, if there is one.

    Raises SpecError for systems that cannot be compared, a wrong number of folds, or a run that
    cannot teach.
    """

    def __init__(self, project: Project, spec: RepeatSpec):
        self.spec = spec
        first = _checked(spec)
        self.layer = first.layer
        super().__init__(project, (*_cells(spec), *_teacher(project, spec)), task=first.task)

    def check(self) -> None:
        """Store the experiment, so that it can be continued after a restart."""
        experiment.keep(self.project, FILE, LAST, self.spec.to_json())

    @property
    def overlap(self) -> float:
        """See `significance.t_interval`."""
        return 1 / (self.spec.folds - 1) if self.spec.folds else 0.0

    @property
    def students(self) -> tuple[Row, ...]:
        """The rows of systems that are trained."""
        return tuple(row for row in self.rows if row.first.cells[0].spec is not None)

    def interval(self, row: Row) -> MeanInterval | None:
        """Of the mean of a system, over its finished runs."""
        return t_interval(tuple(row.first.scores.values()), overlap=self.overlap)

    @property
    def differences(self) -> tuple[SystemDifference, ...]:
        """Of every system to the first one; those without two runs of each are left out."""
        first, *others = self.rows
        pairs = ((row, _paired(first, row)) for row in others)
        return tuple(
            SystemDifference(first.title, row.title, interval)
            for row, values in pairs
            if len(values) > 1 and (interval := t_interval(values, overlap=self.overlap))
        )

    def folds_of(self, row: Row) -> tuple[Run, ...]:
        """The runs of the first seed of a system whose folds are all finished; () without any."""
        for seed in self.spec.seeds if self.spec.folds else ():
            cells = [cell for cell in row.first.cells if cell.seed == seed]
            folds = tuple(cell.run for cell in cells if cell.run and cell.status == experiment.DONE)
            if len(folds) == len(cells):
                return folds
        return ()

    @property
    def method(self) -> str:
        """How the intervals are computed, and what they are about."""
        if self.spec.folds:
            return _(
                "95% intervals by Student's t. Folds share most of their training documents, so "
                "their scores are dependent: the variance is corrected for that (Nadeau and "
                "Bengio 2003). As in every run, the fold selects the checkpoint that is scored on "
                "it, which makes all scores slightly too high."
            )
        return _(
            "95% intervals by Student's t over seeds: what other seeds would give on the same "
            "documents. They say nothing about other documents; folds do."
        )

    def columns(self, text: ScoreText | None = None) -> tuple[Column, ...]:
        """Of the rows, for people. text: of a score, by default in percent or its own unit."""
        text = text or partial(tasks.score_text, self.score)
        return (
            Column(_("System"), lambda row: row.title),
            experiment.mean_column("", "", text),
            interval_column(self.interval, text),
            Column(_("Runs"), lambda row: len(row.first.scores), kind=ValueKind.COUNT),
            experiment.minutes_column(),
        )

    def difference_columns(self, text: ScoreText | None = None) -> tuple[Column, ...]:
        text = text or partial(tasks.score_text, self.score)
        return (
            Column(_("System"), lambda item: item.second),
            Column(_("Compared with"), lambda item: item.first),
            Column(
                _("Difference"),
                kind=ValueKind.SHARE,
                display=lambda item: text(item.interval.mean, signed=True),
            ),
            interval_column(lambda item: item.interval, partial(text, signed=True)),
            Column("p", lambda item: item.interval.p, kind=ValueKind.NUMBER, digits=3),
            Column(_("Pairs"), lambda item: item.interval.n, kind=ValueKind.COUNT),
        )

    def _teacher_json(self) -> dict[str, Any] | None:
        """The run of the teacher and its score; None without one."""
        if not self.spec.teacher:
            return None
        return {"run": self.spec.teacher, "score": self.score_of(self.cells[-1])}

    def report(self) -> dict[str, Any]:
        """The experiment in machine-readable form; scores are fractions of 1, but for errors."""
        return {
            **experiment.about(self, self.layer),
            "seeds": list(self.spec.seeds),
            "folds": self.spec.folds,
            "teacher": self._teacher_json(),
            "systems": [
                {
                    "title": system.title,
                    "model": system.spec.model_name or system.spec.model,
                    "options": dict(system.spec.options),
                    "interval": _interval_json(self.interval(row)),
                    **experiment.to_json(self, row.first),
                }
                for system, row in zip(self.spec.trained, self.students, strict=True)
            ],
            "differences": [
                {
                    "first": item.first,
                    "second": item.second,
                    "mean": item.interval.mean,
                    "interval": _interval_json(item.interval),
                    "p": item.interval.p,
                    "pairs": item.interval.n,
                }
                for item in self.differences
            ],
        }


def _alone(system: System) -> System:
    options = {name: v for name, v in system.spec.options.items() if name not in DISTILLATION}
    title = _("{title} without a teacher", title=system.title)
    return System(title, replace(system.spec, options=options))


def _taught(system: System, teacher: str) -> System:
    options = {**system.spec.options, DISTILLATION[0]: teacher}
    title = _("{title} with a teacher", title=system.title)
    return System(title, replace(system.spec, options=options))


def _teacher(project: Project, spec: RepeatSpec) -> list[Cell]:
    """The cell of the teacher, which is not trained."""
    if not spec.teacher:
        return []
    student = _taught(spec.systems[0], spec.teacher).spec
    fold = f"1/{spec.folds}" if spec.folds else ""
    student = replace(student, options={**student.options, "fold": fold})
    layer, _remark = training_data.choose_layer(project, student.task, student.layer)
    run = teachers.find(project, student, layer)
    assert run is not None
    title, seed = _("Teacher: {name}", name=run.name), int(run.spec.get("seed", 0))
    return [Cell("teacher", title, "", seed, run.kind, None, status=experiment.DONE, run=run)]


def interval_column(interval: Any, text: ScoreText) -> Column:
    """interval: of a row, None without one."""

    def display(row: Any) -> str | None:
        known = interval(row)
        if known is None or known.low is None:
            return None
        return _("{low} to {high}", low=text(known.low), high=text(known.high))

    return Column(_("95% interval"), kind=ValueKind.SHARE, display=display)


def _interval_json(interval: MeanInterval | None) -> list[float | None] | None:
    return None if interval is None or interval.low is None else [interval.low, interval.high]


def _paired(first: Row, second: Row) -> list[float]:
    """Scores of the second minus those of the first, of runs with equal seed and fold."""
    before, after = first.first.scores, second.first.scores
    return [after[repeat] - score for repeat, score in before.items() if repeat in after]


def _checked(spec: RepeatSpec) -> TrainSpec:
    """The settings of the first system. Raises SpecError."""
    if not spec.systems:
        raise SpecError(_("Choose at least one run whose settings are repeated."))
    if spec.folds and not LEAST_FOLDS <= spec.folds <= MOST_FOLDS:
        message = _("The number of folds is {folds}, expected {low} to {high}.")
        raise SpecError(message.format(folds=spec.folds, low=LEAST_FOLDS, high=MOST_FOLDS))
    first, *others = (system.spec for system in spec.systems)
    for other in others:
        if (other.task, other.layer) != (first.task, first.layer):
            raise SpecError(
                _(
                    "Systems are compared on one task and layer, but {first} and {other} differ.",
                    first=f"{first.task} ({first.layer})",
                    other=f"{other.task} ({other.layer})",
                )
            )
    return first


def _cells(spec: RepeatSpec) -> list[Cell]:
    folds = [f"{number}/{spec.folds}" for number in range(1, spec.folds + 1)] or [""]
    return [
        _cell(str(number), system, seed, fold)
        for number, system in enumerate(spec.trained)
        for seed in spec.seeds
        for fold in folds
    ]


def _cell(group: str, system: System, seed: int, fold: str) -> Cell:
    options = {name: value for name, value in system.spec.options.items() if name != "fold"}
    spec = replace(
        system.spec,
        seed=seed,
        name="",
        with_test=False,  # test stays unseen
        options={**options, **({"fold": fold} if fold else {})},
    )
    parts = [system.title, f"seed {seed}", *([f"fold {fold.replace('/', ' of ')}"] if fold else [])]
    return Cell(
        group,
        system.title,
        "",
        seed,
        INFO.id,
        spec,
        ", ".join(parts),
        Listing(_("Repeats of {title}", title=system.title), archived=bool(fold)),
        fold,
    )


def repeat_titles(spec: RepeatSpec) -> Sequence[str]:
    """Of the cells of a system, in their order."""
    folds = range(1, spec.folds + 1)
    if not spec.folds:
        return [_("Seed {seed}", seed=seed) for seed in spec.seeds]
    if len(spec.seeds) == 1:
        return [_("Fold {fold}", fold=fold) for fold in folds]
    return [
        _("Seed {seed}, fold {fold}", seed=seed, fold=fold) for seed in spec.seeds for fold in folds
    ]
