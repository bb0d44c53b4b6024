"""The board of several layers: the main score of each system in every layer, and their mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QCheckBox, QFileDialog, QVBoxLayout, QWidget

from workbench.base.i18n import _, ngettext
from workbench.text.columns import titled
from workbench.ui.panels.results.board.average_state import (
    DEFINITION,
    AverageState,
    average_columns,
    documents_text,
    kind_text,
)
from workbench.ui.panels.results.runs.gold_text import SPLITS
from workbench.ui.style import theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.evaluation.board_average import Average, AverageSystem, LayerScore
    from workbench.text import columns

CELL = 150  # pixels at 100%: width of a score


def _flowing(boxes: Sequence[QWidget]) -> QWidget:
    holder = QWidget()
    layout = FlowLayout(holder, gap=14)
    for box in boxes:
        layout.addWidget(box)
    return holder


def ask_file(parent: QWidget, name: str, kinds: str, title: str = "") -> Path | None:
    """Ask where to save a board; the suffix, or else the chosen kind, selects the format.

    title: of the dialog for something else.
    """
    path, kind = QFileDialog.getSaveFileName(parent, title or _("Export board"), name, kinds)
    suffixes = re.findall(r"\*(\.\w+)", kinds)
    if not path or Path(path).suffix.lower() in suffixes:
        return Path(path) if path else None
    return Path(path + next(suffix for suffix in suffixes if f"*{suffix}" in kind))


class AverageDialog(Dialog):
    def __init__(self, parent: QWidget, state: AverageState) -> None:
        super().__init__(parent, _("Average over layers"), width=980)
        self.state = state
        boxes = [self._box(name) for name in state.layers]
        self._split = Segments(*SPLITS.items(), name=_("Test set"))
        self._split.chosen.connect(state.show_split)
        self._busy = words("", "small", "accent")
        self.put(row(words(_("Test set"), "small", "muted"), self._split, None, self._busy, gap=10))
        self.put(_flowing(boxes))
        self._problem = Callout("", "warn")
        self.put(self._problem)
        self._place = QVBoxLayout()
        self._place.setContentsMargins(0, 0, 0, 0)
        holder = QWidget()
        holder.setLayout(self._place)
        holder.setMinimumHeight(theme.px(220))
        self.put(holder)
        self._table: Table | None = None
        self._shown: tuple[LayerScore, ...] | None = None
        self._about = words("", "caption", "muted", wrap=True)
        self.put(self._about)
        self.put(words(_(DEFINITION), "caption", "muted", wrap=True))
        self._export = Button(_("Export…"), "upload", on=self.export)
        self.end(self._export, None, Button(_("Close"), kind="primary", on=self.reject))
        state.listen(state.changed, self.render)
        self.render(frozenset())

    def _box(self, name: str) -> QCheckBox:
        box = QCheckBox(name.replace("&", "&&"))
        box.setChecked(name in self.state.chosen)
        box.toggled.connect(lambda on: self.state.choose(name, on))
        return box

    def render(self, _fields: frozenset[str]) -> None:
        state = self.state
        self._split.set(state.split)
        self._busy.setText(state.busy)
        self._problem.set(state.problem, "warn")
        average = state.average
        self._export.setEnabled(average is not None)
        if average is None:
            if self._table is not None:
                self._table.set_rows(())
            self._about.setText("")
            return
        if self._table is None or average.layers != self._shown:
            self._shown = average.layers
            self._make_table(average)
        if self._table is not None:
            self._table.set_rows(average.systems)
        self._about.setText(documents_text(average))

    def _make_table(self, average: Average) -> None:
        """A table with a column for each layer."""
        if self._table is not None:
            self._place.removeWidget(self._table)
            self._table.deleteLater()
        system, kind, *layers, mean = titled(average_columns(average))
        columns = [
            Column.of(system, tip=system.value),
            Column.of(kind, 110, display=kind_text),
            *map(self._column, layers, average.layers),
            Column.of(mean, 100, sort=lambda item: item.average),
        ]
        self._table = Table(
            columns,
            name=_("Average over layers"),
            key=lambda item: (item.kind, item.name),
            sortable=True,
        )
        self._place.addWidget(self._table)

    def _column(self, column: columns.Column, layer: LayerScore) -> Column:
        def value(item: AverageSystem) -> float | None:
            score = item.cells.get(layer.layer)
            return score.value if score is not None else None

        def runs(item: AverageSystem) -> str:
            score = item.cells.get(layer.layer)
            if score is None:
                return ""
            return ngettext(
                "{n} run: {names}",
                "{n} runs: {names}",
                len(score.runs),
                names=", ".join(score.runs),
            )

        return Column.of(column, CELL, tip=runs, sort=value, hint=layer.title)

    def export(self) -> None:
        """Ask for a file; its suffix selects the format."""
        kinds = _("CSV (*.csv);;Markdown (*.md)")
        name = f"average-{self.state.split}.csv"
        if (file := ask_file(self, name, kinds)) is not None:
            self.state.save(file)

    def done(self, result: int) -> None:
        self.state.close()
        super().done(result)
