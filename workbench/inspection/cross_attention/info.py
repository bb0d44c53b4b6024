"""Cross-attention of an encoder–decoder: description, options and result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.spec import InspectorInfo, TokenRow


@dataclass(frozen=True)
class CrossAttention:
    """How the decoder distributes its attention over T source tokens while it writes S tokens.

    source: the tokens that the encoder reads. written: those of the target, one per row. target:
    its text. own: whether the model chose it (its prediction, or its output), not the user.
    layer, head: those of `weights`, of `layers` × `heads`; all count from 1.
    weights float32 (S, T): row = the step that writes the token, column = source token; rows sum
    to 1. entropies float32 (layers, heads): mean entropy of the rows of each head, in bits.
    """

    source: tuple[TokenRow, ...]
    written: tuple[str, ...]
    target: str
    own: bool
    layer: int
    head: int
    layers: int
    heads: int
    weights: np.ndarray
    entropies: np.ndarray
    cut: bool = False


INFO = InspectorInfo(
    "cross_attention",
    N_("Cross-attention"),
    CrossAttention,
    (
        Option(
            "target", "text", "",
            N_("Target text of the decoder. Default: the predicted label of a run, else the "
                "text that the model generates."),
            title=N_("Target text"),
        ),
        Option("layer", "int", 1, N_("Layer of the decoder, from 1."), low=1, title=N_("Layer")),
        Option("head", "int", 1, N_("Head of the layer, from 1."), low=1, title=N_("Head")),
    ),
    shows=N_(
        "Shows which source tokens the decoder attends to at each step, before it writes the token "
        "of that row. Does not show what the model relies on: high attention is not an "
        "explanation. Vaswani et al. 2017; Jain and Wallace 2019."
    ),
    of_text=("target",),
)  # fmt: skip
