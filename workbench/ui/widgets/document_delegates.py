"""Item delegates of the document table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from os.path import commonprefix
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QPainter,
    QStaticText,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
    QTransform,
)
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from workbench.text.find import find
from workbench.ui import icons, theme
from workbench.ui.offsets import Utf16Map, is_rtl
from workbench.ui.widgets.delegates import PAD, STATE_ICONS, ground

if TYPE_CHECKING:
    from workbench.text.labels import Label

ROW = Qt.ItemDataRole.UserRole  # the row object
_ALIGNMENT = Qt.ItemDataRole.TextAlignmentRole
_RIGHT = int(Qt.AlignmentFlag.AlignRight)


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
        font = theme.size("ui"), theme.family()
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
            words = _line(name, Qt.TextElideMode.ElideMiddle, room, *font)
            size = words.size()
            top = box.top() + (box.height() - 1 - size.height()) / 2
            painter.drawStaticText(QPointF(left + 15, top), words)
            left += 15 + round(size.width()) + 14


class Cell(QStyledItemDelegate):
    """A line of text, as the style sheet would draw it but in a third of the time.

    A page of rows is painted within a frame only so: a style sheet computes several rules for each
    cell.
    """

    mode = Qt.TextElideMode.ElideRight

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        painter.save()
        ground(painter, option)
        text = index.data(Qt.ItemDataRole.DisplayRole)
        if text:
            painter.setPen(theme.qcolour("text"))
            self._paint(painter, option.rect.adjusted(PAD, 0, -PAD, -1), _on_one_line(text), index)
        painter.restore()

    def _paint(self, painter: QPainter, box: QRect, text: str, index: QModelIndex) -> None:
        self._line(painter, box, text, right=bool(int(index.data(_ALIGNMENT)) & _RIGHT))

    def _line(self, painter: QPainter, box: QRect, text: str, *, right: bool = False) -> None:
        line = _line(text, self.mode, box.width(), theme.size("ui"), theme.family())
        size, left = line.size(), float(box.left())
        if right:
            left += box.width() - size.width()
        painter.setFont(theme.font())
        painter.drawStaticText(QPointF(left, box.top() + (box.height() - size.height()) / 2), line)


def _on_one_line(text: object) -> str:
    """As Qt's delegate shows it: metadata may have several lines."""
    return str(text).replace("\n", " ").replace("\u2028", " ")


@lru_cache(maxsize=3_000)
def _line(text: str, mode: Qt.TextElideMode, width: int, _size: int, _family: str) -> QStaticText:
    """A line that is elided and shaped once: most cells repeat, or are painted again."""
    font = theme.font()
    line = QStaticText(_elided(text, mode, width, QFontMetrics(font)))
    line.setTextFormat(Qt.TextFormat.PlainText)
    if mode == Qt.TextElideMode.ElideRight and is_rtl(text):
        line.setTextOption(_text_option(rtl=True))
    line.prepare(QTransform(), font)
    return line


def _elided(text: str, mode: Qt.TextElideMode, width: int, metrics: QFontMetrics) -> str:
    """As `elidedText`, without shaping the part of a long text that never fits."""
    most = 2 * width // max(1, metrics.averageCharWidth()) + 8
    if mode == Qt.TextElideMode.ElideRight and len(text) > most:
        beginning = text[:most]
        shown = metrics.elidedText(beginning, mode, width)
        if shown != beginning:
            return shown
    return metrics.elidedText(text, mode, width)


def _text_option(*, rtl: bool) -> QTextOption:
    option = QTextOption(Qt.AlignmentFlag.AlignRight if rtl else Qt.AlignmentFlag.AlignLeft)
    option.setAlignment(option.alignment() | Qt.AlignmentFlag.AlignAbsolute)
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    option.setTextDirection(
        Qt.LayoutDirection.RightToLeft if rtl else Qt.LayoutDirection.LeftToRight
    )
    return option


class FoundText(Cell):
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
        if middle:
            self.mode = Qt.TextElideMode.ElideMiddle
        self._places = lru_cache(maxsize=500)(lambda text, wanted: tuple(places(text, wanted)))

    def _paint(self, painter: QPainter, box: QRect, text: str, index: QModelIndex) -> None:
        found = self._places(text, self.wanted) if self.wanted.strip() else ()
        if found:
            painter.setClipRect(box)
            use = theme.size("ui"), theme.family(), theme.is_dark()
            layout = _marked(text, found, box.width(), self.mode, use)
            y = box.top() + (box.height() - layout.lineAt(0).height()) / 2
            layout.draw(painter, QPointF(box.left(), y))
        else:  # names stay at the left of their column
            prose = self.mode == Qt.TextElideMode.ElideRight
            self._line(painter, box, text, right=prose and is_rtl(text))


@lru_cache(maxsize=200)
def _marked(
    text: str,
    found: Sequence[tuple[int, int]],
    width: int,
    mode: Qt.TextElideMode,
    _use: tuple[int, str, bool],
) -> QTextLayout:
    """As `_laid_out`, cached for each text, column and theme."""
    return _laid_out(text, found, width, mode)


def _laid_out(
    text: str,
    found: Sequence[tuple[int, int]],
    width: int,
    mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> QTextLayout:
    """A single line, elided, with a background behind the matches."""
    font = theme.font()
    shown = _elided(text, mode, width, QFontMetrics(font))
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
    layout.setTextOption(_text_option(rtl=rtl))
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
