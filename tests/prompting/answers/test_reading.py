"""Each form reads what it writes, says why a reply holds no answer, and never fails."""

import json
import time

import pytest

from workbench.base.errors import SpecError
from workbench.prompting.answers import forms
from workbench.prompting.answers.target import ANSWER, CLASS, LABELS, NUMBER, SPANS, Reading, Target
from workbench.prompting.spec import AnswerSpec
from workbench.text.fields import NO_ANSWERS
from workbench.text.spans import Span

TEXT = "Ada met Bob at the University of Rome."
TOPICS = Target(CLASS, ("praise", "complaint"), text=TEXT)
SEVERAL = Target(LABELS, ("delay", "ticket", "ticket office"), text=TEXT)
STARS = Target(NUMBER, text=TEXT)
NAMES = Target(SPANS, ("PER", "ORG", "LOC"), text=TEXT)
PEOPLE = Target(SPANS, ("PER",), text=TEXT)
WHO = Target(ANSWER, text=TEXT, question="Who?")
CHOICES = Target(CLASS, ("1", "2", "3"), text=TEXT, choices=("home", "a bus", "the bus stop"))

ADA, BOB = Span(0, 3, "PER"), Span(8, 11, "PER")
UNIVERSITY, ROME = Span(19, 37, "ORG"), Span(33, 37, "LOC")
GOLD = [
    (TOPICS, "praise"),
    (SEVERAL, ("delay", "ticket office")),
    (SEVERAL, ()),
    (STARS, 3.5),
    (STARS, -2.0),
    (NAMES, (ADA, BOB, UNIVERSITY, ROME)),
    (NAMES, ()),
    (PEOPLE, (ADA, BOB)),
    (WHO, (8, 11)),
    (WHO, ()),
    (CHOICES, "2"),
]


def read(form, reply, target, **answer):
    return forms.reader(AnswerSpec(form, **answer)).read(reply, target)


@pytest.mark.parametrize(
    ("form", "target", "value"),
    [
        (form.id, target, value)
        for form in forms.FORMS.values()
        for target, value in GOLD
        if form.generated
        and form.fits(target.output, choices=bool(target.choices))
        and form.id != "regex"
    ],
)
def test_a_form_reads_what_it_writes(form, target, value):
    written = forms.written(AnswerSpec(form), target, value)

    assert read(form, written, target) == Reading(value)


@pytest.mark.parametrize(
    ("form", "target", "reply", "value"),
    [
        ("first", TOPICS, "It is a complaint, not praise.", "complaint"),
        ("first", TOPICS, "PRAISE", "praise"),
        ("first", TOPICS, "unpraised, complaint", "complaint"),
        ("first", Target(CLASS, ("sarcastic", "not sarcastic")), "Not sarcastic.", "not sarcastic"),
        ("first", Target(CLASS, ("正面", "负面")), "这是负面的。", "负面"),
        ("first", Target(CLASS, ("IT", "US")), "I think it is US.", "US"),
        ("first", Target(CLASS, ("C", "C++")), "C++ it is", "C++"),
        ("first", Target(CLASS, ("a", "b"), {"a": ("yes", "sure")}), "Sure!", "a"),
        ("choice", CHOICES, "B", "2"),
        ("choice", CHOICES, "(c) no, (C)", "3"),
        ("choice", CHOICES, "A. home", "1"),
        ("choice", CHOICES, "A man waits at the bus stop", "3"),
        ("choice", CHOICES, "The answer is B", "2"),
        ("choice", CHOICES, "2", "2"),
        ("several", SEVERAL, "Delay and the ticket office", ("delay", "ticket office")),
        ("several", SEVERAL, "None of them.", ()),
        ("number", STARS, "I give 3 of 5 stars", 3.0),
        ("number", STARS, "3,5", 3.5),
        ("number", STARS, "1,234.5 m", 1234.5),
        ("number", STARS, "GPT4 says −2", -2.0),
        ("quotes", NAMES, 'PER: "Ada", „Bob“\nORG: «University of Rome»', (ADA, BOB, UNIVERSITY)),
        ("quotes", NAMES, '"Ada" (PER), "Rome" (LOC)', (ADA, ROME)),
        ("quotes", NAMES, "PER: 'Ada'", (ADA,)),
        ("quotes", NAMES, "There are none.", ()),
        ("tags", NAMES, "[PER Ada]  met Bob at the [ORG University of [LOC Rome]].",
         (ADA, UNIVERSITY, ROME)),
        ("tags", NAMES, "[PER Ada ] met Bob at the [ORG University of [LOC Rome ] ].",
         (ADA, UNIVERSITY, ROME)),
        ("tags", NAMES, "So: [PER Ada] and [PER Bob]", (ADA, BOB)),
        ("tags", NAMES, TEXT, ()),
        ("answer", WHO, 'It was "Bob".', (8, 11)),
        ("answer", WHO, "bob", (8, 11)),
        ("answer", WHO, "None.", ()),
        ("json", TOPICS, 'Sure:\n```json\n{"label": "Praise"}\n```', "praise"),
        ("json", TOPICS, '{"topic": "praise"}', "praise"),
        ("json", NAMES, '[{"text": "Ada", "label": "PER"}]', (ADA,)),
        ("json", NAMES, '{"PER": ["Ada", "Bob"], "LOC": "Rome"}', (ADA, BOB, ROME)),
        ("json", STARS, '{"number": "3.5"}', 3.5),
        ("json", CHOICES, '{"choice": 2}', "2"),
        ("reason", TOPICS, "Praise? Answer: praise. No. answer: complaint", "complaint"),
        ("reason", CHOICES, "The stop. Answer: C", "3"),
    ],
)  # fmt: skip
def test_replies_are_read_as_people_would(form, target, reply, value):
    assert read(form, reply, target) == Reading(value)


