"""What a person does with models: see, add, forget, confirm, ask for a download."""

import shutil

import pytest

from workbench.base import settings as settings_file
from workbench.base.errors import ModelError
from workbench.base.settings import Settings
from workbench.operations import models


@pytest.fixture
def mine(tiny_model, tmp_path):
    shutil.copytree(tiny_model, tmp_path / "mine")
    return tmp_path / "mine"


def names():
    return [one.name for one in models.list()]


def test_the_starters_are_always_there():
    assert names() == ["starter-bert", "starter-gpt"]
    assert models.find("starter-bert").origin == "starter"


def test_a_folder_is_added_once_and_remembered(mine):
    card = models.add(mine)
    models.add(mine)

    assert names() == ["starter-bert", "starter-gpt", "mine"] and card.layers == 2
    assert settings_file.load().model_folders == [str(mine)]


def test_two_folders_of_one_name_get_two_names(mine, tmp_path):
    shutil.copytree(mine, tmp_path / "other" / "mine")
    models.add(mine)

    assert models.add(tmp_path / "other" / "mine").name == "mine 2"
    assert models.find("mine 2").path == str(tmp_path / "other" / "mine")


def test_a_folder_that_is_no_model_is_not_remembered(mine):
    (mine / "config.json").unlink()

    with pytest.raises(ModelError, match="config.json"):
        models.add(mine)
    assert names() == ["starter-bert", "starter-gpt"]


def test_a_folder_that_broke_later_stays_to_be_seen_but_cannot_be_used(mine):
    models.add(mine)
    (mine / "model.safetensors").unlink()

    assert models.list()[-1].problems == ("model.safetensors is missing",)
    with pytest.raises(ModelError, match="model.safetensors"):
        models.find("mine")


def test_pickled_weights_are_taken_once_confirmed(mine):
    (mine / "model.safetensors").rename(mine / "pytorch_model.bin")
    with pytest.raises(ModelError, match="pickle"):
        models.add(mine)

    assert models.add(mine, allow_pickle=True).usable
    assert models.find("mine").pickled


def test_confirming_a_listed_model_is_remembered(mine):
    settings = Settings(model_folders=[str(mine)])
    (mine / "model.safetensors").rename(mine / "pytorch_model.bin")
    assert not models.list(settings)[-1].usable

    assert models.allow_pickle("mine", settings).usable
    assert settings_file.load().pickle_allowed == [str(mine)]


def test_forgetting_leaves_the_files(mine):
    models.add(mine)

    models.remove("mine")

    assert names() == ["starter-bert", "starter-gpt"] and (mine / "model.safetensors").is_file()
    with pytest.raises(ModelError, match="starter-bert"):
        models.remove("starter-bert")


def test_an_unknown_name_lists_the_known_ones_and_a_folder_can_be_named(mine):
    with pytest.raises(ModelError, match="no-such-model") as caught:
        models.find("no-such-model")
    assert "starter-bert" in caught.value.hint

    assert models.find(str(mine)).name == "mine"


def test_nothing_is_asked_of_the_network_in_offline_mode():
    with pytest.raises(ModelError, match="offline"):
        models.look_up("some/model", Settings(offline=True))
    with pytest.raises(ModelError, match="offline"):
        models.download("some/model", settings=Settings(offline=True))


@pytest.mark.parametrize("text", ["", "a/b/c", "../x", "a b", "/etc", "a/.b"])
def test_what_is_no_id_is_refused(text):
    if text == "/etc":  # a slash at the ends is taken off
        assert models.look_up(text, Settings(offline=False)).params["id"] == "etc"
        return
    with pytest.raises(ModelError, match="no model id"):
        models.look_up(text, Settings(offline=False))


def test_an_address_of_the_hub_is_taken_as_an_id():
    job = models.look_up(
        "https://huggingface.co/distilbert/distilbert-base-uncased", Settings(offline=False)
    )

    assert (
        job.params["id"] == "distilbert/distilbert-base-uncased"
        and job.env["HF_HUB_OFFLINE"] == "0"
    )
