"""Confirmation before documents are deleted or removed permanently on the Data page."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.data.actions import DocumentActions, Removal
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog

# number of documents from which deletion is confirmed, as an accidental key press might go
# unnoticed
ASKED_ABOVE = 100


class DeleteDocuments(Dialog):
    """Cancel is the default: Enter and Escape delete nothing."""

    def __init__(self, parent: QWidget, count: int, total: int) -> None:
        title = ngettext("Delete {n:,} document?", "Delete {n:,} documents?", count)
        super().__init__(parent, title, width=460)
        message = (
            _("These are all documents of the project.")
            if count == total
            else ngettext(
                "The project has {total:,} document.",
                "The project has {total:,} documents.",
                total,
                total=total,
            )
        )
        effect = _("Their labels, spans and suggestions are deleted with them. Undo restores all.")
        self.put(words(f"{message}\n{effect}", wrap=True))
        self.cancel = Button(_("Cancel"), on=self.reject)
        self.cancel.setDefault(True)
        self.end(None, self.cancel, Button(_("Delete"), "trash-2", "danger", on=self.accept))
        self.cancel.setFocus()


class RemoveForGood(Dialog):
    """Shows everything that will be removed, once it is known. Cancel is the default."""

    def __init__(self, parent: QWidget, actions: DocumentActions) -> None:
        count = len(actions.selection.chosen)
        title = ngettext(
            "Remove {n:,} document permanently?", "Remove {n:,} documents permanently?", count
        )
        hint = _("This cannot be undone. No version of the project will contain what is removed.")
        super().__init__(parent, title, hint, width=520)
        self._message = words(_("Looking for the documents in the history, versions and runs…"))
        self._message.setWordWrap(True)
        self._kept = words("", "small", "muted", wrap=True)
        self.put(self._message, self._kept)
        self.cancel = Button(_("Cancel"), on=self.reject)
        self.cancel.setDefault(True)
        self.remove = Button(_("Remove permanently"), "trash-2", "danger", on=self.accept)
        self.remove.setEnabled(False)
        self.end(None, self.cancel, self.remove)
        self.cancel.setFocus()
        actions.preview_removal(self._show)

    def _show(self, removal: Removal) -> None:
        self._message.setText("\n".join(f"•  {line}" for line in removal.message))
        self._kept.setText(removal.warning)
        self.remove.setEnabled(True)
        self.adjustSize()
