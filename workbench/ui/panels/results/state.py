"""State of the Results page: the runs, one of them in detail, or two side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.operations.evaluation import quality
from workbench.operations.runs import (
    baselines,
    block_states,
    rerun,
    results,
    run_folders,
    run_recorder,
)
from workbench.operations.runs.advice import Advice
from workbench.operations.runs.advice import measure as measure_baselines
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.missing import of_run as missing_task
from workbench.operations.runs.run_list import RunFilter, differ
from workbench.ui.panels.results import actions
from workbench.ui.panels.results.board.comparison_state import Comparing
from workbench.ui.panels.results.board.state import BoardState
from workbench.ui.panels.results.review.errors_state import ErrorsState
from workbench.ui.panels.results.review.label_errors_state import LabelErrorsState
from workbench.ui.panels.results.runs.averaging import Averaging
from workbench.ui.panels.results.runs.details import Details, ScoreRow, details, score_rows
from workbench.ui.panels.results.runs.facts import comparable, describe, files_below
from workbench.ui.panels.results.runs.gold_text import differs
from workbench.ui.panels.results.runs.listing import Organising
from workbench.ui.project.opened import opened
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.metrics.evaluation import ConfusionMatrix, Evaluation
    from workbench.operations.runs.baselines import BaselineChoice
    from workbench.operations.runs.results import ErrorRow
    from workbench.project.changes import Changes
    from workbench.storage.runs.runs import Run
    from workbench.ui.panel import PanelContext

FINISHED = ("done", "stopped")
DEV_TODAY = ("dev", "today")
DETAILS = "details"  # key of the task
# tables whose changes make scores outdated
GOLD = ("span", "mark", "state", "label", "layer", "document", "body")


class ResultsState(State):
    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.runs: tuple[Run, ...] = ()
        self.bytes_on_disk = 0
        self.chosen: tuple[int, ...] = ()
        self.details: Details | None = None
        self.advice = Advice()  # on the selected run
        self.problem = ""  # why the selected run cannot be shown in detail
        self.tests: dict[int, Evaluation] = {}  # test scores shown since the page was built, by run
        self.by_label = DEV_TODAY  # (split, gold): scores shown in the table by label
        # documents chosen on Data for which a run should suggest labels
        self.asked: tuple[int, ...] = ()
        self.busy = ""  # title of the running operation on the selected run
        self.averaging = Averaging(self)
        self.part = "scores"  # the shown part of the run, a key of view.PARTS
        self.browser, self.doubts = ErrorsState(self), LabelErrorsState(self)
        self.comparing, self.board = Comparing(self), BoardState(self)
        self.view = "runs"  # or "board", "labels"
        self.filter = RunFilter()  # which runs are listed
        self.listing = Organising(self)
        self._stale, self._watched = True, False
        self.listen(self.project.changed, self._project_changed)
        self.refresh()

    def close(self) -> None:
        for part in (self.browser, self.doubts):
            part.similar.close()
        self.board.close()
        super().close()

    # ---------------------------------------------------------------- the list

    def refresh(self) -> None:
        """Read the runs again; if none is selected, select the newest that is listed."""
        runs = results.all_runs(self.project)
        self._stale |= differ(self.runs, runs)  # in more than names and groups
        chosen = tuple(number for number in self.chosen if number in {run.id for run in runs})
        listed = self.filter.of(runs) or runs
        finished = [run.id for run in listed if run.status in FINISHED] or [
            run.id for run in listed
        ]
        self.update(runs=runs)
        self._add_up_sizes()
        if not chosen and finished:
            self.choose((finished[0],))
        elif chosen != self.chosen:
            self.choose(chosen)
        elif self._stale:
            self._load()

    def _add_up_sizes(self) -> None:
        work = partial(results.disk_space, self.project, *(run.id for run in self.runs))

        def added(total: int) -> None:
            self.update(bytes_on_disk=total)

        # a run was deleted meanwhile: the list is read again
        self.context.task("sizes", work, added, failed=lambda _error: None)

    def choose(self, ids: tuple[int, ...]) -> None:
        """Select one run for details, or several to compare."""
        if ids == self.chosen and not self._stale:
            return
        by_label = self.by_label if ids == self.chosen else DEV_TODAY
        self.update(chosen=ids, details=None, problem="", by_label=by_label)
        self.update(advice=Advice())
        self._load()

    def watch(self, on: bool) -> None:
        """Whether the page is visible: outdated scores are recomputed only then."""
        self._watched = on
        if on and self._stale:
            self._load()
        elif on:
            self._measure_baselines()

    def _project_changed(self, changes: Changes) -> None:
        self.browser.project_changed(changes)
        self.doubts.project_changed(changes)
        if changes.rows is None or any(changes.touches(table) for table in GOLD):
            self._stale = True
            self.board.outdated()
        if changes.touches("run") or changes.touches("prediction"):
            self._stale |= changes.touches("prediction")
            self.refresh()
            self.board.outdated()
        elif self._stale and self._watched:
            self._load()

    def _load(self) -> None:
        self._stale = False
        self.context.drop(DETAILS)
        ids = self.chosen
        if len(ids) == 1 and (run := self.run) is not None:
            if run.status in ("waiting", "running"):
                self.update(details=None, problem="")
                return
            work = partial(details, self.project, ids[0])
            self.context.task(DETAILS, work, self._loaded, failed=self._failed)
        elif ids == self.comparing.ids:
            self.comparing.load()
        else:
            self.comparing.show(ids)

    def _loaded(self, details: Details) -> None:
        self.update(problem="", details=details, advice=details.advice)
        self._measure_baselines()
        self._drop_old_test_score()
        for split in self.splits_shown:
            self.measure(split)
        self.context.commands_changed()

    def measure(self, split: str) -> None:
        """Compute the intervals of every score on a split: a second for thousands of documents."""
        run, evaluation = self.run, self.evaluation(split, "today")
        if run is None or evaluation is None:
            return

        def show(measured: Evaluation) -> None:
            if evaluation is self.evaluation(split, "today"):
                self._show_current(measured)

        work = partial(quality.measure_intervals, self.project, run, evaluation)
        # the run was deleted meanwhile
        self.context.task(("intervals", split), work, show, failed=lambda _error: None)

    def _show_current(self, evaluation: Evaluation) -> None:
        """Replace the scores of the selected run on a split by these, which have intervals."""
        details = self.details
        if details is not None and evaluation.split == "dev":
            scored = replace(details.results, current=evaluation)
            self.update(details=replace(details, results=scored))
        elif details is not None:
            self.update(tests={**self.tests, details.results.run.id: evaluation})

    def _measure_baselines(self) -> None:
        """Compare a finished training with quick baselines, once, when it is looked at."""
        run, unmeasured = self.run, self.advice.unmeasured
        if run is None or not unmeasured or not self._watched or self.project.read_only:
            return
        self.update(advice=replace(self.advice, unmeasured=()))

        def measured(advice: Advice) -> None:
            if self.run is not None and self.run.id == run.id:
                self.update(advice=advice)

        work = partial(measure_baselines, self.project, self.context.queue, run, unmeasured)
        # the run was deleted, or the disk is full, which other actions report
        self.context.task(("advice", run.id), work, measured, failed=lambda _error: None)

    def _drop_old_test_score(self) -> None:
        """Hide the test score after the test documents or their gold labels have changed."""
        run, details = self.run, self.details
        test = self.tests.get(run.id) if run is not None else None
        if run and test and details and test.fingerprint != details.test_set:
            self.update(tests={id: other for id, other in self.tests.items() if id != run.id})
            if self.by_label[0] == "test":
                self.show_by_label(*DEV_TODAY)

    def _failed(self, error: Exception) -> None:
        if not isinstance(error, WorkbenchError | KeyError):
            self.context.fail(error)
        else:
            self.update(problem=str(error))

    @property
    def listed(self) -> tuple[Run, ...]:
        """The runs that the filter lets through."""
        return self.filter.of(self.runs)

    def show_only(self, chosen: RunFilter) -> None:
        self.update(filter=chosen)
        self.board.outdated()

    def show_run(self, run_id: int) -> None:
        """Leave the board for one run."""
        self.context.remember_place()
        self.update(view="runs")
        self.choose((run_id,))

    # ---------------------------------------------------------------- selected run

    @property
    def shown_run(self) -> Run:
        """The selected run. Raises RuntimeError if none is selected."""
        if self.run is None:
            raise RuntimeError("no run is selected")
        return self.run

    @property
    def run(self) -> Run | None:
        """The single selected run, None for none or several."""
        return next((run for run in self.runs if self.chosen == (run.id,)), None)

    def run_of(self, id: int) -> Run | None:
        return next((run for run in self.runs if run.id == id), None)

    @property
    def can_answer(self) -> bool:
        """Whether the selected run can predict: with its own model, or with its prompt."""
        run = self.run
        if run is None or run.status not in FINISHED or missing_task(run):
            return False
        if not kinds.info(run.kind).predicts:
            return False
        return self.averaging.borrows_all(run) or self.weights_here

    @property
    def usable(self) -> bool:
        """Whether the selected run has a model of its own."""
        run = self.run
        return (
            run is not None
            and kinds.info(run.kind).fine_tunes
            and self.weights_here
            and self.can_answer
        )

    @property
    def weights_here(self) -> bool:
        run = self.run
        return run is not None and run_folders.has_model(self.project, run.id)

    @property
    def scored(self) -> bool:
        """Whether the selected run predicts labels; a pretraining has curves only."""
        return self.run is None or bool(self.run.spec.get("task"))

    @property
    def shown_part(self) -> str:
        """`part`, or the curves of a run that has no scores and errors."""
        return self.part if self.scored or self.part not in ("scores", "errors") else "quality"

    @property
    def has_map(self) -> bool:
        """Whether a map shows what the selected run did with the blocks of its model."""
        return self.run is not None and kinds.info(self.run.kind).own_weights

    @property
    def lost_weights(self) -> bool:
        """Whether the weights of the selected run are not in its folder."""
        run = self.run
        own = run is not None and kinds.info(run.kind).own_weights
        return own and not self.weights_here

    @property
    def can_train_again(self) -> bool:
        run = self.run
        return (
            run is not None
            and rerun.can_repeat(run)
            and not self.project.read_only
            and not missing_task(run)
        )

    @property
    def can_suggest(self) -> bool:
        return self.can_answer and not self.busy and not self.project.read_only

    @property
    def can_delete(self) -> bool:
        return bool(self.chosen) and not self.project.read_only

    @property
    def can_show_test(self) -> bool:
        run = self.run
        return (
            (self.can_answer or self.only_stored)
            and not self.project.read_only
            and not self.busy
            and run is not None
            and run.id not in self.tests
        )

    @property
    def only_stored(self) -> bool:
        """Whether the selected run has predictions of a task, and no model to predict others."""
        run = self.run
        if run is None or run.status not in FINISHED or missing_task(run):
            return False
        return self.scored and not kinds.info(run.kind).predicts

    @property
    def can_keep_checkpoint(self) -> bool:
        run = self.run
        return (
            run is not None
            and not self.project.read_only
            and run_recorder.checkpoint_found(self.project, run.id)
        )

    @property
    def errors(self) -> tuple[ErrorRow, ...]:
        return self.details.results.errors if self.details is not None else ()

    @property
    def matrix(self) -> ConfusionMatrix | None:
        """Of the stored predictions on dev against the current gold."""
        current = self.evaluation("dev", "today")
        return current.confusion if current is not None else None

    def score_rows(self) -> tuple[ScoreRow, ...]:
        """Scores of the selected run: on dev, and on test once its test score is shown."""
        if self.details is None:
            return ()
        evaluations = {
            split: (self.evaluation(split, "run"), self.evaluation(split, "today"))
            for split in self.splits_shown
        }
        return score_rows(self.details.results.run, evaluations)

    @property
    def splits_shown(self) -> tuple[str, ...]:
        """Dev, and test once the test score of the selected run is shown."""
        has_test = self.details is not None and self.details.results.run.id in self.tests
        return ("dev", "test") if has_test else ("dev",)

    def evaluation(self, split: str, gold: str) -> Evaluation | None:
        """Scores on dev or test against gold of the run ("run") or current gold ("today")."""
        if self.details is None or split not in self.splits_shown:
            return None
        scored = self.details.results
        if gold == "run":
            return results.original(self.run_of(scored.run.id) or scored.run, split)
        return scored.current if split == "dev" else self.tests[scored.run.id]

    def gold_changed(self, split: str) -> bool | None:
        """Whether the split or its gold has changed since the run; None if unknown."""
        original, current = self.evaluation(split, "run"), self.evaluation(split, "today")
        if original is None or current is None or not original.is_complete:
            return None
        return original.fingerprint != current.fingerprint

    def differs(self, split: str) -> bool:
        """Whether the scores of the run on a split are not those against the current gold."""
        return differs(self.evaluation(split, "run"), self.evaluation(split, "today"))

    def show_by_label(self, split: str, gold: str) -> None:
        """Select the scores shown in the table by label."""
        evaluation = self.evaluation(split, gold)
        if (evaluation is not None and evaluation.is_complete) or (split, gold) == DEV_TODAY:
            self.update(by_label=(split, gold))

    def settings_rows(self) -> tuple[tuple[str, str], ...]:
        """All settings and facts of the run, as text."""
        run = self.run
        return tuple(describe(run)) if run is not None else ()

    def files(self) -> tuple[tuple[str, int], ...]:
        """(path in the run's folder, bytes) of each file."""
        return files_below(self.folder) if self.run is not None else ()

    @property
    def folder(self) -> Path:
        return paths.run_folder(self.project.path, self.shown_run.id)

    def ask_map(self, show: Callable[[Any], None], fail: Callable[[Exception], None]) -> None:
        """Compute what the run did with each block of its model, off the main thread."""
        run = self.shown_run
        self.context.task("blocks", partial(block_states.of_run, run), show, failed=fail)

    def command(self) -> str:
        """The command line that repeats the run, "" if there is none."""
        try:
            return results.command(self.project, self.run) if self.run is not None else ""
        except WorkbenchError:
            return ""

    def baselines(self) -> tuple[BaselineChoice, ...]:
        """The baselines of the layer of the selected run, those of its task if there are any;
        without a run those of all layers.
        """
        offers, run = baselines.offers(self.project), self.run
        of_layer = tuple(item for item in offers if run is not None and item.layer == run.layer)
        task = run.spec.get("task") if run is not None else ""
        return tuple(item for item in of_layer if item.task == task) or of_layer or offers

    def others(self) -> tuple[Run, ...]:
        """The runs that the selected one can be compared with."""
        run = self.run
        fits = comparable(run, self.runs) if run is not None else ()
        return tuple(other for other in fits if other.status in FINISHED)

    # ---------------------------------------------------------------- actions

    def reload(self) -> None:
        """Read the selected run again: its stored predictions have changed."""
        self._stale = True
        self.refresh()

    def show_test(self) -> None:
        """Score on test; each view is counted."""
        if self.can_show_test:
            actions.show_test(self)

    def suggest(self, ids: tuple[int, ...] | None = None) -> None:
        """Suggest labels for unlabelled documents (all, or the given ones) in the background."""
        if self.can_answer and not self.busy:
            actions.suggest(self, ids)

    def import_predictions(self, path: Path) -> None:
        """Add a file of predictions made elsewhere as a run."""
        if not self.project.read_only and not self.busy:
            actions.import_predictions(self, path)

    def suggest_asked(self) -> None:
        """Suggest labels for the documents chosen on Data."""
        ids = self.asked
        self.update(asked=())
        self.suggest(ids)

    def train_again(self) -> None:
        """Train with the same settings on the current labels."""
        if self.can_train_again:
            actions.train_again(self)

    def train_longer(self) -> None:
        """Train with the same settings and twice the epochs on the current labels."""
        if self.can_train_again:
            actions.train_again(self, longer=True)

    def follow_baseline(self) -> None:
        """Add the better baseline as a run, or compare the selected run with it."""
        if (below := self.advice.below) is None:
            return
        if below.run is not None:
            self.choose((self.shown_run.id, below.run.id))
        else:
            self.add_baselines((below.offer,))

    def add_baselines(self, chosen: Sequence[BaselineChoice]) -> None:
        """Train baselines on the current labels, each as a run."""
        if not self.project.read_only:
            actions.add_baselines(self, chosen)

    def inspect(self) -> None:
        self.context.go("inspect", run=self.shown_run.id)

    def export(self) -> None:
        self.context.go("export", run=self.shown_run.id)

    def open_error(self, document_id: int) -> None:
        """Start an error review in Annotate at this document."""
        self.context.go(
            "annotate",
            document=document_id,
            run=self.shown_run.id,
            errors=tuple(error.document_id for error in self.errors),
        )

    def open_first_error(self) -> None:
        if self.errors:
            self.open_error(self.errors[0].document_id)

    def open_cell(self, gold: str, predicted: str) -> None:
        """Show the errors of a cell of the matrix; documents of the diagonal are opened on Data."""
        ids = self.matrix.documents.get((gold, predicted), ()) if self.matrix is not None else ()
        message = _("gold {gold}, predicted {predicted}", gold=gold, predicted=predicted)
        if ids and gold != predicted:
            self.browser.show_cell(gold, predicted, ids, message)
        elif ids:
            self.browser.show_documents(ids, message)

    def delete(self) -> None:
        """Delete the selected runs with their weights; cannot be undone, so the view has asked."""
        ids = self.chosen

        def deleted(freed: int) -> None:
            self.refresh()
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
        self.context.attempt(run_recorder.keep_checkpoint, self.project, self.shown_run.id)

    def not_done(self, error: Exception) -> None:
        """The running operation on the selected run has failed, or was cancelled."""
        self.update(busy="")
        self.context.fail(error)

    def attempt(self, act: Callable[..., Any], *args: Any, **named: Any) -> bool:
        """Returns whether it was done; the error is shown."""
        try:
            act(*args, **named)
        except WorkbenchError as error:
            self.update(busy="")
            self.context.fail(error)
            return False
        return True
