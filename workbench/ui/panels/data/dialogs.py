"""Confirmation before many documents are deleted on the Data page."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.base.i18n import _, ngettext
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.words import words

# number of documents from which deletion is confirmed, as an accidental key press might go
# unnoticed
ASKED_ABOVE = 100


class DeleteDocuments(Dialog):
    """Cancel is the default: Enter and Escape delete nothing."""

    def __init__(self, parent: QWidget, count: int, total: int) -> None:
        title = ngettext("Delete {n:,} document?", "Delete {n:,} documents?", count)
        super().__init__(parent, title.format(n=count), width=460)
        told = (
            _("These are all documents of the project.")
            if count == total
            else ngettext(
                "The project has {total:,} document.", "The project has {total:,} documents.", total
            ).format(total=total)
        )
        effect = _("Their labels, spans and suggestions are deleted with them. Undo restores all.")
        self.put(words(f"{told}\n{effect}", wrap=True))
        self.cancel = Button(_("Cancel"), on=self.reject)
        self.cancel.setDefault(True)
        self.end(None, self.cancel, Button(_("Delete"), "trash-2", "danger", on=self.accept))
        self.cancel.setFocus()
