"""`models` and `train --options`: lists that need no project."""

import shutil

import pytest

from tests import tiny_models
from tests.starters import SHIPPED
from workbench.base import paths


def test_the_starters_are_listed_and_described(ask, call):
    names = {item["name"] for item in ask("models-list", "models", "list")}
    card = ask("models-info", "models", "info", "starter-bert")

    assert {*SHIPPED} <= names
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


def test_the_blocks_of_a_model_are_counted(ask, call):
    found = ask("models-info", "models", "info", "starter-bert")["map"]
    out = call("models", "info", "starter-bert")[1]

    assert found["parameters_without_heads"] == 22_713_216  # MiniLM-L6-v2, published as 22.7 M
    assert [item["title"] for item in found["blocks"]][:3] == ["Embeddings", "Layers", "Pooler"]
    assert "Layers 1–6" in out and "Feed-forward: 1,181,568" in out and "22,713,216" in out


def test_a_folder_is_added_and_a_broken_one_named(ask, call, tmp_path):
    shutil.copytree(paths.resource("models/starter-gpt"), tmp_path / "mine")
    assert ask("models-add", "models", "add", tmp_path / "mine")["name"] == "mine"
    assert "mine" in {item["name"] for item in ask("models-list", "models", "list")}

    (tmp_path / "mine" / "model.safetensors").unlink()
    shutil.move(tmp_path / "mine", tmp_path / "broken")
    code, _out, err = call("models", "add", tmp_path / "broken")

    assert code == 1 and "model.safetensors" in err


def test_an_unknown_model_names_those_known(call):
    code, _out, err = call("models", "info", "nix")

    assert code == 1 and "nix" in err and "starter-bert" in err


def test_every_setting_is_listed_with_its_default(ask, call):
    options = {item["name"]: item for item in ask("train-options", "train", "--options")}
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


@pytest.fixture
def mine(tiny_model, tmp_path):
    return shutil.copytree(tiny_model, tmp_path / "mine")


def test_one_bad_folder_is_listed_with_its_fault_beside_the_others(ask, call, mine):
    call("models", "add", mine)
    (mine / "config.json").write_text('{"model_type": "bert\\u202e\\n", "architectures": 5}')

    listed = {item["name"]: item for item in ask("models-list", "models", "list")}
    code, out, _err = call("models", "list")

    assert "is not supported" in listed["mine"]["problems"][0]
    assert code == 0 and len(out.splitlines()) == 2 + len(SHIPPED) and "is not supported" in out


def test_the_card_of_a_broken_folder_is_shown_and_the_exit_code_says_so(call, mine):
    (mine / "model.safetensors").unlink()

    code, out, err = call("models", "info", mine)

    assert code == 1 and "model.safetensors is missing" in out and "not a usable model" in err
    assert "Traceback" not in out + err


def test_the_card_of_pickled_weights_is_shown_before_they_are_confirmed(ask, call, mine):
    tiny_models.pickle_weights(mine)

    card = ask("models-info", "models", "info", mine)
    code, out, err = call("models", "add", mine)

    assert card["untrusted"] and card["parameters"] > 1000 and card["layers"] == 2
    assert {item["name"] for item in card["files"]} >= {"pytorch_model.bin", "config.json"}
    assert code == 1 and "pytorch_model.bin" in out and "--allow-pickle" in err


def test_a_model_is_removed_from_the_list(ask, call, mine):
    call("models", "add", mine)

    report = ask("models-remove", "models", "remove", "mine")

    assert report == {"name": "mine", "path": str(mine), "deleted_bytes": 0}
    assert "mine" not in call("models", "list")[1] and (mine / "config.json").is_file()
    assert call("models", "remove", "mine")[0] == 1
    assert "comes with Glossbench" in call("models", "remove", "starter-bert", "--yes")[2]


def test_files_are_deleted_only_with_yes(ask, call, mine, user_dir):
    from tests.operations.models.test_installed import cached

    repository = cached(user_dir, mine, ours=True)

    code, _out, err = call("models", "remove", "some/tiny")
    assert code == 1 and "--yes" in err and repository.is_dir()

    assert ask("models-remove", "models", "remove", "some/tiny", "--yes")["deleted_bytes"] > 1000
    assert not repository.exists()


def test_the_catalogue_is_searched_and_sorted(ask, call):
    found = ask("models-catalogue", "models", "catalogue", "--search", "devlin", "--sort", "year")
    sizes = [item["parameters"] for item in found]

    assert {item["hub"] for item in found} >= {"google-bert/bert-base-uncased"}
    assert 109_482_240 in sizes and all(item["paper"] == "Devlin et al. 2019" for item in found)
    code, out, _err = call("models", "catalogue", "--sort", "parameters")
    assert code == 0 and out.index("BERT tiny") < out.index("GPT-3") < out.index("Flair news")
    assert call("models", "catalogue", "--search", "no such model")[1] == "No model matches.\n"
    assert call("models", "catalogue", "--sort", "nix")[0] == 2


@pytest.mark.process
def test_the_model_that_suits_a_project_is_recommended(ask, call, forked_workers, tmp_path):
    call("sample", tmp_path / "s")
    (file,) = (tmp_path / "s").glob("*.glossbench")
    arguments = ("models", "recommend", file, "--model", "starter-gpt", "--sample", 5)

    found = ask("models-recommend", *arguments)

    (row,) = found["models"]
    assert found["texts"] == 5 and row["kind"] == "causal" and row["perplexity"] > 1
    assert found["recommendation"].startswith("starter-gpt suits this text: ")
    assert call("models", "recommend", file, "--model", "nix")[0] == 1
