"""The navigation rail: icon and name of each page, the current one highlighted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QSizePolicy, QToolButton, QVBoxLayout

from workbench.base.i18n import _
from workbench.base.manifest import Contribution
from workbench.ui.shell.pages import icon_of
from workbench.ui.style import icons, theme
from workbench.ui.widgets.layout import fill, scrolled

TALL, LOW = 52, 34  # size of a button in pixels at 100%: name below the icon, or beside it
GAP, MARGIN = 3, 8


class Rail(QFrame):
    """One button per page; Up and Down move between them, as in a list.

    If the window is too low for all, names are beside smaller icons; below that, the rail scrolls.
    """

    def __init__(self, pages: Sequence[Contribution], choose: Callable[[str], None]):
        super().__init__()
        self.setProperty("part", "rail")
        self.setAccessibleName(_("Pages"))
        self._group, self._buttons, self._icons = QButtonGroup(self), {}, {}
        self._group.setExclusive(False)
        self._low: bool | None = None
        inner = QFrame()
        layout = QVBoxLayout(inner)
        layout.setContentsMargins(0, MARGIN, 0, MARGIN)
        layout.setSpacing(GAP)
        for page in pages:
            button = self._button(page, choose)
            self._group.addButton(button)
            self._buttons[page.id] = button
            self._icons[page.id] = icon_of(page)
            layout.addWidget(button)
        layout.addStretch(1)
        self._area = scrolled(inner)
        self._area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        fill(self, self._area)
        self._dress()

    def _button(self, page: Contribution, choose: Callable[[str], None]) -> QToolButton:
        button = QToolButton()
        button.setText(_(page.title))
        button.setAccessibleName(_(page.title))
        button.setCheckable(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda _checked=False, id=page.id: choose(id))
        return button

    def show_chosen(self, page: str) -> None:
        for id, button in self._buttons.items():
            button.setChecked(id == page)
        if page in self._buttons:
            self._area.ensureWidgetVisible(self._buttons[page], 0, MARGIN)

    def button(self, page: str) -> QToolButton | None:
        return self._buttons.get(page)

    @property
    def low(self) -> bool:
        """Whether the names are beside the icons."""
        return bool(self._low)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._low != self._is_low():
            self._dress()
        chosen = next((button for button in self._buttons.values() if button.isChecked()), None)
        if chosen is not None:
            self._area.ensureWidgetVisible(chosen, 0, MARGIN)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._dress()
        super().changeEvent(event)

    def _is_low(self) -> bool:
        many = len(self._buttons)
        return self.height() < many * (theme.px(TALL) + GAP) + 2 * MARGIN

    def _dress(self) -> None:
        if not hasattr(self, "_area"):
            return
        low = self._low = self._is_low()
        width = max(theme.RAIL, theme.px(theme.RAIL))
        side = theme.px(16 if low else 20)
        if low:
            metrics = QFontMetrics(theme.font("caption", 600))
            longest = max(
                metrics.horizontalAdvance(button.text()) for button in self._buttons.values()
            )
            width = max(width, side + longest + 36)
        self.setFixedWidth(width)
        style = Qt.ToolButtonStyle
        for id, button in self._buttons.items():
            button.setToolButtonStyle(
                style.ToolButtonTextBesideIcon if low else style.ToolButtonTextUnderIcon
            )
            if bool(button.property("beside")) != low:
                button.setProperty("beside", low)
                button.style().unpolish(button)
                button.style().polish(button)
            button.setIconSize(QSize(side, side))
            button.setIcon(icons.two_state(self._icons[id], size=side))
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            button.setFixedSize(width, theme.px(LOW if low else TALL))
