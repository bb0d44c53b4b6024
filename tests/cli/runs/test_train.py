"""Output of `train`, `evaluate`, `predict`, `suggest` with a two-layer model, and Ctrl+C."""

import csv
import json
import os
import signal
import subprocess
import time
from functools import partial
from pathlib import Path

import jsonschema
import pytest

from tests import forks
from tests.cli.conftest import schema

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def sample(ask, tmp_path):
    return ask("sample", "sample", tmp_path / "s")["path"]


@pytest.fixture
def begin(fork_server):
    """begin(project, model, …) starts `train` in a process of its own."""
    return partial(start, fork_server)


def start(fork_server, sample, model, *more):
    command = [
        *forks.command(fork_server),
        "train",
        sample,
        "--task",
        "classify",
        "--model",
        str(model),
        *more,
    ]
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=env
    )


def until(child, word):
    for line in child.stderr:
        if word in line:
            return
    pytest.fail(f"the command ended before it said {word!r}")


def test_a_run_is_trained_scored_asked_and_suggests(ask, call, sample, tiny_model, jobs_in_process):
    report = ask(
        "train",
        "train",
        sample,
        "--task",
        "classify",
        "--model",
        tiny_model,
        "--set",
        "epochs=1",
        "--adapt",
        "1",
        "--name",
        "tiny",
        "--with-test",
    )
    dev, test = (
        ask("evaluate", "evaluate", sample, "--run", "tiny", "--split", split)
        for split in ("dev", "test")
    )

    (warning,) = [item for item in report["warnings"] if "is better on the same data" in item]
    assert "--model baseline:svm" in warning  # one epoch of two layers
    assert (
        report["status"] == "done"
        and report["used"] == {"train": 180, "dev": 60, "test": 60}
        and set(report["scores"]) == {"dev", "test"}
    )
    adaptation = report["adaptation"]
    assert adaptation["objective"] == "masked_lm" and adaptation["held_out"] >= 60
    assert adaptation["after"]["perplexity"] < adaptation["before"]["perplexity"]
    assert "--set adapt_epochs=1" in report["command"]
    accuracy = dev["report"]["scores"]["accuracy"]
    assert accuracy["value"] == dev["scores"]["accuracy"]
    assert accuracy["low"] <= accuracy["value"] <= accuracy["high"]
    quality = dev["quality"]
    assert sum(map(sum, quality["confusion"]["cells"])) == 60
    assert len(quality["curves"]) == 6 and quality["slices"]["n"] == 60
    assert quality["calibration"]["in_use"] is False
    assert (
        dev["scores"] == report["scores"]["dev"]
        and test["scores"] == report["scores"]["test"]
        and test["seen_test"] == 2
    )
    assert ask("suggest", "suggest", sample, "--run", "tiny") == {
        "run": "tiny",
        "documents": 120,
        "suggestions": 120,
    }
    code, out, _err = call(
        "predict",
        "tiny",
        "--project",
        sample,
        "--text",
        "late again",
        "--text",
        "thank you",
        "--json",
    )
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [answer["text"] for answer in answers] == ["late again", "thank you"]
    for answer in answers:
        jsonschema.validate(answer, schema("predict"))
    scaled = ask("evaluate", "evaluate", sample, "--run", "tiny", "--temperature", "fit")
    found = scaled["quality"]["calibration"]
    assert found["in_use"] and scaled["scores"] == dev["scores"]
    assert found["temperature"] == pytest.approx(quality["calibration"]["temperature"])
    words = call("evaluate", sample, "--run", "tiny", "--slice", "the")[1]
    assert "matches the" in words and "in use" in words
    assert "60 documents" in words and "Precision" in words
    assert "Cohen’s kappa" in words and "1,000 resamples" in words

    again = ("--set", "epochs=1", "--set", "train_limit=32", "--name", "other")
    ask("train", "train", sample, "--task", "classify", "--model", tiny_model, *again)
    averaged = ask("ensemble", "ensemble", sample, "--run", "tiny", "--run", "other")
    assert averaged["n"] == 60 and [*averaged["members"]] == ["tiny", "other"]
    out = call("predict", averaged["run"], "--project", sample, "--text", "late", "--json")[1]
    assert sum(json.loads(out)["scores"].values()) == pytest.approx(1.0)
    of_all = ("--project", sample, "--where", "split:test", "--output", sample + ".csv")
    saved = ask("predict-output", "predict", averaged["run"], *of_all)
    rows = list(csv.DictReader(Path(sample + ".csv").read_text().splitlines()))
    assert saved == {"path": sample + ".csv", "documents": 70} and len(rows) == 70
    assert sum(json.loads(rows[0]["probabilities"]).values()) == pytest.approx(1.0, abs=1e-5)
    code, _out, err = call("export", sample, "--run", averaged["run"], sample + "-out")
    assert code == 1 and "averages tiny, other" in err


def test_tags_are_answered_with_words_and_spans(ask, call, sample, tiny_model, jobs_in_process):
    report = ask(
        "train",
        "train",
        sample,
        "--task",
        "tag",
        "--model",
        tiny_model,
        "--set",
        "epochs=1",
        "--set",
        "train_limit=32",
        "--name",
        "tags",
    )
    code, out, _err = call(
        "predict", "tags", "--project", sample, "--text", "🚋 Ada met Bob", "--json"
    )
    answer = json.loads(out)

    assert report["left_out"] and set(report["scores"]["dev"]) >= {"span_f1", "token_accuracy"}
    assert code == 0 and [
        answer["text"][token["start"] : token["end"]] for token in answer["tokens"]
    ] == ["🚋", "Ada", "met", "Bob"]
    assert answer["label"] is None and answer["scores"] is None
    dev = ask("evaluate", "evaluate", sample, "--run", "tags")
    assert dev["scores"] == report["scores"]["dev"]


