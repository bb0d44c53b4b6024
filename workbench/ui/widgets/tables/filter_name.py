"""Dialog for the name of a saved filter."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.dialog import Dialog


class FilterName(Dialog):
    """Calls `act(name)`; an error of it is shown and the dialog stays open."""

    def __init__(
        self, parent: QWidget, title: str, hint: str, name: str, act: Callable[[str], None]
    ) -> None:
        super().__init__(parent, title, hint, width=440)
        self._act = act
        self.line = QLineEdit(name)
        self.line.selectAll()
        self.put(TitledField(_("Name"), self.line))
        self._save = Button(_("Save"), kind="primary", on=self.save)
        self._save.setDefault(True)
        self.end(None, Button(_("Cancel"), on=self.reject), self._save)
        self.line.textChanged.connect(self._check)
        self._check()

    def _check(self) -> None:
        self._save.setEnabled(bool(self.line.text().strip()))

    def save(self) -> None:
        try:
            self._act(self.line.text())
        except WorkbenchError as error:
            self.fault(str(error))
        else:
            self.accept()
