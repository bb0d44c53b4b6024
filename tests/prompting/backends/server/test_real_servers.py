"""Servers as they are: what they can do, and that they give what a model on this computer gives."""

import json

import pytest

from tests.prompting.backends.server.conftest import STARTER
from workbench.base.errors import ModelError
from workbench.base.settings import Settings
from workbench.prompting import servers
from workbench.prompting.backends.local.backend import LocalBackend
from workbench.prompting.backends.local.info import INFO as LOCAL
from workbench.prompting.backends.server import probe
from workbench.prompting.backends.server.backend import ServerBackend
from workbench.prompting.backends.server.info import INFO
from workbench.prompting.backends.spec import (
    ABILITIES,
    CHAT,
    GENERATE,
    SCHEMA,
    SCORE,
    STREAM,
    TOKEN_PROBABILITIES,
    PromptModel,
)
from workbench.prompting.base import Prompt
from workbench.prompting.generation import LENGTH, STOP, USER, GenerationRequest, Message
from workbench.prompting.servers import FORCED, Probe, Server
from workbench.prompting.spec import Decoding

pytestmark = [pytest.mark.process, pytest.mark.timeout(180)]

TEXT = "The tram was late again. Topic:"
PROBES = {}  # address → what its model can do
SHORT = Decoding(max_tokens=8)
LABELS = (
    " delay",
    " crowding",
    " accessibility",
    " not so praise-worthy",
    " Verspätung ☃",
    " 遅延",
)


def local(folder=STARTER):
    options = {"device": "cpu", "allow_pickle": False, "weights": "full"}
    return LocalBackend(str(folder), options)


def probed(address, model=""):
    """What the job of a test returns."""
    steps = probe.probe_server({"address": address, "model": model, "time_limit": 60.0}, None)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


@pytest.fixture
def asking():
    """`asking(address, model)` → its backend, closed at the end. A model is tried once."""
    opened = []

    def open_(address, model):
        if address not in PROBES:
            PROBES[address] = Probe.from_json(probed(address, str(model))["probe"])
        listed = Server(address, probes={str(model): PROBES[address]})
        Settings(servers={address: listed.to_json()}).save()
        opened.append(ServerBackend(servers.model_path(address, str(model)), {}))
        return opened[-1]

    yield open_
    for backend in opened:
        backend.close()


# ---------------------------------------------------------------- llama.cpp


@pytest.fixture
def llama(llama_cpp, asking):
    return asking(llama_cpp, "starter-gpt")


def test_a_test_of_llama_cpp_finds_what_it_can_do(llama_cpp):
    result = probed(llama_cpp)
    found = Probe.from_json(result["probe"])

    assert found.can == frozenset(ABILITIES) and found.scoring == FORCED
    assert result["program"] == "llama.cpp" and len(result["models"]) == 1
    assert found.context == 512 and found.tokenizes


def test_prompts_are_counted_as_llama_cpp_does_and_fit_up_to_its_limit(llama, llama_cpp):
    model = PromptModel("starter-gpt", servers.model_path(llama_cpp, "starter-gpt"))
    measure, here = INFO.measure(model, {}), LOCAL.measure(PromptModel("", str(STARTER)), {})
    texts = [TEXT, "Verspätung ☃ 遅延", TEXT * 20, TEXT]

    assert measure.limit == 512 and [*measure.sends(texts)] == [*here.count(texts)]
    before = " late" * (measure.limit - 1)
    assert [*measure.sends([f"{before} delay"])] == [measure.limit]
    ((logprob,),) = llama.score([Prompt(before, " delay", "")])
    assert logprob < 0


def test_label_words_have_the_same_log_probabilities_through_llama_cpp(llama):
    prompts = [Prompt(before, label, "") for before in (TEXT, "Über") for label in LABELS]

    remote, here = llama.score(prompts), local().score(prompts)

    assert [len(values) for values in remote] == [len(values) for values in here]
    for values, expected in zip(remote, here, strict=True):
        assert values == pytest.approx(expected, abs=1e-3)


