"""The button whose menu selects the layers to label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from workbench.base.i18n import _
from workbench.ui import plain
from workbench.ui.widgets.button import Button

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.acts import AnnotateActs


class LayersButton(Button):
    """The layers are checked in its menu."""

    def __init__(self, state: AnnotateActs, parent: QWidget) -> None:
        self._menu = QMenu(parent)
        super().__init__(_("Layers"), "tags", menu=self._menu, tip=_("Select layers to label"))
        self._state = state

    def show_layers(self) -> None:
        """Fill the menu again."""
        state = self._state
        self._menu.clear()
        for layer in state.layers:
            action = QAction(plain.menu_text(layer.name), self._menu)
            action.setCheckable(True)
            action.setChecked(layer.id not in state.off)
            action.toggled.connect(lambda on, id=layer.id: state.switch_layer(id, on))
            self._menu.addAction(action)
