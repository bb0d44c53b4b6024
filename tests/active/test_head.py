"""The linear head learns what is separable, goes on from its weights, and knows single classes."""

import numpy as np

from workbench.active.head import Head

ROWS = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2], [5.0, 5.0], [5.2, 4.9]])


def test_classes_that_are_apart_are_learned():
    head = Head(4)
    targets = np.array([0, 0, 2, 2, 3, 3])

    head.fit(ROWS, targets)
    found = head.probabilities(ROWS.astype(np.float16))

    assert found.argmax(1).tolist() == targets.tolist()
    assert np.allclose(found.sum(1), 1, atol=1e-5)
    assert found[:, 1].max() == 0  # a label that was never given


def test_two_classes_have_two_probabilities():
    head = Head(2)

    head.fit(ROWS[:4], np.array([0, 0, 1, 1]))
    found = head.probabilities(ROWS[:4])

    assert found.argmax(1).tolist() == [0, 0, 1, 1]
    assert np.allclose(found.sum(1), 1, atol=1e-5)


def test_several_labels_are_learned_each_on_its_own():
    targets = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0]], bool)
    head = Head(3, several=True)

    head.fit(ROWS[:4], targets)
    found = head.probabilities(ROWS[:4])

    assert ((found > 0.5) == targets).all()


def test_one_class_alone_is_certain():
    head = Head(3)

    head.fit(ROWS, np.full(6, 1))

    assert head.probabilities(ROWS).argmax(1).tolist() == [1] * 6


def test_training_goes_on_after_a_new_class_has_appeared():
    head = Head(3)
    head.fit(ROWS[:4], np.array([0, 0, 1, 1]))

    head.fit(ROWS, np.array([0, 0, 1, 1, 2, 2]))

    assert head.probabilities(ROWS).argmax(1).tolist() == [0, 0, 1, 1, 2, 2]
