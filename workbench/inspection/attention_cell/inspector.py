"""The arithmetic of one row of one attention head: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.attention.inspector import mask_kind
from workbench.inspection.attention_cell.info import CROSS, INFO, SELF, AttentionCell
from workbench.inspection.attention_cell.recording import Call, record
from workbench.inspection.base import token_rows, words_of
from workbench.inspection.spec import TokenRow
from workbench.inspection.subject import Subject
from workbench.runtime.inputs import stack
from workbench.text.document import Document

LONGEST = 256  # tokens of a pretrained model, as for the matrices
LOWEST = -1e30  # what masks add to scores in place of -inf, at most


class AttentionCellInspector:
    """For models that compute attention with torch's fused function; see `recording`."""

    info = INFO

    def __init__(self) -> None:
        self._calls: tuple[object, tuple[list[Call], tuple[TokenRow, ...], bool]] | None = None

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> AttentionCell:
        """Raises WorkbenchError for a layer, head or token that does not exist."""
        (document,) = documents
        calls, tokens, cut = self._read(subject, document)
        kinds = tuple(
            kind for kind in (SELF, CROSS) if any(one.cross == (kind == CROSS) for one in calls)
        )
        if not kinds:
            raise WorkbenchError(
                _("{model} computes its attention in a way that cannot be recorded.").format(
                    model=subject.info.name
                ),
                hint=_("Use the view Attention, which shows the weights."),
            )
        kind = options["kind"] if options["kind"] in kinds else kinds[0]
        layers = [one for one in calls if one.cross == (kind == CROSS)]
        _check(options["layer"], len(layers), _("There is no layer {number}: it has {count}."))
        call = layers[options["layer"] - 1]
        _check(options["head"], len(call.q), _("There is no head {number}: it has {count}."))
        query = min(options["query"], len(tokens) - 1)
        return _result(call, tokens, query, kind, kinds, len(layers), options, cut)

    def _read(
        self, subject: Subject, document: Document
    ) -> tuple[list[Call], tuple[TokenRow, ...], bool]:
        key = (id(subject), document.texts, dict(document.tokens))
        if self._calls is None or self._calls[0] != key:
            prepared = subject.prepared(document, longest=LONGEST)
            piece, encoder = prepared.inputs[0], subject.encoder
            arrays = stack([piece], encoder.input_names, encoder.preparer.fill)
            inputs = {
                name: torch.from_numpy(one).to(encoder.device) for name, one in arrays.items()
            }
            rows = token_rows(piece, document, words_of(document, subject.texts), subject.preparer)
            cut = bool(prepared.cut[0]) or len(prepared.inputs) > 1
            self._calls = key, (record(encoder, inputs), tuple(rows), cut)
        return self._calls[1]


def _check(number: int, count: int, told: str) -> None:
    if number > count:
        raise WorkbenchError(told.format(number=number, count=count))


def _result(
    call: Call,
    tokens: tuple[TokenRow, ...],
    query: int,
    kind: str,
    kinds: tuple[str, ...],
    layers: int,
    options: Mapping[str, Any],
    cut: bool,
) -> AttentionCell:
    head = options["head"] - 1
    q, k, v = call.q[head], call.k[head], call.v[head]
    mask = call.mask[head if len(call.mask) > 1 else 0]  # (T, K)
    weights = (q @ k.T * call.scale + mask).softmax(-1)  # (T, K)
    output = weights @ v  # (T, D)
    dots = (q[query] * k).sum(-1)
    masked = (mask <= LOWEST).cpu().numpy()
    return AttentionCell(
        tokens,
        tokens,
        query,
        kind,
        kinds,
        options["layer"],
        layers,
        options["head"],
        len(call.q),
        call.scale,
        _array(q[query]),
        _array(k),
        _array(q[query] * k),
        _array(dots),
        _array(dots * call.scale),
        _array(mask[query].clamp(min=LOWEST)),
        _array(weights[query]),
        _array(weights[query] * v.norm(dim=-1)),
        _array(output[query]),
        mask_kind(masked[None]),
        float((output - call.output[head]).abs().max()),
        cut,
    )


def _array(values: Tensor) -> np.ndarray:
    found: np.ndarray = values.float().cpu().numpy()
    return found
