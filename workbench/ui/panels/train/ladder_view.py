"""Experiments on the Train page: choices and runs on the left, chart and scores on the right."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QLineEdit,
    QMenu,
    QVBoxLayout,
    QWidget,
)

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.commands import MenuChoice
from workbench.ui.panel import View
from workbench.ui.panels.train.ladder_results import CellTable, LadderResults
from workbench.ui.panels.train.ladder_state import LadderState
from workbench.ui.style import escaping, formats
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.form import Form
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.job_view import JobView
from workbench.ui.widgets.layout import (
    bar,
    clear,
    column,
    layout_of,
    line,
    row,
    scrolled,
    side_by_side,
)
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.text import context_menu

if TYPE_CHECKING:
    from workbench.base.options import Option
    from workbench.operations.experiments.experiment import Row


class LadderView(View):
    state: LadderState

    def __init__(self, state: LadderState):
        super().__init__(state)
        self._cells = column(gap=12)
        self._tables: list[CellTable] = []
        self._tables_for: tuple[object, ...] = ()
        self._results = LadderResults(state)
        fill_with(self, side_by_side(self._side(), self._results, width=448, most=560))

    def _side(self) -> QFrame:
        self._build_choices()
        state = self.state
        message = _(
            "Finished runs with these settings and labels are used again, so you can close "
            "Glossbench and continue later."
        )
        self._missing = Callout(tone="warn")
        self._start = Button(_("Start experiment"), "play", "primary", on=state.start)
        pause = Button(_("Pause after this run"), "pause", on=state.pause)
        cancel = Button(_("Cancel"), "x", "danger", on=state.cancel)
        self._job = JobView(state, pause, cancel, beside=False)
        middle = column(
            words(_("Ladder"), "heading", weight=600),
            row((self._layer_field, 3), (self._seeds_field, 2), gap=12),
            self._settings,
            flow(self._rungs, self._decoders, self._more, gap=6),
            self._own,
            line(),
            self._job,
            words(message, "small", "muted", wrap=True),
            self._cells,
            self._missing,
            self._job.message,
            None,
            gap=12,
            margins=(16, 14, 16, 14),
        )
        side = QFrame()
        side.setProperty("part", "side")
        side.setMinimumWidth(400)
        side.setMaximumWidth(620)
        # a second click on Start, which is hidden then, must not press Pause or Cancel
        buttons = bar(cancel, pause, None, self._start, margins=(16, 10, 16, 10))
        fill_with(side, (scrolled(middle), 1), buttons, gap=0)
        return side

    def _build_choices(self) -> None:
        state = self.state
        self._layer = combo()
        self._layer.activated.connect(lambda _i: state.choose(layer=self._layer.currentData()))
        self._seeds, self._settings = QLineEdit(state.seeds), LadderSettings(state)
        self._seeds.editingFinished.connect(self._seeds_typed)
        self._layer_field = TitledField(_("Layer"), self._layer, name=_("Layer"))
        self._seeds_field = TitledField(_("Seeds"), self._seeds, name=_("Seeds"))
        self._menu, self._decoder_menu = QMenu(self), QMenu(self)
        self._rungs = Button(_("Rungs"), menu=self._menu, small=True)
        self._decoders = Button(_("Decoders"), menu=self._decoder_menu, small=True)
        self._more = Button(
            _("Models"),
            "chevron-right",
            "quiet",
            small=True,
            on=self._fold,
            tip=_("Replace models of the rungs, or add a custom configuration"),
        )
        self._parts: dict[str, QComboBox] = {}
        self._rung, self._model, self._method = QLineEdit(), combo(), combo()
        self._rung.setPlaceholderText(_("Title, for example Frozen BERT"))
        self._rung.returnPressed.connect(self._add_rung)
        hint = _("Remove it again in the menu of rungs.")
        self._rung_field = TitledField(
            _("Custom configuration"), self._rung, hint, name=_("Title of the custom configuration")
        )
        model = TitledField(_("Model"), self._model, name=_("Model of the custom configuration"))
        method = TitledField(
            _("Training method"), self._method, name=_("Method of the custom configuration")
        )
        add = Button(_("Add"), "plus", on=self._add_rung, name=_("Add rung"))
        self._rung_field.put_beside(add)
        self._own = column(self._rung_field, row((model, 1), (method, 1), gap=12), gap=10)
        self._own.hide()
        self.first: QWidget | None = self._layer

    def _fold(self) -> None:
        unfolds = self._own.isHidden()
        if unfolds and not self._parts:
            self._make_parts()
        self._own.setVisible(unfolds)
        self._more.set_icon("chevron-down" if unfolds else "chevron-right")

    def _make_parts(self) -> None:
        grid = QGridLayout()
        grid.setSpacing(10)
        for at, (part, title, _default, _names) in enumerate(self.state.part_choices):
            box = self._parts[part] = combo(name=title)
            box.activated.connect(
                lambda _i, part=part, box=box: self.state.use(part, box.currentData())
            )
            grid.addWidget(TitledField(title, box), *divmod(at, 2))
        layout_of(self._own).insertLayout(0, grid)
        self._fill_parts()

    def _fill_parts(self) -> None:
        fill(self._model, [(name, name) for name in self.state.models], self._model.currentData())
        fill(self._method, self.state.methods, self._method.currentData())
        for part, _title, default, names in self.state.part_choices:
            if part in self._parts:
                items = [(name, name) for name in names if name != default]
                fill(self._parts[part], [("", default), *items], self.state.parts.get(part, ""))

    def _add_rung(self) -> None:
        model, method = str(self._model.currentData()), str(self._method.currentData())
        if self.state.add_rung(self._rung.text().strip(), model, method):
            self._rung.clear()

    def _seeds_typed(self) -> None:
        if self._seeds.text() != self.state.seeds:
            self.state.choose(seeds=self._seeds.text())

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
            self._seeds.setText(state.seeds)
        if concerns(fields, "settings", "rungs", "layer", "layers"):
            self._settings.render()
        if concerns(fields, "rungs", "layers", "parts", "work"):
            self._fill_rungs()
            self._fill_parts()
        if concerns(fields, "layer", "layers", "left_out"):
            self._fill_decoders()
        self._rung_field.set_error(state.rung_error)
        rows = state.rows
        self._show_work(rows)
        self._results.render(rows)

    def _fill_rungs(self) -> None:
        state = self.state
        choices = []
        for rung in state.offered:
            missing, title = state.missing.get(rung.id, ""), _(rung.title)
            text = _("{rung}: {reason}", rung=title, reason=missing) if missing else title
            act = partial(state.toggle, rung)
            name = escaping.menu_text(text)
            choices.append(MenuChoice(name, act, not missing, on=rung in state.rungs))
        context_menu.fill(self._menu, choices)
        self._rungs.set_text(
            _("Rungs: {n} of {total}", n=len(state.rungs), total=len(state.offered))
        )

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

    def _show_work(self, rows: Sequence[Row]) -> None:
        state = self.state
        choices = (self._layer, self._seeds, self._settings, self._rungs, self._decoders, self._own)
        for choice in choices:
            choice.setEnabled(not state.active)
        self._show_tables(rows)
        self._show_job()
        left_out = {
            cell.group: _("{rung} is left out: {reason}.", rung=cell.title, reason=cell.message)
            for cell in state.cells
            if cell.spec is None
        }
        self._missing.set("\n".join(left_out.values()))

    def _show_job(self) -> None:
        state = self.state
        if self._start.hasFocus() and state.active:
            self.setFocus()  # Qt would move it from a hidden button to Cancel
        self._start.setVisible(not state.active)
        self._start.setEnabled(state.can_start)
        begun = any(cell.run is not None for cell in state.cells)
        self._start.set_text(_("Continue experiment") if begun else _("Start experiment"))
        live = state.live
        minutes = max(1, round(live.seconds_left / 60))
        left = ngettext("about {n} min left", "about {n} min left", minutes)
        self._job.show_job(live, left if live.seconds_left else "")

    def _show_tables(self, rows: Sequence[Row]) -> None:
        work = self.state.work
        tables_for = (work.task, work.spec.decoders, work.spec.seeds) if work else ()
        if tables_for != self._tables_for:
            clear(layout_of(self._cells))
            self._tables, self._tables_for = [], tables_for
            for decoder in work.spec.decoders if work else ():
                title = self.state.decoder_title(decoder)
                table = CellTable(self.state, decoder, title, work.spec.seeds if work else ())
                self._tables.append(table)
                layout_of(self._cells).addWidget(table)
        for table in self._tables:
            table.set_rows(rows)
            table.fit_height()


class LadderSettings(QFrame):
    """Training options as fields, each of all rungs or of one, and a button that adds one."""

    def __init__(self, state: LadderState):
        super().__init__()
        self._state = state
        self._forms: list[tuple[str, Form, QComboBox]] = []
        self._rows = QVBoxLayout()
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(10)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.add = Button(
            _("Add setting"),
            "plus",
            small=True,
            menu=self._menu,
            tip=_("A training option of all rungs, or of one"),
        )
        fill_with(self, self._rows, row(self.add, None), gap=10)

    def _fill_menu(self) -> None:
        groups: dict[bool, list[MenuChoice | None]] = {True: [], False: []}
        for option in self._state.options:
            title, act = escaping.menu_text(_title(option)), partial(self._added, option.name)
            groups[option.group == "main"].append(MenuChoice(title, act, tip=_(option.help)))
        more = MenuChoice(_("More"), choices=tuple(groups[False]))
        context_menu.fill(self._menu, [*groups[True], more])

    def _added(self, name: str) -> None:
        self._state.add_setting(name)
        if self._forms:
            self._forms[-1][1].focus(name)

    def render(self) -> None:
        """Rows are rebuilt only when settings were added or removed, so that typing goes on."""
        settings = self._state.settings
        if [name for name, _form, _rung in self._forms] != [item.name for item in settings]:
            self._build()
        own = [(rung.id, _(rung.title)) for rung in self._state.rungs]
        rungs = [("", _("All rungs")), *own]
        for item, (name, form, rung) in zip(settings, self._forms, strict=True):
            if form.text(name) != item.value:
                form.set_values({name: item.value} if item.value else {})
            fill(rung, rungs, item.rung)

    def _build(self) -> None:
        clear(self._rows)
        self._forms = []
        known = {option.name: option for option in self._state.options}
        for at, item in enumerate(self._state.settings):
            option, values = known[item.name], {item.name: item.value} if item.value else {}
            form = Form([option], values, columns=2)
            form.changed.connect(partial(self._typed, at, form))
            rung = combo(name=_("Rung of {setting}", setting=_title(option)))
            rung.activated.connect(partial(self._chosen, at, rung))
            message = _("Remove {setting}", setting=_title(option))
            remove = icon_button("x", message, partial(self._state.drop_setting, at))
            field = TitledField(_("For"), rung)
            field.put_beside(remove)
            self._rows.addWidget(row((form, 1), (field, 1), gap=12))
            self._forms.append((item.name, form, rung))

    def _typed(self, at: int, form: Form, name: str) -> None:
        self._state.change_setting(at, value=form.text(name))

    def _chosen(self, at: int, rung: QComboBox, _index: int) -> None:
        self._state.change_setting(at, rung=str(rung.currentData()))


def _title(option: Option) -> str:
    return _(option.title) if option.title else option.name.replace("_", " ").capitalize()
