"""The left side of an experiment's page: choices and runs; below, how far they are, and buttons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from workbench.base.i18n import _, ngettext
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.job_view import JobView
from workbench.ui.widgets.layout import clear, column, fill, layout_of, line, scrolled
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.experiments.experiment import Cell
    from workbench.ui.project.experiment_state import ExperimentState

ICONS = {
    "done": ("circle-check", "good"),
    "running": ("activity", "accent"),
    "waiting": ("clock", "faint"),
    "failed": ("circle-x", "bad"),
}
RUN = 88  # width of a column of runs, pixels at 100%


class ExperimentSide(QFrame):
    """choices: cannot be changed while runs are computed. runs: what shows them, below. views: what
    can be changed at any time. actions: further buttons.
    """

    def __init__(
        self,
        state: ExperimentState,
        title: str,
        choices: Sequence[QWidget],
        runs: QWidget,
        *,
        views: Sequence[QWidget] = (),
        actions: Sequence[Button] = (),
    ):
        super().__init__()
        self._state = state
        message = _(
            "Finished runs with these settings and labels are used again, so you can close "
            "Glossbench and continue later."
        )
        self._missing = Callout(tone="warn")
        self._start = Button(_("Start experiment"), "play", "primary", on=self._begin)
        self._run_on = QLineEdit(state.run_on)
        self._run_on.setPlaceholderText(_("this computer"))
        self._run_on.textChanged.connect(self._choose_cluster)
        self._at_once = SpinBox(0, state.most_at_once)
        self._at_once.setSpecialValueText(_("as many as it has room for"))
        self._at_once.setValue(state.at_once)
        self._at_once.valueChanged.connect(self._choose_cluster)
        self._several = TitledField(_("Runs at a time"), self._at_once)
        hint = _("A Ray cluster that trains, by address, such as ray://192.168.1.5:10001.")
        self._choices = (*choices, TitledField(_("Run on"), self._run_on, hint), self._several)
        self._several.setVisible(bool(state.run_on))
        pause = Button(_("Pause after this run"), "pause", on=state.pause)
        cancel = Button(_("Cancel"), "x", "danger", on=state.cancel)
        self._job = JobView(state, pause, cancel, beside=False)
        middle = column(
            words(title, "heading", weight=600),
            *self._choices,
            *views,
            line(),
            words(message, "small", "muted", wrap=True),
            runs,
            self._missing,
            None,
            gap=12,
            margins=(16, 14, 16, 14),
        )
        self.setProperty("part", "side")
        self.setMinimumWidth(400)
        self.setMaximumWidth(620)
        # a second click on Start, which is hidden then, must not press Pause or Cancel
        buttons = flow(*actions, cancel, pause, None, self._start)
        # not scrolled: what is going on stays visible in a small window
        foot = column(
            self._job, self._job.message, buttons, gap=10, margins=(16, 10, 16, 10), part="bar"
        )
        fill(self, (scrolled(middle), 1), foot, gap=0)

    def _choose_cluster(self) -> None:
        self._state.choose_cluster(self._run_on.text(), self._at_once.value())
        self._several.setVisible(bool(self._state.run_on))

    def _begin(self) -> None:
        from workbench.ui.dialogs import consent

        if consent.may_run(self._state.needed_consent()):
            self._state.start()

    def render(self) -> None:
        state = self._state
        for choice in self._choices:
            choice.setEnabled(not state.active)
        self._show_job()
        left_out = {
            cell.group: _("{rung} is left out: {reason}.", rung=cell.title, reason=cell.message)
            for cell in state.cells
            if cell.spec is None and cell.run is None
        }
        self._missing.set("\n".join(left_out.values()))

    def _show_job(self) -> None:
        state = self._state
        if self._start.hasFocus() and state.active:
            self.setFocus()  # Qt would move it from a hidden button to Cancel
        self._start.setVisible(not state.active)
        self._start.setEnabled(state.can_start)
        begun = any(cell.run is not None for cell in state.cells)
        self._start.set_text(_("Continue experiment") if begun else _("Start experiment"))
        running = len(state.work.running) if state.work else 0
        self._job.stop.set_text(
            _("Pause after these runs") if running > 1 else _("Pause after this run")
        )
        live = state.live
        minutes = max(1, round(live.seconds_left / 60))
        left = ngettext("about {n} min left", "about {n} min left", minutes)
        self._job.show_job(live, left if live.seconds_left else "")
        self._job.setVisible(bool(live.title))
        if state.work is None:  # a choice is missing, nothing has failed
            self._job.message.set(live.message, "accent")


@dataclass(frozen=True)
class RunRow:
    """A row of runs: those of a group over seeds, or of all groups with one seed and fold."""

    title: str
    cells: Sequence[Cell]


class CellTable(Table):
    """Runs with their scores, or how far they are: rows are `RunRow`s.

    title: of the column of titles. runs: titles of the other columns, in the order of the cells.
    """

    def __init__(self, state: ExperimentState, title: str, runs: Sequence[str], *, name: str = ""):
        columns = [
            Column(title, lambda row: row.title),
            *(self._column(number, run) for number, run in enumerate(runs)),
        ]
        super().__init__(columns, name=name or _("Runs"), key=lambda row: row.title)
        self._state = state
        self.opened.connect(self._open)

    def _column(self, number: int, title: str) -> Column:
        return Column(
            title,
            lambda row: self._state.cell_text(row.cells[number]),
            RUN,
            right=True,
            icon=lambda row: self._icon(row.cells[number]),
            tip=lambda row: self._state.cell_hint(row.cells[number]),
        )

    def _icon(self, cell: Cell) -> tuple[str, str] | None:
        is_planned = cell.status == "waiting" and not self._state.position(cell)
        return None if is_planned else ICONS.get(cell.status)

    def _open(self, row: RunRow) -> None:
        self._state.open_run(row.cells[max(0, self.currentIndex().column() - 1)])


@dataclass(frozen=True)
class RunTable:
    """A table to show. title: of the column of titles; runs: titles of the others. name: of the
    table.
    """

    title: str
    runs: Sequence[str]
    rows: Sequence[RunRow]
    name: str = ""


class RunTables(QFrame):
    """Tables of runs, which are made again when their columns change."""

    def __init__(self, state: ExperimentState):
        super().__init__()
        self._state = state
        self._tables: list[CellTable] = []
        self._titles: object = ()
        fill(self, gap=12)

    def show_tables(self, *tables: RunTable) -> None:
        titles = [(table.title, *table.runs, table.name) for table in tables]
        if titles != self._titles:
            clear(layout_of(self))
            self._titles = titles
            self._tables = [
                CellTable(self._state, table.title, table.runs, name=table.name) for table in tables
            ]
            for widget in self._tables:
                layout_of(self).addWidget(widget)
        for widget, table in zip(self._tables, tables, strict=True):
            widget.set_rows(table.rows)
            widget.fit_height()


class HasSeeds(Protocol):
    """seeds: as typed."""

    seeds: str

    def choose(self, **choices: Any) -> None: ...


class SeedsField(TitledField):
    def __init__(self, state: HasSeeds):
        self._state, self._line = state, QLineEdit(state.seeds)
        super().__init__(_("Seeds"), self._line, name=_("Seeds"))
        self._line.editingFinished.connect(self._typed)

    def render_seeds(self) -> None:
        self._line.setText(self._state.seeds)

    def _typed(self) -> None:
        if self._line.text() != self._state.seeds:
            self._state.choose(seeds=self._line.text())
