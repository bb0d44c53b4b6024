"""Which runs a page of results shows: those of the project, the chosen ones, and one in detail."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.events import Signal, State
from workbench.base.i18n import _
from workbench.operations.evaluation import quality
from workbench.operations.inspecting import inspect
from workbench.operations.prompts import prompt, prompt_versions
from workbench.operations.runs import (
    baselines,
    block_states,
    ensemble,
    rerun,
    results,
    resume,
    run_folders,
    run_list,
    run_recorder,
)
from workbench.operations.runs.advice import Advice
from workbench.operations.runs.advice import measure as measure_baselines
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.missing import of_run as missing_task
from workbench.operations.runs.run_list import RunFilter, differ, groups, tags
from workbench.ui.panels.results.runs.details import (
    END_TO_END,
    Details,
    ScoreRow,
    again_text,
    details,
    score_rows,
)
from workbench.ui.panels.results.runs.facts import comparable, describe, files_below
from workbench.ui.panels.results.runs.gold_text import differs
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.metrics.evaluation import ConfusionMatrix, Evaluation
    from workbench.operations.runs.baselines import BaselineChoice
    from workbench.operations.runs.results import ErrorRow
    from workbench.project.changes import Changes
    from workbench.storage.runs.runs import Run
    from workbench.training.states import StateHeader
    from workbench.ui.panel import PanelContext

__all__ = ["DEV_TODAY", "FINISHED", "GOLD", "RunFilter", "RunSelection", "groups", "tags"]

run_columns = run_list.columns
FINISHED = ("done", "stopped")
DEV_TODAY = ("dev", "today")
DETAILS = "details"  # key of the task
# tables whose changes make scores outdated
GOLD = ("span", "mark", "state", "label", "layer", "document", "body")


class RunSelection(State):
    """What the parts of Results see. `loading` gets the ids of chosen runs, unless it is one run
    in detail, when they are to be read again.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.loading = Signal("loading")
        self.runs: tuple[Run, ...] = ()
        self.bytes_on_disk = 0
        self.filter = RunFilter()  # which runs are listed
        self.chosen: tuple[int, ...] = ()
        self.details: Details | None = None
        self.advice = Advice()  # on the selected run
        self.problem = ""  # why the selected run cannot be shown in detail
        self.tests: dict[int, Evaluation] = {}  # test scores shown since the page was built, by run
        self.spans_id: int | None = None  # the run whose spans are connected, None for the layer
        # scores on dev between the spans that a run predicts, by run and that run
        self.end_to_end: dict[tuple[int, int], Evaluation] = {}
        self.by_label = DEV_TODAY  # (split, gold): scores shown in the table by label
        self.busy = ""  # title of the running operation on the selected run
        self._stale, self._watched = True, False

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
        same = ids == self.chosen
        by_label, spans = (self.by_label, self.spans_id) if same else (DEV_TODAY, None)
        self.update(chosen=ids, details=None, problem="", by_label=by_label, spans_id=spans)
        self.update(advice=Advice())
        self._load()

    def watch(self, on: bool) -> None:
        """Whether the page is visible: outdated scores are recomputed only then."""
        self._watched = on
        if on and self._stale:
            self._load()
        elif on:
            self._measure_baselines()

    def project_changed(self, changes: Changes) -> None:
        """Called by the page: outdated scores are read again, now or when they are next shown."""
        if changes.rows is None or any(map(changes.touches, GOLD)):
            self._stale = True
        if changes.touches("run") or changes.touches("prediction"):
            self._stale |= changes.touches("prediction")
            self.refresh()
        elif self._stale and self._watched:
            self._load()

    def reload(self) -> None:
        """Read the selected run again: its stored predictions have changed."""
        self._stale = True
        self.refresh()

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
        else:
            self.loading.emit(ids)

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

    @property
    def chosen_runs(self) -> tuple[Run, ...]:
        """In the order in which they were chosen."""
        return tuple(run for id in self.chosen if (run := self.run_of(id)) is not None)

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
        borrows = not kinds.info(run.kind).own_weights  # a prompt, an ensemble, a published model
        return (borrows and not ensemble.lacking(self.project, run)) or self.weights_here

    @property
    def cannot_inspect(self) -> str:
        """Why the selected run cannot be inspected, "" if it can."""
        run = self.run
        if run is None:
            return _("Select one run.")
        if reason := inspect.refusal(self.project, run):
            return reason
        return "" if self.can_answer else _("The files of the run are missing.")

    @property
    def note(self) -> tuple[str, str]:
        """A sentence on the selected run with its tone; "" without one.

        Why an ensemble cannot predict, what happened to the training, or what training again has
        changed.
        """
        if self.run is not None and (reason := ensemble.lacking(self.project, self.run)):
            return reason, "warn"
        if self.run is not None and (remarks := self.run.result.get("remarks")):
            return " ".join(remarks), "warn"
        return again_text(self.details.again) if self.details else "", "accent"

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
    def can_resume(self) -> bool:
        """Whether the selected run is a training that has its state, or a prompt that ended before
        all its prompts were answered.
        """
        run, project = self.run, self.project
        if run is None or project.read_only:
            return False
        return resume.can_resume(project, run) or prompt.can_resume(project, run)

    most_epochs = resume.MOST_EPOCHS

    @property
    def resumed_state(self) -> StateHeader | None:
        """What the selected training would continue from."""
        return resume.state(self.project, self.run) if self.run is not None else None

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
        if (whole := self.whole) is not None:
            evaluations[END_TO_END] = None, whole
        return score_rows(self.details.results.run, evaluations, self.details.ceiling)

    @property
    def span_runs(self) -> tuple[Run, ...]:
        """The runs whose spans the selected run of relations can connect."""
        return self.details.span_runs if self.details is not None else ()

    @property
    def spans_run(self) -> Run | None:
        """The one whose spans it connects; None for those of the layer."""
        return next((run for run in self.span_runs if run.id == self.spans_id), None)

    @property
    def whole(self) -> Evaluation | None:
        """The scores of the selected run between the chosen spans; None if they are not computed,
        or gold has changed since.
        """
        run, spans, current = self.run, self.spans_run, self.evaluation("dev", "today")
        scored = self.end_to_end.get((run.id, spans.id)) if run and spans else None
        same = current is not None and scored and scored.fingerprint == current.fingerprint
        return scored if same else None

    @property
    def can_score_whole(self) -> bool:
        return self.spans_run is not None and self.can_answer and not self.busy

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

    @property
    def template(self) -> str:
        """That of a prompt run, "" for others."""
        spec = prompt_versions.spec_of_run(self.run) if self.run is not None else None
        return spec.template if spec is not None else ""

    def files(self) -> tuple[tuple[str, int], ...]:
        """(path in the run's folder, bytes) of each file."""
        return files_below(self.folder) if self.run is not None else ()

    @property
    def folder(self) -> Path:
        return paths.run_folder(self.project.path, self.shown_run.id)

    def score_all(
        self,
        key: Hashable,
        runs: Sequence[Run],
        split: str,
        begin: Callable[[Run], None],
        end: Callable[[], None],
    ) -> None:
        """Compute predictions that runs lack, one run after the other: `begin(run)` before each,
        `end()` after the last or an error. On test, this counts as a view.
        """
        waiting = list(runs)

        def score_next(_evaluation: object = None) -> None:
            if not waiting:
                end()
                return
            run = waiting.pop(0)
            begin(run)
            work = partial(results.evaluate, self.project, self.context.queue, run, split)
            self.context.task(key, work, score_next, failed=failed)

        def failed(error: Exception) -> None:
            end()
            self.context.fail(error)

        score_next()

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
