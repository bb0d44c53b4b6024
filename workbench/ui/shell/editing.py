"""Cut, Copy, Paste and Select all of the Edit menu, applied to the focused widget."""

from __future__ import annotations

from typing import Any, cast

from PySide6.QtCore import QItemSelectionRange, QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QLabel,
    QLineEdit,
    QMenu,
    QMenuBar,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

Lines = QLineEdit | QPlainTextEdit | QTextEdit


class Editing(QObject):
    """Tracks the widget that edit commands apply to: the focused one, even while a menu is open.

    Supported are Qt's text fields, every widget with `copy_chosen()` and `has_chosen`, and tables
    and lists for Select all.
    """

    def __init__(self, window: QWidget):
        super().__init__(window)
        self._window = window
        self._before: QWidget | None = None  # had the focus before the menu bar took it
        cast(QApplication, QApplication.instance()).focusChanged.connect(self._focus_changed)

    def _focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:
        if isinstance(new, QMenuBar | QMenu):
            self._before = self._before or old
        else:
            self._before = None

    @property
    def widget(self) -> QWidget | None:
        """The widget to edit: for a spin box or an editable combo box, its line edit."""
        widget = self._before or QApplication.focusWidget() or self._window.focusWidget()
        inner = getattr(widget, "lineEdit", None)
        if isinstance(widget, QAbstractSpinBox) or (inner is not None and inner() is not None):
            return cast(QWidget | None, cast(Any, widget).lineEdit())
        return widget

    # ------------------------------------------------------------ available edits

    @property
    def can_cut(self) -> bool:
        field = self.widget
        return _editable(field) and _chosen(field)

    @property
    def can_copy(self) -> bool:
        return _chosen(self.widget)

    @property
    def can_paste(self) -> bool:
        return _editable(self.widget) and bool(QGuiApplication.clipboard().text())

    @property
    def can_select_all(self) -> bool:
        """Whether anything is not selected yet."""
        field = self.widget
        if isinstance(field, QLineEdit):
            return field.selectedText() != field.text()
        if isinstance(field, QPlainTextEdit | QTextEdit):
            cursor = field.textCursor()
            selected = cursor.selectionEnd() - cursor.selectionStart()
            return selected < field.document().characterCount() - 1
        if isinstance(field, QAbstractItemView):
            mode = field.selectionMode()
            many = mode == QAbstractItemView.SelectionMode.ExtendedSelection
            return many and _selected_rows(field) < field.model().rowCount()
        return bool(getattr(field, "can_select_all", False))

    # ------------------------------------------------------------ edits

    def cut(self) -> None:
        if self.can_cut:
            cast(QLineEdit, self.widget).cut()

    def copy(self) -> None:
        if not self.can_copy:
            return
        field = self.widget
        if isinstance(field, QLabel):
            QGuiApplication.clipboard().setText(field.selectedText())
        elif isinstance(field, Lines):
            field.copy()
        else:
            cast(Any, field).copy_chosen()

    def paste(self) -> None:
        if self.can_paste:
            cast(QLineEdit, self.widget).paste()

    def select_all(self) -> None:
        if self.can_select_all:
            cast(QLineEdit, self.widget).selectAll()


def _selected_rows(view: QAbstractItemView) -> int:
    ranges = cast(list[QItemSelectionRange], view.selectionModel().selection())
    return sum(range_.height() for range_ in ranges if range_.left() == 0)


def _editable(field: QWidget | None) -> bool:
    return isinstance(field, Lines) and field.isEnabled() and not field.isReadOnly()


def _chosen(field: QWidget | None) -> bool:
    """Whether the selection can be copied; passwords cannot."""
    if isinstance(field, QLineEdit):
        return field.hasSelectedText() and field.echoMode() == QLineEdit.EchoMode.Normal
    if isinstance(field, QPlainTextEdit | QTextEdit):
        return field.textCursor().hasSelection()
    if isinstance(field, QLabel):
        return field.hasSelectedText()
    return bool(getattr(field, "has_chosen", False))
