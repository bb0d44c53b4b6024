"""The most frequent words, counted in bounded memory."""

import pytest

from workbench.base.errors import SpecError
from workbench.models.vocabulary import Vocabulary


def test_words_are_ordered_by_frequency_then_by_the_alphabet():
    counted = Vocabulary()
    counted.add("b a c a b d".split())

    assert counted.frequent(3) == ["a", "b", "c"]
    assert counted.frequent(9, min_count=2, without=("a",)) == ["b"]


def test_rare_words_are_forgotten_when_there_are_too_many():
    counted = Vocabulary(most=10)
    counted.add(["often"] * 5)
    for number in range(100):
        counted.add([f"once{number}", "often"])

    assert len(counted.counts) <= 10
    assert counted.frequent(1) == ["often"] and counted.counts["often"] == 105


def test_a_text_without_frequent_words_is_an_error():
    with pytest.raises(SpecError, match="at least 2"):
        Vocabulary().frequent(5, min_count=2)
