"""The arithmetic of one row of one attention head: description, options and result."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.spec import InspectorInfo, TokenRow

SELF, CROSS = "self", "cross"
FIRST_WORD = 1  # the default query, the token after [CLS]


@dataclass(frozen=True)
class AttentionCell:
    """softmax(scaled + bias + mask) v of one query, K keys, head width D. All float32.

    queries, keys: the tokens; query: the index of the chosen one. A decoder's queries are what it
    has read before it writes the next token. kinds: self, cross. layer, head: from 1, of `layers`
    and `heads`; the layers of self-attention are the encoder's, then the decoder's.
    q (D,), k (K, D), products (K, D): elementwise q × k; dots, scaled, bias, mask, weights (K,);
    scaled: dots × scale, with a `cap` above 0 cap × tanh(dots × scale / cap). bias: what the model
    adds otherwise, as for relative positions. value_norms (K,): weight × the norm of each value;
    output (D,): their weighted sum. mask_kind: "none", "causal" or "local". difference: the largest
    difference from the model's own output over all queries of the head. target: the text that the
    decoder writes, "" where it reads the same text or there is none.
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
    cap: float = 0.0
    bias: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    target: str = ""


INFO = InspectorInfo(
    "attention_cell",
    N_("Attention, step by step"),
    AttentionCell,
    (
        Option("layer", "int", 1, N_("Layer, from 1."), low=1),
        Option("head", "int", 1, N_("Head, from 1."), low=1),
        Option(
            "query", "int", FIRST_WORD, N_("Index of the query token in the input, from 0."), low=0
        ),
        Option(
            "kind",
            "choice",
            SELF,
            N_("Self-attention, or cross-attention of a decoder to the encoder."),
            choices=(SELF, CROSS),
            choice_titles=(N_("Self-attention"), N_("Cross-attention")),
        ),
        Option(
            "target",
            "text",
            "",
            N_(
                "Target text of the decoder. Default: the predicted label of a run, else the "
                "text that the model generates."
            ),
            title=N_("Target text"),
        ),
    ),
    shows=N_(
        "Shows how one head computes its output for one token: dot products, scaling, mask, "
        "softmax and the weighted sum of values. Does not show what the model relies on. Vaswani "
        "et al. 2017, equation 1."
    ),
    of_text=("query", "target"),
)
