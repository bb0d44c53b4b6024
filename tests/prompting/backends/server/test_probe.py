"""What is found out about servers of other kinds, and how they are then asked."""

import json

import pytest
from transformers import AutoTokenizer

from tests.faulty_server import events, faulty_server
from workbench.base.errors import ModelError
from workbench.base.paths import resource
from workbench.base.settings import Settings
from workbench.prompting import servers
from workbench.prompting.backends.server.backend import ServerBackend
from workbench.prompting.backends.server.info import INFO
from workbench.prompting.backends.spec import (
    CHAT,
    SCHEMA,
    STREAM,
    TOKEN_PROBABILITIES,
    PromptModel,
)
from workbench.prompting.base import Prompt
from workbench.prompting.generation import USER, GenerationRequest, Message
from workbench.prompting.servers import Probe, Server

pytestmark = pytest.mark.timeout(30)
REFUSED = 400, {"Content-Type": "application/json"}


def hosted(number, path, body):
    """A hosted server: conversations alone, without probabilities, with its own name of a limit."""
    if not path.endswith("/chat/completions"):
        return (404, {}, b"")
    for name, advice in (("max_tokens", "use max_completion_tokens"), ("logprobs", "unsupported")):
        if name in body:
            return (*REFUSED, json.dumps({"error": {"message": f"{name}: {advice}"}}).encode())
    text = "free text"
    if "response_format" in body:
        described = body["response_format"]["json_schema"]["schema"]["properties"]
        text = json.dumps({name: values["enum"][0] for name, values in described.items()})
    if body.get("stream"):
        return events({"choices": [{"delta": {"content": text}}]})
    message = {"role": "assistant", "content": text}
    return {"choices": [{"message": message, "finish_reason": "stop"}]}


@pytest.fixture
def backend(monkeypatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    with faulty_server(hosted) as server:
        backend = ServerBackend(servers.model_path(server.address, "m"), {})
        backend.sent = server.requests
        yield backend
        backend.close()


def test_a_model_that_was_not_tested_is_when_it_is_loaded(backend):
    assert backend.can == {CHAT, SCHEMA, STREAM} and TOKEN_PROBABILITIES not in backend.can


def test_choices_are_wrapped_in_an_object_where_only_schemas_are_kept_to(backend):
    said = (Message(USER, "Which?"),)

    (reply,) = backend.chat([GenerationRequest(messages=said, choices=("praise", "delay"))])

    assert reply.text == "praise"
    body = backend.sent[-1][1]
    assert body["max_completion_tokens"] == 64 and "max_tokens" not in body
    assert "logprobs" not in body and "grammar" not in body


def test_prompts_are_fitted_to_the_context_that_the_server_told():
    path = "http://127.0.0.1:1/v1#m"
    probes = {"m": Probe(context=900)}
    listed = Server("http://127.0.0.1:1/v1", probes=probes)
    Settings(servers={listed.address: listed.to_json()}).save()

    measure = INFO.measure(PromptModel("m", path), {})

    assert measure.limit == 900
    tokenizer = AutoTokenizer.from_pretrained(resource("models") / "starter-gpt")
    for text in ("@andy I just love to wait in the rain :)\n", "Bus: 2 minutes\n"):
        (estimate,) = measure.count([text * 9])
        assert len(tokenizer(text * 9)["input_ids"]) <= estimate
    assert INFO.measure(PromptModel("x", "http://127.0.0.1:1/v1#x"), {}).limit > 2000


def test_what_a_server_cannot_do_is_said(backend):
    with pytest.raises(ModelError, match="cannot restrict a reply"):
        backend.generate([GenerationRequest(text="Which?", choices=("praise", "delay"))])
    with pytest.raises(ModelError, match="no probabilities of given answers"):
        backend.score([Prompt("Which?", " delay", "")])
    with pytest.raises(ModelError, match="Error 404 of the server"):
        backend.generate([GenerationRequest(text="Which?")])


@pytest.mark.parametrize(
    "answer", [(500, {}, b""), {"no": "tokens"}, (200, {}, b"["), (200, {}, b"9" * 2_000_000)]
)
def test_a_server_that_fails_to_count_is_not_asked_again(answer):
    with faulty_server(lambda *_request: answer) as server:
        probes = {"m": Probe(context=900, tokenizes=True)}
        Settings(servers={server.address: Server(server.address, probes=probes).to_json()}).save()
        path = servers.model_path(server.address, "m")
        measure = INFO.measure(PromptModel("m", path), {})

        counts = [measure.sends([text]) for text in ("some text", "more text")]

    assert counts == [measure.count(["some text"]), measure.count(["more text"])]
    assert len(server.requests) == 1
