"""Stored predictions as decisions."""

import numpy as np

from workbench.active.predicted import decisions_of
from workbench.text.fields import ClassScores, LabelScores, Prediction, WordTag, WordTags


def test_a_class_is_one_decision_over_the_labels_of_the_layer():
    found = decisions_of([Prediction((ClassScores(("b", "a"), (0.25, 0.75)),))], ("a", "b", "c"))

    assert found.values.tolist() == [[0.75, 0.25, 0.0]] and not found.outside


def test_several_classes_are_a_decision_each():
    scores = LabelScores(("a", "b"), (0.75, 0.25), (0.5, 0.5))

    found = decisions_of([Prediction((scores,))], ("a", "b"))

    assert found.values.tolist() == [[0.25, 0.75], [0.75, 0.25]]
    assert found.starts.tolist() == [0, 2]


def test_words_share_what_their_label_leaves():
    words = WordTags((WordTag(0, 3, "PER", 0.5), WordTag(4, 7, None, 1.0)))

    found = decisions_of([Prediction(()), Prediction((words,))], ("PER", "LOC"))

    assert found.outside and found.starts.tolist() == [0, 0, 2]
    assert np.allclose(found.values, [[0.25, 0.5, 0.25], [1, 0, 0]])


def test_a_text_without_a_prediction_has_no_decisions():
    class_scores = ClassScores(("a", "b"), (0.25, 0.75))

    found = decisions_of([Prediction(()), Prediction((class_scores,))], ("a", "b"))

    assert found.starts.tolist() == [0, 0, 1]
