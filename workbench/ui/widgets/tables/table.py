"""Tables in the common style of all pages, with a model over row objects."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from PySide6.QtCore import (
    QMetaMethod,
    QModelIndex,
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
)

from workbench.base.ordered_rows import OrderedRows
from workbench.text.columns import ValueKind
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.chip import chip_width
from workbench.ui.widgets.savable import SavableTable
from workbench.ui.widgets.tables.delegates import PAD, BarDelegate, ChipDelegate, follow_direction
from workbench.ui.widgets.tables.table_rows import CHIP, INDENTED, SHARE, Column, RowsModel

_NUMBER = re.compile(r"((?:^[+-])?\d[\d,]*(?:\.\d+)?)")
CHIP_PAD = PAD + 2  # left and right of a chip
NUMBER_PAD = 28  # padding left and right of a number: that of the style sheet and of Qt
LEAST_WORDS = 56  # minimum width of a text column in a narrow table, pixels at 100%
FAIR_WORDS, FAIR_BAR = 110, 84  # what text and bars keep while columns with `most` grow
MOST_PROSE = 480  # what sentences may ask of other columns
SAMPLE = 500  # rows that are measured
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter

__all__ = ["Column", "RowsModel", "Table", "ValueKind", "dress"]


def natural(text: str) -> tuple[object, ...] | None:
    """Natural sort key: numbers by value, letters without case; None for "" and "–"."""
    text = formats.with_hyphen(text.strip())
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
    """Elides at the end, text from right to left at its left."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideRight
        follow_direction(option)


def _order(column: Column) -> Callable[[Any], Any]:
    """Sort key of a row: numbers by value, anything else by its text."""
    return column.value if column.kind.is_number else lambda row: natural(column.text(row))


