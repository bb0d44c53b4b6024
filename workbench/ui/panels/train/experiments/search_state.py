"""State of the search on the Train page: ranges and budget, the trials, what they show. No Qt."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.operations.experiments import ladder, search, search_ranges
from workbench.operations.experiments.experiment import FAILED, RUNNING, WAITING
from workbench.operations.experiments.search import Search, SearchSpec, TrialCell
from workbench.operations.experiments.search_ranges import (
    LIST,
    LOG,
    SCALES,
    WHOLE,
    Range,
    scales_of,
    value_text,
)
from workbench.operations.experiments.search_study import RANDOM, TPE
from workbench.operations.models import installed
from workbench.operations.runs import run_results, training_data
from workbench.tasks import spec as tasks
from workbench.text import columns
from workbench.training.spec import TrainSpec
from workbench.training.spec import options as options_of
from workbench.ui.panels.train import checks
from workbench.ui.project.experiment_state import ExperimentState
from workbench.ui.style import formats

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.base.options import Option
    from workbench.models.spec import ModelInfo
    from workbench.operations.experiments.search import Importance, Verdict
    from workbench.operations.experiments.search_ranges import Suggestion
    from workbench.text.columns import Column
    from workbench.ui.panel import PanelContext
    from workbench.ui.project.job_progress import JobProgress

SUGGEST, OPEN, JUDGE, WEIGH = "search-ranges", "search-open", "search-verdict", "search-importance"
TRIALS, MINUTES = "trials", "minutes"  # budgets
REPEAT = "repeat"  # the experiment of seeds and folds
MOST_SEED = 2**31 - 1
SHARE_AROUND = 0.1  # of a score that all trials have, above and below it on its axis


@dataclass(frozen=True)
class RangeRow:
    """A setting in the form, as typed. on: it is searched; else it has its default.

    values: of the scale LIST, separated by commas; one alone is that of every trial.
    """

    name: str
    on: bool
    scale: str
    low: str = ""
    high: str = ""
    values: str = ""

    @property
    def is_list(self) -> bool:
        return self.scale == LIST

    @property
    def is_fixed(self) -> bool:
        return self.on and self.scale == LIST and "," not in self.values

    @classmethod
    def fixed(cls, name: str, value: object) -> RangeRow:
        return cls(name, True, LIST, values=value_text(value))

    @classmethod
    def of(cls, item: Range, on: bool = True) -> RangeRow:
        if item.scale == LIST:
            return cls(item.name, on, LIST, values=item.text())
        low, high = map(value_text, item.ends)
        return cls(item.name, on, item.scale, low, high)

    def read(self, option: Option) -> Range:
        """Raises SpecError."""
        if self.scale == LIST:
            return search_ranges.listed(option, self.values.split(","))
        return search_ranges.between(option, self.low, self.high, self.scale)


@dataclass(frozen=True)
class Scale:
    """Where the values of a setting, or the scores, lie on an axis.

    low, high: ends as they are placed, of a logarithmic scale as powers of ten. ends: their texts,
    None for scores. texts: of a list, by place.
    """

    title: str
    low: float
    high: float
    ends: tuple[str, str] | None = None
    logarithmic: bool = False
    whole: bool = False
    percent: bool = False
    values: tuple[object, ...] = ()

    @classmethod
    def of(cls, item: Range, title: str) -> Scale:
        if item.scale == LIST:
            return cls(title, 0.0, len(item.values) - 1.0, values=item.values)
        low, high = item.ends
        ends = value_text(low), value_text(high)
        if item.scale == LOG:
            return cls(title, math.log10(low), math.log10(high), ends, logarithmic=True)
        return cls(title, low, high, ends, whole=item.scale == WHOLE)

    @property
    def texts(self) -> tuple[tuple[float, str], ...]:
        return tuple((float(at), value_text(value)) for at, value in enumerate(self.values))

    def place(self, value: object) -> float | None:
        """From 0 to 1; None for a value that the axis does not have."""
        if self.values:
            return self._share(self.values.index(value)) if value in self.values else None
        if not isinstance(value, int | float) or (self.logarithmic and value <= 0):
            return None
        return self._share(math.log10(value) if self.logarithmic else value)

    def _share(self, at: float) -> float:
        span = self.high - self.low
        return (at - self.low) / span if span else 0.5


@dataclass(frozen=True)
class Line:
    """A trial in the plot. strength: of a finished one, from 0 to 1 with the best score. text:
    the score of the best one.
    """

    number: int
    places: tuple[float | None, ...]
    tip: str
    is_best: bool
    is_stopped: bool
    strength: float
    text: str
    values: tuple[object, ...]


@dataclass(frozen=True)
class ImportanceRow:
    """name: of the setting for display. text: its share."""

    name: str
    text: str
    tip: str
    share: float
    interval: tuple[float, float]
    values: tuple[object, ...]


class SearchState(ExperimentState):
    """`layer`, `model`, `score`, `sampler`, `prune`, `ranges`, `budget` with its numbers as typed,
    and others are the choices.

    `name`: of the search that is shown, "" for a new one, whose choices can be changed; of others,
    only the budget. `errors`: what is wrong, by the name of a setting or of a field. `chosen`:
    number of a trial.
    """

    work: Search | None

    def __init__(self, context: PanelContext) -> None:
        super().__init__(context)
        self.layers: tuple[tuple[str, int], ...] = ()
        self.models: tuple[ModelInfo, ...] = ()
        self.task, self.layer, self.model = "", "", ""
        self.score, self.sampler, self.prune = "", TPE, True
        self.ranges: tuple[RangeRow, ...] = ()
        self.budget, self.trials, self.minutes, self.seed = TRIALS, "40", "60", "1"
        self.keeps_all = False
        self.name, self.chosen = "", 0
        self.errors: dict[str, str] = {}
        self.verdict: Verdict | None = None
        self.importance: tuple[Importance, ...] = ()
        self._seed = 1  # of every trial
        self._searches: dict[str, SearchSpec] = {}
        self._ended = -1  # trials when verdict and importance were computed
        self._is_read = False

    # ---------------------------------------------------------------- choices

    def refresh(self) -> None:
        """Read layers, models and searches again; the choices are kept where possible."""
        if self.active:
            return
        counts = training_data.submitted_by_layer(self.project)
        layers = tuple(counts.items())
        models = tuple(installed.list(self.context.settings))
        self._searches = search.all_kept(self.project)
        self.update(layers=layers, models=models)
        first = not self._is_read
        self._is_read = True
        if first and self._searches:
            self.open(next(reversed(self._searches)))
        elif self.layer not in counts:
            self.choose(layer=next(iter(layers), ("", 0))[0])
        elif not self.name:
            self._plan()
        elif self.work is not None and self.work.lacks_runs:
            self.open(self.name)

    @property
    def searches(self) -> tuple[str, ...]:
        """Names of the searches that were started, the last one first."""
        return tuple(reversed(self._searches))

    def take(self, spec: TrainSpec) -> None:
        """Begin a new search with the settings of a run, each the same in every trial at first."""
        if not self.active:
            self._new()
            self.task, self.model, self._seed = spec.task, spec.model_name, spec.seed
            self.ranges = tuple(RangeRow.fixed(*pair) for pair in spec.options.items())
            self.choose(layer=spec.layer)
            self._suggest()

    def new(self) -> None:
        """Begin another search, with the choices of the one that is shown."""
        if not self.active:
            self._new()
            self._searches = search.all_kept(self.project)
            self.changed.emit(frozenset({"name"}))
            self._plan()

    def _new(self) -> None:
        self.context.drop(OPEN)
        self.name, self.chosen, self.verdict, self.importance = "", 0, None, ()
        self._ended = -1

    def open(self, name: str) -> None:
        """Show a search that was started, to continue it or to use its settings."""
        if self.active or name not in self._searches:
            return
        spec = self._searches[name]
        self._new()
        base = spec.base
        self.task, self.layer, self.model = base.task, base.layer, base.model_name
        self._seed = base.seed
        self.score, self.sampler, self.prune = spec.score, spec.sampler, spec.prune
        self.keeps_all, self.seed = spec.weights == search.EVERY, str(spec.seed)
        fixed = [RangeRow.fixed(*pair) for pair in base.options.items()]
        self.ranges = (*map(RangeRow.of, spec.ranges), *fixed)
        self.budget = TRIALS if spec.minutes is None else MINUTES
        self.trials = str(spec.trials or self.trials)
        self.minutes = value_text(spec.minutes or float(self.minutes))
        self.name, self.work, self.errors = name, None, {}
        self.changed.emit(frozenset({"name", "layer", "ranges", "budget", "work"}))

        def show(known: Any) -> None:
            self.plan(lambda: Search(self.project, spec, known))
            self._judge()

        self.context.task(OPEN, partial(search.trials, self.project, spec), show)

    def choose(self, **choices: Any) -> None:
        """Set choices; not while trials are trained, and of a search that was started only its
        budget.
        """
        is_open = not self.name or set(choices) <= {"budget", "trials", "minutes"}
        if self.active or not is_open:
            return
        before = self.layer, self.model
        self.update(**choices)
        if "layer" in choices:
            self._fit_layer()
        if (self.layer, self.model) != before or not self.ranges:
            self._suggest()
        if self.name:
            self._change_budget()
        else:
            self._plan()

    def _fit_layer(self) -> None:
        """Task, score and model of the layer."""
        fitting = {info.id for info in tasks.all_tasks() if self._fits(info.id)}
        if self.task not in fitting:
            self.task = ladder.task_of(self.project, self.layer) if self.layer else ""
        if not self.task:
            return
        unfit = checks.unfit(self.models, self.task)
        names = [card.name for card in self.models if card.usable and card.name not in unfit]
        model = self.model if self.model in names else checks.default_model(self.models, unfit)
        score = self.score if self.score in dict(self.scores) else ""
        self.update(model=model, score=score)

    def _fits(self, task: str) -> bool:
        layers = training_data.fitting_layers(self.project, task)
        return any(layer.name == self.layer for layer, _count in layers)

    @property
    def usable_models(self) -> tuple[str, ...]:
        unfit = checks.unfit(self.models, self.task) if self.task else {}
        return tuple(card.name for card in self.models if card.usable and card.name not in unfit)

    @property
    def scores(self) -> tuple[tuple[str, str], ...]:
        """(name, title) of the scores to search by; "" is the main one."""
        if not self.task:
            return ()
        info = tasks.info(self.task)
        others = [score.name for score in info.scores if score.selects and score.name != info.main]
        return (
            ("", _("{score} on dev", score=tasks.score_title(info.main))),
            *((name, _("{score} on dev", score=tasks.score_title(name))) for name in others),
        )

    @property
    def samplers(self) -> tuple[tuple[tuple[str, bool], str], ...]:
        """((sampler, whether weak trials are stopped), title)."""
        return (
            ((TPE, True), _("TPE, stops weak trials")),
            ((TPE, False), _("TPE")),
            ((RANDOM, True), _("Random, stops weak trials")),
            ((RANDOM, False), _("Random")),
        )

    # ---------------------------------------------------------------- ranges

    @property
    def options(self) -> dict[str, Option]:
        """The settings that can have a range, by name."""
        if not self.task:
            return {}
        card = self._card
        method = [row for row in self.ranges if row.name == "method" and row.on and row.values]
        names = [part.strip() for row in method for part in row.values.split(",")]
        try:
            known = options_of(self.task, names[0] if names else None, card.family if card else "")
        except SpecError:
            known = options_of(self.task)
        return {option.name: option for option in known}

    def title_of(self, option: Option) -> str:
        return search.title_of(option)

    def scales_of(self, option: Option) -> list[tuple[str, str]]:
        """(id, title) of the scales that a setting can have."""
        return [(scale, _(SCALES[scale])) for scale in scales_of(option)]

    def add_range(self, name: str) -> None:
        """Add a setting, with its default as the value of all trials."""
        option = self.options[name]
        self.choose(ranges=(*self.ranges, RangeRow.fixed(name, option.default)))

    def change_range(self, name: str, **values: Any) -> None:
        """Change a row; another scale takes over what was typed where it can."""
        rows = []
        for row in self.ranges:
            if row.name == name:
                changed = replace(row, **values)
                if changed.scale == LIST and row.scale != LIST and not changed.values:
                    changed = replace(changed, values=f"{row.low}, {row.high}")
                rows.append(changed)
            else:
                rows.append(row)
        self.choose(ranges=tuple(rows))
        if name == "method":
            self._suggest()

    def drop_range(self, name: str) -> None:
        self.choose(ranges=tuple(row for row in self.ranges if row.name != name))

    @property
    def _card(self) -> ModelInfo | None:
        return next((card for card in self.models if card.name == self.model), None)

    def _settings(self) -> TrainSpec:
        """What every trial begins with. Raises WorkbenchError."""
        card = self._card
        if not self.layer:
            raise WorkbenchError(_("The project has no layer that can be learned."))
        if card is None:
            raise WorkbenchError(_("Choose a model."))
        known, options = self.options, {}
        for row in self.ranges:
            if row.is_fixed and row.name in known:
                with suppress(SpecError):  # told at its row
                    options[row.name] = row.read(known[row.name]).values[0]
        return TrainSpec(
            self.task,
            self.layer,
            card.path,
            card.name,
            self._seed,
            options,
            allow_pickle=card.pickled,
            family=card.family,
        )

    def _suggest(self) -> None:
        """Work out ranges for this layer and model; rows of other settings stay."""
        try:
            spec = self._settings()
        except WorkbenchError:
            return

        def show(suggestions: tuple[Suggestion, ...]) -> None:
            fixed = {row.name: row for row in self.ranges if row.is_fixed}
            rows = [
                fixed.pop(item.range.name, RangeRow.of(item.range, item.on)) for item in suggestions
            ]
            known = self.options
            self.choose(ranges=(*rows, *(row for name, row in fixed.items() if name in known)))

        def failed(error: Exception) -> None:
            self.work, self.error = None, str(error)
            self.changed.emit(frozenset({"work", "error"}))
            if not isinstance(error, WorkbenchError):
                self.context.fail(error)

        self.context.task(SUGGEST, partial(search.suggest, self.project, spec), show, failed=failed)

    # ---------------------------------------------------------------- the experiment

    def _plan(self) -> None:
        """The search with the present choices; what is wrong with them is in `errors`."""
        self.errors = {}
        try:
            spec = self._spec()
        except WorkbenchError as error:
            self.work, self.error = None, str(error)
            self.changed.emit(frozenset({"work", "error", "errors"}))
            return
        if self.errors:
            self.work, self.error = None, ""
            self.changed.emit(frozenset({"work", "error", "errors"}))
            return
        self.plan(lambda: Search(self.project, spec))
        self.changed.emit(frozenset({"errors"}))

    def _spec(self) -> SearchSpec:
        base, known = self._settings(), self.options
        ranges = []
        for row in self.ranges:
            if row.on and row.name in known:
                try:
                    item = row.read(known[row.name])
                    ranges += [] if item.is_fixed else [item]
                except SpecError as error:
                    self.errors[row.name] = error.message
        spec = SearchSpec(
            base,
            tuple(ranges),
            sampler=self.sampler,
            prune=self.prune,
            seed=self._whole("seed", self.seed, 0, MOST_SEED) or 0,
            score=self.score,
            weights=search.EVERY if self.keeps_all else search.BEST,
        )
        return self._with_budget(spec)

    def _with_budget(self, spec: SearchSpec) -> SearchSpec:
        if self.budget == TRIALS:
            trials = self._whole(TRIALS, self.trials, 1, 100_000)
            return replace(spec, trials=trials or 1, minutes=None)
        try:
            minutes = float(self.minutes.replace(",", "."))
        except ValueError:
            minutes = 0.0
        if not minutes > 0:
            self.errors[MINUTES] = _("Enter a number of minutes above 0.")
        return replace(spec, trials=None, minutes=minutes or 1.0)

    def _whole(self, field: str, text: str, low: int, high: int) -> int | None:
        if text.strip().isdecimal() and low <= int(text) <= high:
            return int(text)
        self.errors[field] = _("Enter a whole number from {low:,} to {high:,}.", low=low, high=high)
        return None

    def _change_budget(self) -> None:
        """Of a search that was started."""
        self.errors = {}
        if self.work is not None:
            changed = self._with_budget(self.work.spec)
            if not self.errors:
                self.work.spec = changed
                if self.work.status == "done":
                    self.work.status = "ready"
        self.changed.emit(frozenset({"work", "errors"}))

    def plan(self, make: Any) -> None:
        super().plan(make)
        if self.work is not None:
            self.work.changed.connect(self._moved)

    def _moved(self) -> None:
        """After each step of the search."""
        work = self.work
        if work is None:
            return
        if work.spec.name and not self.name:
            self.name = work.spec.name
            self._searches = {**self._searches, self.name: work.spec}
            self.changed.emit(frozenset({"name"}))
        ended = sum(cell.status not in (WAITING, RUNNING) for cell in work.cells)
        if ended != self._ended:
            self._judge()

    def _judge(self) -> None:
        """Compute the verdict and the importance, off the main thread."""
        work = self.work
        if work is None:
            return
        self._ended = sum(cell.status not in (WAITING, RUNNING) for cell in work.cells)
        if work.best is None:
            return
        self.context.task(JUDGE, work.verdict, lambda verdict: self.update(verdict=verdict))
        if len(work.finished) >= search.LEAST_FOR_IMPORTANCE:
            self.context.task(
                WEIGH,
                partial(work.importance, self.context.queue),
                lambda made: self.update(importance=made),
                failed=lambda _error: None,  # the next trial asks again
            )

    @property
    def can_start(self) -> bool:
        work = self.work
        if work is None or self.active or self.project.read_only or self.errors:
            return False
        return not work.complete or any(cell.status == WAITING for cell in work.cells)

    @property
    def is_opening(self) -> bool:
        """Whether the trials of a search are being read."""
        return bool(self.name) and self.work is None and not self.error

    @property
    def begun(self) -> bool:
        return bool(self.name)

    @property
    def live(self) -> JobProgress:
        live, work = super().live, self.work
        if work is None:
            return live
        done = sum(cell.status not in (WAITING, RUNNING) for cell in work.trials)
        if work.spec.trials is None:
            live.title = ngettext("{n} trial done", "{n} trials done", done)
            live.step, live.total = int(60 * work.minutes), int(60 * (work.spec.minutes or 1))
            live.step = min(live.step, live.total)
        else:
            n = work.total - 1
            live.title = ngettext(
                "{done} of {n} trial done", "{done} of {n} trials done", n, done=done
            )
            live.step, live.total = done, n
        live.seconds_left = (work.seconds_left or 0.0) if not work.complete or self.active else 0.0
        return live

    @property
    def counts(self) -> str:
        """What the trials do, in one line."""
        work = self.work
        if work is None or not work.trials:
            return ""
        stopped = sum(cell.is_stopped for cell in work.trials)
        failed = sum(cell.status == FAILED for cell in work.trials)
        parts = [
            ngettext("{n} stopped early", "{n} stopped early", stopped) if stopped else "",
            ngettext("{n} failed", "{n} failed", failed) if failed else "",
        ]
        return "; ".join(filter(None, parts))

    # ---------------------------------------------------------------- results

    @property
    def cells_shown(self) -> tuple[TrialCell, ...]:
        """The running trial, the others by their score, the defaults."""
        work = self.work
        if work is None:
            return ()
        sign = -1 if tasks.is_error(work.score) else 1

        def order(cell: TrialCell) -> tuple[bool, bool, float]:
            score = work.score_of(cell)
            running = cell.status in (RUNNING, WAITING)
            return not running, score is None, -sign * (score or 0.0)

        begun = [cell for cell in work.cells if cell.number or cell.status != WAITING]
        return tuple(sorted(begun, key=order))

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.work.columns(self.score_text) if self.work else ()

    def text_of(self, cell: TrialCell) -> str:
        """The score of a trial, or how far it is."""
        score = self.work.score_of(cell) if self.work else None
        if cell.status == FAILED:
            return _("failed")
        return self.progress_text(cell) if score is None else self.score_text(score)

    @property
    def has_scores(self) -> bool:
        work = self.work
        return work is not None and any(work.score_of(cell) is not None for cell in work.cells)

    @property
    def has_best(self) -> bool:
        return self.work is not None and self.work.best is not None

    @property
    def head(self) -> tuple[str, ...]:
        """Names of the columns of the values of a line."""
        work = self.work
        names = [item.name for item in work.spec.varied] if work else []
        return (_("Trial"), *names, self.score_name)

    @property
    def scales(self) -> tuple[Scale, ...]:
        """Of the settings that vary, and of the score."""
        work = self.work
        if work is None:
            return ()
        scores = [score for cell in work.trials if (score := work.score_of(cell)) is not None]
        low, high = min(scores, default=0.0), max(scores, default=1.0)
        around = abs(low) * SHARE_AROUND if low == high else 0.0
        last = Scale(
            tasks.score_title(work.score),
            low - around,
            high + around,
            percent=not tasks.is_error(work.score),
        )
        settings = [
            Scale.of(item, search.title_of(work.options[item.name])) for item in work.spec.varied
        ]
        return (*settings, last)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The trials that have a score, the best first."""
        work = self.work
        if work is None:
            return ()
        known = {cell.number: work.score_of(cell) for cell in work.trials}
        scores = {number: score for number, score in known.items() if score is not None}
        cells = [cell for cell in work.trials if cell.number in scores]
        cells.sort(key=lambda cell: scores[cell.number], reverse=work.maximize)
        finished = [scores[cell.number] for cell in work.finished]
        low, high = min(finished, default=0.0), max(finished, default=1.0)
        lines = []
        for cell in cells:
            score, is_best = scores[cell.number], cell is work.best
            share = min(1.0, max(0.0, (score - low) / ((high - low) or 1.0)))
            values = (*(cell.values.get(item.name) for item in work.spec.varied), score)
            places = (scale.place(value) for scale, value in zip(self.scales, values, strict=True))
            lines.append(
                Line(
                    cell.number,
                    tuple(places),
                    self.describe(cell),
                    is_best,
                    cell.is_stopped,
                    share if work.maximize else 1 - share,
                    self.score_text(score) if is_best else "",
                    (cell.number, *values),
                )
            )
        return tuple(lines)

    @property
    def importance_rows(self) -> tuple[ImportanceRow, ...]:
        work = self.work
        return tuple(_importance_row(work, item) for item in self.importance) if work else ()

    @property
    def importance_note(self) -> str:
        """What the importance says, or why there is none."""
        work = self.work
        if work is None or len(work.finished) < search.LEAST_FOR_IMPORTANCE:
            return search.needed(len(work.finished) if work else 0)
        if not self.importance:
            return _("Computing importance…")
        return _(
            "80% intervals over a bootstrap of the trials; the order of settings whose intervals "
            "overlap is uncertain."
        )

    def choose_trial(self, number: int) -> None:
        if number != self.chosen:
            self.update(chosen=number)

    @property
    def chosen_cell(self) -> TrialCell | None:
        """The chosen trial, else the best one."""
        work = self.work
        if work is None:
            return None
        return next((cell for cell in work.trials if cell.number == self.chosen), work.best)

    def cell_of(self, number: int) -> TrialCell | None:
        cells = self.work.cells if self.work else ()
        return next((cell for cell in cells if cell.number == number), None)

    def progress_text(self, cell: TrialCell) -> str:
        """How far the running trial is."""
        plan = run_results.planned(cell.run) if cell.run else None
        if plan is None or cell.fraction is None:
            return _("running") if cell.status == RUNNING else _("queued")
        epoch = min(plan.epochs, 1 + int(cell.fraction * plan.epochs))
        return _("epoch {epoch} of {total}", epoch=epoch, total=plan.epochs)

    def describe(self, cell: TrialCell) -> str:
        """A trial with its values and its score, in one line."""
        work = self.work
        if work is None:
            return ""
        values = [
            f"{search.title_of(work.options[name])} {value_text(value)}"
            for name, value in cell.values.items()
        ]
        score = f"{self.score_title} {self.score_text(work.score_of(cell))}"
        stopped = [_("stopped early")] if cell.is_stopped else []
        return " · ".join((cell.title, score, *values, *stopped))

    def save_table(self, path: Path) -> None:
        """Write the trials as CSV; errors are shown at the top of the window."""
        if self.work is None:
            return
        try:
            columns.write_delimited(path, columns.cells(self.work.columns(), self.cells_shown))
        except OSError as error:
            message = _(
                "{file} cannot be written: {error}.", file=path, error=error.strerror or error
            )
            self.context.fail(WorkbenchError(message))

    def use(self, cell: TrialCell | None = None) -> None:
        """Fill the form of a new run with the settings of a trial, by default of the best one."""
        cell = cell or (self.work.best if self.work else None)
        if cell is not None and cell.spec is not None:
            self.context.go("train", spec=cast(TrainSpec, cell.spec))

    @property
    def can_repeat(self) -> bool:
        return REPEAT in self.others

    def repeat(self) -> None:
        """Open seeds and folds with the settings of the best trial."""
        best = self.work.best if self.work else None
        if best is not None and self.can_repeat:
            self.context.go("train", experiment=REPEAT, spec=best.spec)


def _importance_row(work: Search, item: Importance) -> ImportanceRow:
    name = search.title_of(work.options[item.name])
    share, low, high = (formats.points(part, 0) for part in (item.share, item.low, item.high))
    tip = _(
        "{name}: {share}% of the variance (80% interval {low} to {high})",
        name=name,
        share=share,
        low=low,
        high=high,
    )
    values = item.name, item.share, item.low, item.high
    return ImportanceRow(name, _("{n}%", n=share), tip, item.share, (item.low, item.high), values)
