"""Loads and saves AWD-LSTM language models in the formats of fastai."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models.base import Documents, LoadOptions
from workbench.models.families.awd_lstm.encoder import AwdLstm
from workbench.models.families.awd_lstm.info import INFO, MAX_TOKENS, files
from workbench.models.families.awd_lstm.info.weights import (
    DECODER,
    DECODER_BIAS,
    Network,
    layer_names,
    prefix_of,
)
from workbench.models.families.awd_lstm.network import CLASSIFIER, LANGUAGE_MODEL, Dropouts
from workbench.models.reasons import reason
from workbench.models.spec import ModelInfo
from workbench.models.vocabulary import Vocabulary
from workbench.runtime.preparers import fastai_rules
from workbench.runtime.preparers.fastai_words import FastaiWords
from workbench.text.segmenters import base as segmenters

SAVED = {files.FORWARD: "lm_fwd.pth", files.BACKWARD: "lm_bwd.pth"}
VOCABULARY = "vocab.pkl"  # the vocabulary in the form that fastai reads
HEADS = {"next_lm": files.FORWARD, "previous_lm": files.BACKWARD}


class AwdLstmFamily:
    """Language models of fastai 0.7, 1 and 2; saved as fastai 2 does."""

    info = INFO

    def heads(self, info: ModelInfo) -> frozenset[str]:
        return frozenset(head for output, head in HEADS.items() if output in info.gives)

    def load(self, info: ModelInfo, options: LoadOptions) -> AwdLstm:
        """See Family.load. `options.dropout` is that between layers; the others scale with it."""
        if options.head and options.head not in self.heads(info):
            raise ModelError(
                _(
                    "{model} has no weights to predict words in the direction {head}.",
                    model=info.name,
                    head=options.head,
                ),
                hint=_("An encoder without a decoder provides only hidden states."),
            )
        path = Path(info.path)
        model_files = files.ModelFiles.of(path, [])
        problems: list[str] = []
        sizes = Network.of(model_files.weights, problems) if model_files.weights else Network()
        if problems or not sizes.layers or model_files.weights is None:
            raise _not_loaded(info, "; ".join(problems) or _("it has no weights"))
        torch.manual_seed(options.seed)
        state = {} if options.random else _state(model_files.weights, info)
        encoder = AwdLstm(
            info,
            cast(FastaiWords, INFO.preparer(path)),
            sizes,
            direction=model_files.direction,
            dropouts=_dropouts(options),
            tied=_is_tied(state),
            head=options.head,
        )
        if state:
            _fill(encoder, state)
        return encoder

    def save(self, encoder: AwdLstm, folder: Path) -> None:
        """lm_fwd.pth or lm_bwd.pth, vocab.pkl for fastai, and itos.json."""
        torch.save(_published(encoder), folder / SAVED[encoder.directions[0]])
        with open(folder / VOCABULARY, "wb") as file:
            pickle.dump(encoder.preparer.vocabulary, file, protocol=2)
        encoder.preparer.save(folder)

    def create(
        self,
        architecture: str,
        options: Mapping[str, Any],
        texts: Documents,
        folder: Path,
        *,
        seed: int,
    ) -> Iterator[float]:
        """See CreatesModels.create."""
        counted, marks = Vocabulary(), fastai_rules.MARKS
        splitter = FastaiWords(marks)
        splitter.segmenter = segmenters.chosen(options)
        for document in texts:
            for text in document:
                counted.add(splitter.units(text, splitter.words_of(text), 0).words)
            yield texts.progress
        words = counted.frequent(
            options["vocabulary"] - len(marks), min_count=options["min_count"], without=marks
        )
        preparer = FastaiWords((*marks, *words))
        preparer.segmenter = splitter.segmenter
        sizes = Network(
            layers=options["layers"],
            width=options["width"],
            hidden=options["hidden"],
            vocabulary=preparer.size,
            has_decoder=True,
        )
        direction = files.FORWARD if options["direction"] == "forward" else files.BACKWARD
        info = ModelInfo("", str(folder), max_length=MAX_TOKENS)
        torch.manual_seed(seed)
        encoder = AwdLstm(info, preparer, sizes, direction=direction, dropouts=LANGUAGE_MODEL)
        self.save(encoder, folder)


def _dropouts(options: LoadOptions) -> Dropouts:
    usual = LANGUAGE_MODEL if options.head else CLASSIFIER
    return usual if options.dropout is None else usual.times(options.dropout / usual.hidden)


# ---------------------------------------------------------------- weights


class _Discarded(list[object]):
    """Stands for fastai's own list class in the state of an optimizer, which is not used."""


def _state(path: Path, info: ModelInfo) -> dict[str, Tensor]:
    """Name → tensor. Only tensors and plain values are unpickled."""
    try:
        with torch.serialization.safe_globals([(_Discarded, "fastcore.foundation.L")]):
            content: Any = torch.load(path, map_location="cpu", weights_only=True)
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # damaged files raise errors of many kinds
        raise _not_loaded(info, reason(error)) from error
    if isinstance(content, Mapping) and isinstance(content.get("model"), Mapping):
        content = content["model"]
    return {name: value for name, value in content.items() if isinstance(value, Tensor)}


def _not_loaded(info: ModelInfo, reason: str) -> ModelError:
    return ModelError(
        _("{path} cannot be loaded: {error}.", path=info.path, error=reason.rstrip(".")),
        hint=_(INFO.holds),
    )


def _is_tied(state: Mapping[str, Tensor]) -> bool:
    """Whether the decoder has the weights of the embeddings; so too without a decoder."""
    return DECODER not in state or torch.equal(state[DECODER], state["0.encoder.weight"])


def _fill(encoder: AwdLstm, state: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        encoder.embeddings.weight.copy_(state[f"{prefix_of(state)}encoder.weight"])
        for number, layer in enumerate(encoder.layers):
            for weight, name in zip(layer.weights, layer_names(state, number), strict=True):
                weight.copy_(state[name])
        if encoder.decoder_weight is not None:
            encoder.decoder_weight.copy_(state[DECODER])
        if encoder.sizes.has_decoder and DECODER_BIAS in state:
            encoder.decoder_bias.copy_(state[DECODER_BIAS])


def _published(encoder: AwdLstm) -> dict[str, Tensor]:
    """The weights by fastai's names, in the order of its modules, by which it may load them."""
    table = encoder.embeddings.weight.detach().cpu()
    weights = {"0.encoder.weight": table, "0.encoder_dp.emb.weight": table}
    for number, layer in enumerate(encoder.layers):
        start = f"0.rnns.{number}."
        of_inputs, of_states, bias_of_inputs, bias_of_states = (
            weight.detach().cpu() for weight in layer.weights
        )
        weights[f"{start}weight_hh_l0_raw"] = of_states
        weights[f"{start}module.weight_ih_l0"] = of_inputs
        weights[f"{start}module.bias_ih_l0"] = bias_of_inputs
        weights[f"{start}module.bias_hh_l0"] = bias_of_states
    if not encoder.sizes.has_decoder:  # an encoder alone, as save_encoder writes it
        return {name.removeprefix("0."): value for name, value in weights.items()}
    own = encoder.decoder_weight
    weights[DECODER] = table if own is None else own.detach().cpu()
    weights[DECODER_BIAS] = encoder.decoder_bias.detach().cpu()
    return weights
