"""Scores of relations, counted by hand."""

import numpy as np
import pytest

from workbench.metrics import relations
from workbench.text.relations import Relation
from workbench.text.spans import Span

A, B, C = Span(0, 3, "X"), Span(4, 7, "X"), Span(8, 11, "X")


def test_two_of_three_predicted_and_two_of_four_gold_relations_are_right():
    gold = [(Relation("l", A, B), Relation("l", B, C)), (Relation("m", A, C), Relation("m", C, B))]
    predicted = [(Relation("l", A, B), Relation("m", B, C)), (Relation("m", A, C),)]

    scores = relations.scores(gold, predicted)

    assert scores["relation_precision"] == pytest.approx(2 / 3)
    assert scores["relation_recall"] == pytest.approx(2 / 4)
    assert scores["relation_f1"] == pytest.approx(4 / 7)
    assert scores["relation_unlabelled_f1"] == pytest.approx(6 / 7)
    rows = {row.label: (row.precision, row.recall) for row in relations.per_label(gold, predicted)}
    assert rows == {"l": (1.0, 0.5), "m": (0.5, 0.5)}


def test_direction_counts_unless_the_label_has_none():
    reversed_pair = [(Relation("l", B, A),)]

    assert relations.scores([(Relation("l", A, B),)], reversed_pair)["relation_f1"] == 0.0
    undirected = [(Relation("l", A, B, directed=False),)]
    assert relations.scores(undirected, reversed_pair)["relation_f1"] == 1.0
    both = [(Relation("l", A, B), Relation("l", B, A))]
    assert relations.scores(undirected, both)["relation_precision"] == 1.0


def test_boundaries_are_exact_and_labels_of_spans_do_not_count():
    gold = [(Relation("l", A, B),)]

    assert relations.scores(gold, [(Relation("l", A, Span(4, 6, "X")),)])["relation_f1"] == 0.0
    assert relations.scores(gold, [(Relation("l", A, Span(4, 7, "Y")),)])["relation_f1"] == 1.0


def test_strict_scores_count_the_labels_of_both_spans_by_hand():
    """Gold l(A, B), l(B, C); predicted both places, B with the label Y in the second."""
    gold = [(Relation("l", A, B), Relation("l", B, C))]
    predicted = [(Relation("l", A, B), Relation("l", Span(4, 7, "Y"), C))]

    scores = relations.scores(gold, predicted)

    assert (scores["relation_f1"], scores["relation_strict_f1"]) == (1.0, 0.5)


def test_without_relations_all_scores_are_zero():
    assert set(relations.scores([()], [()]).values()) == {0.0}


def test_weights_of_documents_give_the_scores_of_a_resample():
    gold = [(Relation("l", A, B),), (Relation("l", A, C),)]
    predicted = [(Relation("l", A, B),), ()]
    statistic = relations.RelationCounts.of(gold, predicted, ("l",))

    values = statistic(np.array([[2.0, 0.0], [0.0, 2.0]], np.float32))

    assert values["relation_f1"].tolist() == [1.0, 0.0]
    assert values["label_f1"].tolist() == [[1.0], [0.0]]
