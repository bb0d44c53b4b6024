"""Scores of span candidates, from an untrained run whose head is known."""

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.inspection.test_transitions import asked, available, made  # noqa: E402
from workbench.base.errors import ModelError, WorkbenchError  # noqa: E402
from workbench.inspection.span_scores.info import PAGE_WORDS  # noqa: E402
from workbench.runtime import candidates  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402

__all__ = ["made"]
LABELS = ["PER", "LOC"]
SIDES = ("start", "end")
OPTIONS = {"longest_span": 3, "overlap": "flat", "span_loss": "sigmoid"}


@pytest.fixture
def folder(made):
    return made("spans", LABELS, OPTIONS)


def test_the_table_holds_the_probabilities_that_are_decoded(folder):
    predictor = Predictor.load(folder, "cpu")
    scorer = candidates.SpanScorer.from_json(predictor.decoder["scorer"], len(LABELS))

    result = asked(folder, "span_scores", "ada met bob late")

    assert [word.text for word in result.words] == ["ada", "met", "bob", "late"]
    assert result.labels == tuple(LABELS) and not result.exclusive
    assert result.scores.shape == (4, scorer.longest, 2)
    assert (result.part, result.parts, result.cut) == (1, 1, False)
    beyond = np.arange(4)[:, None] + np.arange(3) >= 4
    assert (result.scores[beyond] == 0).all() and (result.scores[~beyond] > 0).all()
    first = result.best[0]
    assert len(result.best) == 9 and first.probability == result.scores.max()
    at = result.scores[first.first, first.last - first.first]
    assert first.label == LABELS[at.argmax()]
    assert first.text == " ".join("ada met bob late".split()[first.first : first.last + 1])


def make_every_span_a_person(monkeypatch, *, none):
    def biased(raw, labels):
        weight = np.zeros((2 + none, 150), np.float32)
        bias = np.array([0.0] * none + [2.0, -9.0], np.float32)
        return candidates.SpanScorer(np.zeros((3, 150), np.float32), weight, bias, none=none)

    monkeypatch.setattr(candidates.SpanScorer, "from_json", biased)


def test_spans_that_overlap_better_ones_are_counted(folder, monkeypatch):
    make_every_span_a_person(monkeypatch, none=False)

    result = asked(folder, "span_scores", "ada met bob late")

    assert [(span.start, span.end, span.label) for span in result.spans] == [
        (0, 11, "PER"),
        (12, 16, "PER"),
    ]
    assert result.rejected == 9 - 2  # candidates of up to three of four words: 4 + 3 + 2


def test_a_long_text_is_shown_in_parts_with_every_candidate_once(folder):
    text = " ".join(["ada", "met", "bob"] * PAGE_WORDS)  # three parts

    found = [asked(folder, "span_scores", text, part=part) for part in (1, 2, 3)]

    assert [item.part for item in found] == [1, 2, 3] and {item.parts for item in found} == {3}
    assert [len(item.scores) for item in found] == [PAGE_WORDS] * 3
    assert [len(item.words) for item in found] == [PAGE_WORDS + 2, PAGE_WORDS + 2, PAGE_WORDS]


def test_a_part_that_does_not_exist_is_refused(folder):
    with pytest.raises(WorkbenchError, match="no part 2: the last is 1"):
        asked(folder, "span_scores", "ada met bob", part=2)


def test_a_text_without_words_has_no_candidates(folder):
    result = asked(folder, "span_scores", " ")

    assert result.words == () and result.scores.shape == (0, 3, 2) and result.spans == ()


def test_it_is_offered_for_span_classification_alone(folder):
    assert {"span_scores", "spans"} <= available(folder, "spans")
    assert "token_scores" not in available(folder, "spans")


def test_a_tagger_has_no_candidates(made):
    tagger = made("tag", ["PER"], {})

    assert "span_scores" not in available(tagger, "tag")
    with pytest.raises(ModelError, match="does not provide"):
        asked(tagger, "span_scores")


@pytest.mark.parametrize("none", [False, True])
def test_the_fitted_temperature_is_applied_as_in_predictions(made, monkeypatch, none):
    folder = made("spans", LABELS, OPTIONS, decoder={"temperature": 2.5})
    make_every_span_a_person(monkeypatch, none=none)
    text = "ada met bob late"

    result = asked(folder, "span_scores", text)

    (wanted,) = Predictor.load(folder, "cpu").predict_texts([text])
    assert len(wanted.spans) == 2 and result.temperature == 2.5
    starts, ends = ({getattr(word, at): n for n, word in enumerate(result.words)} for at in SIDES)
    for span in wanted.spans:
        first = starts[span.start]
        scores = result.scores[first, ends[span.end] - first]
        assert scores[LABELS.index(span.label)] == pytest.approx(span.score, abs=1e-6)
    assert (result.scores[-1, 1:] == 0).all()  # beyond the last word
    assert (result.none is not None) == none
