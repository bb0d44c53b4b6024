"""A vector as a strip of cells: blue above zero, orange below."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.ui.style import formats, theme

NAME = 150  # width of the names, pixels at 100%


class NumbersStrip(QWidget):
    """`set` replaces the numbers and a remark on them; colours are relative to the largest one."""

    def __init__(self, title: str):
        super().__init__()
        self._title, self._about = title, ""
        self._numbers: tuple[float, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(theme.px(18))
        self.setAccessibleName(title)

    def set(self, numbers_about: tuple[Sequence[float], str]) -> None:
        numbers, about = numbers_about
        self._numbers, self._about = tuple(numbers), about
        message = ", ".join(formats.decimal(number, 2) for number in self._numbers)
        self.setAccessibleDescription(f"{about} {message}".strip())
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(theme.font("small", 600))
        painter.setPen(theme.qcolour("text"))
        left = theme.px(NAME)
        text = f"{self._title}  {self._about}".strip()
        elided = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, left - 8)
        painter.drawText(QRectF(0, 0, left, self.height()), Qt.AlignmentFlag.AlignVCenter, elided)
        if not self._numbers:
            return
        most = max(map(abs, self._numbers)) or 1.0
        wide = (self.width() - left) / len(self._numbers)
        for at, number in enumerate(self._numbers):
            colour = QColor(theme.diverging(number / most))
            painter.fillRect(QRectF(left + at * wide, 1, wide, self.height() - 2), colour)
