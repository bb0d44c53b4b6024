"""The light part that tasks share which predict labelled spans of words.

Each task has its own gold, which it learns and scores; runs of all of them are compared against all
gold spans.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Self

from workbench.base.i18n import N_, _
from workbench.tasks.heads.info import SpanGold, WordTask
from workbench.tasks.spec import NONE, ErrorText
from workbench.text.document import TEXT
from workbench.text.mistakes import MISSED, Mistake, loss_of
from workbench.text.spans import Span, flatten, highest_ends

if TYPE_CHECKING:
    import numpy as np

    from workbench.metrics.classes import LabelScore
    from workbench.metrics.confusion import Confusion
    from workbench.metrics.span_matching import SpanCounts, SpanStatistic
    from workbench.runtime.inputs import Prepared
    from workbench.text.dataset import Record
    from workbench.text.document import Document
    from workbench.text.fields import Prediction, WordTag

MAX_LISTED_SPANS = 50  # maximum spans in an error message
COMPARED = N_(
    "A span counts as correct if its start, end and label are correct (strict, micro-averaged). "
    "Systems are compared on all gold spans of the layer: a tagger, which predicts flat spans, "
    "misses those that overlap a longer one. Tags of words are those of the longest spans."
)


class SpanTask(WordTask):
    """A task with `SpanGold`: a span is correct if offsets and label are.

    flat: gold is without overlaps; otherwise nested and crossing spans all count. tags: tags of
    words are scored besides spans.
    """

    layer_kinds = ("span",)
    least_labels = 1
    main = "span_f1"
    question = "spans"
    flat = False
    tags = False

    def gold(self, record: Record, layer: str) -> SpanGold:
        """A submitted document without spans is a true negative.

        Left out: spans that are empty or lie in another text; if gold is flat, those that overlap
        a longer one, too.
        """
        layer_spans = record.spans.get(layer, ())
        text_spans = [span for span in layer_spans if span.field == TEXT and span.start < span.end]
        chosen = flatten(text_spans)[0] if self.flat else text_spans
        plain = sorted({Span(span.start, span.end, span.label) for span in chosen})
        return SpanGold(tuple(plain), len(layer_spans) - len(plain))

    def compared(self) -> Self:
        task = copy(self)
        task.flat, task.tags, task.definition = False, True, COMPARED
        return task

    def problem(self, counts: Mapping[str, int], layer: str) -> str:
        if counts:
            return ""
        return _("No training document of layer {layer!r} has a span.", layer=layer)

    def word_outputs(self, gold: SpanGold, words: Sequence[tuple[int, int]]) -> list[str]:
        """BIO tags; of overlapping spans the longest counts."""
        from workbench.text import alignment

        return alignment.tags(words, gold.spans)[0]

    def shifted(self, prepared: Prepared, golds: Sequence[SpanGold]) -> int:
        count = 0
        for words, gold in zip(prepared.words, golds, strict=True):
            starts, ends = {start for start, _end in words}, {end for _start, end in words}
            count += sum(s.start not in starts or s.end not in ends for s in gold.spans)
        return count

    def score(
        self, golds: Sequence[SpanGold], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        from workbench.metrics import spans

        gold, predicted = sides(golds, predictions)
        scores = spans.scores(gold, predicted)
        if self.tags:
            scores["token_accuracy"] = spans.token_accuracy(gold, predicted, _words(predictions))
        return scores

    def statistic(
        self,
        golds: Sequence[SpanGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> SpanCounts | SpanStatistic:
        from workbench.metrics import span_matching

        gold, predicted = sides(golds, predictions)
        counts = span_matching.span_counts(gold, predicted, labels)
        if not self.tags:
            return counts
        tags = span_matching.word_counts(gold, predicted, _words(predictions))
        return span_matching.SpanStatistic(counts, tags)

    def per_label(
        self, golds: Sequence[SpanGold], predictions: Sequence[Prediction]
    ) -> tuple[LabelScore, ...]:
        from workbench.metrics import spans

        return spans.per_label(*sides(golds, predictions))

    def confidences(
        self, golds: Sequence[SpanGold], predictions: Sequence[Prediction]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(M,) each, of every predicted span: its probability, whether it is gold, the document."""
        from workbench.metrics import calibration

        return calibration.decisions(
            (span.score or 0.0, _key(span) in right, at)
            for at, (gold, prediction) in enumerate(zip(golds, predictions, strict=True))
            for right in [_keys(gold.spans)]
            for span in prediction.spans
        )

    def agrees(self, gold: SpanGold, prediction: Prediction) -> bool:
        return not prediction.no_answer and _keys(gold.spans) == _keys(prediction.spans)

    def error(self, document: Document, gold: SpanGold, prediction: Prediction) -> ErrorText:
        right, predicted = _keys(gold.spans), _keys(prediction.spans)
        missed = [span for span in gold.spans if _key(span) not in predicted]
        wrong = [span for span in prediction.spans if _key(span) not in right]
        text = document.text
        return ErrorText(
            _listed(text, missed), _listed(text, wrong), _confidence(wrong, missed, prediction)
        )

    def mistakes(self, document: Document, gold: SpanGold, prediction: Prediction) -> list[Mistake]:
        from workbench.metrics.mistakes import span_mistakes

        mistakes = span_mistakes(gold.spans, prediction.spans, prediction.words)
        if prediction.no_answer and not mistakes:
            return [Mistake(MISSED, "", "", 0.0, loss_of(0.0))]
        return mistakes

    def confusion(
        self,
        golds: Sequence[SpanGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> Confusion:
        from workbench.metrics import confusion

        return confusion.span_confusion(*sides(golds, predictions), labels)


def sides(
    golds: Sequence[SpanGold], predictions: Sequence[Prediction]
) -> tuple[list[tuple[Span, ...]], list[tuple[Span, ...]]]:
    return [gold.spans for gold in golds], [prediction.spans for prediction in predictions]


def _words(predictions: Sequence[Prediction]) -> list[list[tuple[int, int]]]:
    return [[(word.start, word.end) for word in prediction.words] for prediction in predictions]


def _key(span: Span) -> tuple[int, int, str]:
    return span.start, span.end, span.label


def _keys(spans: Iterable[Span]) -> frozenset[tuple[int, int, str]]:
    return frozenset(map(_key, spans))


def _listed(text: str, spans: Sequence[Span]) -> str:
    """At most MAX_LISTED_SPANS spans: a table cell cannot show thousands."""
    listed = ", ".join(
        f"{span.label} “{text[span.start : span.end][:40]}”" for span in spans[:MAX_LISTED_SPANS]
    )
    if len(spans) > MAX_LISTED_SPANS:
        return _("{some} and {n:,} more", some=listed, n=len(spans) - MAX_LISTED_SPANS)
    return listed or NONE


def _confidence(wrong: Sequence[Span], missed: Sequence[Span], prediction: Prediction) -> float:
    """The highest score of the false positives; for missed spans, that of a word in one of them."""
    if wrong:
        return max(span.score or 0.0 for span in wrong)
    # Gold is sorted by its start; nested spans may end before the ones that precede them.
    ends = highest_ends(missed)
    return max(
        (word.score for word in prediction.words if _touches(word, missed, ends)), default=0.0
    )


def _touches(word: WordTag, spans: Sequence[Span], ends: Sequence[int]) -> bool:
    """Whether a word shares a character with a span; `ends` are the highest ends so far."""
    for span in spans[bisect_right(ends, word.start) :]:
        if span.start >= word.end:
            return False
        if span.end > word.start:
            return True
    return False
