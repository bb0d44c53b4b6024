"""Vectors without a model: alike texts and words are near each other, and offsets are those of
words.
"""

import numpy as np
import pytest

from workbench.active import word_features
from workbench.text.document import Document


def documents(*texts):
    return [Document(f"k{id}", (("text", text),), id=id) for id, text in enumerate(texts, 1)]


def test_documents_that_share_words_are_nearer_than_others():
    texts = documents("the tram is late", "the tram was late", "my card is lost", "a lost card")

    places, rows = word_features.of_documents(texts)

    assert places.tolist() == [[1, 0, 16], [2, 0, 17], [3, 0, 15], [4, 0, 11]]
    cosines = rows @ rows.T
    assert cosines[0, 1] > cosines[0, 3] and cosines[2, 3] > cosines[1, 2]
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-3)


def test_forms_of_a_word_share_parts():
    _places, rows = word_features.of_documents(
        documents("payments", "payment", "bicycles", "bicycle", "payment bicycle")
    )

    assert (rows @ rows.T)[0, 1] > 0.5 > (rows @ rows.T)[0, 2]


def test_words_have_their_offsets_and_differ_by_spelling_and_neighbours():
    places, rows = word_features.of_words(documents("then Ada came", "", "then Ada came"))

    assert places.tolist() == [
        [1, 0, 4], [1, 5, 8], [1, 9, 13], [3, 0, 4], [3, 5, 8], [3, 9, 13]
    ]  # fmt: skip
    assert np.array_equal(rows[:3], rows[3:]) and not np.array_equal(rows[0], rows[1])


def test_the_same_word_differs_where_its_neighbours_do():
    _places, rows = word_features.of_words(documents("late again", "again late"))

    assert not np.array_equal(rows[0], rows[3])


@pytest.mark.parametrize("texts", [(), ("",), ("one", "two"), ("", "\n ")])
def test_texts_without_anything_in_common_have_rows_of_the_same_width(texts):
    places, rows = word_features.of_documents(documents(*texts))

    assert len(places) == len(rows) == len(texts) and np.isfinite(rows).all()
    places, rows = word_features.of_words(documents(*texts))
    assert len(places) == len(rows) and np.isfinite(rows.astype(float)).all()
