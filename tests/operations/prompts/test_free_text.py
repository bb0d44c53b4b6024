"""Free text: settings, samples, and what is kept of them."""

import pytest

from workbench.base.errors import SpecError
from workbench.base.watch import Watch
from workbench.operations.annotation import annotate
from workbench.operations.prompts import free_text
from workbench.operations.schema import labels
from workbench.prompting.backends.spec import PromptModel
from workbench.prompting.base import Labels, Request
from workbench.prompting.generation import (
    ASSISTANT,
    CANCELLED,
    USER,
    GenerationRequest,
    Message,
    Reply,
    ReplyToken,
)
from workbench.prompting.template import Template
from workbench.storage.documents import documents


def test_settings_are_read_from_text():
    decoding = free_text.decoding({"temperature": "0.5", "stop": "\\n | END", "samples": "2"})

    assert decoding.stop == ("\n", "END") and decoding.temperature == 0.5
    assert [request.decoding.seed for request in free_text.requests(decoding, text="a")] == [1, 2]


def test_a_setting_out_of_range_is_refused():
    with pytest.raises(SpecError, match="samples"):
        free_text.decoding({"samples": "99"})


@pytest.mark.parametrize(("chat", "says"), [(True, "no chat template"), (False, "continue texts")])
def test_a_model_that_only_scores_cannot_write(chat, says):
    with pytest.raises(SpecError, match=says):
        free_text.check(PromptModel("bert", "path"), chat=chat)


class Answers:
    """A host that writes a token per part."""

    def __init__(self, tokens):
        self.tokens, self.asked = tokens, []

    def ask_now(self, request, timeout, *, kind):
        self.asked.append(request)
        if "end" in request or not self.tokens:
            return {"tokens": [], "replies": [Reply("ab").to_json()]}
        return {"tokens": [[0, ReplyToken(self.tokens.pop(0)).to_json()]], "replies": None}


def test_tokens_arrive_in_parts_until_the_reply_is_complete():
    parts = []

    replies = free_text.write(
        Answers(["a", "b"]), free_text.requests(free_text.decoding({}), text="x"), parts.append
    )

    assert [token.text for part in parts for _number, token in part] == ["a", "b"]
    assert replies == (Reply("ab"),)


def test_a_cancelled_reply_keeps_what_was_written():
    host, watch = Answers(["a", "b", "c"]), Watch()

    (reply,) = free_text.write(
        host,
        free_text.requests(free_text.decoding({}), text="x"),
        lambda _tokens: watch.cancel(),
        watch=watch,
    )

    assert (reply.text, reply.finish) == ("a", CANCELLED) and host.asked[-1]["end"]


def test_generated_documents_say_how_they_were_written(project):
    decoding = free_text.decoding({"temperature": "0.5"})
    written = [free_text.Written("Once", f"Once upon {n}", n) for n in (1, 2)]

    first = free_text.save_documents(project, written[:1], "starter-gpt", decoding)
    second = free_text.save_documents(project, written[1:], "starter-gpt", decoding)

    one, two = (documents.get(project.db, ids[0]) for ids in (first, second))
    assert (one.key, two.key, two.text) == ("generated-1", "generated-2", "Once upon 2")
    assert two.meta["generated_by"] == "starter-gpt" and two.meta["generated_after"] == "Once"
    assert (two.meta["seed"], two.meta["temperature"]) == (2, 0.5)
    project.undo()
    assert documents.by_key(project.db, "generated-2") is None


def test_samples_become_a_document_whose_better_answer_is_chosen(project):
    turns = (Message(USER, "Hi"), Message(ASSISTANT, "Yes?"), Message(USER, "When?"))
    request = GenerationRequest(messages=turns, decoding=free_text.decoding({}))

    first, layer = free_text.save_comparison(project, request, ("At 7.", "Often."), "gpt")
    second, same = free_text.save_comparison(
        project, GenerationRequest("It is"), ("late", "full", "here"), "gpt"
    )

    one, two = (documents.get(project.db, id) for id in (first, second))
    assert one.prompt == "User: Hi\n\nAssistant: Yes?\n\nUser: When?"
    assert one.choices == ("At 7.", "Often.") and one.meta["generated_by"] == "gpt"
    assert (two.prompt, two.choices) == ("It is", ("late", "full", "here"))
    assert layer == same == "preference"
    (kept,) = [item for item in labels.layers(project) if item.traits.compares]
    annotate.choose(project, second, kept.id, 3)
    for _step in range(3):
        project.undo()
    assert documents.by_key(project.db, "generated-1") is None
    assert not [item for item in labels.layers(project) if item.traits.compares]


def test_an_exchange_becomes_a_template_that_writes_it_as_it_was():
    turns = (Message(USER, "What is {{ this }}?"), Message(ASSISTANT, "A {% tag %}."))
    source = free_text.as_template("", turns)

    (prompt,) = Template(source).fill(Request("Hello", "", (), ("x",)), Labels(("x",)))

    assert "What is {{ this }}?" in prompt.before and "A {% tag %}." in prompt.before
    assert "Hello" in prompt.before
