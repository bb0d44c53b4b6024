"""The runs of an experiment with one decoder: rungs × seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.ui.style import formats
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.experiments.ladder import LadderCell
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
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.table)

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
