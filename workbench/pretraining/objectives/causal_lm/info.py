"""Causal language modelling: settings."""

from workbench.base import learning_rates
from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.pretraining.spec import ObjectiveInfo
from workbench.text.segmenters import base as segmenters

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
    learning_rate=learning_rates.CAUSAL,
    perplexity=True,
    others=frozenset({"ar", "tar"}),
    options=(
        Option(
            "length", "int", 128,
            N_("Tokens (or characters) per sequence; recurrent models carry their "
               "hidden state over to the next one."),
            group="main", low=8, high=100_000, title=N_("Length"),
        ),
        Option(
            "ar_alpha", "float", None,
            N_("Activation regularization of recurrent models: strength of the L2 penalty on the "
               "states after dropout (Merity et al. 2017); 0 for none."),
            low=0.0, high=1000.0, title=N_("Activation regularization"),
            automatic=N_("2 for AWD-LSTM, 0 for all others"),
        ),
        Option(
            "tar_beta", "float", None,
            N_("Temporal activation regularization of recurrent models: strength of the L2 penalty "
               "on differences between adjacent states (Merity et al. 2017); 0 for none."),
            low=0.0, high=1000.0, title=N_("Temporal activation regularization"),
            automatic=N_("1 for AWD-LSTM, 0 for all others"),
        ),
        segmenters.option(),
    ),
)  # fmt: skip
