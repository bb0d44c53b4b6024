"""Controls of inspector views: fields bound to options, and the choice of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QWidget

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.options import Option
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.controls.button import Segments
from workbench.ui.widgets.controls.field import TitledField, choose, combo
from workbench.ui.widgets.controls.form import Form
from workbench.ui.widgets.layout import clear

if TYPE_CHECKING:
    from workbench.ui.panels.inspect.inspector_state import InspectorState


COLUMNS = 3
PAUSE = 500  # milliseconds without a change before the inspector runs again
MOST_SEGMENTS = 8
SEGMENT = 38  # least width of one, pixels at 100%


class OptionField(TitledField):
    """A number as text; Enter or leaving the field sets the option; an error is shown below.

    resets: an option whose value depends on this one, set to its default with each change.
    """

    def __init__(self, state: InspectorState, name: str, title: str, *, resets: str = ""):
        self._line = QLineEdit()
        super().__init__(title, self._line)
        self._state, self._option = state, cast(Option, state.described(name))
        self._resets = {resets: state.default(resets)} if resets else {}
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


class LayerChoice(QWidget):
    """`chosen(layer)` is emitted when the user selects one. The last layer is selected at first."""

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._line = QHBoxLayout(self)
        self._line.setContentsMargins(0, 0, 0, 0)
        self.layers: tuple[int, ...] = ()
        self.value = -1
        self._control: Segments | QComboBox | None = None
        self._field: TitledField | None = None

    def field(self) -> TitledField:
        """This control with its title; hidden unless there are layers to choose from."""
        self._field = TitledField(_("Layer (0: token embeddings)"), self, name=_("Layer"))
        self._field.setVisible(len(self.layers) > 1)
        return self._field

    def set(self, layers: Sequence[int], value: int) -> None:
        """Offer these layers and select one, the last for -1; emits nothing."""
        if tuple(layers) != self.layers:
            self.layers = tuple(layers)
            self._build()
        if self._field is not None:
            self._field.setVisible(len(self.layers) > 1)
        self.value = value if value in self.layers else (self.layers[-1] if self.layers else -1)
        if isinstance(self._control, Segments):
            self._control.set(self.value)
        elif self._control is not None:
            choose(self._control, self.value)

    def _build(self) -> None:
        clear(self._line)
        self._control = None
        if not self.layers:
            return
        items = [(layer, str(layer)) for layer in self.layers]
        name = _("Layer, 0: token embeddings")
        if len(items) <= MOST_SEGMENTS:
            segments = Segments(*items, name=name)
            segments.chosen.connect(self._take)
            segments.setMinimumWidth(theme.px(SEGMENT) * len(items))
            self._control = segments
        else:
            box = combo(items, name=name)
            box.activated.connect(lambda at: self._take(box.itemData(at)))
            self._control = box
        self._line.addWidget(self._control)

    def _take(self, layer: int) -> None:
        self.value = layer
        self.chosen.emit(layer)
