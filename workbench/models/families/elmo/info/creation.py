"""What a new ELMo model consists of: options, and options.json of AllenNLP from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.models.families.elmo.info import options as configs
from workbench.models.spec.creation import MIN_COUNT, size, vocabulary
from workbench.models.spec.info import Creation

FILTERS = "1x32 2x32 3x64 4x128 5x256 6x512 7x1024"  # of the published models
CLIP = 3  # of cells and outputs, likewise


def filters(text: str) -> list[list[int]]:
    """ "2x32 3x64" → [[2, 32], [3, 64]]. Raises SpecError."""
    parts = [part.partition("x")[::2] for part in text.replace(",", " ").split()]
    pairs = [[int(part) for part in pair if part.isdecimal()] for pair in parts]
    if pairs and all(len(pair) == 2 and 0 < min(pair) <= max(pair) <= 8192 for pair in pairs):
        return pairs
    raise SpecError(
        _(
            "filters is {text!r}, expected pairs such as {example!r}.",
            text=text,
            example="2x32 3x64",
        ),
        hint=_("Each filter is its width in characters, x and their number, from 1 to 8192."),
    )


CREATION = Creation(
    options=(
        size("layers", 2, N_("Number of LSTM layers per direction."), title=N_("Layers"), high=24),
        size("cell", 4096, N_("Width of the LSTM cells."), title=N_("Cell"), high=16384),
        size(
            "projection", 512,
            N_("Width of the word vectors and of the output of each direction; hidden states "
                "are twice as wide."),
            title=N_("Projection"),
        ),
        Option(
            "filters", "text", FILTERS,
            N_("Filters of the character CNN: width in characters x number, separated by spaces."),
            group="main", title=N_("Filters"), check=filters,
        ),
        size(
            "character_width", 16, N_("Width of the character embeddings."),
            title=N_("Character width"), high=1024,
        ),
        size(
            "highways", 2, N_("Number of highway layers."), title=N_("Highway layers"),
            low=0, high=24,
        ),
        size(
            "longest_word", 50, N_("Maximum bytes per word, including two boundary markers."),
            title=N_("Longest word"), low=5, high=1000,
        ),
        vocabulary(30_000, N_("Vocabulary size of the output layer: the most frequent words.")),
        MIN_COUNT,
    ),
    gives=("states", "next_lm", "previous_lm"),
)  # fmt: skip


def published(options: Mapping[str, Any]) -> dict[str, Any]:
    """The content of options.json. Raises SpecError for a filter wider than the words."""
    pairs = filters(options["filters"])
    widest = max(width for width, _count in pairs)
    if widest > options["longest_word"]:
        raise SpecError(
            _(
                "filters has one of width {width}, but longest_word is {longest}.",
                width=widest,
                longest=options["longest_word"],
            ),
            hint=_("Use narrower filters or longer words."),
        )
    return {
        "lstm": {
            "use_skip_connections": True,
            "projection_dim": options["projection"],
            "cell_clip": CLIP,
            "proj_clip": CLIP,
            "dim": options["cell"],
            "n_layers": options["layers"],
        },
        "char_cnn": {
            "activation": "relu",
            "filters": pairs,
            "n_highway": options["highways"],
            "embedding": {"dim": options["character_width"]},
            "n_characters": configs.CHARACTER_COUNTS[1],
            "max_characters_per_token": options["longest_word"],
        },
    }
