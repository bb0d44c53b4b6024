"""Span masking and the span boundary objective: settings."""

from workbench.base import learning_rates
from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.pretraining.objectives.masked_lm.info import RATES
from workbench.pretraining.spec import ObjectiveInfo

INFO = ObjectiveInfo(
    id="span_masking",
    title=N_("Span masking with boundaries"),
    definition=N_(
        "Predict contiguous spans of words from both sides, and each token of a span from the two "
        "tokens beside the span and its position in it (SpanBERT, Joshi et al. 2020)."
    ),
    needs=(frozenset({"masked_lm"}), frozenset({"masked_lm", "span_boundary"})),
    heads=("mask",),
    learning_rate=learning_rates.MASKED,
    perplexity=False,
    others=frozenset({"sbo"}),
    options=(
        *RATES,
        Option(
            "span_p", "float", 0.2,
            N_("Lengths of spans, in words, are drawn from a geometric distribution with this "
               "parameter."),
            low=0.01, high=0.99, title=N_("Span length parameter"),
        ),
        Option(
            "span_longest", "int", 10, N_("Maximum number of words in a span."),
            low=1, high=100, title=N_("Longest span"),
        ),
        Option(
            "boundary", "bool", True,
            N_("Add the span boundary objective to the loss of the masked language model."),
            title=N_("Span boundary objective"),
        ),
    ),
)  # fmt: skip
