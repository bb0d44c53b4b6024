"""Title, definition and rule for zero division of every score, as display text."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_, _

ZERO = N_("Zero division: counts as 0.")
LEFT_OUT = N_("Zero division: labels without a document are left out.")
UNDEFINED = N_("Zero division: not defined without a document of the label.")
NEVER = N_("Zero division: cannot occur with at least one document.")
CONSTANT = N_("Zero division: 0 if all numbers of either side are equal.")
NO_ANSWER = N_("Zero division: without an answer 1 if none is predicted, else 0.")
CHANCE = N_("Zero division: 0 if all documents have one label on either side.")
NO_PRONOUN = N_("Zero division: not defined without such a pronoun; without names 0.")
NO_MASCULINE = N_("Zero division: not defined if the F1 of masculine pronouns is 0.")


@dataclass(frozen=True)
class Definition:
    """Display texts before translation; `source`: paper or library with the same definition.

    is_error: in the unit of gold (or its square), not a fraction; lower is better. is_ratio: of two
    scores, not a fraction of 1.
    """

    title: str
    text: str
    zero: str = ZERO
    source: str = "scikit-learn"
    is_error: bool = False
    is_ratio: bool = False

    def sentence(self) -> str:
        """Definition, rule and source, for a tooltip."""
        return _(
            "{definition} {rule} As defined by {source}.",
            definition=_(self.text),
            rule=_(self.zero),
            source=self.source,
        )


def _averages(name: str, precision: str, recall: str, f1: str, text: str) -> dict[str, Definition]:
    return {
        f"{name}_precision": Definition(precision, text),
        f"{name}_recall": Definition(recall, text),
        f"{name}_f1": Definition(f1, text),
    }


def _spans(
    name: str, precision: str, recall: str, f1: str, text: str, source: str = "nervaluate"
) -> dict[str, Definition]:
    averages = _averages(name, precision, recall, f1, text)
    return {
        key: Definition(definition.title, definition.text, ZERO, source)
        for key, definition in averages.items()
    }


MICRO = N_("All decisions of all labels pooled.")
MACRO = N_("Unweighted mean over the labels that are gold or predicted.")
WEIGHTED = N_("Mean over labels, weighted by their number in gold.")
SAMPLES = N_("Mean over documents of the score of the label set of each.")
STRICT = N_(
    "Strict, IOB2: a span is correct if both boundaries and the label equal gold; all spans pooled."
)
EXACT = N_("Exact: a span is correct if both boundaries equal gold, whatever the label.")
PARTIAL = N_("Partial: equal boundaries count 1, overlapping spans one half, whatever the label.")
TYPE = N_("Type: a span is correct if it overlaps a gold span of the same label.")
CONLL = N_(
    "Default mode (conlleval): strict spans of words; an I- tag that continues no span begins one. "
    "Gold spans that are not words are widened to words."
)

ANSWER_EXACT = N_(
    "Fraction of questions whose answer equals a gold answer, without case, punctuation and "
    "articles."
)
ANSWER_F1 = N_(
    "Mean over questions of the F1 of the tokens of the answer and the best gold answer, without "
    "case, punctuation and articles."
)
SQUAD = "SQuAD 2.0"
PRONOUNS = N_(
    "Each name of each document is one decision: whether the pronoun means it. F1 of these "
    "decisions over all pronouns."
)
MASCULINE = N_(
    "F1 of the decisions whether a masculine pronoun (he, him, his) means each of the names."
)
FEMININE = N_("F1 of the decisions whether a feminine pronoun (she, her, hers) means each name.")
BIAS = N_(
    "F1 of feminine pronouns divided by that of masculine ones; 1 is no difference, below 1 "
    "feminine pronouns are resolved worse."
)
GAP = "GAP (Webster et al. 2018)"

DEFINITIONS: dict[str, Definition] = {
    "accuracy": Definition(N_("Accuracy"), N_("Fraction of correct labels."), NEVER),
    **_averages("micro", N_("Micro precision"), N_("Micro recall"), N_("Micro F1"), MICRO),
    **_averages("macro", N_("Macro precision"), N_("Macro recall"), N_("Macro F1"), MACRO),
    **_averages(
        "weighted",
        N_("Weighted precision"),
        N_("Weighted recall"),
        N_("Weighted F1"),
        WEIGHTED,
    ),
    **_averages(
        "samples",
        N_("Precision per document"),
        N_("Recall per document"),
        N_("F1 per document"),
        SAMPLES,
    ),
    "mcc": Definition(
        N_("MCC"),
        N_(
            "Matthews correlation coefficient, from −1 to 1, for several classes R_K "
            "(Gorodkin 2004); 0 is chance."
        ),
        CHANCE,
    ),
    "kappa": Definition(
        N_("Cohen’s kappa"),
        N_("Agreement beyond chance, (accuracy − chance) / (1 − chance) (Cohen 1960)."),
        CHANCE,
    ),
    "mean_average_precision": Definition(
        N_("Mean average precision"),
        N_(
            "Mean over labels of the average precision of the documents ranked by their score: "
            "sum of precision × increase of recall over thresholds."
        ),
        LEFT_OUT,
    ),
    "macro_roc_auc": Definition(
        N_("ROC AUC"),
        N_(
            "Mean over labels of the area under the ROC curve, each label against all others: the "
            "probability that a document of the label is ranked above another one."
        ),
        LEFT_OUT,
    ),
    "mean_reciprocal_rank": Definition(
        N_("Mean reciprocal rank"),
        N_("Mean of 1 / rank of the correct choice by its score; equal scores count against it."),
        NEVER,
    ),
    "exact_match": Definition(
        N_("Exact match"), N_("Fraction of documents whose set of labels equals gold."), NEVER
    ),
    "decision_accuracy": Definition(
        N_("Label accuracy"),
        N_(
            "Fraction of correct yes/no decisions over all documents and labels (1 − Hamming loss)."
        ),
        NEVER,
    ),
    **_spans("span", N_("Precision"), N_("Recall"), N_("Span F1"), STRICT, "seqeval"),
    "span_macro_f1": Definition(N_("Macro F1 of spans"), MACRO, ZERO, "seqeval"),
    **_spans("exact", N_("Exact precision"), N_("Exact recall"), N_("Exact F1"), EXACT),
    **_spans("partial", N_("Partial precision"), N_("Partial recall"), N_("Partial F1"), PARTIAL),
    **_spans("type", N_("Type precision"), N_("Type recall"), N_("Type F1"), TYPE),
    **_spans(
        "conll",
        N_("Default precision"),
        N_("Default recall"),
        N_("Default F1"),
        CONLL,
        "seqeval",
    ),
    "token_accuracy": Definition(
        N_("Token accuracy"), N_("Fraction of words with the correct tag."), ZERO, "seqeval"
    ),
    "pearson": Definition(
        N_("Pearson"),
        N_("Linear correlation of gold and predicted numbers, from −1 to 1."),
        CONSTANT,
        "scipy",
    ),
    "spearman": Definition(
        N_("Spearman"),
        N_("Correlation of the ranks, from −1 to 1; equal numbers share their mean rank."),
        CONSTANT,
        "scipy",
    ),
    "mse": Definition(N_("MSE"), N_("Mean squared error; 0 is best."), NEVER, is_error=True),
    "mae": Definition(N_("MAE"), N_("Mean absolute error; 0 is best."), NEVER, is_error=True),
    "answer_exact_match": Definition(N_("Exact match"), ANSWER_EXACT, NEVER, SQUAD),
    "answer_f1": Definition(N_("Answer F1"), ANSWER_F1, NO_ANSWER, SQUAD),
    "perplexity": Definition(
        N_("Perplexity per token"),
        N_("exp of the mean negative log-likelihood of the tokens; 1 is best."),
        NEVER,
        "Mielke 2019",
    ),
    "perplexity_per_word": Definition(
        N_("Perplexity per word"),
        N_(
            "exp of the negative log-likelihood of the text divided by its words, so that models "
            "with different tokenizers can be compared; 1 is best."
        ),
        NEVER,
        "Mielke 2019",
    ),
    "pronoun_f1": Definition(N_("Pronoun F1"), PRONOUNS, NO_PRONOUN, GAP),
    "pronoun_masculine_f1": Definition(N_("Pronoun F1, masculine"), MASCULINE, NO_PRONOUN, GAP),
    "pronoun_feminine_f1": Definition(N_("Pronoun F1, feminine"), FEMININE, NO_PRONOUN, GAP),
    "pronoun_bias": Definition(N_("Pronoun bias, F / M"), BIAS, NO_MASCULINE, GAP, is_ratio=True),
}


LABEL_DEFINITIONS: dict[str, Definition] = {  # of one label
    "precision": Definition(N_("Precision"), N_("Correct predictions of the label / predicted.")),
    "recall": Definition(N_("Recall"), N_("Correct predictions of the label / gold.")),
    "f1": Definition(N_("F1"), N_("Harmonic mean of precision and recall of the label.")),
    "average_precision": Definition(
        N_("Average precision"),
        N_(
            "Average precision of the documents ranked by their score for the label: sum of "
            "precision × increase of recall over thresholds."
        ),
        UNDEFINED,
    ),
    "roc_auc": Definition(
        N_("ROC AUC"),
        N_("Area under the ROC curve, this label against all others."),
        UNDEFINED,
    ),
}


def title(name: str) -> str:
    """The display title of a score; words made from its name if it has no definition."""
    if name in DEFINITIONS:
        return _(DEFINITIONS[name].title)
    return name.replace("_", " ").capitalize() if name.islower() else name


def is_error(name: str) -> bool:
    """Whether a score is in the unit of gold, with 0 as the best value."""
    return name in DEFINITIONS and DEFINITIONS[name].is_error


def is_ratio(name: str) -> bool:
    """Whether a score is the ratio of two scores, of which 1 says that they are equal."""
    return name in DEFINITIONS and DEFINITIONS[name].is_ratio


def sentence(name: str) -> str:
    """Definition, rule for zero division and source; "" without a definition."""
    return DEFINITIONS[name].sentence() if name in DEFINITIONS else ""
