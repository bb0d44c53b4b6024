"""The arithmetic of one row of one attention head: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.attention.inspector import mask_kind
from workbench.inspection.attention_cell.info import (
    CROSS,
    FIRST_WORD,
    INFO,
    SELF,
    AttentionCell,
)
from workbench.inspection.attention_cell.recording import Call, capped, record
from workbench.inspection.base import piece_text, token_rows, words_of
from workbench.inspection.spec import TokenRow
from workbench.inspection.subject import TEXT, Subject
from workbench.inspection.targets import subwords_of, target_of
from workbench.runtime.inputs import stack
from workbench.text.document import Document

MAX_TOKENS = 256  # tokens of a pretrained model, as for the matrices
WRITING = "text_to_text"
MASK_SCORE = -1e30  # what masks add to scores in place of -inf, at most


@dataclass(frozen=True)
class _Layer:
    """One attention layer and the tokens that it is about."""

    call: Call
    queries: tuple[TokenRow, ...]
    keys: tuple[TokenRow, ...]


@dataclass(frozen=True)
class _Text:
    layers: tuple[_Layer, ...]
    cut: bool
    target: str = ""


class AttentionCellInspector:
    """For models whose attention is a softmax of products; see `recording`."""

    info = INFO

    def __init__(self) -> None:
        self._text: tuple[object, _Text] | None = None

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> AttentionCell:
        """Raises WorkbenchError for a layer, head, token or kind that does not exist, and SpecError
        for a target text without a decoder that could write it.
        """
        (document,) = documents
        if options["target"] and not _writes(subject):
            raise SpecError(
                _("{model} has no decoder that generates a target text.", model=subject.info.name),
                hint=_("Omit the option target."),
            )
        text = self._read(subject, document, str(options["target"]).strip())
        crosses = {layer.call.cross for layer in text.layers}
        kinds = tuple(kind for kind in (SELF, CROSS) if (kind == CROSS) in crosses)
        if not kinds:
            raise WorkbenchError(
                _(
                    "{model} computes its attention in a way that cannot be recorded.",
                    model=subject.info.name,
                ),
                hint=_("Use the view Attention, which shows the weights."),
            )
        if options["kind"] == CROSS and CROSS not in kinds:
            raise SpecError(
                _("{model} has no cross-attention.", model=subject.info.name),
                hint=_("Cross-attention requires an encoder–decoder model."),
            )
        kind = options["kind"] if options["kind"] in kinds else kinds[0]
        layers = [layer for layer in text.layers if layer.call.cross == (kind == CROSS)]
        _check(options["layer"], len(layers), _("There is no layer {number}: the last is {last}."))
        layer, head = layers[options["layer"] - 1], options["head"]
        _check(head, len(layer.call.q), _("There is no head {number}: the last is {last}."))
        if options["query"] != FIRST_WORD:  # the default, which a text of one token lacks
            last = len(layer.queries) - 1
            _check(options["query"], last, _("There is no token {number}: the last is {last}."))
        return _result(layer, kinds, len(layers), options, text)

    def _read(self, subject: Subject, document: Document, target: str) -> _Text:
        key = (id(subject), document.texts, dict(document.tokens), target)
        if self._text is None or self._text[0] != key:
            prepared = subject.prepared(document, longest=MAX_TOKENS)
            piece, encoder = prepared.inputs[0], subject.encoder
            arrays = stack([piece], encoder.input_names, encoder.preparer.fill)
            inputs = {
                name: torch.from_numpy(array).to(encoder.device) for name, array in arrays.items()
            }
            words = words_of(document, subject.texts)
            rows = tuple(token_rows(piece, document, words, subject.preparer))
            cut = bool(prepared.cut[0]) or len(prepared.inputs) > 1
            calls = record(encoder, lambda: encoder(inputs))
            if _writes(subject) and (target or not any(call.cross for call in calls)):
                self._text = key, _written(subject, document, inputs, rows, target, cut)
            else:
                layers = tuple(_Layer(call, rows, rows) for call in calls)
                self._text = key, _Text(layers, cut)
        return self._text[1]


def _writes(subject: Subject) -> bool:
    """Whether it is an encoder–decoder whose decoder writes texts."""
    return WRITING in subject.gives and (not subject.is_run or subject.encoder.head == TEXT)


def _written(
    subject: Subject,
    document: Document,
    inputs: Mapping[str, Tensor],
    source: tuple[TokenRow, ...],
    typed: str,
    cut: bool,
) -> _Text:
    """The layers of encoder and decoder while the decoder writes the target text."""
    writer = subject.writer
    target, _own, ids = target_of(subject, document, inputs, typed)
    calls = record(
        writer,
        lambda: writer.cross_attentions(inputs, torch.tensor([ids], device=writer.device)),
    )
    piece = subwords_of(writer).tokenizer.piece
    read = [writer.start, *ids[:-1]]  # at each step, what was written before
    rows = tuple(
        TokenRow(piece(id), piece_text(piece(id), ""), id, 0, 0, "", None, at == 0)
        for at, id in enumerate(read)
    )
    crossing = [at for at, call in enumerate(calls) if call.cross]
    first = crossing[0] - 1 if crossing else len(calls)  # of the decoder: self, cross, self …
    layers = []
    for at, call in enumerate(calls):
        decoding = at >= first
        keys = source if call.cross or not decoding else rows
        layers.append(_Layer(call, rows if decoding else source, keys))
    return _Text(tuple(layers), cut, target)


def _check(number: int, last: int, message: str) -> None:
    if number > last:
        raise WorkbenchError(message.format(number=number, last=last))


def _result(
    layer: _Layer, kinds: tuple[str, ...], layers: int, options: Mapping[str, Any], text: _Text
) -> AttentionCell:
    call, head = layer.call, options["head"] - 1
    query = min(options["query"], len(layer.queries) - 1)
    q, k, v = call.q[head], call.k[head], call.v[head]
    mask, bias = (
        tensor[head if len(tensor) > 1 else 0] for tensor in (call.mask, call.bias)
    )  # (T, K)
    scores = capped(q @ k.T * call.scale, call.cap)
    weights = (scores + bias + mask).softmax(-1)  # (T, K)
    output = weights @ v  # (T, D)
    masked = (mask <= MASK_SCORE).cpu().numpy()
    return AttentionCell(
        layer.queries,
        layer.keys,
        query,
        CROSS if call.cross else SELF,
        kinds,
        options["layer"],
        layers,
        options["head"],
        len(call.q),
        call.scale,
        _array(q[query]),
        _array(k),
        _array(q[query] * k),
        _array((q[query] * k).sum(-1)),
        _array(scores[query]),
        _array(mask[query].clamp(min=MASK_SCORE)),
        _array(weights[query]),
        _array(weights[query] * v.norm(dim=-1)),
        _array(output[query]),
        mask_kind(masked[None]),
        float((output - call.output[head]).abs().max()),
        text.cut,
        call.cap,
        _array(bias[query]),
        text.target,
    )


def _array(values: Tensor) -> np.ndarray:
    array: np.ndarray = values.float().cpu().numpy()
    return array
