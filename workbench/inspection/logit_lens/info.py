"""What a language model predicts from the states of each layer: description and result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.masked_words.info import read_words
from workbench.inspection.spec import InspectorInfo, TokenTable


@dataclass(frozen=True)
class LogitLens(TokenTable):
    """Arrays (layers + 1, T) for every layer, embeddings first, and the T tokens of the text.

    best: the most probable token; shares float32: its probability. final float32: the probability
    of the token that the last layer predicts. entropies float32: of the whole distribution, in
    bits. positions: the index of each column among `tokens`. masked: the model predicts the token
    itself, else the next one. hidden: indices of words that were masked.
    """

    best: tuple[tuple[str, ...], ...] = ()
    shares: np.ndarray | None = None
    final: np.ndarray | None = None
    entropies: np.ndarray | None = None
    positions: tuple[int, ...] = ()
    masked: bool = False
    hidden: tuple[int, ...] = ()


INFO = InspectorInfo(
    "logit_lens",
    N_("Prediction by layer"),
    LogitLens,
    (
        Option(
            "words",
            "text",
            "",
            N_("Indices of words to mask in a masked model, from 0, as in 0,4."),
            check=read_words,
        ),
        Option(
            "most",
            "int",
            128,
            N_("Maximum number of tokens, from the beginning of the text."),
            low=1,
        ),
    ),
    shows=N_(
        "Shows which token the output layer would predict from the states of each layer (logit "
        "lens), with its probability. Does not show what a layer computes: lower layers were not "
        "trained to be read by the output layer. nostalgebraist 2020; Belrose et al. 2023."
    ),
    of_text=("words",),
)
