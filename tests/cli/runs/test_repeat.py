"""Output of `repeat` with a small model: JSON by its schema, the repeated command, label errors."""

import pytest

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]


@pytest.fixture
def sample(ask, tmp_path):
    return ask("sample", "sample", tmp_path / "s")["path"]


def test_folds_are_trained_reused_and_offered_to_label_errors(
    ask, sample, tiny_model, jobs_in_process
):
    added = f"Tiny: {tiny_model} epochs=1 train_limit=16"
    other = f"Tiny, 2 epochs: {tiny_model} epochs=2 train_limit=16"
    command = ("repeat", sample, "--layer", "class", "--add", added, "--seeds", "1", "--folds", "2")

    planned = ask("repeat", *command, "--plan")
    first = ask("repeat", *command)
    second = ask("repeat", *command, "--add", other)

    assert (planned["status"], planned["systems"][0]["n"]) == ("ready", 0)
    (system,) = first["systems"]
    assert (first["status"], system["n"], system["title"]) == ("done", 2, "Tiny")
    assert [run["fold"] for run in system["runs"]] == ["1/2", "2/2"]
    assert system["interval"][0] <= system["mean"] <= system["interval"][1]
    assert all(run["reused"] for run in second["systems"][0]["runs"])
    (difference,) = second["differences"]
    assert (difference["first"], difference["second"], difference["pairs"]) == (
        "Tiny", "Tiny, 2 epochs", 2,
    )  # fmt: skip

    name = system["runs"][0]["run"]
    ranking = ask("label-errors", "label-errors", sample, "--layer", "class", "--model", name)
    assert ranking["folds"] == 2 and ranking["documents"] > 30
    again = ask("repeat", "repeat", sample, name, "--seeds", "1", "--folds", "2", "--plan")
    assert again["systems"][0]["n"] == 2  # the settings of a fold, without it


def test_without_a_run_the_command_says_what_there_is(call, sample):
    code, _out, err = call("repeat", sample)

    assert code == 1 and "Missing RUN" in err and "none yet" in err
