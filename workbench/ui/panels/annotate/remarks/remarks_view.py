"""Buttons and dialogs for notes and flags, and the line that shows them above the text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu, QPlainTextEdit, QWidget

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.ui.style import escaping
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.key_cap import with_key
from workbench.ui.widgets.controls.text_box import align_by_text
from workbench.ui.widgets.controls.words import Elided, IconLabel, call
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.tables.filter_name import FilterName

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.remarks.remarks import RemarkTool

NUMBERED = 9  # flags with a digit as mnemonic in the menu

FLAG, NOTE = ("annotate.flag", "Ctrl+K"), ("annotate.note", "Ctrl+T")  # commands and their keys


class RemarkParts:
    """`flag` and `note`: buttons. `line`: flags and note of the document, for above the text."""

    def __init__(self, page: QWidget, state: RemarkTool) -> None:
        self._page, self._state = page, state
        self._menu = QMenu(page)
        self._menu.setAccessibleName(_("Flags"))
        self._menu.aboutToShow.connect(self._fill)
        self.flag = Button(_("Flag"), "flag", "quiet", on=self.ask_flag)
        self.note = Button(_("Note"), "sticky-note", "quiet", on=self.ask_note)
        self._text = Elided("", "small", "muted")
        self._flagged = IconLabel("flag", "warn", 14)
        self._noted = IconLabel("sticky-note", "muted", 14)
        self.line = row(self._flagged, self._noted, (self._text, 1), gap=6, margins=(24, 0, 24, 6))
        self.line.hide()

    def render(self) -> None:
        state = self._state
        on_span, settings = state.span_id is not None, state.context.settings
        for button, name, tip in (
            (self.flag, _("Flag the selected span"), (_("Flag the document"), FLAG)),
            (self.note, _("Note on the selected span"), (_("Note on the document"), NOTE)),
        ):
            message, key = tip
            escaping.set_tip(button, name if on_span else with_key(message, settings, *key))
            button.setEnabled(state.document_id is not None and not state.project.read_only)
        text = state.session.remarks.line()
        self._text.setText(text)
        escaping.set_tip(self._text, state.session.remarks.note())
        self._flagged.setVisible(bool(state.session.remarks.names()))
        self._noted.setVisible(bool(state.session.remarks.note()))
        self.line.setVisible(bool(text))

    def show_words(self, visible: bool) -> None:
        """Show the buttons with or without their words, where there is no room."""
        for button, text in ((self.flag, _("Flag")), (self.note, _("Note"))):
            button.shorten(not visible, text)

    # ------------------------------------------------------------ flags

    def ask_flag(self) -> None:
        """Open the menu of flags; digits choose."""
        if not self.flag.isEnabled():
            return
        self._menu.popup(self.flag.mapToGlobal(QPoint(0, -self._height())))

    def _height(self) -> int:
        self._fill()
        return self._menu.sizeHint().height()

    def _fill(self) -> None:
        self._menu.clear()
        for number, (name, on) in enumerate(self._state.choices, 1):
            text = escaping.menu_text(name)
            title = f"&{number}  {text}" if number <= NUMBERED else text
            action = self._menu.addAction(title)
            action.setCheckable(True)
            action.setChecked(on)
            action.triggered.connect(lambda _on=False, name=name: self._state.toggle(name))
        self._menu.addSeparator()
        self._menu.addAction(_("&New flag…"), self._ask_name)

    def _ask_name(self) -> None:
        hint = _("A flag marks documents or spans for a question or a later step.")
        act = partial(self._state.set_flag, on=True)
        FilterName(self._page.window(), _("New flag"), hint, "", act).exec()

    # ------------------------------------------------------------ notes

    def ask_note(self) -> None:
        """Edit the note on the selected span or the document."""
        if self.note.isEnabled():
            NoteDialog(self._page.window(), self._state).exec()


class NoteDialog(Dialog):
    """The text of a note; empty deletes it. Ctrl+Enter saves."""

    def __init__(self, parent: QWidget, state: RemarkTool) -> None:
        on_span = state.span_id is not None
        title = _("Note on the selected span") if on_span else _("Note on the document")
        super().__init__(parent, title, _("Ctrl+Enter saves; an empty note is deleted."), width=460)
        self._state = state
        self.text = QPlainTextEdit(state.note)
        align_by_text(self.text)
        self.text.setTabChangesFocus(True)
        call(self.text, title)
        self.put(self.text)
        save = Button(_("Save"), kind="primary", on=self.save)
        self.end(None, Button(_("Cancel"), on=self.reject), save)
        self.text.setFocus()

    def save(self) -> None:
        try:
            self._state.set_note(self.text.toPlainText())
        except WorkbenchError as error:
            self.fault(str(error))
        else:
            self.accept()
