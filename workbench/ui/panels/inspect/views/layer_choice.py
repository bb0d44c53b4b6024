"""The choice of a layer of a model: segments, or a list where there are many."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Segments
from workbench.ui.widgets.controls.field import TitledField, choose, combo
from workbench.ui.widgets.layout import clear

MOST_SEGMENTS = 8
SEGMENT = 38  # least width of one, pixels at 100%


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
