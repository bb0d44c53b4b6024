"""Cross-attention of an encoder–decoder: the torch part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.attention.inspector import entropies
from workbench.inspection.base import piece_text, token_rows, words_of
from workbench.inspection.cross_attention.info import INFO, CrossAttention
from workbench.inspection.subject import Subject
from workbench.inspection.targets import subwords_of, target_of
from workbench.runtime.inputs import stack
from workbench.text.document import Document

MAX_SOURCE_UNITS = 256  # units


class CrossAttentionInspector:
    """Needs a model that writes text and returns attention weights."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> CrossAttention:
        """Raises WorkbenchError for a layer or head that does not exist, and for a run whose own
        head has replaced the decoder.
        """
        (document,) = documents
        encoder, preparer = subject.writer, subwords_of(subject.writer)
        longest = min(MAX_SOURCE_UNITS, encoder.max_length)
        prepared = preparer.whole([document], longest, texts=subject.texts)
        piece = prepared.inputs[0]
        arrays = stack([piece], encoder.input_names, preparer.fill)
        inputs = {
            name: torch.from_numpy(array).to(encoder.device) for name, array in arrays.items()
        }
        target, own, ids = target_of(subject, document, inputs, str(options["target"]))
        with torch.inference_mode():
            layers = encoder.cross_attentions(inputs, torch.tensor([ids], device=encoder.device))
        weights = np.stack([layer[0].float().cpu().numpy() for layer in layers])  # (L, H, S, T)
        layer = _index(options["layer"], weights.shape[0], _("layer"))
        head = _index(options["head"], weights.shape[1], _("head"))
        rows = token_rows(piece, document, words_of(document, subject.texts), preparer)
        return CrossAttention(
            tuple(rows),
            tuple(piece_text(preparer.tokenizer.piece(id), "") for id in ids),
            target,
            own,
            layer,
            head,
            weights.shape[0],
            weights.shape[1],
            weights[layer - 1, head - 1],
            entropies(weights),
            bool(prepared.cut[0]),
        )


def _index(number: int, count: int, what: str) -> int:
    """`number` if it exists. Raises WorkbenchError."""
    if number <= count:
        return number
    message = _("There is no {what} {number}: the decoder has {count}.")
    raise WorkbenchError(message.format(what=what, number=number, count=count))
