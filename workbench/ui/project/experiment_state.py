"""State of a page that runs experiments: how far the cells are, and their scores. No Qt."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.jobs.events import Finished
from workbench.operations.experiments.experiment import DONE, FAILED, RUNNING, WAITING, ended
from workbench.operations.runs import clusters, train
from workbench.training.general import MOST_AT_ONCE
from workbench.ui.project.job_progress import JobProgress
from workbench.ui.project.opened import opened
from workbench.ui.style import formats
from workbench.ui.style.run_text import is_error, score_text, score_title

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.jobs.events import Event
    from workbench.jobs.queue import Job
    from workbench.operations.experiments.experiment import Cell, End, Experiment, Row, Step
    from workbench.operations.runs.clusters import Consent
    from workbench.storage.runs.runs import Run
    from workbench.training.spec import TrainSpec
    from workbench.ui.panel import PanelContext

TASK = "experiment"  # prepares the next run
# status of the experiment → status and ending that are shown
STATUS = {"running": ("running", ""), "pausing": ("running", "pause"), "paused": ("paused", "")}


class ExperimentState(State):
    """`work` is the experiment with the present choices, None if they do not fit, with the reason
    in `error`.
    """

    work: Experiment | None
    most_at_once = MOST_AT_ONCE

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.work, self.error = None, ""
        self.others: tuple[str, ...] = ()  # ids of the experiments beside it
        self.run_on, self.at_once = "", 0  # the address of a cluster, as typed; runs at a time

    def choose_cluster(self, address: str, at_once: int = 0) -> None:
        self.run_on, self.at_once = address.strip(), at_once

    def needed_consent(self) -> Consent | None:
        """What the user is asked before the start."""
        return clusters.needed_consent(self.project, self.run_on)

    def refresh(self) -> None:
        """Read again what the choices depend on, such as layers and models."""

    def take(self, spec: TrainSpec) -> None:
        """Begin with the settings of a run, where the experiment is about one."""

    def plan(self, make: Callable[[], Experiment]) -> None:
        """Replace the experiment; what `make` raises is the reason that there is none."""
        self.work, self.error = None, ""
        try:
            self.work = make()
            self.work.changed.connect(lambda: self.changed.emit(frozenset({"work"})))
        except WorkbenchError as error:
            self.error = str(error)
        self.changed.emit(frozenset({"work", "error"}))

    @property
    def active(self) -> bool:
        return self.work is not None and self.work.active

    @property
    def cells(self) -> tuple[Cell, ...]:
        return self.work.cells if self.work else ()

    @property
    def rows(self) -> tuple[Row, ...]:
        return self.work.rows if self.work else ()

    @property
    def can_start(self) -> bool:
        is_open = any(cell.status in (WAITING, FAILED) for cell in self.cells)
        return is_open and not self.active and not self.project.read_only

    # ---------------------------------------------------------------- running

    def start(self) -> None:
        if self.work is not None and self.can_start:
            self.work.run_on, self.work.at_once = self.run_on, self.at_once
            self._go_on(self.work, self.work.steps(self.context.queue), None)

    def _go_on(self, work: Experiment, steps: Generator[Step, Any, None], answer: object) -> None:
        """Send the answer to the last step, and take the next one."""
        try:
            step = steps.send(answer)
        except StopIteration:
            return
        go_on = partial(self._go_on, work, steps)
        if not callable(step):
            self._follow(work, step, go_on)
            return

        def failed(error: Exception) -> None:
            go_on(error)
            if not isinstance(error, WorkbenchError):  # those are shown in the experiment
                self.context.fail(error)

        self.context.task(TASK, step, go_on, failed=failed)

    def _follow(
        self, work: Experiment, running: Sequence[Run], go_on: Callable[[End], None]
    ) -> None:
        """Go on with the first of the runs that ends."""
        drops: list[Callable[[], None]] = []

        def on_event(run: Run, job: Job, event: Event) -> None:
            if not isinstance(event, Finished):
                work.follow(self.context.queue, job)
                return
            for drop in drops:
                drop()
            go_on((run, event))

        if (end := ended(self.project, self.context.queue, running)) is not None:
            go_on(end)  # while another run was prepared
            return
        drops += [self.context.follow(run, partial(on_event, run)) for run in running]

    def pause(self) -> None:
        if self.work is not None:
            self.work.pause()

    def cancel(self) -> None:
        if self.work is not None:
            self.work.cancel(self.context.queue)

    @property
    def live(self) -> JobProgress:
        """The runs of the experiment as one job."""
        work = self.work
        planned = [cell for cell in self.cells if cell.spec is not None]
        done, n = sum(cell.status == DONE for cell in planned), work.total if work else 0
        title = ngettext("{done} of {n} run done", "{done} of {n} runs done", n, done=done)
        status, ending = STATUS.get(work.status if work else "", ("", ""))
        left = work.seconds_left if work and done < n else None
        live = JobProgress(0, "", title if n else "", status=status, ending=ending)
        live.step, live.total, live.seconds_left = done, n, left or 0.0
        error = self.error or (work.error if work else "")
        live.message = "\n".join(filter(None, (error, *self._failures()[:3])))
        return live

    def _failures(self) -> list[str]:
        """Why runs have failed; a reason that several share is said once."""
        reasons: dict[str, list[Cell]] = {}
        for cell in self.cells:
            if cell.status == FAILED and cell.message:  # none is known of a deleted run
                reasons.setdefault(cell.message, []).append(cell)
        return [
            ngettext(
                "{rung}, seed {seed}: {message}",
                "{n} runs failed: {message}",
                len(cells),
                rung=cells[0].title,
                seed=cells[0].seed,
                message=message,
            )
            for message, cells in reasons.items()
        ]

    def is_live(self, job: Job) -> bool:
        """Whether a job computes a run of the experiment."""
        runs = [cell.run for cell in (self.work.running if self.work else ()) if cell.run]
        return any(job is train.job_of(self.context.queue, self.project, run.id) for run in runs)

    # ---------------------------------------------------------------- scores

    @property
    def score_name(self) -> str:
        return self.work.score if self.work else ""

    @property
    def score_title(self) -> str:
        """Name of the score, and of the split."""
        title = _("{score} on dev", score=score_title(self.score_name))
        if not is_error(self.score_name):
            return title
        return _("{score}, lower is better", score=title)

    def score_text(self, value: float | None, *, signed: bool = False) -> str:
        """A score in percent, an error in its own unit; signed: a gain."""
        return score_text(self.score_name, value, signed=signed)

    def position(self, cell: Cell) -> int:
        """Of a cell among those that wait, from 1; 0 before the start, when nothing is queued."""
        waiting = [item for item in self.cells if self.active and item.status == WAITING]
        return next((place for place, item in enumerate(waiting, 1) if item is cell), 0)

    def cell_text(self, cell: Cell) -> str:
        """The score of a cell, or how far it is."""
        if cell.status == RUNNING:
            return _("{n}%", n=formats.points(cell.fraction or 0, 0))
        if cell.status == WAITING:
            place = self.position(cell)
            return _("no. {n}", n=place) if place else "–"
        if cell.status == FAILED:
            return _("failed")
        return self.score_text(self.work.score_of(cell) if self.work else None)

    def cell_hint(self, cell: Cell) -> str:
        if cell.status == WAITING and not cell.message:
            return _("Queued") if self.position(cell) else _("Not run yet")
        if cell.message or cell.run is None:
            return cell.message
        return _("{run}: Enter shows its results", run=cell.run.name)

    def open_run(self, cell: Cell | None) -> None:
        """Show the run of a cell on the Results page."""
        if cell is not None and cell.run is not None:
            self.context.go("results", run=cell.run.id)

    def save(self, path: Path, report: object) -> None:
        """Write results as JSON; errors are shown at the top of the window."""
        try:
            text = json.dumps(report, ensure_ascii=False, indent=1)
            path.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            message = _("{file} cannot be written: {error}.")
            reason = error.strerror or error
            self.context.fail(WorkbenchError(message.format(file=path, error=reason)))


def seeds_of(text: str) -> tuple[int, ...]:
    """Seeds that are typed with commas between them. Raises WorkbenchError if there are none."""
    try:
        seeds = tuple(dict.fromkeys(int(part) for part in text.split(",") if part.strip()))
    except ValueError:
        seeds = ()
    if not seeds:
        raise WorkbenchError(_("Seeds are whole numbers separated by commas, such as 1, 2, 3."))
    return seeds
