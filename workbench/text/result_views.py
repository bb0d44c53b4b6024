"""The views of the kinds of predictions that ship with the application."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.base.i18n import N_, _, ngettext
from workbench.base.records import json_text
from workbench.text import segment
from workbench.text.document import TEXT, choice_names
from workbench.text.fields import (
    Answers,
    Chains,
    ClassScores,
    DocumentLabels,
    FromReply,
    LabelScores,
    Number,
    Prediction,
    Relations,
    SpanScores,
    WordTag,
    WordTags,
    Written,
)
from workbench.text.mistakes import LABEL
from workbench.text.questions import Candidate, PredictedAnswer
from workbench.text.result_view import DISTANCE, DOCUMENT, LOSS, NONE, Answer, DetailRow, ResultView

if TYPE_CHECKING:
    from workbench.text.dataset import Record
    from workbench.text.document import Document
    from workbench.text.fields import Field
    from workbench.text.mistakes import Mistake
    from workbench.text.questions import Question
    from workbench.text.relations import Relation
    from workbench.text.spans import Span

THRESHOLD = 0.5  # of labels that are certain


def words_with(document: Document, spans: Sequence[Span]) -> tuple[WordTag, ...]:
    """Every word of the text with the label of the span that covers its start."""
    places = document.tokens.get(TEXT) or segment.words(document.text)
    tags = []
    for start, end in places:
        span = next((span for span in spans if span.start <= start < span.end), None)
        score = 1.0 if span is None or span.score is None else span.score
        tags.append(WordTag(start, end, span.label if span else None, score))
    return tuple(tags)


class ClassView(ResultView):
    """One class."""

    field: type[Field] = ClassScores

    def labels(self, prediction: Prediction) -> tuple[str, ...]:
        scores = prediction.get(DocumentLabels)
        return scores.chosen if scores is not None else ()

    def shares(self, prediction: Prediction) -> Mapping[str, float]:
        scores = prediction.get(DocumentLabels)
        return scores.as_dict() if scores is not None else {}

    def from_gold(self, document: Document, gold: Any, labels: Sequence[str]) -> Prediction:
        """Choices are labels of their document alone."""
        names = choice_names(len(document.choices)) if document.choices else tuple(labels)
        scores = tuple(float(name == gold.label) for name in names)
        return Prediction((ClassScores(names, scores),))


class MultiLabelView(ClassView):
    """Any number of classes, each decided on its own."""

    field = LabelScores
    independent = True

    def thresholds(self, prediction: Prediction) -> Mapping[str, float]:
        scores = prediction.get(LabelScores)
        if scores is None:
            return {}
        return dict(zip(scores.labels, scores.thresholds, strict=True))

    def from_gold(self, document: Document, gold: Any, labels: Sequence[str]) -> Prediction:
        scores = tuple(float(name in gold.chosen) for name in labels)
        thresholds = (THRESHOLD,) * len(scores)
        return Prediction((LabelScores(tuple(labels), scores, thresholds),))

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

    def from_gold(self, document: Document, gold: Any, labels: Sequence[str]) -> Prediction:
        return Prediction((Number(gold.value),))

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
            Answer(span.label, span.score, span.start, span.end, span.field, chain=span.chain)
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

    def from_gold(self, document: Document, gold: Any, labels: Sequence[str]) -> Prediction:
        spans = tuple(replace(span, score=1.0) for span in gold.spans)
        return Prediction((WordTags(words_with(document, spans)), SpanScores(spans)))

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


class ChainView(SpanView):
    """Chains of mentions; an error is about a mention, or about the antecedent of one."""

    field = Chains
    by_label = False
    quotes = True
    column = N_("Mention")

    def compared(self, prediction: Prediction) -> tuple[object, ...]:
        """The place of each mention, and that of the first one of its chain."""
        chains = prediction.required(Chains).chains
        places = (
            (span.start, span.end, chain[0].start, chain[0].end)
            for chain in chains
            for span in chain
        )
        return tuple(sorted(places)) or (None,)

    def decisions(self, prediction: Prediction, labels: Sequence[str]) -> np.ndarray:
        """(mentions, 2): without and with each mention."""
        row = np.array([span.score or 0.0 for span in prediction.spans])
        return np.stack([1 - row, row], axis=1)

    def line(self, document: Document, prediction: Prediction) -> str:
        chains = (
            "{" + ", ".join(document.text[span.start : span.end] for span in chain) + "}"
            for chain in prediction.required(Chains).chains
        )
        return f"{document.text}  →  {' '.join(chains) or NONE}"

    def side(self, mistake: Mistake, text: str, *, gold: bool) -> str:
        """A mention, or an antecedent; a mention without one starts its chain."""
        quote = super().side(mistake, text, gold=gold)
        return quote or (_("new chain") if mistake.kind == LABEL else "")

    def kind_title(self, kind: str) -> str:
        """A mention has no label of its own: its chain is wrong."""
        return _("Wrong link") if kind == LABEL else super().kind_title(kind)

    def caption(self, span: Span) -> str:
        if span.chain is None:
            return span.label
        return _("{chain} · {label}", chain=span.chain, label=span.label)

    def from_gold(self, document: Document, gold: Any, labels: Sequence[str]) -> Prediction:
        spans = (
            replace(span, chain=number, score=1.0)
            for number, chain in enumerate(gold.chains, 1)
            for span in chain
        )
        in_order = sorted(spans, key=lambda span: (span.start, -span.end))
        return Prediction((Chains(tuple(in_order)),))

    def detail(
        self, document: Document, prediction: Prediction, mistake: Mistake
    ) -> list[DetailRow]:
        """The predicted chain with the mention, in text order."""
        chains = prediction.required(Chains).chains
        return [
            DetailRow(self.caption(span), span.score or 0.0, document.text[span.start : span.end])
            for chain in chains
            if any((span.start, span.end) == mistake.predicted_at for span in chain)
            for span in chain
        ]

    def count(self, n: int) -> str:
        return ngettext("{n} mention", "{n} mentions", n)


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

    def from_gold(self, document: Document, gold: Any, labels: Sequence[str]) -> Prediction:
        """Of several right answers the first one."""
        answers = []
        for question in gold.questions:
            best = tuple(Candidate(start, end, 1.0) for start, end in question.ranges[:1])
            text = question.texts[0] if best else ""
            null = float(not best)
            answers.append(PredictedAnswer(question.question, best, text, 0.0, null, not best))
        return Prediction((Answers(tuple(answers)),))

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


class WrittenView(ResultView):
    """A text that is written for the document."""

    field = Written
    on_document = by_label = False
    orders = (DISTANCE, DOCUMENT)

    def answers(self, prediction: Prediction) -> list[Answer]:
        """A blank text is no suggestion."""
        written = prediction.get(Written)
        if written is None or not written.text.strip():
            return []
        return [Answer("", written.score, written=written.text)]

    def compared(self, prediction: Prediction) -> tuple[object, ...]:
        return (prediction.written,)

    def line(self, document: Document, prediction: Prediction) -> str:
        return f"{document.text}  →  {prediction.written or NONE}"

    def cells(self, prediction: Prediction) -> tuple[str, str, str]:
        written = prediction.required(Written)
        return written.text, "" if written.score is None else f"{written.score:.6f}", ""

    def as_gold(
        self,
        record: Record,
        layer: str,
        prediction: Prediction,
        questions: Mapping[str, Sequence[Question]],
    ) -> Record:
        if not (text := prediction.written or "").strip():
            return record
        return replace(record, written={**record.written, layer: text})

    def from_gold(self, document: Document, gold: Any, labels: Sequence[str]) -> Prediction:
        return Prediction((Written(gold.text),))


class RelationView(ResultView):
    """Relations between spans."""

    field = Relations
    on_document = False
    column = N_("Spans")

    def answers(self, prediction: Prediction) -> list[Answer]:
        return [
            Answer(relation.label, relation.score, relation=relation)
            for relation in prediction.relations
        ]

    def compared(self, prediction: Prediction) -> tuple[object, ...]:
        return tuple(relation.place for relation in prediction.relations) or (None,)

    def decisions(self, prediction: Prediction, labels: Sequence[str]) -> np.ndarray:
        """(pairs, 1 + L), no relation first. Of a pair only the probability of its most probable
        label is stored; the rest is that of no relation.
        """
        scores = prediction.get(Relations)
        every = (*scores.relations, *scores.others) if scores is not None else ()
        known = [relation for relation in every if relation.label in labels]
        rows = np.zeros((len(known), 1 + len(labels)))
        for row, relation in zip(rows, known, strict=True):
            row[1 + labels.index(relation.label)] = relation.score or 0.0
            row[0] = 1 - (relation.score or 0.0)
        return rows

    def line(self, document: Document, prediction: Prediction) -> str:
        text = document.text
        listed = ", ".join(
            f"{relation.label} (“{_quoted(text, relation)}”)" for relation in prediction.relations
        )
        return f"{text}  →  {listed or NONE}"

    def cells(self, prediction: Prediction) -> tuple[str, str, str]:
        return "", "", json_text(prediction.to_json()["relations"])

    def as_gold(
        self,
        record: Record,
        layer: str,
        prediction: Prediction,
        questions: Mapping[str, Sequence[Question]],
    ) -> Record:
        """Spans that the record does not have are added to the layer of the other end."""
        if not prediction.relations:
            return record
        spans, relations = {name: list(some) for name, some in record.spans.items()}, []
        for relation in prediction.relations:
            ends = [replace(end, score=None) for end in (relation.from_span, relation.to_span)]
            places = {end.place for end in ends}
            names = [name for name, some in spans.items() if places & {s.place for s in some}]
            home = spans.setdefault(names[0] if names else next(iter(spans), "spans"), [])
            there = {span.place for span in home}
            home += [end for end in dict.fromkeys(ends) if end.place not in there]
            relations.append(replace(relation, from_span=ends[0], to_span=ends[1]))
        return replace(
            record,
            spans={name: tuple(some) for name, some in spans.items()},
            relations={**record.relations, layer: tuple(relations)},
        )

    def from_gold(self, document: Document, gold: Any, labels: Sequence[str]) -> Prediction:
        relations = (replace(relation, score=1.0) for relation in gold.relations)
        return Prediction((Relations(tuple(relations)),))

    def detail(
        self, document: Document, prediction: Prediction, mistake: Mistake
    ) -> list[DetailRow]:
        """The relations between the two spans that were considered, in both directions."""
        scores, ends = prediction.get(Relations), set(mistake.ends or ())
        every = (*scores.relations, *scores.others) if scores is not None else ()
        rows = [
            DetailRow(relation.label, relation.score or 0.0, _quoted(document.text, relation))
            for relation in every
            if {(s.start, s.end) for s in (relation.from_span, relation.to_span)} == ends
        ]
        return sorted(rows, key=lambda row: -row.share)

    def count(self, n: int) -> str:
        return ngettext("{n} relation", "{n} relations", n)


def _quoted(text: str, relation: Relation) -> str:
    ends = (relation.from_span, relation.to_span)
    arrow = " → " if relation.directed else " – "
    return arrow.join(text[span.start : span.end] for span in ends)


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


CLASSES, LABELS, NUMBER, SPANS, TAGS, CHAINS, ANSWERS, WRITTEN, RELATIONS, REPLY = (
    ClassView(), MultiLabelView(), NumberView(), SpanView(), TagView(), ChainView(), AnswerView(),
    WrittenView(), RelationView(), ReplyView(),
)  # fmt: skip
