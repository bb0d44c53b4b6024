"""An experiment: named cells, each a run of any kind, computed one after another.

Finished runs with the same settings on the same data are used again, so that an experiment that
was interrupted continues where it ended. Cells that differ in their seed only are summarised.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Protocol

from workbench.base.errors import WorkbenchError
from workbench.base.events import Signal
from workbench.base.i18n import _
from workbench.base.records import json_text
from workbench.jobs.events import Finished
from workbench.jobs.spec import ENDINGS
from workbench.metrics.gain import Gain, gain
from workbench.operations.runs import run_results, train
from workbench.operations.runs.kinds import contract as kinds
from workbench.storage.runs import runs
from workbench.storage.runs.runs import Run
from workbench.tasks import spec as tasks
from workbench.text.columns import Column, ValueKind
from workbench.training.results import TrainResult

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.jobs.queue import Queue
    from workbench.project.project import Project

EVERY = 0.2  # seconds between two looks at the progress of a run
MISSING, WAITING, RUNNING, DONE, FAILED = "missing", "waiting", "running", "done", "failed"
Step = Callable[[], Any] | Run  # what a caller of `Experiment.steps` waits for


@dataclass
class Cell:
    """One run of an experiment, computed or to be computed.

    Cells of one group and series differ in their seed only. A group is a row of the results, a
    series a column. title: of the group. name: of the run that is started. kind: of the run, spec:
    its settings, None if it cannot be computed; `message` says why. status: missing, waiting,
    running, done or failed. reused: the run is an earlier one.
    """

    group: str
    title: str
    series: str
    seed: int
    kind: str
    spec: Any
    name: str = ""
    status: str = WAITING
    message: str = ""
    run: Run | None = None
    reused: bool = False
    fraction: float | None = None


class Experiment:
    """The cells and how far they are; `changed()` is emitted at each step.

    task: of all cells, its main score on `split` is compared. status: ready, running, pausing
    (after the current run), paused or done. error: why it could not start, or was paused.
    """

    def __init__(
        self, project: Project, cells: Sequence[Cell], *, task: str, split: str = "dev"
    ) -> None:
        self.project, self.cells, self.task, self.split = project, tuple(cells), task, split
        self.changed = Signal("experiment")
        self.status, self.error = "ready", ""
        self._data: dict[str, str] = {}  # kind → fingerprint of the data of its runs
        self._reuse()

    @property
    def active(self) -> bool:
        return self.status in ("running", "pausing")

    @property
    def current(self) -> Cell | None:
        """The cell whose run is computed."""
        return next((cell for cell in self.cells if cell.status == RUNNING), None)

    def check(self) -> None:
        """Called in a thread at each start; raises WorkbenchError if no cell can be computed."""

    def steps(self, queue: Queue) -> Generator[Step, Any, None]:
        """Compute what is not finished, also after a pause, for a caller that waits in its own way:
        it calls a function in a thread, and sends what that returns or the exception that it
        raises; it follows a run, and sends its end. `run` does this for callers that may block.
        """
        self._start()
        problem = yield self.check
        if isinstance(problem, Exception):
            self._end("paused", str(problem))
        while (cell := self._next()) is not None:
            prepared = yield partial(self._prepare, cell, queue)
            if isinstance(prepared, Exception):
                self._data.setdefault(cell.kind, "")
                cell.status, cell.message = FAILED, str(prepared)
            elif (run := self._begin(queue, cell, prepared)) is not None:
                has_job = run.status not in ENDINGS
                self._ended(cell, (yield run) if has_job else Finished(run.status))

    def pause(self) -> None:
        """End after the current run."""
        if self.active:
            self.status = "pausing"
            self.changed.emit()

    def cancel(self, queue: Queue) -> None:
        """Cancel the current run and start no other; finished runs stay."""
        self.pause()
        if self.current is not None and self.current.run is not None:
            train.cancel(self.project, queue, self.current.run.id)

    def follow(self, progress: Mapping[str, Any]) -> None:
        """Take the progress of the job that computes the current run (`Job.progress`): of a
        training, or of a run that says how many documents are done.
        """
        done, total = progress.get("step", progress.get("done")), progress.get("total")
        if self.current is not None and done is not None and total:
            self.current.fraction = min(1.0, done / total)
        self.changed.emit()

    def _start(self) -> None:
        self.status, self.error, self._data = "running", "", {}
        for cell in self.cells:
            if cell.status == FAILED:
                cell.status, cell.message, cell.run = WAITING, "", None
        self.changed.emit()

    def _next(self) -> Cell | None:
        """The cell to prepare; None if the experiment has ended or is paused. Of each kind, the
        first is prepared in any case: what is finished counts only if the data are still the same.
        """
        if not self.active:
            return None
        cell = next(
            (
                cell
                for cell in self.cells
                if cell.spec is not None and (cell.status == WAITING or cell.kind not in self._data)
            ),
            None,
        )
        if cell is None or self.status == "pausing":
            self._end("done" if cell is None else "paused")
            return None
        self.changed.emit()
        return cell

    def _prepare(self, cell: Cell, queue: Queue) -> kinds.PreparedOnData:
        name = runs.free_name(self.project.db, cell.name or cell.kind)
        spec = replace(cell.spec, name=name)
        return kinds.named(cell.kind).prepare(self.project, spec, queue=queue)

    def _begin(self, queue: Queue, cell: Cell, prepared: kinds.PreparedOnData) -> Run | None:
        """Start the run of a cell; None if there is nothing to wait for."""
        if not self._is_on_same_data(cell.kind, prepared.fingerprint) or cell.status == DONE:
            return None  # a finished one was only needed to read the data
        if self.status == "pausing":
            return None
        try:
            cell.run = kinds.start(self.project, queue, prepared)
        except WorkbenchError as error:
            cell.status, cell.message = FAILED, str(error)
            return None
        cell.status, cell.fraction = RUNNING, None
        self.changed.emit()
        return cell.run

    def _is_on_same_data(self, kind: str, fingerprint: str) -> bool:
        """Whether the experiment can continue; the first run fixes the data."""
        if not self._data.get(kind):
            self._data[kind] = fingerprint
            for cell in self.cells:
                if cell.kind == kind and cell.run and _fingerprint(cell.run) != fingerprint:
                    cell.status, cell.run, cell.reused = WAITING, None, False
            self._reuse(self._data)
        if fingerprint == self._data[kind]:
            return True
        message = _("Documents or labels were changed. Start again to repeat every run on them.")
        self._end("paused", message)
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
        is_done = cell.run is not None and cell.run.status == DONE
        cell.status = DONE if is_done else FAILED
        cell.message = "" if is_done else _why(cell.run, event)

    # ---------------------------------------------------------------- earlier runs

    def _reuse(self, data: Mapping[str, str] | None = None) -> None:
        """Give cells the finished runs with their settings on the data of each kind, by default on
        those of the latest run; of equal runs the latest.
        """
        known = {cell.kind: kinds.named(cell.kind) for cell in self.cells if cell.spec is not None}
        cells: dict[tuple[str, str], list[Cell]] = {}
        for cell in self.cells:
            if cell.spec is not None:
                key = cell.kind, known[cell.kind].identity(cell.spec)
                cells.setdefault(key, []).append(cell)
        pairs: list[tuple[Cell, Run]] = []
        for run in runs.all(self.project.db):  # oldest first
            if run.kind in known and run.status == DONE and self.split in run.scores:
                with suppress(WorkbenchError, KeyError):  # settings of another version
                    key = run.kind, known[run.kind].identity(known[run.kind].settings(run))
                    pairs += [(cell, run) for cell in cells.get(key, ())]
        data = data or {run.kind: _fingerprint(run) for _cell, run in pairs}
        for cell, run in pairs:
            is_open = cell.run is None or cell.reused
            if is_open and _fingerprint(run) == data.get(run.kind):
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
        scores = {cell.seed: score for cell in cells if (score := self.score_of(cell)) is not None}
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
                took.setdefault(cell.group, []).append(cell.run.seconds)
        if not took:
            return None
        usual = fmean(seconds for times in took.values() for seconds in times)
        return sum(
            fmean(took.get(cell.group, [usual])) * (1 - (cell.fraction or 0))
            for cell in self.cells
            if cell.status in (WAITING, RUNNING)
        )


def run(experiment: Experiment, queue: Queue) -> None:
    """Compute the cells, without an event loop. What fails is in `error` and the cells."""
    steps, answer = experiment.steps(queue), None
    with suppress(StopIteration):
        while True:
            step = steps.send(answer)
            try:
                answer = step() if callable(step) else _end_of(experiment, queue, step)
            except WorkbenchError as error:
                answer = error


def _end_of(experiment: Experiment, queue: Queue, run: Run) -> Finished:
    job = train.job_of(queue, experiment.project, run.id)
    if job is None:
        return Finished(run.status)
    while not queue.wait(job, EVERY):
        experiment.follow(job.progress)
    return Finished(job.status, job.result, job.message, job.hint)


def _fingerprint(run: Run) -> str:
    """Of the data that a run was computed on; a prompt run has no snapshot of them."""
    return run.data_fingerprint or str(run.spec.get("fingerprint", ""))


def _why(run: Run | None, event: Finished) -> str:
    if run is not None and run.status == "stopped":
        return _("It was stopped early.")
    failure = run.failure if run is not None else None
    message, hint = (failure.message, failure.hint) if failure else (event.message, event.hint)
    return " ".join(filter(None, (message, hint)))


# ---------------------------------------------------------------- results


@dataclass(frozen=True)
class Summary:
    """The finished runs of a group in one series, over seeds.

    scores: seed → score. minutes: mean duration of a run. parameters, trained: of the network; None
    if the runs do not say.
    """

    cells: Sequence[Cell] = field(repr=False)
    scores: Mapping[int, float]
    minutes: float | None = None
    parameters: int | None = None
    trained: int | None = None

    @property
    def mean(self) -> float | None:
        return fmean(self.scores.values()) if self.scores else None

    @property
    def sd(self) -> float | None:
        """Standard deviation over seeds (n - 1); None for fewer than two runs."""
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
        Column(
            _("Minutes"),
            lambda row: row.first.minutes,
            kind=ValueKind.NUMBER,
            digits=1,
            hint=_("Minutes per run"),
        ),
    )


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


def last(project: Project, file: str, layer: str = "") -> tuple[str, Any]:
    """(layer, description) of the last experiment on a layer, on any by default; None if there is
    none.
    """
    records = _read(project.runs_folder / file)
    name = layer or next(reversed(records), "")
    return name, records.get(name)


def _read(path: Path) -> dict[str, Any]:
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return records if isinstance(records, dict) else {}
