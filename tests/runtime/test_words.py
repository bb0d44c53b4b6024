"""The words of a document: its own tokens, else those of the segmenter."""

import numpy as np

from workbench.runtime.decoding import Alignment, softmax
from workbench.runtime.words import word_scores
from workbench.text.document import Document
from workbench.text.segment import tokens_of


def test_the_documents_own_tokens_go_before_its_words():
    tokens = {"text": ((0, 3), (3, 4), (5, 5), (5, 6))}

    assert tokens_of(Document("a", (("text", "a.b  c"),), tokens=tokens)) == [(0, 3), (5, 6)]
    assert tokens_of(Document("a", (("text", "a.b"),))) == [(0, 1), (1, 2), (2, 3)]


def test_a_word_takes_the_scores_of_its_first_subword_and_without_one_is_outside():
    where = Alignment(np.array([0, -1, 1]), np.array([1, -1, 0]), np.array([2, -1, 1]))
    windows = [np.array([[0.0, 5.0], [1.0, 2.0]]), np.array([[3.0, 0.0]])]

    scores = word_scores([np.zeros((4, 2)), *windows], 1, where, 2)

    assert np.allclose(scores, [softmax(windows[0][1]), [1.0, 0.0], softmax(windows[1][0])])
