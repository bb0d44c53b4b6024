"""The prompt that is being edited: its settings, and the layer that it answers.

The parts of the page share it: a box reads what it shows from `spec` and changes it with `change`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.base.events import State
from workbench.operations.prompts import prompt_fill, prompt_reading
from workbench.operations.schema import labels
from workbench.prompting.spec import PromptSpec
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.text.labels import Layer
    from workbench.ui.panel import PanelContext


class PromptDraft(State):
    """`changed` names the settings that differ, such as "template", and "spec" with any of them.

    layers: name and number of submitted documents of each layer that a prompt can answer. take:
    takes over what was just typed; the box of the template sets it.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.layers: tuple[tuple[str, int], ...] = ()
        self._spec = PromptSpec(template="", model="")
        self.take: Callable[[], None] = lambda: None

    @property
    def spec(self) -> PromptSpec:
        return replace(self._spec, device=self.context.settings.device)

    @property
    def layer(self) -> Layer | None:
        return self._layer(self._spec.layer)

    def _layer(self, name: str) -> Layer | None:
        layers = labels.layers(self.project)
        return next((layer for layer in layers if layer.name == name), None)

    def load_layers(self) -> dict[str, Any]:
        """Read the layers again. Returns the settings to change: the layer if it is gone."""
        layers = tuple(
            (layer.name, count) for layer, count in prompt_fill.fitting_layers(self.project)
        )
        self.update(layers=layers)
        names = [name for name, _count in layers]
        layer = self._spec.layer
        return {} if layer in names else {"layer": next(iter(names), "")}

    def change(self, **settings: Any) -> bool:
        """Change settings of the prompt. Returns whether any differs from before.

        About another layer, the form of the answer becomes one that fits.
        """
        spec = replace(self._spec, **settings)
        if "layer" in settings:
            layer = self._layer(spec.layer)
            spec = replace(spec, answer=prompt_reading.fitting_answer(layer, spec.answer))
        return self.load(spec)

    def load(self, spec: PromptSpec) -> bool:
        """Edit another prompt, such as an earlier version. Returns whether it differs."""
        before, self._spec = self._spec, spec
        names = {
            name
            for name in spec.__dataclass_fields__
            if getattr(before, name) != getattr(spec, name)
        }
        if names:
            self.changed.emit(frozenset({"spec", *names}))
        return bool(names)
