"""The mean of predictions, by hand."""

import pytest

from workbench.base.errors import WorkbenchError
from workbench.runtime.averaging import mean
from workbench.text.fields import ClassScores, Prediction


def classes(**scores):
    return Prediction((ClassScores(tuple(scores), tuple(scores.values())),))


def test_probabilities_are_averaged_whatever_the_order_of_the_labels():
    found = mean([classes(a=0.9, b=0.1), classes(b=0.7, a=0.3)])

    assert found.classes.labels == ("a", "b")
    assert found.classes.scores == pytest.approx((0.6, 0.4)) and found.label == "a"
    with pytest.raises(WorkbenchError, match="different classes: a, b and a, c"):
        mean([classes(a=0.9, b=0.1), classes(a=0.9, c=0.1)])