@pytest.mark.parametrize(
    ("form", "target", "reply", "reason"),
    [
        ("first", TOPICS, " \n", "empty"),
        ("first", TOPICS, "praiseworthy", "no-label"),
        ("several", SEVERAL, "perhaps", "no-label"),
        ("number", STARS, "three", "no-number"),
        ("choice", CHOICES, "D", "no-choice"),
        ("quotes", NAMES, "Ada", "no-quotes"),
        ("tags", NAMES, "Ada met", "no-tags"),
        ("answer", WHO, "Eve", "not-in-text"),
        ("json", TOPICS, "praise", "no-json"),
        ("json", TOPICS, '{"label": "other"}', "other-json"),
        ("json", STARS, '{"number": NaN}', "no-json"),
        ("json", STARS, '{"number": 1e999}', "other-json"),
        ("json", NAMES, '{"spans": [1]}', "other-json"),
        ("reason", TOPICS, "praise", "no-marker"),
        ("reason", TOPICS, "praise. Answer: ", "empty"),
        ("regex", TOPICS, "label - praise", "no-match"),
        ("regex", TOPICS, "label: other", "no-label"),
    ],
)
def test_a_reply_without_an_answer_says_why(form, target, reply, reason):
    pattern = r"label: (\w+)" if form == "regex" else ""

    result = read(form, reply, target, pattern=pattern)

    assert result.value is None and result.no_answer == reason and reason in NO_ANSWERS


@pytest.mark.parametrize(
    ("target", "reply", "value"),
    [
        (TOPICS, "label: Praise, label: complaint", "praise"),
        (SEVERAL, "label: delay label: ticket", ("delay", "ticket")),
        (SEVERAL, "label: none", ()),
        (STARS, "label: 4", 4.0),
        (WHO, "label: Bob", (8, 11)),
        (CHOICES, "label: B", "2"),
    ],
)
def test_a_pattern_finds_the_answer_in_its_first_group(target, reply, value):
    assert read("regex", reply, target, pattern=r"label: (\w+)") == Reading(value)


def test_a_pattern_is_checked_and_limited_in_time():
    with pytest.raises(SpecError, match="no regular expression"):
        forms.reader(AnswerSpec("regex", pattern="("))
    with pytest.raises(SpecError, match="needs a pattern"):
        forms.reader(AnswerSpec("regex"))
    with pytest.raises(SpecError, match="too long"):
        forms.reader(AnswerSpec("regex", pattern="x" * 5000))

    reader = forms.reader(AnswerSpec("regex", pattern=r"(x+x+)+y"))
    start = time.monotonic()

    assert reader.read("x" * 5000, TOPICS).no_answer in ("time-limit", "no-match")
    assert time.monotonic() - start < 20


def test_what_is_quoted_without_a_place_or_a_label_is_listed():
    assert read("quotes", 'PER: "Ada", "Eve"', NAMES) == Reading((ADA,), unplaced=("Eve",))
    assert read("quotes", '"Ada"', NAMES) == Reading((), unplaced=("Ada",))
    reply = '{"spans": [{"text": "Ada", "label": "DOG"}, {"text": "Bob", "label": "PER"}]}'
    assert read("json", reply, NAMES) == Reading((BOB,), unplaced=("Ada",))


@pytest.mark.parametrize(
    "reply",
    [
        "x" * 2_000_000,
        "praise " * 300_000,
        '{"label": ' * 100_000,
        "[" * 1_000_000,
        '"' * 500_001,
        "[PER " * 200_000,
        "]" * 1_000_000,
        "\u202epraise\u202c \u2066[PER Ada]\u2069 \ud800 \x00",
        "9" * 100_000,
        "{\"number\": " + "9" * 100_000 + "}",
        "'" * 300_000,
        "<b>praise</b> {{ label }} {% for x in y %}",
        "Answer: " * 100_000,
        'PER: ' + '"Ada", ' * 100_000,
        "(" * 300_000 + "A" * 300_000,
    ],
    ids=lambda reply: repr(reply[:12]),
)  # fmt: skip
def test_hostile_replies_neither_fail_nor_hang(reply):
    start = time.monotonic()

    for form in forms.FORMS.values():
        for target in (TOPICS, SEVERAL, STARS, NAMES, WHO, CHOICES):
            if form.generated and form.fits(target.output, choices=bool(target.choices)):
                pattern = r"(\w+)+;" if form.patterned else ""
                result = read(form.id, reply, target, pattern=pattern)
                assert isinstance(result, Reading)
                assert (result.value is None) == bool(result.no_answer)

    assert time.monotonic() - start < 60


def test_a_schema_allows_what_is_written_and_nothing_else():
    import jsonschema

    for target, value in GOLD:
        written = json.loads(forms.written(AnswerSpec("json"), target, value))
        jsonschema.validate(written, forms.schema(target))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"label": "other"}, forms.schema(TOPICS))


def test_a_form_says_what_a_model_lacks():
    first, json_form, scored = (forms.get(id) for id in ("first", "json", "scored"))

    assert forms.unfit(scored, CLASS, {"generate"}) == "the model gives no probabilities of words"
    assert forms.unfit(first, CLASS, {"score"}) == "the model cannot write replies"
    assert forms.unfit(first, CLASS, {"generate"}, chat=True) == "the model has no chat template"
    assert forms.unfit(first, CLASS, {"generate"}) == ""
    assert forms.unfit(first, SPANS, {"generate"}) == "does not fit the layer"
    assert "restricted" in forms.unfit(json_form, CLASS, {"generate"}, constrained=True)
    assert first.constraint(TOPICS) == (("praise", "complaint"), None)
