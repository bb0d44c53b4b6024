"""Learning curves: choices and runs on the left, the plot and what is read off on the right."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QFrame, QLineEdit, QSpinBox, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panel import View
from workbench.ui.panels.train.experiments.curves_results import CurvesResults, look
from workbench.ui.panels.train.experiments.curves_state import (
    MORE_DRAWS,
    MOST_DRAWS,
    CurvesState,
)
from workbench.ui.panels.train.experiments.side import ICONS, ExperimentSide
from workbench.ui.panels.train.experiments.systems_box import SystemsBox
from workbench.ui.style import formats, theme
from workbench.ui.widgets.charts.legend import SAMPLE, LegendSample
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import clear, column, layout_of, row, side_by_side
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.experiments.experiment import Row
    from workbench.operations.experiments.ladder_rungs import Rung

NAME, SIZE = 92, 46  # widths of the columns of systems and of runs, pixels at 100%


class CurvesView(View):
    state: CurvesState

    def __init__(self, state: CurvesState):
        super().__init__(state)
        self._runs = column(gap=12)
        self._table: Table | None = None
        self._table_for: tuple[int, ...] = ()
        self._listed: tuple[object, ...] = ()
        self._results = CurvesResults(state)
        self._build_choices()
        choices = (
            row((self._layer_field, 3), (self._score_field, 2), gap=12),
            self._methods,
            self._systems,
            row((self._sizes_field, 3), (self._draws_field, 1), gap=12),
        )
        views = (row((self._read_field, 3), (self._target_field, 2), gap=12), self._over_field)
        self._show = Button(_("Show runs"), "list-checks", on=state.show_runs)
        more = ngettext("Add {n} draw", "Add {n} draws", MORE_DRAWS)
        self._more = Button(more, "plus", on=state.add_draws)
        self._side = ExperimentSide(
            state,
            _("Learning curves"),
            choices,
            self._runs,
            views=views,
            actions=(self._show, self._more),
        )
        fill_with(self, side_by_side(self._side, self._results, width=400, most=560))

    def _build_choices(self) -> None:
        state = self.state
        self._layer, self._score = combo(), combo()
        self._layer.activated.connect(lambda _i: state.choose(layer=self._layer.currentData()))
        self._score.activated.connect(lambda _i: state.choose(score=self._score.currentData()))
        self._layer_field = TitledField(_("Layer"), self._layer, name=_("Layer"))
        self._score_field = TitledField(_("Score"), self._score)
        self._methods, self._systems = column(gap=8), SystemsBox(state)
        self._sizes, self._draws = QLineEdit(), QSpinBox()
        self._sizes.editingFinished.connect(self._take_sizes)
        self._draws.setRange(1, MOST_DRAWS)
        self._draws.setKeyboardTracking(False)
        self._draws.valueChanged.connect(self._take_draws)
        hint = _(
            "Each draw is a random part of train, the same for all systems; every class occurs. "
            "End the numbers with … to go up to all of train."
        )
        self._sizes_field = TitledField(_("Numbers of labels"), self._sizes, hint)
        self._draws_field = TitledField(_("Draws"), self._draws)
        self._read, self._over, self._target = combo(), combo(), QDoubleSpinBox()
        self._read.activated.connect(lambda _i: state.show(system=self._read.currentData()))
        self._over.activated.connect(lambda _i: state.show(reference=self._over.currentData()))
        self._target.setKeyboardTracking(False)
        self._target.valueChanged.connect(self._take_target)
        self._read_field = TitledField(_("Read off for"), self._read)
        self._target_field = TitledField(_("Target"), self._target)
        self._over_field = TitledField(_("Compare with"), self._over)
        self.first: QWidget | None = self._layer

    def _take_draws(self, n: int) -> None:
        if n != self.state.draws:
            self.state.choose(draws=n)

    def _take_sizes(self) -> None:
        if self._sizes.text() != self.state.sizes:
            self.state.choose(sizes=self._sizes.text())

    def _take_target(self, value: float) -> None:
        self.state.show(target=value if self.state.is_error else value / 100)

    # ---------------------------------------------------------------- render

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "layers", "layer", "have"):
            named = [
                (name, _("{name}  ({n} submitted)", name=name, n=formats.count(count)))
                for name, count in state.layers
            ]
            fill(self._layer, named, state.layer)
            if state.have:
                text = _("{n} in train", n=formats.count(state.have))
                self._layer_field.set_hint(text)
        if concerns(fields, "sizes"):
            self._sizes.setText(state.sizes)
        if concerns(fields, "draws"):
            self._draws.setValue(state.draws)
        if concerns(fields, "work", "score"):
            fill(self._score, state.scores, state.score_name)
        if concerns(fields, "rungs", "layers", "parts"):
            self._fill_methods()
        self._systems.render(fields)
        self._fill_views()
        self._show_runs(state.rows)
        self._side.render()
        self._show.setVisible(bool(state.group) and not state.active)
        begun = any(cell.run is not None for cell in state.cells)
        self._more.setVisible(begun and not state.active and state.draws < MOST_DRAWS)
        self._results.render(fields)

    def _fill_methods(self) -> None:
        """A line for each system: whether it takes part, its mark, and what it is."""
        state = self.state
        listed = (state.few, state.rungs, dict(state.missing), dict(state.parts))
        if listed == self._listed:
            return
        self._listed = listed
        clear(layout_of(self._methods))
        for rung in state.few:
            layout_of(self._methods).addWidget(self._method(rung))

    def _method(self, rung: Rung) -> QFrame:
        state, title = self.state, _(rung.title)
        box = QCheckBox()
        box.setChecked(rung in state.rungs)
        box.setAccessibleName(title)
        box.setEnabled(rung.id not in state.missing)
        box.toggled.connect(lambda _on: state.toggle(rung))
        number = state.rungs.index(rung) if rung in state.rungs else -1
        mark = LegendSample(look(title, number)) if number >= 0 else QFrame()
        text = column(
            words(title, weight=600 if number >= 0 else 400),
            words(_about(rung, state.missing.get(rung.id, "")), "small", "muted", wrap=True),
            gap=0,
        )
        mark.setFixedWidth(theme.px(SAMPLE))
        return row(box, mark, (text, 1), gap=8)

    def _fill_views(self) -> None:
        state = self.state
        titles = [(rung.id, _(rung.title)) for rung in state.rungs]
        read = state.read
        fill(self._read, titles, read.system if read is not None else state.system)
        first = titles[0][0] if titles else ""
        known = state.reference if state.reference in dict(titles) else first
        fill(self._over, titles, known)
        goal = state.goal
        self._target.blockSignals(True)
        self._target.setEnabled(goal is not None)
        if state.is_error:
            self._target.setDecimals(3)
            self._target.setRange(0.0, 1e6)
            self._target.setSingleStep(0.01)
        else:
            self._target.setDecimals(1)
            self._target.setRange(0.0, 100.0)
            self._target.setSingleStep(1.0)
        if goal is not None:
            self._target.setValue(goal if state.is_error else 100 * goal)
        self._target.blockSignals(False)

    def _show_runs(self, rows: tuple[Row, ...]) -> None:
        work = self.state.work
        sizes = work.spec.sizes if work is not None else ()
        if sizes != self._table_for or (self._table is None and sizes):
            clear(layout_of(self._runs))
            self._table, self._table_for = None, sizes
            if sizes:
                self._table = self._made_table(sizes)
                layout_of(self._runs).addWidget(self._table)
        if self._table is not None:
            self._table.set_rows(rows)
            self._table.fit_height()

    def _made_table(self, sizes: tuple[int, ...]) -> Table:
        columns = [Column(_("Labels"), lambda item: item.title, NAME, tip=lambda item: item.title)]
        columns += [self._column(size) for size in sizes]
        table = Table(columns, name=_("Runs"), key=lambda item: item.group)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        table.opened.connect(partial(self._open, table))
        return table

    def _column(self, size: int) -> Column:
        state, name = self.state, str(size)

        def tip(item: Row) -> str:
            lines = [
                _("Draw {seed}: {text}", seed=cell.seed, text=cell.message or state.cell_text(cell))
                for cell in item.by_series[name].cells
            ]
            return "\n".join(lines)

        def icon(item: Row) -> tuple[str, str] | None:
            states = {cell.status for cell in item.by_series[name].cells}
            return ICONS["failed"] if "failed" in states else None

        return Column(
            formats.count(size),
            lambda item: state.size_text(item.by_series[name].cells),
            SIZE,
            right=True,
            tip=tip,
            icon=icon,
        )

    def _open(self, table: Table, item: Row) -> None:
        at = max(0, table.currentIndex().column() - 1)
        self.state.open_point(item.group, self._table_for[at])


def _about(rung: Rung, missing: str) -> str:
    """What a system is, in words of its settings."""
    if missing:
        return missing
    options = ", ".join(f"{name}={value}" for name, value in rung.options.items())
    about = {
        "random": _("BiLSTM on random vectors, no transfer"),
        "frozen-bert": _("The pretrained model as it is; only a head learns"),
        "bert": _("The pretrained model; all layers learn"),
        "adapted": _(
            "First the language model, on all texts of train and without a split; then all layers"
        ),
    }
    return about.get(rung.id) or ", ".join(filter(None, (rung.model, options)))
