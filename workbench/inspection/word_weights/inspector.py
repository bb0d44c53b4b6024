"""What each word adds to a score of a linear baseline: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from workbench.baselines.base import MIN_LOGIT, Feature, WeighsFeatures, is_exclusive
from workbench.inspection import decisions
from workbench.inspection.attributions.info import Target
from workbench.inspection.predicting import BaselineSubject
from workbench.inspection.spec import WordRow
from workbench.inspection.word_weights.info import INFO, FeatureWeight, WordWeights
from workbench.text.document import Document
from workbench.text.segment import tokens_of


class WordWeightsInspector:
    """For baselines whose logits are weighted sums of features."""

    info = INFO

    def run(
        self, subject: BaselineSubject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> WordWeights:
        """Raises WorkbenchError for an unknown target."""
        (document,) = documents
        targets = _targets(subject, document)
        target = decisions.chosen(targets, str(options["target"]))
        baseline = cast(WeighsFeatures, subject.trained.baseline)
        features, intercepts = baseline.features(document)
        own = subject.labels.index(target.label)
        other = _other(intercepts, own) if is_exclusive(subject.task) else None

        def of(values: np.ndarray) -> float:
            return float(values[own] - (0.0 if other is None else values[other]))

        words = [
            WordRow(start, end, name, text[start:end])
            for name, text in document.texts[:2]
            for start, end in tokens_of(document, name)
        ]
        numbers = {(word.field, word.start, word.end): at for at, word in enumerate(words)}
        scores, rows, intercept = np.zeros(len(words)), [], of(intercepts)
        for feature in features:
            weight = of(feature.weights)
            product = feature.value * weight
            _spread(feature, product, numbers, scores)
            count = len(feature.places)
            rows.append(FeatureWeight(feature.text, count, feature.value, weight, product))
        return WordWeights(
            tuple(words),
            tuple(scores.tolist()),
            intercept,
            intercept + sum(row.product for row in rows),
            target.id,
            targets,
            tuple(sorted(rows, key=lambda row: -abs(row.product))),
            "" if other is None else subject.labels[other],
        )


def _targets(subject: BaselineSubject, document: Document) -> tuple[Target, ...]:
    """Every label, the most probable first."""
    return decisions.classes(subject.prediction(document))


def _other(intercepts: np.ndarray, own: int) -> int | None:
    """The other of two classes that occur in training: scikit-learn has one row for both."""
    known = [at for at, value in enumerate(intercepts.tolist()) if value > MIN_LOGIT]
    others = [at for at in known if at != own]
    return others[0] if len(known) == 2 and len(others) == 1 else None


def _spread(
    feature: Feature,
    product: float,
    numbers: Mapping[tuple[str, int, int], int],
    scores: np.ndarray,
) -> None:
    """Add the product to `scores` (W,) in equal parts at all words of all places."""
    places = [place for words in feature.places for place in words]
    for place in places:
        scores[numbers[place]] += product / len(places)
