"""Masked language modelling: settings."""

from workbench.base import learning_rates
from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.pretraining.spec import ObjectiveInfo

RATES = (
    Option(
        "length", "int", 128, N_("Tokens per sequence, special ones included."),
        group="main", low=8, high=100_000, title=N_("Length"),
    ),
    Option(
        "mask_rate", "float", 0.15, N_("Fraction of the tokens that are predicted."),
        low=0.01, high=0.9, title=N_("Predicted tokens"),
    ),
    Option(
        "mask_share", "float", 0.8, N_("Fraction of the predicted tokens that are masked."),
        low=0.0, high=1.0, title=N_("Masked"),
    ),
    Option(
        "random_share", "float", 0.1,
        N_("Fraction of the predicted tokens that are replaced by a random one; the rest is "
           "kept."),
        low=0.0, high=1.0, title=N_("Replaced"),
    ),
)  # fmt: skip
UNIT = Option(
    "mask_unit", "choice", "subword", N_("Predict single subwords or whole words."),
    choices=("subword", "word"), choice_titles=(N_("Subwords"), N_("Whole words")),
    title=N_("Masking unit"),
)  # fmt: skip
INFO = ObjectiveInfo(
    id="masked_lm",
    title=N_("Masked language model"),
    definition=N_(
        "Predict tokens that were masked, replaced or kept, from both sides (Devlin et al. 2018)."
    ),
    needs=(frozenset({"masked_lm"}),),
    heads=("mask",),
    learning_rate=learning_rates.MASKED,
    perplexity=False,
    options=(*RATES, UNIT),
)
