"""Callouts: a sentence with an icon on a coloured background, instead of a dialog."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from workbench.base.errors import ProjectDamaged, ProjectError
from workbench.base.i18n import _
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.words import IconLabel, call, set_tone, words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import TurningRow

ICONS = {"accent": "info", "good": "circle-check", "warn": "triangle-alert", "bad": "circle-x"}


class Callout(QFrame):
    """`tone`: accent (a note), good, warn, bad.

    Actions are on the right or, without room, below; `closable` adds a close button.

    Details of an error (a traceback, the end of a log) can be expanded below and copied.
    """

    def __init__(
        self,
        text: str = "",
        tone: str = "accent",
        *actions: QWidget,
        icon: str = "",
        closable: bool = False,
    ):
        super().__init__()
        self.setProperty("part", "callout")
        self.setProperty("tone", tone)
        self._own_icon = icon
        self._icon = IconLabel(icon or ICONS[tone], tone, 16)
        self._words = words(text, "small", wrap=True, select=True)
        self._box: QPlainTextEdit | None = None  # the widget of the details, built on first use
        self._unread = ""
        self._fold = Button(_("Details"), "chevron-right", "quiet", small=True, on=self._unfold)
        self._fold.hide()
        self._whole = QVBoxLayout(self)
        self._whole.setContentsMargins(12, 9, 12, 9)
        layout = QHBoxLayout()
        layout.setSpacing(9)
        self._whole.addLayout(layout)
        layout.addWidget(self._icon)
        content = TurningRow((self._words, 1), flow(*actions), gap=9) if actions else self._words
        layout.addWidget(content, 1)
        self._whole.addWidget(self._fold)
        if closable:
            layout.addWidget(icon_button("x", _("Close message"), self.hide, small=True))

    def set(self, text: str, tone: str = "", details: str = "") -> None:
        """Change the sentence; an empty one hides the callout."""
        self._words.setText(text)
        self._fold.setVisible(bool(details))
        if details != self._unread:
            self._unread = details
            self._show_details(False)
        if tone:
            set_tone(self, tone)
            self._icon.set(self._own_icon or ICONS[tone], tone)
        self.setVisible(bool(text))

    def _unfold(self) -> None:
        self._show_details(self._box is None or self._box.isHidden())

    def _show_details(self, on: bool) -> None:
        if on and self._box is None:
            self._box = QPlainTextEdit()
            self._box.setReadOnly(True)
            self._box.setProperty("kind", "mono")
            self._box.setFixedHeight(theme.px(150))
            self._whole.addWidget(call(self._box, _("Details")))
        if self._box is not None:
            self._box.setPlainText(self._unread)
            self._box.setVisible(on)
        self._fold.set_icon("chevron-down" if on else "chevron-right")

    def text(self) -> str:
        return self._words.text()


class Banner(Callout):
    """Stays until it is closed; that of a failed change also goes when a later one is saved."""

    def __init__(self) -> None:
        super().__init__("", "warn", closable=True)
        self._until_saved = ""
        self.hide()

    def failed(self, error: Exception) -> bool:
        """The message that is shown is that of `error`. Returns whether a change was not saved."""
        lasting = not isinstance(error, ProjectError) or isinstance(error, ProjectDamaged)
        self._until_saved = "" if lasting else self.text()
        return not lasting

    def saved(self) -> None:
        """A change was stored in the project."""
        if self._until_saved and self.text() == self._until_saved:
            self.hide()
        self._until_saved = ""
