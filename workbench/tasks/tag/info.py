"""Span tagging with BIO: description, settings, decoding and scores."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.tasks.heads.info import LAYER_OPTIONS, SpanGold, WordTask
from workbench.tasks.spec import NONE, Answer, ErrorText, ScoreInfo
from workbench.text.dataset import Record
from workbench.text.document import TEXT
from workbench.text.mistakes import Mistake
from workbench.text.spans import Span, flatten

if TYPE_CHECKING:
    import numpy as np

    from workbench.metrics.classes import LabelScore
    from workbench.metrics.confusion import Confusion
    from workbench.metrics.span_matching import SpanStatistic
    from workbench.runtime.crf import Transitions
    from workbench.runtime.inputs import Prepared
    from workbench.text.document import Document
    from workbench.text.fields import Prediction

LISTED = 50  # maximum spans in an error message


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


class TagInfo(WordTask):
    id = "tag"
    title = N_("Token tagging")
    short = N_("Spans")
    predicts = N_("spans, by a BIO tag for each word")
    definition = N_(
        "A span counts as correct if its start, end and label are correct (strict, "
        "micro-averaged). Overlapping gold spans are reduced to flat ones: the longest is kept, "
        "the earliest on a tie."
    )
    layer_kinds = ("span",)
    scores = (
        ScoreInfo("span_precision", N_("Precision"), selects=False),
        ScoreInfo("span_recall", N_("Recall"), selects=False),
        ScoreInfo("span_f1", N_("Span F1"), hub="f1"),
        ScoreInfo("span_macro_f1", N_("Macro F1 of spans"), selects=False),
        ScoreInfo("token_accuracy", N_("Token accuracy"), hub="accuracy"),
    )
    main = "span_f1"
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
        *LAYER_OPTIONS,
    )
    least_labels = 1

    def output_names(self, labels: Sequence[str]) -> tuple[str, ...]:
        from workbench.runtime.decoding import bio_tags

        return tuple(bio_tags(labels))

    def trained_outputs(self, labels: Sequence[str], decoder: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(decoder.get("tags") or self.output_names(labels))

    def gold(self, record: Record, layer: str) -> SpanGold:
        """A submitted document without spans is a true negative.

        Left out: spans that overlap a longer one, are empty, or lie in another text.
        """
        given = record.spans.get(layer, ())
        kept, _left_out = flatten(span for span in given if span.field == TEXT)
        plain = tuple(Span(span.start, span.end, span.label) for span in kept)
        return SpanGold(plain, len(given) - len(plain))

    def problem(self, counts: Mapping[str, int], layer: str) -> str:
        if counts:
            return ""
        return _("No training document of layer {layer!r} has a span.").format(layer=layer)

    def decode(
        self,
        logits: Sequence[Mapping[str, np.ndarray]],
        prepared: Prepared,
        labels: Sequence[str],
        decoder: Mapping[str, Any],
    ) -> list[Prediction]:
        from workbench.runtime import decoding, tag_decoders
        from workbench.runtime.words import word_logits

        outputs, tags = self.trained_outputs(labels, decoder), self.output_names(labels)
        tokens = [found["logits"] for found in logits]
        decide = tag_decoders.decoder(decoder, outputs, labels)
        found = []
        for number, document in enumerate(prepared.documents):
            where = prepared.alignments[number]
            rows = word_logits(tokens, prepared.first(number), where, len(outputs))
            chosen, scores = decide(rows, where.window >= 0)
            borders = prepared.words[number]
            found.append(decoding.words_and_spans(document.text, borders, chosen, scores, tags))
        return found

    def conflict(self, options: Mapping[str, Any]) -> tuple[str, str] | None:
        if options.get("decoder") == "crf" and options.get("label_subwords") == "all":
            return "label_subwords", _(
                "A CRF is trained on one subword of each word: set label_subwords to first."
            )
        return None

    def gives(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        return (*self.outputs, "transitions") if options.get("decoder") == "crf" else self.outputs

    def transitions(self, labels: Sequence[str], decoder: Mapping[str, Any]) -> Transitions | None:
        from workbench.runtime import tag_decoders

        return tag_decoders.transitions(decoder, self.trained_outputs(labels, decoder))

    def word_outputs(self, gold: SpanGold, words: Sequence[tuple[int, int]]) -> list[str]:
        from workbench.text import alignment

        return alignment.tags(words, gold.spans)[0]

    def shifted(self, prepared: Prepared, golds: Sequence[SpanGold]) -> int:
        count = 0
        for words, gold in zip(prepared.words, golds, strict=True):
            starts, ends = {start for start, _end in words}, {end for _start, end in words}
            count += sum(s.start not in starts or s.end not in ends for s in gold.spans)
        return count

    def answers(self, prediction: Prediction) -> list[Answer]:
        return [
            Answer(span.label, span.score, span.start, span.end, span.field)
            for span in prediction.spans
            if span.start < span.end
        ]

    def score(
        self, golds: Sequence[SpanGold], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        from workbench.metrics import spans

        words = [[(word.start, word.end) for word in one.words] for one in predictions]
        gold, predicted = _sides(golds, predictions)
        accuracy = spans.token_accuracy(gold, predicted, words)
        return {**spans.scores(gold, predicted), "token_accuracy": accuracy}

    def per_label(
        self, golds: Sequence[SpanGold], predictions: Sequence[Prediction]
    ) -> tuple[LabelScore, ...]:
        from workbench.metrics import spans

        return spans.per_label(*_sides(golds, predictions))

    def interval(
        self, golds: Sequence[SpanGold], predictions: Sequence[Prediction]
    ) -> tuple[str, float, float]:
        from workbench.metrics.significance import pooled_f1_interval

        sides = [
            (_keys(gold.spans), _keys(prediction.spans))
            for gold, prediction in zip(golds, predictions, strict=True)
        ]
        counts = [(len(gold & found), len(found), len(gold)) for gold, found in sides]
        return "span_f1", *pooled_f1_interval(counts)

    def statistic(
        self,
        golds: Sequence[SpanGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> SpanStatistic:
        from workbench.metrics import span_matching

        words = [[(word.start, word.end) for word in one.words] for one in predictions]
        gold, predicted = _sides(golds, predictions)
        counts = span_matching.span_counts(gold, predicted, labels)
        return span_matching.SpanStatistic(
            counts, span_matching.word_counts(gold, predicted, words)
        )

    def confidences(
        self, golds: Sequence[SpanGold], predictions: Sequence[Prediction]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every predicted span: the mean probability of its tags, and whether it is gold."""
        from workbench.metrics import calibration

        return calibration.decisions(
            (span.score or 0.0, _key(span) in right, at)
            for at, (gold, one) in enumerate(zip(golds, predictions, strict=True))
            for right in [_keys(gold.spans)]
            for span in one.spans
        )

    def agrees(self, gold: SpanGold, prediction: Prediction) -> bool:
        return _keys(gold.spans) == _keys(prediction.spans)

    def error(self, document: Document, gold: SpanGold, prediction: Prediction) -> ErrorText:
        right, found = _keys(gold.spans), _keys(prediction.spans)
        missed = [span for span in gold.spans if _key(span) not in found]
        wrong = [span for span in prediction.spans if _key(span) not in right]
        text = document.text
        return ErrorText(
            _listed(text, missed), _listed(text, wrong), _confidence(wrong, missed, prediction)
        )

    def mistakes(self, document: Document, gold: SpanGold, prediction: Prediction) -> list[Mistake]:
        from workbench.metrics.mistakes import span_mistakes

        return span_mistakes(gold.spans, prediction.spans, prediction.words)

    def confusion(
        self,
        golds: Sequence[SpanGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> Confusion:
        from workbench.metrics import confusion

        return confusion.span_confusion(*_sides(golds, predictions), labels)


def _sides(
    golds: Sequence[SpanGold], predictions: Sequence[Prediction]
) -> tuple[list[tuple[Span, ...]], list[tuple[Span, ...]]]:
    return [gold.spans for gold in golds], [one.spans for one in predictions]


def _key(span: Span) -> tuple[int, int, str]:
    return span.start, span.end, span.label


def _keys(spans: Iterable[Span]) -> frozenset[tuple[int, int, str]]:
    return frozenset(map(_key, spans))


def _listed(text: str, spans: Sequence[Span]) -> str:
    """At most LISTED spans: a table cell cannot show thousands."""
    shown = ", ".join(
        f"{span.label} “{text[span.start : span.end][:40]}”" for span in spans[:LISTED]
    )
    if len(spans) > LISTED:
        return _("{some} and {n:,} more").format(some=shown, n=len(spans) - LISTED)
    return shown or NONE


def _confidence(wrong: Sequence[Span], missed: Sequence[Span], prediction: Prediction) -> float:
    """For false positives the highest score; for missed spans the probability of O."""
    if wrong:
        return max(span.score or 0.0 for span in wrong)
    # Gold is flat and sorted: check the first span that ends after the start of the word.
    ends = [span.end for span in missed]
    scores = [
        word.score
        for word in prediction.words
        if (at := bisect_right(ends, word.start)) < len(ends) and missed[at].start < word.end
    ]
    return max(scores, default=0.0)


INFO = TagInfo()
