"""Each kind of prediction as a line, in a table, an export, an order and the list of errors."""

import numpy as np
import pytest

from workbench.text import result_view, result_views
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import (
    Answers,
    ClassScores,
    LabelScores,
    Number,
    Prediction,
    SpanScores,
    WordTag,
    WordTags,
    Written,
)
from workbench.text.mistakes import Mistake
from workbench.text.questions import Candidate, PredictedAnswer, Question
from workbench.text.result_view import Answer, DetailRow
from workbench.text.spans import Span

ADA = Document("d", (("text", "Ada waits"),))
CLASS = Prediction((ClassScores(("a", "b"), (0.9, 0.1)),))
SEVERAL = Prediction((LabelScores(("a", "b"), (0.9, 0.2), (0.5, 0.1)),))
NONE_OF_SEVERAL = Prediction((LabelScores(("a", "b"), (0.4, 0.0), (0.5, 0.1)),))
NUMBER = Prediction((Number(2.5),))
TAGS = Prediction(
    (WordTags((WordTag(0, 3, "NOUN", 0.9), WordTag(4, 9, "VERB", 0.8))), SpanScores(()))
)
SPANS = Prediction(
    (
        WordTags((WordTag(0, 3, "PER", 0.9), WordTag(4, 9, None, 0.7))),
        SpanScores((Span(0, 3, "PER", score=0.9),)),
    )
)
WHO, WHERE = (
    PredictedAnswer("Who?", (Candidate(0, 3, 0.6), Candidate(4, 9, 0.2)), "Ada", -1.0, 0.2, False),
    PredictedAnswer("Where?", (), "", 1.0, 0.8, True),
)
ANSWERS = Prediction((Answers((WHO, WHERE)),))
WRITTEN = Prediction((Written("She waits.", 0.25),))


def view(prediction):
    return result_view.of(prediction)


@pytest.mark.parametrize(
    ("prediction", "line"),
    [
        (CLASS, "a  0.900  Ada waits"),
        (SEVERAL, "a  0.900, b  0.200  Ada waits"),
        (NONE_OF_SEVERAL, "–  Ada waits"),
        (NUMBER, "2.500  Ada waits"),
        (TAGS, "Ada waits  →  Ada/NOUN waits/VERB"),
        (SPANS, "Ada waits  →  PER “Ada”"),
        (Prediction((WordTags((WordTag(0, 3, None, 1.0),)), SpanScores(()))), "Ada waits  →  –"),
        (ANSWERS, "Ada waits\n  Who?  →  Ada  0.600\n  Where?  →  –  0.800"),
        (WRITTEN, "Ada waits  →  She waits."),
        (Prediction(), "–  Ada waits"),
    ],
)
def test_a_prediction_is_a_line_of_a_terminal(prediction, line):
    assert view(prediction).line(ADA, prediction) == line


def test_the_columns_of_a_table_are_labels_with_scores_a_number_or_spans():
    assert view(SEVERAL).cells(SEVERAL) == ("a; b", "0.900000; 0.200000", "")
    assert view(NUMBER).cells(NUMBER) == ("", "2.500000", "[]")
    assert view(SPANS).cells(SPANS)[2].startswith('[{"start": 0, "end": 3, "label": "PER"')
    assert view(WRITTEN).cells(WRITTEN) == ("She waits.", "0.250000", "")
    assert view(ANSWERS).cells(ANSWERS)[2].startswith('[{"question": "Who?", "answer": "Ada"')


def test_a_suggestion_is_a_label_a_value_or_a_range_of_the_text():
    assert view(SEVERAL).answers(SEVERAL) == [Answer("a", 0.9), Answer("b", 0.2)]
    assert view(NUMBER).answers(NUMBER) == [Answer("", None, value=2.5)]
    assert view(SPANS).answers(SPANS) == [Answer("PER", 0.9, 0, 3)]
    assert view(ANSWERS).answers(ANSWERS) == [Answer("Who?", 0.6, 0, 3), Answer("Where?", 0.8)]
    assert view(WRITTEN).answers(WRITTEN) == [Answer("", 0.25, written="She waits.")]
    assert view(Prediction()).answers(Prediction()) == []


def test_an_export_has_the_prediction_in_the_place_of_gold():
    asked = {"q": (Question("Who?"), Question("Where?"), Question("Not asked?"))}
    put = [
        view(prediction).as_gold(Record(ADA), "x", prediction, asked)
        for prediction in (SEVERAL, NUMBER, SPANS, ANSWERS, WRITTEN)
    ]

    assert put[0].marks == {"x": ("a", "b")} and put[1].numbers == {"x": 2.5}
    assert put[2].spans == {"x": (Span(0, 3, "PER", score=0.9),)}
    assert put[4].written == {"x": "She waits."}
    assert put[3].questions == {
        "x": (Question("Who?", ((0, 3),)), Question("Where?", is_null=True))
    }


def test_orders_of_the_queue_read_one_decision_one_for_each_label_or_one_for_each_word():
    decisions = [view(item).decisions(item, ("a", "b")) for item in (CLASS, SEVERAL)]
    assert np.allclose(decisions[0], [[0.9, 0.1]])
    assert np.allclose(decisions[1], [[0.1, 0.9], [0.8, 0.2]])
    assert np.allclose(view(SPANS).decisions(SPANS, ("PER",)), [[0.1, 0.9], [0.7, 0.3]])
    assert view(NUMBER).decisions(NUMBER, ("a", "b")).shape == (0, 2)


def test_an_error_shows_probabilities_words_or_the_answers_that_were_considered():
    mistake = Mistake("label", "b", "a", 0.9, 2.3)
    assert view(CLASS).detail(ADA, CLASS, mistake) == [DetailRow("a", 0.9), DetailRow("b", 0.1)]
    at = Mistake("missed", "PER", "", 0.7, 1.2, at=(4, 9))
    assert view(SPANS).detail(ADA, SPANS, at) == [DetailRow("", 0.7, "waits")]
    asked = Mistake("label", "Who?", "Who?", 0.6, 1.6, at=(4, 9), predicted_at=(0, 3))
    assert [row.text for row in view(ANSWERS).detail(ADA, ANSWERS, asked)] == ["Ada", "waits"]
    assert view(ANSWERS).side(asked, ADA.text, gold=True) == "waits"
    assert view(ANSWERS).about(asked, "Ada") == "Who?"
    assert view(CLASS).about(mistake, "Ada") == "Ada"


def test_a_task_is_shown_as_the_first_of_its_outputs_that_has_a_view():
    assert result_view.of_outputs(("TokenScores", "SpanScores", "WordTags")) is result_views.SPANS
    assert result_view.of_outputs(("Number",)) is view(NUMBER)
    assert result_view.of_outputs(("TokenScores",)) is result_view.UNKNOWN
    assert result_view.of(None) is result_view.UNKNOWN
