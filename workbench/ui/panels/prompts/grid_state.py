"""The grid: prompts × models × shots × seeds as runs of one queue, and its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.operations.experiments import prompt_grid
from workbench.operations.experiments.experiment import DONE, FAILED, MISSING, RUNNING
from workbench.operations.experiments.prompt_grid import GridSpec, PromptGrid
from workbench.operations.prompts import prompt_answers
from workbench.operations.runs import results
from workbench.prompting.spec import MOST_SHOTS, SELECTIONS, PromptSpec
from workbench.text import columns
from workbench.ui.project.experiment_state import ExperimentState

if TYPE_CHECKING:
    from workbench.operations.experiments.prompt_grid import GridResult, GridRow
    from workbench.ui.panels.prompts.draft import PromptDraft
    from workbench.ui.panels.prompts.model_state import ModelState

__all__ = ["DONE", "FAILED", "MISSING", "RUNNING", "GridState"]

PLAN, MEASURE = "grid-plan", "grid-measure"  # tasks


class GridState(ExperimentState):
    """spec: the rows, seeds and documents of the grid. result: its finished rows with intervals, a
    verdict and the plot, None until it is computed. group: the selected row.
    """

    work: PromptGrid | None

    def __init__(
        self,
        draft: PromptDraft,
        models: ModelState,
        keep: Callable[[], None],
        show_answers: Callable[[int, int | None], None],
    ) -> None:
        """keep: saves the prompt in the project. show_answers: of two runs, on the page."""
        super().__init__(draft.context)
        self.draft, self.models = draft, models
        self.spec = GridSpec(draft.spec.layer)
        self.result: GridResult | None = None
        self.group = ""
        self._keep, self._show_answers = keep, show_answers
        self._done = 0  # finished cells that `result` knows
        self._rows: tuple[tuple[Any, ...], tuple[GridRow, ...]] = ((), ())  # for what, and rows

    # ---------------------------------------------------------------- which cells

    def refresh(self) -> None:
        """Read the last grid of the layer, and the runs that it has, unless it is running."""
        if not self.active:
            self._plan(self._of_layer())

    def _of_layer(self) -> GridSpec:
        """The grid of the layer that is selected: the one that is shown, or the last one."""
        layer, spec = self.draft.spec.layer, self.spec
        if spec.layer == layer and spec.prompts:
            return spec
        return prompt_grid.last(self.project, layer) or GridSpec(layer)

    def _plan(self, spec: GridSpec) -> None:
        self.update(spec=spec)
        if not spec.prompts:
            self.context.drop(PLAN)
            self.context.drop(MEASURE)
            self.update(work=None, result=None, error="")
            return
        settings = self.context.settings

        def planned(work: PromptGrid) -> None:
            self.plan(lambda: work)
            work.changed.connect(self._stepped)
            self._measure()

        def failed(error: Exception) -> None:
            if not isinstance(error, WorkbenchError):
                self.context.fail(error)
            self.update(work=None, result=None, error=str(error))

        work = partial(PromptGrid, self.project, spec, settings=settings)
        self.context.task(PLAN, work, planned, failed=failed)

    def _change(self, spec: GridSpec) -> None:
        """Another grid; it is stored, so that it is there again after a restart."""
        if not self.active:
            prompt_grid.keep(self.project, spec)
            self._plan(spec)

    def add(self) -> None:
        """Add the prompt that is edited, with its model and number of examples."""
        self._keep()
        self._change(self._of_layer().with_rows([self.draft.spec]))

    def add_all(self, models: Iterable[str], selections: Iterable[str], shots: str) -> None:
        """Add the prompt with every model (by key), selection and number of examples. Raises
        SpecError for numbers that cannot be read.
        """
        self._keep()
        chosen = [self.models.settings(key) for key in models]
        rows = prompt_grid.combined(
            [self.draft.spec], chosen, tuple(selections), numbers(shots, MOST_SHOTS)
        )
        self._change(self._of_layer().with_rows(rows))

    def add_runs(self) -> None:
        """Add the prompts of all finished runs of the layer. An empty grid gets their number of
        documents, without which they would be missing cells.
        """

        def add(every: Any) -> None:
            known = prompt_answers.prompt_runs(every, self.draft.spec.layer)
            specs = [PromptSpec.from_json(run.spec) for run in reversed(known)]
            grid, samples = self._of_layer(), {spec.sample for spec in specs}
            if not grid.prompts and len(samples) == 1:
                grid = replace(grid, sample=samples.pop())
            self._change(grid.with_rows(specs))

        self.context.task(PLAN, partial(results.all_runs, self.project), add)

    def remove(self, row: GridRow) -> None:
        """Take a row out of the grid; its runs stay."""
        rest = [item.spec for item in self.grid_rows if item.group != row.group]
        self._change(replace(self.spec, prompts=tuple(rest)))

    def set_seeds(self, text: str) -> None:
        """Raises SpecError for what is no list of numbers."""
        self._change(replace(self.spec, seeds=numbers(text, 99_999) or (1,)))

    def set_sample(self, documents: int) -> None:
        if documents != self.spec.sample:
            self._change(replace(self.spec, sample=documents))

    @property
    def selections(self) -> tuple[str, ...]:
        return tuple(name for name in SELECTIONS if name != "pinned")

    # ---------------------------------------------------------------- results

    @property
    def grid_rows(self) -> tuple[GridRow, ...]:
        """The rows as they are now, with the intervals that are known; made again when a cell has
        another status, as each is drawn at every step of a run.
        """
        work = self.work
        if work is None:
            return ()
        cells = tuple((cell.status, cell.run and cell.run.id) for cell in work.cells)
        made_for = (work, self.result, cells)
        if self._rows[0] != made_for:
            self._rows = made_for, self._made(work)
        return self._rows[1]

    def _made(self, work: PromptGrid) -> tuple[GridRow, ...]:
        known = {row.group: row for row in self.result.rows} if self.result is not None else {}

        def measured(row: GridRow) -> GridRow:
            before = known.get(row.group)
            same = before is not None and before.summary.scores == row.summary.scores
            return replace(row, interval=before.interval) if before and same else row

        return tuple(map(measured, work.grid_rows))

    @property
    def missing(self) -> int:
        """Number of cells that can be run and were not."""
        return sum(cell.status not in (DONE, MISSING) for cell in self.cells)

    @property
    def best(self) -> float | None:
        """The best score, a line in the table."""
        scores = [row.summary.mean for row in self.grid_rows if row.summary.mean is not None]
        if not scores or self.work is None:
            return None
        return min(scores) if self.work.is_error else max(scores)

    @property
    def ceiling(self) -> float | None:
        """What people score, a line in the table and in the plot."""
        limit = self.result.ceiling if self.result is not None else None
        return limit.of(self.score_name) if limit is not None else None

    @property
    def ceiling_text(self) -> str:
        """How that was measured, "" without it."""
        limit = self.result.ceiling if self.result is not None else None
        return limit.sentence(self.score_name) if limit is not None else ""

    def _stepped(self) -> None:
        done = sum(cell.status == DONE for cell in self.cells)
        if done != self._done:
            self._measure()
        self.context.commands_changed()

    def _measure(self) -> None:
        """Intervals, verdict and plot, off the main thread."""
        work = self.work
        if work is None:
            return
        self._done = sum(cell.status == DONE for cell in self.cells)
        self.context.task(MEASURE, work.measure, lambda result: self.update(result=result))

    # ---------------------------------------------------------------- actions

    def select(self, group: str) -> None:
        self.update(group=group)

    def open(self, row: GridRow) -> None:
        """Show the answers of a row beside those of the best other one."""
        run = row.middle
        if run is None:
            return
        rows = [item for item in self.grid_rows if item.group != row.group and item.middle]
        rows.sort(key=lambda item: item.summary.mean or 0.0, reverse=not row.is_error)
        other = next((item.middle for item in rows), None)
        self._show_answers(run.id, other.id if other is not None else None)

    def columns(self) -> dict[str, columns.Column]:
        return columns.by_key(prompt_grid.columns(self.score_name or "accuracy"))

    def save_table(self, path: Path) -> None:
        """As JSON with the runs, the verdict and the plot, or as CSV, by the suffix."""
        if self.work is None or self.result is None:
            return
        if path.suffix.lower() == ".json":
            self.save(path, prompt_grid.to_json(self.work, self.result))
        else:
            table = prompt_grid.columns(self.score_name)
            columns.write_delimited(path, columns.cells(table, self.result.rows))


def numbers(text: str, most: int) -> tuple[int, ...]:
    """Whole numbers from 0, separated by commas or spaces, each once. Raises SpecError."""
    words = text.replace(",", " ").split()
    try:
        values = tuple(dict.fromkeys(map(int, words)))
    except ValueError:
        values = (-1,)
    if any(not 0 <= value <= most for value in values):
        raise SpecError(
            _("“{text}” is no list of whole numbers from 0 to {most}.", text=text, most=most),
            hint=_("Separate them by commas: 0, 2, 4, 8."),
        )
    return values
