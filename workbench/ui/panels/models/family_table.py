"""The table of models by family: → opens a family, ← closes it; sorted columns show no families."""

from __future__ import annotations

from typing import Any, cast

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from workbench.base.i18n import _
from workbench.ui.panels.models.listing import ModelRow
from workbench.ui.panels.models.state import number_words
from workbench.ui.style import icons, theme
from workbench.ui.widgets.tables.table import Column, Table

INDENT = 20  # pixels at 100%: models below the title of their family


def _icon(row: ModelRow) -> tuple[str, str] | None:
    if row.is_group:
        return ("chevron-down" if row.opened else "chevron-right"), "muted"
    if row.card is None:
        return "download", "faint"
    return ("circle-check", "good") if row.card.usable else ("triangle-alert", "warn")


def _tip(row: ModelRow) -> str:
    if row.is_group:
        return row.summary
    if row.card is None:
        return _("{name}: published, not installed", name=row.title)
    if row.card.usable:
        return _("{name}: installed", name=row.title)
    return _("{name}: installed, cannot be used", name=row.title)


COLUMNS = (
    Column(
        _("Model"),
        lambda row: f"{row.title}  {row.summary}" if row.is_group else row.title,
        icon=_icon,
        tip=_tip,
        sort=lambda row: row.title.casefold(),
    ),
    Column(_("Paper"), lambda row: row.paper, 148, prose=True, sort=lambda row: row.paper or None),
    Column(
        _("Year"),
        lambda row: str(row.year) if row.year else "",
        52,
        right=True,
        sort=lambda row: row.year or None,
        hint=_("First publication of the paper or the files"),
    ),
    Column(
        _("Parameters"),
        lambda row: "" if row.is_group else number_words(row.parameters),
        98,
        right=True,
        sort=lambda row: row.parameters or None,
        hint=_("Encoders without task heads, decoders with the language model head"),
    ),
    Column(
        _("Objective"),
        lambda row: row.objective,
        170,
        prose=True,
        tip=lambda row: row.objective,
        sort=lambda row: row.objective or None,
    ),
    Column(
        _("Direction"),
        lambda row: row.direction,
        78,
        sort=lambda row: row.direction or None,
        hint=_("The context from which a word is predicted"),
    ),
    Column(
        _("Licence"),
        lambda row: row.licence,
        120,
        prose=True,
        tip=lambda row: row.licence,
        sort=lambda row: row.licence.casefold() or None,
    ),
)
# Columns that a narrow table leaves out → the width that it needs to show them, so that names have
# at least 220 pixels (at 100%): the objective goes first, then the licence, then the paper.
NEEDED = {4: 890, 6: 720, 1: 600}


class _Name(QStyledItemDelegate):
    """Bold title and muted summary of a family; models are indented while there are families."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        table = cast(FamilyTable, self.parent())
        row: ModelRow = table.rows()[index.row()]
        if not row.is_group:
            if not table.flat:
                option.rect.setLeft(option.rect.left() + theme.px(INDENT))
            super().paint(painter, option, index)
            return
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, theme.qcolour("accent_soft"))
        side = theme.px(15)
        left, middle = option.rect.left() + 10, option.rect.center().y()
        name, tone = _icon(row) or ("", "")
        painter.drawPixmap(left, middle - side // 2, icons.pixmap(name, tone, side))
        area = QRect(option.rect)
        area.setLeft(left + side + 8)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.setFont(theme.font("ui", 600))
        painter.setPen(theme.qcolour("text"))
        painter.drawText(area, flags, row.title)
        area.setLeft(area.left() + painter.fontMetrics().horizontalAdvance(row.title) + 10)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.qcolour("muted"))
        painter.drawText(area, flags, row.summary)
        painter.restore()


class FamilyTable(Table):
    """`folded(group, is_open)` asks to open or close a family; `sorted(bool)` tells whether the
    rows are sorted by a column.
    """

    folded = Signal(str, bool)
    sorted = Signal(bool)

    def __init__(self) -> None:
        super().__init__(COLUMNS, name=_("Models"), key=lambda row: row.key)
        self.setItemDelegateForColumn(0, _Name(self))
        self.horizontalHeader().sortIndicatorChanged.connect(
            lambda section, _order: self.sorted.emit(section >= 0)
        )
        self.flat = False

    def show_rows(self, rows: tuple[ModelRow, ...], *, flat: bool) -> None:
        """Families span the whole width."""
        self.flat = flat
        self.set_rows(rows)
        self.clearSpans()
        for number, row in enumerate(self.rows()):
            if row.is_group:
                self.setSpan(number, 0, 1, len(COLUMNS))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.current_row()
        side = {Qt.Key.Key_Right: True, Qt.Key.Key_Left: False}.get(Qt.Key(event.key()))
        if row is None or side is None or self.flat:
            super().keyPressEvent(event)
        elif row.is_group:
            self.folded.emit(row.group, side)
        elif not side:
            self._to_group(row.group)

    def _to_group(self, group: str) -> None:
        for number, row in enumerate(self.rows()):
            if row.is_group and row.group == group:
                self.setCurrentIndex(self.rows_model.index(number, 0))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and event.button() == Qt.MouseButton.LeftButton:
            row = self.rows()[index.row()]
            if row.is_group:
                self.folded.emit(row.group, not row.opened)

    def resizeEvent(self, event: Any) -> None:
        for column, needed in NEEDED.items():
            self.setColumnHidden(column, self.width() < theme.px(needed))
        QTableView.resizeEvent(self, event)
        self._squeeze()
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())
