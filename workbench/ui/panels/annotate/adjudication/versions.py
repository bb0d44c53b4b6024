"""The versions of a text beside one another, each with its labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QSizePolicy, QWidget

from workbench.ui.style import theme
from workbench.ui.widgets.layout import layout_of, row
from workbench.ui.widgets.text.arc_layout import TextArc
from workbench.ui.widgets.text.span_layout import TextSpan
from workbench.ui.widgets.text.view import TextView

LEAST_COLUMN = 230  # width of a version beside others, pixels at 100%
GAP = 16  # between versions, pixels


class Version(NamedTuple):
    """name: of the annotator. text: the part that is shown, with spans and relations in its code
    points.
    """

    name: str
    text: str
    spans: tuple[TextSpan, ...]
    chosen: tuple[str, int] | None = None
    arcs: tuple[TextArc, ...] = ()


class Badge(QWidget):
    """The number of an annotator, which is the key that takes that version."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(theme.px(20), theme.px(20))

    minimumSizeHint = sizeHint

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        first = self._number == 1  # filled, the others are outlined
        accent = theme.qcolour("accent")
        pen = painter.pen()
        pen.setColor(accent)
        pen.setWidthF(2.0)
        painter.setPen(pen)
        painter.setBrush(accent if first else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
        painter.setPen(theme.qcolour("on_accent") if first else accent)
        painter.setFont(theme.font("small", 600))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, str(self._number))


class LineText(TextView):
    """A part of a text as high as its contents. `pressed(span id or None)`: a click."""

    pressed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
        self._content = ""
        self._relations: tuple[TextArc, ...] = ()

    def set_version(self, version: Version) -> None:
        if version.text != self._content:
            self._content, self._relations = version.text, ()
            self.set_text(version.text)
        self.setAccessibleName(version.name)
        if tuple(self.spans) != tuple(sorted(version.spans)):
            self.set_spans(version.spans)
        if version.arcs != self._relations:
            self._relations = version.arcs
            self.set_arcs(version.arcs)
        self.choose(version.chosen)
        self._fit()

    def _fit(self) -> None:
        """The room below the last line is that of a paragraph, which no other follows."""
        below = min(self.pieces.measures.paragraph, self.content_height())
        self.setFixedHeight(round(self.content_height() - below))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def set_zoom(self, per_cent: int) -> None:
        super().set_zoom(per_cent)
        self._fit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        ids = [id for _kind, id in self.names_at(event.position()) if id > 0]
        self.pressed.emit(ids[0] if ids else None)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        event.ignore()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.ignore()

    mouseDoubleClickEvent = mousePressEvent

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)
        else:
            event.ignore()  # the list scrolls


class Versions(QFrame):
    """One text for each annotator, side by side or, without room, one below the other."""

    pressed = Signal(object)
    zoomed = Signal(int)

    def __init__(self, count: int) -> None:
        super().__init__()
        self.texts = [LineText() for _number in range(count)]
        self._badges = [Badge(number) for number in range(1, count + 1)]
        parts: list[tuple[QWidget, int]] = []
        for text, badge in zip(self.texts, self._badges, strict=True):
            text.pressed.connect(self.pressed)
            text.zoomed.connect(self.zoomed)
            part = row(badge, (text, 1), gap=6)
            layout_of(part).setAlignment(badge, Qt.AlignmentFlag.AlignTop)
            layout_of(part).setAlignment(text, Qt.AlignmentFlag.AlignTop)
            parts.append((part, 1))
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._line.setContentsMargins(0, 0, 0, 0)
        self._line.setSpacing(GAP)
        for item, stretch in parts:
            self._line.addWidget(item, stretch)
        self._arrange()

    def set(self, versions: Sequence[Version]) -> None:
        for text, version in zip(self.texts, versions, strict=True):
            text.set_version(version)

    def set_zoom(self, per_cent: int) -> None:
        for text in self.texts:
            text.set_zoom(per_cent)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        beside = fits_beside(self.width(), len(self.texts))
        way = QBoxLayout.Direction
        self._line.setDirection(way.LeftToRight if beside else way.TopToBottom)
        self._line.setSpacing(GAP if beside else 2)
        for badge in self._badges:
            badge.setVisible(not beside)


def fits_beside(width: int, count: int) -> bool:
    """Whether versions are side by side in a card of this width."""
    return width >= count * theme.px(LEAST_COLUMN) + (count - 1) * GAP
