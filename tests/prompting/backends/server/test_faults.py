"""Servers that answer wrongly: nothing hangs, what was answered stays, messages tell."""

import time

import pytest

from tests import faulty_server
from tests.faulty_server import JSON, completion, cut, events, slow, trickling
from workbench.base.errors import ModelError
from workbench.base.settings import Settings
from workbench.prompting import servers
from workbench.prompting.backends.server import scoring
from workbench.prompting.backends.server.backend import ServerBackend
from workbench.prompting.backends.server.client import RequestFailed
from workbench.prompting.backends.spec import GENERATE, STREAM
from workbench.prompting.generation import (
    CANCELLED,
    FAILED,
    STOP,
    USER,
    GenerationRequest,
    Message,
)
from workbench.prompting.servers import FORMAT, Probe, Server

pytestmark = pytest.mark.timeout(30)


@pytest.fixture
def serving(monkeypatch):
    """`serving(answer)` → a server and the backend that asks it; retries wait for milliseconds."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    opened = []

    def open_(answer, *, time_limit=5.0, concurrency=1, constraints=()):
        context = faulty_server.faulty_server(answer)
        server = context.__enter__()
        can = frozenset((GENERATE, STREAM))
        probes = {"m": Probe(can, constraints=frozenset(constraints))}
        listed = Server(
            server.address, probes=probes, time_limit=time_limit, concurrency=concurrency
        )
        Settings(servers={listed.address: listed.to_json()}).save()
        backend = ServerBackend(servers.model_path(server.address, "m"), {})
        opened.append((backend, context))
        return server, backend

    yield open_
    for backend, context in opened:
        backend.close()
        context.__exit__(None, None, None)


def asked(*texts):
    return [GenerationRequest(text=text) for text in texts]


def test_a_server_that_is_busy_is_asked_again_after_the_time_that_it_says(serving):
    def answer(number, _path, _body):
        return completion("ok") if number == 2 else (429, {"Retry-After": "0.2"}, b"")

    server, backend = serving(answer)
    start = time.monotonic()

    (reply,) = backend.generate(asked("a"))

    assert reply.text == "ok" and len(server.requests) == 3
    assert time.monotonic() - start > 0.4


def test_a_server_that_stays_busy_ends_the_work_and_keeps_what_was_answered(serving):
    _server, backend = serving(
        lambda _n, _p, body: (
            completion("ok") if body["prompt"] == "a" else (429, JSON, b'{"error": "slow down"}')
        )
    )
    arrived = []

    def keep(number, reply):
        arrived.append((number, reply.text))
        return True

    with pytest.raises(ModelError, match="Error 429.*: slow down. It accepts no more"):
        backend.generate(asked("a", "b", "c"), keep)

    assert arrived == [(0, "ok")]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ((500, JSON, b'{"error": {"message": "broken <b>"}}'), ": broken <b>"),
        (cut, "cut the connection before its reply was complete"),
        ((200, JSON, b'{"choices": ['), "The reply of the server is not JSON"),
        ((200, {"Content-Type": "text/html"}, b"<h1>Hello</h1>"), "is not JSON"),
        ((200, JSON, b"[" * 100_000), "is not JSON"),
        ({"choices": []}, "has no choices"),
        ({"choices": "text"}, "has no choices"),
        ({"object": "text_completion"}, "has no choices"),
        (completion("x" * 2_000_000), "longer than"),
        ((200, {**JSON, "Content-Encoding": "gzip"}, b"\x1f\x8b"), "was not read"),
        (slow(5), "No reply within 2 seconds"),
        (trickling, "No reply within 2 seconds"),
    ],
    ids="500 cut half html deep none text other long gzip slow trickling".split(),
)
def test_a_wrong_reply_fails_alone_with_a_message(serving, wrong, says):
    _server, backend = serving(
        lambda _n, _p, body: wrong if body["prompt"] == "bad" else completion("ok"), time_limit=2.0
    )

    first, bad, last = backend.generate(asked("a", "bad", "c"))

    assert (first.text, last.text) == ("ok", "ok")
    assert bad.finish == FAILED and says in bad.error


@pytest.mark.parametrize(
    "number", [10**400, 10**30, float("nan"), True, -1], ids="huge large nan bool negative".split()
)
def test_numbers_of_a_server_that_are_none_are_not_used(serving, number):
    place = {"token": "a", "id": number, "logprob": number, "top_logprobs": []}
    usage = {"prompt_tokens": number, "completion_tokens": number}
    whole = {**completion("ok", logprobs={"content": [place]}), "usage": usage}
    _server, backend = serving(lambda _n, _p, _b: whole)

    (reply,) = backend.generate(asked("a"))

    assert (reply.text, reply.prompt_tokens, reply.reply_tokens) == ("ok", 0, 0)


@pytest.mark.parametrize(
    "token",
    [
        {"id": 1, "piece": 2**62},
        {"id": 1, "piece": 100_000_000},
        {"id": float("inf"), "piece": "1"},
        {"id": 1, "piece": [256]},
        {"id": 1, "piece": ["a"]},
        {"id": 1, "piece": {"0": 1}},
        {"id": 1, "piece": "\ud800"},
    ],
)
def test_tokens_of_a_server_that_are_none_are_refused(serving, token):
    _server, backend = serving(lambda _n, _p, _b: {"tokens": [token]})

    with pytest.raises(RequestFailed, match="no tokens of a text"):
        backend._client.run(scoring.tokenize(backend._client, "1"))


def test_choices_in_json_that_is_nested_too_deeply_are_left_as_they_are(serving):
    reply = {"choices": [{"message": {"content": "[" * 100_000}, "finish_reason": "stop"}]}
    _server, backend = serving(lambda _n, _p, _b: reply, constraints={FORMAT})
    request = GenerationRequest(messages=(Message(USER, "x"),), choices=("a", "b"))

    (answer,) = backend.chat([request])

    assert answer.text == "[" * 100_000


def test_a_server_that_fails_on_and_on_is_given_up(serving):
    server, backend = serving(lambda _n, _p, _b: {"choices": []})

    with pytest.raises(ModelError, match="no choices"):
        backend.generate(asked(*"abcdefghijklmnop"))

    assert len(server.requests) == 8


def test_a_server_that_is_gone_is_named(serving):
    server, backend = serving(lambda _n, _p, _b: completion("ok"))
    server.close()

    with pytest.raises(ModelError, match=r"The server at 127.0.0.1:\d+ cannot be reached"):
        backend.generate(asked("a"))


def test_a_redirect_is_not_followed(serving):
    with faulty_server.faulty_server(lambda _n, _p, _b: completion("elsewhere")) as other:
        to = (307, {"Location": f"{other.address}/completions"}, b"")
        _server, backend = serving(lambda _n, _p, _b: to)

        with pytest.raises(ModelError, match="redirects to another address"):
            backend.generate(asked("a"))

        assert other.requests == []


def test_no_request_is_begun_after_cancel_and_those_before_are_kept(serving):
    server, backend = serving(lambda n, _p, _b: completion(str(n)))

    replies = backend.generate(asked("a", "b", "c", "d"), lambda number, _reply: number < 1)

    assert [reply.finish for reply in replies] == [STOP, STOP, CANCELLED, CANCELLED]
    assert len(server.requests) == 2


def test_so_many_requests_are_sent_at_once(serving):
    running, most = [0], [0]

    def answer(_number, _path, _body):
        def write(handler):
            running[0] += 1
            most[0] = max(most[0], running[0])
            slow(0.1)(handler)
            running[0] -= 1

        return write

    _server, backend = serving(answer, concurrency=3)

    backend.generate(asked(*"abcdefgh"))

    assert most[0] == 3


def part(text):
    return {"choices": [{"text": text}]}


def test_a_stream_gives_tokens_and_its_reply(serving):
    usage = {"choices": [], "usage": {"prompt_tokens": 7}}
    _server, backend = serving(lambda _n, _p, _b: events(part("a"), part("b"), usage))
    stream = backend.stream(GenerationRequest(text="x"))
    tokens = []
    while True:
        try:
            tokens.append(next(stream).text)
        except StopIteration as end:
            reply = end.value
            break

    assert tokens == ["a", "b"]
    assert (reply.text, reply.finish, reply.prompt_tokens, reply.reply_tokens) == ("ab", STOP, 7, 2)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (events(part("a"), "{no json"), "not JSON"),
        (events(part("a"), "[" * 100_000), "not JSON"),
        (events(part("a"), b"\xff\xfe"), "not JSON"),
        (events(part("a"), {"error": {"message": "out of memory"}}), "out of memory"),
        ((500, JSON, b"{}"), "Error 500"),
        (events(*[part("a" * 1000)] * 2000), "longer than"),
    ],
    ids=["json", "deep", "bytes", "error", "status", "long"],
)
def test_a_stream_that_fails_keeps_what_came_and_says_why(serving, answer, says):
    _server, backend = serving(lambda _n, _p, _b: answer)

    ((_n, reply),) = [*_ended(backend.streams([GenerationRequest(text="x")]))]

    assert reply.finish == FAILED and says in reply.error


def _ended(stream):
    while True:
        try:
            next(stream)
        except StopIteration as end:
            yield from enumerate(end.value)
            return


def test_a_stream_that_is_closed_ends_the_request(serving):
    def forever(handler):
        events(*[part("a")] * 3, end=False)(handler)
        time.sleep(2)

    _server, backend = serving(lambda _n, _p, _b: forever)
    stream = backend.stream(GenerationRequest(text="x"))
    next(stream)
    start = time.monotonic()

    stream.close()

    assert time.monotonic() - start < 1


def test_variables_of_another_server_are_not_sent(serving, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Other: secret")
    server, backend = serving(lambda _n, _p, _b: completion("ok"))

    backend.generate(asked("a"))

    assert "secret" not in "".join(str(headers) for _path, _body, headers in server.requests)
