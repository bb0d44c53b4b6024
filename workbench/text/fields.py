"""What a model predicts for one document: a Prediction made of typed fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np

from workbench.base.deprecation import renamed_field
from workbench.base.i18n import N_, _
from workbench.base.registry import PluginError, needed_plugin, registry
from workbench.text.questions import PredictedAnswer
from workbench.text.relations import Relation
from workbench.text.spans import Span, chains_of

PREDICTION = "prediction"  # kind in the registry, of views with their fields

NO_ANSWERS = {  # why a reply holds no answer → for display
    "empty": N_("The reply is empty."),
    "failed": N_("The request failed."),
    "no-label": N_("The reply names no label."),
    "no-match": N_("The pattern does not match the reply."),
    "time-limit": N_("The pattern takes too long."),
    "no-json": N_("The reply holds no valid JSON."),
    "other-json": N_("The JSON of the reply is not of the expected form."),
    "no-number": N_("The reply holds no number."),
    "no-choice": N_("The reply names none of the choices."),
    "no-quotes": N_("The reply quotes nothing."),
    "no-tags": N_("The reply neither repeats the text nor has tags."),
    "not-in-text": N_("The text does not contain the answer."),
    "no-marker": N_("The marker of the answer is missing."),
}

F = TypeVar("F", bound="Field")
_STORED: dict[str, type[Field]] = {}
_NAMED: dict[str, type[Field]] = {}


class Field:
    """One kind of predicted value.

    A kind that is stored with a prediction is declared with a key,
    `class Answers(Field, key="answers")`, and has `to_json` and `from_json`; the key is the id of
    its `ResultView` in the registry. Kinds without a key (the distribution over every subword,
    say) exist only while a model is being inspected.

    title: what it is, for display. of_document: one value is predicted from all inputs of a
    document, for example from all windows of a long text. decides: a change of the text can turn
    it, see `inspection.decisions`.
    """

    key: ClassVar[str] = ""
    title: ClassVar[str] = ""
    of_document: ClassVar[bool] = False
    decides: ClassVar[bool] = False

    def __init_subclass__(cls, *, key: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        _NAMED[cls.__name__] = cls
        if key:
            cls.key = key
            _STORED[key] = cls

    def to_json(self) -> dict[str, Any]:
        """Entries of the prediction's JSON object."""
        raise NotImplementedError(f"{type(self).__name__} is not stored")

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote. Raises KeyError, TypeError or ValueError."""
        raise NotImplementedError(f"{cls.__name__} is not stored")


def named(name: str) -> type[Field] | None:
    """The kind with this class name or key, which tasks list in `outputs`; None if unknown."""
    return _NAMED.get(name) or _stored(name) or _STORED.get(name)


def _stored(key: str) -> type[Field] | None:
    """The kind with this key; that of a plugin while it is enabled, imported when first read."""
    if not needed_plugin(key):
        return _STORED.get(key)
    if registry().has(PREDICTION, key):
        with suppress(PluginError):  # recorded by the registry
            return cast(type[Field], registry().get(PREDICTION, key).field)
    return None


class DocumentLabels(Field):
    """A kind of prediction that labels a document as a whole."""

    @property
    def chosen(self) -> tuple[str, ...]:
        """The labels that are predicted."""
        raise NotImplementedError(type(self).__name__)

    def as_dict(self) -> dict[str, float]:
        """The score of every label."""
        raise NotImplementedError(type(self).__name__)


@dataclass(frozen=True)
class ClassScores(DocumentLabels, key="classes"):
    """One class: a probability for each label, in the order of `labels`; they sum to 1."""

    title = N_("a class label")
    decides = True
    of_document = True

    labels: tuple[str, ...]
    scores: tuple[float, ...]

    @property
    def best(self) -> str:
        return self.labels[int(np.argmax(self.scores))]

    @property
    def chosen(self) -> tuple[str, ...]:
        return (self.best,)

    def as_dict(self) -> dict[str, float]:
        return dict(zip(self.labels, self.scores, strict=True))

    def to_json(self) -> dict[str, Any]:
        return {"label": self.best, "scores": self.as_dict()}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        return cls(tuple(raw["scores"]), tuple(raw["scores"].values()))


@dataclass(frozen=True)
class LabelScores(DocumentLabels, key="labels"):
    """Any number of classes: a probability and a decision threshold for each label."""

    title = N_("multiple labels")
    decides = True

    labels: tuple[str, ...]
    scores: tuple[float, ...]
    thresholds: tuple[float, ...]

    @property
    def chosen(self) -> tuple[str, ...]:
        rows = zip(self.labels, self.scores, self.thresholds, strict=True)
        return tuple(label for label, score, threshold in rows if score >= threshold)

    def as_dict(self) -> dict[str, float]:
        return dict(zip(self.labels, self.scores, strict=True))

    def to_json(self) -> dict[str, Any]:
        thresholds = dict(zip(self.labels, self.thresholds, strict=True))
        return {"labels": list(self.chosen), "scores": self.as_dict(), "thresholds": thresholds}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        scores, thresholds = raw["scores"], raw["thresholds"]
        return cls(tuple(scores), tuple(scores.values()), tuple(map(thresholds.get, scores)))


@dataclass(frozen=True)
class Number(Field, key="number"):
    """A number for the document as a whole."""

    title = N_("a number")
    decides = True

    value: float

    def to_json(self) -> dict[str, Any]:
        return {"number": self.value}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        return cls(float(raw["number"]))


@dataclass(frozen=True)
class Written(Field, key="text"):
    """A text that a model writes for the document.

    score: the geometric mean of the probabilities of its tokens, None if unknown. ended: the model
    ended it; otherwise it has as many tokens as it may have.
    """

    title = N_("a written text")
    of_document = True

    text: str
    score: float | None = None
    ended: bool = True

    def to_json(self) -> dict[str, Any]:
        return {"written": {"text": self.text, "score": self.score, "ended": self.ended}}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        written = raw["written"]
        score = None if written.get("score") is None else float(written["score"])
        return cls(str(written["text"]), score, bool(written.get("ended", True)))


@dataclass(frozen=True)
class WordTag:
    """A word with its predicted label (without B-/I-, None for O) and its probability.

    others: the next most probable labels with their probabilities, best first, if they are known.
    """

    start: int
    end: int
    label: str | None
    score: float
    others: tuple[tuple[str, float], ...] = ()

    def to_json(self) -> dict[str, Any]:
        plain = {"start": self.start, "end": self.end, "label": self.label, "score": self.score}
        return {**plain, "others": list(map(list, self.others))} if self.others else plain

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        others = tuple((str(label), float(score)) for label, score in raw.get("others", ()))
        return cls(raw["start"], raw["end"], raw["label"], raw["score"], others)


@dataclass(frozen=True)
class WordTags(Field, key="words"):
    """A label or None for every word, in order."""

    title = N_("word tags")
    decides = True

    words: tuple[WordTag, ...]

    def to_json(self) -> dict[str, Any]:
        return {"tokens": [word.to_json() for word in self.words]}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        return cls(tuple(map(WordTag.from_json, raw["tokens"])))


@dataclass(frozen=True)
class SpanScores(Field, key="spans"):
    """Spans with scores in [0, 1], in text order."""

    title = N_("spans")
    decides = True

    spans: tuple[Span, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "spans": [
                {"start": span.start, "end": span.end, "label": span.label, "score": span.score}
                for span in self.spans
            ]
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        return cls(
            tuple(
                Span(span["start"], span["end"], span["label"], score=span.get("score"))
                for span in raw["spans"]
            )
        )


@dataclass(frozen=True)
class Chains(SpanScores, key="chains"):
    """Mentions with the numbers of their chains, in text order."""

    title = N_("chains of coreferent spans")
    of_document = True

    @property
    def chains(self) -> tuple[tuple[Span, ...], ...]:
        """The mentions of each chain, by its first one."""
        return chains_of(self.spans)

    def to_json(self) -> dict[str, Any]:
        rows = zip(super().to_json()["spans"], self.spans, strict=True)
        return {"spans": [{**row, "chain": span.chain} for row, span in rows]}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        rows = zip(super().from_json(raw).spans, raw["spans"], strict=True)
        return cls(tuple(replace(span, chain=int(row["chain"])) for span, row in rows))


@dataclass(frozen=True)
class Answers(Field, key="answers"):
    """The answers to the questions about a document, in order."""

    title = N_("answers to questions")
    decides = True
    of_document = True

    answers: tuple[PredictedAnswer, ...]

    def to(self, question: str) -> PredictedAnswer | None:
        """The answer to a question; None if the model was not asked."""
        return next((answer for answer in self.answers if answer.question == question), None)

    def to_json(self) -> dict[str, Any]:
        return {"answers": [answer.to_json() for answer in self.answers]}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        return cls(tuple(map(PredictedAnswer.from_json, raw["answers"])))


@dataclass(frozen=True)
class Relations(Field, key="relations"):
    """Relations between spans of the text, with scores in [0, 1].

    others: those that were not predicted, the most probable one of each pair of spans.
    """

    title = N_("relations")
    decides = True
    of_document = True

    relations: tuple[Relation, ...]
    others: tuple[Relation, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "relations": [_relation_to_json(relation) for relation in self.relations],
            "other_relations": [_relation_to_json(relation) for relation in self.others],
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        predicted, others = raw["relations"], raw.get("other_relations", ())
        return cls(*(tuple(map(_relation_from_json, some)) for some in (predicted, others)))


def _relation_to_json(relation: Relation) -> dict[str, Any]:
    ends = {
        name: {"start": span.start, "end": span.end, "label": span.label}
        for name, span in (("from", relation.from_span), ("to", relation.to_span))
    }
    raw = {"label": relation.label, "score": relation.score, **ends}
    return raw if relation.directed else {**raw, "directed": False}


def _relation_from_json(raw: Mapping[str, Any]) -> Relation:
    first, second = (
        Span(raw[end]["start"], raw[end]["end"], raw[end]["label"]) for end in ("from", "to")
    )
    has_direction = raw.get("directed", True)
    return Relation(raw["label"], first, second, raw["score"], directed=has_direction)


@dataclass(frozen=True)
class FromReply(Field, key="reply"):
    """How a prediction was read from what a model wrote, beside the field that was read.

    no_answer: why nothing can be read from the reply, a key of `NO_ANSWERS`; there is then no other
    field. The document is wrong in all scores, and there is nothing to suggest. unplaced: what the
    reply quotes, but the text does not contain. samples: number of replies; the scores of the other
    field are shares of them, and no probabilities if there is one.
    """

    no_answer: str = ""
    unplaced: tuple[str, ...] = ()
    samples: int = 1

    @property
    def reason(self) -> str:
        """Why there is no answer, for display; that of a later version as it is stored."""
        known = self.no_answer in NO_ANSWERS
        return _(NO_ANSWERS[self.no_answer]) if known else self.no_answer

    def to_json(self) -> dict[str, Any]:
        reply = {"no_answer": self.no_answer, "unplaced": list(self.unplaced)}
        return {"reply": {**reply, "samples": self.samples}}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        reply = raw["reply"]
        return cls(str(reply["no_answer"]), tuple(reply["unplaced"]), int(reply["samples"]))


@renamed_field("borders", "offsets")
@dataclass(frozen=True)
class TokenScores(Field):
    """Per subword: text piece, code point offsets, id, and the distribution over `labels`.

    scores (T, L) float32.
    """

    title = N_("token labels")

    pieces: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    ids: tuple[int, ...]
    labels: tuple[str, ...]
    scores: np.ndarray = field(hash=False)


@renamed_field("borders", "offsets")
@dataclass(frozen=True)
class VocabularyScores(Field):
    """For each subword position the most probable vocabulary entries with probabilities."""

    title = N_("word predictions")

    pieces: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    ids: tuple[int, ...]
    best: tuple[tuple[tuple[str, float], ...], ...] = field(hash=False)


@dataclass(frozen=True)
class Prediction:
    """Everything that one task predicts for one document, at most one field of each kind.

    `cut`: the text exceeded the maximum length of the model and was truncated.
    """

    fields: tuple[Field, ...] = ()
    cut: bool = False

    def get(self, kind: type[F]) -> F | None:
        return next((field for field in self.fields if isinstance(field, kind)), None)

    def required(self, kind: type[F]) -> F:
        """Raises LookupError if the prediction has no field of this kind."""
        field = self.get(kind)
        if field is None:
            raise LookupError(f"the prediction has no {kind.__name__}")
        return field

    @property
    def classes(self) -> ClassScores | None:
        return self.get(ClassScores)

    @property
    def label(self) -> str | None:
        return self.classes.best if self.classes else None

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Labels of the document as a whole; None if the task gives none."""
        document_labels = self.get(DocumentLabels)
        return document_labels.chosen if document_labels else None

    @property
    def number(self) -> float | None:
        field = self.get(Number)
        return field.value if field else None

    @property
    def written(self) -> str | None:
        """The text that the model has written; None for other kinds of predictions."""
        field = self.get(Written)
        return field.text if field else None

    @property
    def no_answer(self) -> str:
        """Why nothing can be read from the reply of a model, a key of `NO_ANSWERS`; "" if it can,
        and for models that do not write replies.
        """
        field = self.get(FromReply)
        return field.no_answer if field else ""

    @property
    def is_unread(self) -> bool:
        """Whether nothing at all could be read from the reply of a model."""
        return bool(self.no_answer) and len(self.fields) == 1

    @property
    def remark(self) -> str:
        """Why there is no answer, and what the reply quotes that the text lacks, for display."""
        reply = self.get(FromReply)
        if reply is None:
            return ""
        quotes = ", ".join(f"“{text}”" for text in reply.unplaced)
        parts = [reply.reason] if reply.no_answer else []
        parts += [_("Not in the text: {quotes}", quotes=quotes)] if quotes else []
        return " ".join(parts)

    @property
    def has_probabilities(self) -> bool:
        """Whether its scores say how certain it is: those read from one reply do not."""
        field = self.get(FromReply)
        return field is None or field.samples > 1

    @property
    def words(self) -> tuple[WordTag, ...]:
        field = self.get(WordTags)
        return field.words if field else ()

    @property
    def spans(self) -> tuple[Span, ...]:
        field = self.get(SpanScores)
        return field.spans if field else ()

    @property
    def relations(self) -> tuple[Relation, ...]:
        field = self.get(Relations)
        return field.relations if field else ()

    def to_json(self) -> dict[str, Any]:
        """The object that is stored and that `glossbench predict` prints.

        `label`, `scores`, `tokens`, `spans` and `cut` are always present, null or empty if the task
        does not give them; `fields` lists the kinds that it does give.
        """
        raw: dict[str, Any] = {"label": None, "scores": None, "tokens": [], "spans": []}
        for item in self.fields:
            raw.update(item.to_json())
        return {**raw, "cut": self.cut, "fields": [item.key for item in self.fields]}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Prediction:
        """Fields of an unknown kind (of a missing plugin) are left out."""
        kinds = raw.get("fields") if "fields" in raw else _kinds_of_version_1(raw)
        known = [kind for key in kinds or () if (kind := _stored(key)) is not None]
        return cls(tuple(kind.from_json(raw) for kind in known), bool(raw.get("cut")))


def _kinds_of_version_1(raw: Mapping[str, Any]) -> Iterable[str]:
    """Predictions stored before `fields` existed: of classes and pairs, or else of tags."""
    if raw.get("scores"):
        return (ClassScores.key,)
    return (WordTags.key, SpanScores.key) if "tokens" in raw else ()
