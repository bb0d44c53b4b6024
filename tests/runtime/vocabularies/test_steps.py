"""WordPiece step by step: merges by score and by count, longest match."""

from collections import Counter
from fractions import Fraction

import pytest

from workbench.runtime.vocabularies.steps import COUNT, SCORE, Learner, longest_match

TOY = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}  # of the lectures and the HF course


def test_the_toy_corpus_merges_gs_by_score_and_ug_by_count():
    by_score, by_count = Learner(TOY, SCORE), Learner(TOY, COUNT)

    assert by_score.next().merged == "##gs"
    first = by_count.next()
    assert (first.first, first.second, first.merged, first.count) == ("##u", "##g", "##ug", 20)


def test_the_scores_of_the_toy_corpus_are_a_twentieth_and_a_thirty_sixth():
    found = {
        (candidate.first, candidate.second): Fraction(
            candidate.count, candidate.first_count * candidate.second_count
        )
        for candidate in Learner(TOY).candidates(10)
    }

    assert found.pop(("##g", "##s")) == Fraction(1, 20)
    assert set(found.values()) == {Fraction(1, 36)} and len(found) == 5


@pytest.mark.parametrize("rule", [SCORE, COUNT])
def test_counts_after_merges_are_those_of_the_words_as_they_are(rule):
    learner = Learner({**TOY, "banana": 3, "aaa": 2}, rule)
    for _step in range(6):
        learner.next()
        units, pairs = Counter(), Counter()
        for word, weight in zip(learner._words, learner._weights, strict=True):
            for unit in word:
                units[unit] += weight
            for pair in zip(word, word[1:], strict=False):
                pairs[pair] += weight

        assert +learner.units == units and +learner.pairs == pairs


def test_learning_ends_when_every_word_is_one_unit():
    learner = Learner(TOY)
    merges = []
    while (merge := learner.next()) is not None:
        merges.append(merge.merged)

    assert {"hug", "pug", "pun", "bun", "hugs"} <= set(merges)


def test_the_longest_match_is_tried_first_and_continues_behind_it():
    vocabulary = dict.fromkeys(("un", "##aff", "##able", "##a"), 0)

    steps = longest_match("unaffable", vocabulary)  # the example of BERT's tokenizer

    assert [step.found for step in steps] == ["un", "##aff", "##able"]
    assert steps[0].tried[0] == "unaffable" and steps[0].tried[-1] == "un"
    assert [step.position for step in steps] == [0, 2, 5]


def test_a_word_with_an_unknown_rest_is_unknown_as_a_whole():
    steps = longest_match("unx", {"un": 0})

    assert [step.found for step in steps] == ["un", ""] and steps[1].tried == ("##x",)
    assert longest_match("a" * 101, {"a": 0})[0].found == ""


def test_the_steps_are_those_of_the_tokenizers_library(starter_vocabulary):
    backend, vocabulary = starter_vocabulary
    for word in ("unaffable", "transformers", "hugs", "zebra", "xylophonist", "ok"):
        pieces = [step.found for step in longest_match(word, vocabulary)]

        assert pieces == backend.encode(word, add_special_tokens=False).tokens


@pytest.fixture(scope="module")
def starter_vocabulary():
    from workbench.base import paths
    from workbench.runtime.tokenizer import Tokenizer

    backend = Tokenizer.load(paths.resource("models/starter-bert")).backend
    return backend, backend.get_vocab()
