"""Token tagging: gold, decoding, scores and errors, worked out by hand."""

import numpy as np
import pytest

from workbench.runtime.preparers.subwords import Subwords
from workbench.tasks.heads.info import SpanGold
from workbench.tasks.heads.spans.info import MAX_LISTED_SPANS
from workbench.tasks.spec import Answer, ErrorText
from workbench.tasks.tag.info import INFO
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import Prediction, SpanScores, WordTag, WordTags
from workbench.text.spans import Span

DOCUMENT = Document("a", (("text", "Ada met Bob."),))
LABELS = ("P", "Q")
TAGS = INFO.output_names(LABELS)
WORDS = (
    WordTag(0, 3, "P", 0.9),
    WordTag(4, 7, None, 0.9),
    WordTag(8, 11, "P", 0.9),
    WordTag(11, 12, None, 0.6),
)
SPANS = (Span(0, 3, "P", score=0.9), Span(8, 11, "P", score=0.7))
PREDICTION = Prediction((WordTags(WORDS), SpanScores(SPANS)))
GOLD = SpanGold((Span(0, 3, "P"), Span(8, 12, "P")))


@pytest.fixture
def subwords(tiny_model):
    return Subwords.load(tiny_model)


def document(text, **more):
    return Document("a", (("text", text),), **more)


def test_the_outputs_are_outside_and_two_tags_of_each_label():
    assert TAGS == ("O", "B-P", "I-P", "B-Q", "I-Q")


# ---------------------------------------------------------------- gold


def test_gold_spans_are_flat_and_what_is_left_out_is_counted():
    spans = (Span(0, 12, "A"), Span(0, 3, "B"), Span(8, 11, "B", field="text_b"), Span(4, 4, "A"))

    gold = INFO.gold(Record(DOCUMENT, spans={"s": spans}), "s")

    assert gold.spans == (Span(0, 12, "A"),) and gold.left_out == 3
    assert list(gold.labels()) == ["A"] and gold.to_json() == [[0, 12, "A"]]


def test_a_document_without_spans_is_a_true_negative():
    assert INFO.gold(Record(DOCUMENT), "s") == SpanGold()


def test_a_layer_without_spans_cannot_be_trained_on_but_one_label_is_enough():
    assert "'names' has a span" in INFO.problem({}, "names") and INFO.problem({"A": 1}, "s") == ""
    assert INFO.least_labels == 1


def test_a_span_inside_a_word_is_counted_as_shifted(subwords):
    prepared = INFO.prepare(subwords, [document("ada bob")], 64)

    assert INFO.shifted(prepared, [SpanGold((Span(0, 2, "P"),))]) == 1
    assert INFO.shifted(prepared, [SpanGold((Span(0, 7, "P"),))]) == 0


# ---------------------------------------------------------------- decoding


def named(logits):
    return [{"logits": table} for table in logits]


def test_answers_of_windows_are_stitched_in_the_order_of_the_text(subwords):
    """Logits that name each word by its first letter, so that each word gets its own answer."""
    text = " ".join(["ada tram bob late"] * 15)
    prepared = INFO.prepare(subwords, [document(text)], 12)
    wanted = {"a": "B-P", "b": "B-Q"}
    logits = []
    for encoded in prepared.inputs:
        table = np.zeros((len(encoded), len(TAGS)), np.float32)
        for row, (start, end) in enumerate(encoded.offsets):
            table[row, TAGS.index(wanted.get(text[start:end][:1], "O"))] = 9
        logits.append(table)

    (answer,) = INFO.decode(named(logits), prepared, LABELS, {})

    assert [text[span.start : span.end] for span in answer.spans] == ["ada", "bob"] * 15
    assert [span.label for span in answer.spans] == ["P", "Q"] * 15
    assert [text[word.start : word.end] for word in answer.words] == text.split()
    (scaled,) = INFO.decode(named(logits), prepared, LABELS, {"temperature": 3.0})
    assert scaled == INFO.rescaled(answer, 3.0) and scaled != answer


def test_texts_without_words_and_words_without_subwords_are_outside(subwords):
    documents = [document(""), document(" \n"), document("\u200b tram")]
    prepared = INFO.prepare(subwords, documents, 32)
    logits = [np.zeros((len(encoded), len(TAGS)), np.float32) for encoded in prepared.inputs]

    answers = INFO.decode(named(logits), prepared, LABELS, {})

    assert [len(answer.words) for answer in answers] == [0, 0, 2]
    assert not any(answer.spans for answer in answers)
    assert answers[2].words[0].label is None


def test_spans_are_suggested_with_their_offsets_and_empty_ones_are_not():
    prediction = Prediction((SpanScores((*SPANS, Span(4, 4, "P", score=0.5))),))

    assert INFO.answers(prediction) == [
        Answer("P", 0.9, 0, 3, "text"),
        Answer("P", 0.7, 8, 11, "text"),
    ]


# ---------------------------------------------------------------- scores


def test_tag_scores_by_hand():
    scores = INFO.score([GOLD], [PREDICTION])

    assert scores["span_f1"] == 0.5 and scores["token_accuracy"] == 0.75  # "." is I-P in gold
    assert scores["span_precision"] == scores["span_recall"] == scores["span_macro_f1"] == 0.5


def test_each_label_has_its_row():
    gold = SpanGold((Span(0, 3, "P"), Span(8, 11, "Q")))

    rows = INFO.per_label([gold], [PREDICTION])

    result = [(row.label, row.precision, row.recall, row.support) for row in rows]
    assert result == [("P", 0.5, 1.0, 1), ("Q", 0.0, 0.0, 1)]


def test_a_prediction_is_right_if_all_its_spans_are_gold_whatever_their_scores():
    assert INFO.agrees(SpanGold((Span(8, 11, "P"), Span(0, 3, "P"))), PREDICTION)
    assert not INFO.agrees(GOLD, PREDICTION)
    assert INFO.agrees(SpanGold(), Prediction()) and not INFO.agrees(SpanGold(), PREDICTION)


def test_an_error_lists_what_only_one_side_has():
    extra = INFO.error(DOCUMENT, GOLD, PREDICTION)
    missed = INFO.error(
        DOCUMENT,
        SpanGold((Span(0, 3, "P"), Span(11, 12, "P"))),
        Prediction((WordTags(WORDS), SpanScores(SPANS[:1]))),
    )

    assert extra == ErrorText("P “Bob.”", "P “Bob”", 0.7)  # highest score of a false positive
    assert missed == ErrorText("P “.”", "–", 0.6)  # how confidently the missed word was O


def test_an_error_names_some_of_thousands_of_spans():
    text = "word " * (MAX_LISTED_SPANS + 2)
    spans = tuple(Span(start, start + 4, "P") for start in range(0, len(text), 5))

    error = INFO.error(document(text), SpanGold(spans), Prediction())

    assert error.gold.count("P “word”") == MAX_LISTED_SPANS and error.gold.endswith(" and 2 more")


def test_the_matrix_counts_spans_with_what_has_none():
    gold = SpanGold((Span(0, 3, "P"), Span(8, 11, "Q"), Span(11, 12, "Q")))

    result = INFO.confusion([gold], [PREDICTION], LABELS)

    rows = {
        (result.labels[gold], result.labels[predicted]): int(result.counts[gold, predicted])
        for gold, predicted in np.argwhere(result.counts)
    }
    assert rows == {("P", "P"): 1, ("Q", "P"): 1, ("Q", ""): 1}
