"""Questions written in both layouts of SQuAD and read back."""

import json

from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Layer
from workbench.text.questions import Question

LAYER = Layer("answers", "answer")
RECORDS = [
    Record(
        Document("T-1", (("text", "Ada met Bob in Rome."),), None, "T"),
        {"answers": "submitted"},
        questions={
            "answers": (
                Question("Who met Bob?", ((0, 3),), attrs={"id": "q1"}),
                Question("Where?", ((15, 19), (12, 19))),
            )
        },
    ),
    Record(
        Document("U-1", (("text", "Trams run."),), None, "U"),
        {"answers": "submitted"},
        questions={"answers": (Question("Who?", (), True, {"id": "q2"}),)},
    ),
    Record(Document("none", (("text", "No question."),))),
]


def test_squad_json_is_read_back_with_articles_answers_and_questions_without_one(write, back):
    raw = json.loads(write("squad", RECORDS, (LAYER,)).text)

    assert raw["version"] == "v2.0"
    assert [article["title"] for article in raw["data"]] == ["T", "U"]
    assert raw["data"][0]["paragraphs"][0]["qas"][1]["answers"][0] == {
        "answer_start": 15, "text": "Rome",
    }  # fmt: skip
    found = back("squad", RECORDS, (LAYER,))
    assert [item.questions["answers"][0] for item in found] == [
        record.questions["answers"][0] for record in RECORDS[:2]
    ]


def test_without_unanswerable_questions_the_version_is_1(write):
    assert json.loads(write("squad", RECORDS[:1], (LAYER,)).text)["version"] == "1.1"
    assert json.loads(write("squad", [], (LAYER,)).text) == {"data": [], "version": "1.1"}


def test_documents_without_questions_are_counted(write):
    assert write("squad", RECORDS, (LAYER,)).warnings == (
        "1 document has no question and was omitted.",
    )


def test_json_lines_are_read_back(write):
    lines = write("squad_jsonl", RECORDS, (LAYER,)).text.splitlines()

    rows = [json.loads(line) for line in lines]
    assert [row["id"] for row in rows] == ["q1", "T-1-2", "q2"]
    assert rows[1]["answers"] == {"text": ["Rome", "in Rome"], "answer_start": [15, 12]}
    assert rows[2]["answers"] == {"text": [], "answer_start": []}
