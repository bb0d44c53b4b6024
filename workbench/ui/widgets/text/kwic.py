"""Keyword in context: a word in bold in the middle of a cell, with the text on both sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QModelIndex, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from workbench.ui.style import theme
from workbench.ui.widgets.tables.delegates import PAD, ground
from workbench.ui.widgets.tables.table import Table
from workbench.ui.widgets.text.offsets import is_rtl

LEFT_SHARE = 0.42  # of the width, before the middle of the word
GAP = 5  # pixels beside the word


class KwicDelegate(QStyledItemDelegate):
    """Draws a keyword in context; `parts(row)` gives the text before, the word, the text after.

    In right-to-left text, what comes first is on the right.
    """

    def __init__(self, table: Table, parts: Callable[[Any], tuple[str, str, str]]):
        super().__init__(table)
        self._table, self._parts = table, parts

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        parts = self._parts(self._table.rows()[index.row()])
        painter.save()
        ground(painter, option)
        area = QRectF(option.rect).adjusted(PAD - 4, 0, 4 - PAD, 0)
        painter.setClipRect(area)
        left, word, right = (" ".join(text.split()) for text in parts)
        rtl = is_rtl("".join(parts))
        if rtl:
            left, right = right, left
            painter.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        bold = theme.font("ui", 600)
        width = QFontMetricsF(bold).horizontalAdvance(word)
        share = 1 - LEFT_SHARE if rtl else LEFT_SHARE
        at = area.left() + max(0.0, area.width() * share - width / 2)
        painter.setFont(bold)
        painter.setPen(theme.qcolour("text"))
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        painter.drawText(QRectF(at, area.top(), width + 1, area.height()), middle, word)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.setPen(theme.qcolour("text" if is_chosen else "muted"))
        painter.setFont(theme.font("ui"))
        metrics = QFontMetricsF(theme.font("ui"))
        before = QRectF(area.left(), area.top(), max(0.0, at - GAP - area.left()), area.height())
        start = at + width + GAP
        after = QRectF(start, area.top(), max(0.0, area.right() - start), area.height())
        # Qt elides in reading order: what comes before the word loses its beginning
        elide = Qt.TextElideMode
        first, last = elide.ElideLeft, elide.ElideRight
        if rtl:
            first, last = last, first
        absolute = Qt.AlignmentFlag.AlignAbsolute | middle
        painter.drawText(
            before,
            absolute | Qt.AlignmentFlag.AlignRight,
            metrics.elidedText(left, first, before.width()),
        )
        painter.drawText(
            after,
            absolute | Qt.AlignmentFlag.AlignLeft,
            metrics.elidedText(right, last, after.width()),
        )
        painter.restore()
