"""The button whose menu selects the layers to label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from workbench.base.i18n import _
from workbench.ui.style import escaping
from workbench.ui.widgets.controls.button import Button

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.desk import Desk


class LayersButton(Button):
    """The layers are checked in its menu. short: without a text."""

    def __init__(self, state: Desk, parent: QWidget, *, short: bool = False) -> None:
        self._menu = QMenu(parent)
        super().__init__(
            "" if short else _("Layers"),
            "tags",
            small=short,
            menu=self._menu,
            name=_("Layers"),
            tip=_("Select layers to label"),
        )
        self._state = state
        self._menu.aboutToShow.connect(self.show_layers)

    def show_layers(self) -> None:
        """Fill the menu again."""
        state = self._state
        self._menu.clear()
        for layer in state.session.layers:
            action = QAction(escaping.menu_text(layer.name), self._menu)
            action.setCheckable(True)
            action.setChecked(layer.id not in state.session.off)
            action.toggled.connect(lambda on, id=layer.id: state.session.switch_layer(id, on))
            self._menu.addAction(action)
        self._menu.addSeparator()
        tell = QAction(_("&Say which layers are submitted without labels"), self._menu)
        tell.setCheckable(True)
        tell.setChecked(state.submission.tells_empty)
        tell.toggled.connect(state.submission.tell_empty)
        self._menu.addAction(tell)
