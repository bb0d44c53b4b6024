"""Reads and writes flair's SequenceTagger files.

Source of the layout: flair 0.15, flair/models/sequence_tagger_model.py and
flair/models/sequence_tagger_utils/crf.py. flair has transitions[to, from] with START and STOP among
the tags; ours has step[from, to], and the scores of the first and last tag by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models.base import LoadOptions
from workbench.models.bidirectional import BidirectionalGru, BidirectionalLstm
from workbench.models.crf import Crf
from workbench.models.families.char_lm.encoder import CharacterEncoder
from workbench.models.families.char_lm.info.files import LanguageModelFile
from workbench.models.families.char_lm.info.taggers import START, STOP, TaggerFile
from workbench.models.families.char_lm.tagger import TaggerEncoder
from workbench.models.families.char_lm.weights import Dictionary, named_as_flair
from workbench.models.spec import ModelInfo
from workbench.runtime.preparers.tagged_texts import TaggedTexts

IMPOSSIBLE = -10_000.0  # flair's score of a transition that is not allowed
CRF = "crf"  # the head with transitions; "token" has none


def load(
    info: ModelInfo,
    file: TaggerFile,
    preparer: TaggedTexts,
    words: CharacterEncoder,
    content: Mapping[str, Any],
    options: LoadOptions,
) -> TaggerEncoder:
    """The tagger with its own tags, or with a new head for the outputs in `options`.

    Raises ModelError if the vectors do not fit the words beside them.
    """
    if [len(word) for word in preparer.words] != [len(static.words) for static in file.statics]:
        raise ModelError(
            _(
                "{path} cannot be loaded: its static vectors belong to a different vocabulary.",
                path=info.path,
            )
        )
    torch.manual_seed(options.seed)
    rest = {name: value for name, value in content.items() if name != "state_dict"}
    encoder = TaggerEncoder(info, file, preparer, words, rest)
    if not options.random:
        _fill(encoder, content["state_dict"])
    if options.head:
        encoder.head, outputs = options.head, tuple(options.outputs)
        if (outputs, options.head == CRF) != (file.outputs, file.crf):
            encoder.set_head(outputs, crf=options.head == CRF)
    if options.dropout is not None:
        encoder.locked_dropout.p = options.dropout
    return encoder.eval()


def _fill(encoder: TaggerEncoder, weights: Mapping[str, Tensor]) -> None:
    file = encoder.file
    chosen = [file.tags.index(tag) for tag in file.outputs]
    with torch.no_grad():
        for name, parameter in _names(encoder).items():
            parameter.copy_(weights[name])
        for name, parameter in encoder.linear.named_parameters():
            parameter.copy_(weights[f"linear.{name}"][chosen])
        if encoder.chain is not None:
            transitions = weights["crf.transitions"]
            encoder.chain.start.copy_(transitions[chosen, file.tags.index(START)])
            encoder.chain.end.copy_(transitions[file.tags.index(STOP), chosen])
            encoder.chain.step.copy_(transitions[chosen][:, chosen].T)


def _names(encoder: TaggerEncoder) -> dict[str, Tensor]:
    """flair's names of the parameters above the language models, without the tags."""
    parameters: dict[str, Tensor] = {
        static.place: cast(nn.Embedding, table).weight
        for static, table in zip(encoder.file.statics, encoder.tables, strict=True)
    }
    if encoder.reprojection is not None:
        for name, parameter in encoder.reprojection.named_parameters():
            parameters[f"embedding2nn.{name}"] = parameter
    for number, layer in enumerate(encoder.layers):
        module = _module(layer)
        for name, parameter in module.named_parameters():
            parameters[f"rnn.{name.replace('_l0', f'_l{number}')}"] = parameter
    return parameters


def _module(layer: nn.Module) -> nn.Module:
    if isinstance(layer, BidirectionalLstm):
        return layer.lstm
    assert isinstance(layer, BidirectionalGru)
    return layer.gru


def content(encoder: TaggerEncoder) -> dict[str, Any]:
    """The content of a file that flair's SequenceTagger loads, with the present tags."""
    chain, outputs = encoder.chain, encoder.outputs
    tags = (*outputs, START, STOP) if chain is not None else outputs
    weights: dict[str, Tensor] = {}
    for part in encoder.file.parts:
        if isinstance(part, LanguageModelFile):
            model = encoder.words.model(part.direction)
            own = named_as_flair(model)
            weights.update({f"{part.place}{name}": value for name, value in own.items()})
    named = _names(encoder)
    weights.update({name: value.detach().cpu().clone() for name, value in named.items()})
    for name, value in encoder.linear.named_parameters():
        added = value.new_zeros(len(tags) - len(outputs), *value.shape[1:])
        weights[f"linear.{name}"] = torch.cat([value, added]).detach().cpu()
    if chain is not None:
        weights["crf.transitions"] = _transitions(chain).cpu()
    scheme = encoder.rest.get("tag_format", "BIOES") if outputs == encoder.file.outputs else "BIO"
    return {
        **encoder.rest,
        "state_dict": weights,
        "tag_dictionary": Dictionary.of(tags, unknown=False),
        "tag_format": scheme,
        "use_crf": chain is not None,
        "weight_dict": None,
    }


def _transitions(chain: Crf) -> Tensor:
    """(L + 2, L + 2) from our scores, START and STOP last."""
    with torch.no_grad():
        count = len(chain.start)
        transitions = chain.start.new_full((count + 2, count + 2), IMPOSSIBLE)
        transitions[:count, count] = chain.start + chain.first_allowed.clamp(min=IMPOSSIBLE)
        transitions[count + 1, :count] = chain.end
        step = chain.step + chain.step_allowed.clamp(min=IMPOSSIBLE)
        transitions[:count, :count] = step.T
        return transitions
