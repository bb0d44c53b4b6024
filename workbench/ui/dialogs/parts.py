"""Split documents into sentences or paragraphs: what becomes of them is shown before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.base.events import ALL
from workbench.base.i18n import _
from workbench.text.sentences import PARAGRAPH, SENTENCE
from workbench.ui.dialogs.parts_state import PartsState
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext


class PartsDialog(Dialog):
    """Accepted if the documents are to be split."""

    def __init__(self, parent: QWidget, state: PartsState) -> None:
        super().__init__(
            parent,
            _("Split documents"),
            _(
                "Each part becomes a document with the labels in it, so that it has a class of its "
                "own and is queued, split and counted by itself. Annotate shows the text around "
                "it. The parts can be joined again."
            ),
            width=520,
        )
        self._state = state
        self.unit = Segments(
            (SENTENCE, _("Sentences")), (PARAGRAPH, _("Paragraphs")), name=_("Parts")
        )
        self.unit.chosen.connect(state.set_unit)
        self._message = words("", "ui", wrap=True)
        self._message.setMinimumHeight(3 * self._message.fontMetrics().lineSpacing())
        self.put(self.unit, self._message)
        self._split = Button(_("Split documents"), kind="primary", on=self.accept)
        self._split.setDefault(True)
        self.end(None, Button(_("Cancel"), on=self.reject), self._split)
        state.listen(state.changed, self._render)
        self._render(ALL)

    def _render(self, _fields: frozenset[str]) -> None:
        self._message.setText(self._state.message)
        self._split.setEnabled(self._state.ready)


def ask(parent: QWidget, context: PanelContext, ids: Sequence[int]) -> None:
    """Show the dialog for these documents, and split them if the user agrees."""
    state = PartsState(context, ids)
    if PartsDialog(parent, state).exec():
        state.split()
    state.close()
