"""The table of documents, a million rows or none: ids in memory, the rows that show read by pages."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QRectF,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyledItemDelegate, QTableView

from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.ui import icons, theme
from workbench.ui.widgets.delegates import PAD, STATE_ICONS, ground
from workbench.ui.widgets.table import dress

PAGE, PAGES = 200, 64
STATE_ICON, KEY, TEXT, CLASSES, SPANS, SPLIT, STATE = range(7)
WIDTHS = {STATE_ICON: 40, KEY: 132, CLASSES: 150, SPANS: 74, SPLIT: 74, STATE: 98}
NARROW = 900  # below this width the state is told by its icon alone
ROW = Qt.ItemDataRole.UserRole
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
Fetch = Callable[[Sequence[int]], Sequence]


class DocumentRows(QAbstractTableModel):
    """`fetch(ids)` gives DocumentRow objects; those that are gone are left out."""

    def __init__(self, fetch: Fetch, parent=None):
        super().__init__(parent)
        self._fetch = fetch
        self.ids: Sequence[int] = array("q")
        self._pages: OrderedDict[int, dict] = OrderedDict()
        self._titles = ("", _("Key"), _("Text"), _("Class"), _("Spans"), _("Split"), _("State"))

    def set_ids(self, ids: Sequence[int]) -> bool:
        """Other documents; False if they are the same as before, then only their rows are read again."""
        self._pages.clear()
        if len(ids) == len(self.ids) and ids == self.ids:
            self.refresh()
            return False
        self.beginResetModel()
        self.ids = ids
        self.endResetModel()
        return True

    def forget(self, ids: Iterable[int] | None) -> None:
        """These rows have changed (None: any); they are read again when they show."""
        if ids is None:
            self._pages.clear()
        else:
            wanted = set(ids)
            for number in [
                number for number, page in self._pages.items() if not wanted.isdisjoint(page)
            ]:
                del self._pages[number]
        self.refresh()

    def refresh(self) -> None:
        if self.ids:
            self.dataChanged.emit(
                self.index(0, 0), self.index(len(self.ids) - 1, self.columnCount() - 1)
            )

    def row(self, number: int):
        """The row object, or None if the document is gone."""
        place = number // PAGE
        page = self._pages.get(place)
        if page is None:
            ids = self.ids[place * PAGE : (place + 1) * PAGE]
            page = self._pages[place] = {row.id: row for row in self._fetch(ids)}
            if len(self._pages) > PAGES:
                self._pages.popitem(last=False)
        else:
            self._pages.move_to_end(place)
        return page.get(self.ids[number])

    def rowCount(self, parent=QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.ids)

    def columnCount(self, parent=QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._titles)

    def data(self, index, role: int = Qt.ItemDataRole.DisplayRole):
        # Asked for every cell of every frame: what is not needed is answered first.
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if index.column() == SPANS else _LEFT
        if role not in (
            Qt.ItemDataRole.DisplayRole,
            ROW,
            Qt.ItemDataRole.ToolTipRole,
            Qt.ItemDataRole.AccessibleTextRole,
        ):
            return None
        if not index.isValid() or index.row() >= len(self.ids):
            return None
        row, column = self.row(index.row()), index.column()
        if role == ROW or row is None:
            return row if role == ROW else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.text if column == TEXT else row.key if column == KEY else None
        return self._words(row, column)

    def _words(self, row, column: int) -> str:
        if column == TEXT:
            return row.text
        if column == KEY:
            return row.key
        if column == CLASSES:
            return ", ".join(label for _layer, label in row.classes)
        if column == SPANS:
            return f"{row.span_count:,}" if row.span_count else ""
        if column == SPLIT:
            return term(row.split) if row.split else ""
        return term(row.state) if column == STATE else ""

    def headerData(self, section, orientation, role: int = Qt.ItemDataRole.DisplayRole):
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._titles[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section == SPANS else _LEFT
        return None


class _StateIcon(QStyledItemDelegate):
    """The state as a shape of its own."""

    def paint(self, painter: QPainter, option, index) -> None:
        painter.save()
        ground(painter, option)
        row = index.data(ROW)
        if row is not None:
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


class _Classes(QStyledItemDelegate):
    """Classes with a square in the colour of each label."""

    def __init__(self, parent, labels: Callable[[], Mapping]):
        super().__init__(parent)
        self._labels = labels

    def paint(self, painter: QPainter, option, index) -> None:
        painter.save()
        ground(painter, option)
        row = index.data(ROW)
        if row is not None and row.classes:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint(painter, option.rect, row.classes)
        painter.restore()

    def _paint(self, painter: QPainter, box, classes) -> None:
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
            words = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, room)
            painter.drawText(
                QRectF(left + 15, box.top() - 1, room, box.height()),
                Qt.AlignmentFlag.AlignVCenter,
                words,
            )
            left += 15 + painter.fontMetrics().horizontalAdvance(words) + 14


class DocumentTable(QTableView):
    """`opened(id)` by Enter and double click, `chosen()` when another choice stands (told once a moment), `removed()` by Delete."""

    opened = Signal(int)
    chosen = Signal()
    removed = Signal()

    def __init__(self, fetch: Fetch, labels: Callable[[], Mapping], name: str):
        super().__init__()
        self.documents = DocumentRows(fetch, self)
        self.setModel(self.documents)
        dress(self, name)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setItemDelegateForColumn(STATE_ICON, _StateIcon(self))
        self.setItemDelegateForColumn(CLASSES, _Classes(self, labels))
        self.setMouseTracking(True)
        head = self.horizontalHeader()
        # With the selection of the table it would ask for every row of every column whether it is chosen: 0.7 s for 60,000 rows.
        head.setSelectionModel(QItemSelectionModel(self.documents, self))
        for column in range(self.documents.columnCount()):
            head.setSectionResizeMode(
                column,
                QHeaderView.ResizeMode.Stretch
                if column == TEXT
                else QHeaderView.ResizeMode.Interactive,
            )
        head.setSectionResizeMode(STATE_ICON, QHeaderView.ResizeMode.Fixed)
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(20)  # a drag over many rows tells a hundred times a second
        self._wait.timeout.connect(self.chosen.emit)
        self.selectionModel().selectionChanged.connect(lambda *_: self._wait.start())
        self.documents.modelReset.connect(self._wait.start)
        self.doubleClicked.connect(lambda index: self.opened.emit(self.documents.ids[index.row()]))
        drop = theme.changed.connect(self._rescale)
        self.destroyed.connect(lambda *_: drop())
        self._rescale()

    def _rescale(self) -> None:
        self.verticalHeader().setDefaultSectionSize(theme.px(theme.ROW))
        for column, width in WIDTHS.items():
            self.setColumnWidth(column, theme.px(width))

    def show_ids(self, ids: Sequence[int]) -> None:
        """Other documents; choice and place are kept where they are the same, and the current document where it is among them."""
        current = self.current_id()
        if self.documents.set_ids(ids) and current is not None:
            self.show_id(current)

    def show_id(self, id: int) -> None:
        """Make a document the current row if it is there."""
        from bisect import bisect_left

        place = bisect_left(self.documents.ids, id)
        if place < len(self.documents.ids) and self.documents.ids[place] == id:
            index = self.documents.index(place, KEY)
            self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
            self.scrollTo(index)

    def current_id(self) -> int | None:
        index = self.currentIndex()
        return (
            self.documents.ids[index.row()]
            if index.isValid() and index.row() < len(self.documents.ids)
            else None
        )

    def chosen_count(self) -> int:
        return sum(one.bottom() - one.top() + 1 for one in self._ranges())

    def chosen_ids(self) -> array:
        """Ids of the rows chosen, in order; fast for a million."""
        found = array("q")
        for one in sorted(self._ranges(), key=lambda one: one.top()):
            found.extend(self.documents.ids[one.top() : one.bottom() + 1])
        return found

    def choose_rows(self, first: int, last: int) -> None:
        choice = QItemSelection(
            self.documents.index(first, 0),
            self.documents.index(last, self.documents.columnCount() - 1),
        )
        flag = QItemSelectionModel.SelectionFlag
        self.selectionModel().select(choice, flag.ClearAndSelect)
        self.selectionModel().setCurrentIndex(self.documents.index(first, KEY), flag.NoUpdate)

    def _ranges(self) -> list:
        return [one for one in self.selectionModel().selection() if one.left() == 0]

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self.setColumnHidden(STATE, self.viewport().width() < theme.px(NARROW))

    def focusInEvent(self, event) -> None:
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and self.documents.ids:
            self.selectionModel().setCurrentIndex(
                self.documents.index(0, KEY), QItemSelectionModel.SelectionFlag.NoUpdate
            )

    def keyPressEvent(self, event) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current_id() is not None:
            self.opened.emit(self.current_id())
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self.chosen_count():
            self.removed.emit()
        elif key == Qt.Key.Key_Escape and self.chosen_count():
            self.clearSelection()
        else:
            super().keyPressEvent(event)

    def keyboardSearch(self, _text: str) -> None:
        """Letters typed here search nothing: Qt would read every row of a million."""
