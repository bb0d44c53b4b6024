"""What a model says about itself without being loaded, and what reads that for each family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.i18n import N_

if TYPE_CHECKING:
    from workbench.runtime.inputs import Preparer

# What an encoder can give to a task (`TaskInfo.needs`) or an inspector, in words.
GIVES = {
    "states": N_("hidden states"),
    "attention": N_("attention"),
    "masked_lm": N_("predictions of masked words"),
    "next_lm": N_("predictions of next words"),
}


@dataclass(frozen=True)
class ModelInfo:
    """The card of a model. Numbers are 0 and texts "" where they are not known.

    family: the id in the registry of what loads it, "" where nothing can.
    architecture: the kind of network as its authors name it (`model_type`): bert, gpt2 …
    gives: to tasks and inspectors, keys of GIVES or words of a plugin.
    problems: empty for a usable model. untrusted: the weights are pickled and the user has not
    confirmed them, which is a problem too. files: name and bytes, largest first.
    labels: of a model that already has a head. projections: linear modules that compute queries
    and values, each the end of a full name; empty where not known. tokenizer: the file it is read or converted from.
    origin: starter, folder, cache or run. downloaded: into the cache by Glossbench, which may
    delete it again.
    learning_rate: peak that suits the model, 0 where the task and the width decide.
    """

    name: str
    path: str
    family: str = ""
    architecture: str = ""
    parameters: int = 0
    layers: int = 0
    width: int = 0
    vocabulary: int = 0
    max_length: int = 0
    licence: str = ""
    size_bytes: int = 0
    gives: tuple[str, ...] = ()
    dtype: str = ""
    pickled: bool = False
    labels: tuple[str, ...] = ()
    projections: tuple[str, ...] = ()
    origin: str = "folder"
    problems: tuple[str, ...] = ()
    untrusted: bool = False
    tokenizer: str = ""
    files: tuple[tuple[str, int], ...] = ()
    downloaded: bool = False
    learning_rate: float = 0.0

    @property
    def usable(self) -> bool:
        return not self.problems

    @property
    def only_untrusted(self) -> bool:
        """Whether nothing but the user's confirmation is missing."""
        return self.untrusted and len(self.problems) == 1

    def to_json(self) -> dict:
        """The card for other programs, where `family` is the architecture: bert, gpt2 …"""
        found = {one.name: _plain(getattr(self, one.name)) for one in fields(self)}
        del found["projections"]
        found["format"] = found.pop("family")
        found["family"] = found.pop("architecture")
        found["files"] = [{"name": name, "bytes": size} for name, size in self.files]
        return found


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


class Match(IntEnum):
    """How sure a family is that a path is a model of its own.

    LIKELY: it has the family's files, but something in them is missing or unknown.
    """

    NO = 0
    LIKELY = 1
    SURE = 2


class FamilyInfo(ABC):
    """The light half of a family: imports nothing heavy, so that the window can list models.

    id: in the registry. title: for people. architectures: values of `model_type` in config.json that it loads.
    """

    id: str
    title: str
    architectures: frozenset[str] = frozenset()

    @abstractmethod
    def match(self, path: Path) -> Match:
        """Whether a file or folder is such a model; quick, as every listed path is asked."""

    @abstractmethod
    def read(self, path: Path, *, allow_pickle: bool) -> ModelInfo:
        """The card: all that `cards` does not fill in itself (name, origin, licence, files, family).

        What is wrong goes to `problems`, each a clause without a full stop.
        """

    @abstractmethod
    def preparer(self, path: Path) -> Preparer:
        """What turns texts into the model's inputs, from its folder or an exported one.

        Without torch, as exported folders are used without it. Raises ModelError where it is
        missing or damaged.
        """