def test_llama_cpp_writes_what_the_local_model_writes(llama):
    requests = [GenerationRequest(text=text, decoding=SHORT) for text in (TEXT, "In 1999 the")]

    remote, here = llama.generate(requests), local().generate(requests)

    assert [reply.text for reply in remote] == [reply.text for reply in here]
    assert remote[0].finish == LENGTH and remote[0].reply_tokens == 8
    for token, expected in zip(remote[0].tokens, here[0].tokens, strict=True):
        assert token.logprob == pytest.approx(expected.logprob, abs=1e-3)


def test_a_reply_of_llama_cpp_goes_on_from_its_beginning(llama):
    said = (Message(USER, TEXT),)
    (whole,) = llama.chat([GenerationRequest(messages=said, decoding=SHORT)])
    begin = whole.tokens[0].text

    (rest,) = llama.chat([GenerationRequest(messages=said, begin=begin, decoding=SHORT)])
    (text,) = llama.generate([GenerationRequest(text=TEXT[:-6], begin=TEXT[-6:], decoding=SHORT)])

    assert whole.text.startswith(begin) and rest.text.startswith(whole.text[len(begin) :])
    assert text.text == llama.generate([GenerationRequest(text=TEXT, decoding=SHORT)])[0].text


def test_a_stream_of_llama_cpp_is_its_reply_in_parts(llama):
    request = GenerationRequest(text=TEXT, decoding=SHORT)

    tokens = list(llama.stream(request))

    (reply,) = llama.generate([request])
    assert "".join(token.text for token in tokens) == reply.text and len(tokens) > 4


def test_llama_cpp_keeps_to_choices_and_to_a_schema(llama):
    said = (Message(USER, TEXT),)
    schema = {
        "type": "object",
        "properties": {"topic": {"type": "string", "enum": ["delay", "praise"]}},
        "required": ["topic"],
        "additionalProperties": False,
    }
    long = Decoding(max_tokens=100)
    choices = ("a delay", "praise")

    (chosen,) = llama.chat([GenerationRequest(messages=said, choices=choices, decoding=long)])
    (written,) = llama.generate([GenerationRequest(text=TEXT, choices=choices, decoding=long)])
    (described,) = llama.chat([GenerationRequest(messages=said, schema=schema, decoding=long)])

    assert chosen.text in choices and written.text in choices and chosen.finish == STOP
    assert json.loads(described.text)["topic"] in ("delay", "praise")


# ---------------------------------------------------------------- transformers serve


@pytest.fixture
def serve(transformers_serve, starter_with_chat, asking):
    return asking(transformers_serve, starter_with_chat)


def test_a_test_of_transformers_serve_finds_what_it_lacks(transformers_serve, starter_with_chat):
    """It ignores `logprobs`, `echo` and `response_format`."""
    found = Probe.from_json(probed(transformers_serve, str(starter_with_chat))["probe"])

    assert found.can == {GENERATE, CHAT, STREAM}
    assert not found.can & {SCORE, TOKEN_PROBABILITIES, SCHEMA}


def test_transformers_serve_writes_what_the_local_model_writes(serve, starter_with_chat):
    """It gives no probabilities, so that its replies are compared."""
    requests = [GenerationRequest(text=TEXT, decoding=SHORT)]
    chats = [GenerationRequest(messages=(Message(USER, TEXT),), decoding=SHORT)]

    here = local(starter_with_chat)

    assert serve.generate(requests)[0].text == here.generate(requests)[0].text
    assert serve.chat(chats)[0].text == here.chat(chats)[0].text
    assert "".join(token.text for token in serve.stream(chats[0])) == here.chat(chats)[0].text


def test_scores_of_transformers_serve_are_refused_with_the_reason(serve):
    with pytest.raises(ModelError, match="no probabilities of given answers"):
        serve.score([Prompt(TEXT, " delay", "")])
