"""Ask whether data files are imported into the open project or into a new one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QWidget

from workbench.base.i18n import _, ngettext
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog


class DataTarget(Dialog):
    """Names the open project. `new` is True if the user chose a new one."""

    def __init__(self, parent: QWidget, project: Path, data: Sequence[Path]) -> None:
        title = (
            _("Import {name}", name=data[0].name)
            if len(data) == 1
            else ngettext("Import {n} file", "Import {n} files", len(data))
        )
        super().__init__(parent, title, width=460)
        self.new = False
        message = _(
            "The project “{name}” is open. Import into this project, or create a new project?",
            name=project.stem,
        )
        self.put(words(message, wrap=True))
        self._into = Button(_("Import into this project"), "download", "primary", on=self.accept)
        self._into.setDefault(True)
        new = Button(_("New project…"), "file-plus-2", on=self._choose_new)
        self.end(Button(_("Cancel"), on=self.reject), None, new, self._into)
        self._into.setFocus()

    def _choose_new(self) -> None:
        self.new = True
        self.accept()
