"""Seeds and folds on the Train page: systems and runs on the left, scores on the right."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QMenu, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.commands import MenuChoice
from workbench.ui.panel import View
from workbench.ui.panels.train.experiments.repeat_state import FOLDS, RepeatState
from workbench.ui.panels.train.experiments.results import ExperimentResults
from workbench.ui.panels.train.experiments.side import (
    ExperimentSide,
    RunRow,
    RunTable,
    RunTables,
    SeedsField,
)
from workbench.ui.style import escaping
from workbench.ui.widgets.charts.system_scores import LadderChart
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import card, column, layout_of, row, side_by_side
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text import context_menu

if TYPE_CHECKING:
    from workbench.operations.experiments.experiment import Row
    from workbench.operations.experiments.repeat import Repeat, System
    from workbench.text import columns


class RepeatView(View):
    state: RepeatState

    def __init__(self, state: RepeatState):
        super().__init__(state)
        self._runs = RunTables(state)
        self._build_choices()
        choices = (
            TitledField(
                _("Systems"),
                self._systems,
                _("Settings of runs; the others are compared with the first."),
            ),
            row((self._seeds, 1), (self._folds_field, 1), gap=12),
            self._teacher_field,
        )
        self._side = ExperimentSide(state, _("Seeds and folds"), choices, self._runs)
        self._results = RepeatResults(state)
        fill_with(self, side_by_side(self._side, self._results, width=448, most=560))

    def _build_choices(self) -> None:
        state = self.state
        self._names = Table(
            (
                Column(_("System"), lambda system: system.title, most=240),
                Column(_("Settings"), _settings, prose=True, tip=_settings),
            ),
            name=_("Systems"),
            key=lambda system: system.title,
        )
        self._names.removed.connect(self._remove)
        self._names.chosen.connect(self._choose)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self._add = Button(_("Add system"), "plus", small=True, menu=self._menu)
        self._drop = Button(
            _("Remove"), "x", "quiet", small=True, on=self._remove, name=_("Remove system")
        )
        self._systems = column(self._names, row(self._add, self._drop, None), gap=8)
        self._seeds, self._folds = SeedsField(state), combo()
        self._folds.activated.connect(lambda _i: state.choose(folds=self._folds.currentData()))
        self._folds_field = TitledField(
            _("Folds"),
            self._folds,
            _("Of the documents of train and dev. Test stays unseen."),
            name=_("Folds"),
        )
        self._teacher = combo()
        self._teacher.activated.connect(
            lambda _i: state.choose(teacher=self._teacher.currentData())
        )
        self._teacher_field = TitledField(
            _("Teacher"),
            self._teacher,
            _("Distillation: each system is trained without and with what this run predicts."),
            name=_("Teacher"),
        )
        self.first: QWidget | None = self._add

    def _fill_menu(self) -> None:
        choices = [
            MenuChoice(escaping.menu_text(run.name), partial(self.state.add, run))
            for run in self.state.addable
        ]
        nothing = MenuChoice(_("No other run of this layer"), lambda: None, enabled=False)
        context_menu.fill(self._menu, choices or [nothing])

    # ---------------------------------------------------------------- render

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "systems"):
            self._show_systems()
        if concerns(fields, "seeds"):
            self._seeds.render_seeds()
        if concerns(fields, "folds"):
            self._show_folds()
        if concerns(fields, "systems", "teacher", "runs"):
            self._show_teachers()
        self._show_runs(state.work.students if state.work else ())
        self._side.render()
        self._results.render(state.rows)

    def _show_folds(self) -> None:
        """Also a number that only the command line offers."""
        counts = sorted({*FOLDS, self.state.folds})
        titles = [
            (count, ngettext("{n} fold", "{n} folds", count) if count else _("None: train and dev"))
            for count in counts
        ]
        fill(self._folds, titles, self.state.folds)

    def _show_teachers(self) -> None:
        titles = [(run.name, run.name) for run in self.state.teachers]
        fill(self._teacher, [("", _("None")), *titles], self.state.teacher)

    def _show_systems(self) -> None:
        self._names.set_rows(self.state.systems)
        self._names.fit_height()
        self._names.setVisible(bool(self.state.systems))
        self._choose()

    def _choose(self) -> None:
        self._drop.setEnabled(bool(self._names.chosen_rows()))

    def _remove(self) -> None:
        for system in self._names.chosen_rows():
            self.state.drop(system)

    def _show_runs(self, rows: Sequence[Row]) -> None:
        if self.state.work is None:
            self._runs.show_tables()
            return
        by_run = zip(*(row.first.cells for row in rows), strict=True)
        pairs = zip(self.state.run_titles, by_run, strict=True)
        items = [RunRow(title, cells) for title, cells in pairs]
        self._runs.show_tables(RunTable(_("Run"), [row.title for row in rows], items))


def _settings(system: System) -> str:
    """The model and what differs from the defaults."""
    spec = system.spec
    model = spec.model_name or Path(spec.model).name
    return ", ".join((model, *(f"{name}={value}" for name, value in spec.options.items())))


def _table(described: Sequence[columns.Column], name: str, key: Callable[[Any], Hashable]) -> Table:
    first, *others = described
    return Table(
        [Column.of(first), *(Column.of(column, 124) for column in others)], name=name, key=key
    )


class RepeatResults(ExperimentResults):
    state: RepeatState

    def __init__(self, state: RepeatState):
        super().__init__(state, "repeat")
        self._chart = LadderChart(_("Scores of the systems"), joined=False)
        legend = words(_("point: one run; short line: mean"), "caption", "muted")
        head = flow(self.title, None, legend, self.more)
        self._labels = Button(
            _("Find label errors"),
            "list-checks",
            small=True,
            on=state.find_label_errors,
            tip=_(
                "Ranks the gold labels by the out-of-fold predictions of the first system; "
                "nothing is trained"
            ),
        )
        self._scores = card(title=_("Scores"), note=_("mean ± standard deviation over runs"))
        self._differences = card(
            title=_("Paired differences"), note=_("over runs with equal seed and fold")
        )
        self._table_for: Repeat | None = None
        self._tables: tuple[Table, ...] = ()
        self._method = words("", "small", "muted", wrap=True)
        chart = card(head, (self._chart, 1), margins=(16, 10, 10, 12))
        below = row(self._labels, None), self._method
        self.put(chart, self._scores, self._differences, *below)

    def render(self, rows: Sequence[Row]) -> None:
        work = self.state.work
        if not self.show_scores(rows, self._recipe()) or work is None:
            return
        self.show_groups(self._chart, rows)
        self._show_tables(rows)
        self._labels.setVisible(bool(work.spec.folds))
        self._labels.setEnabled(self.state.can_find_label_errors)
        self._method.setText(work.method)

    def _recipe(self) -> str:
        return _(
            "Trains the settings of runs again with every seed, on train and dev or on every fold "
            "of them. Shows how much scores vary, and whether two systems differ by more than "
            "that. Runs: {n}.",
            n=len(self.state.cells),
        )

    def _show_tables(self, rows: Sequence[Row]) -> None:
        work = self.state.work
        if work is None:
            return
        text, differences = self.state.score_text, work.differences
        if self._table_for is not work:
            for table in self._tables:
                table.deleteLater()
            self._table_for = work
            scores, paired = work.columns(text), work.difference_columns(text)
            self._tables = (
                _table(scores, _("Scores of the systems"), lambda row: row.group),
                _table(paired, _("Paired differences"), lambda item: item.second),
            )
            for place, table in zip((self._scores, self._differences), self._tables, strict=True):
                layout_of(place).addWidget(table)
        for table, items in zip(self._tables, (rows, differences), strict=True):
            table.set_rows(items)
            table.fit_height()
        self._differences.setVisible(bool(differences))
