"""Rows of labels: a chip with a text, a score or a cross, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QMouseEvent, QPainter, QPixmap
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from workbench.base.i18n import _
from workbench.ui import formats, icons, plain, theme
from workbench.ui.widgets.chip import chip_width, paint_chip
from workbench.ui.widgets.delegates import ground
from workbench.ui.widgets.table import Rows, Table

if TYPE_CHECKING:
    from workbench.text.labels import Label

CROSS = 30  # width at the end of a span's row, pixels at 100%, where a click deletes the span
PICTURES = 300  # of rows that are kept: some screens full
_VERBATIM = (
    Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute
)


class Shown(NamedTuple):
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
        self._known: dict[int, tuple[object, Shown]] = {}  # by the identity of the row
        self._cross_tip = cross_tip or _("Delete the span (Del)")
        self._chip_of, self._text_of, self._on_cross = chip_of, text_of, on_cross
        self._below_of = below_of
        self._chips: dict[tuple[object, ...], QPixmap] = {}
        self._cuts: dict[tuple[str, int], str] = {}
        self._widths: dict[str, int] = {}
        self._pictures: dict[tuple[object, ...], QPixmap] = {}
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
            picture = QPixmap(round(width * scale), round(height * scale))
            picture.setDevicePixelRatio(scale)
            picture.fill(Qt.GlobalColor.transparent)
            inner = QPainter(picture)
            paint_chip(inner, QRectF(0, 0, width, height), name, label)
            inner.end()
            self._chips[key] = picture
        return self._chips[key]

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Draw a picture of the row, which is kept: an edit moves many rows and changes few."""
        box, scale = option.rect, painter.device().devicePixelRatioF()
        shown = self._shown(cast(Rows, index.model()).rows[index.row()])
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        key = shown, chosen, box.width(), box.height(), scale
        picture = self._pictures.get(key)
        if picture is None:
            if len(self._pictures) > PICTURES:
                self._pictures.clear()
            picture = QPixmap(round(box.width() * scale), round(box.height() * scale))
            picture.setDevicePixelRatio(scale)
            picture.fill(Qt.GlobalColor.transparent)
            inner, here = QPainter(picture), QStyleOptionViewItem(option)
            here.rect = QRect(0, 0, box.width(), box.height())
            self._draw(inner, here, shown)
            inner.end()
            self._pictures[key] = picture
        painter.drawPixmap(box.topLeft(), picture)

    def _shown(self, item: Any) -> Shown:
        if self._depends_on is None:
            return self._made(item)
        basis = self._depends_on()
        if basis != self._basis or len(self._known) > PICTURES:
            self._known.clear()
        self._basis = basis
        known = self._known.get(id(item))
        if known is None or known[0] is not item:
            known = self._known[id(item)] = item, self._made(item)
        return known[1]

    def _made(self, item: Any) -> Shown:
        name, label = self._chip_of(item)
        score = item.score if getattr(item, "kind", "") else None
        below = self._below_of(item) if self._below_of is not None else ""
        return Shown(name, label, self._text_of(item), below, score)

    def _draw(self, painter: QPainter, option: QStyleOptionViewItem, shown: Shown) -> None:
        ground(painter, option, last_line=False)
        box, height, name = option.rect, self._height, shown.name
        if self._below_of is not None:
            under = box.adjusted(14, box.height() // 2, -4, -2)
            box = box.adjusted(0, 2, 0, -(box.height() // 2 - 4))
            painter.setFont(self._font)
            painter.setPen(theme.qcolour("muted"))
            painter.drawText(under, _VERBATIM, self._cut(shown.below, under.width()))
        if name not in self._widths:
            self._widths[name] = chip_width(name)
        width = min(self._widths[name], int(box.width() * 0.6))
        chip = self._chip(name, shown.label, width, height, painter)
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
        if shown.score is not None:
            score = formats.decimal(shown.score, 2)
            painter.setPen(theme.qcolour("muted"))
            painter.drawText(
                words_box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, score
            )
            painter.setPen(theme.qcolour("text"))
            words_box.setRight(words_box.right() - self._metrics.horizontalAdvance(score) - 8)
        painter.drawText(words_box, _VERBATIM, self._cut(shown.text, words_box.width()))

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
            self._on_cross(cast(Rows, model).rows[index.row()])
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
            plain.show_tip(event.globalPos(), self._cross_tip, view)
            return True
        return super().helpEvent(event, view, option, index)

    def _at_cross(self, x: float, option: QStyleOptionViewItem) -> bool:
        return x > option.rect.right() - self._end
