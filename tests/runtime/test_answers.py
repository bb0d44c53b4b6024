"""The best answers from start and end logits, by hand."""

import numpy as np
import pytest

from workbench.runtime.answers import answered, positions
from workbench.runtime.inputs import EncodedInput

TEXT = "aa bb cc dd"


def window(first, last):
    """[CLS] q [SEP] then words first … last − 1 of TEXT, [SEP]."""
    count = last - first
    offsets = [(0, 0), (0, 1), (0, 0), *((3 * n, 3 * n + 2) for n in range(first, last)), (0, 0)]
    text = [-1, 0, -1, *[1] * count, -1]
    return EncodedInput({}, np.array(offsets, np.int32), np.array(text, np.int8))


def logits(null, starts, ends):
    scores = np.full((4 + len(starts), 2), -9.0)
    scores[0] = null / 2
    scores[3 : 3 + len(starts)] = np.array([starts, ends]).T
    return scores


def test_the_best_pair_of_start_and_end_is_the_answer():
    scores = logits(0.0, [0, 3, 0, 1], [1, 0, 3, 1])

    found = answered("q", TEXT, [window(0, 4)], [scores])

    assert found.text == "bb cc" and (found.candidates[0].start, found.candidates[0].end) == (3, 8)
    assert [(candidate.start, candidate.end) for candidate in found.candidates[1:3]] == [
        (3, 11),
        (9, 11),
    ][:1] + [(found.candidates[2].start, found.candidates[2].end)]
    assert found.null_gap == pytest.approx(-6.0)


def test_an_answer_is_not_longer_than_allowed():
    scores = logits(0.0, [9, 0, 0, 0], [0, 0, 0, 9])

    assert answered("q", TEXT, [window(0, 4)], [scores]).text == TEXT
    assert len(answered("q", TEXT, [window(0, 4)], [scores], longest=3).text) < len(TEXT)


def test_the_question_has_no_answer_if_null_beats_the_best_by_more_than_the_threshold():
    scores = logits(6.0, [0, 2, 0, 0], [0, 2, 0, 0])

    assert answered("q", TEXT, [window(0, 4)], [scores], threshold=0.0).answer == ""
    assert answered("q", TEXT, [window(0, 4)], [scores], threshold=2.0).answer == "bb"
    assert answered("q", TEXT, [window(0, 4)], [scores], threshold=None).answer == "bb"
    shares = answered("q", TEXT, [window(0, 4)], [scores], threshold=0.0)
    assert shares.score == shares.null_score > 0.5


def test_a_question_is_answered_if_one_window_answers_it():
    windows = [window(0, 2), window(2, 4)]
    scores = [logits(8.0, [0, 0], [0, 0]), logits(-8.0, [4, 0], [4, 0])]

    found = answered("q", TEXT, windows, scores, threshold=0.0)

    assert found.answer == "cc" and found.null_gap == pytest.approx(-16.0)


def test_positions_cover_the_answer_or_it_is_not_in_the_window():
    assert positions(window(0, 4), 3, 8) == (4, 5)
    assert positions(window(0, 4), 4, 7) == (4, 5)  # within words
    assert positions(window(1, 3), 0, 5) is None
    assert positions(window(0, 0), 0, 2) is None
