"""The prompt and its version."""

from __future__ import annotations

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panels.prompts.parts import Part
from workbench.ui.panels.prompts.prompt_state import PromptState
from workbench.ui.panels.prompts.templates import OWN
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.layout import fill as fill_with


class PromptBox(Part):
    def __init__(self, state: PromptState):
        super().__init__()
        self.state, self.states = state, (state,)
        self._known = combo(name=_("Templates"))
        self._known.activated.connect(lambda _i: state.choose(self._known.currentData()))
        fill_with(self, TitledField(_("Start from"), self._known, name=_("Templates")))

    def render_part(self, fields: frozenset[str]) -> None:
        if not concerns(fields, "known", "chosen"):
            return
        items = [(known.id, known.title) for known in self.state.known]
        if self.state.chosen == OWN:
            items.append((OWN, _("Edited. Saved in the project when it is run.")))
        fill(self._known, items, self.state.chosen)
