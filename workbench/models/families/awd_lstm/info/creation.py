"""Options of a new AWD-LSTM, with the sizes of fastai as defaults."""

from __future__ import annotations

from workbench.base.i18n import N_
from workbench.models.spec.creation import DIRECTION, MIN_COUNT, Creation, size, vocabulary

CREATION = Creation(
    options=(
        size("layers", 3, N_("Number of LSTM layers."), title=N_("Layers"), high=24),
        size(
            "width", 400, N_("Width of the embeddings and of the last layer."), title=N_("Width")
        ),
        size("hidden", 1152, N_("Width of the layers below the last one."), title=N_("Hidden")),
        vocabulary(60_000, N_("Number of most frequent words, special tokens included.")),
        MIN_COUNT,
        DIRECTION,
    ),
    gives=("states", "next_lm", "previous_lm"),
)  # fmt: skip
