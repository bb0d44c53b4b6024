"""Span classification: gold, decoding, scores and errors, worked out by hand."""

import numpy as np
import pytest

from workbench.runtime.candidates import SpanScorer
from workbench.runtime.preparers.subwords import Subwords
from workbench.tasks.heads.info import SpanGold
from workbench.tasks.spans.info import INFO
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import Prediction, SpanScores, WordTag, WordTags
from workbench.text.spans import Span

DOCUMENT = Document("a", (("text", "Ada of York met Bob."),))
LABELS = ("P", "Q")
OUTER, INNER = Span(0, 11, "P"), Span(7, 11, "Q")


def predicted(*spans):
    return Prediction((SpanScores(tuple(spans)),))


def test_nested_and_crossing_gold_is_kept_and_what_is_left_out_is_counted():
    crossing = Span(4, 15, "P")
    spans = (OUTER, INNER, crossing, Span(0, 3, "Q", field="text_b"), Span(4, 4, "P"))

    gold = INFO.gold(Record(DOCUMENT, spans={"s": spans}), "s")

    assert gold.spans == (OUTER, crossing, INNER) and gold.left_out == 2


def test_two_labels_of_the_same_words_are_two_spans():
    gold = INFO.gold(Record(DOCUMENT, spans={"s": (OUTER, Span(0, 11, "Q"))}), "s")

    assert sorted(gold.labels()) == ["P", "Q"] and gold.left_out == 0


def test_spans_are_decoded_over_windows_with_the_words_between_them(tiny_model):
    """A start has 1 in the hidden unit of its label, an end too; both together exceed the bias."""
    text = " ".join(["ada tram bob late"] * 15)
    prepared = INFO.prepare(Subwords.load(tiny_model), [Document("a", (("text", text),))], 12)
    widths = np.full((3, 2), -1.5, np.float32)
    weight = np.array([[0, 0], [9, 0], [0, 9]], np.float32)
    scorer = SpanScorer(widths, weight, np.array([2, 0, 0], np.float32), none=True)
    begins, ends = {"a": 0, "b": 1}, {"b": 0, "l": 1}  # ada … bob is P, bob … late is Q
    logits = []
    for encoded in prepared.inputs:
        tables = {name: np.zeros((len(encoded), 2), np.float32) for name in ("starts", "ends")}
        for row, (start, end) in enumerate(encoded.offsets):
            letter = text[start:end][:1]
            for name, wanted in (("starts", begins), ("ends", ends)):
                if letter in wanted:
                    tables[name][row, wanted[letter]] = 1
        logits.append(tables)

    def texts(overlap):
        decoder = {"scorer": scorer.to_json(), "overlap": overlap}
        (found,) = INFO.decode(logits, prepared, LABELS, decoder)
        (scaled,) = INFO.decode(logits, prepared, LABELS, {**decoder, "temperature": 2.0})
        assert scaled == INFO.rescaled(found, 2.0) and scaled != found
        return [(text[span.start : span.end], span.label) for span in found.spans]

    both = [("ada tram bob", "P"), ("bob late", "Q")]
    assert len(prepared.inputs) > 5
    assert texts("any") == both * 15
    assert texts("nested") == texts("flat") == both[:1] * 15  # equal scores: the first stands


def test_scores_count_nested_spans():
    golds = [SpanGold((OUTER, INNER)), SpanGold()]

    scores = INFO.score(golds, [predicted(OUTER, Span(12, 15, "Q")), predicted()])

    assert scores == {
        "span_precision": 0.5,
        "span_recall": 0.5,
        "span_f1": 0.5,
        "span_macro_f1": 0.5,
    }
    statistic = INFO.statistic(golds, [predicted(OUTER, INNER), predicted()], LABELS)
    assert float(statistic(np.ones((1, 2), np.float32))["span_f1"][0]) == 1.0


def test_a_missed_span_inside_another_is_one_mistake_with_a_confidence():
    words = (WordTag(0, 3, "P", 0.9), WordTag(4, 6, "P", 0.9), WordTag(7, 11, "P", 0.8))
    prediction = Prediction((WordTags(words), SpanScores((OUTER,))))
    gold = SpanGold((OUTER, INNER))

    (mistake,) = INFO.mistakes(DOCUMENT, gold, prediction)
    found = INFO.error(DOCUMENT, gold, prediction)

    assert (mistake.kind, mistake.gold, mistake.predicted) == ("missed", "Q", "")
    assert found.gold == "Q “York”" and found.predicted == "–"
    assert found.confidence == 0.8


def test_nested_spans_are_paired_with_those_that_overlap_them():
    """A predicted span with a wrong end inside a correct outer one."""
    gold = SpanGold((OUTER, INNER, Span(16, 19, "P")))
    prediction = predicted(OUTER, Span(7, 15, "Q", score=0.6), Span(16, 19, "P"))

    (mistake,) = INFO.mistakes(DOCUMENT, gold, prediction)

    assert (mistake.kind, mistake.place) == ("boundary", (7, 15))


def test_the_decisions_that_exports_are_compared_by_are_spans():
    prediction = predicted(Span(0, 11, "P", score=0.9))

    assert INFO.decisions(prediction) == ((0, 11, "P"),)


def test_decoding_refuses_weights_of_another_number_of_labels():
    scorer = SpanScorer(
        np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32), np.zeros(2, np.float32), True
    )
    with pytest.raises(ValueError, match="for 2 labels"):
        SpanScorer.from_json(scorer.to_json(), 2)
