"""Actions on the selected run that start jobs: suggestions, and training again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.base.watch import Watch
from workbench.jobs.events import Finished
from workbench.operations.annotation import suggest as suggestions
from workbench.operations.runs import baselines, rerun, results, train
from workbench.operations.runs.baselines import BaselineChoice
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.rerun import ScoreDifference, differences
from workbench.ui.panels.results.runs.details import again_text

if TYPE_CHECKING:
    from workbench.jobs.events import Event
    from workbench.jobs.queue import Job
    from workbench.metrics.evaluation import Evaluation
    from workbench.operations.annotation.suggest import Suggested
    from workbench.storage.runs.runs import Run
    from workbench.ui.panels.results.state import ResultsState

AGAIN = "again"  # key of the task


def suggest(state: ResultsState, ids: tuple[int, ...] | None) -> None:
    """Suggest labels for unlabelled documents (all, or the given ones) in the background."""
    run, context = state.shown_run, state.context
    state.update(busy=_("Predicting…"))

    def suggested(outcome: Suggested) -> None:
        state.update(busy="")
        if not outcome.documents:
            message = _(
                "There is nothing left to label: all documents of this layer have been started."
            )
            context.note(message)
        elif not outcome.suggestions:
            context.note(suggestions.describe(outcome))
        else:
            look = partial(context.go, "annotate", run=run.id, suggestions=True)
            context.note(suggestions.describe(outcome), look, action=_("Show suggestions"))

    work = partial(suggestions.suggest, state.project, context.queue, run, ids=ids)
    context.task("suggest", work, suggested, failed=state.not_done)


def import_predictions(state: ResultsState, path: Path) -> None:
    """Add a file of predictions made elsewhere as a run, and select it."""
    from workbench.operations.runs.kinds.imported import kind as imported

    context, project = state.context, state.project
    state.update(busy=_("Importing predictions…"))

    def work(watch: Watch) -> tuple[Run, imported.Matched]:
        matched = imported.match(project, path, watch=watch)
        return imported.add(project, context.queue, matched), matched

    def added(result: tuple[Run, imported.Matched]) -> None:
        run, matched = result
        state.update(busy="")
        state.refresh()
        state.show_run(run.id)
        context.note(" ".join((matched.summary, *matched.problems)))

    title = _("Import predictions")
    context.task("import-predictions", work, added, failed=state.not_done, title=title, writes=True)


def show_test(state: ResultsState) -> None:
    """Score the selected run on test; each view is counted."""
    run = state.shown_run
    state.update(busy=_("Scoring on test…"))

    def scored(evaluation: Evaluation) -> None:
        state.update(busy="", tests={**state.tests, run.id: evaluation})
        if state.run is None or state.run.id != run.id:
            return
        state.show_by_label("test", "today")
        if state.details is not None and state.details.test_set != evaluation.fingerprint:
            state.reload()  # documents or labels have changed while it was scored
        else:
            state.measure("test")

    work = partial(results.evaluate, state.project, state.context.queue, run, "test")
    state.context.task("test-score", work, scored, failed=state.not_done)


def add_baselines(state: ResultsState, chosen: Sequence[BaselineChoice]) -> None:
    """Train baselines on the current labels, each as a run; the page shows them when they end."""
    project, context = state.project, state.context

    def begin(prepared: baselines.PreparedBaseline) -> None:
        run = context.attempt(kinds.start, project, context.queue, prepared)
        if run is not None:
            state.refresh()
            context.note(_("{name} was started.", name=run.name))

    for offer in chosen:
        work = partial(baselines.prepare, project, offer.baseline, offer.task, offer.layer)
        context.task(("baseline", offer), work, begin)


def train_again(state: ResultsState, *, longer: bool = False) -> None:
    """Train with the same settings on the current labels; longer: with twice the epochs."""
    old, context = state.shown_run, state.context
    if context.waiting(AGAIN):  # a second click, before the run is listed
        return

    def begin(prepared: Any) -> None:
        started = context.attempt(rerun.start, state.project, context.queue, prepared, old)
        if started is not None:
            message = _("{name} was started with the settings of {old}.")
            if longer:
                message = _("{name} was started with the settings of {old} and twice the epochs.")
            context.note(message.format(name=started.name, old=old.name))
            _tell_difference(state, started.id)
            if page := kinds.info(old.kind).page:
                context.go(page)
            else:
                state.refresh()

    context.task(AGAIN, partial(rerun.prepare, state.project, old, longer=longer), begin)


def _tell_difference(state: ResultsState, run_id: int) -> None:
    """When a run that repeats another ends, say what has changed."""
    project, context = state.project, state.context
    job = train.job_of(context.queue, project, run_id)
    if job is None:
        return

    def on_event(_job: Job, event: Event) -> None:
        if isinstance(event, Finished):
            drop()
            if event.status in ("done", "stopped"):
                work = lambda: differences(project, results.run(project, run_id))  # noqa: E731
                context.task((AGAIN, run_id), work, tell, failed=gone)

    def tell(changes: tuple[ScoreDifference, ...]) -> None:
        if changes:
            show = partial(context.go, "results", run=run_id)
            context.note(again_text(changes), show, action=_("Show results"))

    def gone(_error: Exception) -> None:
        """The run was deleted meanwhile."""

    drop = context.follow(job, on_event)
