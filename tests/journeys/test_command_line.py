"""The whole workflow on the command line.

Sample, import, train, score, predict, suggest, prompt, export.
"""

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest

from tests import forks

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(600)]
ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
TEXT = "The 42 tram was twenty minutes late again."


@pytest.fixture(scope="module")
def call(tmp_path_factory, fork_server):
    """call("project", "info", …) → standard output; fails with standard error as the message."""
    home = tmp_path_factory.mktemp("home")
    import os

    env = {
        **os.environ,
        "HOME": str(home),
        **{f"XDG_{name}_HOME": str(home / name) for name in ("CONFIG", "DATA", "CACHE")},
    }

    def run(*arguments, code=0):
        command = [*forks.command(fork_server), *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, env=env, cwd=ROOT, stdin=subprocess.DEVNULL
        )
        assert done.returncode == code, f"{' '.join(map(str, arguments))}: {done.stderr}"
        return done.stdout if code == 0 else done.stderr

    return run


@pytest.fixture(scope="module")
def project(call, tiny_model, tmp_path_factory):
    """The sample, with a run `first` of a tiny model trained for one epoch on 48 messages.

    The journey by mouse trains and exports a starter, which takes longer.
    """
    path = Path(call("sample", tmp_path_factory.mktemp("sample")).strip())
    loaded = json.loads(
        call(
            "train",
            path,
            "--task",
            "classify",
            "--model",
            tiny_model,
            "--name",
            "first",
            "--set",
            "epochs=1",
            "--set",
            "train_limit=48",
            "--json",
        )
    )
    assert (
        loaded["status"] == "done"
        and loaded["used"] == {"train": 48, "dev": 60, "test": 0}
        and loaded["steps"] == 3
    )
    assert (
        "--set train_limit=48" in loaded["command"]
        and {"reason": "not submitted", "count": 128} in loaded["left_out"]
    )
    return path


@pytest.fixture(scope="module")
def dev_scores(call, project):
    """The JSON output of `evaluate` on dev."""
    return ask(call, "evaluate", project, "--run", "first", "--split", "dev")


@pytest.fixture(scope="module")
def answer(call, project):
    """The JSON output of `predict` for TEXT."""
    return json.loads(call("predict", "first", "--project", project, "--text", TEXT, "--json"))


def ask(call, *arguments):
    """The JSON output of a command, validated against its schema."""
    return checked(arguments, json.loads(call(*arguments, "--json")))


def checked(arguments, found):
    name = "-".join(arguments[: 2 if arguments[0] in ("project", "models") else 1])
    schema = ROOT / "resources" / "help" / "cli" / f"{name}.schema.json"
    jsonschema.validate(found, json.loads(schema.read_text(encoding="utf-8")))
    return found


def test_scores_of_training_and_evaluation_agree_and_test_is_another_set(call, project, dev_scores):
    run = ask(call, "project", "info", project)["runs"][0]
    test = ask(call, "evaluate", project, "--run", "first", "--split", "test")

    assert (run["name"], run["status"], run["task"], run["model"]) == (
        "first",
        "done",
        "classify",
        "tiny-bert",
    )
    assert dev_scores["scores"] == run["scores"]["dev"] and dev_scores["n"] == test["n"] == 60
    assert dev_scores["fingerprint"] != test["fingerprint"]
    assert (dev_scores["seen_test"], test["seen_test"]) == (0, 1)


def test_texts_and_files_are_answered_in_order(call, project, answer, tmp_path):
    path = tmp_path / "many.txt"
    path.write_text(f"{TEXT}\nThank you, driver!\n😀\n", encoding="utf-8")

    many = [
        checked(("predict",), json.loads(line))
        for line in call(
            "predict", "first", "--project", project, "--input", path, "--json"
        ).splitlines()
    ]

    assert [line["text"] for line in many] == [TEXT, "Thank you, driver!", "😀"]
    checked(("predict",), answer)
    assert answer["label"] == max(answer["scores"], key=answer["scores"].get)
    assert abs(sum(answer["scores"].values()) - 1) < 1e-6


def test_suggestions_are_no_gold(call, project):
    before = ask(call, "project", "info", project)["states"]

    result = ask(call, "suggest", project, "--run", "first")

    assert result == {"run": "first", "documents": 120, "suggestions": 120}
    assert ask(call, "project", "info", project)["states"] == before


