"""The question whether data of a project may be sent to another computer."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtWidgets import QApplication, QWidget

from workbench.base.i18n import _
from workbench.ui.style import theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.text.marked_text import MonoText


class Consent(Protocol):
    """What the user is asked. example: a text that is sent, "" for none."""

    @property
    def address(self) -> str: ...

    @property
    def example(self) -> str: ...

    @property
    def is_encrypted(self) -> bool: ...

    def give(self) -> None: ...


class ConsentDialog(Dialog):
    """Asks once per project and address, with the text that is sent first. Enter cancels."""

    def __init__(self, parent: QWidget | None, consent: Consent, title: str, message: str) -> None:
        super().__init__(parent, title, width=620)
        self.put(words(message, wrap=True), words(consent.address, weight=600, wrap=True))
        if not consent.is_encrypted:
            self.put(Callout(_("The connection is not encrypted."), "warn"))
        if consent.example:
            text = MonoText(_("Example"))
            text.setReadOnly(True)
            text.setPlainText(consent.example)
            text.setMinimumHeight(theme.px(160))
            self.put(TitledField(_("For example"), text, name=_("Example")))
        once = _("You are asked once per project and address.")
        self.put(words(once, "small", "muted", wrap=True))
        leave = Button(_("Cancel"), on=self.reject)
        self.end(None, leave, Button(_("Send"), "upload", "primary", on=self.accept))
        leave.setDefault(True)
        leave.setFocus()


def given(parent: QWidget | None, consent: Consent, title: str, message: str) -> bool:
    """Whether the user agrees, which is then kept."""
    if not ConsentDialog(parent, consent, title, message).exec():
        return False
    consent.give()
    return True


def may_run(consent: Consent | None) -> bool:
    """Whether data of a project may be sent to a cluster; None if nobody needs to be asked."""
    message = _(
        "Documents and labels of this project, and the model, leave your computer. The computers "
        "of the cluster keep them, so that they are sent only once:"
    )
    title = _("Send data to this cluster?")
    return consent is None or given(QApplication.activeWindow(), consent, title, message)
