"""Prompts answered by a backend: the job, the host, and answers that break the contract."""

import json
import math

import pytest

from workbench.base.errors import ModelError
from workbench.base.paths import resource
from workbench.prompting.backends import serve
from workbench.prompting.backends.base import Backend
from workbench.prompting.backends.spec import BackendInfo, PromptModel
from workbench.prompting.base import Prompt


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


def test_a_job_closes_its_backend_after_an_error_too(tmp_path, monkeypatch):
    backend = Answers("one", {"given": []})
    monkeypatch.setattr(serve, "load", lambda _params: backend)
    (tmp_path / "prompts.jsonl").write_text(
        json.dumps({"document_id": 1, "parts": ["x"], "prompts": {"a": [0, 0, 0]}})
    )

    with pytest.raises(ModelError):
        list(serve.score_prompts({"model": "", "prompts": tmp_path / "prompts.jsonl"}, tmp_path))

    assert backend.closed


def test_the_job_writes_a_line_for_each_document_and_reports(tmp_path):
    pytest.importorskip("torch")
    given = tmp_path / "prompts.jsonl"
    parts = ["Late. About ", "delay", "praise", "."]
    line = {"document_id": 4, "text_hash": "x", "split": "dev", "cut": False, "parts": parts}
    line["prompts"] = {"delay": [0, 1, 3], "praise": [0, 2, 3]}
    prior = {"document_id": None, "set": 0, "parts": parts, "prompts": line["prompts"]}
    given.write_text(json.dumps(prior) + "\n" + (json.dumps({**line, "set": 0}) + "\n") * 10)

    job = serve.score_prompts(
        {"model": str(resource("models") / "starter-bert"), "prompts": str(given), "device": "cpu"},
        tmp_path,
    )
    events = []
    try:
        while True:
            events.append(next(job))
    except StopIteration as end:
        result = end.value

    written = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    assert result["n"] == len(written) - 1 == 10 and result["language_model"] == "masked"
    assert [(event["done"], event["total"]) for event in events if event["kind"] == "progress"] == [
        (7, 10),
        (10, 10),
    ]
    assert set(written[1]["logprobs"]) == {"delay", "praise"} and written[1]["document_id"] == 4
    assert written[0]["document_id"] is None and [row["set"] for row in written] == [0] * 11


def test_the_host_answers_one_document():
    pytest.importorskip("torch")
    answer = serve.open_scorer({"model": str(resource("models") / "starter-gpt"), "device": "cpu"})

    table = {"delay": ["About ", "delay", "."]}
    result = answer({"prompts": [table, {"delay": ["Late. About ", "delay", "."]}]})

    assert result["language_model"] == "causal"
    assert result["logprobs"][0]["delay"][0] < 0 and result["logprobs"][0] != result["logprobs"][1]
