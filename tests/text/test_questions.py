from workbench.text.dataset import record_from_json, record_to_json
from workbench.text.questions import Question, state_of, texts_of

RIGHT, NULL, OPEN = Question("Who?", ((0, 3),)), Question("Why?", (), True), Question("When?")


def test_a_document_is_submitted_when_no_question_is_open():
    assert state_of([RIGHT, NULL]) == "submitted"
    assert state_of([RIGHT, OPEN]) == "draft"
    assert state_of([OPEN]) == state_of([]) == "pending"


def test_questions_of_several_layers_are_asked_once():
    assert texts_of({"a": (RIGHT, NULL), "b": (NULL, OPEN)}) == ("Who?", "Why?", "When?")


def test_records_keep_questions_in_the_own_format():
    raw = {
        "key": "k",
        "texts": {"text": "Ada"},
        "questions": {
            "answers": [
                {"question": "Who?", "answers": [[0, 3]], "attrs": {"id": "7"}},
                {"question": "Why?", "is_null": True},
                {"question": "When?"},
            ]
        },
    }

    record = record_from_json(raw)

    assert record.document.questions == ("Who?", "Why?", "When?")
    assert record.questions["answers"][0].id == "7"
    assert record_to_json(record) == raw
