"""The table of patterns: edit, count, apply, import and export."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFrame,
    QLineEdit,
    QPlainTextEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from workbench.base.i18n import _, ngettext
from workbench.text.queries.patterns import REGEX, WORDS, Pattern
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.patterns.patterns import PatternRow, PatternTool
from workbench.ui.style import formats, icons, theme
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.field import choose, combo
from workbench.ui.widgets.controls.words import Elided, call
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import column, line, row
from workbench.ui.widgets.tables.delegates import ground
from workbench.ui.widgets.tables.table import Column, RowsModel, Table

FILES = "*.csv *.jsonl"
ON = 0  # column


class _On(QStyledItemDelegate):
    """A box that tells whether a pattern is on."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        ground(painter, option)
        pattern_row: PatternRow = cast(RowsModel, index.model()).rows[index.row()]
        side, at = theme.px(16), option.rect.center()
        on = pattern_row.pattern.active
        icon = icons.pixmap("square-check" if on else "square", "accent" if on else "muted", side)
        painter.drawPixmap(at.x() - side // 2, at.y() - side // 2, side, side, icon)


class PatternsDialog(Dialog):
    """Every change is stored at once and can be undone; Esc closes."""

    def __init__(self, parent: QWidget, state: PatternTool) -> None:
        super().__init__(
            parent,
            _("Patterns"),
            _(
                "Words and regular expressions that suggest labels, also in documents imported "
                "later. A suggestion is never gold until you accept it."
            ),
            width=860,
        )
        self.state = state
        self._shown: Pattern | None = None
        self.put(self._build_table(), self._build_actions(), line(), self._build_form())
        self._build_end()
        state.changed.connect(self.render)
        self.finished.connect(lambda _code: self._finish())
        self.render(frozenset({"rows", "chosen"}))
        self._body.setFocus()

    def _finish(self) -> None:
        self.state.cancel()
        self.state.close()

    # ------------------------------------------------------------ parts

    def _build_table(self) -> Table:
        columns = (
            Column(_("On"), lambda row: _("On") if row.pattern.active else _("Off"), width=48),
            Column(_("Label"), _label_of, width=130, chip=_chip, tip=lambda row: row.layer),
            Column(_("Pattern"), lambda row: row.pattern.title, tip=lambda row: row.pattern.body),
            Column(_("Options"), _options, width=170),
            Column(_("Hits"), lambda row: _number(row, "places"), width=70, right=True),
            Column(_("Documents"), lambda row: _number(row, "documents"), width=96, right=True),
        )
        self.table = Table(columns, name=_("Patterns"), key=lambda row: row.id, many=True)
        self.table.setItemDelegateForColumn(ON, _On(self.table))
        self.table.setMinimumHeight(theme.px(190))
        self.table.chosen.connect(self._picked)
        self.table.clicked.connect(self._clicked)
        self.table.removed.connect(self._remove)
        self.table.opened.connect(lambda _row: self._body.setFocus())
        self.table.installEventFilter(self)
        return self.table

    def _build_actions(self) -> QFrame:
        state = self.state
        self._new = Button(_("New pattern"), "plus", small=True, on=self._start)
        self._gone = Button(_("Remove"), "trash-2", small=True, on=self._remove)
        self._read = Button(_("Import…"), "download", "quiet", small=True, on=self._import)
        self._write = Button(_("Export…"), "upload", "quiet", small=True, on=self._export)
        self._message = Elided("", "small", "muted")
        self._message.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._counting = Button(_("Count hits"), small=True, on=self._count)
        for part in (self._new, self._read):
            part.setEnabled(state.can_write)
        return row(
            self._new, self._gone, self._read, self._write, (self._message, 1), self._counting
        )

    def _build_form(self) -> QFrame:
        self._kind = Segments(
            (WORDS, _("Words, one per line")), (REGEX, _("Regular expression")), name=_("Kind")
        )
        self._kind.chosen.connect(lambda _kind: self._typed())
        self._label = combo(
            [
                (row_id(label), _("{layer}: {label}", layer=layer.name, label=label.name))
                for layer, label in self.state.choices
            ],
            name=_("Label"),
        )
        self._body = QPlainTextEdit()
        self._body.setTabChangesFocus(True)
        self._body.setFixedHeight(theme.px(74))
        call(self._body, _("Pattern"), _("Ctrl+Enter saves"))
        self._body.installEventFilter(self)
        self._whole, self._case = QCheckBox(_("Whole word")), QCheckBox(_("Match case"))
        self._note = QLineEdit()
        self._note.setPlaceholderText(_("Note"))
        call(self._note, _("Note"))
        self._save = Button("", "check", small=True, on=self._store)
        self._body.textChanged.connect(self._typed)
        self._label.currentIndexChanged.connect(lambda _index: self._typed())
        self._note.textChanged.connect(lambda _text: self._typed())
        for box in (self._whole, self._case):
            box.toggled.connect(lambda _on: self._typed())
        return column(
            row((self._kind, 0), (self._label, 1)),
            self._body,
            row(self._whole, self._case, (self._note, 1), self._save),
            gap=8,
        )

    def _build_end(self) -> None:
        state = self.state
        self._where = Segments(
            (False, _("All documents")), (True, _("Filtered queue")), name=_("Documents")
        )
        self._where.chosen.connect(state.set_queue)
        self._where.setVisible(state.filtered)
        self._apply = Button("", "sparkles", "primary", on=self._run)
        self.end(self._where, None, Button(_("Close"), on=self.accept), self._apply)

    # ------------------------------------------------------------ actions

    def _picked(self) -> None:
        chosen = self.table.chosen_rows()
        if chosen:
            self.state.choose(chosen[0].id)

    def _clicked(self, index: QModelIndex) -> None:
        if index.column() == ON and self.state.can_write:
            self.state.toggle([self.table.rows()[index.row()].id])

    def _start(self) -> None:
        self.table.clearSelection()
        self.state.choose(None)
        self._body.setFocus()

    def _remove(self) -> None:
        self.state.remove([item.id for item in self.table.chosen_rows()])

    def _count(self) -> None:
        if self.state.share is None:
            self.state.count()
        else:
            self.state.cancel()

    def _store(self) -> None:
        new = self.state.chosen is None
        if self._save.isEnabled() and self.state.save(**self._values()) and new:
            self._body.clear()
            self._body.setFocus()

    def _run(self) -> None:
        self.accept()
        self.state.apply()

    def _import(self) -> None:
        kinds = _("Patterns ({files})", files=FILES)
        path, _kind = QFileDialog.getOpenFileName(self, _("Import patterns"), "", kinds)
        if path:
            self.state.read(path)

    def _export(self) -> None:
        kinds = _("Patterns ({files})", files=FILES)
        path, _kind = QFileDialog.getSaveFileName(
            self, _("Export patterns"), "patterns.jsonl", kinds
        )
        if path:
            self.state.write(path)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            control = event.modifiers() == Qt.KeyboardModifier.ControlModifier
            if watched is self._body and enter and control:
                self._store()
                return True
            if watched is self.table and event.key() == Qt.Key.Key_Space:
                self.state.toggle([item.id for item in self.table.chosen_rows()])
                return True
        return super().eventFilter(watched, event)

    # ------------------------------------------------------------ showing

    def _values(self) -> dict[str, object]:
        return {
            "kind": self._kind.value(),
            "body": self._body.toPlainText(),
            "label_id": self._label.currentData() or 0,
            "whole_words": self._whole.isChecked(),
            "match_case": self._case.isChecked(),
            "note": self._note.text(),
        }

    def _typed(self) -> None:
        values, edited = self._values(), self.state.edited
        changed = any(getattr(edited, name) != value for name, value in values.items())
        some = bool(str(values["body"]).strip())
        self._save.setEnabled(self.state.can_write and some and changed)

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if "rows" in fields:
            self.table.set_rows(state.rows)
        if fields & {"chosen", "rows"} and state.edited != self._shown:
            self._show_edited()
        n = state.active
        message = ngettext("Suggest with {n:,} pattern", "Suggest with {n:,} patterns", n)
        self._apply.set_text(message)
        self._apply.setEnabled(state.can_write and n > 0)
        self._gone.setEnabled(state.can_write and bool(state.rows))
        self._write.setEnabled(bool(state.rows))
        self._counting.setEnabled(bool(state.rows))
        self._save.set_text(_("Add") if state.chosen is None else _("Save changes"))
        self._counting.set_text(_("Count hits") if state.share is None else _("Cancel"))
        self._message.setText(self._counted())
        self.fault(state.fault)
        self._typed()

    def _counted(self) -> str:
        state = self.state
        if state.share is not None:
            return _("Counting… {n}%", n=round(100 * state.share))
        if state.searched is None:
            return ""
        n = state.searched
        return ngettext("in {n:,} document", "in {n:,} documents", n)

    def _show_edited(self) -> None:
        pattern = self._shown = self.state.edited
        self._kind.set(pattern.kind)
        choose(self._label, pattern.label_id)
        self._whole.setChecked(pattern.whole_words)
        self._case.setChecked(pattern.match_case)
        self._note.setText(pattern.note)
        if self._body.toPlainText() != pattern.body:
            self._body.setPlainText(pattern.body)


def _label_of(pattern: PatternRow) -> str:
    return pattern.label.name if pattern.label else ""


def _chip(pattern: PatternRow) -> tuple[str, object, str] | None:
    return (pattern.label.name, pattern.label, "") if pattern.label else None


def _options(pattern_row: PatternRow) -> str:
    """What differs from a plain search, and the note."""
    pattern = pattern_row.pattern
    parts = [
        _("whole word") if pattern.whole_words else "",
        _("match case") if pattern.match_case else "",
        pattern.note,
    ]
    return ", ".join(part for part in parts if part)


def _number(pattern: PatternRow, what: str) -> str:
    return "–" if pattern.hits is None else formats.count(getattr(pattern.hits, what))
