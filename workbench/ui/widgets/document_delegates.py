"""Item delegates of the document table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from os.path import commonprefix
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from workbench.text.find import find
from workbench.ui import icons, theme
from workbench.ui.offsets import Utf16Map, is_rtl
from workbench.ui.widgets.delegates import PAD, STATE_ICONS, follow_direction, ground

if TYPE_CHECKING:
    from workbench.text.labels import Label

ROW = Qt.ItemDataRole.UserRole  # the row object


class StateIcon(QStyledItemDelegate):
    """The state as an icon; each state has a different shape."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        painter.save()
        ground(painter, option)
        row = index.data(ROW)
        if row is not None and row.state:
            name, tone = STATE_ICONS[row.state]
            box = option.rect
            side = theme.px(15)
            painter.drawPixmap(
                box.left() + 20,
                box.center().y() - side // 2,
                side,
                side,
                icons.pixmap(name, tone, side),
            )
        painter.restore()


class Classes(QStyledItemDelegate):
    """Classes with a square in the colour of each label."""

    def __init__(
        self, parent: QWidget, labels: Callable[[], Mapping[tuple[str, str], Label]]
    ) -> None:
        super().__init__(parent)
        self._labels = labels

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        painter.save()
        ground(painter, option)
        row = index.data(ROW)
        if row is not None and row.classes:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint(painter, option.rect, row.classes)
        painter.restore()

    def _paint(self, painter: QPainter, box: QRect, classes: Sequence[tuple[str, str]]) -> None:
        left, middle, known = box.left() + PAD, box.center().y(), self._labels()
        painter.setFont(theme.font())
        for layer, name in classes:
            room = box.right() - left - 18
            if room < 16:
                break
            label = known.get((layer, name))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(
                QColor(theme.label_colours(label).line)
                if label is not None
                else theme.qcolour("faint")
            )
            painter.drawRoundedRect(QRectF(left, middle - 4, 8, 8), 2.5, 2.5)
            painter.setPen(theme.qcolour("text"))
            words = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, room)
            painter.drawText(
                QRectF(left + 15, box.top() - 1, room, box.height()),
                Qt.AlignmentFlag.AlignVCenter,
                words,
            )
            left += 15 + painter.fontMetrics().horizontalAdvance(words) + 14


class FoundText(QStyledItemDelegate):
    """Text with the matches of a search marked. `places(text, wanted)` returns their code points.

    `middle`: elide in the middle, as for names.
    """

    def __init__(
        self,
        parent: QWidget,
        places: Callable[[str, str], Sequence[tuple[int, int]]],
        *,
        middle: bool = False,
    ) -> None:
        super().__init__(parent)
        self.wanted = ""
        mode = Qt.TextElideMode
        self._mode = mode.ElideMiddle if middle else mode.ElideRight
        self._places = lru_cache(maxsize=500)(places)

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        super().initStyleOption(option, index)
        option.textElideMode = self._mode
        if self._mode == Qt.TextElideMode.ElideRight:  # names stay at the left of their column
            follow_direction(option)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        text = index.data(Qt.ItemDataRole.DisplayRole) or "" if self.wanted.strip() else ""
        found = self._places(text, self.wanted) if text else ()
        if not found:
            super().paint(painter, option, index)
            return
        painter.save()
        ground(painter, option)
        painter.setPen(theme.qcolour("text"))
        box = option.rect.adjusted(PAD, 0, -PAD, 0)
        painter.setClipRect(box)
        layout = _laid_out(text, found, box.width(), self._mode)
        line = layout.lineAt(0)
        y = box.top() + (box.height() - 1 - line.height()) / 2
        layout.draw(painter, QPointF(box.left(), y))
        painter.restore()


def _laid_out(
    text: str,
    found: Sequence[tuple[int, int]],
    width: int,
    mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> QTextLayout:
    """A single line, elided, with a background behind the matches."""
    font = theme.font()
    shown = QFontMetrics(font).elidedText(text, mode, width)
    units, look = Utf16Map(text), QTextCharFormat()
    look.setBackground(theme.qcolour("warn_soft"))
    look.setFontUnderline(True)
    look.setUnderlineColor(theme.qcolour("warn"))
    formats = []
    for start, end in found:
        for first, last in _in_sight(units.to_units(start), units.to_units(end), text, shown):
            part = QTextLayout.FormatRange()
            part.start, part.length, part.format = first, last - first, look
            formats.append(part)
    layout = QTextLayout(shown, font)
    layout.setFormats(formats)
    rtl = mode == Qt.TextElideMode.ElideRight and is_rtl(text)
    option = QTextOption(Qt.AlignmentFlag.AlignRight if rtl else Qt.AlignmentFlag.AlignLeft)
    option.setAlignment(option.alignment() | Qt.AlignmentFlag.AlignAbsolute)
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    option.setTextDirection(
        Qt.LayoutDirection.RightToLeft if rtl else Qt.LayoutDirection.LeftToRight
    )
    layout.setTextOption(option)
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(width if rtl else 1e6)  # it is elided already
    line.setPosition(QPointF(0, 0))
    layout.endLayout()
    return layout


def _in_sight(start: int, end: int, text: str, shown: str) -> list[tuple[int, int]]:
    """Where UTF-16 units `start` to `end` of a text are in its elided form, in pieces."""
    if shown == text:
        return [(start, end)]
    head_of_it = commonprefix([text, shown])
    before = Utf16Map(head_of_it).units
    behind = Utf16Map(shown).units - before - 1
    gone = Utf16Map(text).units - before - behind  # units that the ellipsis replaces
    head = start, min(end, before)
    tail = max(start, before + gone) - gone + 1, end - gone + 1
    return [piece for piece in (head, tail) if piece[0] < piece[1]]


def in_key(key: str, wanted: str) -> tuple[tuple[int, int], ...]:
    """Matches in a key, compared literally."""
    found = find(key, wanted.strip())
    return tuple(zip(found.starts, found.ends, strict=True))