class Table(SavableTable):
    """A table over row objects.

    `opened(row)` is emitted on Enter and double-click; unless it is connected, Enter presses the
    default button of a dialog. `chosen()` is emitted when the selection has changed,
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
            columns = [
                column if column.sort else replace(column, sort=_order(column))
                for column in columns
            ]
        self.rows_model, self._most = RowsModel(columns, key, self), 0
        self._squeezed: set[int] = set()  # columns; also of those that were hidden afterwards
        self._own_widths: dict[int, int] = {}  # column → width set by `set_width`, at 100%
        self._grown: dict[int, int] = {}  # column → pixels beyond its width
        self._titled: dict[int, int] = {}  # column of numbers → pixels added for its title
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
                self.setColumnWidth(index, self._width(index))
            if column.share is not None:
                self.setItemDelegateForColumn(index, BarDelegate(self, SHARE))
            elif column.chip is not None:
                self.setItemDelegateForColumn(index, ChipDelegate(self, CHIP, INDENTED))
            elif column.prose:
                self.setItemDelegateForColumn(index, _Prose(self))

    def setColumnHidden(self, index: int, hide: bool) -> None:
        """As Qt's; the other columns use the room."""
        if hide != self.isColumnHidden(index):
            super().setColumnHidden(index, hide)
            self._squeeze()

    def set_width(self, index: int, width: int) -> None:
        """Give a column another width, in pixels at 100%."""
        if self._own_widths.get(index) != width:
            self._own_widths[index] = width
            self.setColumnWidth(index, theme.px(width))
            self._squeeze()

    def _width(self, index: int) -> int:
        """Width of a column in pixels before it shrinks or grows; not of one that stretches."""
        return theme.px(self._own_widths.get(index, self.rows_model.columns[index].width or 0))

    def _rescale(self) -> None:
        self.verticalHeader().setDefaultSectionSize(theme.px(theme.ROW))
        self.setIconSize(QSize(theme.px(16), theme.px(16)))
        for index, column in enumerate(self.rows_model.columns):
            if column.width is not None:
                self.setColumnWidth(index, self._width(index))
        self._fit_numbers()
        self._fit_names()
        if self._most:
            self.fit_height(self._most)

    def set_row_height(self, height: int) -> None:
        """Set the height of all rows, in pixels; the same height again does not paint them."""
        head = self.verticalHeader()
        if head.defaultSectionSize() != height:
            head.setDefaultSectionSize(height)

    def set_rows(self, rows: Sequence[Any]) -> None:
        """Replace the rows; the selection is kept where possible."""
        keys = self._chosen_keys()
        blocked = self.blockSignals(True)
        self.rows_model.set_rows(rows)
        if keys != self._chosen_keys():  # Qt selects the next row if the current one is removed
            self.choose(keys)
        self.blockSignals(blocked)
        self._fit_numbers()
        self._fit_names()
        if isinstance(rows, OrderedRows):  # the model has told what has changed
            self.executeDelayedItemsLayout()  # else the next paint does it, and asks for another
        else:
            self.viewport().update()

    def _chosen_keys(self) -> set[Hashable]:
        return {self.rows_model.key(row) for row in self.chosen_rows()}

    def _fit_numbers(self) -> None:
        """Adapt the columns of numbers to their contents."""
        for index, column in enumerate(self.rows_model.columns):
            if column.is_right and column.width is not None:
                texts = set(map(column.text, self.rows_model.rows))
                widest = max(map(self.fontMetrics().horizontalAdvance, texts), default=0)
                self.setColumnWidth(index, max(self._width(index), widest + NUMBER_PAD))
        self._titled.clear()
        self._fit_titles()

    def _fit_titles(self) -> None:
        """Widen columns of numbers to their titles where nothing else takes the room."""
        for index, more in self._titled.items():
            self.setColumnWidth(index, self.columnWidth(index) - more)
        self._titled.clear()
        head, columns = self.horizontalHeader(), self.rows_model.columns
        stretched = QHeaderView.ResizeMode.Stretch
        if any(head.sectionResizeMode(index) == stretched for index in range(len(columns))):
            return  # a column that stretches takes all room
        room = self.viewport().width() - head.length()
        for index, column in enumerate(columns):
            more = self._width_of_title(index) - self.columnWidth(index)
            if column.is_right and not self.isColumnHidden(index) and 0 < more <= room:
                self.setColumnWidth(index, self.columnWidth(index) + more)
                self._titled[index] = more
                room -= more

    def room_for_names(self) -> int:
        """Pixels beyond their width that columns with `most` need for their contents."""
        return sum(self._grown.values())

    def width_for(self, index: int, least: int) -> int:
        """A width of the table in pixels, at least `least`, that leaves a stretching column the
        room of its texts and lets columns with `most` grow.
        """
        self.ensurePolished()
        needed = 0
        for at, column in enumerate(self.rows_model.columns):
            if self.isColumnHidden(at):
                continue
            texts = min(theme.px(column.most), self._widest(column)) if column.most else 0
            needed += self._widest(column) if at == index else max(self._width(at), texts)
        return max(least, needed + NUMBER_PAD)

    def _fit_names(self) -> None:
        """Let columns with `most` grow to their contents."""
        before, self._grown = self._grown, {}
        for index, column in enumerate(self.rows_model.columns):
            if column.most is not None and column.width is not None:
                width = min(theme.px(column.most), self._widest(column))
                self._grown[index] = max(0, width - self._width(index))
        named = [column for column in self.rows_model.columns if column.width is None]
        if (
            self._grown != before
            or self._squeezed
            or any(column.most or column.prose for column in named)
        ):
            self._squeeze()

    def _widest(self, column: Column) -> int:
        """Width in pixels of the widest cell among the first rows."""
        rows = self.rows_model.rows[:SAMPLE]
        if column.chip is not None:
            chips = filter(None, map(column.chip, rows))
            names = {text for text, *_look in chips}
            return max(map(chip_width, names), default=0) + CHIP_PAD
        names = set(map(column.text, rows))
        icon = 0 if column.icon is None else self.iconSize().width() + 8
        return max(map(self.fontMetrics().horizontalAdvance, names), default=0) + NUMBER_PAD + icon

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._squeeze()
        self._fit_titles()

    def _squeeze(self) -> None:
        """Shrink text columns if there is not enough room; numbers keep their width.

        Columns give up what their contents do not need before names and sentences of stretching
        columns are elided, then the widest shrink. If there is more than enough room, columns with
        `most` grow.
        """
        head, room, words = self.horizontalHeader(), self.viewport().width(), {}
        reserved = names = least = 0
        for index, column in enumerate(self.rows_model.columns):
            if self.isColumnHidden(index):
                continue
            mode = head.sectionResizeMode(index)
            if mode == QHeaderView.ResizeMode.Stretch or column.width is None:
                room -= theme.px(LEAST_WORDS) if column.title else 0
                fair = FAIR_WORDS if column.share is None else FAIR_BAR
                own = min(theme.px(column.most), self._widest(column)) if column.most else 0
                needs = min(theme.px(MOST_PROSE), self._widest(column)) if column.prose else own
                names += max(0, needs - theme.px(LEAST_WORDS))
                least += max(0, min(own, theme.px(FAIR_WORDS)) - theme.px(LEAST_WORDS))
                fair = max(theme.px(fair), own) - theme.px(LEAST_WORDS)
                reserved += fair if column.title else 0
            elif column.is_right:
                room -= self.columnWidth(index)
            else:
                words[index] = self._width(index)
        needed = sum(words.values())
        if needed + names > room:
            self._squeezed |= words.keys()
            for index, width in self._shrunk(words, names, room, least=least).items():
                self.setColumnWidth(index, width)
        elif self._squeezed & words.keys() or self._grown:
            self._squeezed -= words.keys()
            spare = room - needed - reserved
            share = min(
                1.0, max(0, spare) / max(1, sum(self._grown.get(index, 0) for index in words))
            )
            for index, width in words.items():
                self.setColumnWidth(index, width + int(share * self._grown.get(index, 0)))

    def _shrunk(
        self, words: Mapping[int, int], names: int, room: int, *, least: int
    ) -> dict[int, int]:
        """Widths of text columns that leave `names` of `room` pixels if their contents fit, and
        `least` in any case.

        words: column → the width that it has if there is room.
        """
        narrowest, columns = theme.px(LEAST_WORDS), self.rows_model.columns
        spare = {
            index: max(
                0, width - max(narrowest, self._widest(columns[index]), self._width_of_title(index))
            )
            for index, width in words.items()
        }
        over = sum(words.values()) + names - room
        part = min(1.0, over / max(1, sum(spare.values())))
        widths = {index: width - math.ceil(part * spare[index]) for index, width in words.items()}
        left, most = room - least, 0
        for number, width in enumerate(sorted(widths.values())):  # the widest shrink first
            most = max(narrowest, left // (len(widths) - number))
            if width > most:
                break
            left -= width
        else:
            return widths
        return {index: min(most, width) for index, width in widths.items()}

    def _width_of_title(self, index: int) -> int:
        """Width in pixels of the header of a column."""
        title = self.rows_model.columns[index].title
        return self.horizontalHeader().fontMetrics().horizontalAdvance(title) + NUMBER_PAD

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
        lines = [
            "\t".join(formats.with_hyphen(column.text(row)) for column in columns)
            for row in self.chosen_rows()
        ]
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
        before = {index.row() for index in selection.selectedRows()}
        before.add(self.currentIndex().row())
        blocked = selection.blockSignals(True)
        selection.clearSelection()
        flag = selection.SelectionFlag
        for position, number in enumerate(self.rows_model.numbers(keys)):
            index = self.rows_model.index(number, 0)
            selection.select(index, flag.Select | flag.Rows)
            if position == 0:
                selection.setCurrentIndex(index, flag.NoUpdate)
                self._show_row(index)
        selection.blockSignals(blocked)
        for number in before.union(index.row() for index in selection.selectedRows()):
            self._update_row(number)

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Where a key leads; Qt does not move from a hidden column."""
        here = self.currentIndex()
        if here.isValid() and self.isColumnHidden(here.column()):
            columns = range(len(self.rows_model.columns))
            first = next((item for item in columns if not self.isColumnHidden(item)), 0)
            place = self.rows_model.index(here.row(), first)
            self.selectionModel().setCurrentIndex(
                place, self.selectionModel().SelectionFlag.NoUpdate
            )
        return super().moveCursor(action, modifiers)

    def _show_row(self, index: QModelIndex) -> None:
        """Scroll to a row that is out of view with its neighbours on both sides, so that steps from
        row to row do not scroll, and paint all rows, each time.
        """
        top, height = self.rowViewportPosition(index.row()), self.rowHeight(index.row())
        if top < 0 or top + height > self.viewport().height():
            self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _update_row(self, number: int) -> None:
        """Paint a row again; the view does so itself unless the signals are blocked."""
        top, viewport = self.rowViewportPosition(number), self.viewport()
        viewport.update(0, top, viewport.width(), self.rowHeight(number))

    def fit_height(self, most: int = 12) -> None:
        """Adapt the height to the rows, at most `most` of them."""
        self._most = most
        count = min(max(len(self.rows()), 1), most)
        head = self.horizontalHeader().sizeHint().height()
        rows = count * self.verticalHeader().defaultSectionSize()
        sideways = self.horizontalScrollBarPolicy() != Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        bar = self.horizontalScrollBar().sizeHint().height() if sideways else 0
        self.setFixedHeight(head + rows + bar + 6)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        editing = self.state() == QAbstractItemView.State.EditingState
        if (
            not editing
            and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            and self.current_row() is not None
            and self.isSignalConnected(QMetaMethod.fromSignal(self.opened))
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
