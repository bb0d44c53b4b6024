"""Backends as used by the window and the command line. Does not import torch.

A backend scores prompts. Its light part, a `BackendInfo`, is named `info` in the index: it lists
models and defines the maximum length of a prompt. The heavy part
(`workbench.prompting.backends.base.Backend`) runs in the worker and scores prompts.
"""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.options import Option, complete
from workbench.base.registry import contract_hint, registry
from workbench.models.spec import ModelInfo
from workbench.prompting.servers import Server
from workbench.prompting.spec import LOCAL
from workbench.text.segment import words

if TYPE_CHECKING:
    from workbench.runtime.chat_template import ChatTemplate

SCORE, GENERATE, CHAT = "score", "generate", "chat"
TOKEN_PROBABILITIES, SCHEMA, STREAM = "token-probabilities", "schema", "stream"
ABILITIES = (SCORE, GENERATE, CHAT, TOKEN_PROBABILITIES, SCHEMA, STREAM)
ABILITY_TITLES = {  # "can: chat, JSON schema"
    SCORE: N_("scores of labels"),
    GENERATE: N_("continued texts"),
    CHAT: N_("conversations"),
    TOKEN_PROBABILITIES: N_("token probabilities"),
    SCHEMA: N_("JSON schema"),
    STREAM: N_("streaming"),
}
DEFAULT = LOCAL  # the backend of runs that do not name one
JOB = "workbench.prompting.backends.serve:answer_prompts"
HOST = "workbench.prompting.backends.serve:open_backend"


@dataclass(frozen=True)
class PromptModel:
    """A model that can score prompts.

    name: the name in the window and for `--model`. path: the identifier for the backend, such as a
    folder or an address. title: display name, the name if "". pickled: its weights can execute
    code when they are loaded, and the user has allowed that. without: names of the backend's
    options that the model has no use for. can: a subset of ABILITIES; a form of answers names what
    it needs of them. where: where it runs, for display, such as the address of a server. cannot:
    ability → why the model lacks it. prices: of a million tokens of prompts and of replies, in a
    currency of the user's choice. context: maximum tokens of a prompt with its reply, 0 if unknown.
    """

    name: str
    path: str
    title: str = ""
    pickled: bool = False
    without: frozenset[str] = frozenset()
    can: frozenset[str] = frozenset((SCORE,))
    where: str = ""
    cannot: Mapping[str, str] = field(default_factory=dict, hash=False)
    prices: tuple[float, float] = (0.0, 0.0)
    context: int = 0


@dataclass(frozen=True)
class AtHand:
    """The models of the Models page, and the servers of the settings. `find(name)` also accepts
    folders; it raises ModelError.
    """

    cards: tuple[ModelInfo, ...]
    find: Callable[[str], ModelInfo]
    servers: tuple[Server, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptToken:
    """A token of a prompt: its text, its id, and whether it is reserved: it stands for no text."""

    text: str
    id: int
    reserved: bool = False


@dataclass(frozen=True)
class Measure:
    """How the length of prompts is measured for a model.

    count: texts → units of each; over `limit`, the result need not be exact. limit: maximum units
    per prompt, answer included. mask: the mask token, "" if the model has none; it is one of the
    content-free texts of calibration. tokens: the tokens of a prompt as the model receives it; the
    second argument is whether it is a conversation, whose chat template writes the reserved tokens.
    None if they are not known. chat: the chat template of the model, None without one. sends: as
    `count`, but exact, of a backend that has to send the texts to where the model is; it is used
    only if they may be sent there.
    """

    count: Callable[[Sequence[str]], Sequence[int]]
    limit: int
    mask: str = ""
    tokens: Callable[[str, bool], Sequence[PromptToken]] | None = None
    chat: ChatTemplate | None = None
    sends: Callable[[Sequence[str]], Sequence[int]] | None = None


class BackendInfo(ABC):
    """The light part of a backend. Its modules import nothing heavy; the window uses them.

    options: settings of the user; the heavy part gets their values. limit and mask: see `Measure`.
    """

    id: str
    title: str
    options: tuple[Option, ...] = ()
    limit: int = 2000
    mask: str = ""

    @abstractmethod
    def models(self, at_hand: AtHand) -> Sequence[PromptModel]:
        """Available models with unique names. Called by the window: it must return immediately."""

    def find(self, name: str, at_hand: AtHand) -> PromptModel:
        """The model with a name. Raises WorkbenchError, such as SpecError, if there is none.

        Override it in a backend that can use models which it does not list.
        """
        known = models(self, at_hand)
        for model in known:
            if model.name == name:
                return model
        raise SpecError(
            _("The backend {backend} has no model {name!r}.", backend=self.id, name=name),
            hint=_("Known: {names}.", names=", ".join(model.name for model in known) or "–"),
        )

    def measure(self, model: PromptModel, options: Mapping[str, Any]) -> Measure:
        """How prompts for `model` are measured; `options` is complete. Thread-safe.

        By default, words and punctuation marks are counted. Raises WorkbenchError if the model
        cannot be used.
        """
        return Measure(count_words, self.limit, self.mask)

    def address(self, path: str) -> str:
        """Where the texts of prompts are sent for the model of `path`, "" if they stay on this
        computer. The user has to agree before a project sends texts there.
        """
        return ""


def count_words(texts: Sequence[str]) -> list[int]:
    """Words, numbers and punctuation marks of each text; letters of scripts without spaces."""
    return [len(words(text)) for text in texts]


# ---------------------------------------------------------------- the backends of the registry


def info(backend: str) -> BackendInfo:
    """Raises SpecError listing the backends that exist, PluginError if its code fails."""
    missing = _("There is no prompt backend {backend!r}.", backend=backend)
    result: BackendInfo = registry().info("backend", backend, missing=missing)
    return result


def models(backend: BackendInfo, at_hand: AtHand) -> tuple[PromptModel, ...]:
    """The models that a backend lists. Raises SpecError if they are not PromptModels."""
    listed = backend.models(at_hand)
    if isinstance(listed, Sequence) and all(isinstance(model, PromptModel) for model in listed):
        return tuple(listed)
    message = _("`models` of the prompt backend {name} returned {value}, expected PromptModels.")
    message = message.format(name=backend.id, value=reprlib.repr(listed))
    raise SpecError(message, hint=contract_hint(backend.id))


def measure(backend: str, model: PromptModel, options: Mapping[str, Any]) -> Measure:
    """How prompts are measured. Raises SpecError if the backend does not return a Measure."""
    result = info(backend).measure(model, options)
    if isinstance(result, Measure):
        return result
    message = _("`measure` of the prompt backend {name} returned {kind}, expected a Measure.")
    message = message.format(name=backend, kind=type(result).__name__)
    raise SpecError(message, hint=contract_hint(backend))


def options(backend: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Every option of a backend with its value, by default its default value.

    Raises SpecError for an unknown option or a value that does not fit.
    """
    return complete(info(backend).options, settings, owner=backend)
