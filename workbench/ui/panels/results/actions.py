"""Actions on the chosen runs: predictions, training again, baselines, ensembles, deleting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.base.watch import Watch
from workbench.jobs.events import Finished
from workbench.operations.annotation import suggest as suggestions
from workbench.operations.evaluation import end_to_end
from workbench.operations.experiments import repeat
from workbench.operations.prompts import prompt
from workbench.operations.runs import (
    baselines,
    ensemble,
    rerun,
    results,
    resume,
    run_list,
    run_recorder,
    train,
)
from workbench.operations.runs.baselines import BaselineChoice
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.rerun import ScoreDifference, differences
from workbench.ui.panels.results.runs.details import again_text
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.jobs.events import Event
    from workbench.jobs.queue import Job
    from workbench.metrics.evaluation import Evaluation
    from workbench.operations.annotation.suggest import Suggested
    from workbench.operations.runs.run_list import Earlier
    from workbench.storage.runs.runs import Run
    from workbench.ui.panels.results.selection import RunSelection


AGAIN = "again"  # key of the task


class RunActions:
    """show_run: shows a run in detail, whatever the page shows."""

    def __init__(self, selection: RunSelection, show_run: Callable[[int], None]) -> None:
        self.selection, self.project = selection, selection.project
        self.context, self._show_run = selection.context, show_run

    # ---------------------------------------------------------------- predictions

    def suggest(self, ids: tuple[int, ...] | None = None) -> None:
        """Suggest labels for unlabelled documents (all, or the given ones) in the background."""
        selection, context = self.selection, self.context
        if not selection.can_answer or selection.busy:
            return
        run = selection.shown_run
        selection.update(busy=_("Predicting…"))

        def suggested(outcome: Suggested) -> None:
            selection.update(busy="")
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

        work = partial(
            suggestions.suggest, self.project, context.queue, run,
            ids=ids, spans=selection.spans_run,
        )  # fmt: skip
        context.task("suggest", work, suggested, failed=self._not_done)

    def score_whole(self) -> None:
        """Score the selected run on dev between the spans that the chosen run predicts."""
        selection = self.selection
        run, spans = selection.shown_run, selection.spans_run
        if spans is None or not selection.can_score_whole:
            return
        selection.update(busy=_("Scoring end to end…"))

        def scored(evaluation: Evaluation) -> None:
            known = {**selection.end_to_end, (run.id, spans.id): evaluation}
            selection.update(busy="", end_to_end=known)

        work = partial(end_to_end.evaluate, self.project, self.context.queue, run, spans, "dev")
        self.context.task("end-to-end", work, scored, failed=self._not_done)

    def import_predictions(self, path: Path) -> None:
        """Add a file of predictions made elsewhere as a run, and show it."""
        from workbench.operations.runs.kinds.imported import kind as imported

        selection, context, project = self.selection, self.context, self.project
        if project.read_only or selection.busy:
            return
        selection.update(busy=_("Importing predictions…"))

        def work(watch: Watch) -> tuple[Run, imported.Matched]:
            matched = imported.match(project, path, watch=watch)
            return imported.add(project, context.queue, matched), matched

        def added(result: tuple[Run, imported.Matched]) -> None:
            run, matched = result
            selection.update(busy="")
            selection.refresh()
            self._show_run(run.id)
            context.note(" ".join((matched.summary, *matched.problems)))

        context.task(
            "import-predictions", work, added,
            failed=self._not_done, title=_("Import predictions"), writes=True,
        )  # fmt: skip

    def show_test(self) -> None:
        """Score the selected run on test; each view is counted."""
        selection = self.selection
        if not selection.can_show_test:
            return
        run = selection.shown_run
        selection.update(busy=_("Scoring on test…"))

        def scored(evaluation: Evaluation) -> None:
            selection.update(busy="", tests={**selection.tests, run.id: evaluation})
            if selection.run is None or selection.run.id != run.id:
                return
            selection.show_by_label("test", "today")
            details = selection.details
            if details is not None and details.test_set != evaluation.fingerprint:
                selection.reload()  # documents or labels have changed while it was scored
            else:
                selection.measure("test")

        work = partial(results.evaluate, self.project, self.context.queue, run, "test")
        self.context.task("test-score", work, scored, failed=self._not_done)

    # ---------------------------------------------------------------- further runs

    def add_baselines(self, chosen: Sequence[BaselineChoice]) -> None:
        """Train baselines on the current labels, each as a run; the page shows them when they
        end.
        """
        project, context = self.project, self.context
        if project.read_only:
            return

        def begin(prepared: baselines.PreparedBaseline) -> None:
            run = context.attempt(kinds.start, project, context.queue, prepared)
            if run is not None:
                self.selection.refresh()
                context.note(_("{name} was started.", name=run.name))

        for offer in chosen:
            work = partial(baselines.prepare, project, offer.baseline, offer.task, offer.layer)
            context.task(("baseline", offer), work, begin)

    def follow_baseline(self) -> None:
        """Add the better baseline as a run, or compare the selected run with it."""
        if (below := self.selection.advice.below) is None:
            return
        if below.run is not None:
            self.selection.choose((self.selection.shown_run.id, below.run.id))
        else:
            self.add_baselines((below.offer,))

    def train_again(self, *, longer: bool = False) -> None:
        """Train with the same settings on the current labels; longer: with twice the epochs."""
        context = self.context
        if not self.selection.can_train_again or context.waiting(AGAIN):
            return  # a second click, before the run is listed
        old = self.selection.shown_run

        def begin(prepared: Any) -> None:
            run = context.attempt(rerun.start, self.project, context.queue, prepared, old)
            if run is not None:
                message = _("{name} was started with the settings of {old}.")
                if longer:
                    message = _(
                        "{name} was started with the settings of {old} and twice the epochs."
                    )
                context.note(message.format(name=run.name, old=old.name))
                self._tell_difference(run.id)
                if page := kinds.info(old.kind).page:
                    context.go(page)
                else:
                    self.selection.refresh()

        context.task(AGAIN, partial(rerun.prepare, self.project, old, longer=longer), begin)

    def train_longer(self) -> None:
        """Train with the same settings and twice the epochs on the current labels."""
        self.train_again(longer=True)

    @property
    def can_repeat(self) -> bool:
        run = self.selection.run
        return run is not None and not self.project.read_only and repeat.can_repeat(run)

    def repeat(self) -> None:
        """Show the experiment that trains the settings of the selected run with other seeds, or on
        folds.
        """
        if self.can_repeat:
            system = self.context.attempt(repeat.system_of, self.selection.shown_run)
            if system is not None:
                self.context.go("train", experiment="repeat", spec=system.spec)

    def _tell_difference(self, run_id: int) -> None:
        """When a run that repeats another ends, say what has changed."""
        project, context = self.project, self.context
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

    # ---------------------------------------------------------------- the chosen runs

    @property
    def no_average(self) -> str:
        """Why the chosen runs cannot be averaged, "" if they can."""
        if self.project.read_only:
            return self.project.read_only_reason or _("The project is open read-only.")
        return self.selection.busy or ensemble.unfit(self._members)

    @property
    def _members(self) -> list[Run]:
        return sorted(self.selection.chosen_runs, key=lambda run: run.id)

    def average(self) -> None:
        """Add an ensemble of the chosen runs, and select it."""
        if self.no_average:
            return
        selection, members = self.selection, self._members
        selection.update(busy=_("Averaging the runs…"))

        def added(run: Run) -> None:
            selection.update(busy="")
            selection.refresh()
            selection.choose((run.id,))
            message = _(
                "{name} averages the class probabilities of {members}.",
                name=run.name,
                members=", ".join(member.name for member in members),
            )
            self.context.note(message)

        work = partial(ensemble.create, self.project, self.context.queue, members)
        self.context.task("average", work, added, failed=self._not_done)

    def delete(self) -> None:
        """Delete the chosen runs with their weights; cannot be undone, so the view has asked."""
        ids = self.selection.chosen

        def deleted(freed: int) -> None:
            self.selection.refresh()
            message = ngettext(
                "{n} run deleted ({size} freed).",
                "{n} runs deleted ({size} freed).",
                len(ids),
                size=formats.size(freed),
            )
            self.context.note(message)

        work = partial(results.delete, self.project, *ids)
        self.context.task("delete", work, deleted, title=_("Delete runs"), writes=True)

    def keep_checkpoint(self) -> None:
        """Turn a run whose worker died into a stopped run."""
        run_id = self.selection.shown_run.id
        self.context.attempt(run_recorder.keep_checkpoint, self.project, run_id)

    def resume(self, epochs: int | None = None) -> None:
        """Continue a training from its state, or send what a prompt run has no answers to.

        epochs: of the whole training, None for as many as were planned.
        """
        selection, context, project = self.selection, self.context, self.project
        if not selection.can_resume:
            return
        old = selection.shown_run

        def begin(prepared: prompt.ResumedPrompt | resume.ResumedTraining) -> None:
            if isinstance(prepared, resume.ResumedTraining):
                run = context.attempt(resume.start, project, context.queue, prepared)
            else:
                run = context.attempt(kinds.start, project, context.queue, prepared)
            if run is not None:
                selection.refresh()
                context.note(_("{name} was continued.", name=run.name))
                if kinds.info(run.kind).fine_tunes:
                    context.go(kinds.info(run.kind).page)

        def work() -> prompt.ResumedPrompt | resume.ResumedTraining:
            if resume.can_resume(project, old):
                return resume.prepare(project, old, epochs=epochs)
            return prompt.prepare_resume(project, old)

        context.task("resume", work, begin)

    def _not_done(self, error: Exception) -> None:
        """The running operation on the selected run has failed, or was cancelled."""
        self.selection.update(busy="")
        self.context.fail(error)

    # ---------------------------------------------------------------- other pages

    def inspect(self) -> None:
        self.context.go("inspect", run=self.selection.shown_run.id)

    def train_further(self) -> None:
        """Show the Train page with the run in place of a pretrained model."""
        self.context.go("train", source=self.selection.shown_run)

    def export(self) -> None:
        self.context.go("export", run=self.selection.shown_run.id)

    def review_errors(self) -> None:
        """Start an error review in Annotate at the first error."""
        ids = tuple(error.document_id for error in self.selection.errors)
        if ids:
            run = self.selection.shown_run.id
            self.context.go("annotate", document=ids[0], run=run, errors=ids)


class Organising:
    """Changes of the selected runs; each can be taken back from the note line."""

    def __init__(self, selection: RunSelection):
        self._selection = selection

    @property
    def chosen(self) -> tuple[Run, ...]:
        return self._selection.chosen_runs

    @property
    def can_rename(self) -> bool:
        return len(self._selection.chosen) == 1 and self._selection.can_delete

    @property
    def all_archived(self) -> bool:
        return bool(self.chosen) and all(run.listing.archived for run in self.chosen)

    def archive_title(self) -> str:
        return _("Res&tore from archive") if self.all_archived else _("Arc&hive")

    def rename(self, run: Run, name: str) -> None:
        message = _("Renamed {old} to {name}.", old=run.name, name=name.strip())
        rename = partial(run_list.rename, self._selection.project, run.id, name)
        self._change(rename, _("Rename run"), message)

    def archive(self) -> None:
        """Archive the selected runs, or restore them if all are archived."""
        restore, n = self.all_archived, len(self.chosen)
        ids = self._selection.chosen
        title = ngettext("Archive {n} run", "Archive {n} runs", n)
        message = ngettext("{n} run was archived.", "{n} runs were archived.", n)
        if restore:
            title = ngettext("Restore {n} run", "Restore {n} runs", n)
            message = ngettext(
                "{n} run was restored from the archive.",
                "{n} runs were restored from the archive.",
                n,
            )
        act = partial(run_list.archive, self._selection.project, ids, not restore)
        self._change(act, title, message)
        self._leave_hidden()

    def _leave_hidden(self) -> None:
        """Select a listed run in place of selected ones that the list does not show any more."""
        listed = [run.id for run in self._selection.listed]
        chosen = tuple(id for id in self._selection.chosen if id in listed)
        if chosen != self._selection.chosen:
            self._selection.choose(chosen or tuple(listed[:1]))

    def organise(self, group: str | None, typed: str, note: str | None) -> None:
        """Set group and note (None: unchanged) of the selected runs; typed: tags with commas.

        Tags that all selected runs have are removed if they are not in the text.
        """
        project, ids, n = self._selection.project, self._selection.chosen, len(self.chosen)
        entered = run_list.tags_in(typed)
        removed = [tag for tag in self.shared_tags() if tag not in entered]

        def change() -> Earlier:
            with project.write(_("Organise runs")):
                earlier = run_list.set_tags(project, ids, add=entered, remove=removed)
                if group is not None:
                    run_list.set_group(project, ids, group)
                if note is not None:
                    run_list.set_note(project, ids, note)
            return earlier

        message = ngettext("{n} run was changed.", "{n} runs were changed.", n)
        self._change(change, _("Organise runs"), message)

    def shared_tags(self) -> tuple[str, ...]:
        """The tags that all selected runs have."""
        chosen = self.chosen
        if not chosen:
            return ()
        first = chosen[0].listing.tags
        return tuple(tag for tag in first if all(tag in run.listing.tags for run in chosen))

    def _change(self, act: Callable[[], Earlier], title: str, message: str) -> None:
        earlier = self._act(act)
        if earlier is not None:
            restore = partial(run_list.restore, self._selection.project, earlier)
            self._selection.context.note_step(
                message, title, partial(self._act, restore), partial(self._act, act)
            )

    def _act(self, act: Callable[[], Any]) -> Any:
        result = self._selection.context.attempt(act)
        self._selection.refresh()
        return result
