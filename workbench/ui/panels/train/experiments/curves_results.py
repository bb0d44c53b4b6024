"""The plot of learning curves with what is read off, and the table of systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QFrame

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.train.experiments.curves_state import LABELS, STEPS
from workbench.ui.style import formats, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Chart, Mark, Series, banded
from workbench.ui.widgets.charts.legend import (
    CIRCLE,
    CROSS,
    DIAMOND,
    SQUARE,
    TRIANGLE,
    ChartLegend,
)
from workbench.ui.widgets.charts.saving import save_menu
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import TurningRow, card, column, row, scrolled
from workbench.ui.widgets.pages import PageLayout
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.experiments.curves import CurveRow
    from workbench.operations.experiments.experiment import BandSeries
    from workbench.ui.panels.train.experiments.curves_state import CurvesState

SOLID, DASH = Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine
DOT, DASH_DOT = Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine
LOOKS = (  # tone, marker and dashes of the systems, in their order
    ("muted", DIAMOND, DOT),
    ("text", TRIANGLE, DASH),
    ("accent", CIRCLE, SOLID),
    ("good", SQUARE, DASH_DOT),
    ("warn", CROSS, DASH),
    ("bad", DIAMOND, SOLID),
)
BEYOND, PALE = 4.0, 0.55  # how far the fitted curve goes on, and its alpha
MARGIN = 0.03  # at the right of the plot, decades
SAMPLES = 24  # points of a fitted curve
LEAST_PLOT = 300  # height, pixels at 100%
VALUES, OVER = "values", "over"  # what the table shows: the curves, or what they have over another
NAMES = (
    "title", "source", "start", "slope", "asymptote", "higher_start", "higher_slope",
    "higher_asymptote", "labels", "steps", "minutes",
)  # fmt: skip
HIGHER = ("higher_start", "higher_slope", "higher_asymptote")
OWN = ("start", "slope", "asymptote", "steps", "minutes")
NARROW = {"source": 860, "steps": 820, "minutes": 660}  # widths at 100% to show these
WIDTHS = {
    "source": 120, "start": 96, "slope": 96, "asymptote": 104, "labels": 150, "steps": 110,
    "minutes": 72,
}  # fmt: skip


def look(title: str, number: int) -> Series:
    """The curve of a system without points, for legends."""
    tone, marker, style = LOOKS[number % len(LOOKS)]
    return Series(title, (), (), tone, style, marker)


class CurvesChart(Chart):
    """`shifted(by)`: an arrow key moved the target by points."""

    shifted = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is not None:
            self.shifted.emit(step)
        else:
            super().keyPressEvent(event)


class CurvesResults(QFrame):
    """An empty state until the first run is finished."""

    def __init__(self, state: CurvesState):
        super().__init__()
        self.state = state
        self._pages = PageLayout(self)
        self._empty = EmptyState("chart-column", _("No run of this experiment is finished yet"))
        adapt = Button(_("Adapt the model…"), "sparkles", small=True, on=state.adapt)
        self._verdict = Callout("", "accent", adapt, icon="lightbulb")
        self._remark = words("", "small", "muted", wrap=True)
        inner = column(
            self._verdict,
            (self._plot_card(), 1),
            self._table_card(),
            self._remark,
            gap=12,
            margins=(16, 16, 16, 16),
        )
        self._pages.addWidget(self._empty)
        self._pages.addWidget(scrolled(inner))

    def _plot_card(self) -> QFrame:
        state = self.state
        self._title, self._note = words("", weight=600), Elided("", "small", "muted")
        self._legend = ChartLegend()
        self._axis = Segments((LABELS, _("Labels")), (STEPS, _("Steps")), name=_("Curves over"))
        self._axis.chosen.connect(lambda axis: state.show(axis=str(axis)))
        self.chart = CurvesChart(
            _("Plot of the learning curves"),
            Axis(_("labelled documents of train")),
            Axis(),
            empty=_("Scores appear here as soon as a run is done."),
        )
        self.chart.setMinimumHeight(theme.px(LEAST_PLOT))
        self.chart.shifted.connect(state.shift)
        self.chart.opened.connect(self._open)
        menu = save_menu("curves", _("Save the plot"), self.chart)
        head = TurningRow(
            (row(self._title, (self._note, 1), gap=10), 1), flow(self._axis, menu), gap=10
        )
        return card(head, self._legend, (self.chart, 1), gap=6, margins=(16, 10, 10, 10))

    def _table_card(self) -> QFrame:
        self._save = Button(_("Save table…"), "save", "quiet", small=True, on=self._ask_file)
        self._about = Elided("", "small", "muted")
        title = row(words(_("Read off"), weight=600), (self._about, 1), gap=10)
        self._part = Segments((VALUES, _("Curves")), (OVER, _("Compared")), name=_("Table"))
        self._part.chosen.connect(self._choose_part)
        self._shown = VALUES
        head = TurningRow((title, 1), flow(self._part, self._save), gap=10)
        self._columns: dict[str, Any] = {}
        self.table = Table(
            [self._column(name) for name in NAMES], name=_("Read off"), key=lambda item: item.system
        )
        self.table.opened.connect(lambda item: self.state.show(system=item.system))
        self._unknown = words("", "small", "muted", wrap=True)
        return card(head, self.table, self._unknown, gap=8, margins=(16, 10, 16, 12))

    # ---------------------------------------------------------------- table

    def _column(self, name: str) -> Column:
        def text(item: CurveRow) -> str | None:
            described = self._columns.get(name)
            if described is None:
                return None
            if described.display is not None:
                written: str | None = described.display(item)
                return written
            value = described.value(item)
            if value is None:
                return None
            if name == "minutes":
                return formats.decimal(value, 1)
            return formats.count(value) if isinstance(value, int) else str(value)

        is_number = name not in ("title", "source")
        width = WIDTHS.get(name, 160 if is_number else None)
        return Column("", lambda item: text(item) or "–", width, right=is_number, tip=self._tip)

    def _tip(self, item: CurveRow) -> str:
        """What narrow columns leave out."""
        return "\n".join(filter(None, (item.source, self.state.reason(item), item.message)))

    def _fit_columns(self) -> None:
        left_out = [*(HIGHER if self._shown == VALUES else OWN)]
        narrow = [name for name, width in NARROW.items() if self.width() < theme.px(width)]
        if self.state.axis == STEPS and self._shown == VALUES:
            left_out.append("labels")
            narrow = [name for name in narrow if name != "steps"]
        for at, name in enumerate(NAMES):
            self.table.setColumnHidden(at, name in left_out or name in narrow)

    def _choose_part(self, part: object) -> None:
        self._shown = str(part)
        self._fit_columns()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def _ask_file(self) -> None:
        path, _kind = QFileDialog.getSaveFileName(
            self, _("Save table"), "curves.csv", "CSV (*.csv);;JSON (*.json);;Markdown (*.md)"
        )
        if path:
            self.state.context.attempt(self.state.save_table, Path(path))

    # ---------------------------------------------------------------- render

    def render(self, fields: frozenset[str]) -> None:
        state, result = self.state, self.state.result
        scored = result is not None and any(row.curve is not None for row in result.rows)
        self._pages.setCurrentIndex(int(scored))
        if not scored or result is None:
            self._show_recipe()
            return
        if not concerns(fields, "result", "target", "system", "reference", "axis"):
            return
        self._verdict.set(state.sentence)
        self._title.setText(state.score_title)
        self._note.setText(state.about_plot)
        self._axis.set(state.axis)
        self._show_plot(result.rows if state.axis == LABELS else ())
        self._show_table(result.rows)

    def _show_recipe(self) -> None:
        n = sum(cell.spec is not None for cell in self.state.cells)
        hint = _(
            "The systems are trained on growing parts of train, several times. The curves show how "
            "many labels a score needs, and what transfer adds. Runs: {n}.",
            n=formats.count(n),
        )
        self._empty.set(_("No run of this experiment is finished yet"), hint)

    def _show_table(self, rows: Sequence[CurveRow]) -> None:
        state = self.state
        self._columns = state.columns_of_curves
        for at, name in enumerate(NAMES):
            self.table.rows_model.set_title(at, self._columns[name].title)
        self.table.set_rows(rows)
        self.table.fit_height()
        if (chosen := state.read) is not None:
            self.table.choose({chosen.system})
        self._fit_columns()
        reference = state.result.row(state.result.reference) if state.result else None
        first = next((int(row.curve.sizes[0]) for row in rows if row.curve is not None), 0)
        self._about.setText(
            _(
                "start: at {n}; slope: points per doubling; compared with {system}",
                n=formats.count(first),
                system=reference.title if reference is not None else "–",
            )
        )
        self._unknown.setText(state.reasons)
        self._unknown.setVisible(bool(state.reasons))
        most = max((int(row.curve.sizes[-1]) for row in rows if row.curve is not None), default=0)
        self._remark.setText(
            ngettext(
                "Intervals: 95%, from 1,000 resampled curves. Beyond {most} labels nothing was "
                "measured. {n} draw shares one dev set; other labels may be harder.",
                "Intervals: 95%, from 1,000 resampled curves. Beyond {most} labels nothing was "
                "measured. {n} draws share one dev set; other labels may be harder.",
                state.draws,
                most=formats.count(most),
            )
        )

    # ---------------------------------------------------------------- plot

    def _show_plot(self, rows: Sequence[CurveRow]) -> None:
        state, result = self.state, self.state.result
        if result is None:
            return
        unit = 1.0 if state.is_error else 100.0
        order = {row.system: number for number, row in enumerate(result.rows)}
        if state.axis == STEPS:
            series = [self._drawn(item, order[item.kind], unit) for item in result.over_steps]
            name = ngettext(
                "step of the trainings with {n} label",
                "step of the trainings with {n} labels",
                result.steps_at,
            )
            x = Axis(name, low=0.0)
            self._legend.set(series)
            self._put(series, x, None, unit)
            return
        measured = [self._drawn(row.series, order[row.system], unit, log=True) for row in rows]
        measured = [item for item in measured if item.x]
        fitted = [line for row in rows for line in self._fitted(row, order[row.system], unit)]
        sizes = sorted({point.x for row in rows for point in row.series.points})
        ticks, name = sizes, _("labelled documents of train")
        if fitted:
            ticks = [*sizes, *(round(sizes[-1] * factor) for factor in (2, 4))]
            most = formats.count(sizes[-1])
            name = _("labelled documents of train; measured up to {n}, paler: fitted curve", n=most)
        x = Axis(
            name,
            high=math.log10(ticks[-1]) + MARGIN if ticks else None,
            logarithmic=True,
            names=tuple((math.log10(n), formats.count(n)) for n in ticks),
        )
        self._legend.set(measured)
        self._put([*measured, *fitted], x, self._mark(unit), unit)

    def _put(self, series: Sequence[Series], x: Axis, mark: Mark | None, unit: float) -> None:
        values = [value for item in series for value in (*item.y, *item.low, *item.high)]
        goal = self.state.goal
        level = None if goal is None else unit * goal
        if level is not None:
            values.append(level)
        low, high = min(values, default=0.0), max(values, default=1.0)
        margin = 0.04 * (high - low or 1.0)
        bottom, top = (max(0.0, low - margin), high + margin)
        y = Axis("", bottom, top if self.state.is_error else min(100.0, top))
        self.chart.set_axes(x, y)
        self.chart.set_series(series)
        text = "" if goal is None else _("target {score}", score=self.state.score_text(goal))
        self.chart.set_level(level, text, mark)

    def _drawn(self, line: BandSeries, number: int, unit: float, *, log: bool = False) -> Series:
        tone, marker, style = LOOKS[number % len(LOOKS)]
        looks = {"tone": tone, "marker": marker, "dashed": style}
        return banded(line.title, line.points, math.log10 if log else float, unit, **looks)

    def _fitted(self, row: CurveRow, number: int, unit: float) -> list[Series]:
        """The power law beyond the last measured number, paler; [] without a fit."""
        curve = row.curve
        if curve is None or curve.law is None:
            return []
        last = math.log10(curve.sizes[-1])
        places = np.linspace(last, last + math.log10(BEYOND), SAMPLES)
        scores, band = curve.fitted(10**places), curve.band(10**places)
        if scores is None:
            return []
        low, high = band if band is not None else ((), ())
        return [
            Series(
                _("{system}, fitted", system=row.title),
                tuple(places),
                tuple(unit * scores),
                LOOKS[number % len(LOOKS)][0],
                DOT,
                low=tuple(unit * np.asarray(low)),
                high=tuple(unit * np.asarray(high)),
                band=band is not None,
                alpha=PALE,
            )
        ]

    def _mark(self, unit: float) -> Mark | None:
        """Where the chosen system reaches the target."""
        row, goal, result = self.state.read, self.state.goal, self.state.result
        known = self.state.needed(row) if row is not None else None
        if row is None or goal is None or result is None or known is None:
            return None
        needed, text = known
        if needed.labels is None or needed.low is None:
            return None
        number = [item.system for item in result.rows].index(row.system)
        return Mark(
            math.log10(needed.labels),
            math.log10(max(needed.low, 1.0)),
            None if needed.high is None else math.log10(needed.high),
            unit * goal,
            text,
            LOOKS[number % len(LOOKS)][0],
        )

    def _open(self, series: int, point: int) -> None:
        """Show the first run of a measured point."""
        result = self.state.result
        drawn = self.chart.series[series]
        if result is None or self.state.axis != LABELS or not drawn.marker:
            return
        row = next((item for item in result.rows if item.title == drawn.name), None)
        if row is not None:
            self.state.open_point(row.system, row.series.points[point].x)
