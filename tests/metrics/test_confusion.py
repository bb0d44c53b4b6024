import random
from time import process_time

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
    assert (
        found.counts.tolist()
        == metrics.confusion_matrix(gold, predicted, labels=list("dcba")).tolist()
    )


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


def test_two_labels_at_the_same_borders_are_paired_with_what_is_left_there():
    gold = [(Span(0, 3, "A"), Span(0, 3, "B"))]
    predicted = [(Span(0, 3, "B"), Span(0, 3, "C"), Span(0, 3, "D"))]

    found = span_confusion(gold, predicted)

    cells = {(found.labels[row], found.labels[column]) for row, column in found.where}
    assert cells == {("B", "B"), ("A", "C"), (NO_SPAN, "D")}


def test_a_book_of_spans_is_counted_in_no_time():
    gold = [[Span(at, at + 5, "A") for at in range(0, 300_000, 10)]]
    predicted = [[Span(at, at + 5, "AB"[at % 20 == 0]) for at in range(0, 300_000, 10)]]

    begin = process_time()
    found = span_confusion(gold, predicted)

    assert process_time() - begin < 5
    assert found.counts.tolist() == [[15_000, 15_000, 0], [0, 0, 0], [0, 0, 0]]
