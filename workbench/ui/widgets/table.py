"""Tables in the common style of all pages, with a model over row objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, cast

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QGuiApplication, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from workbench.base.ordered_rows import OrderedRows
from workbench.ui import icons, plain, theme
from workbench.ui.widgets.delegates import BarDelegate, ChipDelegate

SHARE = Qt.ItemDataRole.UserRole  # a float in [0, 1] for a bar
ROOT = QModelIndex()  # parent of all rows of a table
_NUMBER = re.compile(r"((?:^[+-])?\d[\d,]*(?:\.\d+)?)")
CHIP = Qt.ItemDataRole.UserRole + 1  # (text, label or None, tone) for a chip
INDENTED = Qt.ItemDataRole.UserRole + 3  # whether the chip is indented
NUMBER_PAD = 28  # padding left and right of a number: that of the style sheet and of Qt
LEAST_WORDS = 56  # minimum width of a text column in a narrow table, pixels at 100 %
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True)
class Column:
    """How a column shows a row object.

    `text(row)` returns the text; `share(row)` a bar beside the number; `chip(row)` returns (text,
    label or None, tone) or None; `icon(row)` returns (icon name, tone) or None. `width` is in
    pixels at 100 %, None stretches. `sort(row)` makes it sortable; rows for which it returns None
    come last. A `right` column contains numbers, which are never elided: it is as wide as its
    widest one.
    """

    title: str
    text: Callable[[Any], str] = lambda row: ""
    width: int | None = None
    right: bool = False
    icon: Callable[[Any], tuple[str, str] | None] | None = None
    share: Callable[[Any], float | None] | None = None
    chip: Callable[[Any], tuple[str, Any, str] | None] | None = None
    indent: Callable[[Any], bool] | None = None  # chips of these rows are indented
    tip: Callable[[Any], str] | None = None
    sort: Callable[[Any], Any] | None = None
    prose: bool = False  # sentences, elided at the end; names are elided in the middle
    hint: str = ""  # tooltip of the header: a definition
    edit: Callable[[Any, str], None] | None = (
        None  # called with (row, new text) after in-place editing
    )


class Rows(QAbstractTableModel):
    """Row objects as a Qt model.

    `key(row)` identifies rows, so that the selection survives a reload.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        key: Callable[[Any], Hashable] = id,
        parent: QWidget | None = None,
    ):
        super().__init__(parent)
        self.columns, self.key = tuple(columns), key
        self.rows: list[Any] = []
        self._listed: list[Hashable] | None = []  # keys of the rows; None: not needed so far
        self._ordered: OrderedRows[Any] | None = None  # the rows, if they are these, unsorted
        self._numbers: dict[Hashable, int] | None = None  # key → row number, computed on first use
        self._given: list[Any] = []  # unsorted
        self._order: tuple[int, bool] | None = None  # column, descending

    def set_rows(self, rows: Sequence[Any]) -> None:
        """Replace the rows; if only values change, scroll position and selection are kept.

        Of `OrderedRows`, which `key` must identify by their ids, only the changed ones are read.
        """
        before, self._ordered = self._ordered, None
        self._given = list(rows)
        if isinstance(rows, OrderedRows) and self._order is None:
            self._ordered = rows
            change = rows.changes(before)
            if change is not None:
                self._take(self._given, None, same=change.in_place)
                return
        kept = self._sorted(self._given)
        keys = [self.key(one) for one in kept]
        self._take(kept, keys, same=keys == self._keys)

    def _take(self, rows: list[Any], keys: list[Hashable] | None, *, same: bool) -> None:
        """`same`: the keys and their order are those of the rows before."""
        if same and rows:
            self.rows, self._listed = rows, keys
            self.dataChanged.emit(
                self.index(0, 0), self.index(len(rows) - 1, len(self.columns) - 1)
            )
            return
        self.beginResetModel()
        self.rows, self._listed, self._numbers = rows, keys, None
        self.endResetModel()

    @property
    def _keys(self) -> list[Hashable]:
        """Keys of the rows, in the same order."""
        if self._listed is None:
            self._listed = [self.key(one) for one in self.rows]
        return self._listed

    def numbers(self, keys: Iterable[Hashable]) -> list[int]:
        """Row numbers of these keys, from the top; unknown keys are skipped."""
        if self._ordered is not None:
            found = (self._ordered.number_of(cast(int, one)) for one in keys)
            return sorted(number for number in found if number is not None)
        if self._numbers is None:
            self._numbers = {key: number for number, key in enumerate(self._keys)}
        return sorted(self._numbers[one] for one in keys if one in self._numbers)

    def set_title(self, column: int, title: str) -> None:
        """Change the title of a column."""
        self.columns = (
            *self.columns[:column],
            replace(self.columns[column], title=title),
            *self.columns[column + 1 :],
        )
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, column, column)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column, or with -1 restore the original order; the selection is kept."""
        descending = order == Qt.SortOrder.DescendingOrder
        if column >= 0 and self.columns[column].sort is None:
            return
        self._order = (column, descending) if column >= 0 else None
        self._ordered = None
        self.layoutAboutToBeChanged.emit()
        before, keys = self.persistentIndexList(), self._keys
        self.rows = self._sorted(self._given)
        self._listed, self._numbers = [self.key(one) for one in self.rows], None
        places = {key: number for number, key in enumerate(self._keys)}
        after = [self.index(places[keys[one.row()]], one.column()) for one in before]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _sorted(self, rows: list[Any]) -> list[Any]:
        """Sort rows; those without a value come last in both directions."""
        if self._order is None:
            return rows
        column, descending = self._order
        value = cast(Callable[[Any], Any], self.columns[column].sort)
        keyed = [(value(row), row) for row in rows]
        some = [pair for pair in keyed if pair[0] is not None]
        some.sort(key=lambda pair: pair[0], reverse=descending)
        return [row for _value, row in some] + [row for key, row in keyed if key is None]

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def flags(self, index: QModelIndex) -> Qt.ItemFlag:
        flags = super().flags(index)
        if index.isValid() and self.columns[index.column()].edit is not None:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        column, row = self.columns[index.column()], self.rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return column.text(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(_RIGHT if column.right else _LEFT)
        if role == Qt.ItemDataRole.DecorationRole and column.icon is not None:
            found = column.icon(row)
            return icons.icon(*found, theme.px(15)) if found else None
        if role == SHARE and column.share is not None:
            return column.share(row)
        if role == CHIP and column.chip is not None:
            return column.chip(row)
        if role == INDENTED:
            return column.indent is not None and column.indent(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain.tip(column.tip(row)) if column.tip is not None else None
        return None

    def setData(self, index: QModelIndex, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        column = self.columns[index.column()]
        if role != Qt.ItemDataRole.EditRole or column.edit is None:
            return False
        row = self.rows[index.row()]
        if str(value) != column.text(row):
            column.edit(row, str(value))
        return True

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return str(section + 1) if role == Qt.ItemDataRole.DisplayRole else None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain.tip(column.hint or column.title)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(_RIGHT if column.right else _LEFT)
        return None


def natural(text: str) -> tuple[object, ...] | None:
    """Natural sort key: numbers by value, letters without case; None for "" and "–"."""
    text = text.strip()
    if text in ("", "–"):
        return None
    parts = _NUMBER.split(text.casefold())
    return tuple(
        (0, float(part.replace(",", "")), "") if number % 2 else (1, 0.0, part)
        for number, part in enumerate(parts)
        if part
    )


def dress(view: QTableView, name: str) -> None:
    """Common setup of all tables: row selection, row lines, row height, accessible name."""
    view.setAccessibleName(name)
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.setCornerButtonEnabled(False)
    view.verticalHeader().hide()
    view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    view.verticalHeader().setMinimumSectionSize(10)
    view.verticalHeader().setDefaultSectionSize(theme.px(theme.ROW))
    view.setIconSize(QSize(theme.px(16), theme.px(16)))
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setTabKeyNavigation(False)
    head = view.horizontalHeader()
    head.setDefaultAlignment(_LEFT)
    head.setHighlightSections(False)
    head.setTextElideMode(Qt.TextElideMode.ElideRight)
    head.setMinimumSectionSize(28)


class _Prose(QStyledItemDelegate):
    """Elides at the end."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideRight


