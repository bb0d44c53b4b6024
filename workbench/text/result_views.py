"""The views of the kinds of predictions that ship with the application."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.base.i18n import N_, _, ngettext
from workbench.base.records import json_text
from workbench.text.fields import (
    Answers,
    ClassScores,
    DocumentLabels,
    FromReply,
    LabelScores,
    Number,
    SpanScores,
    WordTags,
)
from workbench.text.mistakes import LABEL
from workbench.text.result_view import DOCUMENT, LOSS, NONE, Answer, DetailRow, ResultView

if TYPE_CHECKING:
    from workbench.text.dataset import Record
    from workbench.text.document import Document
    from workbench.text.fields import Field, Prediction
    from workbench.text.mistakes import Mistake
    from workbench.text.questions import Question


class ClassView(ResultView):
    """One class."""

    field: type[Field] = ClassScores

    def labels(self, prediction: Prediction) -> tuple[str, ...]:
        scores = prediction.get(DocumentLabels)
        return scores.chosen if scores is not None else ()

    def shares(self, prediction: Prediction) -> Mapping[str, float]:
        scores = prediction.get(DocumentLabels)
        return scores.as_dict() if scores is not None else {}


class MultiLabelView(ClassView):
    """Any number of classes, each decided on its own."""

    field = LabelScores
    independent = True

    def thresholds(self, prediction: Prediction) -> Mapping[str, float]:
        scores = prediction.get(LabelScores)
        if scores is None:
            return {}
        return dict(zip(scores.labels, scores.thresholds, strict=True))

    def compared(self, prediction: Prediction) -> tuple[object, ...]:
        """Whether each label is predicted."""
        chosen = self.labels(prediction)
        return tuple(label in chosen for label in self.shares(prediction))

    def decisions(self, prediction: Prediction, labels: Sequence[str]) -> np.ndarray:
        """(L, 2): without and with each label."""
        row = super().decisions(prediction, labels).reshape(-1)
        return np.stack([1 - row, row], axis=1)


class NumberView(ResultView):
    field = Number
    on_document = by_label = False
    by_size = True
    orders = (LOSS, DOCUMENT)

    def answers(self, prediction: Prediction) -> list[Answer]:
        number = prediction.number
        return [] if number is None else [Answer("", None, value=number)]

    def compared(self, prediction: Prediction) -> tuple[object, ...]:
        return (prediction.number,)

    def line(self, document: Document, prediction: Prediction) -> str:
        return f"{prediction.required(Number).value:.3f}  {document.text}"

    def cells(self, prediction: Prediction) -> tuple[str, str, str]:
        return "", f"{prediction.required(Number).value:.6f}", "[]"

    def as_gold(
        self,
        record: Record,
        layer: str,
        prediction: Prediction,
        questions: Mapping[str, Sequence[Question]],
    ) -> Record:
        numbers = {**record.numbers, layer: prediction.required(Number).value}
        return replace(record, numbers=numbers)

    def scatter(
        self, golds: Sequence[Any], predictions: Sequence[Prediction], labels: Sequence[str]
    ) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """A document without a prediction is at 0."""
        predicted = tuple(prediction.number or 0.0 for prediction in predictions)
        return tuple(float(gold.value) for gold in golds), predicted


class SpanView(ResultView):
    """Spans, or tags of words, with the words that they were predicted from."""

    field: type[Field] = SpanScores
    on_document = False

    def answers(self, prediction: Prediction) -> list[Answer]:
        return [
            Answer(span.label, span.score, span.start, span.end, span.field)
            for span in prediction.spans
            if span.start < span.end
        ]

    def compared(self, prediction: Prediction) -> tuple[object, ...]:
        return tuple(word.label for word in prediction.words) or (None,)

    def decisions(self, prediction: Prediction, labels: Sequence[str]) -> np.ndarray:
        """(words, 1 + L), no label first. Of a word only the probability of its label is stored:
        the rest is shared equally by all others, which makes its entropy an upper bound.
        """
        column: dict[str | None, int] = {None: 0, **{name: at for at, name in enumerate(labels, 1)}}
        words = [word for word in prediction.words if word.label in column]
        best = np.array([word.score for word in words])
        chosen = np.array([column[word.label] for word in words], int)
        rows = np.repeat(((1 - best) / max(1, len(labels)))[:, None], len(labels) + 1, axis=1)
        rows[np.arange(len(words)), chosen] = best
        return rows

    def line(self, document: Document, prediction: Prediction) -> str:
        text = document.text
        spans = ", ".join(
            f"{span.label} “{text[span.start : span.end]}”" for span in prediction.spans
        )
        if not spans:  # a tag for every token
            tagged = [word for word in prediction.words if word.label is not None]
            spans = " ".join(f"{text[word.start : word.end]}/{word.label}" for word in tagged)
        return f"{text}  →  {spans or NONE}"

    def cells(self, prediction: Prediction) -> tuple[str, str, str]:
        return "", "", json_text(prediction.to_json()["spans"])

    def as_gold(
        self,
        record: Record,
        layer: str,
        prediction: Prediction,
        questions: Mapping[str, Sequence[Question]],
    ) -> Record:
        if not prediction.spans:
            return record
        return replace(record, spans={**record.spans, layer: prediction.spans})

    def detail(
        self, document: Document, prediction: Prediction, mistake: Mistake
    ) -> list[DetailRow]:
        """The words at the place, in order."""
        start, end = mistake.place or (0, 0)
        return [
            DetailRow(word.label or "", word.score, document.text[word.start : word.end])
            for word in prediction.words
            if word.start < end and word.end > start
        ]


class TagView(SpanView):
    field = WordTags


class AnswerView(ResultView):
    """Answers to questions; the label of an answer, and of a mistake, is its question."""

    field = Answers
    on_document = by_label = False
    asks = True
    column = N_("Answer")

    def answers(self, prediction: Prediction) -> list[Answer]:
        """Without offsets there is no answer in the text."""
        predicted, known = prediction.get(Answers), prediction.has_probabilities
        return [
            Answer(
                answer.question,
                answer.score if known else None,
                *((best.start, best.end) if best else ()),
            )
            for answer in (predicted.answers if predicted is not None else ())
            for best in [answer.best]
        ]

    def compared(self, prediction: Prediction) -> tuple[object, ...]:
        answers = self.answers(prediction)
        return tuple((answer.label, answer.start, answer.end) for answer in answers)

    def line(self, document: Document, prediction: Prediction) -> str:
        answers = (
            f"  {answer.question}  →  {answer.answer or NONE}  {answer.score:.3f}"
            for answer in prediction.required(Answers).answers
        )
        return "\n".join((document.text, *answers))

    def cells(self, prediction: Prediction) -> tuple[str, str, str]:
        return "", "", json_text(prediction.to_json()["answers"])

    def as_gold(
        self,
        record: Record,
        layer: str,
        prediction: Prediction,
        questions: Mapping[str, Sequence[Question]],
    ) -> Record:
        predicted = prediction.required(Answers)
        answered = tuple(
            replace(question, answers=((best.start, best.end),) if best else (), is_null=not best)
            for question in (question for asked in questions.values() for question in asked)
            if (answer := predicted.to(question.text)) is not None
            for best in [answer.best]
        )
        return replace(record, questions={**record.questions, layer: answered})

    def about(self, mistake: Mistake, quote: str) -> str:
        return mistake.gold or mistake.predicted

    def side(self, mistake: Mistake, text: str, *, gold: bool) -> str:
        place = mistake.at if gold else mistake.predicted_at
        return " ".join(text[slice(*place)].split()) if place is not None else ""

    def kind_title(self, kind: str) -> str:
        """An answer has no label of its own: a wrong one is at another place."""
        return _("Other place") if kind == LABEL else super().kind_title(kind)

    def detail(
        self, document: Document, prediction: Prediction, mistake: Mistake
    ) -> list[DetailRow]:
        """Every answer that was considered."""
        answer = prediction.required(Answers).to(mistake.gold or mistake.predicted)
        return [
            DetailRow("", candidate.score, document.text[candidate.start : candidate.end])
            for candidate in (answer.candidates if answer is not None else ())
        ]

    def count(self, n: int) -> str:
        return ngettext("{n} answer", "{n} answers", n)


class ReplyView(ResultView):
    """No answer: nothing can be read from the reply of a model."""

    field = FromReply
    on_document = False

    def line(self, document: Document, prediction: Prediction) -> str:
        return f"{prediction.required(FromReply).reason}  {document.text}"

    def as_gold(
        self,
        record: Record,
        layer: str,
        prediction: Prediction,
        questions: Mapping[str, Sequence[Question]],
    ) -> Record:
        return record


CLASSES, LABELS, NUMBER, SPANS, TAGS, ANSWERS, REPLY = (
    ClassView(), MultiLabelView(), NumberView(), SpanView(), TagView(), AnswerView(), ReplyView(),
)  # fmt: skip
