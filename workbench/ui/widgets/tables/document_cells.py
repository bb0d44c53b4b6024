"""The cells of the document table, and how a page of them is painted.

The table paints them itself. For each cell, Qt asks the model several times and prepares options
and rules of the style sheet, which takes three times as long as the text; so a page of rows took
longer than a frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from os.path import commonprefix
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
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
from PySide6.QtWidgets import QTableView

from workbench.text.queries.find import find
from workbench.ui.style import icons, theme
from workbench.ui.widgets.tables.delegates import PAD, STATE_ICONS
from workbench.ui.widgets.text.offsets import Utf16Map, is_rtl

if TYPE_CHECKING:
    from PySide6.QtCore import QItemSelectionRange

    from workbench.storage.documents.documents import DocumentRow
    from workbench.text.labels import Label


class Drawn(Protocol):
    """Draws the cells of a column. Pen, font and clip of the painter are left as they were."""

    def draw(self, painter: QPainter, box: QRect, row: DocumentRow) -> None: ...


def paint_rows(
    view: QTableView,
    part: QRect,
    cells: Callable[[int], Drawn],
    row_of: Callable[[int], DocumentRow | None],
    chosen: Sequence[QItemSelectionRange],
) -> None:
    """Paint the rows in a part of the viewport. `cells(column)` draws a column; `chosen`: the
    selected rows.
    """
    model, head = view.model(), view.horizontalHeader()
    height, count = view.verticalHeader().defaultSectionSize(), model.rowCount()
    first = max(0, view.rowAt(max(0, part.top())))
    top = view.rowViewportPosition(first)
    after = min(count, first + max(0, part.bottom() - top) // height + 1)
    columns = [column for column in range(head.count()) if not view.isColumnHidden(column)]
    if first >= after or not columns:
        return
    painter = QPainter(view.viewport())
    painter.setFont(theme.font())
    across = [view.visualRect(model.index(first, column)) for column in columns]
    whole = across[0].united(across[-1])
    for number in range(first, after):
        line = whole.translated(0, (number - first) * height)
        if any(rows.top() <= number <= rows.bottom() for rows in chosen):
            painter.fillRect(line, theme.qcolour("accent_soft"))
        painter.setPen(theme.qcolour("line"))
        painter.drawLine(line.bottomLeft(), line.bottomRight())
    painter.setPen(theme.qcolour("text"))
    rows = [row_of(number) for number in range(first, after)]
    for column, box in zip(columns, across, strict=True):
        drawn = cells(column)
        for number, row in enumerate(rows):
            if row is not None:
                drawn.draw(painter, box.translated(0, number * height), row)
    painter.end()


class StateIcon:
    """The state as an icon; each state has a different shape."""

    def draw(self, painter: QPainter, box: QRect, row: DocumentRow) -> None:
        if row.state:
            name, tone = STATE_ICONS[row.state]
            side = theme.px(15)
            top, picture = box.center().y() - side // 2, icons.pixmap(name, tone, side)
            painter.drawPixmap(box.left() + 20, top, side, side, picture)


class Classes:
    """Classes with a square in the colour of each label."""

    def __init__(self, labels: Callable[[], Mapping[tuple[str, str], Label]]) -> None:
        self._labels = labels

    def draw(self, painter: QPainter, box: QRect, row: DocumentRow) -> None:
        if not row.classes:
            return
        left, middle, known = box.left() + PAD, box.center().y(), self._labels()
        font = theme.size("ui"), theme.family()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for layer, name in row.classes:
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
        painter.restore()


class TextLine:
    """A line of text; `text_of(row)`. `right`: aligned at the right."""

    mode = Qt.TextElideMode.ElideRight

    def __init__(self, text_of: Callable[[DocumentRow], str], *, right: bool = False) -> None:
        self._text_of, self._right = text_of, right

    def draw(self, painter: QPainter, box: QRect, row: DocumentRow) -> None:
        """In the font and with the pen of the painter."""
        if text := self._text_of(row):
            self._draw(painter, box.adjusted(PAD, 0, -PAD, -1), _on_one_line(text))

    def _draw(self, painter: QPainter, box: QRect, text: str) -> None:
        self._line(painter, box, text, right=self._right)

    def _line(self, painter: QPainter, box: QRect, text: str, *, right: bool = False) -> None:
        line = _line(text, self.mode, box.width(), theme.size("ui"), theme.family())
        size, left = line.size(), float(box.left())
        if right:
            left += box.width() - size.width()
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
        elided = metrics.elidedText(beginning, mode, width)
        if elided != beginning:
            return elided
    return metrics.elidedText(text, mode, width)


def _text_option(*, rtl: bool) -> QTextOption:
    option = QTextOption(Qt.AlignmentFlag.AlignRight if rtl else Qt.AlignmentFlag.AlignLeft)
    option.setAlignment(option.alignment() | Qt.AlignmentFlag.AlignAbsolute)
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    option.setTextDirection(
        Qt.LayoutDirection.RightToLeft if rtl else Qt.LayoutDirection.LeftToRight
    )
    return option


class FoundText(TextLine):
    """Text with the matches of a search marked. `places(text, wanted)` returns their code points.

    `middle`: elide in the middle, as for names.
    """

    def __init__(
        self,
        text_of: Callable[[DocumentRow], str],
        places: Callable[[str, str], Sequence[tuple[int, int]]],
        *,
        middle: bool = False,
    ) -> None:
        super().__init__(text_of)
        self.wanted = ""
        if middle:
            self.mode = Qt.TextElideMode.ElideMiddle
        self._places = lru_cache(maxsize=500)(lambda text, wanted: tuple(places(text, wanted)))

    def _draw(self, painter: QPainter, box: QRect, text: str) -> None:
        ranges = self._places(text, self.wanted) if self.wanted.strip() else ()
        if ranges:
            painter.save()
            painter.setClipRect(box)
            use = theme.size("ui"), theme.family(), theme.is_dark()
            layout = _marked(text, ranges, box.width(), self.mode, use)
            y = box.top() + (box.height() - layout.lineAt(0).height()) / 2
            layout.draw(painter, QPointF(box.left(), y))
            painter.restore()
        else:  # names stay at the left of their column
            prose = self.mode == Qt.TextElideMode.ElideRight
            self._line(painter, box, text, right=prose and is_rtl(text))


@lru_cache(maxsize=200)
def _marked(
    text: str,
    ranges: Sequence[tuple[int, int]],
    width: int,
    mode: Qt.TextElideMode,
    _use: tuple[int, str, bool],
) -> QTextLayout:
    """As `_laid_out`, cached for each text, column and theme."""
    return _laid_out(text, ranges, width, mode)


def _laid_out(
    text: str,
    ranges: Sequence[tuple[int, int]],
    width: int,
    mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> QTextLayout:
    """A single line, elided, with a background behind the matches."""
    font = theme.font()
    elided = _elided(text, mode, width, QFontMetrics(font))
    units, look = Utf16Map(text), QTextCharFormat()
    look.setBackground(theme.qcolour("warn_soft"))
    look.setFontUnderline(True)
    look.setUnderlineColor(theme.qcolour("warn"))
    formats = []
    for start, end in ranges:
        for first, last in _in_sight(units.to_units(start), units.to_units(end), text, elided):
            part = QTextLayout.FormatRange()
            part.start, part.length, part.format = first, last - first, look
            formats.append(part)
    layout = QTextLayout(elided, font)
    layout.setFormats(formats)
    rtl = mode == Qt.TextElideMode.ElideRight and is_rtl(text)
    layout.setTextOption(_text_option(rtl=rtl))
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(width if rtl else 1e6)  # it is elided already
    line.setPosition(QPointF(0, 0))
    layout.endLayout()
    return layout


def _in_sight(start: int, end: int, text: str, elided: str) -> list[tuple[int, int]]:
    """Where UTF-16 units `start` to `end` of a text are in its elided form, in pieces."""
    if elided == text:
        return [(start, end)]
    head_of_it = commonprefix([text, elided])
    before = Utf16Map(head_of_it).units
    behind = Utf16Map(elided).units - before - 1
    gone = Utf16Map(text).units - before - behind  # units that the ellipsis replaces
    head = start, min(end, before)
    tail = max(start, before + gone) - gone + 1, end - gone + 1
    return [piece for piece in (head, tail) if piece[0] < piece[1]]


def in_key(key: str, pattern: str) -> tuple[tuple[int, int], ...]:
    """Matches in a key, compared literally."""
    matches = find(key, pattern.strip())
    return tuple(zip(matches.starts, matches.ends, strict=True))
