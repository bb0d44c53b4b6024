"""Conversations in one text."""

import pytest

from workbench.text import conversation
from workbench.text.conversation import read, written

TALK = [
    ("system", "Be brief."),
    ("user", "When?\n\nAnd where?"),
    ("assistant", "At 7: Elm Park."),
    ("user", "Thanks"),
]


@pytest.mark.parametrize(
    "turns",
    [TALK, TALK[1:], TALK[1:2], [("user", "User: is a word")], [("user", "")]],
)
def test_what_is_written_is_read_as_the_same_turns(turns):
    assert read(written(turns)) == turns


def test_a_single_message_of_the_user_is_its_content():
    assert written([("user", "Where?")]) == "Where?"


def test_the_roles_of_hh_rlhf_are_read():
    text = "\n\nHuman: Hi\n\nAssistant: Yes?\n\nHuman: Bye"

    assert read(text) == [
        ("user", "Hi"),
        ("assistant", "Yes?"),
        ("user", "Bye"),
    ]


@pytest.mark.parametrize("raw", [[], "Hi", [{"role": "tool", "content": ""}], [{"role": "user"}]])
def test_other_values_are_no_messages(raw):
    with pytest.raises(ValueError):
        conversation.from_json(raw)


def test_turns_are_messages_of_chat_templates():
    raw = conversation.to_json(TALK)

    assert raw[0] == {"role": "system", "content": "Be brief."}
    assert conversation.from_json(raw) == TALK
