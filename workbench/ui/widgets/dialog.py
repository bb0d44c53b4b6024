"""Base class of dialogs: heading, content, buttons at the bottom; Escape closes."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QPushButton, QVBoxLayout, QWidget

from workbench.ui.style import theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import bar, column, layout_of, scrolled

FRAME = 40  # pixels of the screen that the frame of a dialog and a margin take


class Dialog(QDialog):
    """Add widgets with `put` and buttons with `end`.

    `fault("…")` shows an error at the bottom and leaves the dialog open.
    """

    def __init__(self, parent: QWidget | None, title: str, hint: str = "", *, width: int = 560):
        super().__init__(parent)
        self.setWindowTitle(title.rstrip("…"))
        room = self.screen().availableSize()
        self.setMinimumWidth(min(theme.px(width), room.width() - FRAME))
        head = [words(title.rstrip("…"), "title", weight=600)]
        if hint:
            head.append(words(hint, "small", "muted", wrap=True))
        self._content = QVBoxLayout()
        self._content.setContentsMargins(24, 8, 24, 16)
        self._content.setSpacing(14)
        self._fault = Callout("", "bad")
        self._fault.hide()
        self._scrolls = False  # the content is taller or wider than the screen
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(column(*head, gap=2, margins=(24, 18, 24, 8)))
        outer.addLayout(self._content, 1)
        outer.addWidget(column(self._fault, margins=(24, 0, 24, 12)))

    def put(self, *parts: QWidget) -> None:
        for part in parts:
            self._content.addWidget(part)

    def end(self, *buttons: QWidget | None) -> None:
        """The button row: None is a stretch, the primary button is last."""
        layout_of(self).addWidget(bar(*buttons, margins=(24, 12, 24, 12)))

    def fault(self, text: str, tone: str = "bad") -> None:
        """Show an error, or a note in another tone of `Callout`; "" clears it."""
        self._fault.set(text, tone)
        if self.isVisible():
            self.fit_height()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.fit_height()

    def fit_height(self, *, shrink: bool = False) -> None:
        """Make room for the content: wrapped text is taller than its size hint.

        shrink: also take away what is not needed, after parts were hidden. Texts that have changed
        are measured once more when they are laid out.
        """
        self._fit_height(shrink=shrink)
        if shrink:
            QTimer.singleShot(0, self, lambda: self._fit_height(shrink=True))

    def _fit_height(self, *, shrink: bool) -> None:
        size = self.screen().availableSize()
        room = QSize(size.width() - FRAME, size.height() - FRAME)
        for _step in range(2):  # widgets that were shown or hidden are measured in the first
            layout_of(self).activate()
            least = layout_of(self).totalMinimumSize()
            if not self._scrolls and (
                least.height() > room.height() or least.width() > room.width()
            ):
                self._scroll()
            needed = layout_of(self).totalHeightForWidth(self.width())
            if needed > self.height() or shrink:
                self.resize(self.width(), needed)
        if self._scrolls:
            self.resize(min(self.width(), room.width()), room.height())
        else:
            self.resize(self.size().boundedTo(room))

    def _scroll(self) -> None:
        """With large text: scroll the content, so that the buttons below it stay on the screen."""
        self._scrolls, focused = True, self.focusWidget()
        outer, holder = cast(QVBoxLayout, layout_of(self)), QWidget()
        outer.removeItem(self._content)
        self._content.setParent(None)
        holder.setLayout(self._content)
        outer.insertWidget(1, scrolled(holder), 1)
        if focused is not None:
            focused.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if (
            event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            and event.modifiers() == Qt.KeyboardModifier.ControlModifier
        ):
            for button in self.findChildren(QWidget):
                if button.property("kind") == "primary" and button.isEnabled():
                    cast(QPushButton, button).click()
                    return
        super().keyPressEvent(event)
