"""Several replies give one prediction by majority; agreement is its confidence."""

import pytest

from workbench.prompting.answers.target import ANSWER, CLASS, LABELS, NUMBER, SPANS, Reading, Target
from workbench.prompting.answers.votes import prediction
from workbench.text.fields import Answers, LabelScores
from workbench.text.spans import Span

TEXT = "Ada met Bob."
TOPICS = Target(CLASS, ("a", "b", "c"), text=TEXT)
UNREAD = Reading(no_answer="no-label")


def voted(target, *values):
    readings = [value if isinstance(value, Reading) else Reading(value) for value in values]
    return prediction([target], [readings])


def test_the_most_frequent_class_wins_and_its_share_is_the_confidence():
    result = voted(TOPICS, "b", "a", "b", "c")

    assert result.label == "b" and result.classes.as_dict() == {"a": 0.25, "b": 0.5, "c": 0.25}


def test_the_earliest_of_equally_frequent_classes_wins():
    assert voted(TOPICS, "c", "a", "a", "c").label == "c"
    assert voted(TOPICS, "a", "c", "c", "a").label == "a"
    assert voted(TOPICS, UNREAD, "c", "b").label == "c"


def test_a_sample_that_cannot_be_read_lowers_the_agreement():
    result = voted(TOPICS, "a", UNREAD, "a")

    assert result.classes.as_dict() == pytest.approx({"a": 7 / 9, "b": 1 / 9, "c": 1 / 9})
    assert result.no_answer == ""


def test_samples_that_cannot_be_read_lower_the_agreement_on_labels_spans_and_answers():
    bob = (8, 11)

    several = voted(Target(LABELS, ("x", "y")), ("x",), UNREAD, UNREAD, UNREAD)
    spans = voted(Target(SPANS, ("PER",), text=TEXT), (Span(*bob, "PER"),), UNREAD, UNREAD, UNREAD)
    answers = voted(Target(ANSWER, text=TEXT, question="Who?"), bob, UNREAD, (), UNREAD)

    assert several.labels == ("x",) and several.required(LabelScores).as_dict()["x"] == 0.25
    assert [(span.start, span.score) for span in spans.spans] == [(8, 0.25)]
    assert answers.required(Answers).to("Who?").score == 0.25


def test_if_no_sample_can_be_read_there_is_no_answer():
    result = voted(TOPICS, UNREAD, Reading(no_answer="empty"))

    assert result.no_answer == "no-label" and result.labels is None


def test_labels_and_spans_are_each_decided_alone():
    several = voted(Target(LABELS, ("x", "y", "z")), ("x", "y"), ("x",), ("z",), ("x", "z"))
    ada, bob, met = Span(0, 3, "PER"), Span(8, 11, "PER"), Span(4, 7, "PER")
    spans = voted(Target(SPANS, ("PER",), text=TEXT), (ada, bob), (ada, met), (ada,), (met, bob))

    assert several.required(LabelScores).chosen == ("x",)  # z: half of them, but not the first
    assert voted(Target(LABELS, ("x", "y")), ("y",), ("x",)).labels == ("y",)
    assert [(span.start, span.score) for span in spans.spans] == [(0, 0.75), (8, 0.5)]


def test_numbers_are_chosen_by_majority():
    assert voted(Target(NUMBER), 3.0, 4.0, 4.0).number == 4.0
    assert voted(Target(NUMBER), 3.0, 4.0).number == 3.0


def test_questions_are_answered_each_and_one_that_cannot_be_read_is_no_answer():
    who, why = Target(ANSWER, text=TEXT, question="Who?"), Target(ANSWER, question="Why?")
    when = Target(ANSWER, text=TEXT, question="When?")

    result = prediction(
        [who, why, when],
        [[Reading((8, 11)), Reading(())], [Reading(())], [Reading(no_answer="not-in-text")]],
    )

    answers = result.required(Answers)
    assert answers.to("Who?").answer == "Bob" and answers.to("Who?").score == 0.5
    assert answers.to("Why?").is_null and answers.to("When?") is None
    assert result.no_answer == "not-in-text"
