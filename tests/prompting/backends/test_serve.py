"""Prompts answered by a backend: the job, the host, and answers that break the contract."""

import json
import math
import time

import pytest

from workbench.base.errors import ModelError
from workbench.base.paths import resource
from workbench.prompting import transcript
from workbench.prompting.backends import serve
from workbench.prompting.backends.base import Backend, PromptRefused
from workbench.prompting.backends.spec import CHAT, GENERATE, BackendInfo, PromptModel
from workbench.prompting.base import Prompt
from workbench.prompting.generation import CANCELLED, FAILED, Message, Reply


class Info(BackendInfo):
    id, title = "made-up", "Made up"

    def models(self, at_hand):
        return [PromptModel("one", "one")]


class Answers(Backend):
    """Gives what the test says."""

    info = Info()

    def __init__(self, model, options):
        self.given, self.closed = options["given"], False

    def score(self, prompts):
        return self.given and self.given[: len(prompts)]

    def close(self):
        self.closed = True


TABLES = [{"a": Prompt("It is ", "a", "."), "b": Prompt("It is ", "b", ".")}]


def test_answers_go_to_their_labels():
    backend = Answers("one", {"given": [[-1.0, -2.0], []]})

    assert serve.scored(backend, TABLES) == [{"a": [-1.0, -2.0], "b": []}]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([[-1.0]], "made-up returned 1 of 2 prompts"),
        (None, "made-up returned NoneType, expected a list of lists"),
        ([-1.0, -2.0], "made-up returned float for a prompt, expected numbers"),
        ([[-1.0], [0.5]], "made-up returned 0.5, which is not a log-probability"),
        ([[-1.0], [math.nan]], "made-up returned nan, which is not a log-probability"),
    ],
)
def test_answers_that_break_the_contract_name_the_backend(given, says):
    with pytest.raises(ModelError, match=says):
        serve.scored(Answers("one", {"given": given}), TABLES)


def write(folder, *lines):
    """The params of a job with these requests."""
    lines = [{"document_id": n, "key": f"k{n}", **line} for n, line in enumerate(lines, start=1)]
    return {"model": "", "prompts": transcript.write_prompts(folder, map(json.dumps, lines))}


def run(job, *, stop_after=0):
    """(progress, result) of a job that is stopped after so many reports of progress."""
    progress, sent = [], None
    try:
        while True:
            event = job.send(sent)
            if event["kind"] == "progress":
                progress.append(event)
            sent = "stop" if stop_after and len(progress) == stop_after else None
    except StopIteration as end:
        return progress, end.value


def test_a_job_closes_its_backend_after_an_error_too(tmp_path, monkeypatch):
    backend = Answers("one", {"given": []})
    monkeypatch.setattr(serve, "load", lambda _params: backend)
    params = write(tmp_path, {"parts": ["x"], "prompts": {"a": [0, 0, 0]}})

    with pytest.raises(ModelError):
        run(serve.answer_prompts(params, tmp_path))

    assert backend.closed


def test_the_job_writes_a_line_for_each_document_and_reports(tmp_path):
    pytest.importorskip("torch")
    parts = ["Late. About ", "delay", "praise", "."]
    line = {"parts": parts, "prompts": {"delay": [0, 1, 3], "praise": [0, 2, 3]}, "set": 0}
    prior = {**line, "document_id": None}
    params = {
        **write(tmp_path, prior, *[line] * 10),
        "model": str(resource("models") / "starter-bert"),
        "device": "cpu",
    }

    progress, result = run(serve.answer_prompts(params, tmp_path))

    answers = transcript.answers(tmp_path)
    assert result["n"] == len(answers) - 1 == 10 and result["language_model"] == "masked"
    assert [(event["done"], event["total"]) for event in progress] == [(7, 10), (10, 10)]
    assert set(answers[1]["logprobs"]) == {"delay", "praise"} and answers[4]["document_id"] == 5
    assert answers[0]["document_id"] is None and "parts" not in answers[0]
    assert result["seconds"] >= sum(answer["seconds"] for answer in answers.values()) > 0


class Refuses(Answers):
    """Refuses the prompts that contain one of its words."""

    def score(self, prompts):
        if any(word in prompt.before for prompt in prompts for word in self.given):
            raise PromptRefused("Error 400: too long.")
        return [[-1.0] for _prompt in prompts]


def scored_job(folder, monkeypatch, *texts, refused):
    monkeypatch.setattr(serve, "load", lambda _params: Refuses("one", {"given": refused}))
    lines = [{"parts": [text, "a"], "prompts": {"a": [0, 1, 1]}, "set": 0} for text in texts]
    lines[0]["document_id"] = None
    return serve.answer_prompts(write(folder, *lines), folder)


