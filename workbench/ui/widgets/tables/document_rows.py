"""The documents of the document table as a Qt model: ids in memory, rows read page by page."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt
from PySide6.QtWidgets import QWidget

from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.ui.style import escaping, formats

if TYPE_CHECKING:
    from workbench.storage.documents.documents import DocumentRow

PAGE, PAGES = 64, 200  # a page is read within the frame that shows it
STATE_ICON, KEY, TEXT, CLASSES, SPANS, LENGTH, SPLIT, STATE = range(8)
NUMBERS = (SPANS, LENGTH)
ROW = Qt.ItemDataRole.UserRole
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
Fetch = Callable[[Sequence[int]], "Sequence[DocumentRow]"]


class Extra(NamedTuple):
    """A further column. `by`: its sort order. `show`: its value as text; None for text."""

    by: str
    title: str
    show: Callable[[Any], str] | None = None


class DocumentRows(QAbstractTableModel):
    """`fetch(ids)` returns DocumentRow objects; deleted documents are left out."""

    def __init__(self, fetch: Fetch, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fetch = fetch
        self.ids: Sequence[int] = array("q")
        self._pages: OrderedDict[int, dict[int, DocumentRow]] = OrderedDict()
        self.extras: tuple[Extra, ...] = ()
        self._titles = (
            "",
            _("Key"),
            _("Text"),
            _("Class"),
            _("Spans"),
            _("Length"),
            _("Split"),
            _("State"),
        )
        self._tips = {
            STATE_ICON: _("State over the selected layers; click to sort by it"),
            KEY: _("Click to sort by key"),
            CLASSES: _("Click to sort by class"),
            SPANS: _("Click to sort by the number of spans"),
            LENGTH: _("Number of characters of all texts; click to sort by it"),
            SPLIT: _("Click to sort by split"),
            STATE: _("State over the selected layers; click to sort by it"),
        }

    def set_extras(self, extras: tuple[Extra, ...]) -> None:
        """Set the further columns, whose values are in `cells` of the rows."""
        self.beginResetModel()
        self.extras = extras
        self._pages.clear()
        self.endResetModel()

    def set_ids(self, ids: Sequence[int]) -> bool:
        """Set the documents.

        If they are the same as before, only reload the rows and return False.
        """
        self._pages.clear()
        if len(ids) == len(self.ids) and ids == self.ids:
            self.refresh()
            return False
        self.beginResetModel()
        self.ids = ids
        self.endResetModel()
        return True

    def forget(self, ids: Iterable[int] | None) -> None:
        """Reload these rows (None: all) when they are next shown."""
        if ids is None:
            self._pages.clear()
        else:
            changed = set(ids)
            for number in [
                number for number, page in self._pages.items() if not changed.isdisjoint(page)
            ]:
                del self._pages[number]
        self.refresh()

    def refresh(self) -> None:
        if self.ids:
            self.dataChanged.emit(
                self.index(0, 0), self.index(len(self.ids) - 1, self.columnCount() - 1)
            )

    def row(self, number: int) -> DocumentRow | None:
        """The row object, or None if the document was deleted."""
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

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.ids)

    def columnCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._titles) + len(self.extras)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        # Called for every cell of every paint: return early for roles that are not needed.
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if self.is_number(index.column()) else _LEFT
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
            words = self.words(row, column) if column >= len(self._titles) else ""
            return escaping.tip({TEXT: row.text, KEY: row.key}.get(column, words))
        return self.words(row, column)

    def is_number(self, column: int) -> bool:
        at = column - len(self._titles)
        return column in NUMBERS or (at >= 0 and self.extras[at].show is not None)

    def words(self, row: DocumentRow, column: int) -> str:
        if column >= len(self._titles):
            at = column - len(self._titles)
            value = row.cells[at] if at < len(row.cells) else None
            show = self.extras[at].show
            return "" if value is None else str(value) if show is None else show(value)
        if column == TEXT:
            return row.text
        if column == KEY:
            return row.key
        if column == CLASSES:
            return ", ".join(label for _layer, label in row.classes)
        if column == SPANS:
            return formats.count(row.span_count)
        if column == LENGTH:
            return formats.count(row.length)
        if column == SPLIT:
            return term(row.split) if row.split else ""
        return term(row.state) if column == STATE and row.state else ""

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        extra = section - len(self._titles)
        title = self.extras[extra].title if extra >= 0 else self._titles[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return title
        if role == Qt.ItemDataRole.ToolTipRole:
            message = _("Click to sort by {column}", column=title) if extra >= 0 else ""
            return escaping.tip(self._tips.get(section, message))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return title or _("State")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if self.is_number(section) else _LEFT
        return None
