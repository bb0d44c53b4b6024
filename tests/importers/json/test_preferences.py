"""Preferences in the layouts of published data sets; the examples are made up."""

import json

import pytest

PROMPT, GOOD, BAD = "When does the 42 run?", "Every ten minutes.", "Often."


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def user(text):
    return {"role": "user", "content": text}


def answer(text):
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": PROMPT, "chosen": GOOD, "rejected": BAD},
        {"question": PROMPT, "chosen": GOOD, "rejected": BAD, "system": ""},  # Orca DPO pairs
        {"prompt": [user(PROMPT)], "chosen": [answer(GOOD)], "rejected": [answer(BAD)]},
        {"chosen": [user(PROMPT), answer(GOOD)], "rejected": [user(PROMPT), answer(BAD)]},
        {  # UltraFeedback: the prompt is repeated
            "prompt": PROMPT,
            "chosen": [user(PROMPT), answer(GOOD)],
            "rejected": [user(PROMPT), answer(BAD)],
        },
        {  # HH-RLHF
            "chosen": f"\n\nHuman: {PROMPT}\n\nAssistant: {GOOD}",
            "rejected": f"\n\nHuman: {PROMPT}\n\nAssistant: {BAD}",
        },
    ],
)
def test_a_prompt_and_two_answers_become_a_preference(read, row):
    content = read(lines(row), name="x.jsonl")

    (record,) = content.records
    assert content.layers[0].kind == "preference"
    assert record.document.text == PROMPT and {*record.document.choices} == {GOOD, BAD}
    (number,) = record.marks["preference"]
    assert record.document.choices[int(number) - 1] == GOOD
    assert record.states == {"preference": "submitted"}


def test_the_place_of_the_chosen_answer_says_nothing_and_stays(read):
    rows = [{"prompt": "?", "chosen": f"yes {n}", "rejected": f"no {n}"} for n in range(100)]

    first, again = (read(lines(*rows), "preferences").records for _time in range(2))
    places = [record.marks["preference"] for record in first]

    assert places == [record.marks["preference"] for record in again]
    assert 30 < places.count(("1",)) < 70
    swapped = [{**row, "chosen": row["rejected"], "rejected": row["chosen"]} for row in rows]
    texts = [record.document.choices for record in read(lines(*swapped), "preferences").records]
    assert texts == [record.document.choices for record in first]


def test_a_conversation_and_what_else_is_known_are_read(read):
    row = {
        "prompt_id": "p7",
        "prompt": [user("Hi"), answer("Yes?"), user(PROMPT)],
        "system": "Be brief.",
        "chosen": GOOD,
        "rejected": BAD,
        "split": "validation",
        "source": "tram",
    }

    (record,) = read(lines(row), "preferences").records

    document = record.document
    assert document.text == (f"System: Be brief.\n\nUser: Hi\n\nAssistant: Yes?\n\nUser: {PROMPT}")
    assert (document.key, document.split) == ("p7", "dev")
    assert document.meta == {"source": "tram"}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"chosen": GOOD, "rejected": BAD}, "no prompt of the user"),
        ({"prompt": PROMPT, "chosen": GOOD, "rejected": 3}, "'rejected' is 3"),
        ({"prompt": [{"role": "tool"}], "chosen": GOOD, "rejected": BAD}, "'prompt' is"),
        ({"prompt": PROMPT, "chosen": GOOD, "rejected": [user(BAD)]}, "does not end with one"),
        ([PROMPT], "expected an object"),
    ],
)
def test_other_rows_are_skipped_with_a_reason(read, row, reason):
    content = read(lines({"prompt": PROMPT, "chosen": GOOD, "rejected": BAD}, row), "preferences")

    assert len(content.records) == 1
    assert len(content.skipped) == 1 and reason in content.skipped[0][1]
