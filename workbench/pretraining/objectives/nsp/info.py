"""Next sentence prediction with masked language modelling: settings."""

from workbench.base import learning_rates
from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.pretraining.objectives.masked_lm.info import RATES, UNIT
from workbench.pretraining.spec import ObjectiveInfo

INFO = ObjectiveInfo(
    id="nsp",
    title=N_("Next sentence and masked language model"),
    definition=N_(
        "Predict masked tokens of two segments, and whether the second follows the first in its "
        "document (Devlin et al. 2018)."
    ),
    needs=(frozenset({"sentence_pairs"}),),
    heads=("pretraining",),
    needs_head=True,
    learning_rate=learning_rates.MASKED,
    perplexity=False,
    others=frozenset({"nsp"}),
    options=(
        *RATES,
        UNIT,
        Option(
            "next_random", "float", 0.5,
            N_("Fraction of the pairs whose second segment comes from another document."),
            low=0.0, high=1.0, title=N_("Random next segments"),
        ),
        Option(
            "short_share", "float", 0.1,
            N_("Fraction of the pairs that are shorter, of random length."),
            low=0.0, high=1.0, title=N_("Short pairs"),
        ),
    ),
)  # fmt: skip
