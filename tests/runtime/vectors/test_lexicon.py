"""Nearest words and analogies, equal to gensim."""

import numpy as np
import pytest

from tests.vector_files import text_of
from workbench.base.errors import ModelError
from workbench.runtime.vectors.lexicon import Lexicon


@pytest.fixture(scope="module")
def gensim_vectors(data_folder):
    from gensim.models import KeyedVectors

    return KeyedVectors.load_word2vec_format(data_folder / "vectors" / "skipgram.bin", binary=True)


@pytest.fixture
def skipgram(data_folder):
    return Lexicon.open(data_folder / "vectors" / "skipgram.bin")


def pairs(found):
    return [item.word for item in found], [item.score for item in found]


@pytest.mark.parametrize("word", ("king", "water", "seven", "paris"))
def test_neighbours_by_cosine_equal_gensim(skipgram, gensim_vectors, word):
    words, scores = pairs(skipgram.neighbours(word, top=20))
    expected = gensim_vectors.most_similar(word, topn=20)

    assert words == [item for item, _score in expected]
    assert scores == pytest.approx([score for _one, score in expected], abs=1e-6)


def test_analogies_equal_gensim(skipgram, gensim_vectors):
    words, scores = pairs(skipgram.analogy("france", "paris", "germany", top=10))
    expected = gensim_vectors.most_similar(["paris", "germany"], ["france"], topn=10)

    assert words == [item for item, _score in expected]
    assert scores == pytest.approx([score for _one, score in expected], abs=1e-6)


def test_unseen_words_have_the_neighbours_that_gensim_gives_them(data_folder):
    from gensim.models.fasttext import load_facebook_vectors

    path = data_folder / "vectors" / "fasttext.bin"
    expected = load_facebook_vectors(path).most_similar("kingdomlike", topn=10)

    words, scores = pairs(Lexicon.open(path).neighbours("kingdomlike"))

    assert words == [item for item, _score in expected]
    assert scores == pytest.approx([score for _one, score in expected], abs=1e-5)


@pytest.fixture
def small(tmp_path):
    """Four words in a plane, and the first one again with another vector."""
    path = tmp_path / "a.txt"
    values = np.array([[1, 0, 0, 0], [2, 0, 0, 0], [1, 1, 0, 0], [0, 3, 0, 0], [9, 9, 0, 0]])
    path.write_text(text_of(values.astype(float), ("a", "b", "c", "d", "a")))
    return Lexicon.open(path)


def test_the_measures_order_words_as_calculated_by_hand(small):
    by_cosine, cosines = pairs(small.neighbours("a", by="cosine"))
    by_dot, dots = pairs(small.neighbours("c", by="dot"))
    by_distance, distances = pairs(small.neighbours("a", by="euclid"))

    assert (by_cosine, cosines) == (["b", "c", "d"], pytest.approx([1, 0.5**0.5, 0]))
    assert (by_dot, dots) == (["d", "b", "a"], [3, 2, 1])
    assert (by_distance, distances) == (["b", "c", "d"], pytest.approx([1, 1, 10**0.5]))


def test_analogies_by_other_measures_read_the_vectors_as_they_are(small):
    # b − a + c = (2, 1): dot products a 2, d 3; distances to d (0, 3)
    by_dot, dots = pairs(small.analogy("a", "b", "c", by="dot"))
    by_distance, distances = pairs(small.analogy("a", "b", "c", by="euclid"))

    assert (by_dot, dots) == (["d"], [3])
    assert (by_distance, distances) == (["d"], pytest.approx([8**0.5]))


def test_words_without_a_vector_are_named(small):
    assert small.neighbours("e") is None
    assert small.known("A") == "a"
    assert small.known("e") is None
    with pytest.raises(ModelError, match="'e' has no vector"):
        small.analogy("a", "b", "e")
