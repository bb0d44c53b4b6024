"""What a model says of a document: Prediction and its typed fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from workbench.text.spans import Span


class Field:
    """Marker of the kinds of answer that tasks give and inspectors need."""


@dataclass(frozen=True)
class ClassScores(Field):
    """A probability for each label, in the order of `labels`; they add up to 1."""

    labels: tuple[str, ...]
    scores: tuple[float, ...]

    @property
    def best(self) -> str:
        return self.labels[int(np.argmax(self.scores))]

    def as_dict(self) -> dict[str, float]:
        return dict(zip(self.labels, self.scores, strict=True))


@dataclass(frozen=True)
class WordTag:
    """A word with its decided label (without B-/I-, None for O) and the probability of the decided tag."""

    start: int
    end: int
    label: str | None
    score: float


@dataclass(frozen=True)
class TokenScores(Field):
    """Per subword: text piece, code point borders, id, and the distribution over `labels`. scores (T, L) float32."""

    pieces: tuple[str, ...]
    borders: tuple[tuple[int, int], ...]
    ids: tuple[int, ...]
    labels: tuple[str, ...]
    scores: np.ndarray = field(hash=False)


@dataclass(frozen=True)
class SpanScores(Field):
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class VocabularyScores(Field):
    """Per subword position the best words of the vocabulary with probabilities."""

    pieces: tuple[str, ...]
    borders: tuple[tuple[int, int], ...]
    ids: tuple[int, ...]
    best: tuple[tuple[tuple[str, float], ...], ...] = field(hash=False)


@dataclass(frozen=True)
class Attention(Field):
    """weights (layers, heads, T, T)."""

    weights: np.ndarray = field(hash=False)


@dataclass(frozen=True)
class Hidden(Field):
    """states (layers + 1, T, H)."""

    states: np.ndarray = field(hash=False)


@dataclass(frozen=True)
class Prediction:
    """All that one task says of one document. `cut`: the text was longer than the model takes and the rest was not read."""

    classes: ClassScores | None = None
    words: tuple[WordTag, ...] = ()
    spans: tuple[Span, ...] = ()
    cut: bool = False

    @property
    def label(self) -> str | None:
        return self.classes.best if self.classes else None

    def to_json(self) -> dict:
        """`label`, `scores`, `tokens`, `spans`, `cut`: the keys of the command line's answers."""
        return {
            "label": self.label,
            "scores": self.classes.as_dict() if self.classes else None,
            "tokens": [
                {"start": w.start, "end": w.end, "label": w.label, "score": w.score}
                for w in self.words
            ],
            "spans": [
                {"start": s.start, "end": s.end, "label": s.label, "score": s.score}
                for s in self.spans
            ],
            "cut": self.cut,
        }

    @classmethod
    def from_json(cls, raw: Mapping) -> Prediction:
        scores = raw.get("scores")
        classes = ClassScores(tuple(scores), tuple(scores.values())) if scores else None
        words = tuple(
            WordTag(w["start"], w["end"], w["label"], w["score"]) for w in raw.get("tokens") or ()
        )
        spans = tuple(
            Span(s["start"], s["end"], s["label"], score=s.get("score"))
            for s in raw.get("spans") or ()
        )
        return cls(classes, words, spans, bool(raw.get("cut")))
