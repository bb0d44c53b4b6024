"""Heat maps: fractions as shades of one colour, drawn as one image."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QBrush, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.base.i18n import _
from workbench.ui.style import theme

SHADES = 256
MASKED = SHADES  # the shade of masked cells
BAR = 100  # pixels at 100% of the colours in a legend
OPAQUE = np.uint32(255 << 24)


def image(shares: np.ndarray, masked: np.ndarray | None = None) -> QImage:
    """One pixel per value in [0, 1] of an array (R, C); cells with `masked` bool (R, C) are grey.

    The shade grows with the square root, so that small values differ from 0.
    """
    shades = (np.sqrt(np.clip(shares, 0, 1)) * (SHADES - 1)).astype(np.intp)
    if masked is not None:
        shades[masked] = MASKED
    pixels = np.ascontiguousarray(_colours(theme.is_dark())[shades])
    rows, columns = pixels.shape
    heat_map = QImage(pixels.data, columns, rows, 4 * columns, QImage.Format.Format_RGB32)
    return heat_map.copy()  # copy, as the image must not refer to an array that is freed


@lru_cache(maxsize=2)
def _colours(dark: bool) -> np.ndarray:
    """uint32 (SHADES + 1,): 0xFFRRGGBB of each shade."""
    names = [theme.sequential(shade / (SHADES - 1)) for shade in range(SHADES)]
    numbers = [int(text.removeprefix("#"), 16) for text in (*names, theme.colour("line"))]
    return np.array(numbers, np.uint32) | OPAQUE


class Legend(QWidget):
    """The colours from 0 to 1, and that of masked cells if there are any."""

    def __init__(self) -> None:
        super().__init__()
        self._masked = False
        self.setAccessibleName(_("Colours: attention weight from 0 to 1"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(theme.px(BAR) + 34)
        self.setFixedHeight(theme.px(18))

    def set_masked(self, on: bool) -> None:
        self._masked = on
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.qcolour("muted"))
        high, bar = self.height(), theme.px(BAR)
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(QRect(0, 0, 12, high), middle, "0")
        ramp = image(np.linspace(0, 1, bar)[None])
        painter.drawImage(QRect(14, high // 2 - 4, bar, 8), ramp)
        painter.drawText(QRect(20 + bar, 0, 12, high), middle, "1")
        if self._masked:
            left = 44 + bar
            area = QRect(left, high // 2 - 5, 14, 10)
            painter.fillRect(area, theme.qcolour("line"))
            painter.fillRect(area, hatch())
            room = QRect(left + 20, 0, self.width() - left - 20, high)
            painter.drawText(room, middle, _("masked"))


def hatch() -> QBrush:
    """The pattern over masked cells."""
    return QBrush(theme.qcolour("strong_line", 0.55), Qt.BrushStyle.BDiagPattern)
