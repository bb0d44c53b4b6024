"""Options of a new character language model, with the defaults of flair."""

from __future__ import annotations

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.models.spec.creation import DIRECTION, MIN_COUNT, Creation, size, vocabulary

CREATION = Creation(
    options=(
        size("layers", 1, N_("Number of LSTM layers."), title=N_("Layers"), high=24),
        size("hidden", 1024, N_("Width of the layers and of the states."), title=N_("Hidden")),
        size(
            "character_width", 100, N_("Width of the character embeddings."),
            title=N_("Character width"),
        ),
        vocabulary(300, N_("Number of characters; the first entry represents all others.")),
        MIN_COUNT,
        Option(
            "model_dropout", "float", 0.1, N_("Dropout that is saved with the model."),
            low=0.0, high=0.9, title=N_("Dropout"),
        ),
        DIRECTION,
    ),
    gives=("states", "next_character", "previous_character"),
)  # fmt: skip
