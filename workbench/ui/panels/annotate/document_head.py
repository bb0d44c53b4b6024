"""The line above the text: key, split and states of the document, its units, undo and steps."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QLayout, QMenu, QSizePolicy, QVBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.text.sentences import WHOLE
from workbench.ui.panels.annotate.units import TITLES
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.chip import Chip
from workbench.ui.widgets.controls.words import Elided
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import TurningRow, row

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.session import DocumentSession
    from workbench.ui.panels.annotate.state import Desk


STATE_TONES = {"submitted": "good", "draft": "warn", "discarded": "bad", "pending": ""}
SIDE, GAP = 24, 10  # pixels beside and between the parts
BUTTON_GAP = 6  # pixels between buttons
KEY = 96  # pixels at 100% that a long key keeps
STEPS = range(4)  # nothing is shortened; the states; the units, too; no buttons for undo and redo


class LayersButton(Button):
    """The layers are checked in its menu. short: without a text."""

    def __init__(self, state: Desk, parent: QWidget, *, short: bool = False) -> None:
        self._menu = QMenu(parent)
        super().__init__(
            "" if short else _("Layers"),
            "tags",
            small=short,
            menu=self._menu,
            name=_("Layers"),
            tip=_("Select layers to label"),
        )
        self._state = state
        self._menu.aboutToShow.connect(self.show_layers)

    def show_layers(self) -> None:
        """Fill the menu again."""
        state = self._state
        self._menu.clear()
        for layer in state.session.layers:
            action = QAction(escaping.menu_text(layer.name), self._menu)
            action.setCheckable(True)
            action.setChecked(layer.id not in state.session.off)
            action.toggled.connect(lambda on, id=layer.id: state.session.switch_layer(id, on))
            self._menu.addAction(action)
        self._menu.addSeparator()
        tell = QAction(_("&Say which layers are submitted without labels"), self._menu)
        tell.setCheckable(True)
        tell.setChecked(state.submission.tells_empty)
        tell.toggled.connect(state.submission.tell_empty)
        self._menu.addAction(tell)


class UnitButton(Button):
    """Says which unit of how many is in focus; its menu chooses the kind of units."""

    def __init__(self, session: DocumentSession, parent: QWidget) -> None:
        self._menu = QMenu(parent)
        super().__init__(_("Whole document"), small=True, menu=self._menu)
        self._session = session
        self._menu.setAccessibleName(_("What is labelled at a time"))
        self._menu.aboutToShow.connect(self._fill)

    def render(self, *, short: bool = False) -> None:
        """`short`: in a narrow column."""
        doc, units = self._session.doc, self._session.units
        self.setVisible(doc is not None and doc.document.form == 1)
        whole = _("Whole") if short else _("Whole document")
        self.set_text(units.message or (whole if units.kind == WHOLE else _(TITLES[units.kind])))
        keys = _("Enter: next, Alt+Up and Alt+Down: previous and next")
        escaping.set_tip(self, keys if units.ranges else _("Label by sentence or paragraph"))

    def _fill(self) -> None:
        units, menu = self._session.units, self._menu
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
        split.setEnabled(self._session.can_edit)
        split.triggered.connect(self._split)

    def _split(self) -> None:
        from workbench.ui.dialogs import parts

        if self._session.document_id is not None:
            parts.ask(self.window(), self._session.context, [self._session.document_id])

    def _choose(self, kind: str, _checked: bool = False) -> None:
        self._session.units.choose_kind(kind)


class DocumentHead(QWidget):
    """The head of a document. In a narrow column, what is also shown elsewhere is shortened or
    hidden before the key.
    """

    def __init__(self, state: Desk) -> None:
        super().__init__()
        self._state = state
        self._key = Elided("", "ui", weight=600, mode=Qt.TextElideMode.ElideMiddle)
        self._key.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._split, self.states = Chip(""), Chip("")
        self._unit = UnitButton(state.session, self)
        self.layers = LayersButton(state, self, short=True)  # in place of that in the header
        self.layers.hide()
        self._undo = icon_button("undo-2", _("Undo"), lambda: state.context.app.undo())
        self._redo = icon_button("redo-2", _("Redo"), lambda: state.context.app.redo())
        back = icon_button("chevron-left", _("Previous document"), lambda: state.queue.step(-1))
        on = icon_button("chevron-right", _("Next document"), lambda: state.queue.step(1))
        steps = (self._undo, self._redo, back, on)
        self._parts = (self._split, self.states, self.layers, self._unit, *steps)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self.setMinimumWidth(1)  # it follows the column, in `_fit`
        layout.addWidget(
            row(
                (
                    TurningRow(
                        (row(self._key, self._split, self.states, None, gap=GAP), 1),
                        flow(None, self.layers, self._unit, *steps, gap=BUTTON_GAP),
                        gap=GAP,
                    ),
                    1,
                ),
                margins=(SIDE, 8, SIDE, 8),
            )
        )

    def render(self) -> None:
        state = self._state
        document = state.session.doc.document if state.session.doc else None
        self._key.setText(document.key if document else "")
        self._key.setMaximumWidth(self._width_of_key())
        self._split.setVisible(bool(document and document.split))
        if document and document.split:
            self._split.set(term(document.split))
        escaping.set_tip(self.states, state.submission.states_text)
        for part in (self._undo, self._redo):
            part.setEnabled(state.session.can_edit)
        self._fit()

    def show_layers(self, visible: bool) -> None:
        """Show the button that selects layers, while the header with the usual one is hidden."""
        self.layers.setVisible(visible)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():  # fitting may change the height
            self._fit()

    def _fit(self) -> None:
        step = next((step for step in STEPS if self._fits(step)), STEPS[-1])
        for part in (self._undo, self._redo):  # once, as each change lays out the buttons
            part.setVisible(step < STEPS[-1])

    def _fits(self, step: int) -> bool:
        """Shorten the words as in a step; whether there is room for all then."""
        state = self._state
        kind = state.session.state_of_document
        self.states.set(
            state.submission.states_short if not step else term(kind), tone=STATE_TONES[kind]
        )
        self._unit.render(short=step > 1)
        return self._needed(undo=step < STEPS[-1]) <= self.width()

    def _needed(self, *, undo: bool) -> int:
        pair = (self._undo, self._redo)
        widths = [
            part.sizeHint().width()
            for part in self._parts
            if (undo if part in pair else not part.isHidden())
        ]
        key = min(self._width_of_key(), theme.px(KEY))
        return key + sum(widths) + GAP * (len(widths) + 1) + 2 * SIDE

    def _width_of_key(self) -> int:
        return QFontMetrics(theme.font("ui", 600)).horizontalAdvance(self._key.text()) + 4
