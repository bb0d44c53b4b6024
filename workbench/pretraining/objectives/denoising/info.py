"""Denoising with encoder–decoders: settings."""

from workbench.base import learning_rates
from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.pretraining.spec import ObjectiveInfo

SENTINELS, INFILL = "sentinels", "infill"

INFO = ObjectiveInfo(
    id="denoising",
    title=N_("Denoising"),
    definition=N_(
        "Write the original text, or only the missing spans, from a text with noise (BART, Lewis "
        "et al. 2020; T5, Raffel et al. 2020)."
    ),
    needs=(frozenset({"text_to_text"}),),
    heads=("text",),
    needs_head=True,
    learning_rate=learning_rates.DENOISING,
    perplexity=False,
    options=(
        Option(
            "length", "int", 128, N_("Tokens per text before noise, special ones included."),
            group="main", low=8, high=100_000, title=N_("Length"),
        ),
        Option(
            "noise", "choice", None,
            N_("Sentinels: spans are replaced by numbered sentinels and only they are written. All "
               "others write the whole text: spans replaced by one mask, or single tokens masked, "
               "replaced, deleted or inserted."),
            choices=(SENTINELS, INFILL, "mask", "replace", "delete", "insert", "none"),
            choice_titles=(
                N_("Sentinels"), N_("Infill"), N_("Mask"), N_("Replace"), N_("Delete"),
                N_("Insert"), N_("None"),
            ),
            group="main", title=N_("Noise"),
            automatic=N_("sentinels if the tokenizer has some, as for T5, else infill"),
        ),
        Option(
            "noise_share", "float", None, N_("Fraction of the tokens that are changed."),
            low=0.0, high=0.9, title=N_("Changed tokens"),
            automatic=N_("0.15 for sentinels, 0.3 for all others"),
        ),
        Option(
            "noise_length", "float", 3.0,
            N_("Mean number of tokens of a span, for sentinels and infill."),
            low=1.0, high=100.0, title=N_("Mean span length"),
        ),
        Option(
            "permute_sentences", "bool", False,
            N_("Put the sentences into random order as well. BART: with infill."),
            title=N_("Permute sentences"),
        ),
        Option(
            "rotate", "bool", False, N_("Begin the text at a random token as well."),
            title=N_("Rotate"),
        ),
    ),
)  # fmt: skip
