"""Experiments on the Train page: choices and runs on the left, chart and scores on the right."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QMenu,
    QWidget,
)

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.commands import MenuChoice
from workbench.ui.panel import View
from workbench.ui.panels.train.experiments.ladder_results import LadderResults
from workbench.ui.panels.train.experiments.ladder_state import LadderState
from workbench.ui.panels.train.experiments.side import (
    ExperimentSide,
    RunRow,
    RunTable,
    RunTables,
    SeedsField,
)
from workbench.ui.panels.train.experiments.systems_box import SystemsBox
from workbench.ui.style import formats
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.layout import (
    row,
    side_by_side,
)
from workbench.ui.widgets.text import context_menu

if TYPE_CHECKING:
    from workbench.operations.experiments.experiment import Row


class LadderView(View):
    state: LadderState

    def __init__(self, state: LadderState):
        super().__init__(state)
        self._cells = RunTables(state)
        self._results = LadderResults(state)
        self._build_choices()
        choices = (
            row((self._layer_field, 3), (self._seeds, 2), gap=12),
            self._systems,
        )
        self._side = ExperimentSide(state, _("Ladder"), choices, self._cells)
        fill_with(self, side_by_side(self._side, self._results, width=448, most=560))

    def _build_choices(self) -> None:
        state = self.state
        self._layer = combo()
        self._layer.activated.connect(lambda _i: state.choose(layer=self._layer.currentData()))
        self._seeds = SeedsField(state)
        self._layer_field = TitledField(_("Layer"), self._layer, name=_("Layer"))
        self._decoder_menu = QMenu(self)
        self._decoders = Button(_("Decoders"), menu=self._decoder_menu, small=True)
        self._systems = SystemsBox(state, self._decoders)
        self.first: QWidget | None = self._layer

    # ---------------------------------------------------------------- render

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "layers", "layer"):
            named = [
                (name, _("{name}  ({n} submitted)", name=name, n=formats.count(count)))
                for name, count in state.layers
            ]
            fill(self._layer, named, state.layer)
        if concerns(fields, "seeds"):
            self._seeds.render_seeds()
        self._systems.render(fields)
        if concerns(fields, "layer", "layers", "left_out"):
            self._fill_decoders()
        rows = state.rows
        self._show_tables(rows)
        self._side.render()
        self._results.render(rows)

    def _fill_decoders(self) -> None:
        decoders = self.state.decoders
        self._decoders.setVisible(len(decoders) > 1)
        names = [title for _id, title, on in decoders if on]
        choices = [  # one is needed
            MenuChoice(title, partial(self.state.toggle_decoder, id), names != [title], on=on)
            for id, title, on in decoders
        ]
        context_menu.fill(self._decoder_menu, choices)
        self._decoders.set_text(_("Decoders: {names}", names=", ".join(names)))

    def _show_tables(self, rows: Sequence[Row]) -> None:
        work, tables = self.state.work, list[RunTable]()
        for decoder in work.spec.decoders if work else ():
            title = self.state.decoder_title(decoder)
            seeds = [_("Seed {seed}", seed=seed) for seed in work.spec.seeds] if work else []
            items = [RunRow(row.title, row.by_series[decoder].cells) for row in rows]
            tables.append(RunTable(title or _("Rung"), seeds, items, title))
        self._cells.show_tables(*tables)
