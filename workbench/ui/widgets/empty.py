"""Empty state: icon, one sentence, one button. Used by every list and page."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from workbench.ui import theme
from workbench.ui.widgets.layout import layout_of
from workbench.ui.widgets.words import IconLabel, words


class EmptyState(QFrame):
    """Placeholder for an empty list or page. `action` is a button; `more` may add another."""

    def __init__(
        self, icon: str, title: str, hint: str = "", action: QWidget | None = None, *more: QWidget
    ):
        super().__init__()
        self._title, self._hint = (
            words(title, "heading", weight=600),
            words(hint, "ui", "muted", wrap=True),
        )
        self._icon = IconLabel(icon, "faint", 40)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 24, 24)
        layout.setSpacing(8)
        layout.addStretch(1)
        for part in (self._icon, self._title, self._hint):
            if part is not self._icon:
                part.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            layout.addWidget(
                part,
                0,
                Qt.AlignmentFlag.AlignHCenter if part is not self._hint else Qt.AlignmentFlag(0),
            )
        layout.addSpacing(4)
        for button in (action, *more):
            if button is not None:
                layout.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the icon and keep the text if there is little height."""
        margin = 24 if self.height() > theme.px(200) else 8
        layout_of(self).setContentsMargins(margin, margin, margin, margin)
        hint = (
            self._hint.heightForWidth(max(1, self.width() - 2 * margin)) if self._hint.text() else 0
        )
        needed = self._icon.height() + self._title.sizeHint().height() + hint + 2 * margin + 40
        self._icon.setVisible(self.height() >= needed)
        super().resizeEvent(event)

    def set(self, title: str, hint: str = "", icon: str = "") -> None:
        """Change the texts, and the icon if one is given."""
        if icon:
            self._icon.set(icon, "faint")
        self._title.setText(title)
        self._hint.setText(hint)
