"""An experiment: named cells, each a run of any kind, computed one after another, on a cluster
several at a time.

Finished runs with the same settings on the same data are used again, and one that was interrupted
goes on from its state, so that an experiment continues where it ended. Cells that differ in their
seed only are summarised.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Literal, Protocol

from workbench.base.errors import Cancelled, JobFailed, WorkbenchError
from workbench.base.events import Signal
from workbench.base.i18n import _, ngettext
from workbench.base.records import json_text
from workbench.jobs.events import Finished
from workbench.jobs.spec import ENDINGS
from workbench.metrics.gain import Gain, gain
from workbench.operations.runs import clusters, resume, run_results, train
from workbench.operations.runs.kinds import contract as kinds
from workbench.storage.runs import runs
from workbench.storage.runs.runs import Listing, Run
from workbench.tasks import spec as tasks
from workbench.text.columns import Column, ValueKind
from workbench.training.general import MOST_AT_ONCE, RUN_ON
from workbench.training.results import TrainResult

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project

EVERY = 0.2  # seconds between two looks at the progress of a run
MISSING, WAITING, RUNNING, DONE, FAILED = "missing", "waiting", "running", "done", "failed"
_COUNTS = (DONE, "stopped")  # a stopped run only if its cell ends early
_GO_ON = ("interrupted", "crashed")  # runs that go on from their states
Step = Callable[[], Any] | tuple[Run, ...]  # what a caller of `Experiment.steps` waits for
End = tuple[Run, Finished]
Steps = Generator[Step, Any, None]


@dataclass
class Cell:
    """One run of an experiment, computed or to be computed.

    Cells of one group and series differ in their seed and fold only. A group is a row of the
    results, a series a column. title: of the group. name: of the run that is started. fold: see the
    setting. kind: of the run, spec: its settings, None if it cannot be computed; `message` says
    why. listing: how the run is organised in the list of runs. status: missing, waiting, running,
    done or failed. reused: the run is an earlier one. ends_early: its run was asked to stop, and
    counts as it is.
    """

    group: str
    title: str
    series: str
    seed: int
    kind: str
    spec: Any
    name: str = ""
    listing: Listing = Listing()
    fold: str = ""
    status: str = WAITING
    message: str = ""
    run: Run | None = None
    reused: bool = False
    ends_early: bool = False
    fraction: float | None = None

    @property
    def data(self) -> tuple[str, str]:
        """What has one fingerprint of its data: the kind of the run, and its layer."""
        return self.kind, getattr(self.spec, "layer", "")

    @property
    def repeat(self) -> int | tuple[int, str]:
        """What tells it from the other cells of its group and series: seed, and fold if any."""
        return (self.seed, self.fold) if self.fold else self.seed


class Experiment:
    """The cells and how far they are; `changed()` is emitted at each step.

    task: of all cells, its main score on `split` is compared. status: ready, running, pausing
    (after the runs that are computed), paused or done. error: why it could not start, or was
    paused. run_on: the address of a cluster that trains, "" for this computer. at_once: how many
    runs are trained there at a time, 0 for as many as it has room for.
    tries_again: cells that have failed are computed again at the next start.
    """

    tries_again = True

    def __init__(
        self, project: Project, cells: Sequence[Cell], *, task: str, split: str = "dev"
    ) -> None:
        self.project, self.cells, self.task, self.split = project, tuple(cells), task, split
        self.changed = Signal("experiment")
        self.status, self.error = "ready", ""
        self.run_on, self.at_once, self._places = "", 0, 1
        self._data: dict[tuple[str, str], str] = {}  # `Cell.data` → fingerprint
        self._failed: set[int] = set()  # runs that are not continued again
        self._reuse()

    @property
    def active(self) -> bool:
        return self.status in ("running", "pausing")

    @property
    def complete(self) -> bool:
        """Whether no cell is added once those of now have ended, as far as is known."""
        return True

    @property
    def total(self) -> int:
        """How many cells there will be, as far as is known."""
        return sum(cell.spec is not None for cell in self.cells)

    @property
    def lacks_runs(self) -> bool:
        """Whether runs of cells were deleted."""
        ids = {run.id for run in runs.all(self.project.db)}
        return any(cell.run is not None and cell.run.id not in ids for cell in self.cells)

    @property
    def running(self) -> tuple[Cell, ...]:
        """The cells whose runs are computed."""
        return tuple(cell for cell in self.cells if cell.status == RUNNING)

    @property
    def places(self) -> int:
        """How many runs are computed at a time, as far as is known."""
        return min(self.at_once or self._places, MOST_AT_ONCE) if self.run_on else 1

    def check(self) -> None:
        """Called in a thread at each start; raises WorkbenchError if no cell can be computed."""

    def more(self) -> Sequence[Cell]:
        """Further cells, which may depend on the scores of the others; () if there are no more.

        Called in a thread whenever every cell has ended. Raises WorkbenchError to pause.
        """
        return ()

    def steps(self, queue: Queue) -> Steps:
        """Compute what is not finished, also after a pause, for a caller that waits in its own way:
        it calls a function in a thread, and sends what that returns or the exception that it
        raises; it follows runs, and sends the first that ends, with its end (`ended`). `run` does
        this for callers that may block.
        """
        self._start()
        problem = yield self.check
        if self.run_on and not self.at_once and not isinstance(problem, Exception):
            problem = yield partial(self._find_places, queue)
        if isinstance(problem, Exception):
            self._end("paused", str(problem))
        while self.active:
            cell = self._next()
            if cell is not None:
                yield from self._compute(cell, queue)
            elif running := self.running:
                run, event = yield tuple(cell.run for cell in running if cell.run is not None)
                for cell in running:
                    if cell.run is not None and cell.run.id == run.id:
                        self._ended(cell, event)
            elif self.active:
                self._add((yield self.more))

    def _find_places(self, queue: Queue) -> None:
        """Raises WorkbenchError if the cluster cannot be used, Cancelled."""
        self._places = clusters.places(queue, self.run_on)

    def _compute(self, cell: Cell, queue: Queue) -> Steps:
        """Start the run of a cell."""
        prepared = yield partial(self._prepare, cell, queue)
        if isinstance(prepared, Exception):
            self._data.setdefault(cell.data, "")
            cell.status, cell.message = FAILED, str(prepared)
        elif (run := self._begin(queue, cell, prepared)) is not None and run.status in ENDINGS:
            self._ended(cell, Finished(run.status))

    def _add(self, cells: Sequence[Cell] | Exception) -> None:
        if isinstance(cells, Exception):
            self._end("paused", str(cells))
        elif cells:
            self.cells = (*self.cells, *cells)
            self._reuse(self._data)
        else:
            self._end("done")

    def pause(self) -> None:
        """End after the runs that are computed."""
        if self.active:
            self.status = "pausing"
            self.changed.emit()

    def cancel(self, queue: Queue) -> None:
        """Cancel the runs that are computed and start no other; finished runs stay."""
        self.pause()
        for cell in self.running:
            if cell.run is not None:
                train.cancel(self.project, queue, cell.run.id)

    def stop_early(self, queue: Queue, cell: Cell) -> None:
        """End the run of a cell with what it has, which then counts as finished."""
        if cell.run is not None and cell.status == RUNNING:
            cell.ends_early = True
            train.stop(self.project, queue, cell.run.id)

    def follow(self, queue: Queue, job: Job) -> None:
        """Called at each event of a job that computes a run: of a training, or of a run that says
        how many documents are done.
        """
        cell, progress = self.cell_of(job), job.progress
        done, total = progress.get("step", progress.get("done")), progress.get("total")
        if cell is not None and done is not None and total:
            cell.fraction = min(1.0, done / total)
        self.changed.emit()

    def cell_of(self, job: Job) -> Cell | None:
        """The cell whose run a job computes."""
        about = job.spec.params.get("run") or {}
        own = (cell for cell in self.running if cell.run and cell.run.id == about.get("id"))
        return next(own, None)

    def _start(self) -> None:
        self.status, self.error, self._data = "running", "", {}
        for cell in self.cells:
            if cell.status == FAILED and self.tries_again:
                cell.status, cell.message, cell.run = WAITING, "", None
        self.changed.emit()

    def _next(self) -> Cell | None:
        """The cell to prepare; None if all have begun, no more can be computed at a time, or the
        experiment is paused. Of each kind and layer, the first is prepared in any case: what is
        finished counts only if the data are still the same.
        """
        if len(running := self.running) >= self.places:
            return None
        cell = next(
            (
                cell
                for cell in self.cells
                if cell.spec is not None and (cell.status == WAITING or cell.data not in self._data)
            ),
            None,
        )
        if self.status == "pausing":
            if not running:
                is_done = cell is None and self.complete and not self.error
                self._end("done" if is_done else "paused", self.error)
            return None
        self.changed.emit()
        return cell

    def _prepare(self, cell: Cell, queue: Queue) -> kinds.PreparedOnData:
        name = runs.free_name(self.project.db, cell.name or cell.kind)
        spec = replace(cell.spec, name=name)
        if self.run_on and kinds.info(cell.kind).fine_tunes:
            spec = replace(spec, options={**spec.options, RUN_ON: self.run_on})
        prepared = kinds.named(cell.kind).prepare(self.project, spec, queue=queue)
        if (run := self._interrupted(cell, prepared.fingerprint)) is not None:
            with suppress(WorkbenchError):  # its process saves its results, or its model is gone
                return resume.prepare(self.project, run)
        return prepared

    def _interrupted(self, cell: Cell, fingerprint: str) -> Run | None:
        """A run with the settings of a cell on the same data that can go on from its state; one
        that was stopped only if it is of this experiment.
        """
        kind = kinds.named(cell.kind)
        identity = kind.identity(cell.spec)
        for run in reversed(runs.all(self.project.db)):
            is_own = run.kind == cell.kind and run.listing.group == cell.listing.group
            was_stopped = run.status == "stopped" and bool(cell.listing.group)
            is_open = is_own and (run.status in _GO_ON or was_stopped)
            is_same = is_open and run.id not in self._failed and data_of(run) == fingerprint
            if not is_same or not resume.can_resume(self.project, run):
                continue
            with suppress(WorkbenchError, KeyError):  # settings of another version
                is_there = run.spec.get("options", {}).get(RUN_ON, "") == self.run_on
                if is_there and kind.identity(kind.settings(run)) == identity:
                    return run
        return None

    def _begin(self, queue: Queue, cell: Cell, prepared: kinds.PreparedOnData) -> Run | None:
        """Start the run of a cell; None if there is nothing to wait for."""
        if not self._is_on_same_data(cell.data, prepared.fingerprint) or cell.status == DONE:
            return None  # a finished one was only needed to read the data
        if self.status == "pausing":
            return None
        try:
            if isinstance(prepared, resume.ResumedTraining):
                cell.run = resume.start(self.project, queue, prepared)
            else:
                cell.run = kinds.start(self.project, queue, prepared)
        except WorkbenchError as error:
            cell.status, cell.message = FAILED, str(error)
            return None
        if cell.listing != Listing() and cell.run.listing == Listing():
            others = train.trained_with(self.project, cell.run)
            with self.project.write(_("New run")):
                cell.run = runs.organise(self.project.db, cell.run.id, cell.listing)
                for other in others:
                    runs.organise(self.project.db, other.id, cell.listing)
        cell.status, cell.fraction = RUNNING, None
        self.changed.emit()
        return cell.run

    def _is_on_same_data(self, data: tuple[str, str], fingerprint: str) -> bool:
        """Whether the experiment can continue; the first run fixes the data."""
        if not self._data.get(data):
            self._data[data] = fingerprint
            for cell in self.cells:
                if cell.data == data and cell.run and data_of(cell.run) != fingerprint:
                    cell.status, cell.run, cell.reused = WAITING, None, False
            self._reuse(self._data)
        if fingerprint == self._data[data]:
            return True
        message = _("Documents or labels were changed. Start again to repeat every run on them.")
        return self._refuse(message)

    def _refuse(self, reason: str) -> Literal[False]:
        """Pause after the runs that are computed."""
        self.status, self.error = "pausing", reason
        return False

    def _end(self, status: str, error: str = "") -> None:
        self.status, self.error = status, error
        self.changed.emit()

    def _ended(self, cell: Cell, event: Finished) -> None:
        cell.fraction = None
        if event.status == "cancelled":
            cell.status, cell.run = WAITING, None
            self.status = "pausing"
            return
        if cell.run is not None:
            cell.run = runs.get(self.project.db, cell.run.id)
        is_done = cell.run is not None and _counts(cell.run, cell.ends_early)
        if cell.run is not None and event.status == "failed":
            self._failed.add(cell.run.id)
        cell.status = DONE if is_done else FAILED
        cell.message = "" if is_done else _why(cell.run, event)

    def check_complete(self) -> None:
        """Raises WorkbenchError if it has ended without the scores of all cells: Cancelled, or
        JobFailed with the message of the first run that failed.
        """
        if self.error:
            raise WorkbenchError(self.error)
        if self.status == "paused":
            raise Cancelled(_("The experiment was interrupted."))
        if failed := [cell for cell in self.cells if cell.status == FAILED]:
            message = ngettext(
                "{n} run failed: {message}",
                "{n} runs failed; the first: {message}",
                len(failed),
                message=failed[0].message,
            )
            raise JobFailed(message)

    # ---------------------------------------------------------------- earlier runs

    def _reuse(self, data: Mapping[tuple[str, str], str] | None = None) -> None:
        """Give cells the finished runs with their settings on the data of each kind and layer, by
        default on those of the latest run; of equal runs the latest.
        """
        known = {cell.kind: kinds.named(cell.kind) for cell in self.cells if cell.spec is not None}
        cells: dict[tuple[str, str], list[Cell]] = {}
        for cell in self.cells:
            if cell.spec is not None:
                key = cell.kind, known[cell.kind].identity(cell.spec)
                cells.setdefault(key, []).append(cell)
        pairs: list[tuple[Cell, Run]] = []
        for run in runs.all(self.project.db):  # oldest first
            if run.kind in known and run.status in _COUNTS and self.split in run.scores:
                with suppress(WorkbenchError, KeyError):  # settings of another version
                    key = run.kind, known[run.kind].identity(known[run.kind].settings(run))
                    pairs += [(c, run) for c in cells.get(key, ()) if _counts(run, c.ends_early)]
        data = data or {cell.data: data_of(run) for cell, run in pairs}
        for cell, run in pairs:
            is_open = cell.run is None or cell.reused
            if is_open and data_of(run) == data.get(cell.data):
                cell.status, cell.run, cell.reused = DONE, run, True

    # ---------------------------------------------------------------- results

    @property
    def score(self) -> str:
        """The name of the score that is compared."""
        return tasks.info(self.task).main

    def score_of(self, cell: Cell) -> float | None:
        """The score of a finished run."""
        if cell.run is None or cell.status != DONE:
            return None
        value: float | None = cell.run.scores.get(self.split, {}).get(self.score)
        return value

    @property
    def rows(self) -> tuple[Row, ...]:
        """The groups in their order, with the summary of each series."""
        series = dict.fromkeys(cell.series for cell in self.cells)
        rows: list[Row] = []
        is_error, before = tasks.is_error(self.score), None
        for group in dict.fromkeys(cell.group for cell in self.cells):
            cells = [cell for cell in self.cells if cell.group == group]
            summaries = {
                name: self._summary([cell for cell in cells if cell.series == name])
                for name in series
            }
            mean = next(iter(summaries.values())).mean
            rows.append(
                Row(group, cells[0].title, summaries, gain(mean, before, is_error=is_error))
            )
            before = before if mean is None else mean
        return tuple(rows)

    def _summary(self, cells: Sequence[Cell]) -> Summary:
        done = [cell.run for cell in cells if cell.run and self.score_of(cell) is not None]
        scores = {c.repeat: score for c in cells if (score := self.score_of(c)) is not None}
        seconds = [run.seconds for run in done if run.seconds is not None]
        last = run_results.outcome(done[-1]) if done else None
        trained = last if isinstance(last, TrainResult) else TrainResult()
        return Summary(
            cells,
            scores,
            fmean(seconds) / 60 if seconds else None,
            trained.parameters,
            trained.trained_parameters,
        )

    @property
    def seconds_left(self) -> float | None:
        """Estimated from the finished runs, of the same group where there are some; None without
        any.
        """
        took: dict[str, list[float]] = {}
        for cell in self.cells:
            if cell.status == DONE and cell.run is not None and cell.run.seconds is not None:
                took.setdefault(cell.group, []).append(cell.run.seconds / self.cost(cell))
        if not took:
            return None
        usual = fmean(seconds for times in took.values() for seconds in times)
        left = [
            fmean(took.get(cell.group, [usual])) * self.cost(cell) * (1 - (cell.fraction or 0))
            for cell in self.cells
            if cell.status in (WAITING, RUNNING)
        ]
        return sum(left) / max(1, min(self.places, len(left)))

    def cost(self, cell: Cell) -> float:
        """How long a run takes in relation to the others of its group, for the estimate."""
        return 1.0


def run(experiment: Experiment, queue: Queue) -> None:
    """Compute the cells, without an event loop. What fails is in `error` and the cells."""
    steps, answer = experiment.steps(queue), None
    with suppress(StopIteration):
        while True:
            step = steps.send(answer)
            try:
                answer = step() if callable(step) else _first_end(experiment, queue, step)
            except WorkbenchError as error:
                answer = error


def _first_end(experiment: Experiment, queue: Queue, running: Sequence[Run]) -> End:
    while True:
        if (end := ended(experiment.project, queue, running)) is not None:
            return end
        for run in running:
            job = train.job_of(queue, experiment.project, run.id)
            if job is not None and not queue.wait(job, EVERY / len(running)):
                experiment.follow(queue, job)


def ended(project: Project, queue: Queue, running: Sequence[Run]) -> End | None:
    """The first of the runs whose job has ended, None if there is none."""
    for run in running:
        job = train.job_of(queue, project, run.id)
        if job is None:
            return run, Finished(run.status)
        if job.over:
            return run, Finished(job.status, job.result, job.message, job.hint)
    return None


def _counts(run: Run, ends_early: bool) -> bool:
    return run.status in (_COUNTS if ends_early else (DONE,))


def data_of(run: Run) -> str:
    """Fingerprint of the data that a run was computed on; a prompt run has no snapshot of them."""
    return run.data_fingerprint or str(run.spec.get("fingerprint", ""))


def _why(run: Run | None, event: Finished) -> str:
    if event.status == "failed" and event.message:  # the run may be what it was before
        return " ".join(filter(None, (event.message, event.hint)))
    if run is not None and run.status == "stopped":
        return _("It was stopped early.")
    failure = run.failure if run is not None else None
    message, hint = (failure.message, failure.hint) if failure else (event.message, event.hint)
    return " ".join(filter(None, (message, hint)))


# ---------------------------------------------------------------- results


@dataclass(frozen=True)
class Summary:
    """The finished runs of a group in one series, over seeds and folds.

    scores: `Cell.repeat` → score. minutes: mean duration of a run. parameters, trained: of the
    network; None if the runs do not say.
    """

    cells: Sequence[Cell] = field(repr=False)
    scores: Mapping[int | tuple[int, str], float]
    minutes: float | None = None
    parameters: int | None = None
    trained: int | None = None

    @property
    def mean(self) -> float | None:
        return fmean(self.scores.values()) if self.scores else None

    @property
    def sd(self) -> float | None:
        """Standard deviation over the runs (n - 1); None for fewer than two runs."""
        return stdev(self.scores.values()) if len(self.scores) > 1 else None

    @property
    def band(self) -> tuple[float, float] | None:
        """The lowest and the highest score; None without a finished run."""
        return (min(self.scores.values()), max(self.scores.values())) if self.scores else None


@dataclass(frozen=True)
class Row:
    """A group. gain: of its mean in the first series over that of the group before."""

    group: str
    title: str
    by_series: Mapping[str, Summary]
    gain: Gain | None = None

    @property
    def first(self) -> Summary:
        """In the first series."""
        return next(iter(self.by_series.values()))


@dataclass(frozen=True)
class BandPoint:
    """x: what was spent, such as labelled documents. low, high: of the runs."""

    x: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class BandSeries:
    """A line of a plot of scores, with a band over runs. kind: tells lines apart beside titles."""

    title: str
    kind: str
    points: tuple[BandPoint, ...]


def mean_interval(experiment: Experiment, finished: Sequence[Run]) -> tuple[float, float] | None:
    """95% interval of the mean score over runs, by a bootstrap over their documents; None if the
    score has none. Reads the documents: not for the main thread.
    """
    import numpy as np

    from workbench.metrics import resampling
    from workbench.operations.evaluation import quality

    evidence = [quality.evidence(experiment.project, run, experiment.split) for run in finished]
    statistics = [item.statistic for item in evidence if len(item)]
    sizes = {len(item) for item in evidence}
    if not statistics or len(sizes) > 1 or None in statistics:
        return None
    values = [
        resampling.resampled(statistic, *sizes)[experiment.score]
        for statistic in statistics
        if statistic is not None
    ]
    low, high = resampling.bounds(np.mean(values, axis=0))
    return float(low), float(high)


class ScoreText(Protocol):
    """A score as text; signed: a gain."""

    def __call__(self, value: float, *, signed: bool = False) -> str: ...


def mean_column(series: str, title: str, text: ScoreText) -> Column:
    """Mean and standard deviation of the rows in a series."""

    def mean(row: Row) -> str | None:
        summary = row.by_series[series]
        if summary.mean is None:
            return None
        score = text(summary.mean)
        if summary.sd is None:
            return _("{score} (n = 1)", score=score)
        return f"{score} ± {text(summary.sd)}"

    return Column(title or _("Score"), kind=ValueKind.SHARE, display=mean)


def gain_columns(text: ScoreText) -> tuple[Column, ...]:
    """Gain of a row over the row before, and what it costs."""
    return (
        Column(
            _("Gain"),
            kind=ValueKind.SHARE,
            display=lambda row: text(row.gain.absolute, signed=True) if row.gain else None,
        ),
        Column(
            _("Errors removed"),
            lambda row: row.gain and row.gain.errors_removed,
            kind=ValueKind.PERCENT,
            hint=_("Gain as a share of errors"),
        ),
        minutes_column(),
    )


def minutes_column() -> Column:
    return Column(
        _("Minutes"),
        lambda row: row.first.minutes,
        kind=ValueKind.NUMBER,
        digits=1,
        hint=_("Minutes per run"),
    )


def about(experiment: Experiment, layer: str) -> dict[str, Any]:
    """How a report of an experiment begins."""
    return {
        "task": experiment.task,
        "layer": layer,
        "status": experiment.status,
        "split": experiment.split,
        "score": experiment.score,
    }


def to_json(experiment: Experiment, summary: Summary) -> dict[str, Any]:
    """A summary with its runs; scores are fractions of 1, but for errors."""
    low, high = summary.band or (None, None)
    return {
        "n": len(summary.scores),
        "mean": summary.mean,
        "sd": summary.sd,
        "low": low,
        "high": high,
        "minutes": summary.minutes,
        "parameters": summary.parameters,
        "trained_parameters": summary.trained,
        "runs": [
            {
                "seed": cell.seed,
                **({"fold": cell.fold} if cell.fold else {}),
                "status": cell.status,
                "run": cell.run.name if cell.run else "",
                "score": experiment.score_of(cell),
                "scores": dict(cell.run.scores.get(experiment.split, {})) if cell.run else {},
                "seconds": cell.run.seconds if cell.run else None,
                "reused": cell.reused,
                "message": cell.message,
            }
            for cell in summary.cells
        ],
    }


# ---------------------------------------------------------------- what was started last


def keep(project: Project, file: str, layer: str, record: Mapping[str, Any]) -> None:
    """Store the description of a started experiment in a file beside the runs, as the last one on
    its layer. Finished runs are found by their settings: with the description, an experiment can be
    continued after a restart.
    """
    path = project.runs_folder / file
    records = {name: raw for name, raw in _read(path).items() if name != layer}
    draft = path.with_name(f".{path.name}.part")
    with suppress(OSError):  # the experiment runs all the same
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json_text({**records, layer: record}, indent=1)
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, path)


def kept(project: Project, file: str) -> dict[str, Any]:
    """Every description that was kept, the last one last; {} without any."""
    return _read(project.runs_folder / file)


def last(project: Project, file: str, layer: str = "") -> tuple[str, Any]:
    """(layer, description) of the last experiment on a layer, on any by default; None if there is
    none.
    """
    records = kept(project, file)
    name = layer or next(reversed(records), "")
    return name, records.get(name)


def _read(path: Path) -> dict[str, Any]:
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return records if isinstance(records, dict) else {}