def _by_text(column: Column) -> Callable[[Any], Any]:
    return lambda row: natural(column.text(row))


class Table(QTableView):
    """A table over row objects.

    `opened(row)` is emitted on Enter and double-click, `chosen()` when the selection has changed,
    `removed()` on Delete. A click on a header sorts by a column with `sort`, with `sortable` by
    any; the third click restores the original order.
    """

    opened = Signal(object)
    chosen = Signal()
    removed = Signal()

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        name: str,
        key: Callable[[Any], Hashable] = id,
        many: bool = False,
        sortable: bool = False,
    ):
        super().__init__()
        if sortable:
            columns = [one if one.sort else replace(one, sort=_by_text(one)) for one in columns]
        self.rows_model, self._most = Rows(columns, key, self), 0
        self._squeezed = False
        self.setModel(self.rows_model)
        dress(self, name)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # names often differ at their end
        mode = QAbstractItemView.SelectionMode
        self.setSelectionMode(mode.ExtendedSelection if many else mode.SingleSelection)
        self._lay_out()
        if any(column.edit for column in columns):
            trigger = QAbstractItemView.EditTrigger
            self.setEditTriggers(trigger.DoubleClicked | trigger.EditKeyPressed)
        if any(column.sort for column in columns):
            self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
            self.horizontalHeader().setSortIndicatorClearable(True)
            self.setSortingEnabled(True)
        self.doubleClicked.connect(self._double_click)
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosen.emit())
        theme_changed = theme.changed.connect(self._rescale)
        self.destroyed.connect(lambda *_: theme_changed())

    def _lay_out(self) -> None:
        head = self.horizontalHeader()
        for index, column in enumerate(self.rows_model.columns):
            if column.width is None:
                head.setSectionResizeMode(index, QHeaderView.ResizeMode.Stretch)
            else:
                head.setSectionResizeMode(index, QHeaderView.ResizeMode.Interactive)
                self.setColumnWidth(index, theme.px(column.width))
            if column.share is not None:
                self.setItemDelegateForColumn(index, BarDelegate(self, SHARE))
            elif column.chip is not None:
                self.setItemDelegateForColumn(index, ChipDelegate(self, CHIP, INDENTED))
            elif column.prose:
                self.setItemDelegateForColumn(index, _Prose(self))

    def _rescale(self) -> None:
        self.verticalHeader().setDefaultSectionSize(theme.px(theme.ROW))
        self.setIconSize(QSize(theme.px(16), theme.px(16)))
        for index, column in enumerate(self.rows_model.columns):
            if column.width is not None:
                self.setColumnWidth(index, theme.px(column.width))
        self._fit_numbers()
        self._squeeze()
        if self._most:
            self.fit_height(self._most)

    def set_rows(self, rows: Sequence[Any]) -> None:
        """Replace the rows; the selection is kept where possible."""
        keys = {self.rows_model.key(one) for one in self.chosen_rows()}
        blocked = self.blockSignals(True)
        self.rows_model.set_rows(rows)
        if keys and keys != {self.rows_model.key(one) for one in self.chosen_rows()}:
            self.choose(keys)
        self.blockSignals(blocked)
        self._fit_numbers()
        self.viewport().update()

    def _fit_numbers(self) -> None:
        """Adapt the columns of numbers to their contents."""
        for index, column in enumerate(self.rows_model.columns):
            if column.right and column.width is not None:
                texts = set(map(column.text, self.rows_model.rows))
                widest = max(map(self.fontMetrics().horizontalAdvance, texts), default=0)
                self.setColumnWidth(index, max(theme.px(column.width), widest + NUMBER_PAD))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._squeeze()

    def _squeeze(self) -> None:
        """Shrink text columns if there is not enough room; numbers keep their width."""
        head, room, words = self.horizontalHeader(), self.viewport().width(), {}
        for index, column in enumerate(self.rows_model.columns):
            if self.isColumnHidden(index):
                continue
            mode = head.sectionResizeMode(index)
            if mode == QHeaderView.ResizeMode.Stretch or column.width is None:
                room -= theme.px(LEAST_WORDS)
            elif column.right:
                room -= self.columnWidth(index)
            else:
                words[index] = theme.px(column.width)
        wanted = sum(words.values())
        if wanted > room:
            self._squeezed = True
            for index, width in words.items():
                self.setColumnWidth(index, max(theme.px(LEAST_WORDS), width * room // wanted))
        elif self._squeezed:
            self._squeezed = False
            for index, width in words.items():
                self.setColumnWidth(index, width)

    def rows(self) -> list[Any]:
        return self.rows_model.rows

    def chosen_rows(self) -> list[Any]:
        """The selected rows, in display order."""
        numbers = sorted({index.row() for index in self.selectionModel().selectedRows()})
        return [
            self.rows_model.rows[number] for number in numbers if number < len(self.rows_model.rows)
        ]

    @property
    def has_chosen(self) -> bool:
        return self.selectionModel().hasSelection()

    def copy_chosen(self) -> None:
        """The selected rows as tab-separated lines of the visible columns."""
        columns = [
            column
            for number, column in enumerate(self.rows_model.columns)
            if not self.isColumnHidden(number)
        ]
        lines = ["\t".join(one.text(row) for one in columns) for row in self.chosen_rows()]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def current_row(self) -> Any | None:
        index = self.currentIndex()
        return (
            self.rows_model.rows[index.row()]
            if index.isValid() and index.row() < len(self.rows_model.rows)
            else None
        )

    def choose(self, keys: AbstractSet[Hashable]) -> None:
        """Select the rows with these keys; emits nothing."""
        selection = self.selectionModel()
        blocked = selection.blockSignals(True)
        selection.clearSelection()
        flag = selection.SelectionFlag
        for position, number in enumerate(self.rows_model.numbers(keys)):
            index = self.rows_model.index(number, 0)
            selection.select(index, flag.Select | flag.Rows)
            if position == 0:
                selection.setCurrentIndex(index, flag.NoUpdate)
                self.scrollTo(index)
        selection.blockSignals(blocked)
        self.viewport().update()

    def fit_height(self, most: int = 12) -> None:
        """Adapt the height to the rows, at most `most` of them."""
        self._most = most
        count = min(max(len(self.rows()), 1), most)
        head = self.horizontalHeader().sizeHint().height()
        self.setFixedHeight(head + count * self.verticalHeader().defaultSectionSize() + 6)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        editing = self.state() == QAbstractItemView.State.EditingState
        if (
            not editing
            and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            and self.current_row() is not None
        ):
            self.opened.emit(self.current_row())
            return
        if (
            not editing
            and event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
            and self.chosen_rows()
        ):
            self.removed.emit()
            return
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and self.rows():
            self.selectionModel().setCurrentIndex(
                self.rows_model.index(0, 0), self.selectionModel().SelectionFlag.NoUpdate
            )

    def _double_click(self, index: QModelIndex) -> None:
        if self.rows_model.columns[index.column()].edit is None:
            self.opened.emit(self.rows_model.rows[index.row()])
