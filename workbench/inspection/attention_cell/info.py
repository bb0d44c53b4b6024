"""The arithmetic of one row of one attention head: description, options and result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.spec import InspectorInfo, TokenRow

SELF, CROSS = "self", "cross"


@dataclass(frozen=True)
class AttentionCell:
    """softmax(q·k × scale + mask) v of one query, K keys, head width D. All float32.

    queries, keys: the tokens; query: the index of the chosen one. calls: attention layers of each
    kind, in order: the encoder's, then the decoder's. layer, head: from 1, of `calls[kind]` and
    `heads`. q (D,), k (K, D), products (K, D): elementwise q × k; dots, scaled, mask, weights (K,);
    value_norms (K,): weight × the norm of each value; output (D,): their weighted sum.
    mask_kind: "none", "causal" or "local". difference: the largest difference from the model's own
    output over all queries of the head.
    """

    queries: tuple[TokenRow, ...]
    keys: tuple[TokenRow, ...]
    query: int
    kind: str
    kinds: tuple[str, ...]
    layer: int
    layers: int
    head: int
    heads: int
    scale: float
    q: np.ndarray
    k: np.ndarray
    products: np.ndarray
    dots: np.ndarray
    scaled: np.ndarray
    mask: np.ndarray
    weights: np.ndarray
    value_norms: np.ndarray
    output: np.ndarray
    mask_kind: str
    difference: float
    cut: bool = False


INFO = InspectorInfo(
    "attention_cell",
    N_("Attention, step by step"),
    AttentionCell,
    (
        Option("layer", "int", 1, N_("Layer, from 1."), low=1),
        Option("head", "int", 1, N_("Head, from 1."), low=1),
        Option("query", "int", 1, N_("Index of the query token in the input, from 0."), low=0),
        Option(
            "kind",
            "choice",
            SELF,
            N_("Self-attention, or that of a decoder to the encoder."),
            choices=(SELF, CROSS),
            choice_titles=(N_("Self-attention"), N_("Cross-attention")),
        ),
    ),
    shows=N_(
        "Shows how one head computes its output for one token: dot products, scaling, mask, "
        "softmax and the weighted sum of values. Does not show what the model relies on. Vaswani "
        "et al. 2017, equation 1."
    ),
    of_text=("query",),
)
