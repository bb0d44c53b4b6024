"""The description of a model that was not loaded, and the class that reads it for a family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.text.segmenters import stored

if TYPE_CHECKING:
    from workbench.runtime.inputs import Preparer

# Outputs of an encoder for a task (`TaskInfo.needs`) or an inspector, as display text.
GIVES = {
    "states": N_("hidden states"),
    "attention": N_("attention"),
    "attention_steps": N_("attention as a softmax of products"),
    "masked_lm": N_("predictions of masked words"),
    "sentence_pairs": N_("next-sentence prediction"),  # its weights may be new
    "span_boundary": N_("predictions of words from the boundaries of their span"),
    "next_lm": N_("predictions of next words"),
    "previous_lm": N_("predictions of previous words"),
    "text_to_text": N_("generation of a text from a text"),
    "next_character": N_("predictions of next characters"),
    "previous_character": N_("predictions of previous characters"),
    "word_vectors": N_("word vectors"),
    "layer_logits": N_("word predictions from every layer"),
    "token_embeddings": N_("token embeddings"),  # of which gradients can be taken
}


@dataclass(frozen=True)
class Creation:
    """What can be created of one architecture.

    gives: all outputs that it may have, depending on the options; keys of GIVES.
    """

    options: tuple[Option, ...]
    gives: tuple[str, ...]


@dataclass(frozen=True)
class ModelInfo:
    """The card of a model. Unknown numbers are 0 and unknown texts "".

    family: the id in the registry of the family that loads it, "" if there is none.
    architecture: the kind of network as its authors name it (`model_type`): bert, gpt2 …
    gives: outputs for tasks and inspectors, keys of GIVES or words of a plugin.
    problems: empty for a usable model. untrusted: the weights are pickled and the user has not
    confirmed them, which is also a problem. files: name and bytes, largest first.
    labels: of a model that already has a head. task: what a model is trained for, so that it
    predicts like a run, published ones included; "" for none. projections: linear modules that
    compute queries and values, each the suffix of a full name; empty if unknown. sublayers:
    patterns of the names, within a layer, of the modules after which adapters are inserted.
    tokenizer: the file that it is read or converted from.
    origin: starter, folder, cache or run. downloaded: into the cache by Glossbench, which may
    delete it again.
    learning_rate: recommended peak, 0 to derive it from the task and the width.
    notes: sentences on a usable model that are worth knowing before it is chosen.
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
    sublayers: tuple[str, ...] = ()
    origin: str = "folder"
    problems: tuple[str, ...] = ()
    untrusted: bool = False
    tokenizer: str = ""
    files: tuple[tuple[str, int], ...] = ()
    downloaded: bool = False
    learning_rate: float = 0.0
    notes: tuple[str, ...] = ()
    task: str = ""

    @property
    def usable(self) -> bool:
        return not self.problems

    @property
    def predicts_characters(self) -> bool:
        """Whether it is a language model whose perplexity is per character."""
        return not {"next_character", "previous_character"}.isdisjoint(self.gives)

    @property
    def is_bare(self) -> bool:
        """Whether it is an architecture without weights, created again by every training."""
        return self.usable and not self.width

    @property
    def only_untrusted(self) -> bool:
        """Whether the user's confirmation is the only requirement that is missing."""
        return self.untrusted and len(self.problems) == 1

    def to_json(self) -> dict[str, object]:
        """The card for other programs, where `family` is the architecture: bert, gpt2 …"""
        plain = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        del plain["projections"], plain["sublayers"]
        plain["format"] = plain.pop("family")
        plain["family"] = plain.pop("architecture")
        plain["files"] = [{"name": name, "bytes": size} for name, size in self.files]
        return plain


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


class Match(IntEnum):
    """How well a path matches a family.

    LIKELY: it has the family's files, but something in them is missing or unknown.
    """

    NO = 0
    LIKELY = 1
    SURE = 2


