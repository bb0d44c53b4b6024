"""Swatches: the colours a label can have, as a row of small buttons."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QColorDialog,
    QFrame,
    QSizePolicy,
    QVBoxLayout,
)

from workbench.base.i18n import _
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.flow import flow

NAMES = {
    262: _("blue"),
    150: _("green"),
    35: _("orange"),
    305: _("purple"),
    85: _("yellow"),
    200: _("turquoise"),
    350: _("pink"),
    120: _("lime"),
    235: _("sky blue"),
    60: _("amber"),
    330: _("magenta"),
    175: _("teal"),
}
LIGHTNESS, CHROMA = (
    0.6,
    0.14,
)  # chroma of stored colours; the theme moves them to the lightness that all labels share


class Swatches(QFrame):
    """`picked` is emitted with "#rrggbb", or "" for the default.

    Arrow keys move between colours.
    """

    picked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._group = QButtonGroup(self)
        self._group.setExclusive(False)
        self._chosen = ""
        lines = QVBoxLayout(self)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(4)
        self._buttons: dict[str, _Swatch] = {}
        for hue in sorted(theme.HUES):
            colour = theme.oklch(LIGHTNESS, CHROMA, hue).lower()
            button = _Swatch(colour, NAMES[hue])
            button.clicked.connect(lambda _checked=False, colour=colour: self.picked.emit(colour))
            self._group.addButton(button)
            self._buttons[colour] = button
        self._auto = Button(
            _("Default"),
            small=True,
            on=lambda: self.picked.emit(""),
            tip=_("Default colour for the label's position in the list"),
        )
        self._own = Button(_("Other…"), small=True, on=self._ask, name=_("Other colour"))
        lines.addWidget(flow(*self._buttons.values(), gap=4))
        lines.addWidget(flow(self._auto, self._own, gap=4))

    def set(self, colour: str) -> None:
        """Mark the current colour; emits nothing."""
        self._chosen = colour
        for this, button in self._buttons.items():
            button.set_marked(this == colour.lower())

    def _ask(self) -> None:
        colour = QColorDialog.getColor(
            QColor(self._chosen or next(iter(self._buttons))), self, _("Colour of the label")
        )
        if colour.isValid():
            self.picked.emit(colour.name())


class _Swatch(QAbstractButton):
    def __init__(self, colour: str, name: str):
        super().__init__()
        self._colour, self._marked = colour, False
        self.setAccessibleName(_("Colour {name}", name=name))
        escaping.set_tip(self, name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_marked(self, marked: bool) -> None:
        self._marked = marked
        self.setAccessibleDescription(_("chosen") if marked else "")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(30), theme.px(28))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
            return
        super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5)
        colours = theme.label_colours(self._colour)
        if self.hasFocus():
            painter.setPen(QPen(theme.qcolour("accent"), 2))
            painter.drawRoundedRect(area, 6, 6)
        elif self._marked or self.underMouse():
            painter.setPen(QPen(theme.qcolour("text" if self._marked else "line"), 1.5))
            painter.drawRoundedRect(area, 6, 6)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.line) if self.isEnabled() else theme.qcolour("faint"))
        painter.drawRoundedRect(area.adjusted(5, 5, -5, -5), 4, 4)
        if self._marked:  # not by colour alone: a tick in the background colour
            painter.setPen(QPen(theme.qcolour("surface"), 1.8))
            x, y = area.center().x(), area.center().y()
            painter.drawPolyline([_point(x - 4, y), _point(x - 1, y + 3), _point(x + 4, y - 3)])

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.update()
        super().leaveEvent(event)


def _point(x: float, y: float) -> QPointF:

    return QPointF(x, y)
