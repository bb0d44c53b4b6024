"""Shown when a damaged project is opened: what can be recovered, into a new file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QPlainTextEdit

from workbench.base.errors import ProjectDamaged
from workbench.base.events import ALL, concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.dialogs.damaged_state import DamagedState
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import row

if TYPE_CHECKING:
    from workbench.project.recovery import Recovered
    from workbench.ui.application import Application


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
