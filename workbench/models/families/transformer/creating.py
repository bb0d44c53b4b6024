"""Creates untrained transformers: configuration, random weights, and a tokenizer from text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.models.base import Documents
from workbench.models.families.transformer.info import config as configs
from workbench.models.families.transformer.info.architectures import DECODERS, SEQ2SEQ
from workbench.models.families.transformer.info.creation import STYLES, Style
from workbench.models.families.transformer.library import quiet
from workbench.models.reasons import reason
from workbench.runtime import tokenizer_training

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_FACTORED_WIDTH = 128  # width of embeddings that are narrower than the layers, as published


def create(
    architecture: str, options: Mapping[str, Any], texts: Documents, folder: Path, *, seed: int
) -> Iterator[float]:
    """See CreatesModels.create. Raises SpecError for sizes that do not fit each other."""
    if options["width"] % options["heads"]:
        raise SpecError(
            _("width ({width}) is not divisible by heads ({heads}).", **options),
            hint=_("Choose a width that is a multiple of heads."),
        )
    yield 0.0
    style = STYLES[architecture]
    backend = _tokenizer(style, options, texts)
    yield 0.9
    import transformers

    with quiet():
        _save_tokenizer(style, backend, options["positions"], folder)
        config = _config(architecture, style, backend, options)
        head = "CausalLM" if architecture in DECODERS else "MaskedLM"
        head = "Seq2SeqLM" if architecture in SEQ2SEQ else head
        torch.manual_seed(seed)
        try:
            model = getattr(transformers, f"AutoModelFor{head}").from_config(config)
        except ValueError as error:  # of the library, about sizes that do not fit each other
            raise SpecError(
                _(
                    "A {architecture} model of these sizes cannot be created: {error}.",
                    architecture=architecture,
                    error=reason(error),
                ),
                hint=_("Change width, heads or inner."),
            ) from error
        model.save_pretrained(folder)


def _config(architecture: str, style: Style, backend: Tokenizer, options: Mapping[str, Any]) -> Any:
    from transformers import CONFIG_MAPPING

    kind = CONFIG_MAPPING[architecture]
    ids = {name: number for number, name in enumerate(style.special)}
    later = ids[style.pad] + 1 if configs.positions_are_late(architecture) else 0
    inner = options["inner"] or 4 * options["width"]
    values = {
        "vocab_size": backend.get_vocab_size(),
        "hidden_size": options["width"],
        "num_hidden_layers": options["layers"],
        "num_attention_heads": options["heads"],
        "num_key_value_heads": options["heads"],
        "max_position_embeddings": options["positions"] + later,
        "embedding_size": min(MAX_FACTORED_WIDTH, options["width"]),
        "pad_token_id": ids[style.pad] if style.end else None,
        "bos_token_id": ids[style.start or style.pad],
        "eos_token_id": ids[style.end or style.pad],
        **dict.fromkeys(configs.inner_names(architecture), inner),
    }
    if architecture in SEQ2SEQ:
        values |= {
            "head_dim": options["width"] // options["heads"],
            "decoder_layers": options["layers"],
            "decoder_attention_heads": options["heads"],
            "decoder_ffn_dim": inner,
        }
    usual = kind()
    names = kind.attribute_map
    known = {name: value for name, value in values.items() if hasattr(usual, names.get(name, name))}
    more = _beyond(architecture, style, ids, options["positions"])
    return kind(**{names.get(name, name): value for name, value in known.items()}, **more)


def _beyond(
    architecture: str, style: Style, ids: Mapping[str, int], positions: int
) -> dict[str, Any]:
    """Settings of encoder–decoders that their classes have no defaults for, as published: T5 begins
    to write with padding and has no table of positions, BART begins with the end of text.
    """
    if architecture not in SEQ2SEQ:
        return {}
    first = ids[style.end if style.start else style.pad]
    return {"decoder_start_token_id": first, **({} if style.start else {"n_positions": positions})}


def _tokenizer(style: Style, options: Mapping[str, Any], texts: Documents) -> Tokenizer:
    """Trained on the texts, with the special tokens around them."""
    return tokenizer_training.train(
        texts,
        style.subwords,
        size=options["vocabulary"],
        special=style.special,
        unknown=style.unknown,
        frame=(style.start, style.end, style.second) if style.end else None,
        min_count=options.get("min_count", 1),
        lower_case=options["lower_case"],
    )


def _save_tokenizer(style: Style, backend: Tokenizer, positions: int, folder: Path) -> None:
    from transformers import PreTrainedTokenizerFast

    names = {
        "pad_token": style.pad,
        "unk_token": style.unknown or style.pad,
        "bos_token": style.start or style.pad,
        "eos_token": style.end or style.pad,
    }
    if style.mask:
        names |= {"mask_token": style.mask, "cls_token": style.start, "sep_token": style.end}
    PreTrainedTokenizerFast(
        tokenizer_object=backend, model_max_length=positions, **names
    ).save_pretrained(folder)
