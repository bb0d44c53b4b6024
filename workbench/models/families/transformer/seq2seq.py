"""Encoder–decoders of the `transformers` library: T5 and BART."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models import spec
from workbench.models.base import DECODER_IDS, Continued, Growing, Parts, States
from workbench.models.families.transformer.encoder import (
    TransformerEncoder,
    checkpointed,
    fresh,
    tables,
)
from workbench.models.families.transformer.info.architectures import READS_TWICE
from workbench.runtime.inputs import MASK, pad
from workbench.runtime.tokenizer import Tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

NO_TARGET = -100


class Seq2SeqEncoder(TransformerEncoder):
    """States of the encoder, or of encoder and decoder; with the head "text" scores of labels.

    With BART's head "sequence" they are its scores of classes (Lewis et al. 2020, section 3.1).

    start: the id that the decoder begins with. outputs: the labels. Their texts are the targets of
    teacher forcing, so `logits` are log-probabilities of whole texts (Raffel et al. 2020, section
    2.4).
    """

    targets: Tensor  # (L, S): subwords of the labels, NO_TARGET after the end

    def __init__(
        self,
        info: spec.ModelInfo,
        model: PreTrainedModel,
        tokenizer: Tokenizer,
        head: str,
        outputs: Sequence[str] = (),
    ):
        super().__init__(info, model, tokenizer, head)
        self.input_names = ("input_ids", MASK)
        self.label_texts, self.outputs = head == "text", tuple(outputs)
        if outputs and self.label_texts:
            targets = pad(_targets(tokenizer, outputs, info.name), NO_TARGET)
            self.register_buffer("targets", torch.from_numpy(targets), persistent=False)
        if getattr(model.config, "decoder_start_token_id", None) is None:
            model.config.decoder_start_token_id = tokenizer.pad  # as T5; saved for other programs
        self.start = int(model.config.decoder_start_token_id)

    @property
    def reads_twice(self) -> bool:
        return self.info.architecture in READS_TWICE

    @property
    def reader(self) -> nn.Module:
        """The encoder of the network."""
        reader: nn.Module = self.model.get_encoder()
        return reader

    def checkpoint_layers(self, contexts: Callable[[], Any]) -> bool:
        """Those of the encoder: scoring label texts needs the keys and values of the decoder."""
        return checkpointed(cast("PreTrainedModel", self.reader), contexts)

    def forward(self, inputs: Mapping[str, Tensor]) -> States:
        """The embeddings and each layer (B, T, H), then those of a decoder that gives states."""
        if not self.reads_twice:
            layers = self.reader(**inputs, output_hidden_states=True).hidden_states
        else:
            output = self.body(**inputs, output_hidden_states=True)
            layers = (*output.encoder_hidden_states, *output.decoder_hidden_states[1:])
        return States(tuple(layers), inputs[MASK].bool(), None)

    def attentions(self, inputs: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """Self-attention (B, heads, T, T) of every layer of the encoder, then of a decoder that
        gives states.
        """
        if not self.reads_twice:
            return tuple(self.reader(**inputs, output_attentions=True).attentions)
        output = self.body(**inputs, output_attentions=True)
        return (*output.encoder_attentions, *output.decoder_attentions)

    @property
    def attention_starts(self) -> tuple[int, ...]:
        return (0, self.model.config.encoder_layers) if self.reads_twice else (0,)

    # ------------------------------------------------------------ label texts

    def logits(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """float (B, L): the log-probability of each label's text, the end of text included.

        The keys and values of the encoder's states are computed once for all labels. With the head
        "sequence" the scores of its classes.
        """
        if not self.label_texts:
            return self._classified(inputs)
        targets = self.targets
        size, labels = inputs[MASK].shape[0], targets.shape[0]
        known = targets.clamp(min=0)  # (L, S)
        memory = self.reader(**inputs).last_hidden_state
        first = inputs[MASK].new_full((size, 1), self.start)
        output = self.decode(memory, inputs[MASK], first, None)
        first_scores: Tensor = _log_softmax(output.logits)[:, 0, known[:, 0]]  # (B, L)
        if targets.shape[1] == 1:
            return first_scores
        output.past_key_values.batch_repeat_interleave(labels)
        mask = inputs[MASK].repeat_interleave(labels, 0)  # (B * L, T)
        rest = self.decode(
            memory.repeat_interleave(labels, 0),
            mask,
            known[:, :-1].repeat(size, 1),
            output.past_key_values,
        )
        index = known[:, 1:].repeat(size, 1).unsqueeze(-1)
        scores = _log_softmax(rest.logits).gather(-1, index).squeeze(-1)  # (B * L, S - 1)
        scores = scores * (targets[:, 1:] >= 0).repeat(size, 1)
        return first_scores + scores.sum(-1).view(size, labels)

    def _classified(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """Scores (B, L) from the decoder's state of the last end of text, as transformers."""
        states = self.body(**inputs).last_hidden_state  # (B, T, H)
        ids = inputs["input_ids"]
        is_end = torch.stack([ids == end for end in self.ends]).any(0)
        steps = torch.arange(ids.shape[1], device=ids.device)
        last = torch.where(is_end, steps, 0).amax(1)[:, None, None]  # (B, 1, 1)
        picked = states.gather(1, last.expand(-1, -1, states.shape[-1])).squeeze(1)
        model: Any = self.model
        logits: Tensor = model.classification_head(picked)
        return logits

    def source(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """(B, T, H): what the decoder reads of a text, for `next_logits`."""
        states: Tensor = self.reader(**inputs).last_hidden_state
        return states

    def written_rows(self, source: Tensor, mask: Tensor) -> Continued:
        """What the decoder writes of one text that was read by `source`; mask (1, T)."""
        return WrittenRows(self, source, mask)

    def growing(self, texts: Sequence[Sequence[int]], before: Growing | None) -> Growing:
        return GrowingAnswers(self, texts)

    def next_logits(self, source: Tensor, mask: Tensor, ids: Tensor, positions: Tensor) -> Tensor:
        """As `logits_at`, of texts that were read by `source`; mask (B, T), ids int (B, S)."""
        arguments = {"encoder_outputs": (source,), MASK: mask, DECODER_IDS: ids}
        return self._scored(arguments, positions)

    def logits_at(self, inputs: Mapping[str, Tensor], positions: Tensor) -> Tensor:
        """Scores (B, K, V) of the next subword at `positions` (B, K) of `DECODER_IDS`, which the
        encoder's states of the other inputs precede.
        """
        return self._scored(inputs, positions)

    def _scored(self, inputs: Mapping[str, Any], positions: Tensor) -> Tensor:
        """Only the states at `positions` (B, K) are scored: a vocabulary is large."""

        def pick(_module: nn.Module, arguments: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            index = positions.unsqueeze(-1).expand(-1, -1, arguments[0].shape[-1])
            return (arguments[0].gather(1, index),)  # (B, S, H) → (B, K, H)

        hook = self.model.get_output_embeddings().register_forward_pre_hook(pick)
        try:
            logits: Tensor = self.model(**inputs).logits
            return logits
        finally:
            hook.remove()

    def target_logits(self, inputs: Mapping[str, Tensor], targets: Tensor) -> Tensor:
        """Logits (B, S, V) of targets int (B, S) by teacher forcing."""
        model: Any = self.model
        shifted = model.prepare_decoder_input_ids_from_labels(targets)
        logits: Tensor = model(**inputs, decoder_input_ids=shifted, use_cache=False).logits
        return logits

    def cross_attentions(self, inputs: Mapping[str, Tensor], targets: Tensor) -> tuple[Tensor, ...]:
        """Cross-attention weights of every decoder layer (B, heads, S, T); targets int (B, S)."""
        model: Any = self.model
        shifted = model.prepare_decoder_input_ids_from_labels(targets)
        output = model(**inputs, decoder_input_ids=shifted, use_cache=False, output_attentions=True)
        return tuple(output.cross_attentions)

    def written(self, inputs: Mapping[str, Tensor], most: int) -> Tensor:
        """int (B, S), S up to `most` and the start: the likeliest token at each step."""
        model: Any = self.model
        tokens: Tensor = model.generate(**inputs, max_new_tokens=most, do_sample=False, num_beams=1)
        return tokens

    def decode(self, memory: Tensor, mask: Tensor, ids: Tensor, past: Any) -> Any:
        """The output for ids int (B, S) after those of `past`, whose keys and values it extends.

        memory (B, T, H) and mask (B, T): of the source.
        """
        return self.model(
            encoder_outputs=(memory,),
            attention_mask=mask,
            decoder_input_ids=ids,
            past_key_values=past,
            use_cache=True,
        )

    # ------------------------------------------------------------ parameters

    def parts(self) -> Parts:
        """The layers of the encoder, then those of the decoder if it is used."""
        stacks = [self.reader]
        if self.label_texts or self.reads_twice:
            stacks.append(self.model.get_decoder())
        layers = [layer for stack in stacks for layer in _blocks(stack)]
        groups = [tuple(layer.parameters()) for layer in layers]
        assigned = {id(parameter) for group in groups for parameter in group}
        inside = {id(module) for layer in layers for module in layer.modules()}
        low = [table for stack in stacks for table in tables(stack) if id(table) not in inside]
        embeddings = fresh((p for module in low for p in module.parameters()), assigned)
        pooler = fresh((p for stack in stacks for p in stack.parameters()), assigned)
        return Parts(tuple(embeddings), tuple(groups), tuple(pooler), (*low, *layers))


class WrittenRows:
    """What a decoder writes of one source; see `models.base.Continued`."""

    def __init__(self, encoder: Seq2SeqEncoder, source: Tensor, mask: Tensor):
        """source (1, T, H), mask (1, T)."""
        self._encoder, self._source, self._mask = encoder, source, mask
        self._last: tuple[list[list[int]], Any] | None = None  # rows that were written

    @torch.inference_mode()
    def logits(self, added: Sequence[Sequence[int]]) -> Tensor:
        """(B, V) after each of the B rows; see `Continued.logits`."""
        rows = [[self._encoder.start, *row] for row in added]
        new, past = rows, None
        if self._last is not None and self._last[0] == [row[:-1] for row in rows]:
            new, past = [row[-1:] for row in rows], self._last[1]
        source, mask = self._source.expand(len(rows), -1, -1), self._mask.expand(len(rows), -1)
        ids = torch.tensor(new, device=source.device)
        output = self._encoder.decode(source, mask, ids, past)
        self._last = rows, output.past_key_values
        logits: Tensor = output.logits[:, -1]
        return logits


class GrowingAnswers:
    """What a decoder writes of several sources; see `models.base.Growing`."""

    @torch.inference_mode()
    def __init__(self, encoder: Seq2SeqEncoder, sources: Sequence[Sequence[int]]):
        self._encoder = encoder
        rows = [torch.tensor(source, device=encoder.device) for source in sources]
        inputs = {
            "input_ids": pad_sequence(rows, batch_first=True, padding_value=encoder.tokenizer.pad),
            MASK: pad_sequence([torch.ones_like(row) for row in rows], batch_first=True),
        }
        self._source, self._mask = encoder.source(inputs), inputs[MASK]
        self._past: Any = None
        self._read(rows[0].new_full((len(rows), 1), encoder.start))

    @torch.inference_mode()
    def grow(self, rows: Sequence[int], ids: Sequence[int]) -> None:
        """See `models.base.Growing`."""
        if len(rows) < len(self._mask):
            index = torch.tensor(rows, device=self._mask.device)
            self._source, self._mask = self._source[index], self._mask[index]
            self._past.batch_select_indices(index)
        self._read(torch.tensor(ids, device=self._mask.device)[:, None])

    def _read(self, ids: Tensor) -> None:
        output = self._encoder.decode(self._source, self._mask, ids, self._past)
        self._past = output.past_key_values
        self.logits: Tensor = output.logits[:, -1]  # (B, 1, V) → (B, V)


def _log_softmax(logits: Tensor) -> Tensor:
    return logits.float().log_softmax(-1)


def _blocks(stack: nn.Module) -> list[nn.Module]:
    """The layers of an encoder or decoder, which T5 calls blocks."""
    layers: Any = stack.block if hasattr(stack, "block") else stack.layers
    return list(layers)


def _targets(tokenizer: Tokenizer, labels: Sequence[str], model: str) -> list[Any]:
    """The ids of each label's text with the special ids of the tokenizer, as a model writes it."""
    import numpy as np

    rows = [tuple(tokenizer.backend.encode(label).ids) for label in labels]
    owners: dict[tuple[int, ...], str] = {}
    for label, ids in zip(labels, rows, strict=True):
        if ids in owners:
            raise ModelError(
                _(
                    "The tokenizer of {model} gives the labels {first!r} and {second!r} the same "
                    "subwords, so the model cannot tell them apart.",
                    model=model,
                    first=owners[ids],
                    second=label,
                ),
                hint=_("Rename a label, or choose a pooling: then a new layer scores the classes."),
            )
        owners[ids] = label
    return [np.asarray(ids or (tokenizer.pad,), np.int64) for ids in rows]
