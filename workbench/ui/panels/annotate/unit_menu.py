"""The button above the text: whether documents are labelled whole, by paragraph or by sentence."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu, QWidget

from workbench.base.i18n import _
from workbench.text.sentences import WHOLE
from workbench.ui.panels.annotate.units import TITLES
from workbench.ui.style import escaping
from workbench.ui.widgets.button import Button

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.actions import AnnotateActions


class UnitButton(Button):
    """Says which unit of how many is in focus; its menu chooses the kind of units."""

    def __init__(self, state: AnnotateActions, parent: QWidget) -> None:
        self._menu = QMenu(parent)
        super().__init__(_("Whole document"), small=True, menu=self._menu)
        self._state = state
        self._menu.setAccessibleName(_("What is labelled at a time"))
        self._menu.aboutToShow.connect(self._fill)

    def render(self, *, short: bool = False) -> None:
        """`short`: in a narrow column."""
        state, units = self._state, self._state.units
        self.setVisible(state.doc is not None and state.doc.document.form == 1)
        whole = _("Whole") if short else _("Whole document")
        self.set_text(units.message or (whole if units.kind == WHOLE else _(TITLES[units.kind])))
        keys = _("Enter: next, Alt+Up and Alt+Down: previous and next")
        escaping.set_tip(self, keys if units.ranges else _("Label by sentence or paragraph"))

    def _fill(self) -> None:
        units, menu = self._state.units, self._menu
        menu.clear()
        for kind, title in TITLES.items():
            action = menu.addAction(_(title))
            action.setCheckable(True)
            action.setChecked(kind == units.kind)
            action.triggered.connect(partial(self._choose, kind))
        menu.addSeparator()
        free = menu.addAction(_("Spans may cross the ends"))
        free.setCheckable(True)
        free.setChecked(units.free)
        free.setEnabled(bool(units.ranges))
        free.triggered.connect(units.set_free)
        menu.addSeparator()
        split = menu.addAction(_("Split the document…"))
        split.setEnabled(self._state.can_edit)
        split.triggered.connect(self._split)

    def _split(self) -> None:
        from workbench.ui.dialogs import parts

        if self._state.document_id is not None:
            parts.ask(self.window(), self._state.context, [self._state.document_id])

    def _choose(self, kind: str, _checked: bool = False) -> None:
        self._state.units.choose_kind(kind)
