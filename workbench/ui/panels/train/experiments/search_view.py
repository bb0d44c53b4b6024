"""The search on the Train page: choices, ranges and budget on the left, trials on the right."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QCheckBox, QComboBox, QFrame, QGridLayout, QLineEdit, QMenu, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.commands import MenuChoice
from workbench.ui.panel import View
from workbench.ui.panels.train.experiments.search_results import SearchResults
from workbench.ui.panels.train.experiments.search_state import MINUTES, TRIALS, SearchState
from workbench.ui.panels.train.experiments.side import ExperimentSide
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.controls.button import Button, Segments, icon_button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.words import call, words
from workbench.ui.widgets.layout import clear, row, side_by_side
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.text import context_menu

if TYPE_CHECKING:
    from workbench.base.options import Option
    from workbench.ui.panels.train.experiments.search_state import RangeRow

TITLE, END, SCALE = 92, 56, 84  # widths of a title, an end and a choice of scales, pixels at 100%
NEW = ""  # in the choice of searches


class SearchView(View):
    state: SearchState

    def __init__(self, state: SearchState):
        super().__init__(state)
        self._results, self._ranges = SearchResults(state), RangeFields(state)
        self._counts = words("", "small", "muted")
        self._build_choices()
        self._build_budget()
        choices = (
            self._searches,
            row((self._layer_field, 1), (self._model_field, 1), gap=12),
            row((self._score_field, 1), (self._sampler_field, 1), gap=12),
            self._ranges,
            self._budget_row,
            self._keeps_all,
        )
        self._side = ExperimentSide(state, _("Search"), choices, self._counts)
        fill_with(self, side_by_side(self._side, self._results, width=448, most=560))

    def _build_choices(self) -> None:
        state = self.state
        self._which = combo(name=_("Search"))
        self._which.activated.connect(lambda _i: self._choose_search())
        self._new = Button(_("New search"), "plus", small=True, on=state.new)
        self._searches = row((self._which, 1), self._new)
        self._layer, self._model, self._score, self._sampler = (combo() for _box in range(4))
        self._layer.activated.connect(lambda _i: state.choose(layer=self._layer.currentData()))
        self._model.activated.connect(lambda _i: state.choose(model=self._model.currentData()))
        self._score.activated.connect(lambda _i: state.choose(score=self._score.currentData()))
        self._sampler.activated.connect(lambda _i: self._choose_sampler())
        self._layer_field = TitledField(_("Layer"), self._layer)
        self._model_field = TitledField(_("Model"), self._model)
        self._score_field = TitledField(_("Best value of"), self._score)
        self._sampler_field = TitledField(
            _("Method"), self._sampler, name=_("Method of the search")
        )
        self.first: QWidget | None = self._layer

    def _build_budget(self) -> None:
        state = self.state
        self._budget = Segments((TRIALS, _("Trials")), (MINUTES, _("Minutes")), name=_("Budget"))
        self._budget.chosen.connect(lambda budget: state.choose(budget=budget))
        self._amount, self._seed = QLineEdit(), QLineEdit()
        self._amount.editingFinished.connect(self._amount_typed)
        self._seed.editingFinished.connect(lambda: self._typed("seed", self._seed))
        self._amount_field = TitledField(_("Number"), self._amount, name=_("Budget"))
        self._seed_field = TitledField(_("Seed"), self._seed, name=_("Seed of the search"))
        kind = TitledField(_("Limit"), self._budget)
        self._budget_row = row((kind, 3), (self._amount_field, 2), (self._seed_field, 2), gap=12)
        self._keeps_all = QCheckBox(_("Keep the weights of all trials"))
        message = _("Otherwise of the best trial only; scores and predictions of all stay.")
        escaping.set_tip(self._keeps_all, message)
        self._keeps_all.toggled.connect(lambda on: state.choose(keeps_all=on))

    def _choose_search(self) -> None:
        name = str(self._which.currentData())
        self.state.open(name) if name else self.state.new()

    def _choose_sampler(self) -> None:
        sampler, prune = self._sampler.currentData()
        self.state.choose(sampler=sampler, prune=prune)

    def _amount_typed(self) -> None:
        self._typed(self.state.budget, self._amount)

    def _typed(self, field: str, box: QLineEdit) -> None:
        if getattr(self.state, field) != box.text():
            self.state.choose(**{field: box.text()})

    # ---------------------------------------------------------------- rendering

    def render(self, fields: frozenset[str]) -> None:
        if concerns(fields, "layers", "layer", "models", "model", "score", "sampler", "name"):
            self._fill_choices()
        if concerns(fields, "ranges", "errors", "name", "layer", "model", "work"):
            self._ranges.render()
        if concerns(fields, "budget", "trials", "minutes", "seed", "errors", "keeps_all", "name"):
            self._show_budget()
        self._show_work()
        self._results.render()

    def _fill_choices(self) -> None:
        state = self.state
        layers = [
            (name, ngettext("{name} ({n})", "{name} ({n})", n, name=name))
            for name, n in state.layers
        ]
        fill(self._layer, layers, state.layer)
        fill(self._model, [(name, name) for name in state.usable_models], state.model)
        fill(self._score, list(state.scores), state.score)
        fill(self._sampler, list(state.samplers), (state.sampler, state.prune))
        searches = [(name, name) for name in state.searches]
        fill(self._which, [*([] if state.name else [(NEW, _("New"))]), *searches], state.name)
        self._searches.setVisible(bool(searches))

    def _show_budget(self) -> None:
        state = self.state
        self._budget.set(state.budget)
        amount = state.trials if state.budget == TRIALS else state.minutes
        for box, text in ((self._amount, amount), (self._seed, state.seed)):
            if box.text() != text:
                box.setText(text)
        self._amount_field.set_error(state.errors.get(state.budget, ""))
        self._seed_field.set_error(state.errors.get("seed", ""))
        if self._keeps_all.isChecked() != state.keeps_all:
            blocked = self._keeps_all.blockSignals(True)
            self._keeps_all.setChecked(state.keeps_all)
            self._keeps_all.blockSignals(blocked)

    def _show_work(self) -> None:
        state = self.state
        self._side.render()
        can_change = not state.active and not state.name
        fields = (self._layer_field, self._model_field, self._score_field, self._sampler_field)
        for choice in (*fields, self._seed_field, self._keeps_all, self._ranges):
            choice.setEnabled(can_change)
        self._new.setVisible(bool(state.name))
        self._counts.setText(state.counts)
        self._counts.setVisible(bool(state.counts))


class RangeFields(QFrame):
    """A row for each setting: whether it is searched, its ends, its scale."""

    def __init__(self, state: SearchState):
        super().__init__()
        self._state = state
        self._rows: dict[str, _RangeRow] = {}
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(6)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(0, 1)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.add = Button(
            _("Add setting"),
            "plus",
            small=True,
            menu=self._menu,
            tip=_("One value is that of every trial; several are searched"),
        )
        head = row(
            words(_("Ranges"), weight=600), None, words(_("unticked: default"), "small", "muted")
        )
        fill_with(self, head, self._grid, row(self.add, None), gap=10)

    def _fill_menu(self) -> None:
        state = self._state
        used = {item.name for item in state.ranges}
        groups: dict[bool, list[MenuChoice | None]] = {True: [], False: []}
        for option in state.options.values():
            if option.name not in used:
                act = partial(self._added, option.name)
                title = escaping.menu_text(state.title_of(option))
                groups[option.group == "main"].append(MenuChoice(title, act, tip=_(option.help)))
        more = MenuChoice(_("More"), choices=tuple(groups[False]))
        context_menu.fill(self._menu, [*groups[True], more])

    def _added(self, name: str) -> None:
        self._state.add_range(name)
        if name in self._rows:
            self._rows[name].values.setFocus()

    def render(self) -> None:
        """Rows are rebuilt only when settings were added or removed, so that typing goes on."""
        options = self._state.options
        ranges = [item for item in self._state.ranges if item.name in options]
        if list(self._rows) != [item.name for item in ranges]:
            clear(self._grid)
            self._rows = {}
            for at, item in enumerate(ranges):
                self._rows[item.name] = _RangeRow(self._state, options[item.name])
                self._rows[item.name].place(self._grid, 2 * at)
        for item in ranges:
            self._rows[item.name].show(item, self._state.errors.get(item.name, ""))


class _RangeRow:
    """The widgets of a setting."""

    def __init__(self, state: SearchState, option: Option):
        self._state, self._option, self._title = state, option, state.title_of(option)
        self.on = QCheckBox()
        self.on.setText(self._shortened())
        call(self.on, self._title)
        escaping.set_tip(self.on, f"{self._title}: {_(option.help)}")
        self.on.toggled.connect(lambda on: state.change_range(option.name, on=on))
        self.low, self.high, self.values = QLineEdit(), QLineEdit(), QLineEdit()
        call(self.low, _("Lowest value of {setting}", setting=self._title))
        call(self.high, _("Highest value of {setting}", setting=self._title))
        call(self.values, _("Values of {setting}", setting=self._title))
        self.values.setPlaceholderText(", ".join(option.choices))
        for name, box in (("low", self.low), ("high", self.high), ("values", self.values)):
            box.editingFinished.connect(partial(self._typed, name, box))
        for box in (self.low, self.high):
            box.setFixedWidth(theme.px(END))
        self.scale: QComboBox = combo(name=_("Scale of {setting}", setting=self._title))
        fill(self.scale, state.scales_of(option))
        self.scale.setFixedWidth(theme.px(SCALE))
        self.scale.activated.connect(lambda _i: self._scale_chosen())
        self._to = words(_("to"), "small", "muted")
        message = _("Remove {setting}", setting=self._title)
        self.remove = icon_button("x", message, lambda: state.drop_range(option.name))
        self._ends = row(self.low, self._to, self.high, gap=6)
        self.error = words("", "caption", "bad", wrap=True)

    def _shortened(self) -> str:
        """A check box does not elide its text."""
        metrics = QFontMetrics(theme.font())
        return metrics.elidedText(self._title, Qt.TextElideMode.ElideRight, theme.px(TITLE))

    def place(self, grid: QGridLayout, at: int) -> None:
        grid.addWidget(self.on, at, 0)
        grid.addWidget(self._ends, at, 1)
        grid.addWidget(self.values, at, 1)
        grid.addWidget(self.scale, at, 2)
        grid.addWidget(self.remove, at, 3)
        grid.addWidget(self.error, at + 1, 0, 1, 4)

    def show(self, item: RangeRow, error: str) -> None:
        blocked = self.on.blockSignals(True)
        self.on.setChecked(item.on)
        self.on.blockSignals(blocked)
        is_list = item.is_list
        self._ends.setVisible(not is_list)
        self.values.setVisible(is_list)
        self.scale.setCurrentIndex(self.scale.findData(item.scale))
        for box, text in ((self.low, item.low), (self.high, item.high), (self.values, item.values)):
            if box.text() != text:
                box.setText(text)
            box.setEnabled(item.on)
        self.scale.setEnabled(item.on)
        self.error.setText(error)
        self.error.setVisible(bool(error))

    def _typed(self, name: str, box: QLineEdit) -> None:
        rows = {item.name: item for item in self._state.ranges}
        item = rows.get(self._option.name)
        if item is not None and getattr(item, name) != box.text():
            self._state.change_range(self._option.name, **{name: box.text()})

    def _scale_chosen(self) -> None:
        self._state.change_range(self._option.name, scale=str(self.scale.currentData()))
