"""`models` and `train --options`: lists that need no project."""

import shutil

from workbench.base import paths


def test_the_starters_are_listed_and_described(ask, call):
    names = {one["name"] for one in ask("models-list", "models", "list")}
    card = ask("models-info", "models", "info", "starter-bert")

    assert {"starter-bert", "starter-gpt"} <= names
    assert (card["layers"], card["width"], card["vocabulary"], card["max_length"]) == (
        6,
        384,
        30522,
        512,
    )
    assert (
        "starter-bert" in call("models", "list")[1]
        and "384" in call("models", "info", "starter-bert")[1]
    )


def test_a_folder_is_added_and_a_broken_one_named(ask, call, tmp_path):
    shutil.copytree(paths.resource("models/starter-gpt"), tmp_path / "mine")
    assert ask("models-add", "models", "add", tmp_path / "mine")["name"] == "mine"
    assert "mine" in {one["name"] for one in ask("models-list", "models", "list")}

    (tmp_path / "mine" / "model.safetensors").unlink()
    shutil.move(tmp_path / "mine", tmp_path / "broken")
    code, _out, err = call("models", "add", tmp_path / "broken")

    assert code == 1 and "model.safetensors" in err


def test_an_unknown_model_names_those_known(call):
    code, _out, err = call("models", "info", "nix")

    assert code == 1 and "nix" in err and "starter-bert" in err


def test_every_setting_is_listed_with_its_default(ask, call):
    options = {one["name"]: one for one in ask("train-options", "train", "--options")}
    words = call("train", "--options")[1]

    assert {
        "epochs",
        "batch_size",
        "learning_rate",
        "max_length",
        "freeze",
        "best_by",
        "train_limit",
        "device",
    } <= set(options)
    assert all(name in words for name in options)
