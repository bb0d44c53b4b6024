"""Causal language modelling: settings."""

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.pretraining.spec import ObjectiveInfo

INFO = ObjectiveInfo(
    id="causal_lm",
    title=N_("Causal language model"),
    definition=N_(
        "Predict every word, subword or character from those before it; from those after it for a "
        "backward model."
    ),
    needs=tuple(
        frozenset({given})
        for given in ("next_lm", "previous_lm", "next_character", "previous_character")
    ),
    heads=("next", "previous"),
    learning_rate=(5e-5, 1e-3),
    perplexity=True,
    options=(
        Option(
            "length", "int", 128,
            N_("Units per sequence; recurrent models carry their state on to the next one."),
            group="main", low=8, high=100_000, title=N_("Length"),
        ),
    ),
)  # fmt: skip
