"""Chip: how labels are drawn everywhere.

A light background with a square in the label's colour, its name and key; outlined if selected.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QEnterEvent,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from workbench.base.i18n import _
from workbench.ui.style import theme

if TYPE_CHECKING:
    from workbench.text.labels import Label

PICTURES = 600  # of chips that are kept, about 20 KB each
RING, RING_GAP = 2, 1.5  # focus ring of a chip and the gap between them, pixels
_pictures: dict[tuple[object, ...], QPixmap] = {}


@lru_cache(maxsize=2_000)
def _advance(text: str, kind: str, weight: int, _family: str, _percent: int) -> int:
    """Width of a text; layouts ask for that of each chip many times per edit."""
    return QFontMetrics(theme.font(kind, weight)).horizontalAdvance(text)


class _Drawing:
    """The drawing of a chip, shared by Chip and ChipButton."""

    def __init__(
        self, text: str, label: Label | None = None, key: str = "", tone: str = ""
    ) -> None:
        self.text, self.label, self.key, self.tone = text, label, key, tone

    def size(self) -> QSize:
        width = _advance(self.text, "small", 600, theme.family(), theme.percent())
        return QSize(
            width + 24 + theme.px(8) + (self._cap() + theme.px(1) + 4 if self.key else 0),
            theme.px(28 if self.key else 24),
        )

    def _cap(self) -> int:
        """Width of the key's frame: a square for one character."""
        square = theme.px(17)
        if len(self.key) < 2:
            return square
        text = _advance(self.key, "tiny", 500, theme.family(), theme.percent())
        return max(square, text + theme.px(8))

    def colours(self) -> theme.LabelColours:
        if self.label is not None:
            return theme.label_colours(self.label)
        if self.tone:
            soft = theme.colour(f"{self.tone}_soft")
            return theme.LabelColours(theme.colour(self.tone), soft, soft)
        return theme.LabelColours(
            theme.colour("muted"), theme.colour("sunken"), theme.colour("sunken")
        )

    def paint(
        self,
        painter: QPainter,
        area: QRectF,
        *,
        chosen: bool = False,
        focused: bool = False,
        enabled: bool = True,
    ) -> None:
        """Each picture is drawn once: a page may show hundreds of chips, and repaints them with
        whatever is drawn over them.
        """
        size, scale = area.size().toSize(), painter.device().devicePixelRatioF()
        look = self.colours(), theme.is_dark(), theme.percent(), theme.family(), scale
        key = self.text, self.key, size.width(), size.height(), chosen, focused, enabled, *look
        if key not in _pictures:
            if len(_pictures) >= PICTURES:
                _pictures.clear()
            picture = QPixmap(round(size.width() * scale), round(size.height() * scale))
            picture.setDevicePixelRatio(scale)
            picture.fill(Qt.GlobalColor.transparent)
            inner = QPainter(picture)
            whole = QRectF(0, 0, size.width(), size.height())
            self._draw(inner, whole, chosen=chosen, focused=focused, enabled=enabled)
            inner.end()
            _pictures[key] = picture
        painter.drawPixmap(area.topLeft().toPoint(), _pictures[key])

    def _draw(
        self, painter: QPainter, area: QRectF, *, chosen: bool, focused: bool, enabled: bool
    ) -> None:
        colours, middle = self.colours(), area.center().y()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.line), 1.5) if chosen else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.fill if chosen else colours.chip))
        inset = RING + RING_GAP if focused else 0.75  # else the outline of a chosen chip hides it
        painter.drawRoundedRect(area.adjusted(inset, inset, -inset, -inset), 6, 6)
        if focused:
            painter.setPen(QPen(theme.qcolour("accent"), RING))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), 6, 6)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.line))
        square = theme.px(8)
        painter.drawRoundedRect(
            QRectF(area.left() + 9, middle - square / 2, square, square), 2.5, 2.5
        )
        painter.setPen(theme.qcolour("text" if enabled else "faint"))
        painter.setFont(theme.font("small", 600 if chosen else 500))
        cap, tall = self._cap(), theme.px(17) - 1
        room = area.width() - 22 - square - (cap + 7 if self.key else 0)
        elided = painter.fontMetrics().elidedText(
            self.text, Qt.TextElideMode.ElideMiddle, int(room) + 1
        )
        painter.drawText(
            QRectF(area.left() + 15 + square, area.top(), room, area.height()),
            Qt.AlignmentFlag.AlignVCenter,
            elided,
        )
        if self.key:
            frame = QRectF(area.right() - cap - 8, middle - tall / 2, cap, tall)
            painter.setPen(QPen(QColor(colours.line), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(frame, 3, 3)
            painter.setFont(theme.font("tiny", 500))
            painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, self.key)


def paint_chip(
    painter: QPainter,
    area: QRectF,
    text: str,
    label: Label | None = None,
    *,
    key: str = "",
    tone: str = "",
    chosen: bool = False,
) -> None:
    """Draw a chip into `area`, for delegates and custom widgets.

    `label`: Label, position or "#RRGGBB"; else `tone`.
    """
    painter.save()
    _Drawing(text, label, key, tone).paint(painter, area, chosen=chosen)
    painter.restore()


def chip_width(text: str, key: str = "") -> int:
    return _Drawing(text, None, key).size().width()


class Chip(QWidget):
    """A read-only chip for a label or a state.

    `label`: Label, position or "#RRGGBB". `tone`: good, warn, bad, accent, "" for grey.
    """

    def __init__(
        self,
        text: str,
        label: Label | None = None,
        *,
        key: str = "",
        tone: str = "",
        chosen: bool = False,
    ) -> None:
        super().__init__()
        self._drawing, self._chosen = _Drawing(text, label, key, tone), chosen
        self._asked: tuple[object, ...] = ()  # what `set` was last called with
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set(self, text: str, label: Label | None = None, *, tone: str = "", key: str = "") -> None:
        state = (text, label, tone, key, theme.percent(), theme.family())
        if state == self._asked:  # else each edit would lay out the page
            return
        self._asked = state
        self._drawing = _Drawing(text, label, key, tone)
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return self._drawing.size()

    minimumSizeHint = sizeHint

    def paintEvent(self, _event: QPaintEvent) -> None:
        self._drawing.paint(QPainter(self), QRectF(self.rect()), chosen=self._chosen)


class ChipButton(QAbstractButton):
    """A clickable chip. `setChecked` outlines it; the accessible name is the label's name only."""

    right_clicked = Signal()

    def __init__(
        self,
        text: str,
        label: Label | None = None,
        *,
        key: str = "",
        tone: str = "",
        checkable: bool = False,
    ) -> None:
        super().__init__()
        self._drawing = _Drawing(text, label, key, tone)
        self.setText(text)
        self.setAccessibleName(text)
        self.setAccessibleDescription(_("Key {key}", key=key) if key else "")
        self.setCheckable(checkable)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return self._drawing.size()

    minimumSizeHint = sizeHint

    def contextMenuEvent(self, _event: QContextMenuEvent) -> None:
        self.right_clicked.emit()

    def paintEvent(self, _event: QPaintEvent) -> None:
        chosen = self.isChecked() or self.isDown() or self.underMouse()
        painter = QPainter(self)
        self._drawing.paint(
            painter,
            QRectF(self.rect()),
            chosen=chosen,
            focused=self.hasFocus(),
            enabled=self.isEnabled(),
        )

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.update()
        super().leaveEvent(event)
