"""Causal language modelling: settings."""

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.pretraining.spec import ObjectiveInfo

INFO = ObjectiveInfo(
    id="causal_lm",
    title=N_("Causal language model"),
    definition=N_("Predict every unit from the units before it."),
    needs="next_lm",
    head="next",
    learning_rate=(5e-5, 1e-3),
    perplexity=True,
    options=(
        Option(
            "length", "int", 128, N_("Units per sequence."),
            group="main", low=8, high=100_000, title=N_("Length"),
        ),
    ),
)  # fmt: skip
