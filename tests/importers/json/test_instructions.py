"""Instructions with answers in the layouts of published data sets; the examples are made up."""

import json

import pytest

ASKED, INPUT, ANSWER = "Which line is it?", "The 5 to the harbour.", "Line 5."


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def message(role, text):
    return {"role": role, "content": text}


@pytest.mark.parametrize(
    "row",
    [
        {"instruction": ASKED, "input": INPUT, "output": ANSWER},  # Alpaca
        {"instruction": ASKED, "context": INPUT, "response": ANSWER, "category": "qa"},  # Dolly
        {"messages": [message("user", f"{ASKED}\n\n{INPUT}"), message("assistant", ANSWER)]},
        {  # ShareGPT
            "conversations": [
                {"from": "human", "value": f"{ASKED}\n\n{INPUT}"},
                {"from": "gpt", "value": ANSWER},
            ]
        },
    ],
)
def test_an_instruction_with_its_answer_becomes_a_document_with_a_text(read, row):
    content = read(lines(row), name="x.jsonl")

    (record,) = content.records
    assert [(layer.name, layer.kind) for layer in content.layers] == [("answer", "text")]
    assert record.document.text == f"{ASKED}\n\n{INPUT}"
    assert record.written == {"answer": ANSWER} and record.states == {"answer": "submitted"}


def test_each_answer_of_a_conversation_is_a_document_and_all_are_in_one_group(read):
    turns = [("system", "Be brief."), ("user", "Hi"), ("assistant", "Hello"), ("user", "Which?")]
    row = {"id": "c7", "messages": [message(*turn) for turn in (*turns, ("assistant", "Line 5"))]}

    first, second = read(lines(row), "instructions").records

    assert first.document.text == "System: Be brief.\n\nUser: Hi"
    assert second.document.text == f"{first.document.text}\n\nAssistant: Hello\n\nUser: Which?"
    assert [item.written["answer"] for item in (first, second)] == ["Hello", "Line 5"]
    assert [item.document.key for item in (first, second)] == ["c7-1", "c7-2"]
    assert first.document.group == second.document.group == "c7"


def test_without_an_input_the_instruction_is_the_text_and_other_fields_are_metadata(read):
    row = {"instruction": "Say hi.", "input": "", "output": "hi", "split": "dev", "topic": "x"}

    (record,) = read(lines(row), "instructions").records

    assert record.document.text == "Say hi." and record.document.split == "dev"
    assert record.document.meta == {"topic": "x"}


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"instruction": ASKED, "output": ""}, "no answer to an instruction"),
        ({"output": ANSWER}, "no instruction"),
        ({"messages": [message("assistant", "Hi")]}, "no answer to an instruction"),
        ({"messages": "Hi"}, "expected chat messages"),
        ("Hi", "expected an object"),
    ],
)
def test_a_line_without_instruction_and_answer_is_skipped_with_the_reason(read, row, why):
    good = {"instruction": ASKED, "output": ANSWER}

    content = read(lines(good, row), "instructions")

    assert len(content.records) == 1
    (skipped,) = content.skipped
    assert skipped[0] == 2 and why in skipped[1]
