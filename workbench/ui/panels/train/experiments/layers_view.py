"""Layers on the Train page: choices and runs on the left, figure and table on the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panel import View
from workbench.ui.panels.train.experiments.layers_state import KINDS, TRANSFER, LayersState
from workbench.ui.panels.train.experiments.results import ExperimentResults
from workbench.ui.panels.train.experiments.side import (
    ExperimentSide,
    RunRow,
    RunTable,
    RunTables,
    SeedsField,
)
from workbench.ui.style.run_text import is_error
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Chart, Series
from workbench.ui.widgets.charts.legend import ChartLegend, distinct
from workbench.ui.widgets.charts.system_scores import LadderChart
from workbench.ui.widgets.controls.button import Segments
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import card, layout_of, side_by_side
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.experiments.experiment import BandSeries, Row
    from workbench.operations.experiments.layers import LayerWeights, Transfer
    from workbench.operations.experiments.multitask import Multitask


class LayersView(View):
    state: LayersState

    def __init__(self, state: LayersState):
        super().__init__(state)
        self._runs, self._seeds = RunTables(state), SeedsField(state)
        titles = [(id, _(title)) for id, title in KINDS.items()]
        self._kind = Segments(*titles, value=state.kind, name=_("Experiment about layers"))
        self._kind.chosen.connect(lambda id: state.choose(kind=str(id)))
        self._run, self._source = combo(), combo()
        self._run.activated.connect(lambda _i: state.choose(run=self._run.currentData()))
        self._source.activated.connect(lambda _i: state.choose(source=self._source.currentData()))
        self._source_field = TitledField(
            _("Source (A)"), self._source, _("Of the same architecture as the run.")
        )
        choices = (
            self._kind,
            TitledField(_("Run (B)"), self._run, _("Its settings, layer and weights.")),
            self._source_field,
            self._seeds,
        )
        self._side = ExperimentSide(state, _("Layers"), choices, self._runs)
        self._results = LayersResults(state)
        fill_with(self, side_by_side(self._side, self._results, width=448, most=560))
        self.first: QWidget | None = self._run

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        self._kind.set(state.kind)
        if concerns(fields, "runs", "run", "kind"):
            fill(self._run, [(run.name, run.name) for run in state.targets], state.run)
        if concerns(fields, "runs", "run", "models", "source"):
            own = [("", _("Model of the run")), *((name, name) for name in state.sources)]
            fill(self._source, own, state.source)
        self._source_field.setVisible(state.kind == TRANSFER)
        if concerns(fields, "seeds"):
            self._seeds.render_seeds()
        rows = state.rows
        seeds = [cell.seed for cell in rows[0].first.cells] if rows else []
        titles = [_("Seed {seed}", seed=seed) for seed in seeds]
        items = [RunRow(row.title, row.first.cells) for row in rows]
        self._runs.show_tables(*([RunTable(_("Network"), titles, items)] if seeds else ()))
        self._side.render()
        self._results.render(rows)


class LayersResults(ExperimentResults):
    state: LayersState

    def __init__(self, state: LayersState):
        super().__init__(state, "layers")
        self._base = words("", "small", "muted")
        self._figure = Chart(
            _("Scores by number of copied levels"), Axis(), Axis(), empty=_("No scores yet")
        )
        self._bars = LadderChart(_("Scores by layers"), joined=False)
        self._legend = ChartLegend()
        head = flow(self.title, self._base, None, self._legend, self.more)
        chart = card(head, (self._figure, 1), (self._bars, 1), margins=(16, 10, 10, 12))
        self._scores = card(title=_("Scores"), note=_("mean ± standard deviation over seeds"))
        self._table: Table | None = None
        self._table_for: object = None
        self._reading = words("", "small", "muted", wrap=True)
        self.put(chart, self._scores, self._reading)

    def render(self, rows: Sequence[Row]) -> None:
        work = self.state.work
        if not self.show_scores(rows, self._recipe()) or work is None:
            return
        self._reading.setText(work.reading)
        transfer = self.state.transfer
        for widget in (self._figure, self._legend, self._base):
            widget.setVisible(transfer is not None)
        self._bars.setVisible(transfer is None)
        if transfer is not None:
            self._show_lines(transfer, 1.0 if is_error(self.state.score_name) else 100.0)
            self._show_table(transfer, transfer.table)
        else:
            self.show_groups(self._bars, rows)
            self._show_table(work, rows)

    def _show_lines(self, work: Transfer, unit: float) -> None:
        names = tuple((float(n), title) for n, title in work.level_titles)
        self._figure.set_axes(Axis(_("copied levels"), names=names), Axis())
        curves = [_curve(line, number, unit) for number, line in enumerate(work.lines)]
        self._figure.set_series(curves)
        base = work.base.mean
        self._figure.set_level(None if base is None else unit * base)
        self._legend.set(curves)
        text = work.base_text(self.state.score_text)
        self._base.setText(_("dashed: base, {score}", score=text))

    def _show_table(
        self, work: Transfer | LayerWeights | Multitask, items: Sequence[object]
    ) -> None:
        if self._table_for is not work:
            if self._table is not None:
                self._table.deleteLater()
            first, *others = work.columns(self.state.score_text)
            columns = [Column.of(first), *(Column.of(column, 116) for column in others)]
            self._table = Table(columns, name=_("Scores of the layers"), key=_key)
            self._table_for = work
            layout_of(self._scores).addWidget(self._table)
        if self._table is not None:
            self._table.set_rows(items)
            self._table.fit_height()

    def _recipe(self) -> str:
        return _(
            "Transferability copies the lowest layers of a run (B), or of another network (A), "
            "under new layers, freezes or trains them, and compares the scores. Layer weights "
            "compares the last layer with mixes of all layers. Multi-task compares layers of "
            "labels that are trained together with each alone. Runs: {n}.",
            n=len(self.state.cells),
        )


def _key(item: object) -> object:
    return item[0] if isinstance(item, tuple) else getattr(item, "group", item)


def _curve(line: BandSeries, number: int, unit: float) -> Series:
    tone, marker = distinct(number)
    return Series(
        line.title,
        tuple(float(point.x) for point in line.points),
        tuple(unit * point.mean for point in line.points),
        tone,
        dashed=bool(number % 2),
        marker=marker,
        low=tuple(unit * point.low for point in line.points),
        high=tuple(unit * point.high for point in line.points),
        band=True,
    )
