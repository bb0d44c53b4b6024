"""Attention weights of an encoder: description, options and result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.spec import InspectorInfo, TokenRow

HEAD, MEAN, ROLLOUT = "head", "mean", "rollout"


@dataclass(frozen=True)
class Attention:
    """Attention weights of one window of a text, T tokens; L layers of H heads.

    tokens: those of the window, without special tokens if they are hidden. positions: the index
    of each among all tokens of the text, -1 for one that another window shows.
    window: the selected one of `windows`; layer, head: those of `weights`. All count from 1.
    overview float32 (L, H, S, S): each head, S = min(T, 32); where T is larger, a cell is the
    largest weight of a block. overview_masked bool (L, S, S).
    entropies float32 (L, H): mean entropy of the rows of each head, in bits.
    weights float32 (T, T): row = query, column = key; rows add up to 1 with `hidden`.
    masked bool (T, T): keys that are masked for a query.
    hidden float32 (T,): weight of each query on hidden tokens; 0 if all are shown.
    combine: what `weights` are: HEAD, MEAN of the heads of the layer, or ROLLOUT of the mean
    weights of all layers of its stack up to it (Abnar and Zuidema 2020); a decoder is a stack of
    its own.
    mask: of `weights`: "none" (bidirectional), "causal", or "local" where distant keys are masked
    too.
    """

    tokens: tuple[TokenRow, ...]
    positions: tuple[int, ...]
    window: int
    windows: int
    layer: int
    head: int
    overview: np.ndarray
    overview_masked: np.ndarray
    entropies: np.ndarray
    weights: np.ndarray
    masked: np.ndarray
    hidden: np.ndarray
    mask: str
    cut: bool = False
    combine: str = HEAD

    @property
    def layers(self) -> int:
        return int(self.overview.shape[0])

    @property
    def heads(self) -> int:
        return int(self.overview.shape[1])


INFO = InspectorInfo(
    "attention",
    N_("Attention"),
    Attention,
    (
        Option("layer", "int", 1, N_("Layer of the matrix, from 1."), low=1),
        Option("head", "int", 1, N_("Head of the matrix, from 1."), low=1),
        Option(
            "combine",
            "choice",
            HEAD,
            N_("One head, the mean of the layer's heads, or rollout up to the layer."),
            choices=(HEAD, MEAN, ROLLOUT),
            choice_titles=(N_("Head"), N_("Layer mean"), N_("Rollout")),
        ),
        Option("window", "int", 1, N_("Window of a long text, from 1."), low=1),
        Option("special", "bool", True, N_("Show special tokens such as [CLS].")),
    ),
    shows=N_(
        "Shows how each head distributes its attention over the tokens. Does not show what the "
        "model relies on: high attention is not an explanation. Vaswani et al. 2017; Jain and "
        "Wallace 2019; Abnar and Zuidema 2020 (rollout)."
    ),
    of_text=("window",),
)
