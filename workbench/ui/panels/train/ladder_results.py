"""The runs of an experiment as a table of seeds; its scores as a chart and a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRectF, QSize
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QFrame

from workbench.base.i18n import _, ngettext
from workbench.ui.style import formats, theme
from workbench.ui.style.run_text import is_error
from workbench.ui.widgets.charts.saving import Savable, ask_picture, more_button
from workbench.ui.widgets.charts.system_scores import LadderChart, LegendMark, SystemScores
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import card, clear, column, layout_of, row
from workbench.ui.widgets.pages import PageLayout
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.experiments.experiment import Cell, Row
    from workbench.text import columns
    from workbench.ui.panels.train.ladder_state import LadderState
    from workbench.ui.project.experiment_state import ExperimentState

ICONS = {
    "done": ("circle-check", "good"),
    "running": ("activity", "accent"),
    "waiting": ("clock", "faint"),
    "failed": ("circle-x", "bad"),
}
SEED = 88  # width of a column, pixels at 100%


class CellTable(Table):
    """The runs of one series: a row per group, a column per seed."""

    def __init__(self, state: ExperimentState, series: str, title: str, seeds: Sequence[int]):
        seed_columns = [self._column(number, seed) for number, seed in enumerate(seeds)]
        columns = [Column(title or _("Rung"), lambda row: row.title), *seed_columns]
        super().__init__(columns, name=title or _("Runs"), key=_group)
        self._state, self._series = state, series
        self.opened.connect(self._open)

    def _column(self, number: int, seed: int) -> Column:
        def cell(row: Row) -> Cell:
            return self._cell(row, number)

        return Column(
            _("Seed {seed}", seed=seed),
            lambda row: self._state.cell_text(cell(row)),
            SEED,
            right=True,
            icon=lambda row: self._icon(cell(row)),
            tip=lambda row: self._state.cell_hint(cell(row)),
        )

    def _cell(self, row: Row, number: int) -> Cell:
        return row.by_series[self._series].cells[number]

    def _icon(self, cell: Cell) -> tuple[str, str] | None:
        is_planned = cell.status == "waiting" and not self._state.position(cell)
        return None if is_planned else ICONS.get(cell.status)

    def _open(self, row: Row) -> None:
        self._state.open_run(self._cell(row, max(0, self.currentIndex().column() - 1)))


INPUT_COLUMN, WIDE_WIDTH = 1, 820  # a column, and the width from which it is shown, pixels at 100%


class LadderResults(Savable, QFrame):
    """An empty state until the first run is finished."""

    def __init__(self, state: LadderState):
        super().__init__()
        self.state = state
        self._stack = PageLayout(self)
        self._empty = EmptyState("chart-column", _("No run of this experiment is finished yet"))
        self._title, self._note = words("", weight=600), words("", "small", "muted")
        self._legend = row(gap=6)
        more = more_button(
            self,
            _("Save the chart"),
            (_("Save image…"), lambda: ask_picture(self, (self,), "ladder")),
            (_("Save data…"), self._ask_data),
        )
        self._chart = LadderChart()
        head = flow(self._title, self._note, None, self._legend, more)
        self._chart_card = card(head, (self._chart, 1), margins=(16, 10, 10, 12))
        self._table: Table | None = None
        self._table_for: tuple[str, ...] = ()
        self._scores = card(
            title=_("Scores"),
            note=_("mean ± standard deviation over seeds; gain over the rung before"),
        )
        self._remark = words("", "small", "muted", wrap=True)
        content = column(
            (self._chart_card, 1), self._scores, self._remark, gap=12, margins=(16, 16, 16, 16)
        )
        self._stack.addWidget(self._empty)
        self._stack.addWidget(content)

    def render(self, rows: Sequence[Row]) -> None:
        work = self.state.work
        scored = any(summary.scores for row in rows for summary in row.by_series.values())
        self._stack.setCurrentIndex(int(scored))
        if work is None or not scored:
            self._show_recipe()
            return
        spec = work.spec
        self._title.setText(self.state.score_title)
        documents = work.used.get(work.split, 0)
        message = ngettext("{n} document", "{n} documents", documents)
        self._note.setText(message.format(n=formats.count(documents)) if documents else "")
        self._show_legend(spec.decoders)
        is_share = not is_error(self.state.score_name)
        groups = [_scores(row, len(spec.seeds), 100 if is_share else 1) for row in rows]
        self._chart.set_groups(groups, decimals=1 if is_share else 3)
        self._show_table(work.task, spec.decoders, rows)
        self._remark.setText(
            ngettext(
                "Shows how much each step of transfer adds on this layer. With {n} seed, small "
                "differences may be chance; rungs with fewer runs are provisional.",
                "Shows how much each step of transfer adds on this layer. With {n} seeds, small "
                "differences may be chance; rungs with fewer runs are provisional.",
                len(spec.seeds),
            )
        )

    def _show_recipe(self) -> None:
        cells = [cell for cell in self.state.cells if cell.spec is not None]
        hint = _(
            "The ladder trains a BiLSTM with random embeddings, then with word vectors, a "
            "character CNN and ELMo or Flair, and a fine-tuned BERT, on the same splits. "
            "Runs: {n}.",
            n=len(cells),
        )
        self._empty.set(_("No run of this experiment is finished yet"), hint)

    def _show_legend(self, decoders: tuple[str, ...]) -> None:
        clear(layout_of(self._legend))
        for number, decoder in enumerate(decoders):
            if decoder:
                layout_of(self._legend).addWidget(LegendMark(number))
                title = self.state.decoder_title(decoder)
                layout_of(self._legend).addWidget(words(title, "caption", "muted"))
        message = words(_("point: one seed; short line: mean"), "caption", "muted")
        layout_of(self._legend).addWidget(message)

    def _show_table(self, task: str, decoders: tuple[str, ...], rows: Sequence[Row]) -> None:
        if self._table is None or self._table_for != (task, *decoders):
            if self._table is not None:
                layout_of(self._scores).removeWidget(self._table)
                self._table.deleteLater()
            self._table_for = (task, *decoders)
            name = _("Scores of the rungs")
            self._table = Table(self._columns(decoders), name=name, key=_group)
            layout_of(self._scores).addWidget(self._table)
        self._table.set_rows(rows)
        self._table.fit_height()
        self._fit_columns()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Hide the column of inputs if there is no room; it is the tooltip of the rung."""
        if self._table is not None:
            self._table.setColumnHidden(INPUT_COLUMN, self.width() < theme.px(WIDE_WIDTH))

    def _columns(self, decoders: tuple[str, ...]) -> list[Column]:
        rung, source, trained, *scores, gain, removed, minutes = self.state.columns
        return [
            Column.of(rung, 134, tip=source.value),
            Column.of(source, tip=source.value, prose=True),
            Column.of(trained, 80, display=partial(_trained, trained)),
            *(
                Column.of(score, 92, tip=partial(self._range, decoder))
                for decoder, score in zip(decoders, scores, strict=True)
            ),
            Column.of(gain, 68),
            Column.of(removed, 126, title=removed.title, display=_removed),
            Column.of(minutes, 84),
        ]

    def _range(self, decoder: str, row: Row) -> str:
        summary = row.by_series[decoder]
        if summary.band is None:
            return ""
        low, high = map(self.state.score_text, summary.band)
        return _("{low} to {high}, n = {n}", low=low, high=high, n=len(summary.scores))

    def picture_size(self) -> QSize:
        return self._chart_card.size()

    def draw_picture(self, painter: QPainter, _area: QRectF) -> None:
        self._chart_card.render(painter, QPoint())

    def _ask_data(self) -> None:
        path, _kind = QFileDialog.getSaveFileName(
            self, _("Save data"), "ladder.json", "JSON (*.json)"
        )
        if path and self.state.work is not None:
            self.state.save(Path(path), self.state.work.report())


def _group(row: Row) -> str:
    return row.group


def _trained(column: columns.Column, row: Row) -> str | None:
    parameters = column.value(row)
    if parameters is None:
        return None
    if parameters < 1e6:
        return _("{n} k", n=formats.decimal(parameters / 1e3, 0))
    return _("{n} M", n=formats.decimal(parameters / 1e6, 1))


def _removed(row: Row) -> str | None:
    share = row.gain.errors_removed if row.gain else None
    return None if share is None else f"{formats.points(share)}%"


def _scores(row: Row, expected: int, unit: float) -> SystemScores:
    series = tuple(
        tuple(unit * score for score in summary.scores.values())
        for summary in row.by_series.values()
    )
    done, total = sum(map(len, series)), expected * len(series)
    note = ngettext("{done} of {total} run", "{done} of {total} runs", total)
    note = note.format(done=done, total=total)
    if row.first.cells[0].spec is None:
        note = _("not available")
    return SystemScores(row.title, note, series, expected)
