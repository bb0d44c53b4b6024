"""Multiple choice in the layouts of published data sets; the examples are made up."""

import io
import json

import pytest

from workbench.exporters.data.base import ExportPlan
from workbench.exporters.data.table import CsvExporter
from workbench.text.dataset import Record
from workbench.text.document import CHOICES, choice_names, with_choices
from workbench.text.labels import ONE_OF, Label, Layer

TRAM = ("a tram", "a boat", "a lift")


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def only(read, content, name="x.jsonl", **options):
    found = read(content, name=name, **options)
    assert found.skipped == []
    return found.records[0]


@pytest.mark.parametrize(
    ("row", "text", "question"),
    [
        ({"question": "Which?", "choices": TRAM, "answer": 2}, "Which?", ""),  # MMLU
        ({"ctx": "It runs", "endings": TRAM, "label": "2", "ind": 4}, "It runs", ""),  # HellaSwag
        (
            {"article": "Rails.", "question": "Which?", "options": TRAM, "answer": "C"},
            "Rails.",
            "Which?",
        ),  # RACE, one question per line
        (
            {
                "question": "Which?",
                "choices": {"text": TRAM, "label": ["A", "B", "C"]},
                "answerKey": "C",
            },
            "Which?",
            "",
        ),  # ARC
        (
            {
                "question": {
                    "stem": "Which?",
                    "choices": [
                        {"label": str(n), "text": text} for n, text in enumerate(TRAM, 1)
                    ],
                },
                "answerKey": "3",
            },
            "Which?",
            "",
        ),  # ARC as published: its own labels count
        ({"context": "Up.", "question": "What?", "answer0": "a tram", "answer1": "a boat",
          "answer2": "a lift", "label": 2}, "Up.", "What?"),  # Cosmos QA
        ({"question": "Which?", "choices": TRAM, "answer": "a lift"}, "Which?", ""),
    ],
)  # fmt: skip
def test_published_layouts_are_recognized(read, row, text, question):
    record = only(read, lines(row))

    assert record.document.form == CHOICES and record.document.choices == TRAM
    assert (record.document.text, record.document.question) == (text, question)
    assert record.marks == {"answer": ("3",)} and record.states == {"answer": "submitted"}


@pytest.mark.parametrize(
    ("header", "row", "text", "question", "right"),
    [
        (
            ",video-id,sent1,sent2,gold-source,ending0,ending1,ending2,ending3,label",
            '0,v1,"A woman waits.",She,gold,leaves.,sings.,flies.,swims.,0',
            "A woman waits.",
            "She",
            "1",
        ),  # SWAG
        (
            "InputStoryid,InputSentence1,InputSentence2,InputSentence3,InputSentence4,"
            "RandomFifthSentenceQuiz1,RandomFifthSentenceQuiz2,AnswerRightEnding",
            "s1,One.,Two.,Three.,Four.,Wrong.,Right.,2",
            "One. Two. Three. Four.",
            "",
            "2",
        ),  # Story Cloze, numbered from 1
        ("question,A,B,C,D,answer", "Which?,a,b,c,d,D", "Which?", "", "4"),
    ],
)
def test_tables_are_recognized(read, header, row, text, question, right):
    record = only(read, f"{header}\n{row}\n", "x.csv")

    assert (record.document.text, record.document.question) == (text, question)
    assert record.marks == {"answer": (right,)}


def test_an_article_with_several_questions_becomes_several_documents(read):
    row = {
        "article": "Rails.",
        "questions": ["Which?", "It is _ ."],
        "options": [["a", "b"], ["c", "d", "e"]],
        "answers": ["B", "A"],
        "id": "m1.txt",
    }

    found = read(lines(row), name="m1.json")

    assert [record.document.key for record in found.records] == ["m1.txt-1", "m1.txt-2"]
    assert {record.document.group for record in found.records} == {"m1.txt"}
    assert [record.marks["answer"] for record in found.records] == [("2",), ("1",)]
    (layer,) = found.layers
    assert (layer.kind, layer.texts, layer.names) == ("choice", CHOICES, ("1", "2", "3"))


def test_numbers_from_1_and_from_0_are_told_apart_and_doubts_are_told(read):
    def rows(*answers):
        return lines(*[{"question": "?", "choices": TRAM, "answer": answer} for answer in answers])

    def right(found):
        return [record.marks["answer"][0] for record in found.records]

    assert right(read(rows(0, 2))) == ["1", "3"]
    assert right(read(rows(1, 3))) == ["1", "3"]
    doubtful = read(rows(1, 2))
    assert right(doubtful) == ["2", "3"] and "numbered from 0 or from 1" in doubtful.remarks[0]


def test_records_without_answer_are_not_labelled_and_wrong_ones_are_named(read):
    found = read(
        lines(
            {"question": "a", "choices": TRAM, "answer": ""},
            {"question": "b", "choices": ["one"], "answer": "A"},
            {"question": "c", "choices": TRAM, "answer": "E"},
        )
    )

    assert found.records[0].marks == found.records[0].states == {}
    assert found.skipped == [
        (2, "expected 2 to 100 choices, found 1"),
        (3, "the answer 'E' is not among the choices (3 in total)"),
    ]


def test_fields_of_any_name_are_mapped(read):
    mapping = (("text", "frage"), ("choices", "antworten"), ("answer:q", "richtig"), ("id", "nr"))
    row = {"nr": 7, "frage": "Was?", "antworten": ["x", "y"], "richtig": "B"}

    record = only(read, lines(row), format="doccano", mapping=mapping)

    assert (record.document.key, record.document.choices) == ("7", ("x", "y"))
    assert record.marks == {"q": ("2",)}


def test_pairs_and_classes_are_not_taken_for_choices(read):
    found = read(lines({"sentence1": "a", "sentence2": "b", "label": "x", "choices": 3}))

    assert len(found.records[0].document.texts) == 2


def test_a_table_written_by_the_program_is_read_back(read):
    documents = [
        with_choices("a", "Rails.", ["x", "y"], "Which?"),
        with_choices("b", "Up.", ["p", "q", "r"]),
    ]
    layer = Layer("answer", ONE_OF.id, tuple(map(Label, choice_names(3))), CHOICES)
    marks = [{"answer": ("1",)}, {"answer": ("2",)}]
    records = [
        Record(item, {"answer": "submitted"}, mark)
        for item, mark in zip(documents, marks, strict=True)
    ]
    out = io.StringIO()

    CsvExporter().write(records, ExportPlan((layer,)), out)
    again = read(out.getvalue(), name="x.csv")

    assert [record.document.texts for record in again.records] == [item.texts for item in documents]
    assert [record.marks for record in again.records] == marks


@pytest.mark.parametrize(("answers", "shown"), [(True, "True"), (7, "7"), ({"a": 1}, "an object")])
def test_answers_of_race_that_are_no_list_are_reported_for_each_question(read, answers, shown):
    row = {"article": "Rails.", "questions": ["Who?", "Which?"], "options": [TRAM, TRAM]}

    found = read(lines({**row, "answers": answers, "id": "1"}), name="x.jsonl")

    assert found.records == [] and len(found.skipped) == 2
    assert all(f"the answer {shown}" in reason for _line, reason in found.skipped)


@pytest.mark.parametrize(
    "row", [{"text": "Which?", "choices": TRAM}, {"prompt": "Which?", "responses": TRAM}]
)
def test_choices_without_an_answer_are_documents_to_be_labelled(read, row):
    record = only(read, lines(row))

    assert (record.document.text, record.document.choices) == ("Which?", TRAM)
    assert not record.marks and not record.states
