"""Bidirectional language modelling: settings."""

from workbench.base import learning_rates
from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.pretraining.spec import ObjectiveInfo
from workbench.text.segmenters import base as segmenters

INFO = ObjectiveInfo(
    id="bidirectional_lm",
    title=N_("Bidirectional language model"),
    definition=N_(
        "Two language models, one reading forward and one backward, each with its own loss "
        "(Peters et al. 2018)."
    ),
    needs=(
        frozenset({"next_lm", "previous_lm"}),
        frozenset({"next_character", "previous_character"}),
    ),
    heads=("next",),
    learning_rate=learning_rates.BIDIRECTIONAL,
    perplexity=True,
    options=(
        Option(
            "length", "int", 20, N_("Words per batch and stream; the state is carried over."),
            group="main", low=2, high=100_000, title=N_("Length"),
        ),
        segmenters.option(),
    ),
)  # fmt: skip
