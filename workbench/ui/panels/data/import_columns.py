"""Step 2 of the import dialog: the first rows, a role above each column, and invalid records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSize, Qt
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QFrame,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
)

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.data.import_state import ImportState
from workbench.ui.style import escaping, formats, icons, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import card, row
from workbench.ui.widgets.tables.delegates import follow_direction
from workbench.ui.widgets.tables.table import dress

if TYPE_CHECKING:
    from workbench.operations.transfer.import_preview import ImportPreview, PreviewRow

ROW = 22  # pixels at 100%: twenty rows and the errors fit into a window 800 pixels high
CELL = 300  # code points of a cell shown
COLUMNS_SHOWN = 60  # maximum number of columns shown; those with a role are always included
_PROBLEM = Qt.ItemDataRole.UserRole
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class ImportColumns(QFrame):
    def __init__(self, state: ImportState):
        super().__init__()
        self.state = state
        self._note = Elided("", "small", "muted")
        self._override = Button("", kind="normal", small=True, on=state.override)
        self._obstacle = Callout("", "warn", self._override)
        self.table = PreviewTable(state)
        step = self.table.next_problem
        self._before = icon_button(
            "chevron-up", _("Previous error"), lambda: step(-1), kind="normal", small=True
        )
        self._next = icon_button(
            "chevron-down", _("Next error"), lambda: step(1), kind="normal", small=True
        )
        self._problems = Callout("", "bad", self._before, self._next)
        self._warnings = Callout("", "warn")
        body = card(
            row(words(_("2  Columns"), weight=600), 12, (self._note, 1)),
            self._obstacle,
            self._problems,
            (self.table, 1),
            self._warnings,
            gap=10,
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(body)
        self.table.currentCellChanged.connect(lambda *_: self._show_problems())
        drop = theme.changed.connect(self.table.restyle)
        self.destroyed.connect(lambda *_: drop())

    def render(self, fields: frozenset[str]) -> None:
        state, preview = self.state, self.state.preview
        self.setVisible(preview is not None and state.phase != "done")
        if concerns(fields, "preview", "mapping", "refused", "anyway") and preview is not None:
            self.table.show_preview()
            hidden = len(preview.columns) - self.table.columnCount()
            more = ngettext(
                "{n:,} more column is not shown", "{n:,} more columns are not shown", hidden
            )
            note = preview.note[:1].upper() + preview.note[1:]
            self._note.setText(f"{note} · {more.format(n=hidden)}" if hidden > 0 else note)
            self._show_obstacle()
            self._show_problems()
            self._warnings.set("\n".join(preview.warnings))
        busy = state.phase in ("importing", "done")
        self.table.enable_roles(not busy)
        self._override.setEnabled(not busy)

    def _show_obstacle(self) -> None:
        state = self.state
        self._obstacle.set(state.obstacle)
        self._override.setVisible(state.can_override)
        if state.preview is not None and state.preview.question:
            self._override.set_text(_("Import as plain text"))
        else:
            self._override.set_text(_("Import the other records"))

    def _show_problems(self) -> None:
        """Show the number of invalid records and the error of the current or first one."""
        preview = self.state.preview
        if preview is None or not preview.failed:
            self._problems.set("")
            return
        if preview.complete:
            message = ngettext(
                "{n:,} of {checked:,} records has an error and will be skipped.",
                "{n:,} of {checked:,} records have errors and will be skipped.",
                preview.failed,
            )
        else:
            message = ngettext(
                "{n:,} of the first {checked:,} records has an error and will be skipped.",
                "{n:,} of the first {checked:,} records have errors and will be skipped.",
                preview.failed,
            )
        count = message.format(n=preview.failed, checked=preview.checked)
        problem = self.table.current_problem()
        line, reason = (problem.line, problem.problem) if problem else preview.problems[0]
        where = _("Line {line:,}: {reason}.", line=line, reason=reason.rstrip("."))
        self._problems.set(where if self.state.obstacle else f"{count} {where}")
        several = self.table.problem_count() > 1
        self._before.setVisible(several)
        self._next.setVisible(several)


class PreviewTable(QTableWidget):
    """The rows of a preview with line numbers; invalid ones are marked."""

    def __init__(self, state: ImportState):
        super().__init__()
        self._state = state
        self._places: list[int] = []
        self._shown: object = None  # the preview displayed by the table
        self.roles = RoleHeader(state, self)
        self.setHorizontalHeader(self.roles)
        dress(self, _("First rows"))
        self.roles.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setItemDelegate(_Tinted(self))
        lines = self.verticalHeader()
        lines.show()
        lines.setDefaultAlignment(_RIGHT)
        self.restyle()

    def sizeHint(self) -> QSize:
        """A few rows; the table takes the available height."""
        return QSize(super().sizeHint().width(), theme.px(184))

    minimumSizeHint = sizeHint

    def restyle(self) -> None:
        """Apply sizes and colours of the current theme."""
        self.verticalHeader().setDefaultSectionSize(theme.px(ROW))
        if self._shown is not None:
            self._fill_rows()

    @property
    def _preview(self) -> ImportPreview:
        """Raises RuntimeError while there is none."""
        if self._state.preview is None:
            raise RuntimeError("no file is previewed")
        return self._state.preview

    def show_preview(self) -> None:
        """Show the rows and roles of the state's preview; a change of roles keeps the scroll
        position.
        """
        preview = self._preview
        new = preview is not self._shown
        self._shown = preview
        self._places = shown_columns(preview.columns, self._state.roles)
        names = [preview.columns[place] for place in self._places]
        has_roles = self._state.has_roles
        top, current = self.verticalScrollBar().value(), self.currentRow()
        same = self.roles.names == names
        self.setColumnCount(len(names))
        self.setHorizontalHeaderLabels([heading(name, preview) for name in names])
        self.roles.set_columns(names, with_roles=has_roles)
        self._fill_rows()
        if not same:
            self._fit_columns()
        if same and not new or same and current >= 0:
            self.verticalScrollBar().setValue(top)
        elif self.problem_count():
            self.setCurrentCell(-1, -1)
            self.next_problem(1)

    def _fill_rows(self) -> None:
        rows = self._preview.rows
        self.clearSpans()
        self.setRowCount(len(rows))
        for number, preview_row in enumerate(rows):
            line = QTableWidgetItem(preview_row.name or formats.count(preview_row.line))
            if preview_row.problem:
                line.setIcon(icons.icon("circle-x", "bad", theme.px(14)))
                escaping.set_tip(line, preview_row.problem)
            self.setVerticalHeaderItem(number, line)
            cells = (
                preview_row.cells
                if preview_row.raw
                else [
                    preview_row.cells[place] if place < len(preview_row.cells) else ""
                    for place in self._places
                ]
            )
            for place, cell in enumerate(cells[: self.columnCount()]):
                self.setItem(number, place, _item(cell, preview_row.problem))
            for place in range(len(cells), self.columnCount()):
                self.setItem(number, place, _item("", preview_row.problem))
            if preview_row.raw and self.columnCount() > 1:
                self.setSpan(number, 0, 1, self.columnCount())

    def _fit_columns(self) -> None:
        rows = [
            [row.cells[place] for place in self._places if place < len(row.cells)]
            for row in self._preview.rows
            if not row.raw
        ]
        room = self.viewport().width()
        widths = column_widths(rows, self.columnCount(), room)
        policy = Qt.ScrollBarPolicy
        fits = sum(widths) <= room
        self.setHorizontalScrollBarPolicy(
            policy.ScrollBarAlwaysOff if fits else policy.ScrollBarAsNeeded
        )
        for place, width in enumerate(widths):
            self.roles.setSectionResizeMode(place, QHeaderView.ResizeMode.Interactive)
            self.setColumnWidth(place, width)
        self.roles.setStretchLastSection(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._shown is not None and event.oldSize().width() != event.size().width():
            self._fit_columns()
        self._show_current()

    def _show_current(self) -> None:
        """Keep the row that the user navigated to visible, whatever appears above the table."""
        if (item := self.item(self.currentRow(), 0)) is not None:
            self.scrollToItem(item, QAbstractItemView.ScrollHint.PositionAtCenter)

    def enable_roles(self, on: bool) -> None:
        for box in self.roles.boxes.values():
            box.setEnabled(on)

    # ------------------------------------------------------------ errors

    def _problems(self) -> list[int]:
        rows = self._state.preview.rows if self._state.preview else ()
        return [number for number, row in enumerate(rows) if row.problem]

    def problem_count(self) -> int:
        return len(self._problems())

    def current_problem(self) -> PreviewRow | None:
        """The current row if it has an error, else None."""
        rows = self._state.preview.rows if self._state.preview else ()
        number = self.currentRow()
        preview_row = rows[number] if 0 <= number < len(rows) else None
        return preview_row if preview_row is not None and preview_row.problem else None

    def next_problem(self, step: int) -> None:
        """Go to the next (1) or previous (-1) invalid row, wrapping around."""
        problems = self._problems()
        if not problems:
            return
        here = self.currentRow()
        if step > 0:
            target = next((number for number in problems if number > here), problems[0])
        else:
            target = next((number for number in reversed(problems) if number < here), problems[-1])
        self.setCurrentCell(target, 0)
        self._show_current()


class _Tinted(QStyledItemDelegate):
    """Rows with an error have a tinted background, which the style sheet does not draw for items.

    Right-to-left text is aligned and elided on the correct side.
    """

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        super().initStyleOption(option, index)
        follow_direction(option)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        if index.data(_PROBLEM):
            painter.fillRect(option.rect, theme.qcolour("bad_soft"))
        super().paint(painter, option, index)


class RoleHeader(QHeaderView):
    """Column names, with a combo box for the role below each; always visible while scrolling."""

    def __init__(self, state: ImportState, table: QTableWidget):
        super().__init__(Qt.Orientation.Horizontal, table)
        self._state = state
        self.names: list[str] = []
        self.boxes: dict[str, QComboBox] = {}
        self.sectionResized.connect(lambda *_: self._place())
        table.horizontalScrollBar().valueChanged.connect(lambda _value: self._place())

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        name = theme.px(30)
        return QSize(hint.width(), name + theme.px(theme.CONTROL + 8) if self.boxes else name)

    def set_columns(self, names: list[str], *, with_roles: bool) -> None:
        if names != self.names or bool(self.boxes) != (with_roles and bool(names)):
            for box in self.boxes.values():
                box.hide()
                box.deleteLater()
            self.boxes = {name: self._box(name) for name in names} if with_roles else {}
            self.names = list(names)
        for name, box in self.boxes.items():
            fill(box, self._state.role_choices(name), self._state.roles.get(name, ""))
        self.updateGeometry()
        self._place()

    def _box(self, name: str) -> QComboBox:
        box = combo(name=_("Role of {column}", column=name))
        box.setParent(self)
        box.activated.connect(
            lambda _i, name=name, box=box: self._state.set_role(name, box.currentData())
        )
        box.show()
        return box

    def _place(self) -> None:
        top, tall = theme.px(30), theme.px(theme.CONTROL)
        for place, box in enumerate(self.boxes.values()):
            left = self.sectionViewportPosition(place)
            box.setGeometry(left + 6, top, max(60, self.sectionSize(place) - 12), tall)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def updateGeometries(self) -> None:
        super().updateGeometries()
        self._place()


def _item(cell: str, problem: str) -> QTableWidgetItem:
    text = " ".join(cell[:CELL].split())
    item = QTableWidgetItem(text)
    item.setData(_PROBLEM, bool(problem))
    escaping.set_tip(item, f"{text}\n\n{problem}".strip() if problem else text)
    return item


def heading(name: str, preview: ImportPreview) -> str:
    """The name of a column, with its number of spans if it contains tags."""
    if name not in preview.spans:
        return name[:60]
    count = preview.spans[name]
    if preview.examined:
        message = ngettext(
            "{name}  ·  at least {n:,} span", "{name}  ·  at least {n:,} spans", count
        )
    else:
        message = ngettext("{name}  ·  {n:,} span", "{name}  ·  {n:,} spans", count)
    return message.format(name=name[:60], n=count)


def shown_columns(columns: Sequence[str], roles: Mapping[str, str]) -> list[int]:
    """The columns shown: those with a role, then the first of the others."""
    metadata = [
        place for place, name in enumerate(columns) if roles.get(name, "meta").startswith("meta")
    ]
    surplus = set(metadata[max(0, COLUMNS_SHOWN - (len(columns) - len(metadata))) :])
    return [place for place in range(len(columns)) if place not in surplus]


def column_widths(rows: Sequence[Sequence[str]], count: int, room: int) -> list[int]:
    """Column widths in pixels, from the longest cells; fit to `room` if roles stay readable."""
    least, most = theme.px(170), theme.px(420)
    longest = [
        max((len(cells[n]) for cells in rows if n < len(cells)), default=0) for n in range(count)
    ]
    widths = [min(most, max(least, theme.px(8 * length))) for length in longest]
    spare = sum(widths) - room
    loose = sum(width - least for width in widths)
    if 0 < spare <= loose:
        widths = [width - math.ceil(spare * (width - least) / loose) for width in widths]
    return widths
