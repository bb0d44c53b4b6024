"""Span tagging with BIO: description, settings, decoding and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.tasks.heads.info import LAYER_OPTIONS
from workbench.tasks.heads.spans.info import SpanTask
from workbench.tasks.losses.info import CLASS_WEIGHTS, FOCAL_GAMMA, LABEL_SMOOTHING, SAMPLING
from workbench.tasks.spec import PER_WORD, ScoreInfo

if TYPE_CHECKING:
    import numpy as np

    from workbench.runtime.crf import Transitions
    from workbench.runtime.inputs import Prepared
    from workbench.text.fields import Prediction

OUTSIDE = "O"  # the tag of words outside of spans
TRANSITIONS = "transitions"  # given to inspectors: the scores of a CRF
DECODER = Option(
    "decoder",
    "choice",
    "bio",
    N_(
        "Decoding of tags. Greedy: the most probable tag of each word. BIO: the most probable "
        "sequence in which every span begins with its B- tag. CRF: as BIO, with learned "
        "transition scores (a linear-chain conditional random field)."
    ),
    choices=("greedy", "bio", "crf"),
    group="main",
    title=N_("Decoder"),
    choice_titles=(N_("Greedy"), N_("Valid BIO sequences"), N_("CRF")),
)

WORD_WEIGHTS = replace(
    CLASS_WEIGHTS,
    help=N_(
        "Weights of words in the loss, by the label of their span, O for words outside of spans. "
        "Balanced: inversely proportional to the frequency in the training data (words / (labels × "
        "words of the label)). Square root: to the square root of the frequency. Effective number: "
        "to (1 - βⁿ) / (1 - β) of n words, with β = 0.999, or as in effective:0.9999 (Cui et al. "
        "2019). By hand: PER=2, O=0.5; other labels have 1. Not for a CRF, whose loss is that of "
        "the whole sequence."
    ),
)
_ON_WORDS = (WORD_WEIGHTS, FOCAL_GAMMA, LABEL_SMOOTHING)


class TagInfo(SpanTask):
    id = "tag"
    title = N_("Token tagging")
    short = N_("Spans")
    predicts = N_("spans, by a BIO tag for each word")
    definition = N_(
        "A span counts as correct if its start, end and label are correct (strict, "
        "micro-averaged). Overlapping gold spans are reduced to flat ones: the longest is kept, "
        "the earliest on a tie."
    )
    scores = (
        ScoreInfo("span_precision", N_("Precision"), selects=False),
        ScoreInfo("span_recall", N_("Recall"), selects=False),
        ScoreInfo("span_f1", N_("Span F1"), hub="f1"),
        ScoreInfo("span_macro_f1", N_("Macro F1 of spans"), selects=False),
        ScoreInfo("token_accuracy", N_("Token accuracy"), hub="accuracy"),
    )
    flat = tags = True
    taught = PER_WORD
    second = "token_accuracy"
    beside = ("span_precision", "span_recall")
    options = (
        DECODER,
        Option(
            "label_subwords",
            "choice",
            "first",
            N_("Subwords of a word used in training: the first, or all (others as I-)."),
            choices=("first", "all"),
            title=N_("Label subwords"),
        ),
        WORD_WEIGHTS,
        SAMPLING,
        FOCAL_GAMMA,
        LABEL_SMOOTHING,
        *LAYER_OPTIONS,
    )

    def weighted_labels(self, labels: Sequence[str]) -> tuple[str, ...]:
        return (*labels, OUTSIDE)

    def output_names(self, labels: Sequence[str]) -> tuple[str, ...]:
        from workbench.runtime.decoding import bio_tags

        return tuple(bio_tags(labels))

    def trained_outputs(self, labels: Sequence[str], decoder: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(decoder.get("tags") or self.output_names(labels))

    def decode(
        self,
        logits: Sequence[Mapping[str, np.ndarray]],
        prepared: Prepared,
        labels: Sequence[str],
        decoder: Mapping[str, Any],
    ) -> list[Prediction]:
        """logits: "logits" (T, L) of each window."""
        from workbench.runtime import decoding, tag_decoders
        from workbench.runtime.decoding import word_logits

        outputs, tags = self.trained_outputs(labels, decoder), self.output_names(labels)
        tokens = [window["logits"] for window in logits]
        decide = tag_decoders.decoder(decoder, outputs, labels)
        predictions = []
        for number, document in enumerate(prepared.documents):
            where = prepared.alignments[number]
            rows = word_logits(tokens, prepared.first(number), where, len(outputs))
            chosen, scores = decide(rows, where.window >= 0)
            offsets = prepared.words[number]
            prediction = decoding.words_and_spans(document.text, offsets, chosen, scores, tags)
            predictions.append(
                decoding.tempered(prediction, float(decoder.get("temperature", 1.0)))
            )
        return predictions

    def conflict(self, options: Mapping[str, Any]) -> tuple[str, str] | None:
        if options.get("decoder") == "crf" and options.get("label_subwords") == "all":
            return "label_subwords", _(
                "A CRF is trained on one subword of each word: set label_subwords to first."
            )
        changed = (item for item in _ON_WORDS if options.get(item.name) not in (None, item.default))
        if options.get("decoder") == "crf" and (option := next(changed, None)) is not None:
            return option.name, _(
                "The loss of a CRF is that of the whole sequence of tags, which has no loss for "
                "each word. Use sampling, or another decoder."
            )
        return None

    further = {TRANSITIONS: N_("transition scores (CRF)")}

    def gives(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        return (*self.outputs, TRANSITIONS) if options.get("decoder") == "crf" else self.outputs

    def transitions(self, labels: Sequence[str], decoder: Mapping[str, Any]) -> Transitions | None:
        from workbench.runtime import tag_decoders

        return tag_decoders.transitions(decoder, self.trained_outputs(labels, decoder))


INFO = TagInfo()