class FamilyInfo(ABC):
    """The light part of a family: imports nothing heavy, so that the window can list models.

    id: in the registry. title: display name. architectures: supported values of `model_type` in
    config.json. holds: a sentence on the files of a model, the hint for an unusable one.
    saved_as: title of the format in which its models are saved, for exports.
    library: the name of its format on the hub, with which its models are tagged; "" if the hub has
    none that can be loaded.
    creates: architecture → what can be created of it; the family then is a `CreatesModels`.
    options: settings of a training that only models of this family have.
    kept_per_unit: how many numbers a layer keeps for the backward pass, per token and unit of its
    width; measured.
    adapt_rate: peak learning rate for training a pretrained language model further on other text,
    0 for that of the objective.
    """

    id: str
    title: str
    architectures: frozenset[str] = frozenset()
    holds: str = N_(
        "A model folder holds config.json, model.safetensors and tokenizer.json, as "
        "save_pretrained writes them."
    )
    saved_as: str = N_("Model folder")
    library: str = ""
    creates: Mapping[str, Creation] = {}
    options: tuple[Option, ...] = ()
    adapt_rate: float = 0.0
    kept_per_unit: float = 18.0

    @abstractmethod
    def match(self, path: Path) -> Match:
        """Whether a file or folder is such a model; called for every path, so it must be fast."""

    @abstractmethod
    def read(self, path: Path, *, allow_pickle: bool) -> ModelInfo:
        """The card, except for the fields that `cards` fills in.

        These are name, origin, licence, files and family.

        Errors are listed in `problems`, each a clause without a full stop.
        """

    @abstractmethod
    def preparer(self, path: Path) -> Preparer:
        """The preparer of the model's inputs, from its folder or an exported one.

        Must not import torch, as exported folders are used without it. Raises ModelError if files
        are missing or damaged.
        """

    def trained_preparer(self, path: Path, settings: Mapping[str, Any]) -> Preparer:
        """As `preparer`, of a training with these settings: it divides texts into the same inputs.

        Other than `preparer` for an architecture whose vocabulary the training makes.
        """
        return self.preparer(path)

    def trained_width(self, model: ModelInfo, settings: Mapping[str, Any]) -> int:
        """The width of a training with these settings, 0 if it is not known."""
        return model.width

    def kept(self, model: ModelInfo, settings: Mapping[str, Any], length: int) -> float:
        """How many numbers a layer keeps per token for the backward pass if all is trained.

        length: tokens of an input.
        """
        return self.kept_per_unit * self.trained_width(model, settings)

    def near_miss(self, path: Path) -> str:
        """Why a path that is almost a model of this family is none, where no family matches it.

        A clause without a full stop that names the file and the place; "" if nothing in it points
        to this family.
        """
        return ""

    def segmenter(self, path: Path, settings: Mapping[str, Any] | None = None) -> str:
        """The id of the word segmenter that a model was pretrained with, "rules" for the default.

        settings: those of a training, for families that read other models. Raises ModelError.
        """
        return stored.read(path)

    def trained(self, path: Path) -> dict[str, Any] | None:
        """What glossbench.json would state of a published model with `ModelInfo.task`.

        At least task, labels, max_length, options and decoder. None for other models.
        """
        return None

    def shapes(self, path: Path) -> Mapping[str, tuple[int, ...]]:
        """Name → shape of the weights, from the headers of the files; empty if unknown."""
        return {}

    def weight_files(self, path: Path) -> tuple[Path, ...]:
        """The files with the parameters, in the order in which they are hashed."""
        if path.is_file():
            return (path,)
        return tuple(sorted((*path.glob("*.safetensors"), *path.glob("pytorch_model*.bin"))))

    def of_hub(self, names: Collection[str]) -> tuple[str, ...]:
        """The weights among the files of a hub repository that has no config.json.

        () where they are not those of a model of this family, as far as their names tell.
        """
        return ()

    def resolved(
        self, settings: Mapping[str, Any], find: Callable[[str], ModelInfo]
    ) -> dict[str, Any]:
        """The settings with paths instead of the names of other models, which `find` looks up.

        Raises ModelError, as `find` does, if there is no such model or it is not usable.
        """
        return dict(settings)
