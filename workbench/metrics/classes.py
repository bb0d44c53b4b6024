"""Scores of one label per document, defined as in scikit-learn.

Without numpy, so that the window can recompute them while the user works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from workbench.text.result_view import NONE


@dataclass(frozen=True, slots=True)
class LabelScore:
    """Fractions of 1; `support` is the number of gold labels.

    average_precision: of the ranking by score, for tasks that score each label independently.
    """

    label: str
    precision: float
    recall: float
    f1: float
    support: int
    average_precision: float | None = None

    def to_json(self) -> dict[str, object]:
        raw = asdict(self)
        if self.average_precision is None:
            del raw["average_precision"]
        return raw


def counts(gold: Sequence[str], predicted: Sequence[str]) -> dict[str, tuple[int, int, int]]:
    """label → (correct, predicted, gold) counts, over all labels of either side, sorted by name.

    NONE, no answer, counts only if it is a gold label. Raises ValueError for two lengths.
    """
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} gold labels, but {len(predicted)} predicted labels")
    right = Counter(g for g, p in zip(gold, predicted, strict=True) if g == p)
    in_gold, in_predicted = Counter(gold), Counter(predicted)
    return {
        label: (right[label], in_predicted[label], in_gold[label])
        for label in sorted(in_gold | in_predicted)
        if label != NONE or label in in_gold
    }


def ratio(part: float, whole: float) -> float:
    """part / whole; 0 if `whole` is 0, as in all scores here."""
    return part / whole if whole else 0.0


def label_score(label: str, right: int, predicted: int, gold: int) -> LabelScore:
    return LabelScore(
        label, ratio(right, predicted), ratio(right, gold), ratio(2 * right, predicted + gold), gold
    )


def label_scores(
    by_label: Mapping[str, tuple[int, int, int]], labels: Sequence[str] | None
) -> tuple[LabelScore, ...]:
    """One row for each label, by default of all, from its counts: right, predicted, gold."""
    return tuple(
        label_score(label, *by_label.get(label, (0, 0, 0)))
        for label in (by_label if labels is None else labels)
    )


def per_label(
    gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str] | None = None
) -> tuple[LabelScore, ...]:
    """One row for each label of `labels`, in that order.

    By default, for each label of either side, sorted.
    """
    return label_scores(counts(gold, predicted), labels)


def averages(rows: Sequence[LabelScore]) -> tuple[float, float]:
    """(macro, weighted) F1 over rows that occur in gold or predictions; 0 for none."""
    if not rows:
        return 0.0, 0.0
    weighted = sum(row.f1 * row.support for row in rows)
    return sum(row.f1 for row in rows) / len(rows), ratio(
        weighted, sum(row.support for row in rows)
    )


def scores(gold: Sequence[str], predicted: Sequence[str]) -> dict[str, float]:
    """`accuracy`, `macro_f1`, `micro_f1`, `weighted_f1`; 0 without documents.

    See `metrics.definitions`.
    """
    right = sum(g == p for g, p in zip(gold, predicted, strict=True))
    macro, weighted = averages(per_label(gold, predicted))
    accuracy = ratio(right, len(gold))
    return {"accuracy": accuracy, "macro_f1": macro, "micro_f1": accuracy, "weighted_f1": weighted}


def majority(gold: Sequence[str]) -> str | None:
    """The most frequent label, the first by name on a tie; None without labels."""
    return min(Counter(gold).items(), key=lambda item: (-item[1], item[0]))[0] if gold else None


def baseline(gold: Sequence[str], training: Sequence[str] | None = None) -> dict[str, float]:
    """The scores of always predicting one label: the most frequent one of `training`, by default
    of `gold`.
    """
    guess = majority(training if training else gold)
    return scores(gold, [guess or ""] * len(gold))
