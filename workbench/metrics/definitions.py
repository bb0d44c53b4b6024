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
    scores, or a difference in a unit of its own: not a fraction of 1, and more is not better.
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
    "Strict, IOB2: a span is correct if both boundaries and the label equal gold; all spans "
    "pooled. Of constituents this is the labelled bracketing F1 (PARSEVAL), with punctuation."
)
EXACT = N_("Exact: a span is correct if both boundaries equal gold, whatever the label.")
PARTIAL = N_("Partial: equal boundaries count 1, overlapping spans one half, whatever the label.")
TYPE = N_("Type: a span is correct if it overlaps a gold span of the same label.")
CONLL = N_(
    "Default mode (conlleval): strict spans of words; an I- tag that continues no span begins one. "
    "Gold spans that are not words are widened to words."
)

TRIPLES = N_(
    "Triples of two spans and a label: a relation is correct if the boundaries of both spans, the "
    "label and the direction equal gold; labels without a direction count in either order. All "
    "relations pooled."
)
ARGUMENTS = N_(
    "Triples of a predicate, an argument and its role: an argument is correct if its boundaries "
    "and its role equal gold. All arguments pooled."
)
UNLABELLED = N_("As F1, whatever the label.")
TEXT_TOKENS = N_(
    "Words that stand at the same place in the written text and in gold, divided by those of the "
    "longer one, without case and punctuation; mean over documents."
)
STRICT_TRIPLES = N_(
    "As F1, and the labels of both spans equal gold (“Rel+”). Lower than F1 if predicted "
    "spans have wrong labels."
)
ZHONG = "PURE (Zhong & Chen 2021)"

