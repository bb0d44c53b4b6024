"""Greedy, valid sequences, CRF: what each makes of the same scores."""

import numpy as np
import pytest

from workbench.runtime import decoding, tag_decoders

TAGS = decoding.bio_tags(["A", "B"])
PRESENT = np.ones(3, bool)


def rows(*tags, strength=3.0):
    zeros = np.zeros((len(tags), len(TAGS)))
    for row, tag in zip(zeros, tags, strict=True):
        row[TAGS.index(tag)] = strength
    return zeros


def crf(**scores):
    """Transition scores: `between` {(from, to): score}, the others 0."""
    step = np.zeros((len(TAGS), len(TAGS)))
    for (left, right), score in scores.get("between", {}).items():
        step[TAGS.index(left), TAGS.index(right)] = score
    flat = [0.0] * len(TAGS)
    return {
        "decoder": "crf",
        "transitions": {"start": flat, "step": step.tolist(), "end": flat},
    }


def decided(given, logits, present=PRESENT):
    chosen, scores = tag_decoders.decoder(given, TAGS)(logits, present)
    return [TAGS[index] for index in chosen], scores


def test_greedy_takes_each_best_tag_and_lets_a_stray_inside_tag_begin_a_span():
    logits = rows("O", "I-A", "I-A")
    logits[1, TAGS.index("O")] = 2.9

    tags, scores = decided({"decoder": "greedy"}, logits)

    assert tags == ["O", "B-A", "I-A"]
    assert scores == pytest.approx(decoding.softmax(logits).max(axis=1))


def test_bio_is_the_default_and_finds_the_most_probable_valid_sequence():
    logits = rows("O", "I-A", "O")
    logits[1, TAGS.index("O")] = 2.9

    assert decided({}, logits)[0] == decided({"decoder": "bio"}, logits)[0] == ["O", "O", "O"]


def test_a_crf_lets_learned_transitions_decide_and_scores_by_marginals():
    given = crf(between={("B-A", "I-A"): 5.0})
    logits = rows("B-A", "O", "O")

    tags, scores = decided(given, logits)

    assert tags == ["B-A", "I-A", "O"]
    learned = tag_decoders.transitions(given, TAGS)
    expected = learned.marginals(logits)[np.arange(3), [TAGS.index(tag) for tag in tags]]
    assert scores == pytest.approx(expected)


def test_a_crf_without_learned_scores_decides_as_bio_does():
    rng = np.random.default_rng(0)
    for _ in range(20):
        logits = 2 * rng.normal(size=(6, len(TAGS)))
        present = np.ones(6, bool)

        assert decided(crf(), logits, present)[0] == decided({}, logits, present)[0]


@pytest.mark.parametrize("given", [{"decoder": "greedy"}, {}, crf()], ids=["greedy", "bio", "crf"])
def test_a_word_without_a_subword_is_surely_outside(given):
    tags, scores = decided(given, rows("B-A", "B-A", "I-A"), np.array([True, False, True]))

    assert tags[1] == "O" and scores[1] == 1.0
    assert "I-A" not in tags


def test_no_words_get_no_tags():
    for given in ({"decoder": "greedy"}, {}, crf()):
        tags, scores = decided(given, np.zeros((0, len(TAGS))), np.zeros(0, bool))

        assert tags == [] and scores.shape == (0,)


def test_only_a_crf_has_transitions_and_what_bio_forbids_is_minus_infinity():
    assert tag_decoders.transitions({}, TAGS) is None

    learned = tag_decoders.transitions(crf(between={("O", "I-A"): 9.0, ("O", "B-A"): 1.0}), TAGS)

    outside = TAGS.index("O")
    assert learned.step[outside, TAGS.index("I-A")] == -np.inf
    assert learned.step[outside, TAGS.index("B-A")] == 1.0
    assert learned.start[TAGS.index("I-B")] == -np.inf


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("S-A O B-A I-A E-A", [(0, 1, "A"), (2, 5, "A")]),
        ("B-A E-B O", [(0, 2, "A")]),  # the first word counts more
        ("B-A E-B E-B", [(0, 3, "B")]),
        ("I-A I-B", [(0, 1, "A"), (1, 2, "B")]),
        ("E-A E-A <unk> I-A", [(0, 2, "A"), (3, 4, "A")]),
        ("S-A E-A", [(0, 2, "A")]),
    ],
)
def test_spans_of_published_tags_are_read_as_flair_reads_them(tags, spans):
    found = tag_decoders.voted_spans(tags.split())

    assert [(span.first, span.last, span.label) for span in found] == spans
