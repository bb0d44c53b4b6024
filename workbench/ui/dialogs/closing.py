"""Confirmations when the window or the project is closed while jobs are running, or while a text
could not be stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFileDialog, QPlainTextEdit

from workbench.base import paths
from workbench.base.i18n import _, ngettext
from workbench.ui.dialogs import project_file
from workbench.ui.project import unsaved
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import call, words
from workbench.ui.widgets.dialog import Dialog

if TYPE_CHECKING:
    from workbench.base.errors import WorkbenchError
    from workbench.jobs.queue import Job
    from workbench.ui.application import Application
    from workbench.ui.project.unsaved import Keeping


AGAIN_MS = 2_000  # milliseconds between two attempts to store the texts


def ask_unsaved(app: Application) -> bool:
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


CHECK_MS = 100  # milliseconds between two checks whether the jobs have ended


def may_close(app: Application, *, project_only: bool) -> bool:
    """Ask about a long operation, active jobs, a project whose file is gone, and texts that could
    not be stored, if any.
    """
    jobs = app.project_jobs if project_only else app.active_jobs
    if app.working and not ask_to_cancel(app):
        return False
    ended = not jobs() or ask(app, project_only=project_only)
    return ended and project_file.ask(app) and ask_unsaved(app)


def ask(app: Application, *, project_only: bool = False) -> bool:
    """Ask what to do with the active jobs. Returns True once the window (or project) may close.

    `project_only`: only the jobs of the open project count, and its runs may continue.
    """
    return bool(ClosingQuestion(app, project_only=project_only).exec())


class ClosingQuestion(Dialog):
    """Stop and keep, cancel, continue runs in the background, or go back (Escape).

    Accepted automatically when no job is left to wait for.
    """

    def __init__(self, app: Application, *, project_only: bool = False) -> None:
        self._jobs = app.project_jobs if project_only else app.active_jobs
        jobs = self._jobs()
        names = ", ".join(job.spec.title or job.spec.target for job in jobs[:3])
        title = ngettext("{n} job is still running", "{n} jobs are still running", len(jobs))
        super().__init__(app.window, title, names, width=640)
        self._continuing = False
        self._words = words(_consequences(jobs, project_only), wrap=True)
        self._meter = Meter(None, name=_("Stopping"))
        self._meter.hide()
        self.put(self._words, self._meter)
        self._add_buttons(jobs, project_only)
        self._clock = QTimer(self)
        self._clock.setInterval(CHECK_MS)
        self._clock.timeout.connect(self._check)
        self._clock.start()

    def _add_buttons(self, jobs: list[Job], project_only: bool) -> None:
        runs = any(job.spec.stoppable for job in jobs)
        text = _("Cancel job") if len(jobs) == 1 else _("Cancel all jobs")
        if runs and len(jobs) == 1:
            text = _("Cancel run")
        self._cancel = Button(text, kind="danger", on=self._cancel_all)
        self._continue = Button(_("Continue in background"), on=self._let_continue)
        self._stop = Button(_("Stop and keep best"), "square", on=self._stop_all)
        self._back = Button(_("Go back"), kind="primary", on=self.reject)
        self.end(self._cancel, None, self._continue, self._stop, self._back)
        self._continue.setVisible(runs and project_only)
        self._stop.setVisible(any(_can_stop(job) for job in jobs))
        self._back.setFocus()

    def _stop_all(self) -> None:
        self._wait(_("Stopping. The results are being saved…"))
        for job in self._jobs():
            job.stop() if _can_stop(job) else job.cancel()

    def _cancel_all(self) -> None:
        self._wait(_("Cancelling…"))
        self._cancel.setEnabled(False)
        for job in self._jobs():
            job.cancel()

    def _let_continue(self) -> None:
        self._continuing = True
        self._wait(_("Cancelling jobs that need the open project…"))
        for job in self._left():
            job.cancel()
        self._check()

    def _wait(self, text: str) -> None:
        self._words.setText(text)
        self._meter.show()
        for button in (self._stop, self._continue):
            button.setEnabled(False)

    def _left(self) -> list[Job]:
        """The jobs that must end before the window or project can close."""
        return [job for job in self._jobs() if not (self._continuing and job.spec.stoppable)]

    def _check(self) -> None:
        if not self._left():
            self._clock.stop()
            self.accept()


def _can_stop(job: Job) -> bool:
    return job.spec.stoppable and job.status == "running"


def _consequences(jobs: list[Job], project_only: bool) -> str:
    """Describe what each answer does to these jobs."""
    message = []
    if any(_can_stop(job) for job in jobs):
        message.append(
            _("Stopping keeps the best checkpoint of a training, or the answers to a prompt.")
        )
    if project_only and any(job.spec.stoppable for job in jobs):
        message.append(
            _(
                "A run can also continue in the background: the Welcome page shows its "
                "progress, and the result is available when the project is opened again."
            )
        )
    if not all(job.spec.stoppable for job in jobs):
        message.append(_("Predictions, imports and exports will be cancelled."))
    elif not project_only and any(job.status == "waiting" for job in jobs):
        message.append(_("Queued jobs will be removed."))
    return " ".join(message)


def ask_to_cancel(app: Application) -> bool:
    """Ask whether to cancel the change being written; True once it has ended."""
    return bool(CancelQuestion(app).exec())


class CancelQuestion(Dialog):
    """Cancel the change, or go back (Escape). Accepted automatically when the change has ended."""

    def __init__(self, app: Application) -> None:
        super().__init__(app.window, _("A change is being written"), app.work.title, width=460)
        self._app = app
        self._words = words(_("If you cancel, the change is rolled back."), wrap=True)
        self.put(self._words)
        self._back = Button(_("Go back"), kind="primary", on=self.reject)
        self._cancel = Button(_("Cancel change and close"), on=self._cancel_change)
        self.end(None, self._cancel, self._back)
        self._drop = app.work.changed.connect(self._check)
        self._back.setFocus()

    def _cancel_change(self) -> None:
        self._cancel.setEnabled(False)
        self._words.setText(_("Rolling back…"))
        self._app.work.cancel()

    def _check(self) -> None:
        if not self._app.working:
            self.accept()

    def done(self, result: int) -> None:
        self._drop()
        super().done(result)
