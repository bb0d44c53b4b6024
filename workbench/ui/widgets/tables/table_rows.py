"""Row objects as a Qt model of a table, and how its columns show them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

from workbench.base.ordered_rows import OrderedRows, RowChange
from workbench.text import columns
from workbench.text.columns import ValueKind
from workbench.ui.style import escaping, formats, icons, theme

SHARE = Qt.ItemDataRole.UserRole  # a float in [0, 1] for a bar
ROOT = QModelIndex()  # parent of all rows of a table
MAX_SINGLE_CHANGES = 20  # with more inserted and removed rows, the model is reset
CHIP = Qt.ItemDataRole.UserRole + 1  # (text, label or None, tone) for a chip
INDENTED = Qt.ItemDataRole.UserRole + 3  # whether the chip is indented
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


# How the window writes values, in the user's locale.
WINDOW = columns.Medium(
    {
        **columns.TERMINAL.writers,
        ValueKind.COUNT: lambda value, _digits: formats.count(value),
        ValueKind.NUMBER: formats.decimal,
        ValueKind.SHARE: lambda value, _digits: formats.points(value),
        ValueKind.PERCENT: lambda value, _digits: formats.points(value),
        ValueKind.P: lambda value, _digits: formats.p_value(value),
        ValueKind.BYTES: lambda value, _digits: formats.size(value),
        ValueKind.SECONDS: lambda value, _digits: formats.duration(value),
        ValueKind.TIME: lambda value, _digits: formats.when_iso(value),
    },
    {ValueKind.PERCENT: "%"},
)


@dataclass(frozen=True)
class Column(columns.Column):
    """How a table of the window shows a column: what it is, and what it looks like.

    `share(row)` returns the length of a bar beside the number, in [0, 1]; `chip(row)` returns
    (text, label or None, tone) or None; `icon(row)` returns (icon name, tone) or None. `width` is
    in pixels at 100%, None stretches. `sort(row)` makes it sortable; rows for which it returns None
    come last. A `right` column contains numbers, as one of a kind of numbers does, which are never
    elided: it is as wide as its widest one. Where there is room, a column with `most` grows to its
    contents, up to this width.
    """

    width: int | None = None
    most: int | None = None
    right: bool = False
    icon: Callable[[Any], tuple[str, str] | None] | None = None
    share: Callable[[Any], float | None] | None = None
    chip: Callable[[Any], tuple[str, Any, str] | None] | None = None
    indent: Callable[[Any], bool] | None = None  # chips of these rows are indented
    tip: Callable[[Any], str] | None = None
    sort: Callable[[Any], Any] | None = None
    prose: bool = False  # sentences, elided at the end; names are elided in the middle
    edit: Callable[[Any, str], None] | None = (
        None  # called with (row, new text) after in-place editing
    )

    @classmethod
    def of(cls, column: columns.Column, width: int | None = None, **look: Any) -> Column:
        """A column that is described elsewhere, with its look."""
        title = WINDOW.heading(column)
        return cls(**{**vars(column), "title": title, "width": width, **look})

    def text(self, row: Any) -> str:
        return WINDOW.cell(self, row)

    @property
    def is_right(self) -> bool:
        return self.right or (self.kind.is_number and self.share is None)


class RowsModel(QAbstractTableModel):
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
        if rows is before and self._order is None:
            self._ordered = before
            return
        if isinstance(rows, OrderedRows) and self._order is None:
            self._ordered = rows
            change = rows.changes(before)
            if before is not None and change is not None:
                self._follow(rows, change)
                return
        self._given = list(rows)
        ordered = self._sorted(self._given)
        keys = [self.key(item) for item in ordered]
        self._take(ordered, keys, same=keys == self._keys)

    def _follow(self, rows: OrderedRows[Any], change: RowChange) -> None:
        """Tell the view which rows a change touches, so that it neither lays out nor paints others.

        Rows whose position changes are removed and inserted.
        """
        gone, come = change.gone_from, change.come_to
        self._given, self._listed, self._numbers = list(rows), None, None
        if change.in_place:
            self.rows = self._given
            for number in come:
                self.dataChanged.emit(
                    self.index(number, 0), self.index(number, len(self.columns) - 1)
                )
        elif len(gone) + len(come) > MAX_SINGLE_CHANGES:
            self.beginResetModel()
            self.rows = self._given
            self.endResetModel()
        else:
            for number in reversed(gone):
                self.beginRemoveRows(ROOT, number, number)
                del self.rows[number]
                self.endRemoveRows()
            for number in come:
                self.beginInsertRows(ROOT, number, number)
                self.rows.insert(number, rows[number])
                self.endInsertRows()

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
            self._listed = [self.key(row) for row in self.rows]
        return self._listed

    def numbers(self, keys: Iterable[Hashable]) -> list[int]:
        """Row numbers of these keys, from the top; unknown keys are skipped."""
        if self._ordered is not None:
            numbers = (self._ordered.number_of(cast(int, key)) for key in keys)
            return sorted(number for number in numbers if number is not None)
        if self._numbers is None:
            self._numbers = {key: number for number, key in enumerate(self._keys)}
        return sorted(self._numbers[key] for key in keys if key in self._numbers)

    def set_title(self, column: int, title: str, hint: str | None = None) -> None:
        """Change the title of a column, and its tooltip unless `hint` is None."""
        before = self.columns[column]
        changed = replace(before, title=title, hint=before.hint if hint is None else hint)
        self.columns = (*self.columns[:column], changed, *self.columns[column + 1 :])
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
        self._listed, self._numbers = [self.key(row) for row in self.rows], None
        places = {key: number for number, key in enumerate(self._keys)}
        after = [self.index(places[keys[index.row()]], index.column()) for index in before]
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
            return int(_RIGHT if column.is_right else _LEFT)
        if role == Qt.ItemDataRole.DecorationRole and column.icon is not None:
            icon = column.icon(row)
            return icons.icon(*icon, theme.px(15)) if icon else None
        if role == SHARE and column.share is not None:
            return column.share(row)
        if role == CHIP and column.chip is not None:
            return column.chip(row)
        if role == INDENTED:
            return column.indent is not None and column.indent(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return escaping.tip(column.tip(row)) if column.tip is not None else None
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
            return escaping.tip(column.hint or column.title)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(_RIGHT if column.is_right else _LEFT)
        return None
