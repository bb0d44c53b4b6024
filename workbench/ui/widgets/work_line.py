"""Shows the running operation, its progress, and a Cancel button."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from workbench.base.i18n import _
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import fixed

TITLE = 320  # longer titles, such as those with long file names, are elided


class WorkLine(QFrame):
    """Floats at the bottom of its parent, like messages.

    Emits `cancelled` on the button, and on Escape where that rolls changes back, once per showing.
    """

    cancelled = Signal()

    def __init__(self, parent: QWidget):
        super().__init__(parent)
        self.setProperty("part", "note")
        self._title, self._share = Elided(""), words("")
        self._meter = fixed(Meter(0.0, name=_("Progress")), 180)
        self._cancel = Button(_("Cancel"), on=self._call_off)
        self._rolls_back = False
        self._cancel.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 4, 6, 4)
        layout.setSpacing(12)
        for part in (self._title, self._meter, self._share, self._cancel):
            layout.addWidget(part)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self._call_off)
        self._escape.setContext(Qt.ShortcutContext.WindowShortcut)
        parent.installEventFilter(self)
        self.end()

    def begin(self, title: str, share: float | None, *, rolls_back: bool = True) -> None:
        """Show an operation. share: None for one that reports no progress and cannot be cancelled.

        rolls_back: cancelling it rolls changes back, and Escape does so too.
        """
        self._rolls_back = rolls_back
        self._title.setText(title)
        needed = self._title.fontMetrics().horizontalAdvance(title) + 4
        self._title.setFixedWidth(min(theme.px(TITLE), needed))
        escaping.set_tip(self._title, title)
        self._share.setFixedWidth(self._share.fontMetrics().horizontalAdvance("100%") + 4)
        self._cancel.setEnabled(True)
        self._cancel.setVisible(share is not None)
        escaping.set_tip(self._cancel, _("Roll back all changes (Esc)") if rolls_back else "")
        self._escape.setEnabled(rolls_back and share is not None)
        self.setAccessibleName(title)
        self.set(share)
        self.show()
        self._place()
        self.raise_()

    def set(self, share: float | None) -> None:
        self._meter.set(share)
        percent = "" if share is None else _("{percent}%", percent=int(100 * share))
        self._share.setText(percent)

    def end(self) -> None:
        self._escape.setEnabled(False)
        self.hide()

    def _call_off(self) -> None:
        self._cancel.setEnabled(False)
        self._escape.setEnabled(False)
        self._title.setText(_("Rolling back…") if self._rolls_back else _("Cancelling…"))
        self.cancelled.emit()

    def _place(self) -> None:
        room = cast(QWidget, self.parentWidget()).rect()
        self.adjustSize()
        self.move((room.width() - self.width()) // 2, room.height() - self.height() - 16)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False