ANSWER_EXACT = N_(
    "Fraction of questions whose answer equals a gold answer, without case, punctuation and "
    "articles."
)
ANSWER_F1 = N_(
    "Mean over questions of the F1 of the tokens of the answer and the best gold answer, without "
    "case, punctuation and articles."
)
ALPHA = N_(
    "1 − observed / expected disagreement, for any number of annotators and with missing labels; "
    "0 is chance."
)
SAME = N_("Not defined if nothing can differ, such as with one label only.")
ARTSTEIN = "Artstein, Poesio 2008"
SQUAD = "SQuAD 2.0"
ROUGE_L = N_(
    "Mean over documents of the F1 of the longest common subsequence of words of the written text "
    "and gold, without case, punctuation and stemming (Lin 2004)."
)
TEXT_EXACT = N_(
    "Fraction of documents whose written text equals gold, without case, punctuation and articles."
)
NO_WORDS = N_("Zero division: of texts without words 1 if both are, else 0.")
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
MUC = N_("MUC: links that join the mentions of a chain; a chain of n mentions needs n − 1.")
B_CUBED = N_("B³: mean over mentions of the share of their chain that is right.")
CEAF = N_("CEAF φ4: similarity of chains that are matched one to one, 2 · shared / both sizes.")
LEA = N_("LEA: the share of resolved links of each chain, weighted by its size.")
MENTIONS = N_("Mentions with correct boundaries, whatever their chain.")
CONLL_MEAN = N_("CoNLL score: mean of the F1 of MUC, B³ and CEAF φ4 over chains of all documents.")
SCORER = "CoNLL-2012"

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
    "coref_f1": Definition(N_("CoNLL F1"), CONLL_MEAN, ZERO, SCORER),
    **_spans("muc", N_("MUC precision"), N_("MUC recall"), N_("MUC F1"), MUC, SCORER),
    **_spans("b_cubed", N_("B³ precision"), N_("B³ recall"), N_("B³ F1"), B_CUBED, SCORER),
    **_spans("ceaf_e", N_("CEAF precision"), N_("CEAF recall"), N_("CEAF F1"), CEAF, SCORER),
    **_spans("lea", N_("LEA precision"), N_("LEA recall"), N_("LEA F1"), LEA, SCORER),
    **_spans(
        "mention",
        N_("Mention precision"),
        N_("Mention recall"),
        N_("Mention F1"),
        MENTIONS,
        SCORER,
    ),
    **_spans(
        "relation",
        N_("Precision"),
        N_("Recall"),
        N_("Relation F1"),
        TRIPLES,
        ZHONG,
    ),
    **_spans(
        "argument",
        N_("Precision"),
        N_("Recall"),
        N_("Argument F1"),
        ARGUMENTS,
        "CoNLL-2005",
    ),
    "argument_macro_f1": Definition(N_("Macro F1 of roles"), MACRO, ZERO, "CoNLL-2005"),
    "argument_unlabelled_f1": Definition(N_("Unlabelled F1"), UNLABELLED, ZERO, "CoNLL-2005"),
    "relation_macro_f1": Definition(N_("Macro F1 of relations"), MACRO, ZERO, ZHONG),
    "relation_unlabelled_f1": Definition(N_("Unlabelled F1"), UNLABELLED, ZERO, ZHONG),
    "relation_strict_f1": Definition(N_("Strict F1"), STRICT_TRIPLES, ZERO, ZHONG),
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
    "reward_margin": Definition(
        N_("Reward margin"),
        N_(
            "Mean difference between the reward of the preferred answer and the mean of the "
            "others: β times how much more its log-probability rose in the training."
        ),
        NEVER,
        "trl",
        is_ratio=True,
    ),
    "mse": Definition(N_("MSE"), N_("Mean squared error; 0 is best."), NEVER, is_error=True),
    "mae": Definition(N_("MAE"), N_("Mean absolute error; 0 is best."), NEVER, is_error=True),
    "answer_exact_match": Definition(N_("Exact match"), ANSWER_EXACT, NEVER, SQUAD),
    "answer_f1": Definition(N_("Answer F1"), ANSWER_F1, NO_ANSWER, SQUAD),
    "rouge_l": Definition(N_("ROUGE-L"), ROUGE_L, NO_WORDS, "rouge-score"),
    "text_exact_match": Definition(N_("Exact match"), TEXT_EXACT, NEVER, SQUAD),
    "text_token_accuracy": Definition(N_("Token accuracy"), TEXT_TOKENS, NO_WORDS),
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
    "observed_agreement": Definition(
        N_("Observed agreement"),
        N_("Share of pairs of annotators who chose the same, averaged over documents."),
        SAME,
        ARTSTEIN,
    ),
    "fleiss_kappa": Definition(
        N_("Fleiss’ kappa"),
        N_("Agreement beyond chance of any number of annotators who share one distribution."),
        SAME,
        "Fleiss 1971",
    ),
    "alpha": Definition(N_("Krippendorff’s alpha"), ALPHA, SAME, "Krippendorff 2011"),
    "ordinal_alpha": Definition(
        N_("Krippendorff’s alpha, ordinal"), ALPHA, SAME, "Krippendorff 2011"
    ),
    "interval_alpha": Definition(
        N_("Krippendorff’s alpha, interval"), ALPHA, SAME, "Krippendorff 2011"
    ),
    "character_alpha": Definition(
        N_("Alpha per character"),
        N_("Krippendorff’s alpha; every character is a unit, with the labels that cover it."),
        SAME,
        "Krippendorff 2011",
    ),
    "word_kappa": Definition(
        N_("Kappa per word"),
        N_(
            "Cohen’s kappa of the label of each word. It flatters: most words have no label, and "
            "the words of one span are not independent. Prefer span F1 or alpha."
        ),
        SAME,
    ),
    "ac1": Definition(
        N_("Gwet’s AC1"),
        N_("Agreement beyond chance that stays stable when one label is very frequent."),
        SAME,
        "Gwet 2008",
    ),
    "icc": Definition(
        N_("ICC(2,1)"),
        N_(
            "Intraclass correlation: two-way random effects, absolute agreement, single annotator, "
            "over the documents with a number of everyone."
        ),
        SAME,
        "Shrout, Fleiss 1979",
    ),
    "f1": Definition(N_("F1"), N_("Items that both have, against the items of either.")),
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
