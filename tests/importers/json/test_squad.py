"""Questions with answers in the layouts of SQuAD; the examples are made up."""

import json

from workbench.importers.detect import detect
from workbench.importers.source import Source
from workbench.text.questions import Question

TRAMS = "The first tram ran in 1807 between Swansea and Mumbles."


def answers(record, layer="answers"):
    text = record.document.text
    return {
        question.text: [text[start:end] for start, end in question.answers]
        for question in record.questions[layer]
    }


def test_the_json_of_squad_is_recognized_and_gives_a_document_per_paragraph(read, tiny):
    assert detect(Source(tiny / "squad.json")).format == "squad"
    found = read(tiny / "squad.json")

    assert [record.document.key for record in found.records] == ["Trams-1", "Trams-2", "Boats-1"]
    assert [record.document.group for record in found.records] == ["Trams", "Trams", "Boats"]
    assert found.layers[0].kind == "answer" and found.skipped == []
    first = found.records[0]
    assert answers(first)["When did the first tram run?"] == ["1807", "in 1807"]
    assert [question.id for question in first.questions["answers"]] == ["t1", "t2", "t3"]


def test_offsets_that_are_wrong_are_moved_to_the_nearest_occurrence(read, tiny):
    found = read(tiny / "squad.json")

    assert found.records[0].questions["answers"][1].answers == ((58, 64),)
    assert "1 answer was not found at its offset" in found.remarks[0]
    assert "UTF-16 units are counted" in found.remarks[-1]  # of the answers after the emoji


def test_an_answer_that_is_not_in_its_text_is_reported_and_its_question_stays_open(read, tiny):
    found = read(tiny / "squad.json")

    (message,) = [remark for remark in found.remarks if "not imported" in remark]
    assert "squad.json, paragraph 2 of Trams, question t4: 'Lifts'" in message
    assert found.records[1].questions["answers"][0].is_open
    assert found.records[1].states == {}


def test_a_question_without_an_answer_is_null_and_keeps_its_plausible_answers(read, tiny):
    question = read(tiny / "squad.json").records[0].questions["answers"][2]

    assert question.is_null and not question.answers
    assert question.attrs["plausible_answers"][0]["text"] == "Horses"


def test_equal_questions_with_different_ids_stay_apart(read, tiny):
    questions = read(tiny / "squad.json").records[2].questions["answers"]

    assert [(question.text, question.id) for question in questions] == [
        ("What do boats do?", "b1"),
        ("What do boats do?", "b2"),
    ]


def test_rows_with_the_same_context_are_one_document(read):
    rows = [
        {"id": "a", "title": "T", "context": TRAMS, "question": "When?",
         "answers": {"text": ["1807"], "answer_start": [22]}},
        {"id": "b", "title": "T", "context": "Boats float.", "question": "What?",
         "answers": {"text": [], "answer_start": []}},
        {"id": "c", "title": "T", "context": TRAMS, "question": "From where?",
         "answers": {"text": ["Swansea"], "answer_start": [35]}},
    ]  # fmt: skip
    found = read("".join(json.dumps(row) + "\n" for row in rows), name="x.jsonl")

    trams, boats = found.records
    assert answers(trams) == {"When?": ["1807"], "From where?": ["Swansea"]}
    assert boats.questions["answers"] == (Question("What?", (), True, {"id": "b"}),)
    assert trams.document.group == "T" and trams.states == {"answers": "submitted"}


def test_a_table_needs_no_offsets_and_blank_answers_leave_a_question_open(read):
    text = f"context,question,answer\n{TRAMS},When?,1807\n{TRAMS},Who?,\n"
    found = read(text, name="x.csv")

    (record,) = found.records
    assert answers(record) == {"When?": ["1807"], "Who?": []}
    assert record.states == {"answers": "draft"}


def test_columns_with_other_names_are_mapped(read):
    text = f"body;ask;reply\n{TRAMS};When?;1807\n"
    mapping = (("text", "body"), ("question", "ask"), ("answer:qa", "reply"))
    found = read(text, "csv", name="x.csv", mapping=mapping)

    assert answers(found.records[0], "qa") == {"When?": ["1807"]}


def test_a_repeated_answer_without_an_offset_is_its_first_occurrence(read):
    text = "context\tquestion\tanswer\na b a\tWhat?\ta\n"
    found = read(text, name="x.tsv")

    assert found.records[0].questions["answers"][0].answers == ((0, 1),)
    assert "occurs several times" in found.remarks[0]


def test_yes_or_no_is_no_answer_from_the_text(tmp_path):
    path = tmp_path / "boolq.jsonl"
    path.write_text('{"passage": "Trams run.", "question": "do they", "answer": true}\n')

    assert detect(Source(path)).format != "squad"
