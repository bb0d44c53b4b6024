"""Buttons: primary (one per page), normal, quiet, danger; segments for two to four exclusive
choices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QMenu,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
)
from shiboken6 import isValid

from workbench.ui.style import escaping, icons, theme
from workbench.ui.widgets import safe_focus
from workbench.ui.widgets.flow import FlowLayout

LEAST_SEGMENT = 72  # minimum width of a choice, pixels at 100%
SEGMENT_PAD = 24  # padding beside its text, in pixels
_TONES = {"primary": "on_accent", "danger": "bad", "quiet": "muted"}


class Button(QPushButton):
    """A button with an icon that follows the theme.

    The accessible name is the text without "…", unless `name` is given. A text that does not fit
    is elided in the middle, so that its verb remains, and shown in the tooltip.
    """

    def __init__(
        self,
        text: str = "",
        icon: str = "",
        kind: str = "normal",
        *,
        small: bool = False,
        on: Callable[[], object] | None = None,
        name: str = "",
        tip: str = "",
        menu: QMenu | None = None,
    ):
        super().__init__((" " if icon and text else "") + text)
        self._icon, self._kind = icon, kind
        self.setProperty("kind", kind)
        self.setProperty("small", small)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name or escaping.spoken(text))
        escaping.set_tip(self, tip or ("" if text else name))
        self.setAutoDefault(False)
        if on is not None:
            self.clicked.connect(lambda _checked=False: on())
            self.clicked.connect(self._leave)
        if menu is not None:
            self.setProperty("menu", True)
            self.setMenu(menu)
        self._tint()

    def _leave(self, _checked: bool = False) -> None:
        """After a deletion, Enter must not delete what is selected then."""
        if isValid(self) and self._kind == "danger" and self.hasFocus():
            safe_focus.leave(self)

    def set_text(self, text: str) -> None:
        """Change the text and the accessible name."""
        self.setText((" " if self._icon and text else "") + text)
        self.setAccessibleName(escaping.spoken(text))

    def shorten(self, short: bool, text: str) -> None:
        """Show the icon alone, with the text as a tooltip, or icon and text."""
        self.setText("" if short else f" {text}")
        escaping.set_tip(self, text if short else "")

    def set_icon(self, icon: str) -> None:
        self._icon = icon
        self._tint()

    def set_kind(self, kind: str) -> None:
        self._kind = kind
        self.setProperty("kind", kind)
        self.style().unpolish(self)
        self.style().polish(self)
        self.updateGeometry()  # a primary button is bold
        self._tint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            self.click()  # Enter presses the focused button everywhere, not only in dialogs
            return
        super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (
            QEvent.Type.PaletteChange,
            QEvent.Type.StyleChange,
            QEvent.Type.EnabledChange,
        ):
            self._tint()
        super().changeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """A focused primary button has a second ring: its border is hardly told from its ground."""
        if self._lacking() and self.text():
            self._paint_elided()
        else:
            super().paintEvent(event)
        if self._kind == "primary" and self.hasFocus():
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.qcolour("on_accent"), 1.5))
            inside = QRectF(self.rect()).adjusted(3, 3, -3, -3)
            painter.drawRoundedRect(inside, theme.RADIUS_SMALL, theme.RADIUS_SMALL)

    def _lacking(self) -> int:
        """Pixels that the text is too wide."""
        return max(0, self.sizeHint().width() - self.width())

    def _paint_elided(self) -> None:
        painter, option = QStylePainter(self), QStyleOptionButton()
        self.initStyleOption(option)
        metrics = self.fontMetrics()
        room = metrics.horizontalAdvance(option.text) - self._lacking()
        option.text = metrics.elidedText(option.text, Qt.TextElideMode.ElideMiddle, room)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and not self.toolTip() and self._lacking():
            place = cast(QHelpEvent, event).globalPos()
            escaping.show_tip(place, escaping.spoken(self.text()).strip(), self)
            return True
        return super().event(event)

    def _tint(self) -> None:
        if self._icon:
            tone = _TONES.get(self._kind, "text")
            if not self.isEnabled():
                tone = "muted" if self._kind == "primary" else "faint"
            side = theme.px(16)
            self.setIconSize(QSize(side, side))
            self.setIcon(icons.icon(self._icon, tone, side))


def icon_button(
    icon: str,
    name: str,
    on: Callable[[], object] | None = None,
    *,
    kind: str = "quiet",
    small: bool = False,
) -> Button:
    """A button with only an icon; its name is shown as a tooltip and reported to screen readers."""
    return Button("", icon, kind, small=small, on=on, name=name)


class _Segment(QPushButton):
    """A choice with room for its text in bold, as it is drawn when selected.

    If there is not enough room, the text is elided in the middle and shown in the tooltip.
    """

    def sizeHint(self) -> QSize:
        hint, bold = (
            super().sizeHint(),
            QFontMetrics(theme.font("ui", 600)).horizontalAdvance(self.text()),
        )
        return QSize(max(hint.width(), bold + 26), hint.height())

    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        return QSize(min(hint.width(), theme.px(LEAST_SEGMENT)), hint.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionButton()
        self.initStyleOption(option)
        metrics = QFontMetrics(theme.font("ui", 600 if self.isChecked() else 400))
        room = self.width() - SEGMENT_PAD
        option.text = metrics.elidedText(option.text, Qt.TextElideMode.ElideMiddle, room)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and not self.toolTip():
            if self.width() < self.sizeHint().width():
                escaping.show_tip(cast(QHelpEvent, event).globalPos(), self.text(), self)
            return True
        return super().event(event)


class Segments(QFrame):
    """Two to four exclusive choices, in further rows where they have no room side by side.

    `chosen` is emitted with the value when the user selects one.
    """

    chosen = Signal(object)

    def __init__(self, *choices: tuple[object, str], value: object = None, name: str = ""):
        """`choices`: (value, text). `name` describes what is selected, for screen readers."""
        super().__init__()
        self.setProperty("part", "segments")
        self.setAccessibleName(name)
        self._group, self._buttons = QButtonGroup(self), {}
        self._wide = 0  # the width that a layout gave
        layout = FlowLayout(self, gap=0, fill=True)
        for this, text in choices:
            button = _Segment(text)
            button.setCheckable(True)
            button.setAutoDefault(False)
            button.setAccessibleName(text)
            button.setAccessibleDescription(name)
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            button.clicked.connect(lambda _checked=False, this=this: self.chosen.emit(this))
            self._group.addButton(button)
            self._buttons[this] = button
            layout.addWidget(button)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.set(value if value is not None else choices[0][0])

    def sizeHint(self) -> QSize:
        """One row, or the rows at the present width: a fixed height is that of the size hint."""
        hint = super().sizeHint()
        if 0 < self._wide < hint.width():
            hint.setHeight(self.heightForWidth(self._wide))
        return hint

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._wide != self.width():
            self._wide = self.width()
            self.updateGeometry()

    def set(self, value: object) -> None:
        """Select a value, or none if there is no such choice; emits nothing."""
        if value in self._buttons:
            self._buttons[value].setChecked(True)
            return
        self._group.setExclusive(False)
        for button in self._buttons.values():
            button.setChecked(False)
        self._group.setExclusive(True)

    def value(self) -> object:
        return next((value for value, button in self._buttons.items() if button.isChecked()), None)

    def set_words(self, value: object, text: str) -> None:
        """Change the text of a choice, such as a count in it."""
        self._buttons[value].setText(text)
        self._buttons[value].setAccessibleName(text)

    def button(self, value: object) -> QPushButton:
        return self._buttons[value]
