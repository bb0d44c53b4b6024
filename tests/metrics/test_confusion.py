import random

import pytest

from workbench.metrics.confusion import NO_SPAN, confusion, span_confusion
from workbench.text.spans import Span


@pytest.mark.parametrize("seed", range(10))
def test_counts_equal_those_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    draw = random.Random(seed)
    gold, predicted = ([draw.choice("abcd") for _ in range(30)] for _ in range(2))

    found = confusion(gold, predicted, labels="dcba")

    assert found.labels == tuple("dcba")
    assert found.counts.tolist() == metrics.confusion_matrix(gold, predicted, labels=list("dcba")).tolist()


def test_a_cell_names_its_documents():
    found = confusion(["a", "b", "a"], ["b", "b", "b"])

    assert found.documents("a", "b") == (0, 2)
    assert found.documents("b", "a") == ()
    assert found.documents("a", "unknown") == ()


def test_spans_without_a_partner_meet_the_empty_label():
    gold = [(Span(0, 3, "A"), Span(5, 8, "B")), (Span(0, 1, "A"),)]
    predicted = [(Span(0, 3, "B"), Span(9, 10, "A")), (Span(0, 1, "A"),)]

    found = span_confusion(gold, predicted)

    assert found.labels == ("A", "B", NO_SPAN)
    assert found.counts.tolist() == [[1, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert found.documents("A", "B") == (0,)
