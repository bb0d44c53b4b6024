"""The server of a run: start and stop it, and try a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFrame, QLineEdit, QPlainTextEdit, QVBoxLayout

from workbench.base.i18n import _, ngettext
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.chip import Chip
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.words import Elided, Wrapped, call, words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import TurningRow, card, row

if TYPE_CHECKING:
    from workbench.operations.models.serving import Server
    from workbench.ui.panels.export.serving_state import ServingState

LINES = 7  # of a request and its answer


class ServingCard(QFrame):
    def __init__(self, state: ServingState) -> None:
        super().__init__()
        self.state = state
        self._chip = Chip(_("running"), tone="good")
        self._stats = Elided("", "small", "muted")
        self._address = QLineEdit()
        self._address.setReadOnly(True)
        self._copy = Button(_("Copy"), "copy", on=self._copy_address, name=_("Copy the address"))
        self._page = Button(_("Open page"), "external-link", "quiet", small=True, on=self._open)
        address = TitledField(_("Address"), self._address)
        address.put_beside(self._copy)
        self._weights = combo(name=_("Weights"))
        self._weights.activated.connect(lambda _i: state.set_weights(self._weights.currentData()))
        weights = TitledField(_("Weights"), self._weights)
        self._start = Button(
            _("Start"), "play", small=True, on=state.start, name=_("Start the server")
        )
        self._stop = Button(
            _("Stop"), "square", "danger", small=True, on=self._end, name=_("Stop the server")
        )
        title = row(Wrapped(_("Serve on this computer"), weight=600), self._chip, gap=10)
        head = TurningRow((title, 1), flow(self._start, self._stop))
        self._stage = Elided("", "small", "muted")
        self._problem = Callout(tone="warn")
        self._request, self._answer = _code(_("Example request")), _code(_("Answer"))
        shown = TurningRow(
            (TitledField(_("Example request"), self._request), 1),
            (TitledField(_("Answer"), self._answer), 1),
            gap=16,
        )
        note = words(
            _("Only programs on this computer can reach the address. It ends with Glossbench."),
            "caption",
            "muted",
            wrap=True,
        )
        self._copy_request = Button(
            _("Copy request"), "copy", "quiet", small=True, on=self._copy_code
        )
        self._try = Button(_("Try it"), "play", small=True, on=state.try_it)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(
            card(
                head,
                self._stats,
                TurningRow((address, 3), (weights, 2), gap=16),
                self._stage,
                self._problem,
                shown,
                TurningRow((note, 1), flow(self._page, self._copy_request, self._try)),
                gap=10,
            )
        )

    def render(self, _fields: frozenset[str]) -> None:
        state, server = self.state, self.state.server
        running = state.running
        self.setVisible(state.run is not None or running)
        self._chip.setVisible(running)
        self._stats.setText(_stats(server) if server is not None and running else "")
        self._stats.setVisible(running)
        self._address.setText(server.address if server is not None and running else "")
        self._address.setPlaceholderText(_("not running"))
        fill(self._weights, state.titles, state.weights)
        self._weights.setEnabled(not running and not state.busy)
        for button in (self._copy, self._page, self._try):
            button.setEnabled(running)
        focused = next((item for item in (self._start, self._stop) if item.hasFocus()), None)
        ending, beginning = running or state.busy, not running and not state.busy
        self._stop.setEnabled(ending)
        if focused is self._start and ending:
            self._stop.setFocus()  # else Qt would pass it to the next field
        self._start.setEnabled(beginning and state.run is not None)
        if focused is self._stop and beginning:
            self._start.setFocus()
        escaping.set_tip(self._start, _("Exports the run first, which takes about a minute"))
        self._stage.setText(state.stage)
        self._stage.setVisible(bool(state.stage))
        message = server.message if server is not None and not running else ""
        self._problem.set(state.problem or message)
        _show(self._request, state.code)
        _show(self._answer, state.answer)

    def _end(self) -> None:
        self.state.cancel() if self.state.busy else self.state.stop()

    def _copy_address(self) -> None:
        self._to_clipboard(self._address.text())

    def _copy_code(self) -> None:
        self._to_clipboard(self.state.code)

    def _to_clipboard(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.state.context.note(_("Copied to the clipboard."))

    def _open(self) -> None:
        QDesktopServices.openUrl(QUrl(self._address.text()))


def _code(name: str) -> QPlainTextEdit:
    box = QPlainTextEdit()
    box.setReadOnly(True)
    box.setProperty("kind", "mono")
    box.setTabChangesFocus(True)
    box.setFixedHeight(theme.px(20 * LINES + 12))
    call(box, name)
    return box


def _show(box: QPlainTextEdit, text: str) -> None:
    if box.toPlainText() != text:
        box.setPlainText(text)


def _stats(server: Server) -> str:
    stats = server.stats
    since = _("since {time}", time=formats.when_iso(stats.since)) if stats.since else ""
    requests = ngettext("{n} request", "{n} requests", stats.requests, n=stats.requests)
    ms = _("ms per request: {ms:.0f}", ms=stats.milliseconds) if stats.requests else ""
    memory = _("{size} of memory", size=formats.size(stats.memory)) if stats.memory else ""
    return "  ·  ".join(item for item in (server.name, since, requests, ms, memory) if item)
