"""Where each head of an encoder attends to: the heavy half."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.attention.info import INFO, Attention
from workbench.inspection.base import stitch, token_rows, words_of
from workbench.inspection.subject import Subject
from workbench.runtime.inputs import EncodedInput, stack
from workbench.text.document import Document

THUMB = 32  # cells of a head in the overview, each way
LONGEST = 256  # tokens of a window of a pretrained model, which has no limit of its own
MOST_KEPT = 400_000_000  # bytes of weights that are kept for the next head


class AttentionInspector:
    """Needs an encoder that gives its attention weights; they are kept for the next head."""

    info = INFO

    def __init__(self) -> None:
        self._last: tuple[Any, np.ndarray] | None = None

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> Attention:
        """Raises WorkbenchError for a layer, head or window that does not exist."""
        (document,) = documents
        prepared = subject.prepared(document, longest=LONGEST)
        window = _index(options["window"], len(prepared.inputs), "window") - 1
        piece = prepared.inputs[window]
        every = self._weights(subject, piece)  # (L, H, T, T)
        layer = _index(options["layer"], every.shape[0], "layer")
        head = _index(options["head"], every.shape[1], "head")
        shown = np.arange(len(piece)) if options["special"] else np.flatnonzero(piece.text >= 0)
        masked = np.all(every == 0, axis=1)  # (L, T, T)
        rows = token_rows(piece, document, words_of(document, subject.texts), subject.preparer)
        places = {where: number for number, where in enumerate(stitch(prepared.inputs))}
        one, seen = every[layer - 1, head - 1], np.ix_(shown, shown)
        grid = (..., *seen)
        return Attention(
            tuple(rows[at] for at in shown),
            tuple(places.get((window, int(at)), -1) for at in shown),
            window + 1,
            len(prepared.inputs),
            layer,
            head,
            pooled(every[grid], THUMB),
            ~pooled(~masked[grid], THUMB),
            entropies(every),
            one[seen],
            masked[layer - 1][seen],
            1 - one[seen].sum(1) if len(shown) < len(piece) else np.zeros(len(shown), np.float32),
            mask_kind(masked),
            bool(prepared.cut[0]),
        )

    def _weights(self, subject: Subject, piece: EncodedInput) -> np.ndarray:
        """float32 (L, H, T, T) of one input."""
        key = (id(subject), piece.ids.tobytes(), piece.text.tobytes())
        if self._last is None or self._last[0] != key:
            found = attentions(subject, piece)
            if found.nbytes > MOST_KEPT:
                return found
            self._last = key, found
        return self._last[1]


def attentions(subject: Subject, piece: EncodedInput) -> np.ndarray:
    """float32 (L, H, T, T) of one input."""
    encoder = subject.eager_encoder
    arrays = stack([piece], encoder.input_names, encoder.preparer.fill)
    inputs = {name: torch.from_numpy(one).to(encoder.device) for name, one in arrays.items()}
    with torch.inference_mode():
        layers = encoder.attentions(inputs)
    return np.stack([layer[0].float().cpu().numpy() for layer in layers])


def _index(number: int, count: int, what: str) -> int:
    """`number` if there are so many. Raises WorkbenchError."""
    if number <= count:
        return number
    told = {
        "layer": _("There is no layer {number}: the model has {count}."),
        "head": _("There is no head {number}: each layer has {count}."),
        "window": _("There is no window {number}: the text has {count}."),
    }
    raise WorkbenchError(told[what].format(number=number, count=count))


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
    return -(weights * logs).sum(-1).mean(-1)


def mask_kind(masked: np.ndarray) -> str:
    """Of bool (L, T, T): "none", "causal" (what comes later), or "local" (anything else)."""
    if not masked.any():
        return "none"
    later = np.triu(np.ones(masked.shape[-2:], bool), 1)
    return "causal" if (masked == later).all() else "local"
