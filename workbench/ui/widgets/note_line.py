"""A message about the last action, with Undo, shown for eight seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QSizePolicy, QWidget

from workbench.base.i18n import _
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import clear, layout_of, row


class NoteLine(QFrame):
    """Floats at the bottom of its parent. The timer pauses while it is hovered or focused.

    `free()` returns the range of the parent's status bar that may be covered, so that a message
    covers no button of the page; if it is empty, the message floats over the page. `left` is
    emitted when it disappears while focused, so that the page can take the focus back.
    """

    left = Signal()

    def __init__(
        self,
        parent: QWidget,
        seconds: float = theme.NOTE_SECONDS,
        *,
        free: Callable[[], QRect] = QRect,
    ):
        super().__init__(parent)
        self._free = free
        self.setProperty("part", "note")
        self._action: Callable[[], None] | None = None
        self._words = words("")
        self._undo = Button(_("Undo"), small=True, on=self._act)
        self._close = Button("×", small=True, on=self._leave, name=_("Close message"))
        for button in (self._undo, self._close):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 3, 6, 3)
        layout.setSpacing(12)
        layout.addWidget(self._words)
        layout.addWidget(self._undo)
        self._more = row(gap=8)
        layout.addWidget(self._more)
        layout.addWidget(self._close)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.setInterval(round(1000 * seconds))
        self._clock.timeout.connect(self._time_is_up)
        parent.installEventFilter(self)
        self.hide()

    def say(
        self,
        text: str,
        undo: Callable[[], None] | None = None,
        *,
        action: str = "",
        more: Sequence[tuple[str, Callable[[], None]]] = (),
    ) -> None:
        """Show `text`; `undo` adds a button that calls it, named "Undo" or `action`, and `more`
        further ones: titles and functions.
        """
        self._words.setText(text)
        self._action = undo
        self._undo.set_text(action or _("Undo"))
        self._undo.setVisible(undo is not None)
        self._fill(more)
        self.show()
        self._place()
        self.raise_()
        self._clock.start()

    def _fill(self, more: Sequence[tuple[str, Callable[[], None]]]) -> None:
        clear(layout_of(self._more))
        for title, act in more:
            button = Button(title, small=True, on=partial(self._act_on, act))
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            layout_of(self._more).addWidget(button)
        self._more.setVisible(bool(more))

    def text(self) -> str:
        return self._words.text() if self.isVisible() else ""

    def _act(self) -> None:
        action, self._action = self._action, None
        self._act_on(action)

    def _act_on(self, action: Callable[[], None] | None) -> None:
        self._leave()
        if action is not None:
            action()

    def _leave(self) -> None:
        focused = self._is_focused()
        self.hide()
        if focused:
            self.left.emit()

    def _time_is_up(self) -> None:
        if self.underMouse() or self._is_focused():
            self._clock.start()
        else:
            self.hide()

    def _is_focused(self) -> bool:
        focused = QApplication.focusWidget()
        return focused is not None and self.isAncestorOf(focused)

    def _place(self) -> None:
        page, free = cast(QWidget, self.parentWidget()).rect(), self._free()
        most = max(120, page.width() - 240)
        self._words.setWordWrap(False)
        self._words.setWordWrap(self._words.sizeHint().width() > most)
        self._words.setFixedWidth(min(most, self._words.sizeHint().width()))
        self.adjustSize()
        if free.isEmpty():
            self.move((page.width() - self.width()) // 2, page.height() - self.height() - 16)
        else:
            across = free if self.width() <= free.width() else page
            self.move(
                across.center().x() - self.width() // 2,
                min(free.center().y() - self.height() // 2, page.height() - self.height() - 2),
            )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False
