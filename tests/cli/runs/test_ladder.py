"""Output of `ladder` with small models: JSON by its schema, and the repeated command."""

import pytest

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]


@pytest.fixture
def climb(ask, tmp_path, tiny_model, jobs_in_process):
    sample = ask("sample", "sample", tmp_path / "s")["path"]
    rungs = ("--rungs", "random", "--add", f"Tiny BERT: {tiny_model}")
    small = ("--set", "epochs=1", "--set", "train_limit=16", "--set", "random.lstm_width=8")
    layer = next(
        item["layer"] for item in ask("labels", "labels", sample) if item["kind"] == "span"
    )
    command = ("ladder", sample, "--layer", layer, *rungs, *small, "--seeds", "1")
    return lambda *more: ask("ladder", *command, *more)


def test_the_ladder_is_trained_with_crf_and_without_and_continued(climb):
    planned = climb("--plan")
    first = climb()
    second = climb()

    assert planned["status"] == "ready" and planned["rungs"][0]["results"][0]["n"] == 0
    assert (first["status"], first["decoders"]) == ("done", ["crf", "greedy"])
    found = [result for rung in first["rungs"] for result in rung["results"]]
    assert [result["n"] for result in found] == [1, 1, 1, 1]
    assert all(0 < result["trained_parameters"] <= result["parameters"] for result in found)
    again = [run for rung in second["rungs"] for item in rung["results"] for run in item["runs"]]
    assert all(run["reused"] for run in again)


def test_a_missing_model_and_a_wrong_list_are_told(climb, call, tmp_path):
    code, _out, err = call("ladder", tmp_path / "x.glossbench", "--layer", "x", "--seeds", "one")
    assert code == 2 and "'one' is not a list of numbers" in err

    planned = climb("--plan", "--add", "Nothing: no-such-model")
    assert planned["rungs"][2]["missing"] == "no-such-model is not installed"
