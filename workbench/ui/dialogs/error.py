"""Uncaught exceptions: shown in a dialog and logged.

Edits are committed immediately, so none is lost.
"""

from __future__ import annotations

import logging
import sys
import threading
from logging.handlers import RotatingFileHandler
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QPlainTextEdit

from workbench.base import paths, plugins
from workbench.base.errors import WorkbenchError, traceback_of
from workbench.base.i18n import _
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog

if TYPE_CHECKING:
    from workbench.ui.application import Application

LOG_BYTES, LOG_FILES = 1_000_000, 3
log = logging.getLogger("workbench")


def install(app: Application) -> None:
    """Send uncaught exceptions of all threads to the log and a dialog.

    A second call replaces the app.
    """
    _open_log()
    reporter = Reporter(app)
    sys.excepthook = reporter.caught
    threading.excepthook = lambda args: app.dispatch(
        lambda: reporter.caught(
            args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback
        )
    )


def _open_log() -> None:
    if log.handlers:
        return
    try:
        paths.log_file().parent.mkdir(parents=True, exist_ok=True)
        handler: logging.Handler = RotatingFileHandler(
            paths.log_file(),
            maxBytes=LOG_BYTES,
            backupCount=LOG_FILES,
            encoding="utf-8",
            delay=True,
        )
    except OSError:
        handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False


class Reporter:
    """Installed as `sys.excepthook`. While a dialog is open, further exceptions are only logged."""

    def __init__(self, app: Application) -> None:
        self._app, self._showing = app, False
        self.last: str = ""

    def caught(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._app.window.close()
            return
        if isinstance(error, WorkbenchError):  # meant for the user, but not caught on the way
            self._app.fail(error)
            log.warning("%s: %s", kind.__name__, error)
            return
        self.last = traceback_of(error.with_traceback(trace))
        log.error("Uncaught exception\n%s", self.last)
        plugin = plugins.raised_by(error)
        if not self._showing:
            self._showing = True
            try:
                ErrorDialog(self._app, error, self.last, plugin=plugin).exec()
            finally:
                self._showing = False


class ErrorDialog(Dialog):
    """The error, a note that no data is lost, collapsible details, and a button to copy them."""

    def __init__(
        self, app: Application, error: BaseException, details: str, *, plugin: str = ""
    ) -> None:
        """plugin: the id of the plugin whose code has raised the error."""
        fault = _("The plugin {plugin} failed.", plugin=plugin)
        super().__init__(
            app.window,
            _("Something went wrong"),
            fault if plugin else _("This is a bug in Glossbench."),
            width=620,
        )
        self._details = details
        saved = _(
            "All your labels are saved. You can continue; if anything looks wrong, close and "
            "reopen the project."
        )
        self.put(
            words(saved, wrap=True),
            words(f"{type(error).__name__}: {error}"[:300], "small", "bad", wrap=True, select=True),
        )
        self._text = QPlainTextEdit(details)
        self._text.setReadOnly(True)
        self._text.setProperty("kind", "mono")
        self._text.setAccessibleName(_("Details"))
        self._text.setMinimumHeight(220)
        self._text.hide()
        self.put(self._text)
        self._fold = Button(_("Show details"), "chevron-right", "quiet", on=self._toggle)
        close = Button(_("Continue"), kind="primary", on=self.accept)
        self.end(self._fold, Button(_("Copy details"), "copy", "quiet", on=self.copy), None, close)
        close.setFocus()

    def copy(self) -> None:
        QApplication.clipboard().setText(self._details)

    def _toggle(self) -> None:
        opening = self._text.isHidden()
        self._text.setVisible(opening)
        self._fold.set_text(_("Hide details") if opening else _("Show details"))
        self._fold.set_icon("chevron-down" if opening else "chevron-right")
        self.adjustSize()
