"""Which models can be asked with a prompt, by which backend, and with which options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.base import plugin_failures
from workbench.base import settings as settings_file
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.manifest import BUILTIN
from workbench.base.options import Option
from workbench.base.registry import registry
from workbench.base.settings import Settings
from workbench.operations.models import installed as models
from workbench.prompting import servers
from workbench.prompting.backends import spec as backends
from workbench.prompting.backends.spec import AtHand, BackendInfo, PromptModel
from workbench.prompting.spec import PromptSpec

DEFAULT = backends.DEFAULT


@dataclass(frozen=True)
class AskableModel:
    """A model with the backend that asks it. `key` is its name, with the backend's id if two models
    have the name; `options` are those that the backend takes for it.
    """

    key: str
    title: str
    backend: str
    model: PromptModel
    options: tuple[Option, ...] = field(default=(), hash=False)


@dataclass(frozen=True)
class Unavailable:
    """A backend of a plugin that cannot list its models, and why."""

    backend: str
    title: str
    reason: str


@dataclass(frozen=True)
class PromptModelChoice:
    """The models that can be asked, in the order of the registry, and the backends that failed."""

    choices: tuple[AskableModel, ...]
    unavailable: tuple[Unavailable, ...] = ()


def offer(settings: Settings | None = None) -> PromptModelChoice:
    """The models of all backends. If a plugin's code fails, its backend is unavailable."""
    at_hand = _at_hand(settings)
    choices: dict[str, AskableModel] = {}
    failed: list[Unavailable] = []
    for entry in registry().all("backend"):
        try:
            info = backends.info(entry.id)
            models = backends.models(info, at_hand)
        except Exception as error:
            if entry.source == BUILTIN:
                raise
            failed.append(Unavailable(entry.id, _(entry.title), _reason(error)))
            continue
        for model in models:
            key = model.name if model.name not in choices else f"{model.name} · {info.id}"
            options = tuple(option for option in info.options if option.name not in model.without)
            choices.setdefault(key, AskableModel(key, _title(info, model), info.id, model, options))
    return PromptModelChoice(tuple(choices.values()), tuple(failed))


def _reason(error: Exception) -> str:
    return str(plugin_failures.of(error, once=True) or error)


def _title(info: BackendInfo, model: PromptModel) -> str:
    message = _("{name} ({backend})", name=model.name, backend=_(info.title))
    return model.title or message


def find(backend: str, name: str, settings: Settings | None = None) -> PromptModel:
    """The model of a backend that a person named. Raises WorkbenchError naming the known ones."""
    return backends.info(backend).find(name, _at_hand(settings))


def of_spec(spec: PromptSpec, settings: Settings | None = None) -> PromptModel:
    """The model of a prompt: one that is listed, else a folder. Raises WorkbenchError."""
    try:
        return find(spec.backend, spec.model_name or spec.model, settings)
    except WorkbenchError:
        if spec.model in ("", spec.model_name):
            raise
        return find(spec.backend, spec.model, settings)


def options(backend: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Every option of a backend with its value. Raises SpecError where one does not fit."""
    return backends.options(backend, values)


def _at_hand(settings: Settings | None) -> AtHand:
    chosen = settings or settings_file.load()
    return AtHand(
        models.list(chosen),
        lambda name: models.find(name, chosen),
        servers.from_settings(chosen.servers),
    )