def test_a_prompt_that_is_refused_fails_alone(tmp_path, monkeypatch):
    texts = ["", "one", "a very long text", "three"]

    _progress, result = run(scored_job(tmp_path, monkeypatch, *texts, refused=["long"]))

    answers = transcript.answers(tmp_path)
    assert [("logprobs" in answer, transcript.failed(answer)) for answer in answers.values()] == [
        (True, False), (True, False), (False, True), (True, False),
    ]  # fmt: skip
    assert answers[2]["replies"][0]["error"] == "Error 400: too long."
    assert (result["n"], result["failed"]) == (3, 1)


def test_a_job_ends_where_all_prompts_are_refused_or_one_of_calibration(tmp_path, monkeypatch):
    texts = ["", *["long"] * 40]
    with pytest.raises(ModelError, match="Error 400: too long"):
        run(scored_job(tmp_path, monkeypatch, *texts, refused=["long"]))
    assert len(transcript.answers(tmp_path)) < 40

    (tmp_path / "other").mkdir()
    with pytest.raises(ModelError, match="Error 400: too long"):
        run(scored_job(tmp_path / "other", monkeypatch, "long", "one", refused=["long"]))


class Writer(Answers):
    """Replies with what it was sent; `given` limits how many of one call. `log`: the requests."""

    can = frozenset((GENERATE, CHAT))

    def __init__(self, given=1000, fails=()):
        super().__init__("one", {"given": given})
        self.fails, self.log = fails, []

    def generate(self, requests, on_reply=None):
        replies = [Reply(finish=CANCELLED)] * len(requests)
        for at, request in enumerate(requests[: self.given]):
            self.log.append(request)
            failed = request.text in self.fails
            text = request.text or request.messages[-1].content
            replies[at] = Reply("" if failed else text, FAILED if failed else "stop", (), 5, 2)
            if on_reply and not on_reply(at, replies[at]):
                break
        return replies

    chat = generate


@pytest.fixture
def writing(tmp_path, monkeypatch):
    """writing(backend, *texts) → params of a job that sends them to the backend."""

    def make(backend, *lines, **decoding):
        monkeypatch.setattr(serve, "load", lambda _params: backend)
        lines = [{"parts": [text], "text": 0, "key": f"of {text}"} for text in lines]
        return {**write(tmp_path, *lines), "decoding": decoding}

    return make


def replies(folder):
    return {n: [r["text"] for r in a["replies"]] for n, a in transcript.answers(folder).items()}


def test_replies_are_written_as_they_arrive_and_equal_requests_sent_once(tmp_path, writing):
    backend = Writer(given=2)

    progress, result = run(serve.answer_prompts(writing(backend, "a", "b", "a", "c"), tmp_path))

    assert [request.text for request in backend.log] == ["a", "b", "c"]
    assert replies(tmp_path) == {0: ["a"], 1: ["b"], 2: ["a"], 3: ["c"]}
    assert [(event["done"], event["reply_tokens"]) for event in progress] == [(3, 6), (4, 8)]
    assert (result["n"], result["known"]) == (4, 1)
    assert (result["prompt_tokens"], result["sent_prompt_tokens"]) == (20, 15)


def test_the_time_of_loading_is_that_of_the_run_and_of_no_answer(tmp_path, writing, monkeypatch):
    params = writing(Writer(), "a", "b")
    clock = iter(range(0, 10_000, 100))
    monkeypatch.setattr(serve.time, "monotonic", lambda: next(clock))
    loaded = serve.load

    def load(params):
        for _tick in range(20):
            next(clock)
        return loaded(params)

    monkeypatch.setattr(serve, "load", load)
    _progress, result = run(serve.answer_prompts(params, tmp_path))

    assert result["seconds"] - result["answer_seconds"] >= 2000


def test_samples_have_seeds_of_their_own_and_one_answer(tmp_path, writing):
    backend = Writer(given=2)

    run(serve.answer_prompts(writing(backend, "a", "b", samples=3, seed=7), tmp_path))

    assert replies(tmp_path) == {0: ["a"] * 3, 1: ["b"] * 3}
    assert [request.decoding.seed for request in backend.log] == [7, 8, 9] * 2


def test_a_conversation_is_sent_as_messages_with_what_restricts_it(tmp_path, writing):
    backend = Writer()
    line = {"parts": ["Be brief.", "Late?", "yes", "no"], "choices": [2, 3]}
    line["messages"] = [["system", 0], ["user", 1]]
    params = {**writing(backend), **write(tmp_path, line)}

    run(serve.answer_prompts(params, tmp_path))

    [request] = backend.log
    assert request.messages == (Message("system", "Be brief."), Message("user", "Late?"))
    assert request.choices == ("yes", "no") and request.decoding.samples == 1
    assert replies(tmp_path) == {0: ["Late?"]}


