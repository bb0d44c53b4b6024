"""Predicted spans paired with gold where they differ; expected values by hand."""

import math

import pytest

from workbench.metrics.mistakes import span_mistakes
from workbench.text.fields import WordTag
from workbench.text.mistakes import Mistake
from workbench.text.spans import Span


def words(*rows):
    return [WordTag(start, end, label, score) for start, end, label, score in rows]


def kinds(found):
    return [(item.kind, item.at, item.predicted_at) for item in found]


def test_equal_spans_are_no_mistakes():
    assert span_mistakes([Span(0, 3, "A")], [Span(0, 3, "A", score=0.9)], []) == []


def test_each_difference_has_its_kind():
    gold = [Span(0, 3, "A"), Span(10, 13, "A"), Span(20, 24, "B"), Span(30, 34, "A")]
    predicted = [Span(0, 3, "B", score=0.9), Span(10, 16, "A", score=0.8), Span(40, 44, "B")]

    assert kinds(span_mistakes(gold, predicted, [])) == [
        ("label", (0, 3), (0, 3)),
        ("boundary", (10, 13), (10, 16)),
        ("missed", (20, 24), None),
        ("missed", (30, 34), None),
        ("spurious", None, (40, 44)),
    ]


def test_a_span_takes_the_partner_of_its_label_before_a_longer_one():
    gold = [Span(0, 10, "A")]
    predicted = [Span(0, 3, "A"), Span(4, 10, "B")]

    found = span_mistakes(gold, predicted, [])

    assert kinds(found) == [("boundary", (0, 10), (0, 3)), ("spurious", None, (4, 10))]


def test_the_confidence_of_a_missed_span_is_that_of_its_words():
    tagged = words((0, 3, None, 0.9), (4, 8, None, 0.7), (9, 12, "A", 0.9))

    (found,) = span_mistakes([Span(0, 8, "A"), Span(9, 12, "A")], [Span(9, 12, "A")], tagged)

    assert found.confidence == pytest.approx(0.8)
    assert found.loss == pytest.approx(-math.log(0.1) - math.log(0.3))


def test_the_loss_of_a_boundary_counts_only_the_words_that_are_wrong():
    tagged = words((0, 3, "A", 0.9), (4, 8, "A", 0.6))

    (found,) = span_mistakes([Span(0, 3, "A")], [Span(0, 8, "A", score=0.75)], tagged)

    assert (found.kind, found.confidence) == ("boundary", 0.75)
    assert found.loss == pytest.approx(-math.log(0.4))


def test_a_mistake_is_read_as_it_was_written():
    item = Mistake("boundary", "A", "A", 0.5, 1.5, (0, 3), (0, 8), "text_b")

    assert Mistake.from_json(item.to_json()) == item and item.place == (0, 8)
