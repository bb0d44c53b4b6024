"""The models that a prompt can be sent to, and which one is selected."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.prompts import prompt_models, prompt_reading, servers
from workbench.ui.panels.prompts.server_state import ServerState

if TYPE_CHECKING:
    from workbench.operations.prompts.prompt_models import AskableModel, Unavailable
    from workbench.operations.prompts.prompt_reading import AnswerForm
    from workbench.prompting.servers import Server
    from workbench.prompting.spec import PromptSpec
    from workbench.ui.panels.prompts.draft import PromptDraft

STARTERS = ("starter-bert", "starter-gpt")


class ModelState(State):
    """models: of all backends. unavailable: backends of plugins that failed."""

    def __init__(self, draft: PromptDraft) -> None:
        super().__init__()
        self.draft = draft
        self.models: tuple[AskableModel, ...] = ()
        self.unavailable: tuple[Unavailable, ...] = ()

    def load(self) -> dict[str, Any]:
        """Read the models again. Returns the settings to change: a model if the old one is gone."""
        offer = prompt_models.offer(self.draft.context.settings)
        self.update(models=offer.choices, unavailable=offer.unavailable)
        if self.choice is not None:
            return {}
        keys = [model.key for model in self.models]
        return self.settings(STARTERS[0] if STARTERS[0] in keys else next(iter(keys), ""))

    @property
    def choice(self) -> AskableModel | None:
        """The selected model; None if it cannot be asked."""
        spec = self.draft.spec
        selected = spec.backend, spec.model, spec.model_name
        return next(
            (it for it in self.models if (it.backend, it.model.path, it.model.name) == selected),
            None,
        )

    def refuses(self, form: AnswerForm, *, constrained: bool = False) -> str:
        """Why the selected model cannot answer in a form about the layer, "" if it can."""
        draft, model = self.draft, self.choice.model if self.choice else None
        chat = draft.spec.chat
        return prompt_reading.unfit(form, draft.layer, model, chat=chat, constrained=constrained)

    @property
    def problem(self) -> str:
        """Why the selected model cannot answer the prompt, "" if it can."""
        answer = self.draft.spec.answer
        return self.refuses(prompt_reading.form(answer), constrained=answer.constrained)

    @property
    def key(self) -> str:
        return self.choice.key if self.choice else ""

    @property
    def teaching(self) -> bool:
        """Whether the model is one of the small teaching models included with the application."""
        return self.key in STARTERS

    def choose(self, key: str) -> None:
        """Select another model; options are kept if the backend is the same."""
        self.draft.change(**self.settings(key))

    def found(self, spec: PromptSpec) -> PromptSpec:
        """Settings with the model that they name; with the selected one if there is none here."""
        known = [it for it in self.models if it.backend == spec.backend]
        same = [it for it in known if it.model.path == spec.model]
        choice = next(iter(same or [it for it in known if it.model.name == spec.model_name]), None)
        if choice is not None:
            pickled = choice.model.pickled
            return replace(spec, model=choice.model.path, allow_pickle=pickled)
        own = self.draft.spec
        if spec.model_name:
            message = _("Model {name} is not available here.", name=spec.model_name)
            self.draft.context.note(message)
        return replace(
            spec,
            backend=own.backend,
            model=own.model,
            model_name=own.model_name,
            allow_pickle=own.allow_pickle,
            options=own.options,
        )

    def abilities(self, choice: AskableModel) -> str:
        """What a model can do, in words."""
        return servers.abilities(choice.model.can) or _("not tested")

    def reasons(self, choice: AskableModel) -> str:
        """Why a model lacks what others can do; "" if it can do everything."""
        return "\n".join(dict.fromkeys(choice.model.cannot.values()))

    # ---------------------------------------------------------------- servers

    @property
    def server(self) -> Server | None:
        """The server of the selected model, None for another model."""
        path = self.draft.spec.model
        known = servers.listed(self.draft.context.settings)
        return next((it for it in known if path.startswith(f"{it.address}#")), None)

    def server_state(self, server: Server | None) -> ServerState:
        """For a dialog: add a server, or edit one."""
        state = ServerState(self.draft.context, server, lambda: self._servers_changed(state))
        return state

    def _servers_changed(self, state: ServerState) -> None:
        """Read the models again, and select the one that was tested."""
        self.draft.change(**self.load())
        tested = state.server
        for choice in self.models:
            if tested is not None and choice.model.path == f"{tested.address}#{state.model}":
                self.choose(choice.key)

    def settings(self, key: str) -> dict[str, Any]:
        """The fields of a prompt that name a model."""
        choice = next((model for model in self.models if model.key == key), None)
        if choice is None:
            return {"model": "", "model_name": "", "options": {}, "allow_pickle": False}
        spec = self.draft.spec
        return {
            "backend": choice.backend,
            "model": choice.model.path,
            "model_name": choice.model.name,
            "allow_pickle": choice.model.pickled,
            "options": spec.options if choice.backend == spec.backend else {},
        }
