"""Shown when a damaged project is opened, and when the file of the open project was renamed, moved,
deleted, replaced or overwritten.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFileDialog, QPlainTextEdit

from workbench.base import paths
from workbench.base.errors import ProjectDamaged
from workbench.base.events import ALL, concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.dialogs.project_file_state import DamagedState, MovedState
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import row

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.project.recovery import Recovered
    from workbench.ui.application import Application


AGAIN_MS = 1_000  # milliseconds between two checks whether the file is back


def ask(app: Application) -> bool:
    """Ask about a project that closing would lose. Returns whether to close."""
    project = app.project
    if project is None or not project.in_no_file:
        return True
    return bool(Moved(app, project, closing=True).exec())


def _sentences(state: MovedState) -> tuple[str, str, str]:
    """The title, what has happened, and what to do."""
    if state.overwritten:
        return (
            _("The project file was overwritten"),
            _("Another program wrote to the file while it was open. It is left as it is."),
            _(
                "No further changes are saved. Save a copy of the project to keep the changes "
                "until then and continue. The copy is checked: it may lack parts of the project "
                "that were only in the file."
            ),
        )
    rest = _(
        "No further changes are saved. All changes until then are still here, but will "
        "be lost when the project is closed. Save a copy of the project to keep them "
        "and continue. If the file is moved back, this message closes."
    )
    if state.gone:
        return (
            _("The project file is gone"),
            _("Another program renamed, moved or deleted the file while it was open."),
            rest,
        )
    return (
        _("The project file was replaced"),
        _("Another program replaced the file while it was open. It is left as it is."),
        rest,
    )


class Moved(Dialog):
    """Save a copy, close without one (when closing), or go back (Escape).

    Accepted automatically when the file was moved back.
    """

    def __init__(self, app: Application, project: Project, *, closing: bool = False) -> None:
        self.state = MovedState(app, project, closing=closing)
        title, why, rest = _sentences(self.state)
        super().__init__(app.window, title, str(project.path), width=640)
        self._progress_name = words("", "small", "muted")
        self._meter = Meter(0.0, name=_("Progress"))
        stop = Button(_("Cancel"), small=True, on=self.state.cancel)
        self._progress = row(self._progress_name, (self._meter, 1), stop, gap=12)
        self.put(
            words(why, wrap=True),
            words(rest, wrap=True),
            words(_("The files of runs are not copied."), "small", "muted", wrap=True),
            self._progress,
        )
        self._lose = Button(_("Close without saving"), kind="danger", on=self.accept)
        self._lose.setVisible(closing)
        self._back = Button(_("Go back"), on=self.reject)
        self._save = Button(_("Save a copy as…"), "download", "primary", on=self._save_as)
        self.end(self._lose, None, self._back, self._save)
        self._clock = QTimer(self)
        self._clock.setInterval(AGAIN_MS)
        self._clock.timeout.connect(self.state.look_again)
        self._clock.start()
        self.state.listen(self.state.changed, self.render)
        self.render(ALL)
        self._save.setFocus()

    def render(self, _fields: frozenset[str]) -> None:
        state = self.state
        self._progress_name.setText(state.title)
        self._meter.set(state.share)
        self._progress.setVisible(bool(state.title))
        for button in (self._lose, self._save):
            button.setEnabled(not state.title)
        self.fault(state.fault)
        if state.over:
            self.accept()

    def _save_as(self) -> None:
        chosen, _kind = QFileDialog.getSaveFileName(
            self,
            _("Save a copy as…"),
            str(self.state.suggested),
            _("Projects ({patterns})", patterns=f"*{paths.PROJECT_SUFFIX}"),
            options=QFileDialog.Option.DontConfirmOverwrite,  # an existing file is refused
        )
        if chosen:
            path = Path(chosen)
            suffixed = path.suffix == paths.PROJECT_SUFFIX
            self.state.save(path if suffixed else path.with_name(path.name + paths.PROJECT_SUFFIX))

    def done(self, result: int) -> None:
        """Also called on Escape; cancels a running operation instead of closing."""
        if self.state.title:
            self.state.cancel()
            return
        self._clock.stop()
        self.state.close()
        super().done(result)


class Damaged(Dialog):
    """Reads the file in the background, lists what is lost, and recovers the rest on request."""

    def __init__(self, app: Application, path: Path, error: ProjectDamaged) -> None:
        super().__init__(app.window, _("The project is damaged"), error.message, width=620)
        self.state = DamagedState(app, path)
        self._message = words("", wrap=True)
        self._lost = QPlainTextEdit()
        self._lost.setReadOnly(True)
        self._lost.setTabChangesFocus(True)
        self._lost.setAccessibleName(_("What is lost"))
        self._lost.setMinimumHeight(theme.px(150))
        self._running = words("", "small", "muted")
        self._meter = Meter(0.0, name=_("Progress"))
        self._stop = Button(_("Cancel"), small=True, on=self.state.cancel)
        self._progress = row(self._running, (self._meter, 1), self._stop, gap=12)
        advice = _(
            "The damaged file is not changed. Earlier versions may be in the folder {folder}."
        )
        folder = path.with_suffix(".versions").name
        self.put(
            self._message,
            self._lost,
            self._progress,
            words(advice.format(folder=folder), "small", "muted", wrap=True),
        )
        self._recover = Button(_("Recover into a new file"), "plus", "primary", on=self._start)
        close = Button(_("Close"), on=self.reject)
        self.end(None, close, self._recover)
        self.state.listen(self.state.changed, self.render)
        self.render(ALL)
        close.setFocus()

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "recovered", "title"):
            self._message.setText(self._summary(state.recovered))
            lost = state.recovered.lost if state.recovered else ()
            self._lost.setPlainText("\n".join(lost))
            self._lost.setVisible(bool(lost))
            self.adjustSize()
            self._recover.setEnabled(state.recovered is not None and not state.title)
        self._running.setText(state.title)
        self._meter.set(state.share)
        self._progress.setVisible(bool(state.title))
        self.fault(state.fault)
        if state.over:
            self.accept()

    def _summary(self, recovered: Recovered | None) -> str:
        if recovered is None:
            return "" if self.state.title else _("Nothing can be recovered from the file.")
        message = ngettext(
            "{n:,} document can be recovered.",
            "{n:,} documents can be recovered.",
            recovered.documents,
        )
        whole = "" if recovered.lost else _("Nothing is lost.")
        return f"{message.format(n=recovered.documents)} {whole}".strip()

    def _start(self) -> None:
        self.state.recover()

    def done(self, result: int) -> None:
        """Also called on Escape; cancels a running operation instead of closing."""
        if self.state.title:
            self.state.cancel()
            return
        self.state.close()
        super().done(result)
