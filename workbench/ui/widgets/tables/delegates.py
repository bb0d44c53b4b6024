"""Item delegates: bars beside numbers, chips, state icons."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView, QWidget

from workbench.ui.style import theme
from workbench.ui.widgets.controls.chip import chip_width, paint_chip
from workbench.ui.widgets.text.offsets import is_rtl

STATE_ICONS = {  # state of a document → icon and tone; each has a different shape
    "submitted": ("circle-check", "good"),
    "draft": ("circle-dot", "accent"),
    "pending": ("circle", "faint"),
    "discarded": ("circle-x", "bad"),
}
STATE_TONES = {state: tone for state, (_icon, tone) in STATE_ICONS.items() if tone != "faint"}
INDENT = 18  # of a sublabel's chip, pixels at 100%
RUN_TONES = {  # status of a run or job → tone of its chip
    "done": "good",
    "stopped": "good",
    "running": "accent",
    "waiting": "",
    "cancelled": "",
    "failed": "bad",
    "out_of_memory": "bad",
    "crashed": "bad",
    "interrupted": "warn",
}
_SELECTED = QStyle.StateFlag.State_Selected.value
_HOVERED = QStyle.StateFlag.State_MouseOver.value
PAD = 12  # left padding of the text in a cell
TWO_LINES = 46  # height of a row with two lines, pixels at 100%


def ground(painter: QPainter, option: QStyleOptionViewItem, *, last_line: bool = True) -> None:
    """Draw the background of a cell (selected, hovered or plain) and the line below.

    In a table, single cells of a row are not highlighted on hover.
    """
    state = option.state.value  # flags as numbers: an enum per test takes longer than the drawing
    if state & _SELECTED:
        painter.fillRect(option.rect, theme.qcolour("accent_soft"))
    elif state & _HOVERED and not isinstance(option.widget, QTableView):
        painter.fillRect(option.rect, theme.qcolour("window"))
    if last_line:
        painter.setPen(theme.qcolour("line"))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())


def follow_direction(option: QStyleOptionViewItem) -> None:
    """Read and align text from right to left where it begins so, and elide it on its left."""
    if is_rtl(option.text):
        option.direction = Qt.LayoutDirection.RightToLeft  # also mirrors the alignment


class BarDelegate(QStyledItemDelegate):
    """A number with a bar beside it. A narrow column shows only the number."""

    def __init__(self, parent: QWidget, role: int) -> None:
        super().__init__(parent)
        self._role = role

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        painter.save()
        ground(painter, option)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        text, share = index.data(Qt.ItemDataRole.DisplayRole) or "", index.data(self._role)
        dimmed = option.widget is not None and bool(option.widget.property("outdated"))
        digits = option.fontMetrics.horizontalAdvance(
            "100.0"
        )  # right edge of the number, so that decimal points are aligned
        room = max(theme.px(54), PAD + digits + 8)
        track = QRectF(
            option.rect.left() + room,
            option.rect.center().y() - 2,
            option.rect.width() - room - PAD,
            6,
        )
        if share is not None and track.width() > 30:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.qcolour("sunken"))
            painter.drawRoundedRect(track, 3, 3)
            painter.setBrush(theme.qcolour("faint" if dimmed else "accent"))
            painter.drawRoundedRect(
                QRectF(track.left(), track.top(), track.width() * min(max(share, 0.0), 1.0), 6),
                3,
                3,
            )
        painter.setPen(theme.qcolour("faint" if dimmed else "text"))
        painter.setFont(theme.font())
        area = QRectF(
            option.rect.left() + PAD,
            option.rect.top(),
            max(digits, option.fontMetrics.horizontalAdvance(text)),
            option.rect.height() - 1,
        )
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, text)
        painter.restore()


class ChipDelegate(QStyledItemDelegate):
    """A label's chip in a cell.

    The role returns (text, label or None, tone), or None for plain text.
    """

    def __init__(self, parent: QWidget, role: int, indented: int | None = None) -> None:
        super().__init__(parent)
        self._role, self._indented = role, indented

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        chip = index.data(self._role)
        if not chip:
            super().paint(painter, option, index)
            return
        painter.save()
        ground(painter, option)
        text, label, tone = chip
        height = min(theme.px(22), option.rect.height() - 6)
        indented = self._indented is not None and index.data(self._indented)
        left = PAD - 2 + (theme.px(INDENT) if indented else 0)
        width = min(chip_width(text), option.rect.width() - left - 4)
        area = QRectF(
            option.rect.left() + left, option.rect.center().y() - height / 2 + 0.5, width, height
        )
        paint_chip(painter, area, text, label, tone=tone)
        painter.restore()


class TwoLines(QStyledItemDelegate):
    """The first line of a cell's text, and below it the second one, muted; both elided at the end.

    Rows need a height of `TWO_LINES`.
    """

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        text = index.data(Qt.ItemDataRole.DisplayRole) or ""
        first, _break, second = text.partition("\n")
        painter.save()
        ground(painter, option)
        box = option.rect.adjusted(PAD, 5, -PAD, -6)
        for line, tone, top in ((first, "text", True), (second, "muted", False)):
            painter.setFont(theme.font("ui" if top else "small"))
            painter.setPen(theme.qcolour(tone))
            side = Qt.AlignmentFlag.AlignTop if top else Qt.AlignmentFlag.AlignBottom
            rtl = is_rtl(line)
            painter.setLayoutDirection(
                Qt.LayoutDirection.RightToLeft if rtl else Qt.LayoutDirection.LeftToRight
            )
            elided = painter.fontMetrics().elidedText(
                line, Qt.TextElideMode.ElideRight, box.width()
            )
            edge = Qt.AlignmentFlag.AlignRight if rtl else Qt.AlignmentFlag.AlignLeft
            painter.drawText(box, side | edge | Qt.AlignmentFlag.AlignAbsolute, elided)
        painter.restore()
