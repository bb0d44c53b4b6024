"""The trials of a search: verdict, parallel coordinates, table, importance of the settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFileDialog, QFrame

from workbench.base.i18n import _
from workbench.ui.panels.train.experiments.side import ICONS
from workbench.ui.style import theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Series
from workbench.ui.widgets.charts.legend import ChartLegend
from workbench.ui.widgets.charts.parallel_plot import (
    BEST,
    DONE,
    STOPPED,
    ParallelAxis,
    ParallelLine,
    ParallelPlot,
)
from workbench.ui.widgets.charts.row_plot import PlotRow, RowPlot
from workbench.ui.widgets.charts.saving import NUMBERS, ask_picture, more_button, save_menu
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import card, column, layout_of, row, scrolled
from workbench.ui.widgets.pages import PageLayout
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.experiments.search import TrialCell
    from workbench.text import columns
    from workbench.ui.panels.train.experiments.search_state import Scale, SearchState

MOST_TICKS = 4  # distances between the ticks of an axis
APART = 0.12  # least distance of a tick from the ends of its axis
WIDE = 860  # width from which the importance is beside the table, pixels at 100%
MOST_ROWS = 8  # of the table before it scrolls


class SearchResults(QFrame):
    """An empty state until the first run of the search has a score."""

    def __init__(self, state: SearchState):
        super().__init__()
        self.state = state
        self._stack = PageLayout(self)
        self._empty = EmptyState("search", _("No trial of this search has ended yet"))
        self._use = Button(_("Use these settings"), "check", "primary", on=state.use)
        self._repeat = Button(_("Repeat with 3 seeds"), "rotate-ccw", on=state.repeat)
        self._verdict = Callout("", "accent", self._repeat, self._use, icon="circle-check")
        self._build_plot()
        self._build_table()
        self._importance = RowPlot(
            _("Importance of settings"), (_("Setting"), _("Share"), _("Low"), _("High"))
        )
        self._needed = words("", "small", "muted", wrap=True)
        weights = card(
            self._importance,
            self._needed,
            None,
            title=_("Importance"),
            note=_("share of variance"),
        )
        self._below = row((self._trials, 3), (weights, 1), gap=12)
        parts = (self._verdict, (self._plots, 1), self._below)
        content = column(*parts, gap=12, margins=(16, 16, 16, 16))
        self._stack.addWidget(self._empty)
        self._stack.addWidget(scrolled(content))

    def _build_plot(self) -> None:
        self._plot = ParallelPlot(_("Trials"))
        self._plot.picked.connect(self._picked)
        self._plot.opened.connect(lambda number: self._open(self._plot.lines[number].key))
        self._plot.filtered.connect(self._filter)
        self._legend = ChartLegend()
        self._legend.set(
            (
                Series(_("best"), (), (), width=3.0),
                Series(_("finished, stronger is better"), (), (), width=1.4),
                Series(_("stopped early"), (), (), "muted", True, width=1.4),
            )
        )
        note = words(_("drag along an axis to keep a part of it"), "small", "muted")
        more = save_menu("search", _("Save the chart"), self._plot)
        title = words(_("Parallel coordinates"), weight=600)
        self._plots = card(
            flow(title, note, None, self._legend, more), (self._plot, 1), margins=(16, 10, 10, 12)
        )

    def _build_table(self) -> None:
        self._table: Table | None = None
        self._table_for: tuple[object, ...] = ()
        self._count = words("", "small", "muted")
        self._all = Button(_("Show all"), "", "quiet", small=True, on=self._plot.clear)
        actions = (
            (_("Save image…"), lambda: ask_picture(self, self._tables(), "trials")),
            (_("Save data…"), self._ask_data),
        )
        more = more_button(self, _("Save the table"), *actions)
        title = words(_("Trials"), weight=600)
        head = flow(title, self._count, None, self._all, more)
        self._trials = card(head, margins=(16, 10, 10, 12))

    def _tables(self) -> tuple[Table, ...]:
        return (self._table,) if self._table else ()

    def _ask_data(self) -> None:
        path, _kind = QFileDialog.getSaveFileName(self, _("Save data"), "trials.csv", NUMBERS)
        if path and self.state.work is not None:
            self.state.save_table(Path(path))

    def render(self) -> None:
        scored = self.state.has_scores
        self._stack.setCurrentIndex(int(scored))
        if not scored:
            hint = _(
                "A search trains the model with different settings, each chosen by the scores of "
                "the others, and the defaults once. Trials are runs, archived in Results; the best "
                "one is listed there."
            )
            if self.state.is_opening:
                self._empty.set(_("Opening the search…"))
            else:
                self._empty.set(_("No trial of this search has ended yet"), hint)
            return
        self._show_verdict()
        self._show_lines()
        self._show_table()
        self._show_importance()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_wide = self.width() >= theme.px(WIDE)
        direction = QBoxLayout.Direction
        layout_of(self._below).setDirection(
            direction.LeftToRight if is_wide else direction.TopToBottom
        )

    def _show_verdict(self) -> None:
        verdict, has_best = self.state.verdict, self.state.has_best
        self._verdict.set(verdict.sentence if verdict else _("No trial is finished yet."), "accent")
        self._use.setEnabled(has_best)
        self._repeat.setVisible(self.state.can_repeat)
        self._repeat.setEnabled(has_best)

    # ---------------------------------------------------------------- parallel coordinates

    def _show_lines(self) -> None:
        lines = [
            ParallelLine(
                line.number,
                line.places,
                line.tip,
                BEST if line.is_best else STOPPED if line.is_stopped else DONE,
                line.strength,
                line.text,
                line.values,
            )
            for line in self.state.lines
        ]
        self._plot.show_lines(list(map(_axis, self.state.scales)), lines, self.state.head)
        self._plot.choose_key(self.state.chosen or None)

    def _picked(self, number: object) -> None:
        if isinstance(number, int):
            self.state.choose_trial(number)

    def _open(self, number: object) -> None:
        if isinstance(number, int):
            self.state.open_run(self.state.cell_of(number))

    def _filter(self) -> None:
        self._show_table()

    # ---------------------------------------------------------------- table

    def _show_table(self) -> None:
        key = self.state.head
        if self._table is None or self._table_for != key:
            if self._table is not None:
                layout_of(self._trials).removeWidget(self._table)
                self._table.deleteLater()
            self._table, self._table_for = self._made_table(), key
            layout_of(self._trials).addWidget(self._table)
        every = self.state.cells_shown
        keys = self._plot.kept_keys if self._plot.is_filtered else None
        rows = [cell for cell in every if keys is None or cell.number in keys]
        self._table.set_rows(rows)
        self._table.fit_height(MOST_ROWS)
        if self.state.chosen:
            self._table.choose({self.state.chosen})
        count = _("{shown} of {total}", shown=len(rows), total=len(every))
        self._count.setText(count if keys is not None else "")
        self._all.setVisible(keys is not None)

    def _made_table(self) -> Table:
        trial, score, *settings, minutes, _status, _run = self.state.columns
        columns = [
            Column.of(trial, 100, icon=_icon, sort=lambda cell: cell.number, right=True),
            Column.of(
                score,
                92,
                display=self.state.text_of,
                sort=score.value,
                right=True,
                tip=lambda cell: cell.message,
            ),
            *(
                Column.of(item, 70, sort=_order(item), right=True, tip=_named(item))
                for item in settings
            ),
            Column.of(minutes, 60, sort=minutes.value),
        ]
        table = Table(columns, name=_("Trials"), key=lambda cell: cell.number)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        table.opened.connect(self.state.open_run)
        table.chosen.connect(self._row_chosen)
        return table

    def _row_chosen(self) -> None:
        rows = self._table.chosen_rows() if self._table else []
        if rows:
            self.state.choose_trial(rows[0].number)

    # ---------------------------------------------------------------- importance

    def _show_importance(self) -> None:
        rows = [
            PlotRow(
                row.name,
                row.text,
                row.tip,
                row.share,
                whiskers=row.interval,
                values=row.values,
            )
            for row in self.state.importance_rows
        ]
        self._importance.show_rows(rows, top=1.0)
        self._importance.setVisible(bool(rows))
        self._needed.setText(self.state.importance_note)


def _axis(scale: Scale) -> ParallelAxis:
    axis = Axis(
        low=scale.low,
        high=scale.high,
        whole=scale.whole,
        percent=scale.percent,
        logarithmic=scale.logarithmic,
        names=scale.texts or None,
    )
    span = (scale.high - scale.low) or 1.0
    ticks = [
        ((at - scale.low) / span, text)
        for at, text in axis.ticks(scale.low, scale.high, most=MOST_TICKS)
    ]
    if scale.ends:  # of a range they are always named
        inner = [tick for tick in ticks if APART < tick[0] < 1 - APART]
        ticks = [(0.0, scale.ends[0]), *inner, (1.0, scale.ends[1])]
    return ParallelAxis(scale.title, tuple(ticks))


def _named(column: columns.Column) -> Callable[[Any], str]:
    """The title beside the value: there is little room for it in the header."""
    return lambda cell: f"{column.title}: {column.display(cell) if column.display else ''}"


def _icon(cell: TrialCell) -> tuple[str, str] | None:
    return ("circle-x", "faint") if cell.is_stopped else ICONS.get(cell.status)


def _order(column: columns.Column) -> Callable[[Any], Any]:
    """Numbers before texts, each in their order."""

    def key(cell: TrialCell) -> tuple[int, object] | None:
        value = column.value(cell)
        if value is None:
            return None
        is_number = isinstance(value, int | float)
        return (0, value) if is_number else (1, str(value))

    return key