def test_a_job_that_is_stopped_while_the_model_is_loaded_asks_nothing(tmp_path, writing):
    job = serve.answer_prompts(writing(Writer(), "a", "b"), tmp_path)
    assert next(job)["kind"] == "log"

    with pytest.raises(StopIteration) as end:
        job.send("stop")

    assert end.value.value["n"] == 0 and transcript.answers(tmp_path) == {}


def test_a_stopped_job_goes_on_where_it_ended_and_asks_again_what_failed(tmp_path, writing):
    first, second = Writer(given=2, fails=("b",)), Writer()
    texts = ("a", "b", "c", "d")

    _progress, result = run(serve.answer_prompts(writing(first, *texts), tmp_path), stop_after=1)
    assert (result["n"], result["failed"]) == (2, 1)
    with (tmp_path / "answers.jsonl").open("a") as file:
        file.write('{"line": 2, "repl')  # its worker was killed
    _progress, result = run(serve.answer_prompts(writing(second, *texts), tmp_path))

    assert [request.text for request in second.log] == ["b", "c", "d"]
    assert replies(tmp_path) == {0: ["a"], 1: ["b"], 2: ["c"], 3: ["d"]}
    assert (result["n"], result["failed"], result["known"]) == (4, 0, 0)


def test_samples_of_an_unfinished_request_are_not_sent_again(tmp_path, writing):
    first, second = Writer(given=2), Writer()

    run(serve.answer_prompts(writing(first, "a", samples=3, seed=7), tmp_path), stop_after=1)
    assert transcript.answers(tmp_path) == {} and list(transcript.samples(tmp_path)[0]) == [0, 1]
    run(serve.answer_prompts(writing(second, "a", samples=3, seed=7), tmp_path))

    assert [request.decoding.seed for request in first.log + second.log] == [7, 8, 9]
    assert replies(tmp_path) == {0: ["a", "a", "a"]}


def test_a_second_worker_of_a_run_waits_for_the_first(tmp_path, writing, monkeypatch):
    monkeypatch.setattr(transcript, "WAIT", 0.3)
    start = time.monotonic()

    with transcript.alone(tmp_path), transcript.alone(tmp_path):  # the first does not end in time
        assert time.monotonic() - start >= 0.3
    with transcript.alone(tmp_path):
        assert time.monotonic() - start < 5


def test_a_run_whose_answers_are_all_known_loads_no_model(tmp_path, writing):
    params = writing(Writer(), "a")
    run(serve.answer_prompts(params, tmp_path))

    progress, result = run(serve.answer_prompts({**params, "backend": "none"}, tmp_path))

    assert progress == [] and result["n"] == 1


@pytest.mark.parametrize("given", [None, [], [None]])
def test_replies_that_break_the_contract_name_the_backend(tmp_path, writing, given, monkeypatch):
    backend = Writer()
    monkeypatch.setattr(backend, "generate", lambda _requests, _on_reply: given)

    with pytest.raises(ModelError, match="made-up returned"):
        run(serve.answer_prompts(writing(backend, "a"), tmp_path))


def test_a_backend_that_answers_nothing_ends_the_job(tmp_path, writing):
    with pytest.raises(ModelError, match="did not answer 1 request"):
        run(serve.answer_prompts(writing(Writer(given=0), "a"), tmp_path))


def test_the_host_answers_one_document():
    pytest.importorskip("torch")
    answer = serve.open_backend({"model": str(resource("models") / "starter-gpt"), "device": "cpu"})

    table = {"delay": ["About ", "delay", "."]}
    result = answer({"prompts": [table, {"delay": ["Late. About ", "delay", "."]}]})

    assert result["language_model"] == "causal"
    assert result["logprobs"][0]["delay"][0] < 0 and result["logprobs"][0] != result["logprobs"][1]


def test_the_host_writes_a_reply_in_parts():
    pytest.importorskip("torch")
    answer = serve.open_backend({"model": str(resource("models") / "starter-gpt"), "device": "cpu"})
    request = {"text": "Late.", "decoding": {"max_tokens": 5}}

    parts = [answer({"write": [request], "stream": 1})]
    while parts[-1]["replies"] is None:
        parts.append(answer({"stream": 1}))

    written = [token["text"] for part in parts for _number, token in part["tokens"]]
    assert "".join(written) == parts[-1]["replies"][0]["text"] and len(written) == 5


def test_a_stream_that_was_stopped_or_replaced_writes_no_more():
    pytest.importorskip("torch")
    answer = serve.open_backend({"model": str(resource("models") / "starter-gpt"), "device": "cpu"})
    request = {"text": "Late.", "decoding": {"max_tokens": 400}}
    nothing = {"tokens": [], "replies": []}

    answer({"write": [request], "stream": 1})
    assert answer({"write": [request], "stream": 2})["replies"] is None
    assert answer({"stream": 1, "end": True}) == nothing and answer({"stream": 2})["tokens"]
    assert answer({"stream": 2, "end": True}) == nothing
