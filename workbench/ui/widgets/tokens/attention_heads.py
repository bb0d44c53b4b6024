"""All heads of a model as small heat maps. Rows: layers. Columns: heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.base.i18n import _
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.charts import heat
from workbench.ui.widgets.focus_ring import FocusRing

if TYPE_CHECKING:
    from workbench.inspection.attention.info import Attention

MIN_MAP_SIDE, MAX_MAP_SIDE, GAP = 16, 40, 4  # pixels at 100%: side of a map, and gap between two
LABEL = 22


class HeadsMap(QWidget):
    """Emits `chosen(layer, head)`, 1-based, on mouse clicks and arrow keys."""

    chosen = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(_("Heads"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        FocusRing(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._result: Attention | None = None
        self._at = (1, 1)
        self._atlas: QImage | None = None
        drop = theme.changed.connect(self._restyle)
        self.destroyed.connect(lambda *_: drop())

    def set(self, result: Attention | None) -> None:
        """Show the heads of a result, or nothing."""
        before, self._result = self._result, result
        if result is not None:
            self._at = (result.layer, result.head)
            if before is None or before.overview is not result.overview:
                self._restyle()
            self._reserve()
            self._tell()
        self.update()

    def _restyle(self) -> None:
        self._atlas = None
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._result is not None:
            self._reserve()

    def _reserve(self) -> None:
        self.setMinimumWidth(self._size(theme.px(MIN_MAP_SIDE)).width())
        self.setMinimumHeight(self._size(self._side()).height())

    def _size(self, side: float) -> QSize:
        step = side + GAP
        layers, heads = self._shown.layers, self._shown.heads
        return QSize(int(theme.px(LABEL) + heads * step), int(theme.px(LABEL) + layers * step))

    def sizeHint(self) -> QSize:
        """As tall as the maps are at the current width."""
        return self._size(self._side()) if self._result else QSize(200, 200)

    def _side(self) -> float:
        """Side of a map in pixels, so that all heads fit the width, down to the minimum."""
        wide = (self.width() - theme.px(LABEL)) / self._shown.heads - GAP
        return max(theme.px(MIN_MAP_SIDE), min(wide, theme.px(MAX_MAP_SIDE)))

    def area(self, layer: int, head: int) -> QRectF:
        """The rectangle of a head."""
        side, label = self._side(), theme.px(LABEL)
        left, top = label + (head - 1) * (side + GAP), label + (layer - 1) * (side + GAP)
        return QRectF(left, top, side, side)

    # ---------------------------------------------------------------- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._result is None or not self._result.tokens:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_labels(painter)
        atlas, size = self._picture(), self._shown.overview.shape[-1]
        smooth = QPainter.RenderHint.SmoothPixmapTransform
        painter.setRenderHint(smooth, self._side() < size)
        for layer in range(1, self._shown.layers + 1):
            for head in range(1, self._shown.heads + 1):
                area = self.area(layer, head)
                if area.intersects(QRectF(event.rect())):
                    source = QRectF((head - 1) * size, (layer - 1) * size, size, size)
                    painter.drawImage(area, atlas, source)
        self._outline(painter)

    def _picture(self) -> QImage:
        """All heads as one image, cached per result and theme."""
        if self._atlas is None:
            shares, masked = self._shown.overview, self._shown.overview_masked
            layers, heads, size, _same = shares.shape
            flat = (layers * size, heads * size)
            grey = np.broadcast_to(masked[:, None], shares.shape)
            self._atlas = heat.image(
                shares.transpose(0, 2, 1, 3).reshape(flat), grey.transpose(0, 2, 1, 3).reshape(flat)
            )
        return self._atlas

    def _paint_labels(self, painter: QPainter) -> None:
        label, middle = theme.px(LABEL), Qt.AlignmentFlag.AlignCenter
        for head in range(1, self._shown.heads + 1):
            self._write(painter, head == self._at[1])
            area = self.area(1, head)
            room = QRectF(area.left() - GAP, 0, area.width() + 2 * GAP, label - 2)
            painter.drawText(room, middle, str(head))
        for layer in range(1, self._shown.layers + 1):
            self._write(painter, layer == self._at[0])
            area = self.area(layer, 1)
            painter.drawText(QRectF(0, area.top(), label - 4, area.height()), middle, str(layer))

    def _write(self, painter: QPainter, chosen: bool) -> None:
        painter.setFont(theme.font("caption", 600 if chosen else 400))
        painter.setPen(theme.qcolour("text" if chosen else "muted"))

    def _outline(self, painter: QPainter) -> None:
        area = self.area(*self._at).adjusted(-2, -2, 2, 2)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.qcolour("accent"), 3 if self.hasFocus() else 2))
        painter.drawRoundedRect(area, 4, 4)

    # ---------------------------------------------------------------- mouse and keys

    @property
    def _shown(self) -> Attention:
        """Raises RuntimeError if there is no result."""
        if self._result is None:
            raise RuntimeError("no result is shown")
        return self._result

    def _found(self, point: QPointF | QPoint) -> tuple[int, int] | None:
        if self._result is None:
            return None
        step, label = self._side() + GAP, theme.px(LABEL)
        layer, head = int((point.y() - label) // step) + 1, int((point.x() - label) // step) + 1
        inside = 1 <= layer <= self._result.layers and 1 <= head <= self._result.heads
        return (layer, head) if inside else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if (head := self._found(event.position())) is not None:
            self._take(*head)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {
            Qt.Key.Key_Left: (0, -1),
            Qt.Key.Key_Right: (0, 1),
            Qt.Key.Key_Up: (-1, 0),
            Qt.Key.Key_Down: (1, 0),
        }
        step = steps.get(Qt.Key(event.key()))
        if step is None or self._result is None or event.modifiers():
            super().keyPressEvent(event)
            return
        layer = min(max(self._at[0] + step[0], 1), self._result.layers)
        self._take(layer, min(max(self._at[1] + step[1], 1), self._result.heads))

    def _take(self, layer: int, head: int) -> None:
        if (layer, head) != self._at:
            self._at = layer, head
            self._tell()
            self.update()
            self.chosen.emit(layer, head)

    def _tell(self) -> None:
        self.setAccessibleDescription(self._words(*self._at))

    def _words(self, layer: int, head: int) -> str:
        bits = float(self._shown.entropies[layer - 1, head - 1])
        return _(
            "Layer {layer}, head {head}: mean entropy {bits:.2f} bits",
            layer=layer,
            head=head,
            bits=bits,
        )

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            head = self._found(cast(QHelpEvent, event).pos())
            escaping.set_tip(self, self._words(*head) if head else "")
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()
