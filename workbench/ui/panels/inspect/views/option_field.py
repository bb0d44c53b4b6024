"""Fields for the options of an inspector, bound to the state of its view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLineEdit

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.options import Option
from workbench.ui.style import escaping
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.form import Form

if TYPE_CHECKING:
    from workbench.ui.panels.inspect.inspector_state import InspectorState


COLUMNS = 3
PAUSE = 500  # milliseconds without a change before the inspector runs again


class OptionField(TitledField):
    """A number as text; Enter or leaving the field sets the option; an error is shown below.

    resets: an option whose value depends on this one, set to its default with each change.
    """

    def __init__(self, state: InspectorState, name: str, title: str, *, resets: str = ""):
        self._line = QLineEdit()
        super().__init__(title, self._line)
        self._state, self._option = state, _option(state, name)
        self._resets = {resets: _option(state, resets).default} if resets else {}
        escaping.set_tip(self._line, _(self._option.help))
        self._line.editingFinished.connect(self._take)
        self.show_value()

    def show_value(self) -> None:
        """The current value of the option; what the user is typing is kept."""
        text = str(self._state.option(self._option.name))  # as `Option.parse` reads it
        if not self._line.hasFocus() and self._line.text() != text:
            self._line.setText(text)
            self.set_error("")

    def _take(self) -> None:
        try:
            value = self._option.parse(self._line.text())
        except SpecError as error:
            self.set_error(str(error))
            return
        self.set_error("")
        if value != self._state.option(self._option.name):
            self._state.set_options(**{self._option.name: value, **self._resets})


class OptionForm(Form):
    """All options of the inspector; a change runs it again after a pause in typing."""

    def __init__(self, state: InspectorState):
        self._state = state
        self._given = {option.name: option for option in (state.info.options if state.info else ())}
        super().__init__(tuple(self._given.values()), state.options, columns=COLUMNS)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(self.take)
        self.changed.connect(lambda _name: self._pause.start())

    def take(self) -> None:
        """Set the options as entered; a wrong value is shown at its field and changes nothing."""
        values, errors = {}, {}
        for name, option in self._given.items():
            try:
                values[name] = option.parse(self.text(name))
            except SpecError as error:
                errors[name] = str(error)
        self.set_errors(errors)
        if not errors:
            self._state.set_options(**values)


def _option(state: InspectorState, name: str) -> Option:
    options = state.info.options if state.info is not None else ()
    return next(option for option in options if option.name == name)
