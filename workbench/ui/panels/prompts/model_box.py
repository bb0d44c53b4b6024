"""The model that is asked, and the options of its backend."""

from __future__ import annotations

from dataclasses import replace

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.base.options import Option
from workbench.ui.panels.prompts.draft import PromptDraft
from workbench.ui.panels.prompts.model_state import ModelState
from workbench.ui.panels.prompts.parts import Part
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.form import Form
from workbench.ui.widgets.layout import column, layout_of
from workbench.ui.widgets.layout import fill as fill_with

TEACHING = _("{model} is a small teaching model. Expect scores far below those of fine-tuning.")


class ModelBox(Part):
    def __init__(self, draft: PromptDraft, state: ModelState):
        super().__init__()
        self.draft, self.state, self.states = draft, state, (draft, state)
        self._model = combo(name=_("Model"))
        self._model.activated.connect(lambda _i: state.choose(self._model.currentData()))
        self._form = Form(())
        self.options = column(self._form)
        self._form_of: tuple[Option, ...] = ()  # the options that the form shows
        self.options.hide()
        self.teaching = Callout("", "warn")
        model = TitledField(_("Model"), self._model)
        fill_with(self, model, self.options, self.teaching, gap=12)

    def render_part(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "models", "unavailable", "model", "backend"):
            self._show_models()
            self.teaching.set(TEACHING.format(model=state.key) if state.teaching else "")
            self._show_options()
        elif concerns(fields, "options") and dict(self.draft.spec.options) != self._form.values():
            self._form.set_values(self.draft.spec.options)

    def _show_models(self) -> None:
        """All models; below them, disabled, the backends of plugins that failed."""
        state = self.state
        failed = {(backend.backend,): backend for backend in state.unavailable}  # no key of a model
        message = _("{backend}: failed")
        items: list[tuple[object, str]] = [(model.key, model.title) for model in state.models]
        items += [(key, message.format(backend=backend.title)) for key, backend in failed.items()]
        refused = {key: backend.reason for key, backend in failed.items()}
        fill(self._model, items, state.key, refused=refused)

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
