"""The readings of several replies → one prediction: the most frequent answer, the earliest of ties.

Source: Wang et al. 2023, "Self-consistency", arXiv:2203.11171: the agreement is the confidence.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from workbench.prompting.answers.target import (
    ANSWER,
    CLASS,
    LABELS,
    NUMBER,
    Range,
    Reading,
    Target,
    Value,
)
from workbench.text.document import choice_names
from workbench.text.fields import (
    Answers,
    ClassScores,
    Field,
    FromReply,
    LabelScores,
    Number,
    Prediction,
    SpanScores,
)
from workbench.text.questions import Candidate, PredictedAnswer
from workbench.text.spans import Span

HALF = 0.5


def prediction(
    targets: Sequence[Target], readings: Sequence[Sequence[Reading]], *, cut: bool = False
) -> Prediction:
    """The prediction of a document. readings: of the samples of each target, in their order.

    A document has one target, and one for each question if it has questions. Samples that cannot be
    read count for the agreement, as for no label in particular; if none can be read, there is no
    answer, for the reason of the first.
    """
    samples = max(map(len, readings), default=0)
    unplaced = tuple(
        dict.fromkeys(text for each in readings for one in each for text in one.unplaced)
    )
    unread = [each[0].no_answer if each else "empty" for each in readings if not _values(each)]
    reply = FromReply(unread[0] if unread else "", unplaced, samples)
    if targets[0].output == ANSWER:
        answered = tuple(
            _answer(target, each)
            for target, each in zip(targets, readings, strict=True)
            if _values(each)
        )
        return Prediction((Answers(answered), reply) if answered else (reply,), cut)
    if unread:
        return Prediction((reply,), cut)
    return Prediction((_field(targets[0], readings[0]), reply), cut)


def _values(readings: Sequence[Reading]) -> list[Value]:
    return [reading.value for reading in readings if reading.value is not None]


def _field(target: Target, readings: Sequence[Reading]) -> Field:
    values = _values(readings)
    if target.output == CLASS:
        return _classes(target, cast(list[str], values), len(readings))
    if target.output == LABELS:
        return _labels(target, cast(list[tuple[str, ...]], values), len(readings))
    if target.output == NUMBER:
        return Number(cast(float, winner(values)))
    return _spans(cast(list[tuple[Span, ...]], values), len(readings))


def winner(values: Sequence[Value]) -> Value:
    """The most frequent value, the earliest of those that are equally frequent."""
    counts = Counter(values)
    return max(counts, key=lambda value: counts[value])  # in the order of the first occurrence


def _classes(target: Target, values: Sequence[str], samples: int) -> ClassScores:
    """Shares of the samples; those that cannot be read are spread over all labels."""
    labels = choice_names(len(target.choices)) or target.labels
    counts, best = Counter(values), cast(str, winner(values))
    rest = (samples - len(values)) / len(labels)
    scores = {label: (counts[label] + rest) / samples for label in labels}
    # `ClassScores.best` is the first of equal scores; the earliest reply decides here.
    order = (
        sorted(labels, key=lambda label: label != best) if _tied(scores, scores[best]) else labels
    )
    return ClassScores(tuple(order), tuple(scores[label] for label in order))


def _tied(scores: dict[str, float], best: float) -> bool:
    return sum(math.isclose(score, best) for score in scores.values()) > 1


def _labels(target: Target, values: Sequence[tuple[str, ...]], samples: int) -> LabelScores:
    """Each label is decided on its own, by the samples that were read; one in half of them as in
    the first.
    """
    shares = [sum(label in value for value in values) / samples for label in target.labels]
    half = HALF * len(values) / samples
    above = math.nextafter(half, 1)
    thresholds = (half if label in values[0] else above for label in target.labels)
    return LabelScores(target.labels, tuple(shares), tuple(thresholds))


def _spans(values: Sequence[tuple[Span, ...]], samples: int) -> SpanScores:
    """Each span is decided on its own, as labels are; those of one reply have no score."""
    counts = Counter(span for value in values for span in value)
    chosen = (
        replace(span, score=count / samples if samples > 1 else None)
        for span, count in counts.items()
        if 2 * count > len(values) or (2 * count == len(values) and span in values[0])
    )
    return SpanScores(tuple(sorted(chosen, key=lambda span: (span.start, span.end, span.label))))


def _answer(target: Target, readings: Sequence[Reading]) -> PredictedAnswer:
    values = cast(list[Range | tuple[()]], _values(readings))
    counts, best = Counter(values), winner(values)
    null = counts[()] / len(readings)
    ranges = [value for value in sorted(counts, key=lambda value: value != best) if value]
    candidates = tuple(
        Candidate(start, end, counts[start, end] / len(readings)) for start, end in ranges
    )
    text = target.text[slice(candidates[0].start, candidates[0].end)] if candidates else ""
    gap = null - (candidates[0].score if candidates else 0.0)
    return PredictedAnswer(target.question, candidates, text, gap, null, not best)
