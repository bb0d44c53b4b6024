"""Token classification: description, settings, decoding and scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import N_, _
from workbench.tasks.heads.info import LAYER_OPTIONS, SpanGold, WordTask
from workbench.tasks.losses.info import IMBALANCE
from workbench.tasks.spec import NONE, PER_WORD, ErrorText, ScoreInfo
from workbench.text.dataset import Record
from workbench.text.document import TEXT
from workbench.text.mistakes import LABEL, MISSED, Mistake, loss_of
from workbench.text.segment import tokens_of
from workbench.text.spans import Span

if TYPE_CHECKING:
    import numpy as np

    from workbench.metrics.classes import LabelScore
    from workbench.metrics.confusion import Confusion
    from workbench.metrics.label_counts import LabelCounts
    from workbench.runtime.inputs import Prepared
    from workbench.text.document import Document
    from workbench.text.fields import Prediction

MAX_LISTED_TOKENS = 50  # maximum tokens in an error message
MAX_FURTHER_TAGS, MIN_TAG_PROBABILITY = (
    3,
    0.001,
)  # further tags kept for a token, and the least probability of each


class TokenInfo(WordTask):
    id = "token"
    title = N_("Tag for every token")
    short = N_("Tags")
    predicts = N_("a tag for every token")
    definition = N_(
        "Fraction of tagged tokens whose predicted tag is correct. Macro F1 is the mean of the "
        "F1 of every tag that is gold or predicted. Tokens without a gold tag are not counted."
    )
    layer_kinds = ("tag",)
    scores = (
        ScoreInfo("accuracy", N_("Accuracy"), hub="accuracy"),
        ScoreInfo("macro_f1", N_("Macro F1"), hub="f1"),
    )
    main = "accuracy"
    second = "macro_f1"
    taught = PER_WORD
    options = (*IMBALANCE, *LAYER_OPTIONS)

    def gold(self, record: Record, layer: str) -> SpanGold | None:
        """Tokens without a tag are not learned from.

        Left out: tags that do not cover one token, second tags of a token, those of other texts.
        """
        layer_spans = record.spans.get(layer, ())
        tokens = set(tokens_of(record.document)) if layer_spans else set()
        spans_by_token: dict[tuple[int, int], Span] = {}
        for span in sorted(layer_spans):
            place = span.start, span.end
            if span.field == TEXT and place in tokens and place not in spans_by_token:
                spans_by_token[place] = Span(span.start, span.end, span.label)
        return (
            SpanGold(tuple(spans_by_token.values()), len(layer_spans) - len(spans_by_token))
            if spans_by_token
            else None
        )

    def why_unusable(self) -> str:
        return _("submitted without a tag")

    def problem(self, counts: Mapping[str, int], layer: str) -> str:
        if len(counts) >= 2:
            return ""
        return _(
            "The training documents of layer {layer!r} have fewer than two tags; at least two are "
            "needed.",
            layer=layer,
        )

    def word_outputs(self, gold: SpanGold, words: Sequence[tuple[int, int]]) -> list[str | None]:
        labels = {(tag.start, tag.end): tag.label for tag in gold.spans}
        return [labels.get((start, end)) for start, end in words]

    # ---------------------------------------------------------------- predictions

    def decode(
        self,
        logits: Sequence[Mapping[str, np.ndarray]],
        prepared: Prepared,
        labels: Sequence[str],
        decoder: Mapping[str, Any],
    ) -> list[Prediction]:
        """logits: "logits" (T, L) of each window. A token without its own subword has no tag."""
        from workbench.runtime.decoding import tempered, word_scores

        tokens = [window["logits"] for window in logits]
        predictions = [
            _tagged(
                prepared.words[number],
                word_scores(tokens, prepared.first(number), where, len(labels)),
                where.window >= 0,
                labels,
            )
            for number, where in enumerate(prepared.alignments)
        ]
        return [
            tempered(prediction, float(decoder.get("temperature", 1.0)))
            for prediction in predictions
        ]

    # ---------------------------------------------------------------- scores

    def score(
        self, golds: Sequence[SpanGold], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        from workbench.metrics import classes

        scores = classes.scores(*_sides(golds, predictions))
        return {"accuracy": scores["accuracy"], "macro_f1": scores["macro_f1"]}

    def per_label(
        self, golds: Sequence[SpanGold], predictions: Sequence[Prediction]
    ) -> tuple[LabelScore, ...]:
        from workbench.metrics import classes

        rows = classes.per_label(*_sides(golds, predictions))
        return tuple(row for row in rows if row.label != NONE)

    def statistic(
        self,
        golds: Sequence[SpanGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> LabelCounts:
        """Resamples documents, as the tokens of one are not independent."""
        from workbench.metrics import label_counts

        tokens = [
            [(tag.label, answer) for tag, answer in _pairs(*pair)]
            for pair in zip(golds, predictions, strict=True)
        ]
        return label_counts.of_units(tokens, labels)

    def confidences(
        self, golds: Sequence[SpanGold], predictions: Sequence[Prediction]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(M,) each, of every token with a gold tag: the probability of its predicted tag, whether
        it is right, and the document.
        """
        from workbench.metrics import calibration

        return calibration.decisions(
            (scores.get((tag.start, tag.end), 0.0), tag.label == answer, at)
            for at, (gold, prediction) in enumerate(zip(golds, predictions, strict=True))
            for scores in [{(word.start, word.end): word.score for word in prediction.words}]
            for tag, answer in _pairs(gold, prediction)
        )

    def agrees(self, gold: SpanGold, prediction: Prediction) -> bool:
        return all(tag.label == answer for tag, answer in _pairs(gold, prediction))

    def error(self, document: Document, gold: SpanGold, prediction: Prediction) -> ErrorText:
        wrong = [pair for pair in _pairs(gold, prediction) if pair[0].label != pair[1]]
        scores = {(word.start, word.end): word.score for word in prediction.words}
        text = document.text
        return ErrorText(
            _listed([(text[tag.start : tag.end], tag.label) for tag, _answer in wrong]),
            _listed([(text[tag.start : tag.end], answer) for tag, answer in wrong]),
            max((scores.get((tag.start, tag.end), 0.0) for tag, _answer in wrong), default=0.0),
        )

    def mistakes(self, document: Document, gold: SpanGold, prediction: Prediction) -> list[Mistake]:
        scores = {(word.start, word.end): word.score for word in prediction.words}
        mistakes = []
        for tag, answer in _pairs(gold, prediction):
            at = tag.start, tag.end
            sure = scores.get(at, 0.0)
            if answer == NONE:
                mistakes.append(Mistake(MISSED, tag.label, "", sure, loss_of(1 - sure), at))
            elif answer != tag.label:
                mistakes.append(Mistake(LABEL, tag.label, answer, sure, loss_of(1 - sure), at, at))
        return mistakes

    def confusion(
        self,
        golds: Sequence[SpanGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> Confusion:
        from workbench.metrics import confusion

        gold, predicted = _sides(golds, predictions)
        documents = [
            number
            for number, pair in enumerate(zip(golds, predictions, strict=True))
            for _pair in _pairs(*pair)
        ]
        return confusion.confusion(gold, predicted, labels, documents=documents)


def _tagged(
    words: Sequence[tuple[int, int]],
    scores: np.ndarray,
    has_subword: np.ndarray,
    labels: Sequence[str],
) -> Prediction:
    """scores (W, L), has_subword bool (W,): the most probable tag of each word, as words with the
    next most probable tags, and as spans.
    """
    from workbench.text.fields import Prediction, SpanScores, WordTag, WordTags

    ranked = (-scores).argsort(axis=-1, kind="stable")[
        :, : MAX_FURTHER_TAGS + 1
    ]  # (W, at most MAX_FURTHER_TAGS + 1)
    tagged = []
    for (start, end), order, row, known in zip(words, ranked, scores, has_subword, strict=True):
        if not known:
            tagged.append(WordTag(start, end, None, 0.0))
            continue
        (tag, score), *rest = ((labels[tag], float(row[tag])) for tag in order)
        others = tuple((other, chance) for other, chance in rest if chance >= MIN_TAG_PROBABILITY)
        tagged.append(WordTag(start, end, tag, score, others))
    spans = tuple(
        Span(word.start, word.end, word.label, score=word.score)
        for word in tagged
        if word.label is not None
    )
    return Prediction((WordTags(tuple(tagged)), SpanScores(spans)))


def _pairs(gold: SpanGold, prediction: Prediction) -> Iterator[tuple[Span, str]]:
    """Every gold tag with the prediction for its token, NONE without one."""
    labels = {(word.start, word.end): word.label for word in prediction.words}
    for tag in gold.spans:
        yield tag, labels.get((tag.start, tag.end)) or NONE


def _sides(
    golds: Sequence[SpanGold], predictions: Sequence[Prediction]
) -> tuple[list[str], list[str]]:
    pairs = [
        (tag.label, answer)
        for gold, prediction in zip(golds, predictions, strict=True)
        for tag, answer in _pairs(gold, prediction)
    ]
    return [gold for gold, _answer in pairs], [answer for _gold, answer in pairs]


def _listed(tags: Sequence[tuple[str, str]]) -> str:
    """At most MAX_LISTED_TOKENS tokens: a table cell cannot show thousands."""
    listed = ", ".join(f"{label} “{word[:40]}”" for word, label in tags[:MAX_LISTED_TOKENS])
    if len(tags) > MAX_LISTED_TOKENS:
        return _("{some} and {n:,} more", some=listed, n=len(tags) - MAX_LISTED_TOKENS)
    return listed or NONE


INFO = TokenInfo()
