"""State of what smaller weights of a run cost: the table, measured on request."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.models import weights
from workbench.tasks import spec as tasks
from workbench.text import columns
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.exporters.model.weights import WeightsRow, WeightsTable
    from workbench.storage.runs.runs import Run
    from workbench.ui.panel import PanelContext

MEASURE = "export-weights"  # key of the task


class WeightsState(State):
    """run: whose weights, None for a published model. table: as measured, None before. rows: of
    the table, or those that are measured so far. share: of the rows, in [0, 1].
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project, self.queue = context, opened(context), context.queue
        self.run: Run | None = None
        self.table: WeightsTable | None = None
        self.rows: tuple[WeightsRow, ...] = ()
        self.stage, self.problem = "", ""
        self.share: float | None = None

    def choose(self, run: Run | None) -> None:
        """Show the table of a run; one that is being measured goes on."""
        if run is self.run or self.busy:
            return
        table = weights.stored(self.project, run) if run is not None else None
        self.update(run=run, problem="")
        self._show(table)

    def _show(self, table: WeightsTable | None) -> None:
        self.update(table=table, rows=table.rows if table is not None else ())

    @property
    def busy(self) -> bool:
        return self.context.waiting(MEASURE)

    def measure(self) -> None:
        if self.run is None or self.busy:
            return
        work = partial(weights.weights_table, self.project, self.queue, self.run, again=True)
        self.update(rows=(), problem="", share=None, stage=_("Queued"))
        self.context.task(
            MEASURE, work, self._measured, failed=self._failed, on_event=self._describe
        )
        self.changed.emit(frozenset({"busy"}))

    def cancel(self) -> None:
        self.context.cancel(MEASURE)

    def _describe(self, payload: Mapping[str, Any]) -> None:
        if payload.get("kind") == "stage":
            self.update(stage=str(payload.get("text") or payload["title"]))
        elif payload.get("kind") == weights.EVENT:
            new = weights.WeightsRow.from_json(payload["row"])
            share = payload["done"] / max(1, payload["total"])
            self.update(rows=(*self.rows, new), share=share)

    def _measured(self, table: WeightsTable) -> None:
        self._show(table)
        self.changed.emit(frozenset({"busy"}))

    def _failed(self, error: Exception) -> None:
        """The table that was measured before is shown again."""
        self._show(self.table)
        self.update(problem="" if isinstance(error, Cancelled) else str(error))
        self.changed.emit(frozenset({"busy"}))

    @property
    def sentence(self) -> str:
        return weights.sentence(self.table) if self.table is not None and not self.busy else ""

    @property
    def score(self) -> str:
        """Name of the score in the rows."""
        if self.table is not None or self.run is None:
            return self.table.score if self.table is not None else ""
        return tasks.info(str(self.run.spec["task"])).main

    def columns(self) -> dict[str, columns.Column]:
        """Of the table, by key."""
        return columns.by_key(weights.columns(self.table or weights.WeightsTable()))

    def save(self, path: Path) -> None:
        if self.table is not None:
            described = weights.columns(self.table)
            columns.write_delimited(path, columns.cells(described, self.table.rows))
