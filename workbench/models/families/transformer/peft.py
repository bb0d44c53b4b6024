"""Merges an adapter of the library peft that is beside the weights of a model.

The merged model has plain modules, so that every training method applies to it and saving writes
all weights. Source: Hu et al. 2021, LoRA, section 4.1: W + (alpha / rank) B A.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors.torch import load_file
from torch import Tensor

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models.families.transformer.info.peft import CONFIG, WEIGHTS, is_there
from workbench.models.reasons import reason

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# Arguments of `from_pretrained` that keep it from applying the adapter: it looks for one in this
# subfolder, which no folder has.
WITHOUT: dict[str, Any] = {"adapter_kwargs": {"subfolder": os.devnull}}
_PREFIX = "base_model.model."  # of the names in a file of peft
_OF_LORA = "lora_"  # in the names of its matrices; others are copies of whole modules


def merge(model: PreTrainedModel, folder: Path) -> PreTrainedModel:
    """The model with the adapter of its folder merged, if there is one.

    Raises ModelError if the adapter does not fit the model.
    """
    if not is_there(folder):
        return model
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on the folder that the adapter was trained in
            return _merged(model, folder)
    except MemoryError:
        raise
    except Exception as error:  # the library validates little: any exception is possible
        raise ModelError(
            _(
                "The adapter {file} in {folder} cannot be merged: {error}.",
                file=WEIGHTS,
                folder=folder,
                error=reason(error),
            ),
            hint=_("Delete {config} to load the model without its adapter.", config=CONFIG),
        ) from error


def _merged(model: PreTrainedModel, folder: Path) -> PreTrainedModel:
    from peft import LoraConfig, get_peft_model, set_peft_model_state_dict

    modules = dict(model.named_modules())
    config: Any = LoraConfig.from_pretrained(str(folder))
    config.task_type = None  # which would add a head
    config.modules_to_save = [
        name
        for name in config.modules_to_save or ()
        if any(f".{own}".endswith(f".{name}") for own in modules)
    ] or None
    adapted: Any = get_peft_model(model, config)
    weights = _renamed(load_file(folder / WEIGHTS), model)
    mismatches: Any = set_peft_model_state_dict(adapted, weights, ignore_mismatched_sizes=True)
    missing = sorted(name for name in mismatches.missing_keys if _OF_LORA in name)
    unused = sorted(name for name in mismatches.unexpected_keys if _OF_LORA in name)
    if missing or unused:
        raise ValueError(_("it does not fit this model at {name}", name=(*missing, *unused)[0]))
    whole: PreTrainedModel = adapted.merge_and_unload(safe_merge=True)
    return whole.requires_grad_(True)


def _renamed(weights: dict[str, Tensor], model: PreTrainedModel) -> dict[str, Tensor]:
    """The weights by the names in this model: with or without the name of its body.

    An adapter is named after the class that it was trained in, with a head or without.
    """
    body = f"{model.base_model_prefix}."
    has_body = hasattr(model, model.base_model_prefix)
    renamed = {}
    for name, value in weights.items():
        own = name.removeprefix(_PREFIX)
        if _OF_LORA in own and not has_body:
            own = own.removeprefix(body)
        elif _OF_LORA in own and not own.startswith(body):
            own = body + own
        renamed[_PREFIX + own] = value
    return renamed
