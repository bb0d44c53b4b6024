"""From scores to tags and spans; the search equals trying every sequence."""

import itertools

import numpy as np
import pytest

from workbench.runtime import decoding
from workbench.runtime.decoding import Alignment, softmax, word_scores
from workbench.text.document import Document
from workbench.text.segment import tokens_of

TAGS = decoding.bio_tags(["A", "B"])


def sharp(tags):
    """Distributions that are nearly sure of these tags."""
    rows = np.full((len(tags), len(TAGS)), 0.01)
    for row, tag in enumerate(tags):
        rows[row, TAGS.index(tag)] = 0.96
    return rows


def tagged(text, offsets, probabilities, tags):
    """The most probable BIO sequence as words and spans."""
    chosen = decoding.decide(probabilities, tags)
    scores = probabilities[np.arange(len(chosen)), chosen]
    return decoding.words_and_spans(text, offsets, chosen, scores, tags)


def legal(path):
    before = "O"
    for number in path:
        if TAGS[number].startswith("I-") and before[2:] != TAGS[number][2:]:
            return False
        before = TAGS[number]
    return True


def test_softmax_rows_add_up_to_one_even_for_large_logits():
    rows = decoding.softmax(np.array([[1e4, 0.0, -1e4], [0.0, 0.0, 0.0]], dtype=np.float32))

    assert rows.sum(axis=1) == pytest.approx([1, 1], abs=1e-12) and rows[1, 0] == pytest.approx(
        1 / 3
    )


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_the_best_legal_path_equals_brute_force(length):
    rng = np.random.default_rng(length)
    for _ in range(20):
        scores = rng.dirichlet(np.ones(len(TAGS)), size=length)

        result = decoding.decide(scores, TAGS)

        paths = [
            sequence
            for sequence in itertools.product(range(len(TAGS)), repeat=length)
            if legal(sequence)
        ]
        best = max(paths, key=lambda path: sum(np.log(scores[i, n]) for i, n in enumerate(path)))
        assert tuple(result) == best


def test_spans_come_from_b_and_i_with_the_mean_of_their_scores():
    text = "Ada Bob met Zoe"
    offsets = [(0, 3), (4, 7), (8, 11), (12, 15)]
    scores = sharp(["B-A", "I-A", "O", "B-B"])
    scores[1, TAGS.index("I-A")] = 0.86

    answer = tagged(text, offsets, scores, TAGS)

    assert [(span.start, span.end, span.label) for span in answer.spans] == [
        (0, 7, "A"),
        (12, 15, "B"),
    ]
    assert answer.spans[0].score == pytest.approx((0.96 + 0.86) / 2)
    assert [word.label for word in answer.words] == ["A", "A", None, "B"]


def test_two_spans_side_by_side_stay_two():
    answer = tagged("a b", [(0, 1), (2, 3)], sharp(["B-A", "B-A"]), TAGS)

    assert [(span.start, span.end) for span in answer.spans] == [(0, 1), (2, 3)]


def test_no_span_begins_or_ends_in_white_space():
    answer = tagged("  tram \n", [(0, 8)], sharp(["B-A"]), TAGS)
    nothing = tagged("   ", [(0, 3)], sharp(["B-A"]), TAGS)

    assert [(span.start, span.end) for span in answer.spans] == [(2, 6)] and nothing.spans == ()


def test_an_empty_text_has_no_words_and_no_spans():
    answer = tagged("", [], np.zeros((0, len(TAGS))), TAGS)

    assert answer.words == () and answer.spans == ()


def test_a_word_is_read_in_the_window_with_most_context():
    offsets = [(number, number + 1) for number in range(8)]
    first = np.array([(0, 0), *offsets[:5], (0, 0)])
    second = np.array([(0, 0), *offsets[3:], (0, 0)])
    text = lambda table: np.arange(len(table)) % (len(table) - 1) > 0  # noqa: E731

    where = decoding.align(offsets, [(first, text(first)), (second, text(second))])

    assert where.window.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert (
        where.first.tolist() == [1, 2, 3, 4, 2, 3, 4, 5]
        and (where.end - where.first).tolist() == [1] * 8
    )


def test_words_take_all_their_subwords_and_may_share_one():
    table = np.array([(0, 0), (0, 2), (2, 4), (5, 9), (0, 0)])  # "ab" "cd" | "ef gh" is one subword
    inside = np.array([False, True, True, True, False])

    where = decoding.align([(0, 4), (5, 6), (7, 9), (10, 12)], [(table, inside)])

    assert where.first.tolist() == [1, 3, 3, -1] and where.end.tolist() == [3, 4, 4, -1]


@pytest.mark.timeout(30)
def test_the_windows_of_a_book_take_time_by_its_length_not_by_its_square():
    count, size = 1_000_000, 100
    offsets = np.stack([np.arange(count) * 2, np.arange(count) * 2 + 1], axis=1)
    windows = [
        (offsets[start : start + size], np.ones(size, dtype=bool))
        for start in range(0, count, size)
    ]

    aligned = decoding.align(offsets, windows)

    assert (aligned.window == np.arange(count) // size).all() and (
        aligned.first == np.arange(count) % size
    ).all()
    logits = [np.zeros((size, 3), dtype=np.float32)] * len(windows)
    assert np.allclose(word_scores(logits, 0, aligned, 3), 1 / 3)


@pytest.mark.parametrize(
    ("given", "before", "expected"),
    [
        ("I-A O I-B I-B", None, "B-A O B-B I-B"),
        ("B-A I-B I-B", None, "B-A B-B I-B"),
        ("I-A O", "B-A", "I-A O"),
        ("I-A O", "B-B", "B-A O"),
    ],
)
def test_an_inside_tag_that_continues_nothing_begins_a_span(given, before, expected):
    numbers = np.array([TAGS.index(tag) for tag in given.split()])

    result = decoding.begun(numbers, TAGS, before=before)

    assert " ".join(TAGS[item] for item in result) == expected


def test_the_documents_own_tokens_go_before_its_words():
    tokens = {"text": ((0, 3), (3, 4), (5, 5), (5, 6))}

    assert tokens_of(Document("a", (("text", "a.b  c"),), tokens=tokens)) == [(0, 3), (5, 6)]
    assert tokens_of(Document("a", (("text", "a.b"),))) == [(0, 1), (1, 2), (2, 3)]


def test_a_word_takes_the_scores_of_its_first_subword_and_without_one_is_outside():
    where = Alignment(np.array([0, -1, 1]), np.array([1, -1, 0]), np.array([2, -1, 1]))
    windows = [np.array([[0.0, 5.0], [1.0, 2.0]]), np.array([[3.0, 0.0]])]

    scores = word_scores([np.zeros((4, 2)), *windows], 1, where, 2)

    assert np.allclose(scores, [softmax(windows[0][1]), [1.0, 0.0], softmax(windows[1][0])])
