"""Empty state: icon, one sentence, one button. Used by every list and page."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from workbench.ui.style import theme
from workbench.ui.widgets.controls.words import IconLabel, words
from workbench.ui.widgets.layout import layout_of, row

FULL_MARGIN, SMALL_MARGIN = (
    24,
    8,
)  # pixels around the contents; the second where there is little height
MOST_WIDTH = 480  # of the texts, pixels at 100%: longer lines are hard to read


class EmptyState(QFrame):
    """Placeholder for an empty list or page. `action` is a button; `more` may add another."""

    def __init__(
        self, icon: str, title: str, hint: str = "", action: QWidget | None = None, *more: QWidget
    ):
        super().__init__()
        self._title, self._hint = (
            words(title, "heading", weight=600, wrap=True),
            words(hint, "ui", "muted", wrap=True),
        )
        self._icon = IconLabel(icon, "faint", 40)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(FULL_MARGIN, FULL_MARGIN, FULL_MARGIN, FULL_MARGIN)
        layout.setSpacing(8)
        layout.addStretch(1)
        for part in (self._title, self._hint):
            part.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            part.setMaximumWidth(theme.px(MOST_WIDTH))
        layout.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignHCenter)
        for part in (self._title, self._hint):
            layout.addWidget(row(None, (part, 1000), None, gap=0))
        layout.addSpacing(4)
        for button in (action, *more):
            if button is not None:
                layout.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(2)

    def minimumSizeHint(self) -> QSize:
        """Without the icon and with narrow margins, as it is shown where there is little height."""
        least, layout = super().minimumSizeHint(), layout_of(self)
        spare = 2 * (layout.contentsMargins().top() - SMALL_MARGIN)
        if not self._icon.isHidden():
            spare += self._icon.height() + layout.spacing()
        return QSize(least.width(), least.height() - spare)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the icon and keep the text if there is little height."""
        margin = FULL_MARGIN if self.height() > theme.px(200) else SMALL_MARGIN
        layout_of(self).setContentsMargins(margin, margin, margin, margin)
        most = theme.px(MOST_WIDTH)
        room = min(most, max(1, self.width() - 2 * margin))
        texts = 0
        for part in (self._title, self._hint):
            part.setMaximumWidth(most)
            texts += part.heightForWidth(room) if part.text() else 0
        needed = self._icon.height() + texts + 2 * margin + 40
        self._icon.setVisible(self.height() >= needed)
        super().resizeEvent(event)

    def set(self, title: str, hint: str = "", icon: str = "") -> None:
        """Change the texts, and the icon if one is given."""
        if icon:
            self._icon.set(icon, "faint")
        self._title.setText(title)
        self._hint.setText(hint)
