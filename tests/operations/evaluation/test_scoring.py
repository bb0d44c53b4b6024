"""The documents of a score, and what it is compared with."""

import pytest

from workbench.metrics.evaluation import Evaluation, LabelScore
from workbench.operations.evaluation import scoring


def evaluation(**support):
    rows = tuple(LabelScore(label, 0.0, 0.0, 0.0, n) for label, n in support.items())
    return Evaluation("dev", n=sum(support.values()), per_label=rows)


def test_the_majority_baseline_has_the_main_score_of_the_task():
    majority = scoring.majority_baseline("classify", evaluation(good=2, bad=3, mixed=1))

    # by hand: 3 of 6 documents are gold "bad": F1 2/3, and 0 of the other two labels
    assert majority.label == "bad"
    assert majority.score == pytest.approx(2 / 9)


def test_there_is_no_majority_baseline_without_documents_or_classes():
    assert scoring.majority_baseline("classify", evaluation()) is None
    assert scoring.majority_baseline("regress", evaluation(a=2)) is None
