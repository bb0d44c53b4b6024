"""Rows of labels: a chip with a text, a score or a cross, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from workbench.base.i18n import _
from workbench.ui.style import escaping, formats, icons, theme
from workbench.ui.widgets.controls.chip import chip_width, paint_chip
from workbench.ui.widgets.tables.delegates import ground
from workbench.ui.widgets.tables.marked_table import mark_current
from workbench.ui.widgets.tables.table import Column, RowsModel, Table

if TYPE_CHECKING:
    from workbench.text.labels import Label
    from workbench.ui.panels.annotate.session import Name

CROSS = 30  # width at the end of a span's row, pixels at 100%, where a click deletes the span
PICTURES = 300  # of rows that are kept: some screens full
PICTURES_PER_FRAME, FRAME_TIME = 8, 16  # pictures made in a frame of a paint in steps; milliseconds
_VERBATIM = (
    Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute
)


class RowContent(NamedTuple):
    """What a row shows; `label`: a Label or None, for the colour of the chip."""

    name: str
    label: Any
    text: str
    below: str
    score: float | None


class Sign(QStyledItemDelegate):
    """A clickable icon in each row."""

    def __init__(self, table: Table, icon: str, tone: str):
        super().__init__(table)
        self._icon, self._tone = icon, tone

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        ground(painter, option, last_line=False)
        at, side = option.rect.center(), theme.px(15)
        painter.drawPixmap(
            at.x() - side // 2,
            at.y() - side // 2,
            side,
            side,
            icons.pixmap(self._icon, self._tone, side),
        )


def _blank(width: int, height: int, scale: float) -> QPixmap:
    """A transparent picture of this size in pixels at `scale`."""
    picture = QPixmap(round(width * scale), round(height * scale))
    picture.setDevicePixelRatio(scale)
    picture.fill(Qt.GlobalColor.transparent)
    return picture


class LabelAndText(QStyledItemDelegate):
    """A label chip and the text, then the score of a suggestion or a cross that calls
    `on_cross(row)`. `below_of(row)` is a second line.

    The cross is part of this cell: a separate column would cost a millisecond per paint of a long
    list.
    """

    def __init__(
        self,
        table: Table,
        chip_of: Callable[[Any], tuple[str, Any]],
        text_of: Callable[[Any], str],
        on_cross: Callable[[Any], None] | None = None,
        below_of: Callable[[Any], str] | None = None,
        *,
        cross_tip: str = "",
        depends_on: Callable[[], object] | None = None,
    ) -> None:
        """depends_on: what the texts of a row are made of, beside the row itself; while it is
        equal, they are made once. None: they are made for every paint.
        """
        super().__init__(table)
        self._depends_on, self._basis = depends_on, object()
        self._known: dict[int, tuple[object, RowContent]] = {}  # by the identity of the row
        self._cross_tip = cross_tip or _("Delete the span (Del)")
        self._chip_of, self._text_of, self._on_cross = chip_of, text_of, on_cross
        self._below_of = below_of
        self._chips: dict[tuple[object, ...], QPixmap] = {}
        self._cuts: dict[tuple[str, int], str] = {}
        self._widths: dict[str, int] = {}
        self._below: dict[tuple[object, ...], QPixmap] = {}
        self._pictures: dict[tuple[object, ...], QPixmap] = {}
        self.made = 0  # number of pictures of rows so far
        self.restyle()

    def restyle(self) -> None:
        """Cache what depends on theme and text size: `paint` runs for every row of every paint."""
        self._font = theme.font("small")
        self._metrics = QFontMetrics(self._font)
        self._height, self._side = theme.px(24), theme.px(15)
        self._end = theme.px(CROSS) if self._on_cross else 6
        self._cross = icons.pixmap("x", "muted", self._side)
        self._cuts.clear()
        self._widths.clear()
        self._below.clear()
        self._pictures.clear()

    def _cut(self, text: str, width: int) -> str:
        key = text, width
        if key not in self._cuts:
            if len(self._cuts) > 2000:
                self._cuts.clear()
            self._cuts[key] = self._metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
        return self._cuts[key]

    def _chip(self, name: str, label: Label, width: int, height: int, painter: QPainter) -> QPixmap:
        """Chips are drawn once: many rows share a few labels."""
        scale = painter.device().devicePixelRatioF()
        key = name, label, width, height, scale, theme.is_dark(), theme.percent()
        if key not in self._chips:
            if len(self._chips) > 500:
                self._chips.clear()
            picture = _blank(width, height, scale)
            inner = QPainter(picture)
            paint_chip(inner, QRectF(0, 0, width, height), name, label)
            inner.end()
            self._chips[key] = picture
        return self._chips[key]

    def _line_below(self, text: str, width: int, height: int, scale: float) -> QPixmap:
        """Second lines are drawn once: most rows come from a few sources."""
        key = text, width, height, scale
        if key not in self._below:
            if len(self._below) > 500:
                self._below.clear()
            picture = _blank(width, height, scale)
            inner = QPainter(picture)
            inner.setFont(self._font)
            inner.setPen(theme.qcolour("muted"))
            inner.drawText(QRect(0, 0, width, height), _VERBATIM, self._cut(text, width))
            inner.end()
            self._below[key] = picture
        return self._below[key]

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        box, scale = option.rect, painter.device().devicePixelRatioF()
        row = cast(RowsModel, index.model()).rows[index.row()]
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        picture = self.picture(row, box.width(), box.height(), scale, chosen=chosen)
        if picture is not None:
            painter.drawPixmap(box.topLeft(), picture)

    def picture(
        self,
        item: Any,
        width: int,
        height: int,
        scale: float,
        *,
        chosen: bool,
        most: int | None = None,
    ) -> QPixmap | None:
        """A picture of the row, which is kept: an edit moves many rows and changes few.

        Sizes in pixels, of which the device has `scale` by `scale` each. None if the picture is to
        be made and `most` have been made (`made`).
        """
        known = self._known.get(id(item))
        if most is not None and self.made >= most and (known is None or known[0] is not item):
            return None
        row = self._shown(item)
        key = row, chosen, width, height, scale
        picture = self._pictures.get(key)
        if picture is None:
            if most is not None and self.made >= most:
                return None
            self.made += 1
            if len(self._pictures) > PICTURES:  # most rows that are visible are among the latest
                for old in list(islice(self._pictures, PICTURES // 3)):
                    del self._pictures[old]
            picture = self._pictures[key] = _blank(width, height, scale)
            inner, box = QPainter(picture), QRect(0, 0, width, height)
            if chosen:
                inner.fillRect(box, theme.qcolour("accent_soft"))
            self._draw(inner, box, scale, row)
            inner.end()
        return picture

    def _shown(self, item: Any) -> RowContent:
        if self._depends_on is None:
            return self._made(item)
        basis = self._depends_on()
        if basis != self._basis or len(self._known) > 10 * PICTURES:
            self._known.clear()
        self._basis = basis
        known = self._known.get(id(item))
        if known is None or known[0] is not item:
            known = self._known[id(item)] = item, self._made(item)
        return known[1]

    def _made(self, item: Any) -> RowContent:
        name, label = self._chip_of(item)
        score = item.score if getattr(item, "kind", "") else None
        below = self._below_of(item) if self._below_of is not None else ""
        return RowContent(name, label, self._text_of(item), below, score)

    def _draw(self, painter: QPainter, box: QRect, scale: float, row: RowContent) -> None:
        height, name = self._height, row.name
        if self._below_of is not None:
            under = box.adjusted(14, box.height() // 2, -4, -2)
            box = box.adjusted(0, 2, 0, -(box.height() // 2 - 4))
            if under.isValid():
                below = self._line_below(row.below, under.width(), under.height(), scale)
                painter.drawPixmap(under.topLeft(), below)
        if name not in self._widths:
            self._widths[name] = chip_width(name)
        width = min(self._widths[name], int(box.width() * 0.6))
        chip = self._chip(name, row.label, width, height, painter)
        painter.drawPixmap(box.left() + 12, box.center().y() - height // 2 + 1, chip)
        painter.setFont(self._font)
        painter.setPen(theme.qcolour("text"))
        words_box = box.adjusted(12 + width + 8, 0, -self._end, 0)
        if self._on_cross:
            painter.drawPixmap(
                box.right() - self._side - 7,
                box.center().y() - self._side // 2,
                self._side,
                self._side,
                self._cross,
            )
        if row.score is not None:
            score = formats.decimal(row.score, 2)
            painter.setPen(theme.qcolour("muted"))
            painter.drawText(
                words_box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, score
            )
            painter.setPen(theme.qcolour("text"))
            words_box.setRight(words_box.right() - self._metrics.horizontalAdvance(score) - 8)
        painter.drawText(words_box, _VERBATIM, self._cut(row.text, words_box.width()))

    def editorEvent(
        self,
        event: QEvent,
        model: QAbstractItemModel,
        option: QStyleOptionViewItem,
        index: QModelIndex,
    ) -> bool:
        if (
            event.type() == QEvent.Type.MouseButtonRelease
            and self._on_cross
            and self._at_cross(cast(QMouseEvent, event).position().x(), option)
        ):
            self._on_cross(cast(RowsModel, model).rows[index.row()])
            return True
        return super().editorEvent(event, model, option, index)

    def helpEvent(
        self,
        event: QHelpEvent,
        view: QAbstractItemView,
        option: QStyleOptionViewItem,
        index: QModelIndex,
    ) -> bool:
        if self._on_cross and self._at_cross(event.pos().x(), option):
            escaping.show_tip(event.globalPos(), self._cross_tip, view)
            return True
        return super().helpEvent(event, view, option, index)

    def _at_cross(self, x: float, option: QStyleOptionViewItem) -> bool:
        return x > option.rect.right() - self._end


class LabelTable(Table):
    """A table whose only visible column is one of `LabelAndText`.

    Draws the pictures of its rows itself: Qt asks model and delegate so much about each row that a
    paint of the page takes five times as long, and it paints all rows after each edit.

    After a scroll to a selected row it draws that row at once, and the others in several frames: an
    edit elsewhere in a long list shows a screen full of rows that have no picture.
    """

    def __init__(self, columns: Sequence[Column], *, name: str, key: Callable[[Any], Hashable]):
        super().__init__(columns, name=name, key=key)
        self._in_steps = False
        self._next_step = QTimer(self, singleShot=True, interval=FRAME_TIME)
        self._next_step.timeout.connect(self.viewport().update)

    def _show_row(self, index: QModelIndex) -> None:
        before = self.verticalScrollBar().value()
        super()._show_row(index)
        self._in_steps |= self.verticalScrollBar().value() != before

    def paintEvent(self, event: QPaintEvent) -> None:
        rows, box = self.rows(), event.rect()
        height, width = self.verticalHeader().defaultSectionSize(), self.columnWidth(0)
        x, top = self.columnViewportPosition(0), self.rowViewportPosition(0) if rows else 0
        delegate, scale = (
            cast(LabelAndText, self.itemDelegateForColumn(0)),
            self.devicePixelRatioF(),
        )
        chosen = {index.row() for index in self.selectionModel().selectedRows()}
        first = max(0, (box.top() - top) // height)
        after = min(len(rows), (box.bottom() - top) // height + 1)
        most = delegate.made + PICTURES_PER_FRAME if self._in_steps else None
        painter = QPainter(self.viewport())
        left = False
        for number in sorted(range(first, after), key=lambda number: number not in chosen):
            picture = delegate.picture(
                rows[number], width, height, scale, chosen=number in chosen, most=most
            )
            if picture is not None:
                painter.drawPixmap(x, top + number * height, picture)
            left |= picture is None
        painter.end()
        mark_current(self)
        self._in_steps &= left
        if left:
            self._next_step.start()


def choose_row(table: Table, name: Name | None, kind: str) -> None:
    """Choose the row of what is selected, if that is of this kind."""
    ids = {name[1]} if name is not None and name[0] == kind else set[int]()
    if {item.id for item in table.chosen_rows()} != ids:
        table.choose(ids)
