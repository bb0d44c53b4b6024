"""The model that is asked: a card for each, and the options of its backend."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QRadioButton, QVBoxLayout

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.base.options import Option
from workbench.ui.panels.prompts.draft import PromptDraft
from workbench.ui.panels.prompts.model_state import ModelState
from workbench.ui.panels.prompts.parts import Part
from workbench.ui.panels.prompts.server_dialogs import ServerDialog
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.form import Form
from workbench.ui.widgets.controls.words import Elided, call, words
from workbench.ui.widgets.layout import card, clear, column, layout_of, row, scrolled
from workbench.ui.widgets.layout import fill as fill_with

if TYPE_CHECKING:
    from workbench.operations.prompts.prompt_models import AskableModel, Unavailable

TEACHING = _("{model} is a small teaching model. Expect scores far below those of fine-tuning.")
MOST_CARDS = 4  # that are visible without scrolling
CARD_HEIGHT = 58  # pixels at 100%


class ModelCard(QFrame):
    """A model: its name, where it runs and what it can do. A click anywhere selects it."""

    chosen = Signal()

    def __init__(self, title: str, where: str, about: str, *, tip: str = "", usable: bool = True):
        super().__init__()
        self.radio = QRadioButton(escaping.menu_text(title))
        self.radio.setEnabled(usable)
        self.radio.clicked.connect(lambda _on: self.chosen.emit())
        call(self.radio, title, "; ".join(filter(None, (where, about, tip))))
        place, can = Elided(where, "small", "muted"), Elided(about, "caption", "muted")
        for part in (self, self.radio):
            escaping.set_tip(part, tip)
        below = row(can, margins=(26, 0, 0, 0))
        self._whole = card(row(self.radio, (place, 1)), below, gap=2, margins=(12, 8, 12, 8))
        self.radio.toggled.connect(self._show_selected)
        place.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        fill_with(self, self._whole)

    def _show_selected(self, selected: bool) -> None:
        self._whole.setProperty("selected", selected)
        self._whole.style().unpolish(self._whole)
        self._whole.style().polish(self._whole)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.radio.isEnabled():
            self.radio.setFocus()
            self.radio.click()
        super().mousePressEvent(event)


class ModelBox(Part):
    def __init__(self, draft: PromptDraft, state: ModelState):
        super().__init__()
        self.draft, self.state, self.states = draft, state, (draft, state)
        self._group = QButtonGroup(self)
        self._cards: dict[str, ModelCard] = {}  # by the key of their models
        self._cards_of: object = None
        holder = QFrame()
        self._list = QVBoxLayout(holder)
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(6)
        self._area = scrolled(holder)
        self._edit = Button(
            _("Edit server…"), "settings", "quiet", small=True, on=self._edit_server
        )
        add = Button(_("Add a server…"), "plus", "quiet", small=True, on=self._add_server)
        heading = words(_("Model"), "small", "muted", weight=500)
        self._form = Form(())
        self.options = column(self._form)
        self._form_of: tuple[Option, ...] = ()  # the options that the form shows
        self.options.hide()
        self.teaching = Callout("", "warn")
        fill_with(
            self,
            row(heading, None, self._edit, add),
            self._area,
            self.options,
            self.teaching,
            gap=8,
        )

    def render_part(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "models", "unavailable", "model", "backend"):
            self._show_models()
            self.teaching.set(TEACHING.format(model=state.key) if state.teaching else "")
            self._show_options()
        elif concerns(fields, "options") and dict(self.draft.spec.options) != self._form.values():
            self._form.set_values(self.draft.spec.options)

    def card(self, key: str) -> ModelCard:
        return self._cards[key]

    def _show_models(self) -> None:
        """All models; below them, disabled, the backends of plugins that failed."""
        state = self.state
        if self._cards_of != (state.models, state.unavailable):
            self._cards_of = state.models, state.unavailable
            self._make_cards()
        self._edit.setVisible(state.server is not None)
        if (selected := self._cards.get(state.key)) is not None:
            selected.radio.setChecked(True)
            self._area.ensureWidgetVisible(selected)

    def _make_cards(self) -> None:
        had_focus = any(it.radio.hasFocus() for it in self._cards.values())
        for model_card in self._cards.values():
            self._group.removeButton(model_card.radio)
        clear(self._list)
        self._cards = {model.key: self._card_of(model) for model in self.state.models}
        for model_card in (*self._cards.values(), *map(self._failed, self.state.unavailable)):
            self._list.addWidget(model_card)
        self._list.addStretch(1)
        count = len(self._cards) + len(self.state.unavailable)
        self._area.setFixedHeight(theme.px(min(count, MOST_CARDS) * (CARD_HEIGHT + 6)))
        if had_focus and (selected := self._cards.get(self.state.key)) is not None:
            selected.radio.setFocus()

    def _card_of(self, choice: AskableModel) -> ModelCard:
        model_card = ModelCard(
            choice.title,
            choice.model.where or _("on this computer"),
            _("can: {abilities}", abilities=self.state.abilities(choice)),
            tip=self.state.reasons(choice),
        )
        self._group.addButton(model_card.radio)
        model_card.chosen.connect(lambda: self.state.choose(choice.key))
        return model_card

    def _failed(self, backend: Unavailable) -> ModelCard:
        title = _("{backend}: failed", backend=backend.title)
        return ModelCard(title, "", backend.reason, tip=backend.reason, usable=False)

    def _add_server(self) -> None:
        ServerDialog(self.window(), self.state.server_state(None)).exec()

    def _edit_server(self) -> None:
        ServerDialog(self.window(), self.state.server_state(self.state.server)).exec()

    def _show_options(self) -> None:
        """Fields for the options of the model's backend, rebuilt when these change."""
        choice, draft = self.state.choice, self.draft
        options = choice.options if choice else ()
        if options == self._form_of:
            return
        self._form_of = options
        layout_of(self.options).removeWidget(self._form)
        self._form.deleteLater()
        ungrouped = [replace(option, group="") for option in options]
        self._form = Form(ungrouped, draft.spec.options)
        self._form.changed.connect(lambda _name: draft.change(options=self._form.values()))
        layout_of(self.options).addWidget(self._form)
        self.options.setVisible(bool(options))
