"""The runs of an experiment as a table of seeds; its scores as a chart and a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRectF, QSize
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QWidget

from workbench.base.i18n import _, ngettext
from workbench.ui.style import formats, theme
from workbench.ui.style.run_text import is_error
from workbench.ui.widgets.charts.saving import Savable, ask_picture, more_button
from workbench.ui.widgets.charts.system_scores import LadderChart, LegendMark, SystemScores
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import card, clear, column, fill, layout_of, row
from workbench.ui.widgets.pages import PageLayout
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.experiments.ladder import LadderCell
    from workbench.operations.experiments.ladder_report import RungRow
    from workbench.text import columns
    from workbench.ui.panels.train.ladder_state import LadderState


ICONS = {
    "done": ("circle-check", "good"),
    "running": ("activity", "accent"),
    "waiting": ("clock", "faint"),
    "failed": ("circle-x", "bad"),
}
SEED = 88  # width of a column, pixels at 100%


@dataclass(frozen=True)
class _Row:
    title: str
    cells: dict[int, LadderCell]  # by seed
    scores: dict[int, str]  # by seed, as text
    places: dict[int, int]  # seed → position among the waiting runs, from 1; 0 before the start

    def text(self, seed: int) -> str:
        cell = self.cells[seed]
        if cell.status == "running":
            return _("{n}%", n=formats.points(cell.fraction or 0, 0))
        if cell.status == "waiting":
            place = self.places[seed]
            return _("no. {n}", n=place) if place else "–"
        if cell.status == "failed":
            return _("failed")
        return self.scores[seed]

    def tip(self, seed: int) -> str:
        cell = self.cells[seed]
        if cell.status == "waiting" and not cell.message:
            return _("Queued") if self.places[seed] else _("Not run yet")
        if cell.message or cell.run is None:
            return cell.message
        return _("{run}: Enter shows its results", run=cell.run.name)


class CellTable(QWidget):
    """`render` shows the cells of the state with this decoder."""

    def __init__(self, state: LadderState, decoder: str, title: str, seeds: Sequence[int]):
        super().__init__()
        self._state, self._decoder, self._seeds = state, decoder, tuple(seeds)
        columns = [Column(title or _("Rung"), lambda row: row.title)]
        columns += [
            Column(
                _("Seed {seed}", seed=seed),
                partial(_text, seed),
                SEED,
                right=True,
                icon=partial(_icon, seed),
                tip=partial(_tip, seed),
            )
            for seed in self._seeds
        ]
        self.table = Table(columns, name=title or _("Runs"), key=lambda row: row.title)
        self.table.opened.connect(self._open)
        fill(self, self.table)

    def render(self) -> None:
        cells = self._state.cells
        is_active = self._state.active  # before the start nothing is queued
        waiting = [cell for cell in cells if is_active and cell.status == "waiting"]
        rows: dict[str, _Row] = {}
        for cell in cells:
            if cell.decoder == self._decoder:
                rung = cell.rung.rung
                row = rows.setdefault(rung.id, _Row(_(rung.title), {}, {}, {}))
                row.cells[cell.seed] = cell
                row.scores[cell.seed] = self._state.score_text(self._state.score(cell))
                row.places[cell.seed] = next(
                    (place for place, item in enumerate(waiting, 1) if item is cell), 0
                )
        self.table.set_rows(list(rows.values()))
        self.table.fit_height()

    def _open(self, row: _Row) -> None:
        column = self.table.currentIndex().column()
        seed = self._seeds[max(0, column - 1)]
        self._state.open_run(row.cells.get(seed))


def _text(seed: int, row: _Row) -> str:
    return row.text(seed)


def _tip(seed: int, row: _Row) -> str:
    return row.tip(seed)


def _icon(seed: int, row: _Row) -> tuple[str, str] | None:
    cell = row.cells[seed]
    is_planned = cell.status == "waiting" and not row.places[seed]
    return None if is_planned else ICONS.get(cell.status)


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

    def render(self) -> None:
        work = self.state.work
        rows = self.state.rows
        scored = any(summary.scores for row in rows for summary in row.by_decoder.values())
        self._stack.setCurrentIndex(int(scored))
        if work is None or not scored:
            self._show_recipe()
            return
        task, spec = work.spec.task, work.spec
        self._title.setText(self.state.score_title)
        documents = self.state.documents
        message = ngettext("{n} document", "{n} documents", documents)
        self._note.setText(message.format(n=formats.count(documents)) if documents else "")
        self._show_legend(spec.decoders)
        is_share = not is_error(self.state.score_name)
        groups = [_group(row, len(spec.seeds), 100 if is_share else 1) for row in rows]
        self._chart.set_groups(groups, decimals=1 if is_share else 3)
        self._show_table(task, spec.decoders, rows)
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

    def _show_table(self, task: str, decoders: tuple[str, ...], rows: tuple[RungRow, ...]) -> None:
        if self._table is None or self._table_for != (task, *decoders):
            if self._table is not None:
                layout_of(self._scores).removeWidget(self._table)
                self._table.deleteLater()
            self._table_for = (task, *decoders)
            name = _("Scores of the rungs")
            self._table = Table(self._columns(decoders), name=name, key=_id)
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
            Column.of(removed, 126, display=partial(_removed, removed)),
            Column.of(minutes, 84),
        ]

    def _range(self, decoder: str, row: RungRow) -> str:
        scores = row.by_decoder[decoder].scores
        if not scores:
            return ""
        low, high = (self.state.score_text(end(scores.values())) for end in (min, max))
        return _("{low} to {high}, n = {n}", low=low, high=high, n=len(scores))

    def picture_size(self) -> QSize:
        return self._chart_card.size()

    def draw_picture(self, painter: QPainter, _area: QRectF) -> None:
        self._chart_card.render(painter, QPoint())

    def _ask_data(self) -> None:
        path, _kind = QFileDialog.getSaveFileName(
            self, _("Save data"), "ladder.json", "JSON (*.json)"
        )
        if path:
            self.state.save(Path(path))


def _id(row: RungRow) -> str:
    return row.rung.rung.id


def _trained(column: columns.Column, row: RungRow) -> str | None:
    parameters = column.value(row)
    if parameters is None:
        return None
    if parameters < 1e6:
        return _("{n} k", n=formats.decimal(parameters / 1e3, 0))
    return _("{n} M", n=formats.decimal(parameters / 1e6, 1))


def _removed(column: columns.Column, row: RungRow) -> str | None:
    share = column.value(row)
    return None if share is None else f"{formats.points(share)}%"


def _group(row: RungRow, expected: int, unit: float) -> SystemScores:
    series = tuple(
        tuple(unit * score for score in summary.scores.values())
        for summary in row.by_decoder.values()
    )
    done, total = sum(map(len, series)), expected * len(series)
    note = ngettext("{done} of {total} run", "{done} of {total} runs", total)
    note = note.format(done=done, total=total)
    if row.rung.missing:
        note = _("not available")
    return SystemScores(_(row.rung.rung.title), note, series, expected)
