"""The special tokens of GPT-1's input: start, delimiter, extract.

Source: Radford et al. 2018, Improving Language Understanding by Generative Pre-Training, sections
3.2 and 3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import torch
from torch import nn

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models import spec
from workbench.models.families.transformer.info.architectures import DECODERS
from workbench.runtime.tokenizer import Tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

DEVIATION = 0.02  # of new embeddings: section 4.1


def delimited(
    info: spec.ModelInfo, model: PreTrainedModel, tokenizer: Tokenizer, delimit: bool
) -> Tokenizer:
    """The tokenizer, and the model's embeddings, with the special tokens if they are wanted.

    Raises ModelError for any other than a decoder, and for a tokenizer with special tokens of its
    own.
    """
    if not delimit or tokenizer.delimiter is not None:
        return tokenizer
    if info.architecture not in DECODERS or tokenizer.added:
        raise ModelError(
            _(
                "{model} has special tokens of its own: the input form of GPT-1 is for decoders "
                "without them.",
                model=info.name,
            ),
            hint=_("Set input_form to plain, or choose a GPT or GPT-2 model."),
        )
    first, extended = tokenizer.size, tokenizer.delimited()
    rows = cast(nn.Embedding, model.get_input_embeddings()).num_embeddings
    if extended.size > rows:
        model.resize_token_embeddings(extended.size, mean_resizing=False)
    table = cast(nn.Embedding, model.get_input_embeddings()).weight
    with torch.no_grad():
        table[first : extended.size].normal_(std=DEVIATION)
    return extended
