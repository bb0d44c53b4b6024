"""Adding and editing a server, and the question whether texts may be sent to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.base.events import ALL
from workbench.base.i18n import _
from workbench.ui.dialogs.consent import given
from workbench.ui.panels.prompts.server_state import (
    OPTIONS,
    ServerState,
    needed_consent,
)
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.form import Form
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import TurningRow

if TYPE_CHECKING:
    from workbench.project.project import Project


class ServerDialog(Dialog):
    """Address, key and settings of a server. It is saved when a test has succeeded."""

    def __init__(self, parent: QWidget, state: ServerState) -> None:
        known = state.server
        hint = _(
            "A server with the interface of OpenAI: llama.cpp, Ollama, vLLM, LM Studio, "
            "“transformers serve” or a hosted one. The test sends no text of a project."
        )
        title = _("Edit server…") if known is not None else _("Add a server…")
        super().__init__(parent, title, hint, width=620)
        self.state = state
        self.address = QLineEdit(known.address if known is not None else "")
        self.address.setPlaceholderText("http://127.0.0.1:8080/v1")
        self.address.setReadOnly(known is not None)
        self.title = QLineEdit(known.title if known is not None else "")
        self.key = QLineEdit()
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        key_hint = _(
            "The key is kept in the key store of the system. Leave it empty to send no key, or to "
            "keep the one that is stored."
        )
        self.form = Form(OPTIONS, state.values(), columns=2)
        self.model = combo(name=_("Model to test"))
        self._models = TitledField(_("Model to test"), self.model)
        self._meter = Meter(None, name=_("Test of the server"))
        self._result = Callout("", "good")
        self.put(
            TitledField(_("Address"), self.address),
            TurningRow(
                (TitledField(_("Title"), self.title), 1),
                (TitledField(_("Key"), self.key), 1),
                gap=10,
            ),
            words(key_hint, "caption", "muted", wrap=True),
            self.form,
            self._models,
            self._meter,
            self._result,
        )
        self._remove = Button(_("Remove"), "trash-2", "danger", on=self._remove_it)
        self._close = Button(_("Cancel"), on=self.reject)
        self.act = Button("", "check", "primary", on=self._test)
        self.act.setDefault(True)
        self.end(self._remove, None, self._close, self.act)
        state.listen(state.changed, self.render)
        self.render(ALL)

    def done(self, result: int) -> None:
        """Also called on Escape and the close button: a running test is cancelled."""
        self.state.close()
        super().done(result)

    def _test(self) -> None:
        self.state.test(
            self.address.text(),
            self.title.text(),
            self.key.text().strip(),
            self.form.values(),
            self.model.currentData() or "",
        )

    def _remove_it(self) -> None:
        if self.state.remove():
            self.accept()

    def render(self, _fields: frozenset[str]) -> None:
        state = self.state
        fill(self.model, [(name, name) for name in state.models], self.model.currentData() or "")
        self._models.setVisible(len(state.models) > 1)
        self._meter.setVisible(state.busy)
        self._remove.setVisible(state.server is not None)
        self._result.set(self._words() if not state.busy and not state.error else "")
        self.fault(state.error)
        self.act.set_text(_("Test and save") if state.server is not None else _("Test and add"))
        self.act.setEnabled(not state.busy)
        saved = state.server is not None and bool(state.model)
        self._close.set_text(_("Close") if saved else _("Cancel"))

    def _words(self) -> str:
        state = self.state
        if state.server is None:
            return ""
        if not state.model:
            several = len(state.models) > 1
            return _("The server has several models. Choose one to test.") if several else ""
        message = _("{model} can be used. Can: {can}.")
        return message.format(model=state.model, can=state.abilities() or "–")


def may_send(parent: QWidget, project: Project, backend: str, path: str, example: str) -> bool:
    """Whether texts may be sent to a model; asks if that is not known."""
    consent = needed_consent(project, backend, path, example)
    if consent is None:
        return True
    message = _("Texts of this project leave your computer and are sent to")
    return given(parent, consent, _("Send texts to this server?"), message)
