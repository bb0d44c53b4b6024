"""Conversations with given replies as inputs of a model that continues texts."""

import pytest

from workbench.base import paths
from workbench.runtime.chat_template import ChatTemplate
from workbench.runtime.preparers.replies import REPLY, prompt_ids, replied
from workbench.runtime.tokenizer import Tokenizer

CHATML = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
ASKED = [("user", "When does the tram run?")]


@pytest.fixture
def gpt():
    return Tokenizer.load(paths.resource("models") / "starter-gpt")


def text_of(tokenizer, ids):
    return tokenizer.backend.decode(list(map(int, ids)), skip_special_tokens=False)


def parts(tokenizer, encoded):
    reply = encoded.text == REPLY
    return text_of(tokenizer, encoded.ids[~reply]), text_of(tokenizer, encoded.ids[reply])


def test_a_reply_follows_the_prompt_and_ends_with_the_end_of_a_text(gpt):
    ((encoded, cut),) = replied(gpt, ASKED, ["At 7."], 512)

    assert parts(gpt, encoded) == ("When does the tram run?\n", "At 7.<|endoftext|>")
    assert not cut and encoded.ids[-1] == gpt.end
    words = [("At 7."[start:end]) for start, end in encoded.offsets[encoded.text == REPLY]]
    assert "".join(words) == "At 7."


def test_the_chat_template_of_the_model_is_used(gpt):
    gpt.chat = ChatTemplate(CHATML)
    turns = [("user", "Hi"), ("assistant", "Yes?"), *ASKED]

    ((encoded, _cut),) = replied(gpt, turns, ["At 7."], 512)

    before, reply = parts(gpt, encoded)
    assert before == "<|user|>Hi\n<|assistant|>Yes?\n<|user|>When does the tram run?\n<|assistant|>"
    assert reply == "At 7.<|endoftext|>"


def test_the_name_of_a_special_token_is_text_in_a_reply(gpt):
    ((encoded, _cut),) = replied(gpt, ASKED, ["<|endoftext|>"], 512)

    assert encoded.ids.tolist().count(gpt.end) == 1


def test_a_long_prompt_loses_its_beginning_and_all_replies_follow_the_same(gpt):
    turns = [("user", "word " * 50 + "end")]
    whole = prompt_ids(gpt, turns)

    (short, cut), (long, _cut) = replied(gpt, turns, ["a", "one two three four"], 20)

    before = short.ids[short.text != REPLY].tolist()
    assert cut and before == long.ids[long.text != REPLY].tolist() == whole[-len(before) :]
    assert len(long) == 20 and long.ids[-1] == gpt.end


def test_a_long_reply_keeps_half_an_input_for_the_prompt(gpt):
    ((encoded, cut),) = replied(gpt, [("user", "word " * 50)], ["no " * 50], 20)

    assert cut and len(encoded) == 20
    assert (encoded.text == REPLY).sum() == 10


def test_an_empty_prompt_and_an_empty_reply_are_inputs_too(gpt):
    ((encoded, cut),) = replied(gpt, [("user", "")], [""], 20)

    assert len(encoded) >= 2 and not cut
    assert encoded.text.tolist()[-1] == REPLY
