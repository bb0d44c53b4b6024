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

    result = confusion(gold, predicted, labels="dcba")

    assert result.labels == tuple("dcba")
    assert (
        result.counts.tolist()
        == metrics.confusion_matrix(gold, predicted, labels=list("dcba")).tolist()
    )


def test_a_cell_names_its_documents():
    result = confusion(["a", "b", "a"], ["b", "b", "b"])

    assert result.documents("a", "b") == (0, 2)
    assert result.documents("b", "a") == ()
    assert result.documents("a", "unknown") == ()


def test_spans_without_a_partner_meet_the_empty_label():
    gold = [(Span(0, 3, "A"), Span(5, 8, "B")), (Span(0, 1, "A"),)]
    predicted = [(Span(0, 3, "B"), Span(9, 10, "A")), (Span(0, 1, "A"),)]

    result = span_confusion(gold, predicted)

    assert result.labels == ("A", "B", NO_SPAN)
    assert result.counts.tolist() == [[1, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert result.documents("A", "B") == (0,)


def test_two_labels_at_the_same_offsets_are_paired_with_what_is_left_there():
    gold = [(Span(0, 3, "A"), Span(0, 3, "B"))]
    predicted = [(Span(0, 3, "B"), Span(0, 3, "C"), Span(0, 3, "D"))]

    result = span_confusion(gold, predicted)

    cells = {(result.labels[row], result.labels[column]) for row, column in result.where}
    assert cells == {("B", "B"), ("A", "C"), (NO_SPAN, "D")}


def test_a_book_of_spans_is_counted_in_no_time():
    gold = [[Span(at, at + 5, "A") for at in range(0, 300_000, 10)]]
    predicted = [[Span(at, at + 5, "AB"[at % 20 == 0]) for at in range(0, 300_000, 10)]]

    begin = process_time()
    result = span_confusion(gold, predicted)

    assert process_time() - begin < 5
    assert result.counts.tolist() == [[15_000, 15_000, 0], [0, 0, 0], [0, 0, 0]]