def test_a_prompt_is_scored_on_the_same_set_as_the_run(call, project, dev_scores, tmp_path):
    template = tmp_path / "t.jinja"
    template.write_text(
        "{% for example in examples %}{{ example.text }} => {{ example.label }}\n{% endfor %}"
        "{{ text }} => {{ label }}"
    )

    result = ask(
        call,
        "prompt",
        project,
        "--template",
        template,
        "--model",
        "starter-gpt",
        "--shots",
        "1",
        "--split",
        "dev",
    )

    assert result["n"] == 60
    assert result["fingerprint"] == dev_scores["fingerprint"]
    assert set(result["scores"]) == set(dev_scores["scores"])
    assert result["calibration"] == "content-free"
    assert len(result["prior"]) == 6 and sum(result["prior"].values()) == pytest.approx(1)


def test_the_exported_folders_answer_like_the_run(call, project, answer, tmp_path):
    result = ask(call, "export", project, "--run", "first", tmp_path / "out")
    check = result["check"]

    assert (
        check["texts"] >= 20 and check["equal_labels"] == 1.0 and check["largest_difference"] < 1e-3
    )
    assert sorted(result["folders"]) == ["hf", "onnx"] and all(
        file["bytes"] > 0 for file in result["files"]
    )
    exported = json.loads(call("predict", result["folders"]["hf"], "--text", TEXT, "--json"))
    assert exported["label"] == answer["label"]
    assert all(
        abs(exported["scores"][name] - value) < 1e-4 for name, value in answer["scores"].items()
    )


def test_data_goes_out_and_into_a_new_project_unchanged(call, project, tmp_path):
    first, second, other = (
        tmp_path / "one.jsonl",
        tmp_path / "two.jsonl",
        tmp_path / "other.glossbench",
    )
    call("export-data", project, first, "--format", "glossbench")
    ask(call, "project", "new", other)

    ask(call, "import", other, first, "--format", "glossbench")
    call("export-data", other, second, "--format", "glossbench")

    assert first.read_bytes() == second.read_bytes()
    assert ask(call, "labels", other) == ask(call, "labels", project)


def test_choices_are_imported_learned_and_predicted(call, tiny_model, tmp_path):
    project = tmp_path / "choices.glossbench"
    call("project", "new", project)
    call("import", project, DATA / "multiple_choice.jsonl")
    settings = ("--set", "epochs=1", "--set", "batch_size=4", "--name", "chosen")
    loaded = json.loads(
        call("train", project, "--task", "choice", "--model", tiny_model, *settings, "--json")
    )
    assert (loaded["status"], loaded["used"]["train"], loaded["steps"]) == ("done", 5, 2)

    template = ROOT / "resources" / "prompts" / "60-choices.jinja"
    asked = ("--template", template, "--model", tiny_model, "--shots", "1", "--split", "dev")
    prompted = json.loads(call("prompt", project, *asked, "--json"))
    assert (prompted["n"], set(prompted["scores"])) == (2, {"accuracy", "mean_reciprocal_rank"})

    typed = call(
        "predict", "chosen", "--project", project, "--text", TEXT, "--text-b", "yes\nno", "--json"
    )
    source = DATA / "multiple_choice.jsonl"
    listed = call("predict", "chosen", "--project", project, "--input", source, "--json")

    assert set(json.loads(typed)["scores"]) == {"1", "2"}
    counts = [len(json.loads(line)["scores"]) for line in listed.splitlines()]
    assert counts == [3, 3, 3, 2, 4, 3, 3, 3]


def test_mistakes_are_answered_in_words(call, project):
    assert "learning_rate" in call(
        "train",
        project,
        "--task",
        "classify",
        "--model",
        "starter-bert",
        "--set",
        "learning_rate=abc",
        code=1,
    )
    assert "starter-bert" in call("train", project, "--task", "classify", "--model", "nix", code=1)
    assert "first" in call("evaluate", project, "--run", "nix", code=1)
    unknown = call("train", project, "--task", "nix", "--model", "starter-bert", code=2)
    assert "no task 'nix'" in unknown and "answer" in unknown
