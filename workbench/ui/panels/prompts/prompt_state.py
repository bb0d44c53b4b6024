"""Which prompt is edited: the templates that ship with the application and those of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.base.events import State
from workbench.operations.prompts import prompt
from workbench.operations.schema import labels
from workbench.ui.panels.prompts.templates import OWN, Known, known_templates, unused_name

if TYPE_CHECKING:
    from workbench.ui.panels.prompts.draft import PromptDraft


class PromptState(State):
    """known: the templates to start from. chosen: id of the one that is edited, OWN if none."""

    def __init__(self, draft: PromptDraft) -> None:
        super().__init__()
        self.draft, self.project = draft, draft.project
        self.known: tuple[Known, ...] = ()
        self.chosen = ""
        self.listen(draft.changed, self._draft_changed)

    def load(self, layer: str) -> dict[str, Any]:
        """Read the templates again. Returns the settings to change: a template if there is none."""
        self.update(known=known_templates(self.project))
        source = self.draft.spec.template
        self.update(chosen=self._id_of(source))
        return {} if source else {"template": self._default(layer)}

    def choose(self, id: str) -> None:
        template = next((known for known in self.known if known.id == id), None)
        if template is not None:
            self.draft.change(template=template.source)

    def choose_layer(self, layer: str) -> None:
        """Answer another layer, with a template that fits unless one was written."""
        untouched = self.draft.spec.template in {
            known.source for known in self.known if known.builtin
        }
        template = {"template": self._default(layer)} if untouched else {}
        self.draft.change(layer=layer, **template)

    def keep(self) -> None:
        """Save the template in the project if it was edited."""
        if self.chosen != OWN:
            return
        name, source = unused_name(self.known), self.draft.spec.template
        self.draft.context.attempt(lambda: prompt.save(self.project, name, source))

    def _default(self, layer: str) -> str:
        """The source of the first template that fits a layer."""
        layers = labels.layers(self.project)
        return prompt.default_template(next((it for it in layers if it.name == layer), None))

    def _id_of(self, source: str) -> str:
        return next((known.id for known in self.known if known.source == source), OWN)

    def _draft_changed(self, fields: frozenset[str]) -> None:
        if "template" in fields:
            self.update(chosen=self._id_of(self.draft.spec.template))
