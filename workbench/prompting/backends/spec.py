"""Backends as the window and the command line see them. No torch here.

A backend answers prompts. Its light half, a `BackendInfo`, is named `info` in the index: it says
which models can be asked and how long a prompt may be. The heavy half
(`workbench.prompting.backends.base.Backend`) runs in the worker and scores prompts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.options import Option, complete
from workbench.base.registry import registry
from workbench.models.spec import ModelInfo
from workbench.text.segment import words

DEFAULT = "local"  # the backend of runs that name none
JOB = "workbench.prompting.backends.serve:score_prompts"
HOST = "workbench.prompting.backends.serve:open_scorer"


@dataclass(frozen=True)
class PromptModel:
    """A model that can be asked.

    name: what people choose it by, in the window and with `--model`. path: what the backend finds
    it by, such as a folder, an address or an identifier. title: for people, the name if "".
    pickled: its weights run code when they are read, and the user has allowed that.
    """

    name: str
    path: str
    title: str = ""
    pickled: bool = False


@dataclass(frozen=True)
class AtHand:
    """The models of the Models page. `find(name)` takes folders too; it raises ModelError."""

    cards: tuple[ModelInfo, ...]
    find: Callable[[str], ModelInfo]


@dataclass(frozen=True)
class Measure:
    """How long prompts are to a model.

    count: texts → units of each; over `limit`, any number above it. limit: the most units of one
    prompt, answer included. mask: what hides a word, "" if the model knows no such word; it is
    one of the texts without content that calibration asks about.
    """

    count: Callable[[Sequence[str]], Sequence[int]]
    limit: int
    mask: str = ""


class BackendInfo(ABC):
    """The light half of a backend. Its modules import nothing heavy; the window uses them.

    options: settings that the user can change; the heavy half gets their values. limit and mask:
    see `Measure`.
    """

    id: str
    title: str
    options: tuple[Option, ...] = ()
    limit: int = 2000
    mask: str = ""

    @abstractmethod
    def models(self, at_hand: AtHand) -> Sequence[PromptModel]:
        """The models to choose from, names unique. Called by the window: it must return at once."""

    def find(self, name: str, at_hand: AtHand) -> PromptModel:
        """The model that a person named. Raises WorkbenchError, such as SpecError, for none.

        A backend that can ask models which it does not list overrides this.
        """
        known = self.models(at_hand)
        for one in known:
            if one.name == name:
                return one
        raise SpecError(
            _("The backend {backend} has no model {name!r}.").format(backend=self.id, name=name),
            hint=_("Known: {names}.").format(names=", ".join(one.name for one in known) or "–"),
        )

    def measure(self, model: PromptModel, options: Mapping[str, Any]) -> Measure:
        """How long prompts are to `model`; `options` has every option's value. For any thread.

        As long as nothing better is known, words and punctuation marks are counted. Raises
        WorkbenchError if the model cannot be asked.
        """
        return Measure(count_words, self.limit, self.mask)


def count_words(texts: Sequence[str]) -> list[int]:
    """Words, numbers and punctuation marks of each text; letters of scripts without spaces."""
    return [len(words(text)) for text in texts]


# ---------------------------------------------------------------- the backends of the registry


def all_backends() -> tuple[BackendInfo, ...]:
    return registry().infos("backend")


def info(backend: str) -> BackendInfo:
    """Raises SpecError listing the backends that exist, PluginError if its code fails."""
    known = registry().ids("backend")
    if backend not in known:
        raise SpecError(
            _("There is no prompt backend {backend!r}.").format(backend=backend),
            hint=_("Known: {known}.").format(known=", ".join(known)),
        )
    return registry().info("backend", backend)


def options(backend: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Every option of a backend with its value, those not asked for at their defaults.

    Raises SpecError for an unknown option or a value that does not fit.
    """
    return complete(info(backend).options, asked, owner=backend)
