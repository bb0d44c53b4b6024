"""The content of flair's files: dictionaries, settings and weights of language models."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models.base import LoadOptions
from workbench.models.families.char_lm.info import files
from workbench.models.families.char_lm.network import CharacterModel, RecurrentLayer
from workbench.models.reasons import reason


class Dictionary:
    """The attributes of a `flair.data.Dictionary`."""

    @classmethod
    def of(cls, items: Sequence[str], *, unknown: bool = True) -> Dictionary:
        """As flair's own. unknown: the first item stands for unknown ones (`add_unk`)."""
        first = (UNKNOWN_ITEM,) if unknown else ()
        dictionary, encoded = cls(), [item.encode("utf-8") for item in (*first, *items)]
        vars(dictionary).update(
            item2idx={item: number for number, item in enumerate(encoded)},
            idx2item=encoded,
            add_unk=unknown,
            multi_label=False,
            span_labels=False,
        )
        return dictionary


UNKNOWN_ITEM = "<unk>"  # the first item of flair's dictionaries
CLASSES = {files.DICTIONARY: Dictionary}
# What flair's LanguageModel.save writes besides the weights.
SETTINGS = (
    "dictionary",
    "is_forward_lm",
    "hidden_size",
    "nlayers",
    "embedding_size",
    "nout",
    "document_delimiter",
    "dropout",
    "recurrent_type",
    "has_decoder",
)


def language_model(
    sizes: files.LanguageModelFile, options: LoadOptions, raw: Mapping[str, Any]
) -> CharacterModel:
    """The model in a file, or in a tagger, with the content `raw`. Raises ModelError."""
    dropout = sizes.dropout if options.dropout is None else options.dropout
    torch.manual_seed(options.seed)
    model = CharacterModel(sizes, dropout)
    try:
        if not options.random:
            _fill(model, raw["state_dict"], sizes.place)
        model.settings = _settings(_inside(raw, sizes), sizes)
    except (KeyError, RuntimeError, AttributeError) as error:
        raise ModelError(
            _("{path} cannot be loaded: {error}.", path=sizes.path, error=reason(error))
        ) from error
    return model


def _inside(raw: Mapping[str, Any], sizes: files.LanguageModelFile) -> Any:
    """The settings of a language model in a tagger, else the file itself."""
    settings: Any = raw["embeddings"] if sizes.settings else raw
    for key in sizes.settings:
        settings = settings[key]
    return settings


def _settings(raw: Mapping[str, Any], sizes: files.LanguageModelFile) -> dict[str, Any]:
    """What a file states besides the weights, complete for old files too."""
    usual = {
        "embedding_size": sizes.embedding,
        "nout": sizes.output or None,
        "document_delimiter": sizes.delimiter,
        "dropout": sizes.dropout,
        "recurrent_type": sizes.recurrent,
        "has_decoder": sizes.decoder,
    }
    vars(raw["dictionary"]).pop("item2idx_not_encoded", None)  # filled by flair when it is used
    return {name: raw.get(name, usual.get(name)) for name in SETTINGS}


def _fill(model: CharacterModel, weights: Mapping[str, Tensor], place: str) -> None:
    """Copies weights with flair's names, after `place`, into the model.

    Raises KeyError if one is missing.
    """
    with torch.no_grad():
        for name, parameter in _names(model).items():
            parameter.copy_(weights[place + name].to(parameter.dtype))


def named_as_flair(model: CharacterModel) -> OrderedDict[str, Tensor]:
    """Copies of the weights of a language model, each of its own shape, by the names of Flair."""
    return OrderedDict(
        (name, parameter.detach().cpu().clone()) for name, parameter in _names(model).items()
    )


def _names(model: CharacterModel) -> dict[str, Tensor]:
    """flair's name of each parameter: it has all layers in one recurrent module."""
    parameters: dict[str, Tensor] = {"encoder.weight": model.characters.table.weight}
    for number, layer in enumerate(cast(Iterable[RecurrentLayer], model.layers)):
        for name, parameter in layer.rnn.named_parameters():
            parameters[f"rnn.{name.removesuffix('_l0')}_l{number}"] = parameter
    for name, part in (("proj", model.projection), ("decoder", model.decoder)):
        if part is not None:
            parameters[f"{name}.weight"], parameters[f"{name}.bias"] = part.weight, part.bias
    return parameters
