"""A list of documents of any length; only visible rows are read.

A row shows the state as an icon, key, counts and the beginning of the text.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QAbstractListModel, QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from workbench.base.terms import term
from workbench.ui.style import escaping, icons, theme
from workbench.ui.widgets.tables.delegates import STATE_ICONS, ground
from workbench.ui.widgets.tables.marked_table import MarkedTable
from workbench.ui.widgets.text.offsets import is_rtl

if TYPE_CHECKING:
    from workbench.storage.documents.documents import DocumentRow

PAGE, PAGES = 100, 64
ROW = Qt.ItemDataRole.UserRole
Fetch = Callable[[Sequence[int]], "Sequence[DocumentRow]"]


class DocumentModel(QAbstractListModel):
    """`fetch(ids)` returns rows with id, key, text, state, span_count, suggestion_count.

    Missing documents are left out.
    """

    def __init__(self, fetch: Fetch, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fetch = fetch
        self.ids: Sequence[int] = ()
        self._pages: OrderedDict[int, dict[int, DocumentRow]] = OrderedDict()

    def set_ids(self, ids: Sequence[int]) -> None:
        self.beginResetModel()
        self.ids = ids
        self._pages.clear()
        self.endResetModel()

    def forget(self, ids: Iterable[int] | None) -> None:
        """Reload these rows (None: all) when they are next shown."""
        if ids is None:
            self._pages.clear()
            if self.ids:
                self.dataChanged.emit(self.index(0), self.index(len(self.ids) - 1))
            return
        changed = set(ids)
        for number, page in self._pages.items():
            known = changed.intersection(page)
            if not known:
                continue
            fresh = {row.id: row for row in self._fetch(sorted(known))}
            for id in known:
                page.pop(id)
            page.update(fresh)
            page_ids = self.ids[number * PAGE : (number + 1) * PAGE]
            for at, id in enumerate(page_ids, number * PAGE):
                if id in known:
                    self.dataChanged.emit(self.index(at), self.index(at))

    def row(self, number: int) -> DocumentRow | None:
        """The row object, or None if the document was deleted."""
        page = number // PAGE
        if page not in self._pages:
            ids = self.ids[page * PAGE : (page + 1) * PAGE]
            self._pages[page] = {row.id: row for row in self._fetch(ids)}
            if len(self._pages) > PAGES:
                self._pages.popitem(last=False)
        else:
            self._pages.move_to_end(page)
        return self._pages[page].get(self.ids[number])

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.ids)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role not in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.AccessibleTextRole,
            ROW,
            Qt.ItemDataRole.ToolTipRole,
        ):
            return None
        row = self.row(index.row()) if index.isValid() and index.row() < len(self.ids) else None
        if role == ROW or row is None:
            return row if role == ROW else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return escaping.tip(row.text)
        remarks = "".join(f", {part}" for part in (*row.flags, row.note) if part)
        return f"{row.key}, {term(row.state)}{remarks}: {row.text}"


class _Delegate(QStyledItemDelegate):
    def __init__(self, parent: QWidget, note: Callable[[int], str] | None) -> None:
        super().__init__(parent)
        self._note = note

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        row = index.data(ROW)
        painter.save()
        ground(painter, option)
        if row is not None:
            self._paint_row(
                painter,
                option.rect,
                row,
                current=index == cast(QListView, option.widget).currentIndex(),
            )
        painter.restore()

    def _paint_row(self, painter: QPainter, box: QRect, row: DocumentRow, *, current: bool) -> None:
        name, tone = STATE_ICONS[row.state]
        top, half = box.top() + theme.px(7), theme.px(18)
        side = theme.px(15)
        painter.drawPixmap(
            box.left() + 14, top + (half - side) // 2, side, side, icons.pixmap(name, tone, side)
        )
        numbers = (f"{row.suggestion_count} ?  " if row.suggestion_count else "") + (
            str(row.span_count) if row.span_count else ""
        )
        if note := self._note(row.id) if self._note is not None else "":
            numbers = f"{numbers}  {note}".strip()
        painter.setFont(theme.font("small"))
        painter.setPen(theme.qcolour("muted"))
        taken = painter.fontMetrics().horizontalAdvance(numbers) if numbers else 2
        right = QRect(box.right() - taken - 10, top, taken, half)
        painter.drawText(
            right, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, numbers
        )
        used = taken if numbers else 0
        remarks = [name for name, on in (("sticky-note", row.note), ("flag", row.flags)) if on]
        for name in remarks:
            used += side + 6
            at = box.right() - 10 - used
            tone = "warn" if name == "flag" else "muted"
            pixmap = icons.pixmap(name, tone, side)
            painter.drawPixmap(at, top + (half - side) // 2, side, side, pixmap)
        painter.setFont(theme.font("small", 600 if current else 400))
        painter.setPen(theme.qcolour("text" if current else "muted"))
        start = 14 + side + 8
        room = box.width() - start - 1 - max(taken + 12, used + 18 if remarks else 0)
        key = painter.fontMetrics().elidedText(row.key, Qt.TextElideMode.ElideMiddle, room)
        painter.drawText(
            QRect(box.left() + start, top, room, half), Qt.AlignmentFlag.AlignVCenter, key
        )
        painter.setFont(theme.font("small"))
        line = QRect(box.left() + 14, top + half + 2, box.width() - 26, half)
        rtl = is_rtl(row.text)
        text = painter.fontMetrics().elidedText(row.text, Qt.TextElideMode.ElideRight, line.width())
        painter.setPen(theme.qcolour("text" if current else "muted"))
        painter.setLayoutDirection(
            Qt.LayoutDirection.RightToLeft if rtl else Qt.LayoutDirection.LeftToRight
        )
        painter.drawText(line, Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter, text)


class DocumentList(MarkedTable):
    """`picked(document id)` when the user selects another row.

    A table of one column: a QListView queries every row before showing the first, 0.3 s for 60,000
    documents.
    """

    picked = Signal(int)

    def __init__(self, fetch: Fetch, name: str, note: Callable[[int], str] | None = None):
        """note: of a document, shown at the right of its row."""
        super().__init__()
        self.documents = DocumentModel(fetch, self)
        self.setModel(self.documents)
        self.setItemDelegate(_Delegate(self, note))
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.horizontalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.horizontalHeader().setMinimumSectionSize(1)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.selectionModel().currentChanged.connect(self._current)
        self._showing = False
        self.restyle()

    def sizeHint(self) -> QSize:
        return QSize(256, 192)

    def show_ids(self, ids: Sequence[int], at: int | None) -> None:
        """Show other documents; `at`: the selected row."""
        self._showing = True
        self.documents.set_ids(ids)
        self._showing = False
        self.show_row(at)

    def show_row(self, at: int | None) -> None:
        """Select a row without emitting, and scroll to it."""
        self._showing = True
        index = self.documents.index(at) if at is not None else QModelIndex()
        self.setCurrentIndex(index)
        self._bring_into_view(at)
        self._showing = False

    def _bring_into_view(self, at: int | None) -> None:
        """Scroll to the row with one neighbour on both sides, so that the next one is visible."""
        if at is None:
            return
        for near in (at - 1, at + 1, at):
            if 0 <= near < len(self.documents.ids):
                self.scrollTo(self.documents.index(near))

    def _current(self, index: QModelIndex, _before: QModelIndex) -> None:
        if not self._showing and index.isValid():
            self.picked.emit(self.documents.ids[index.row()])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.currentIndex().isValid():
            self._bring_into_view(self.currentIndex().row())

    def restyle(self) -> None:
        self.verticalHeader().setDefaultSectionSize(theme.px(52))
        self.viewport().update()

    def moveCursor(
        self, action: QListView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Home and End go to the ends of the list; a table would go to the ends of the row."""
        ends = {
            self.CursorAction.MoveHome: 0,
            self.CursorAction.MoveEnd: len(self.documents.ids) - 1,
        }
        if action in ends and self.documents.ids:
            return self.documents.index(ends[action])
        return super().moveCursor(action, modifiers)

    def keyboardSearch(self, _text: str) -> None:
        """Do nothing: letters are keys of labels here, not a search."""
