"""The search for settings: trials on one layer, each an ordinary run, chosen by Optuna."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.records import JsonRecord
from workbench.base.watch import QUIET, Watch
from workbench.jobs.events import Finished, Output
from workbench.jobs.spec import JobSpec
from workbench.models.spec import card
from workbench.operations.experiments import experiment, search_ranges, search_study
from workbench.operations.experiments.experiment import (
    DONE,
    FAILED,
    Cell,
    Experiment,
    ScoreText,
)
from workbench.operations.experiments.search_ranges import LIST, Range, Suggestion, value_text
from workbench.operations.experiments.search_study import TPE, Study, Trial, Weak
from workbench.operations.models import installed
from workbench.operations.runs import run_folders, run_list, run_results, train, training_data
from workbench.operations.runs.kinds.train.info import INFO
from workbench.storage.runs import runs
from workbench.storage.runs.runs import Listing
from workbench.tasks import spec as tasks
from workbench.text.columns import Column, ValueKind, record
from workbench.training.spec import TrainSpec, parse_settings

if TYPE_CHECKING:
    from workbench.base.options import Option
    from workbench.jobs.queue import Job, Queue
    from workbench.operations.runs.kinds import contract as kinds
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

FILE = "searches.json"  # with every search of the project
STUDIES = "searches.db"  # of Optuna, a study for each search
STEM = "search"  # of the names of searches and their runs
STOPPED_EARLY = "stopped-early"  # the tag of runs that were stopped as weak
MOST_FAILED = 3  # trials one after another, before the search is paused
DEFAULTS = "defaults"  # the group of the cell without a search
BEST, EVERY = "best", "all"  # trials whose weights are kept
IMPORTANCE = "workbench.training.importance:run"
LEAST_FOR_IMPORTANCE = 10  # finished trials


@dataclass(frozen=True)
class SearchSpec(JsonRecord):
    """The description of a search.

    base: the settings of every trial that have no range. trials, minutes: the budget; one of them
    is None. sampler: TPE or RANDOM. prune: weak trials are stopped. seed: of the sampler; the
    trials have that of `base`. score: on dev, "" for the main score of the task. weights: BEST or
    EVERY.
    """

    base: TrainSpec
    ranges: tuple[Range, ...]
    name: str = ""
    trials: int | None = 40
    minutes: float | None = None
    sampler: str = TPE
    prune: bool = True
    seed: int = 1
    score: str = ""
    weights: str = BEST

    @property
    def varied(self) -> tuple[Range, ...]:
        return tuple(item for item in self.ranges if not item.is_fixed)

    @property
    def combinations(self) -> float:
        """How many different trials there are."""
        return math.prod(item.size for item in self.varied)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> SearchSpec:
        """Raises KeyError, TypeError, ValueError or SpecError for one of another version."""
        base = TrainSpec.from_json(raw["base"])
        return replace(super().from_json({**raw, "base": base.to_json()}), base=base)


def all_kept(project: Project) -> dict[str, SearchSpec]:
    """Name → every search of the project, the last one that was started last."""
    searches = {}
    for name, raw in experiment.kept(project, FILE).items():
        try:
            searches[name] = SearchSpec.from_json(raw)
        except (KeyError, TypeError, ValueError, AttributeError, SpecError):  # another version
            continue
    return searches


def free_name(project: Project) -> str:
    """search-1, search-2, …: the first name that no search has."""
    taken, number = experiment.kept(project, FILE), 1
    while f"{STEM}-{number}" in taken:
        number += 1
    return f"{STEM}-{number}"


def study(project: Project, spec: SearchSpec) -> AbstractContextManager[Study]:
    """Open the study of a search. Not for the main thread."""
    return search_study.opened(
        project.runs_folder / STUDIES,
        spec.name,
        spec.varied,
        seed=spec.seed,
        sampler=spec.sampler,
        maximize=not tasks.is_error(_score(spec)),
    )


def trials(project: Project, spec: SearchSpec) -> tuple[Trial, ...]:
    """The trials of a search that was started; () for a new one. Not for the main thread."""
    if not spec.name or not (project.runs_folder / STUDIES).is_file():
        return ()
    with study(project, spec) as opened:
        return opened.trials


def _score(spec: SearchSpec) -> str:
    return spec.score or tasks.info(spec.base.task).main


def title_of(option: Option) -> str:
    """A setting for display."""
    return _(option.title) if option.title else option.name.replace("_", " ").capitalize()


def suggest(project: Project, spec: TrainSpec) -> tuple[Suggestion, ...]:
    """Ranges for a layer and a model. Reads the submitted documents: not for the main thread.

    Raises WorkbenchError if nothing can be trained with these settings.
    """
    model = card(spec.model, allow_pickle=spec.allow_pickle)
    data = training_data.plan(
        project, spec.task, spec.layer or None, train_limit=spec.option("train_limit")
    )
    if data.problem:
        raise WorkbenchError(data.problem)
    return search_ranges.suggested(spec, train.settings_plan(spec, model, data), model)


def described(
    project: Project,
    model: str,
    task: str,
    layer: str,
    ranges: Mapping[str, str],
    settings: Mapping[str, object],
) -> SearchSpec:
    """The description of a new search.

    model: name of an installed model, or its folder. task, layer: "" where only one fits. ranges:
    as text, see `search_ranges.parse`; without any, those that are suggested. settings: of every
    trial. Raises WorkbenchError.
    """
    task = task or training_data.only_task(project, layer or None)
    known = installed.find(model)
    installed.check_task(known, task)
    base = TrainSpec(
        task,
        training_data.choose_layer(project, task, layer or None)[0].name,
        known.path,
        known.name,
        options=parse_settings(task, settings, known.family),
        allow_pickle=known.pickled,
        family=known.family,
    )
    if ranges:
        return SearchSpec(base, search_ranges.parse_all(ranges, base))
    suggested = [item.range for item in suggest(project, base) if item.on]
    return SearchSpec(base, tuple(item for item in suggested if item.name not in base.options))


# ---------------------------------------------------------------- the experiment


@dataclass
class TrialCell(Cell):
    """A trial, or the defaults, which have no number.

    number: from 1. trial: its number in the study. values: of the ranges that vary, as its run has
    them. curve: see `search_study.curve_of`. seconds: that it took. value: the score in the study,
    which stays if the run is deleted. begun: `time.monotonic()` of the start of its run.
    """

    number: int = 0
    trial: int = -1
    values: Mapping[str, Any] = field(default_factory=dict)
    curve: Mapping[int, float] = field(default_factory=dict)
    seconds: float = 0.0
    value: float | None = None
    begun: float = 0.0

    @property
    def is_stopped(self) -> bool:
        """Whether its run was stopped as weak."""
        return self.ends_early and self.status == DONE


class Search(Experiment):
    """The search of a description: its cells are the defaults, then the trials.

    known: the trials of a search that is continued, see `trials`. maximize: whether a higher score
    is better. Raises SpecError for ranges that do not fit.
    """

    cells: tuple[TrialCell, ...]
    tries_again = False

    def __init__(self, project: Project, spec: SearchSpec, known: Iterable[Trial] = ()):
        self.spec = spec
        self.options = search_ranges.checked(spec.ranges, spec.base)
        self.maximize = not tasks.is_error(_score(spec))
        self._weak: Weak | None = None
        tried = [trial for trial in known if not trial.is_default]
        cells = [_defaults(spec), *(self._cell(*pair) for pair in enumerate(tried, 1))]
        self._attach(project, cells, tried)
        super().__init__(project, cells, task=spec.base.task)
        self._listed = next(
            (cell for cell in self.trials if cell.run and not cell.run.listing.archived), None
        )

    def check(self) -> None:
        """Store the search; raises WorkbenchError if there are not enough documents."""
        base = self.spec.base
        limit = base.option("train_limit")
        plan = training_data.plan(self.project, base.task, base.layer or None, train_limit=limit)
        if plan.problem:
            raise WorkbenchError(plan.problem)
        if not self.spec.name:
            self.spec = replace(self.spec, name=free_name(self.project))
            self.cells[0].name = f"{self.spec.name}-{DEFAULTS}"
            self.cells[0].listing = Listing(self.spec.name)
        experiment.keep(self.project, FILE, self.spec.name, self.spec.to_json())
        self._settle()

    def more(self) -> Sequence[Cell]:
        with study(self.project, self.spec) as opened:
            self._tell(opened)
            self._drop_weights()
            if self.complete:
                return ()
            self._check_failures()
            self._weak = opened.weak()
            n, first = self.places, len(self.cells)
            if self.spec.minutes is None:
                n = min(n, self.total - first)
            return [self._cell(number, opened.ask()) for number in range(first, first + n)]

    def steps(self, queue: Queue) -> experiment.Steps:
        yield from super().steps(queue)
        yield self._settle

    def _settle(self) -> None:
        """Store the ends of trials, also of those whose end was not stored before a crash."""
        if not self.spec.name:
            return
        with study(self.project, self.spec) as opened:
            self._tell(opened)
        self._drop_weights()

    def _tell(self, opened: Study) -> None:
        first = self.cells[0]
        if (score := self.score_of(first)) is not None and first.run is not None:
            opened.add_default(self._values_of(first.run), score, first.run.uid)
        for cell in self.trials:
            uid = cell.run.uid if cell.run else ""
            if cell.status == FAILED:
                state = search_study.FAILED
            elif cell.status == DONE:
                cell.value = self.score_of(cell)
                state = search_study.PRUNED if cell.ends_early else search_study.DONE
            else:
                continue
            about: dict[str, Any] = {"curve": cell.curve, "run": uid, "seconds": cell.seconds}
            opened.tell(cell.trial, state, value=cell.value, **about)

    def _values_of(self, run: Run) -> dict[str, Any]:
        """Of the ranges that vary, also of settings that were automatic."""
        plan, options = run_results.planned(run), train.spec_of(run).all_options
        return {
            item.name: getattr(plan, item.name, None) if value is None else value
            for item in self.spec.varied
            for value in [options.get(item.name)]
        }

    def _check_failures(self) -> None:
        """Raises WorkbenchError if no trial can be expected to succeed."""
        latest = self.trials[-MOST_FAILED:]
        if len(latest) == MOST_FAILED and all(cell.status == FAILED for cell in latest):
            message = _("Trials fail one after another: {message}", message=latest[-1].message)
            raise WorkbenchError(message)

    def _drop_weights(self) -> None:
        """Delete the weights of trials that are not the best, unless the user has taken their runs
        out of the archive.
        """
        if self.spec.weights == EVERY:
            return
        best = self.best
        for cell in self.trials:
            if cell is best or cell.run is None or cell.reused or cell.status != DONE:
                continue
            with suppress(KeyError):  # deleted
                if runs.get(self.project.db, cell.run.id).listing.archived:
                    run_folders.remove_model(self.project, cell.run.id)

    # ---------------------------------------------------------------- cells

    def _cell(self, number: int, trial: Trial) -> TrialCell:
        spec, base = self.spec, self.spec.base
        name, title = f"{spec.name}-{number}", _("Trial {n}", n=number)
        cell = TrialCell(
            str(number),
            title,
            "",
            base.seed,
            INFO.id,
            None,
            name=name,
            listing=Listing(spec.name, archived=True),
            number=number,
            trial=trial.number,
            seconds=trial.seconds,
            value=trial.value,
        )
        if trial.state == search_study.FAILED:
            cell.status = FAILED
        elif trial.state != search_study.RUNNING:
            cell.status, cell.ends_early = DONE, trial.state == search_study.PRUNED
        try:
            settings = search_ranges.settings_of(spec.ranges, trial.values, self.options)
            cell.values = {item.name: item.number(settings[item.name]) for item in spec.varied}
            cell.spec = replace(base, options={**base.options, **settings})
        except SpecError as error:  # settings that exclude one another
            cell.status, cell.message = FAILED, str(error)
        return cell

    def _attach(self, project: Project, cells: Sequence[TrialCell], tried: Sequence[Trial]) -> None:
        """Give trials their runs. One that was stopped as weak, before the study was told, is
        recognised by its tag.
        """
        known = {run.uid: run for run in runs.all(project.db)}
        for cell, trial in zip(cells[1:], tried, strict=True):
            cell.run = known.pop(trial.run, None)
            if cell.status == FAILED and cell.run is not None:
                failure = cell.run.failure
                cell.message = cell.message or f"{failure.message} {failure.hint}".strip()
            weak = (
                STOPPED_EARLY in run.listing.tags and run.listing.group == self.spec.name
                for run in known.values()
            )
            if trial.state == search_study.RUNNING:
                cell.ends_early = any(weak)

    def _is_on_same_data(self, data: tuple[str, str], fingerprint: str) -> bool:
        earlier = {experiment.data_of(cell.run) for cell in self.trials if cell.run}
        if earlier - {fingerprint}:
            return self._refuse(
                _("Documents or labels were changed since this search began. Start a new search.")
            )
        return super()._is_on_same_data(data, fingerprint)

    def _begin(self, queue: Queue, cell: Cell, prepared: kinds.PreparedOnData) -> Run | None:
        if isinstance(cell, TrialCell):
            cell.begun = time.monotonic()
        return super()._begin(queue, cell, prepared)

    def _ended(self, cell: Cell, event: Finished) -> None:
        if event.status == "stopped" and not cell.ends_early:  # by the user: it is continued later
            event = Finished("cancelled")
        super()._ended(cell, event)
        if isinstance(cell, TrialCell) and cell.status in (DONE, FAILED):
            cell.seconds = time.monotonic() - cell.begun
            if cell.status == FAILED:
                cell.ends_early = False
            self._list_best()

    def _list_best(self) -> None:
        """Show the run of the best trial among other runs, and archive that of the former."""
        best, former = self.best, self._listed
        if best is former:
            return
        for cell, archived in ((best, False), (former, True)):
            if cell is not None and cell.run is not None and not cell.reused:
                run_list.archive(self.project, (cell.run.id,), archived)
                cell.run = runs.get(self.project.db, cell.run.id)
        self._listed = best

    # ---------------------------------------------------------------- while a trial is trained

    def follow(self, queue: Queue, job: Job) -> None:
        cell = self.cell_of(job)
        if isinstance(cell, TrialCell) and cell.number:
            before, cell.curve = cell.curve, self._curve(job)
            if len(cell.curve) > len(before) and self._is_weak(cell):
                self._stop_weak(queue, cell)
        super().follow(queue, job)

    def _is_weak(self, cell: TrialCell) -> bool:
        is_open = self.spec.prune and not cell.ends_early and self._weak is not None
        return is_open and self._weak is not None and self._weak(cell.curve)

    def _curve(self, job: Job) -> dict[int, float]:
        payloads = [event.payload for event in job.events if isinstance(event, Output)]
        points = [
            (payload["step"], payload["scores"][self.score])
            for payload in payloads
            if payload.get("kind") == "evaluated"
            and payload.get("split") == self.split
            and self.score in payload.get("scores", {})
        ]
        total = job.progress.get("total") or 0
        return search_study.curve_of(points, total, maximize=self.maximize)

    def _stop_weak(self, queue: Queue, cell: TrialCell) -> None:
        if cell.run is not None:
            run_list.set_tags(self.project, (cell.run.id,), add=(STOPPED_EARLY,))
            self.stop_early(queue, cell)

    # ---------------------------------------------------------------- results

    @property
    def score(self) -> str:
        return _score(self.spec)

    def score_of(self, cell: Cell) -> float | None:
        score = super().score_of(cell)
        if score is None and isinstance(cell, TrialCell) and cell.status == DONE:
            return cell.value  # its run was deleted
        return score

    @property
    def trials(self) -> tuple[TrialCell, ...]:
        return self.cells[1:]

    @property
    def finished(self) -> tuple[TrialCell, ...]:
        """The trials that were trained to the end and have a score."""
        return tuple(
            cell for cell in self.trials if not cell.is_stopped and self.score_of(cell) is not None
        )

    @property
    def best(self) -> TrialCell | None:
        """The finished trial with the best score, of equal ones the first."""
        sign = 1 if self.maximize else -1
        key = lambda cell: sign * (self.score_of(cell) or 0.0)  # noqa: E731
        return max(self.finished, key=key, default=None)

    @property
    def total(self) -> int:
        if self.spec.trials is None:
            return len(self.cells)
        most = min(self.spec.trials, self.spec.combinations)
        return 1 + max(len(self.trials), int(most))

    @property
    def minutes(self) -> float:
        """That the trials took."""
        return sum(cell.seconds for cell in self.trials) / 60

    @property
    def complete(self) -> bool:
        """Whether the budget is used up, or every combination was tried."""
        if self.spec.trials is not None and len(self.trials) >= self.spec.trials:
            return True
        if self.spec.minutes is not None and self.minutes >= self.spec.minutes:
            return True
        tried = {str(sorted(cell.values.items())) for cell in self.trials}
        return len(tried) >= self.spec.combinations

    @property
    def seconds_left(self) -> float | None:
        if self.spec.minutes is not None:
            return max(0.0, 60 * (self.spec.minutes - self.minutes)) / self.places
        took = [cell.seconds for cell in self.trials if cell.seconds]
        if not took:
            return None
        done = sum(cell.status in (DONE, FAILED) for cell in self.trials)
        running = sum(cell.fraction or 0.0 for cell in self.running)
        return fmean(took) * max(0.0, self.total - 1 - done - running) / self.places

    def columns(self, text: ScoreText | None = None) -> tuple[Column, ...]:
        """Of the cells. text: of a score, by default in percent or its own unit."""
        text = text or partial(tasks.score_text, self.score)

        def shown(cell: TrialCell) -> str | None:
            score = self.score_of(cell)
            return None if score is None else text(score)

        return (
            Column(_("Trial"), lambda cell: cell.number or None, display=_name, key="trial"),
            Column(
                tasks.score_title(self.score),
                self.score_of,
                kind=ValueKind.SHARE,
                display=shown,
                key=self.score,
            ),
            *(self._column(item) for item in self.spec.varied),
            Column(
                _("Minutes"),
                _minutes,
                kind=ValueKind.NUMBER,
                digits=1,
                key="minutes",
            ),
            Column(_("Status"), _status, kind=ValueKind.TERM, key="status"),
            Column("", lambda cell: cell.run.name if cell.run else "", key="run"),
        )

    def _column(self, item: Range) -> Column:
        def value(cell: TrialCell) -> Any:
            if cell.number or cell.run is None:
                return cell.values.get(item.name)
            return self._values_of(cell.run).get(item.name)

        def display(cell: TrialCell) -> str | None:
            known = value(cell)
            return None if known is None and not cell.number else value_text(known)

        kind = ValueKind.TEXT if item.scale == LIST else ValueKind.NUMBER
        title = title_of(self.options[item.name])
        return Column(title, value, kind=kind, display=display, key=item.name)

    def verdict(self, watch: Watch = QUIET) -> Verdict:
        """The best trial, with intervals. Not for the main thread."""
        best, first = self.best, self.cells[0]
        intervals = []
        for cell in (best, first):
            intervals.append(
                experiment.mean_interval(self, [cell.run])
                if cell is not None and cell.run is not None and cell.status == DONE
                else None
            )
            watch.at(len(intervals) / 2)
        return Verdict(
            _sentence(self, best, intervals[0]),
            best.number if best else 0,
            intervals[0],
            self.score_of(first),
            intervals[1],
            len(self.finished),
        )

    def importance(self, queue: Queue, watch: Watch = QUIET) -> tuple[Importance, ...]:
        """Of the settings, most important first. Waits for a job: not for the main thread.

        Raises WorkbenchError with fewer than `LEAST_FOR_IMPORTANCE` finished trials, Cancelled or
        JobFailed.
        """
        cells = self.finished
        if len(cells) < LEAST_FOR_IMPORTANCE:
            raise WorkbenchError(needed(len(cells)))
        params = {
            "ranges": [item.to_json() for item in self.spec.varied],
            "values": [dict(cell.values) for cell in cells],
            "scores": [self.score_of(cell) for cell in cells],
        }
        job = JobSpec(
            IMPORTANCE, params, title=_("Importance of settings"), short=True, background=True
        )
        raw = queue.run(job, watch, forget=True)
        return tuple(Importance.from_json(item) for item in raw["rows"])

    def report(self) -> dict[str, Any]:
        """The search in machine-readable form; scores are fractions of 1, but for errors."""
        columns = self.columns()
        return {
            "name": self.spec.name,
            "task": self.task,
            "layer": self.spec.base.layer,
            "model": self.spec.base.model_name,
            "status": self.status,
            "split": self.split,
            "score": self.score,
            "sampler": self.spec.sampler,
            "prune": self.spec.prune,
            "seed": self.spec.seed,
            "budget": {"trials": self.spec.trials, "minutes": self.spec.minutes},
            "settings": dict(self.spec.base.options),
            "ranges": {item.name: item.text() for item in self.spec.ranges},
            "best": self.best.number if self.best else None,
            "defaults": record(columns, self.cells[0]),
            "trials": [record(columns, cell) for cell in self.trials],
        }


@dataclass(frozen=True)
class Verdict:
    """best: number of the best trial, 0 without one. interval: 95%, of its score; default: score of
    the defaults, with its interval. n: finished trials.
    """

    sentence: str
    best: int = 0
    interval: tuple[float, float] | None = None
    default: float | None = None
    default_interval: tuple[float, float] | None = None
    n: int = 0


@dataclass(frozen=True)
class Importance(JsonRecord):
    """Share of the variance of the score that a setting explains, with its 80% interval."""

    name: str
    share: float
    low: float
    high: float


def needed(n: int) -> str:
    """Why there is no importance yet, with n finished trials."""
    return ngettext(
        "Needs {n} trial, has {has}.", "Needs {n} trials, has {has}.", LEAST_FOR_IMPORTANCE, has=n
    )


def _sentence(search: Search, best: TrialCell | None, interval: tuple[float, float] | None) -> str:
    n = len(search.finished)
    if best is None or (value := search.score_of(best)) is None:
        return _("No trial is finished yet.")
    text = partial(tasks.score_text, search.score)
    default = search.score_of(search.cells[0])
    about: dict[str, Any] = {
        "trial": best.number,
        "title": tasks.score_title(search.score),
        "score": text(value),
        "split": search.split,
        "default": "" if default is None else text(default),
    }
    about |= {"low": text(interval[0]), "high": text(interval[1])} if interval else {}
    if interval is None:
        first = _("Trial {trial}: {title} {score} on {split}; defaults {default}.")
        if default is None:
            first = _("Trial {trial}: {title} {score} on {split}.")
    elif default is None:
        first = _("Trial {trial}: {title} {score} on {split} (95% interval {low} to {high}).")
    else:
        first = _(
            "Trial {trial}: {title} {score} on {split} (95% interval {low} to {high}); defaults "
            "{default}."
        )
    second = ngettext(
        "It is the only finished trial.",
        "It is the best of {n} on dev: expect a lower score on test.",
        n,
    )
    sentences = [first.format(**about), second]
    if default is not None and (default == value or (default > value) is search.maximize):
        sentences.append(_("No trial is better than the defaults."))
    return " ".join(sentences)


def _defaults(spec: SearchSpec) -> TrialCell:
    """The run without a search: fixed values, and the defaults of settings that vary."""
    fixed = {item.name: item.values[0] for item in spec.ranges if item.is_fixed}
    varied = {item.name for item in spec.varied}
    options = {name: value for name, value in spec.base.options.items() if name not in varied}
    base = replace(spec.base, options={**options, **fixed})
    name = f"{spec.name}-{DEFAULTS}" if spec.name else f"{STEM}-{DEFAULTS}"
    return TrialCell(
        DEFAULTS,
        _("Defaults"),
        "",
        base.seed,
        INFO.id,
        base,
        name=name,
        listing=Listing(spec.name),
    )


def _name(cell: TrialCell) -> str:
    return str(cell.number) if cell.number else cell.title


def _minutes(cell: TrialCell) -> float | None:
    """That a trial took; of the defaults, which are not stored as a trial, those of their run."""
    seconds = cell.seconds or (cell.run.seconds if cell.run and cell.status == DONE else None)
    return seconds / 60 if seconds else None


def _status(cell: TrialCell) -> str:
    return STOPPED_EARLY if cell.is_stopped else cell.status
