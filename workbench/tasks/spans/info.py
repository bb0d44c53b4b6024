"""Span classification: description, settings, decoding and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.tasks.heads.info import LAYER_OPTIONS
from workbench.tasks.heads.spans.info import SpanTask
from workbench.tasks.losses.info import CLASS_WEIGHTS, FOCAL_GAMMA, LABEL_SMOOTHING, SAMPLING
from workbench.tasks.spec import ScoreInfo
from workbench.text.spans import ANY, FLAT, NESTED

if TYPE_CHECKING:
    import numpy as np

    from workbench.runtime.inputs import Prepared
    from workbench.text.fields import Prediction

PLAIN, FFNN = "plain", "ffnn"
CANDIDATES = "candidates"  # given to inspectors: the scores of all spans
SOFTMAX, SIGMOID = "softmax", "sigmoid"

MAX_SPAN_WORDS = Option(
    "longest_span",
    "int",
    12,
    N_(
        "Maximum length of predicted spans, in words. Longer gold spans are not learned "
        "and count as missed. Time and memory grow in proportion."
    ),
    low=1,
    high=64,
    group="main",
    title=N_("Longest span (words)"),
)
OVERLAP = Option(
    "overlap",
    "choice",
    NESTED,
    N_(
        "Which predicted spans may overlap; they are accepted in order of decreasing "
        "probability. Nested: spans may contain each other, but not cross. Flat: no two "
        "spans share a word. Any: all are kept."
    ),
    choices=(NESTED, FLAT, ANY),
    group="main",
    title=N_("Overlapping spans"),
    choice_titles=(N_("Nested"), N_("Flat"), N_("Any overlap")),
)
BOUNDARIES = Option(
    "boundaries",
    "choice",
    PLAIN,
    N_(
        "States of the first and the last word of a span that are scored. Plain: those of the "
        "model. Feed-forward: a network of one layer for starts and another for ends first "
        "(Yu et al. 2020)."
    ),
    choices=(PLAIN, FFNN),
    title=N_("Boundary representations"),
    choice_titles=(N_("Plain"), N_("Feed-forward")),
)
SUMMARY = Option(
    "span_summary",
    "bool",
    False,
    N_(
        "Represent a span also by the mean of all its tokens, with weights that are learned "
        "(attention), besides its first and last word and its length (Lee et al. 2017; SpanBERT, "
        "Joshi et al. 2020). Takes more time and memory."
    ),
    title=N_("Attention summary of spans"),
)
LOSS = Option(
    "span_loss",
    "choice",
    SOFTMAX,
    N_(
        "Softmax: each span has one label or none. Sigmoid: each label is decided "
        "independently, so the same words can have several labels."
    ),
    choices=(SOFTMAX, SIGMOID),
    title=N_("Loss of spans"),
    choice_titles=(N_("Softmax with no label"), N_("Sigmoid for each label")),
)

IMBALANCE_OF_SPANS = (
    replace(
        CLASS_WEIGHTS,
        help=N_(
            "Weights of gold spans in the loss, by label; candidates without a label have 1. "
            "Balanced: inversely proportional to the frequency in the training data (spans / "
            "(labels × spans of the label)). Square root: to the square root of the frequency. "
            "Effective number: to (1 - βⁿ) / (1 - β) of n spans, with β = 0.999, or as in "
            "effective:0.99 (Cui et al. 2019). By hand: PER=2, ORG=0.5; other labels have 1."
        ),
    ),
    SAMPLING,
    FOCAL_GAMMA,
    LABEL_SMOOTHING,
)


class SpansInfo(SpanTask):
    id = "spans"
    title = N_("Span classification")
    short = N_("Nested spans")
    predicts = N_("spans, flat or nested, by a label or none for each span of words")
    definition = N_(
        "A span counts as correct if its start, end and label are correct (strict, "
        "micro-averaged). Nested and overlapping gold spans all count."
    )
    scores = (
        ScoreInfo("span_precision", N_("Precision"), selects=False),
        ScoreInfo("span_recall", N_("Recall"), selects=False),
        ScoreInfo("span_f1", N_("Span F1"), hub="f1"),
        ScoreInfo("span_macro_f1", N_("Macro F1 of spans")),
    )
    second = "span_macro_f1"
    beside = ("span_precision", "span_recall")
    options = (
        MAX_SPAN_WORDS,
        OVERLAP,
        BOUNDARIES,
        SUMMARY,
        LOSS,
        *IMBALANCE_OF_SPANS,
        *LAYER_OPTIONS,
    )
    outputs = ("SpanScores", "WordTags")
    logits = {"starts": "token", "ends": "token", "inside": "token"}
    pipeline = ""
    hub_task = "token-classification"

    def why_left_out(self) -> str:
        return _("spans that are empty or in another text")

    def decode(
        self,
        logits: Sequence[Mapping[str, np.ndarray]],
        prepared: Prepared,
        labels: Sequence[str],
        decoder: Mapping[str, Any],
    ) -> list[Prediction]:
        """logits: as for `runtime.candidates.boundaries`."""
        from workbench.runtime import candidates, decoding

        if not prepared.documents:
            return []
        scorer = candidates.SpanScorer.from_json(decoder["scorer"], len(labels))
        predictions = []
        for number, document in enumerate(prepared.documents):
            begin, where = prepared.first(number), prepared.alignments[number]
            words, states = candidates.boundaries(logits, begin, where)
            spans, covered = candidates.decode(scorer, states, decoder["overlap"])
            offsets = [prepared.words[number][word] for word in words]
            item = candidates.prediction(document.text, offsets, spans, covered, labels)
            predictions.append(decoding.tempered(item, float(decoder.get("temperature", 1.0))))
        return predictions

    further = {CANDIDATES: N_("scores of span candidates (span classification)")}

    def logits_of(self, options: Mapping[str, Any]) -> Mapping[str, str]:
        kinds = self.logits
        return kinds if options.get(SUMMARY.name) else {n: kinds[n] for n in ("starts", "ends")}

    def gives(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        return *self.outputs, CANDIDATES

    def decisions(self, prediction: Prediction) -> tuple[object, ...]:
        return tuple((span.start, span.end, span.label) for span in prediction.spans)


INFO = SpansInfo()
