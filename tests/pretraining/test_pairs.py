"""Pairs of segments for next sentence prediction, counted over 20,000 samples."""

import numpy as np
import pytest

from workbench.base.errors import SpecError
from workbench.pretraining.blocks import SEPARATOR, Tokens
from workbench.pretraining.pairs import PairFrame, TextPair, pairs
from workbench.runtime.preparers.subwords import Subwords

SAMPLES = 20_000


class Letters:
    """Each letter of a text is a unit whose id is its code point; white space is none."""

    fill = {"input_ids": 0}


@pytest.fixture
def letters(monkeypatch):
    def units(_preparer, paragraphs):
        ids = [np.array([ord(c) for c in text if not c.isspace()], np.int32) for text in paragraphs]
        return [Tokens(found, np.arange(len(found), dtype=np.int32)) for found in ids]

    monkeypatch.setattr("workbench.pretraining.pairs.tokens_of", units)
    return Letters()


def documents(count, sentences=12):
    """Every sentence is its own character three to six times, unique within 50 documents."""
    for number in range(count):
        first = 1000 + number % 50 * 20
        yield tuple(chr(first + n) * (3 + n % 4) + "." for n in range(sentences))


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_the_wanted_share_of_segments_is_random(letters, share):
    rng, found = np.random.default_rng(1), []
    for pair in pairs(documents(10_000), letters, 20, rng, random_share=share):
        found.append(pair.is_next)
        if len(found) == SAMPLES:
            break

    assert len(found) == SAMPLES
    assert 1 - np.mean(found) == pytest.approx(share, abs=0.012)  # over three standard errors


def test_a_next_segment_follows_and_a_random_one_is_from_another_document(letters):
    def place(ids):
        ids = ids[ids >= 1000] - 1000
        return ids // 20, ids % 20

    for pair in pairs(documents(50), letters, 20, np.random.default_rng(2), short_share=0):
        (first, numbers), (second, after) = place(pair.first.ids), place(pair.second.ids)
        if not len(numbers) or not len(after):
            continue
        assert len(set(first)) == 1 == len(set(second))
        assert (first[0] == second[0]) == pair.is_next
        if pair.is_next:
            assert numbers.max() < after.min()


def test_pairs_never_exceed_their_room_and_have_two_segments(letters):
    for pair in pairs(documents(200), letters, 9, np.random.default_rng(3)):
        assert 2 <= len(pair.first) + len(pair.second) <= 9
        assert len(pair.first) and len(pair.second)


def test_a_text_of_one_document_is_refused(letters):
    with pytest.raises(SpecError, match="only one document"):
        next(pairs(documents(1), letters, 20, np.random.default_rng(4)))


def test_the_frame_is_that_of_the_tokenizer(tiny):
    preparer = Subwords.load(tiny["bert"])
    tokenizer = preparer.tokenizer
    pair = TextPair(*(Tokens(np.array([n], np.int32), np.zeros(1, np.int32)) for n in (7, 8)), True)

    units, types = PairFrame.of(preparer).around(pair)

    encoded = tokenizer.backend.encode("a", "a")
    expected = [*encoded.ids]
    expected[1], expected[3] = 7, 8
    assert units.ids.tolist() == expected and types.tolist() == encoded.type_ids
    assert units.groups.tolist() == [SEPARATOR, 0, SEPARATOR, 1, SEPARATOR]
