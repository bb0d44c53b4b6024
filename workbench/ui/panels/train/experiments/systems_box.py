"""The systems of an experiment: which rungs, with which models and settings."""

from __future__ import annotations

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
from workbench.base.i18n import _
from workbench.ui.commands import MenuChoice
from workbench.ui.panels.train.experiments.ladder_state import LadderState
from workbench.ui.style import escaping
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.form import Form
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import clear, column, layout_of, row
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.text import context_menu

if TYPE_CHECKING:
    from workbench.base.options import Option


class SystemsBox(QFrame):
    """Settings of the rungs, the menu of rungs, and their models, which can be unfolded. beside:
    further buttons.
    """

    def __init__(self, state: LadderState, *beside: QWidget):
        super().__init__()
        self.state, self._settings = state, LadderSettings(state)
        self._menu = QMenu(self)
        self._rungs = Button(_("Rungs"), menu=self._menu, small=True)
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
        fill_with(
            self, self._settings, flow(self._rungs, *beside, self._more, gap=6), self._own, gap=12
        )

    def render(self, fields: frozenset[str]) -> None:
        if concerns(fields, "settings", "rungs", "layer", "layers"):
            self._settings.render()
        if concerns(fields, "rungs", "layers", "parts", "work"):
            self._fill_rungs()
            self._fill_parts()
        self._rung_field.set_error(self.state.rung_error)

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
        self._rungs.set_text(state.number_of_rungs)


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
        rungs = [("", self._state.all_rungs), *own]
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
