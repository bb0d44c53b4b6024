"""Word vectors in the plane, and the co-occurrence table of GloVe."""

import numpy as np
import pytest

from workbench.base.errors import ModelError
from workbench.operations.models import vectors
from workbench.runtime.vectors.lexicon import Lexicon
from workbench.runtime.vectors.words import WordIndex
from workbench.training.vectors import job
from workbench.training.vectors import spec as training

WORDS = ("the", ",", "tram", "bus", "late")
TABLE = np.array([[3, 0, 0], [0, 0, 1], [0, 2, 0], [-1, 0, 0], [0, -5, 0]], dtype=np.float32)


@pytest.fixture(scope="module")
def lexicon():
    return Lexicon(WordIndex.build([word.encode() for word in WORDS]), TABLE)


def test_the_map_has_the_principal_components_of_vectors_of_length_one(lexicon):
    found = vectors.word_map(lexicon, (), top=4, near=0)

    # e1, e2, -e1, -e2 lie in a plane: both components have half of the variance.
    assert found.words == ("the", "tram", "bus", "late")
    assert found.shares == pytest.approx((0.5, 0.5))
    assert np.linalg.norm(found.places, axis=1) == pytest.approx([1, 1, 1, 1])
    assert np.array(found.places[0]) == pytest.approx(-np.array(found.places[2]), abs=1e-6)


def test_asked_words_bring_their_nearest_words_and_unknown_ones_are_named(lexicon):
    found = vectors.word_map(lexicon, ("Tram", "zeppelin"), top=4, near=3)

    assert found.asked == ("tram",) and found.unknown == ("zeppelin",)
    assert found.words[0] == "tram" and len(found.words) == 4
    with pytest.raises(ModelError, match="three words"):
        vectors.word_map(lexicon, ("tram",), top=4, near=0)


def test_co_occurrences_are_sums_of_inverse_distances(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("a b c\na b\n")
    options = training.settings("glove", {"min_count": 1, "window": 2, "x_max": 4.0})

    work = job.co_occurrences({"inputs": [str(path)], "options": options, "top": 2}, tmp_path)
    while True:
        try:
            next(work)
        except StopIteration as end:
            found = end.value
            break

    # a–b twice at distance 1; b–c once at distance 1; a–c once at distance 2. f(2) = (2/4)^0.75.
    assert (found["words"], found["tokens"], found["pairs"]) == (3, 5, 3)
    assert found["top"] == [["a", "b", 2.0, pytest.approx(0.5**0.75)], ["b", "c", 1.0, 0.25**0.75]]
