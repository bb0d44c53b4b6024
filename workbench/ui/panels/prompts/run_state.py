"""The run of the prompt over dev: its progress, its scores, and the suggestions it makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Protocol

from workbench.base.events import State
from workbench.base.i18n import _
from workbench.jobs.events import Finished
from workbench.operations.annotation import suggest
from workbench.operations.evaluation import quality
from workbench.operations.prompts import prompt
from workbench.operations.runs import results, run_results, train
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.kinds.prompt.info import INFO
from workbench.tasks import spec as tasks
from workbench.ui.project.job_progress import JobProgress, follow

if TYPE_CHECKING:
    from workbench.jobs.events import Event
    from workbench.jobs.queue import Job
    from workbench.metrics.evaluation import Evaluation
    from workbench.operations.annotation.suggest import Suggested
    from workbench.operations.prompts.prompt import PreparedPrompt, ResumedPrompt
    from workbench.operations.prompts.prompt_fill import Fillers
    from workbench.storage.runs.runs import Run
    from workbench.ui.panels.prompts.draft import PromptDraft

FIGURES = 3  # scores of a run above its table
RENDER, INTERVALS = "render", "intervals"  # tasks


class Renders(Protocol):
    """What a run needs of the preview: whether the prompt can be rendered, and the renderer."""

    fillers: Fillers

    @property
    def ready(self) -> bool: ...


class RunState(State):
    """preparing, prepared: while prompts are rendered, and the share of them. live: the run while
    it is followed. evaluation, figures, prior: of the run after its end: its scores, the names of
    those above the table, and the prior of each label; spread: of the main score over orders of the
    examples, in words. can_resume: it ended before all prompts were answered.
    """

    def __init__(self, draft: PromptDraft, renders: Renders, keep: Callable[[], None]) -> None:
        """keep: saves the prompt in the project, before it is run."""
        super().__init__()
        self.draft, self.context, self.project = draft, draft.context, draft.project
        self.queue = draft.context.queue
        self.preparing, self.prepared, self.can_resume = False, 0.0, False
        self.live: JobProgress | None = None
        self.evaluation: Evaluation | None = None
        self.figures: tuple[str, ...] = ()
        self.prior: Mapping[str, float] = {}
        self.spread = ""
        self._renders, self._keep = renders, keep
        self._unfollow: Callable[[], None] = lambda: None

    @property
    def ready(self) -> bool:
        return self._renders.ready and not self.preparing and not self.running

    @property
    def running(self) -> bool:
        return bool(self.live and self.live.active)

    @property
    def suggests(self) -> bool:
        """Whether the last run can make suggestions."""
        ended = bool(self.live and self.live.status in ("done", "stopped"))
        return ended and not self.project.read_only

    def run_on_dev(self) -> None:
        """Render the prompts of dev and start the run; an edited template is saved."""
        if not self.ready:
            return
        self._keep()
        spec, project, fillers = self.draft.spec, self.project, self._renders.fillers
        self.update(preparing=True, prepared=0.0)

        def failed(error: Exception) -> None:
            self.update(preparing=False)
            self.context.fail(error)
            self.context.commands_changed()

        self.context.task(
            RENDER,
            partial(prompt.prepare, project, spec, fillers=fillers),
            self._start,
            failed=failed,
            progress=lambda watch: self.update(prepared=watch.share),
        )

    def _start(self, prepared: PreparedPrompt | ResumedPrompt) -> None:
        self.update(preparing=False)
        run = self.context.attempt(kinds.start, self.project, self.queue, prepared)
        if run is not None:
            self.context.drop(INTERVALS)
            live = JobProgress(run.id, run.name, run.name)
            self.update(live=live, evaluation=None, can_resume=False)
            self._unfollow()
            self._unfollow = self.context.follow(run, self._on_event)
            self.context.commands_changed()

    def show_unfinished(self) -> None:
        """Show the newest prompt run if it ended early, as before a restart, so it can go on."""
        newest = next((run for run in results.all_runs(self.project) if run.kind == INFO.id), None)
        if newest is None or self.project.read_only:
            return
        if prompt.can_resume(self.project, newest):
            message = newest.failure.message
            live = JobProgress(
                newest.id, newest.name, newest.name, status=newest.status, message=message
            )
            self.update(live=live)
            self._ended(live)

    def resume(self) -> None:
        """Send what the run that is shown has no answers to."""
        if self.live is not None and self.can_resume:
            run = results.run(self.project, self.live.run_id)
            work = partial(prompt.prepare_resume, self.project, run)
            self.context.task(RENDER, work, self._start)

    def stop(self) -> None:
        """End the run and keep the predictions so far."""
        if self.live and (job := self._job()):
            self.live.ending = "stop"
            job.stop()
            self.changed.emit(frozenset({"live"}))

    def cancel(self) -> None:
        """End the run, or the rendering of its prompts; answers that arrived are kept."""
        if self.preparing:
            self.context.drop(RENDER)
            self.update(preparing=False)
            self.context.commands_changed()
        elif self.live and (job := self._job()):
            self.live.ending = "cancel"
            job.cancel()
            self.changed.emit(frozenset({"live"}))

    def _job(self) -> Job | None:
        """The job that scores the run that is shown."""
        live = self.live
        return train.job_of(self.queue, self.project, live.run_id) if live is not None else None

    def is_live(self, job: Job) -> bool:
        """Whether a job scores the run that is shown."""
        return job is self._job()

    def _on_event(self, _job: Job, event: Event) -> None:
        if (live := self.live) is None:
            return
        follow(live, event)
        if isinstance(event, Finished):
            self._ended(live)
        self.changed.emit(frozenset({"live"}))

    def _ended(self, live: JobProgress) -> None:
        if live.status in ("done", "stopped"):
            try:
                run = results.run(self.project, live.run_id)
                evaluation = results.evaluate_stored(self.project, run, run.spec["split"])
            except KeyError:
                pass  # the run was stopped before the first prediction, so it no longer exists
            else:
                names = tasks.score_names(evaluation.scores, results.task_of(run))
                prior = run_results.prompted(run).prior or {}
                spread = prompt.order_spread(run)
                self.update(
                    evaluation=evaluation, figures=names[:FIGURES], prior=prior, spread=spread
                )
                self._add_intervals(run, evaluation)
        left = [run for run in results.all_runs(self.project) if run.id == live.run_id]
        self.update(can_resume=any(prompt.can_resume(self.project, run) for run in left))
        if self.can_resume and live.status == "cancelled":
            live.message = left[0].failure.message
        if not left or (live.status == "cancelled" and not self.can_resume):
            self.update(live=None)
        self.context.commands_changed()

    def _add_intervals(self, run: Run, evaluation: Evaluation) -> None:
        """A second for thousands of documents."""

        def measure() -> Evaluation:
            evidence = quality.evidence(self.project, run, evaluation.split)
            return quality.with_intervals(evaluation, evidence)

        self.context.task(INTERVALS, measure, lambda measured: self.update(evaluation=measured))

    def show_results(self) -> None:
        if self.live:
            self.context.go("results", run=self.live.run_id)

    def make_suggestions(self, run_id: int | None = None) -> None:
        """Store the predictions of a run, by default the last one, as suggestions for unlabelled
        documents.
        """
        if run_id is None and self.suggests and self.live is not None:
            run_id = self.live.run_id
        if run_id is None:
            return
        run = results.run(self.project, run_id)

        def describe(outcome: Suggested) -> None:
            look = partial(self.context.go, "annotate", run=run.id, suggestions=True)
            some = bool(outcome.suggestions)
            self.context.note(
                suggest.describe(outcome), look if some else False, action=_("Show suggestions")
            )

        work = partial(suggest.suggest, self.project, self.queue, run)
        self.context.task("suggest", work, describe)