def test_the_first_ctrl_c_stops_and_keeps_the_best(ask, begin, sample, tiny_model):
    child = begin(
        sample,
        tiny_model,
        "--set",
        "epochs=1000",
        "--set",
        "evaluate_every=5",
        "--name",
        "cut",
        "--json",
    )
    until(child, "dev:")

    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=600)

    assert child.returncode == 0, err
    loaded = json.loads(out)
    jsonschema.validate(loaded, schema("train"))
    assert loaded["status"] == "stopped" and loaded["steps"] < 12000 and loaded["scores"]["dev"]
    assert ask("project-info", "project", "info", sample)["runs"][0]["status"] == "stopped"


def test_the_second_ctrl_c_cancels_and_nothing_is_left(ask, begin, sample, tiny_model):
    child = begin(
        sample,
        tiny_model,
        "--set",
        "epochs=1000",
        "--set",
        "evaluate_every=100000",
        "--name",
        "gone",
    )
    until(child, "Training gone")

    child.send_signal(signal.SIGINT)
    until(child, "Stopping")
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=600)

    assert child.returncode in (0, 1), err
    if child.returncode == 1:  # the worker may already have stopped when the second comes
        assert out == "" and "cancelled" in err
        assert ask("project-info", "project", "info", sample)["runs"] == []


def test_a_killed_command_leaves_a_run_that_is_interrupted(
    ask, begin, forked_workers, sample, tiny_model
):
    child = begin(sample, tiny_model, "--set", "epochs=1000", "--name", "dead")
    until(child, "Training dead")

    child.kill()
    child.communicate()

    (run,) = ask("project-info", "project", "info", sample)["runs"]
    assert (run["name"], run["status"]) == ("dead", "interrupted")
    assert (
        ask(
            "train",
            "train",
            sample,
            "--task",
            "classify",
            "--model",
            tiny_model,
            "--set",
            "epochs=1",
            "--set",
            "train_limit=16",
        )["status"]
        == "done"
    )


def test_a_killed_run_goes_on_and_an_ended_one_trains_longer(ask, call, begin, sample, tiny_model):
    child = begin(sample, tiny_model, "--set", "epochs=200", "--name", "dead")
    until(child, "dev:")
    time.sleep(2)  # a state is written once in a second
    child.kill()
    child.communicate()
    assert call("runs", "continue", sample, "none")[0] == 1

    report = ask("train", "runs", "continue", sample, "dead")

    assert report["status"] == "done" and report["run"] == "dead"
    code, _out, err = call("runs", "continue", sample, "dead")
    assert code == 1 and "201 to 1000" in err
    longer = ask("train", "runs", "continue", sample, "dead", "--epochs", 201)
    assert longer["steps"] == report["steps"] / 200 * 201


def test_the_plan_shows_each_layers_rate_and_starts_no_run(ask, sample, tiny_model):
    given = ["--task", "classify", "--model", str(tiny_model), "--set", "method=gradual"]

    answer = ask("train-plan", "train", sample, *given, "--set", "epochs=4", "--plan")

    rates = answer["rates"]
    assert rates["parts"] == ["embeddings", "layer_1", "layer_2", "head"]
    assert answer["plan"]["epochs"] == 4 and rates["total"] == len(rates["rates"][0])
    frozen = [sum(rate == 0 for rate in row) for row in rates["rates"]]
    per_epoch = rates["steps_per_epoch"]
    assert frozen == [3 * per_epoch, 2 * per_epoch, per_epoch, 0]
    assert not list(Path(sample).parent.glob("*.runs/*"))


def test_a_plan_names_further_layers_and_refuses_those_that_are_not_there(call, sample, tiny_model):
    given = ("train", sample, "--task", "classify", "--model", tiny_model, "--plan")

    code, out, _err = call(*given, "--also", "pairs")
    assert code == 0 and "batches of the other layers" in out
    code, _out, err = call(*given, "--also", "nothing")
    assert code == 1 and "nothing" in err


def test_a_plan_that_training_would_refuse_is_refused_with_the_reason(call, sample):
    given = ["--task", "classify", "--model", "starter-vectors", "--set", "method=bottleneck"]

    code, _out, err = call("train", sample, *given, "--plan")

    assert code == 1 and "Bottleneck adapters cannot be used with starter-vectors" in err


@pytest.mark.parametrize(("task", "options"), [("classify", ()), ("tag", ())])
def test_the_first_batch_is_shown_and_starts_no_run(
    ask, call, sample, tiny_model, jobs_in_process, task, options
):
    given = [sample, "--task", task, "--model", str(tiny_model), "--set", "batch_size=4"]

    found = ask("train-batch", "train", *given, "--show-batch")

    assert len(found["rows"]) == 4
    _code, shown, _err = call("train", *given, "--show-batch")
    assert "Labels of an expected batch:" in shown and found["balance"][0]["label"] in shown
    targets = [unit["target"] for row in found["rows"] for unit in row["units"]]
    notes = [row["notes"] for row in found["rows"]]
    assert all(row["units"][0] == {"input": "[CLS]", "target": None} for row in found["rows"])
    if task == "tag":
        assert "O" in targets and None in targets
    else:
        assert set(targets) == {None} and all(note["classes"] for note in notes)
    code, out, _err = call("project", "info", sample, "--json")
    assert code == 0 and not json.loads(out).get("runs")
