"""Output of `layers transfer`, `layers weights` and `multitask` with a small model."""

import pytest

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]


@pytest.fixture
def sample(ask, tmp_path, tiny_model, jobs_in_process):
    file = ask("sample", "sample", tmp_path / "s")["path"]
    small = ("--set", "epochs=1", "--set", "train_limit=16", "--name", "small")
    ask("train", "train", file, "--layer", "class", "--model", tiny_model, *small)
    return file


def test_layers_of_a_run_and_of_its_model_are_transferred(ask, sample):
    ends = ("--levels", "0,3", "--seeds", "1")

    work = ask("layers-transfer", "layers", "transfer", sample, "small", *ends)

    assert (work["status"], work["base"]["n"], work["target"]) == ("done", 1, "small")
    nothing, all_levels = work["levels"]
    assert (nothing["title"], all_levels["title"]) == ("none", "2")
    lines = ("BnB", "BnB+", "AnB", "AnB+")
    assert len({nothing[line]["runs"][0]["run"] for line in lines}) == 1
    assert len({all_levels[line]["runs"][0]["run"] for line in lines}) == 4
    frozen, tuned = all_levels["BnB"], all_levels["BnB+"]
    assert frozen["trained_parameters"] < tuned["trained_parameters"] == tuned["parameters"]


def test_weights_of_layers_stay_uniform_with_a_strong_penalty(ask, sample):
    work = ask("layers-weights", "layers", "weights", sample, "small", "--seeds", "1")

    rows = {row["id"]: row for row in work["rows"]}
    assert list(rows) == ["last", "uniform", "mix-1", "mix-0.001"]
    assert all(row["n"] == 1 for row in rows.values())
    assert rows["last"]["over_last"] is None and rows["last"]["weights"] == []
    assert rows["mix-1"]["weights"] == pytest.approx(
        [1 / 3] * 3, abs=0.02
    )  # of 2 layers and the embeddings
    assert len(rows["mix-0.001"]["weights"]) == 3


def test_layers_that_are_trained_together_are_compared_with_each_alone(ask, call, sample):
    small = ("--set", "epochs=1", "--set", "train_limit=16", "--name", "both", "--also", "pairs")
    model = ask("train", "train", sample, "--layer", "class", "--model", "small", *small)
    assert [item["layer"] for item in model["also"]] == ["pairs"]

    work = ask("multitask", "multitask", sample, "both", "--seeds", "1")

    assert [(row["layer"], row["treatment"]) for row in work["rows"]] == [
        (layer, treatment)
        for layer in ("class", "pairs")
        for treatment in ("alone", "together", "tuned")
    ]
    together = work["rows"][1]["runs"][0]
    assert together["run"] == "both" and together["reused"]
    code, _out, err = call("multitask", sample, "small")
    assert code == 1 and "one layer only" in err
