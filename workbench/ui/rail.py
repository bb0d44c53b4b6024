"""The rail: the pages, icon above name, the one shown tinted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QButtonGroup, QFrame, QToolButton, QVBoxLayout

from workbench.base.i18n import _
from workbench.base.manifest import Contribution
from workbench.ui import icons, theme


class Rail(QFrame):
    """One button a page; Up and Down go along, as in a list."""

    def __init__(self, pages: Sequence[Contribution], choose: Callable[[str], None]):
        super().__init__()
        self.setProperty("part", "rail")
        self.setAccessibleName(_("Pages"))
        self._group, self._buttons, self._icons = QButtonGroup(self), {}, {}
        self._group.setExclusive(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 8)
        layout.setSpacing(3)
        for page in pages:
            button = QToolButton()
            button.setText(_(page.title))
            button.setAccessibleName(_(page.title))
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
            button.setCheckable(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda _checked=False, id=page.id: choose(id))
            self._group.addButton(button)
            self._buttons[page.id], self._icons[page.id] = (
                button,
                page.options.get("icon", "square"),
            )
            layout.addWidget(button)
        layout.addStretch(1)
        self._dress()

    def show_chosen(self, page: str) -> None:
        for id, button in self._buttons.items():
            button.setChecked(id == page)

    def button(self, page: str) -> QToolButton | None:
        return self._buttons.get(page)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._dress()
        super().changeEvent(event)

    def _dress(self) -> None:
        width = max(theme.RAIL, theme.px(theme.RAIL))
        self.setFixedWidth(width)
        side = theme.px(20)
        for id, button in self._buttons.items():
            button.setIconSize(QSize(side, side))
            button.setIcon(icons.two_state(self._icons[id], size=side))
            button.setFixedSize(width, theme.px(52))
