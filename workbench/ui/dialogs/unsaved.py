"""Confirmation when the window or the project is closed while a text could not be stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFileDialog, QPlainTextEdit

from workbench.base import paths
from workbench.base.i18n import _, ngettext
from workbench.ui.project import unsaved
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import call, words
from workbench.ui.widgets.dialog import Dialog

if TYPE_CHECKING:
    from workbench.base.errors import WorkbenchError
    from workbench.ui.application import Application
    from workbench.ui.project.unsaved import Keeping

AGAIN_MS = 2_000  # milliseconds between two attempts to store the texts


def ask(app: Application) -> bool:
    """Store all texts; ask about those that cannot be stored. Returns whether to close."""
    keeping = [state for state in app.states() if isinstance(state, unsaved.Keeping)]
    error = unsaved.store(keeping)
    if not unsaved.texts(keeping):
        return True
    return bool(UnsavedQuestion(app, keeping, error).exec())


class UnsavedQuestion(Dialog):
    """Save the texts to a file, close without them, or go back (Escape).

    Accepted automatically when they could be stored: it is tried again and again.
    """

    def __init__(
        self, app: Application, states: Sequence[Keeping], error: WorkbenchError | None
    ) -> None:
        texts = unsaved.texts(states)
        n = len(texts)
        title = ngettext("{n} text could not be saved", "{n} texts could not be saved", n)
        super().__init__(app.window, title.format(n=n), str(error or ""), width=640)
        self._app, self._states = app, states
        self._words = words(
            _("Saving is tried again while this message is open. It closes when all is saved."),
            wrap=True,
        )
        self._shown = QPlainTextEdit(unsaved.as_file(texts).rstrip("\n"))
        self._shown.setReadOnly(True)
        self._shown.setTabChangesFocus(True)
        self._shown.setFixedHeight(theme.px(150))
        self.put(self._words, call(self._shown, _("Unsaved texts")))
        self._lose = Button(_("Close without saving"), kind="danger", on=self.accept)
        self._save = Button(_("Save to a file…"), "download", on=self._save_as)
        self._back = Button(_("Go back"), kind="primary", on=self.reject)
        self.end(self._lose, None, self._save, self._back)
        self._clock = QTimer(self)
        self._clock.setInterval(AGAIN_MS)
        self._clock.timeout.connect(self.try_again)
        self._clock.start()
        self._back.setFocus()

    def try_again(self) -> None:
        unsaved.store(self._states)
        if not unsaved.texts(self._states):
            self.accept()

    def _save_as(self) -> None:
        project = self._app.project
        name = project.name if project is not None else ""
        file = _("{name} – unsaved texts.txt", name=name)
        suggested = paths.documents_folder() / file
        chosen, _kind = QFileDialog.getSaveFileName(
            self, _("Save to a file…"), str(suggested), "*.txt;;" + _("All files (*)")
        )
        if chosen:
            self.save_to(Path(chosen))

    def save_to(self, path: Path) -> None:
        """Write the texts to a file and close; a failure is shown."""
        try:
            unsaved.write(path, unsaved.texts(self._states))
        except OSError as error:
            message = _("{path} could not be written: {error}.")
            self.fault(message.format(path=path, error=error.strerror or error))
        else:
            self.accept()

    def done(self, result: int) -> None:
        self._clock.stop()
        super().done(result)
