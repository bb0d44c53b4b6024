"""The document table, for up to a million rows: ids in memory, visible rows read page by page."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QItemSelectionRange,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView

from workbench.text.queries.find import marks
from workbench.ui.style import theme
from workbench.ui.widgets.tables.delegates import PAD
from workbench.ui.widgets.tables.document_cells import (
    Classes,
    Drawn,
    FoundText,
    StateIcon,
    TextLine,
    in_key,
    paint_rows,
)
from workbench.ui.widgets.tables.document_rows import (
    CLASSES,
    KEY,
    LENGTH,
    SPANS,
    SPLIT,
    STATE,
    STATE_ICON,
    TEXT,
    DocumentRows,
    Extra,
    Fetch,
)
from workbench.ui.widgets.tables.marked_table import MarkedTable, mark_current
from workbench.ui.widgets.tables.table import dress

if TYPE_CHECKING:
    from workbench.text.labels import Label

MOST_RANGES = 500  # of selected rows that are selected by the program
WIDTHS = {STATE_ICON: 40, KEY: 132, CLASSES: 150, SPANS: 82, LENGTH: 88, SPLIT: 80, STATE: 104}
NARROW_WIDTH = 900  # in narrower tables the state is shown only as an icon
NARROWER = 780  # in narrower tables the length is hidden
CRAMPED, CRAMPED_WIDTHS = 640, {KEY: 92, CLASSES: 110}
BY = {  # column → sort order of its header
    STATE_ICON: "state",
    KEY: "key",
    CLASSES: "class",
    SPANS: "spans",
    LENGTH: "length",
    SPLIT: "split",
    STATE: "state",
}
LEAST_TEXT = 360  # width that is left to the text when keys are widened, pixels at 100%
PEEK = 60  # rows whose keys are measured
EXTRA_WIDTH = 112  # of a further column, pixels at 100%


class DocumentTable(MarkedTable):
    """Signals: `opened(id)` on Enter and double-click, `chosen()` when the selection has changed.

    `chosen()` is compressed to one signal per moment. `removed()` is emitted on Delete,
    `ordered(by)` on a click on the header of a column in `BY`.
    """

    ordered = Signal(str)
    opened = Signal(int)
    chosen = Signal()
    removed = Signal()
    copied = Signal()

    def __init__(
        self, fetch: Fetch, labels: Callable[[], Mapping[tuple[str, str], Label]], name: str
    ):
        super().__init__()
        self.documents = DocumentRows(fetch, self)
        self.setModel(self.documents)
        dress(self, name)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self._found = {
            KEY: FoundText(lambda row: row.key, in_key, middle=True),
            TEXT: FoundText(lambda row: row.text, marks),
        }
        self._cells: dict[int, Drawn] = {
            STATE_ICON: StateIcon(),
            CLASSES: Classes(labels),
            **self._found,
        }
        self.setMouseTracking(True)
        head = self.horizontalHeader()
        # With the table's own selection it would query every row of every column: 0.7 s for 60,000
        # rows.
        head.setSelectionModel(QItemSelectionModel(self.documents, self))
        for column in range(self.documents.columnCount()):
            head.setSectionResizeMode(
                column,
                QHeaderView.ResizeMode.Stretch
                if column == TEXT
                else QHeaderView.ResizeMode.Interactive,
            )
        head.setSectionResizeMode(STATE_ICON, QHeaderView.ResizeMode.Fixed)
        head.setSectionsClickable(True)
        head.sectionClicked.connect(self._header_clicked)
        self._order: tuple[str, bool] | None = None
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        # a drag over many rows changes the selection a hundred times per second
        self._wait.setInterval(20)
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
        self._cramped, self._key_width = False, theme.px(WIDTHS[KEY])
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Narrow the columns of keys and classes in favour of the text in a narrow table."""
        cramped = self.viewport().width() < theme.px(CRAMPED)
        if cramped != self._cramped:
            self._cramped = cramped
            for column, narrow in CRAMPED_WIDTHS.items():
                self.setColumnWidth(column, theme.px(narrow if cramped else WIDTHS[column]))
            self._key_width = self.columnWidth(KEY)
        self._fit_keys()

    def _fit_keys(self) -> None:
        """Keys in sight get the room that the text can spare, unless the user chose a width."""
        chosen = self.columnWidth(KEY) != self._key_width
        if chosen or not self.documents.ids or not self.isVisible():
            return
        metrics, first = QFontMetrics(theme.font()), max(0, self.rowAt(0))
        rows = map(self.documents.row, range(first, min(first + PEEK, len(self.documents.ids))))
        widest = max((metrics.horizontalAdvance(row.key) for row in rows if row), default=0)
        others = sum(
            self.columnWidth(column)
            for column in range(self.documents.columnCount())
            if column not in (KEY, TEXT) and not self.isColumnHidden(column)
        )
        most = self.viewport().width() - others - theme.px(LEAST_TEXT)
        least = theme.px(CRAMPED_WIDTHS[KEY] if self._cramped else WIDTHS[KEY])
        self._key_width = max(least, min(widest + 2 * PAD + 2, most))
        self.setColumnWidth(KEY, self._key_width)

    def show_extras(self, extras: tuple[Extra, ...]) -> None:
        """Show these further columns at the right."""
        if extras == self.documents.extras:
            return
        current = self.current_id()
        self.documents.set_extras(extras)
        for column in [column for column in self._cells if column > len(WIDTHS)]:
            del self._cells[column]  # another one has its place
        head, first = self.horizontalHeader(), len(WIDTHS) + 1
        for column in range(first, first + len(extras)):
            head.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            self.setColumnWidth(column, theme.px(EXTRA_WIDTH))
        if current is not None:
            self.show_id(current)

    def show_columns(self, *, classes: bool, spans: bool) -> None:
        """Hide columns that the selected layers do not have."""
        self.setColumnHidden(CLASSES, not classes)
        self.setColumnHidden(SPANS, not spans)

    def show_ids(self, ids: Sequence[int]) -> None:
        """Set the documents; keep selection, scroll position and current row if possible."""
        current = self.current_id()
        if self.documents.set_ids(ids) and current is not None:
            self.show_id(current)
        self._fit_keys()

    def set_search(self, text: str) -> None:
        """Mark the words of a search in keys and texts."""
        for delegate in self._found.values():
            delegate.wanted = text
        self.viewport().update()

    def set_order(self, by: str, *, descending: bool = False) -> None:
        """Show the sort order; "" for import order."""
        self._order = (by, descending) if by else None
        head = self.horizontalHeader()
        orders = BY | {
            n: extra.by for n, extra in enumerate(self.documents.extras, len(WIDTHS) + 1)
        }
        sorted_columns = [column for column, this in orders.items() if this == by]
        head.setSortIndicatorShown(bool(sorted_columns))
        if sorted_columns:
            column = next(
                (number for number in sorted_columns[::-1] if not self.isColumnHidden(number)),
                sorted_columns[0],
            )
            order = Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
            head.setSortIndicator(column, order)

    def _header_clicked(self, column: int) -> None:
        by, descending = self._order or ("", False)
        self.set_order(by, descending=descending)  # Qt has already toggled the sort indicator
        extra = column - len(WIDTHS) - 1
        if column in BY:
            self.ordered.emit(BY[column])
        elif extra >= 0:
            self.ordered.emit(self.documents.extras[extra].by)

    def show_id(self, id: int) -> None:
        """Make a document the current row, if listed."""
        try:
            place = self.documents.ids.index(id)
        except ValueError:
            return
        if place < len(self.documents.ids):
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

    @property
    def has_chosen(self) -> bool:
        return self.chosen_count() > 0

    def copy_chosen(self) -> None:
        """Do nothing: rows hold only the beginning of a text, so the page copies."""
        self.copied.emit()

    def chosen_count(self) -> int:
        return sum(range_.bottom() - range_.top() + 1 for range_ in self._ranges())

    def chosen_ids(self) -> array[int]:
        """Ids of the selected rows, in order; fast for a million rows."""
        chosen = array("q")
        for range_ in sorted(self._ranges(), key=lambda range_: range_.top()):
            chosen.extend(self.documents.ids[range_.top() : range_.bottom() + 1])
        return chosen

    def choose_rows(self, first: int, last: int) -> None:
        choice = QItemSelection(
            self.documents.index(first, 0),
            self.documents.index(last, self.documents.columnCount() - 1),
        )
        flag = QItemSelectionModel.SelectionFlag
        self.selectionModel().select(choice, flag.ClearAndSelect)
        self.selectionModel().setCurrentIndex(self.documents.index(first, KEY), flag.NoUpdate)

    def choose_ids(self, ids: Iterable[int]) -> None:
        """Select the documents that are listed, in one step, and show the first of them.

        None if they lie in more than MOST_RANGES places: Qt would take seconds.
        """
        id_set, last = frozenset(ids), self.documents.columnCount() - 1
        chosen: list[QItemSelectionRange] = []
        first = start = -1
        for place, id in enumerate((*self.documents.ids, -1)):
            if id in id_set:
                start = place if start < 0 else start
            elif start >= 0:
                top = self.documents.index(start, 0)
                chosen.append(QItemSelectionRange(top, self.documents.index(place - 1, last)))
                first, start = start if first < 0 else first, -1
        flag = QItemSelectionModel.SelectionFlag
        if len(chosen) <= MOST_RANGES:
            selection = QItemSelection()
            for rows in chosen:
                selection.append(rows)
            self.selectionModel().select(selection, flag.ClearAndSelect)
        if first >= 0:
            index = self.documents.index(first, KEY)
            self.selectionModel().setCurrentIndex(index, flag.NoUpdate)
            self.scrollTo(index)

    def _ranges(self) -> list[QItemSelectionRange]:
        ranges = cast(list[QItemSelectionRange], self.selectionModel().selection())
        return [range_ for range_ in ranges if range_.left() == 0]

    def _cell(self, column: int) -> Drawn:
        """What draws a column; those of text and numbers are made on first use."""
        if column not in self._cells:
            model = self.documents
            self._cells[column] = TextLine(
                lambda row: model.words(row, column), right=model.is_number(column)
            )
        return self._cells[column]

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_rows(self, event.rect(), self._cell, self.documents.row, self._ranges())
        mark_current(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setColumnHidden(STATE, self.viewport().width() < theme.px(NARROW_WIDTH))
        self.setColumnHidden(LENGTH, self.viewport().width() < theme.px(NARROWER))
        self._fit_columns()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_keys()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and self.documents.ids:
            self.selectionModel().setCurrentIndex(
                self.documents.index(0, KEY), QItemSelectionModel.SelectionFlag.NoUpdate
            )

    def keyPressEvent(self, event: QKeyEvent) -> None:
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
        """Do nothing: Qt would read every row of a million."""
