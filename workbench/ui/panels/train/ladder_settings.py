"""Training options of an experiment as fields: each of all rungs, or of one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QComboBox, QFrame, QMenu, QVBoxLayout

from workbench.base.i18n import _
from workbench.ui.style import escaping
from workbench.ui.widgets.button import Button, icon_button
from workbench.ui.widgets.field import Field, combo, fill
from workbench.ui.widgets.form import Form
from workbench.ui.widgets.layout import clear, row

if TYPE_CHECKING:
    from workbench.base.options import Option
    from workbench.ui.panels.train.ladder_state import LadderState


class LadderSettings(QFrame):
    """A row per setting, and a button that adds one; `render` shows those of the state."""

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
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addLayout(self._rows)
        layout.addWidget(row(self.add, None))

    def _fill_menu(self) -> None:
        self._menu.clear()
        more = QMenu(_("More"), self._menu)
        for option in self._state.options:
            menu = self._menu if option.group == "main" else more
            action = menu.addAction(escaping.menu_text(_title(option)))
            escaping.set_tip(action, _(option.help))
            action.triggered.connect(partial(self._added, option.name))
        self._menu.addMenu(more)
        for menu in (self._menu, more):
            menu.setToolTipsVisible(True)

    def _added(self, name: str, _checked: bool = False) -> None:
        self._state.add_setting(name)
        if self._forms:
            self._forms[-1][1].focus(name)

    def render(self) -> None:
        """Rows are rebuilt only when settings were added or removed, so that typing goes on."""
        settings = self._state.settings
        if [name for name, _form, _rung in self._forms] != [item.name for item in settings]:
            self._build()
        rungs = [("", _("All rungs")), *self._state.shown_rungs]
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
            rung = combo(name=_("Rung of {setting}").format(setting=_title(option)))
            rung.activated.connect(partial(self._chosen, at, rung))
            message = _("Remove {setting}").format(setting=_title(option))
            remove = icon_button("x", message, partial(self._state.drop_setting, at))
            field = Field(_("For"), rung)
            field.put_beside(remove)
            self._rows.addWidget(row((form, 1), (field, 1), gap=12))
            self._forms.append((item.name, form, rung))

    def _typed(self, at: int, form: Form, name: str) -> None:
        self._state.change_setting(at, value=form.text(name))

    def _chosen(self, at: int, rung: QComboBox, _index: int) -> None:
        self._state.change_setting(at, rung=str(rung.currentData()))


def _title(option: Option) -> str:
    return _(option.title) if option.title else option.name.replace("_", " ").capitalize()
