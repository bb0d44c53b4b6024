"""Attention weights of an encoder: the torch part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.attention.info import HEAD, INFO, MEAN, ROLLOUT, Attention
from workbench.inspection.base import stitch, token_rows, words_of
from workbench.inspection.spec import WordRow
from workbench.inspection.subject import Subject
from workbench.runtime.inputs import EncodedInput, Prepared, stack
from workbench.text.document import Document

THUMB = 32  # maximum rows and columns of a head in the overview
MAX_TOKENS = 256  # tokens per window of a pretrained model, which defines none itself
MAX_CACHED_BYTES = 400_000_000  # bytes of weights that are cached for further heads


@dataclass(frozen=True)
class _Text:
    """The part that is independent of layer and head: one text as the model reads it."""

    prepared: Prepared
    words: tuple[WordRow, ...]
    places: Mapping[tuple[int, int], int]  # (window, position) → index among all tokens


@dataclass(frozen=True)
class _Window:
    """One window: weights float32 (L, H, T, T), masked bool (L, T, T), entropies (L, H)."""

    weights: np.ndarray
    masked: np.ndarray
    entropies: np.ndarray


class AttentionInspector:
    """Needs an encoder that returns attention weights; they are cached for further heads."""

    info = INFO

    def __init__(self) -> None:
        self._text: tuple[object, _Text] | None = None
        self._window: tuple[object, _Window] | None = None
        self._small: tuple[object, tuple[np.ndarray, np.ndarray]] | None = None

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> Attention:
        """Raises WorkbenchError for a layer, head or window that does not exist."""
        (document,) = documents
        text = self._read(subject, document)
        inputs = text.prepared.inputs
        number = _index(options["window"], len(inputs), "window") - 1
        piece = inputs[number]
        key = (id(subject), piece.ids.tobytes(), piece.text.tobytes())
        window = self._weights(key, subject, piece)
        layer = _index(options["layer"], window.weights.shape[0], "layer")
        head = _index(options["head"], window.weights.shape[1], "head")
        visible = np.arange(len(piece)) if options["special"] else np.flatnonzero(piece.text >= 0)
        rows = token_rows(piece, document, text.words, subject.preparer)
        cells = np.ix_(visible, visible)
        how, start = options["combine"], _start(subject, layer)
        array = combined(window.weights[start:], layer - 1 - start, head - 1, how)
        masked = array == 0 if how == ROLLOUT else window.masked[layer - 1]
        small, small_masked = self._overview((*key, visible.tobytes()), window, visible)
        return Attention(
            tuple(rows[at] for at in visible),
            tuple(text.places.get((number, int(at)), -1) for at in visible),
            number + 1,
            len(inputs),
            layer,
            head,
            small,
            small_masked,
            window.entropies,
            array[cells],
            masked[cells],
            1 - array[cells].sum(1)
            if len(visible) < len(piece)
            else np.zeros(len(visible), np.float32),
            mask_kind(masked[None]),
            bool(text.prepared.cut[0]),
            how,
        )

    def _read(self, subject: Subject, document: Document) -> _Text:
        key = (id(subject), document.texts, dict(document.tokens))
        if self._text is None or self._text[0] != key:
            prepared = subject.prepared(document, longest=MAX_TOKENS)
            places = {where: number for number, where in enumerate(stitch(prepared.inputs))}
            words = words_of(document, subject.texts)
            self._text = key, _Text(prepared, words, places)
        return self._text[1]

    def _weights(self, key: tuple[object, ...], subject: Subject, piece: EncodedInput) -> _Window:
        if self._window is not None and self._window[0] == key:
            return self._window[1]
        self._window = None  # free the old one first: each may take hundreds of MB
        weights = attentions(subject, piece)
        masked = np.all(weights == 0, axis=1)
        loaded = _Window(weights, masked, entropies(weights))
        if weights.nbytes <= MAX_CACHED_BYTES:
            self._window = key, loaded
        return loaded

    def _overview(
        self, key: tuple[object, ...], window: _Window, visible: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The downsampled heads and masks."""
        if self._small is None or self._small[0] != key:
            rows, columns = np.ix_(visible, visible)
            whole = len(visible) == window.weights.shape[-1]
            weights = window.weights if whole else window.weights[..., rows, columns]
            masked = window.masked if whole else window.masked[..., rows, columns]
            self._small = key, (pooled(weights, THUMB), ~pooled(~masked, THUMB))
        return self._small[1]


def attentions(subject: Subject, piece: EncodedInput) -> np.ndarray:
    """float32 (L, H, T, T) of one input."""
    encoder = subject.eager_encoder
    arrays = stack([piece], encoder.input_names, encoder.preparer.fill)
    inputs = {name: torch.from_numpy(array).to(encoder.device) for name, array in arrays.items()}
    with torch.inference_mode():
        layers = encoder.attentions(inputs)
    return np.stack([layer[0].float().cpu().numpy() for layer in layers])


def combined(weights: np.ndarray, layer: int, head: int, how: str) -> np.ndarray:
    """(L, H, T, T) → (T, T): one head, the mean over the heads of a layer, or rollout."""
    if how == HEAD:
        array: np.ndarray = weights[layer, head]
        return array
    if how == MEAN:
        mean: np.ndarray = weights[layer].mean(0)
        return mean
    return rollout(weights[: layer + 1])


def rollout(weights: np.ndarray) -> np.ndarray:
    """(L, H, T, T) → (T, T): how much of each token's input reaches each output.

    The product over the layers of (A + I) / 2, with A the mean over the heads: half of each
    layer's output is its residual connection. Rows add up to 1.
    Source: Abnar and Zuidema 2020, section 3, equation 1.
    """
    identity = np.eye(weights.shape[-1])
    flow = identity
    for layer in weights:
        flow = (0.5 * layer.mean(0) + 0.5 * identity) @ flow
    return flow.astype(np.float32)


def _start(subject: Subject, layer: int) -> int:
    """The index of the first layer of the stack that a layer, from 1, belongs to."""
    return max(start for start in subject.eager_encoder.attention_starts if start < layer)


def _index(number: int, count: int, what: str) -> int:
    """`number` if it exists. Raises WorkbenchError."""
    if number <= count:
        return number
    message = {
        "layer": _("There is no layer {number}: the model has {count}."),
        "head": _("There is no head {number}: each layer has {count}."),
        "window": _("There is no window {number}: the text has {count}."),
    }
    raise WorkbenchError(message[what].format(number=number, count=count))


def pooled(values: np.ndarray, most: int) -> np.ndarray:
    """(…, T, T) → (…, S, S) with S = min(T, most): the largest value of each block."""
    size = values.shape[-1]
    if size <= most:
        return np.ascontiguousarray(values)
    edges = np.linspace(0, size, most, endpoint=False).astype(int)
    return np.maximum.reduceat(np.maximum.reduceat(values, edges, axis=-2), edges, axis=-1)


def entropies(weights: np.ndarray) -> np.ndarray:
    """(L, H, T, T) → float32 (L, H): the mean over rows of -Σ p log2 p, in bits."""
    logs = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
    entropies: np.ndarray = -(weights * logs).sum(-1).mean(-1)
    return entropies


def mask_kind(masked: np.ndarray) -> str:
    """The kind of a mask, bool (L, T, T): "none", "causal" (later keys are masked), or "local"
    (anything else).
    """
    if not masked.any():
        return "none"
    later = np.triu(np.ones(masked.shape[-2:], bool), 1)
    return "causal" if (masked == later).all() else "local"
