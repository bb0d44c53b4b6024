"""A SequenceTagger of flair: language models and static vectors, a recurrent network, tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models import folder as folders
from workbench.models.base import Encoder, FeatureSource, LoadOptions, Parts, States
from workbench.models.bidirectional import (
    BidirectionalGru,
    BidirectionalLstm,
    LockedDropout,
    WordDropout,
)
from workbench.models.crf import Crf
from workbench.models.families.char_lm.encoder import CharacterEncoder
from workbench.models.families.char_lm.info.files import LanguageModelFile
from workbench.models.families.char_lm.info.taggers import START, STOP, StaticVectors, TaggerFile
from workbench.models.families.char_lm.weights import Dictionary, named_as_flair
from workbench.models.spec import ModelInfo
from workbench.runtime.decoding import bio_constraints
from workbench.runtime.inputs import MASK
from workbench.runtime.preparers.tagged_texts import TaggedTexts, rows

EMBEDDINGS = "embeddings"  # the array that replaces all others
BETWEEN = 0.5  # dropout between recurrent layers


class TaggerEncoder(Encoder):
    """Layer 0: the embeddings of all parts, concatenated in the order of `file.parts` (without
    recurrent layers after the reprojection); then [forward; backward] of each recurrent layer.

    The embeddings stay frozen, as flair keeps them. outputs: the tags that `linear` scores. rest:
    what the file holds besides the weights.
    """

    preparer: TaggedTexts
    in_transformers = False

    def __init__(
        self,
        info: ModelInfo,
        file: TaggerFile,
        preparer: TaggedTexts,
        words: CharacterEncoder,
        rest: Mapping[str, Any],
    ):
        super().__init__()
        self.info, self.file, self.preparer, self.rest = info, file, preparer, rest
        self.max_length = info.max_length
        self.words = words
        self.tables = nn.ModuleList(
            nn.Embedding(len(static.words) + 1, static.width) for static in file.statics
        )
        self.dropout, self.word_dropout = nn.Dropout(file.dropout), WordDropout(file.word_dropout)
        self.locked_dropout = LockedDropout(file.locked_dropout)
        self.reprojection = nn.Linear(file.width, file.width) if file.reprojects else None
        kind = BidirectionalGru if file.recurrent == "GRU" else BidirectionalLstm
        self.layers = nn.ModuleList(
            kind(2 * file.hidden if number else file.width, file.hidden)
            for number in range(file.layers)
        )
        self.directions = ("next", "previous") if file.layers else ()
        self.between = nn.Dropout(BETWEEN)
        self.set_head(file.outputs, crf=file.crf)
        lookups = [rows(table) for table in range(len(self.tables))]
        self.input_names = (*lookups, *words.input_names)
        self.input_axes = words.input_axes

    def set_head(self, outputs: Sequence[str], *, crf: bool) -> None:
        """A new linear layer and new transitions for other outputs."""
        self.outputs = tuple(outputs)
        self.linear = nn.Linear(self.width, len(self.outputs))
        # The scores of the file are used as they are.
        allowed = None if self.outputs == self.file.outputs else bio_constraints(self.outputs)
        self.chain = Crf(len(self.outputs), constraints=allowed) if crf else None

    @property
    def width(self) -> int:
        return self.file.states

    @property
    def widths(self) -> tuple[int, ...]:
        return (self.file.width, *(2 * self.file.hidden,) * self.file.layers)

    @property
    def feed_forward(self) -> int:
        return self.file.hidden or self.file.width

    @property
    def crf(self) -> Crf | None:
        return self.chain

    def train(self, mode: bool = True) -> TaggerEncoder:
        """The language models stay in eval mode."""
        super().train(mode)
        self.words.eval()
        return self

    def forward(self, inputs: Mapping[str, Tensor]) -> States:
        """Layer 0 (B, T, width of the embeddings), then each recurrent layer (B, T, 2 * hidden)."""
        mask = inputs[MASK].bool()
        cached = inputs.get(EMBEDDINGS)
        embedded = self.embedded(inputs) if cached is None else cached
        states = self.locked_dropout(self.word_dropout(self.dropout(embedded)))
        if self.reprojection is not None:
            states = self.reprojection(states)
        layers = [embedded if len(self.layers) else states]
        for number, layer in enumerate(self.layers):
            layers.append(layer(self.between(states) if number else states, mask))
            states = layers[-1]
        layers[-1] = self.locked_dropout(self.dropout(layers[-1]))
        return States(tuple(layers), mask, None)

    def embedded(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """(B, T, W): the embeddings of all parts, zeros at padding."""
        own = {name: inputs[name] for name in self.words.input_names}
        with torch.no_grad():
            states = self.words(own).layers[-1]
            widths = [self.words.model(direction).width for direction in self.words.directions]
            read = dict(zip(self.words.directions, states.split(widths, -1), strict=True))
            tables = iter(enumerate(self.tables))
            vectors = []
            for part in self.file.parts:
                if isinstance(part, StaticVectors):
                    number, table = next(tables)
                    vectors.append(table(inputs[rows(number)]))
                else:
                    vectors.append(read[part.direction])
            return torch.cat(vectors, -1) * inputs[MASK].unsqueeze(-1)

    def logits(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """(B, T, outputs) of T words."""
        logits: Tensor = self.linear(self(inputs).layers[-1])
        return logits

    def sources(self) -> tuple[FeatureSource, ...]:
        key = f"{folders.sha256(Path(self.info.path))}-embeddings"
        names = tuple(name for name in self.input_names if name != MASK)
        return (FeatureSource(EMBEDDINGS, names, key, self.file.width, self.embedded),)

    def parts(self) -> Parts:
        low = self.reprojection or nn.Identity()
        head = [] if self.head else [self.linear, *([self.chain] if self.chain else [])]
        frozen = nn.ModuleList([self.words, self.tables, *head])
        return Parts(
            tuple(low.parameters()),
            tuple(tuple(layer.parameters()) for layer in self.layers),
            (),
            (low, *self.layers),
            frozen=tuple(frozen.parameters()),
        )


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
