"""The right side of an experiment's page: a chart of its scores above tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFileDialog, QFrame, QWidget

from workbench.base.i18n import _, ngettext
from workbench.ui.style.run_text import is_error
from workbench.ui.widgets.charts.saving import Savable, ask_picture, more_button
from workbench.ui.widgets.charts.system_scores import LadderChart, SystemScores
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.layout import column
from workbench.ui.widgets.pages import PageLayout

if TYPE_CHECKING:
    from workbench.operations.experiments.experiment import Row
    from workbench.ui.project.experiment_state import ExperimentState


class ExperimentResults(Savable, QFrame):
    """An empty state until the first run is finished; then what `put` has placed.

    name: suggested for files. `more`: the menu that saves the card of the chart as a picture, and
    the report of the experiment.
    """

    state: ExperimentState

    def __init__(self, state: ExperimentState, name: str):
        super().__init__()
        self.state, self._name = state, name
        self._stack = PageLayout(self)
        self._empty = EmptyState("chart-column", _("No run of this experiment is finished yet"))
        self._stack.addWidget(self._empty)
        self._chart_card: QWidget = self
        self.title = words("", weight=600)
        self.more = more_button(
            self,
            _("Save the chart"),
            (_("Save image…"), lambda: ask_picture(self, (self,), name)),
            (_("Save data…"), self._ask_data),
        )

    def put(self, chart_card: QFrame, *below: QWidget) -> None:
        self._chart_card = chart_card
        content = column((chart_card, 1), *below, gap=12, margins=(16, 16, 16, 16))
        self._stack.addWidget(content)

    def show_scores(self, rows: Sequence[Row], recipe: str) -> bool:
        """Whether there are scores. recipe: what the experiment does, said as long as there are
        none.
        """
        scored = any(summary.scores for row in rows for summary in row.by_series.values())
        self._stack.setCurrentIndex(int(scored and self.state.work is not None))
        self._empty.set(_("No run of this experiment is finished yet"), recipe)
        self.title.setText(self.state.score_title)
        return scored

    def show_groups(self, chart: LadderChart, rows: Sequence[Row], runs: int = 0) -> None:
        """The rows as groups of a chart. runs: of a series, all of its cells by default."""
        is_share = not is_error(self.state.score_name)
        unit = 100.0 if is_share else 1.0
        groups = [scores_of(row, runs or len(row.first.cells), unit) for row in rows]
        chart.set_groups(groups, decimals=1 if is_share else 3)

    def picture_size(self) -> QSize:
        return self._chart_card.size()

    def draw_picture(self, painter: QPainter, _area: QRectF) -> None:
        self._chart_card.render(painter, QPoint())

    def _ask_data(self) -> None:
        path, _kind = QFileDialog.getSaveFileName(
            self, _("Save data"), f"{self._name}.json", "JSON (*.json)"
        )
        if path and self.state.work is not None:
            work: Any = self.state.work  # each has a report of its own
            self.state.save(Path(path), work.report())


def scores_of(row: Row, expected: int, unit: float) -> SystemScores:
    """A group for the chart. expected: runs of each series. unit: 100 for percent."""
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
