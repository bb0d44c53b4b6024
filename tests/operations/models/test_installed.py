"""What a person does with models: see, add, forget, confirm, ask for a download."""

import json
import os
import shutil

import pytest

from tests import tiny_models
from tests.starters import SHIPPED
from workbench.base import settings as settings_file
from workbench.base.errors import ModelError
from workbench.base.settings import Settings
from workbench.models.spec import downloads
from workbench.operations.models import installed


@pytest.fixture
def mine(tiny_model, tmp_path):
    shutil.copytree(tiny_model, tmp_path / "mine")
    return tmp_path / "mine"


def names():
    return [entry.name for entry in installed.list()]


def test_the_starters_are_always_there():
    assert names() == [*SHIPPED]
    assert installed.find("starter-bert").origin == "starter"


def test_a_worker_in_waiting_imports_what_transformers_need(registry):
    entry = registry.entry("family", "transformer")

    assert installed.imports() == tuple(entry.options["imports"]) != ()


def test_a_folder_is_added_once_and_remembered(mine):
    card = installed.add(mine)
    installed.add(mine)

    assert names() == [*SHIPPED, "mine"] and card.layers == 2
    assert settings_file.load().model_folders == [str(mine)]


def test_two_folders_of_one_name_get_two_names(mine, tmp_path):
    shutil.copytree(mine, tmp_path / "other" / "mine")
    installed.add(mine)

    assert installed.add(tmp_path / "other" / "mine").name == "mine 2"
    assert installed.find("mine 2").path == str(tmp_path / "other" / "mine")


def test_a_folder_that_is_no_model_is_not_remembered(mine):
    (mine / "config.json").unlink()

    with pytest.raises(ModelError, match="config.json"):
        installed.add(mine)
    assert names() == [*SHIPPED]


def test_a_folder_that_broke_later_stays_to_be_seen_but_cannot_be_used(mine):
    installed.add(mine)
    (mine / "model.safetensors").unlink()

    assert installed.list()[-1].problems == ("model.safetensors is missing",)
    with pytest.raises(ModelError, match="model.safetensors"):
        installed.find("mine")


def test_pickled_weights_are_taken_once_confirmed(mine):
    tiny_models.pickle_weights(mine)
    with pytest.raises(ModelError, match="pickle"):
        installed.add(mine)

    assert installed.add(mine, allow_pickle=True).usable
    assert installed.find("mine").pickled


def test_confirming_a_listed_model_is_remembered(mine):
    settings = Settings(model_folders=[str(mine)])
    tiny_models.pickle_weights(mine)
    assert not installed.list(settings)[-1].usable

    assert installed.allow_pickle("mine", settings).usable
    assert settings_file.load().pickle_allowed == [str(mine)]


def test_the_card_of_a_pickled_or_broken_folder_can_be_seen(mine):
    tiny_models.pickle_weights(mine)
    card = installed.info(str(mine))
    assert card.only_untrusted and card.layers == 2 and card.parameters > 1000

    (mine / "config.json").write_text('{"architectures": 5}')
    assert "names no model_type" in installed.info(str(mine)).problems[-1]


def test_a_folder_whose_tokenizer_cannot_be_read_is_not_remembered(mine):
    (mine / "tokenizer.json").write_text('{"model": 5}')

    with pytest.raises(ModelError, match="tokenizer.json cannot be read"):
        installed.add(mine)
    assert names() == [*SHIPPED]


def test_a_tokenizer_with_far_fewer_tokens_than_the_model_is_refused(tmp_path):
    mixed = shutil.copytree(installed.find("starter-bert").path, tmp_path / "mixed")
    shutil.copy(installed.find("starter-gpt").path + "/tokenizer.json", mixed)

    with pytest.raises(ModelError, match=r"\(8,192\) is much smaller than that of the model"):
        installed.add(mixed)


def test_a_tokenizer_of_another_model_is_refused_at_once(mine):
    shutil.copy(installed.find("starter-bert").path + "/tokenizer.json", mine)

    with pytest.raises(ModelError, match=r"\(30,522\) is larger than that of the model"):
        installed.add(mine)


# ---------------------------------------------------------------- removing


def test_removing_an_added_folder_leaves_its_files(mine):
    installed.add(mine)

    done = installed.remove("mine")

    assert names() == [*SHIPPED] and done.deletes == 0
    assert (mine / "model.safetensors").is_file()


def test_a_broken_folder_is_removed_by_name_or_path(mine):
    installed.add(mine)
    (mine / "config.json").write_text("[" * 100_000)

    installed.remove(str(mine))

    assert names() == [*SHIPPED]


def test_removing_forgets_the_confirmation_of_pickled_weights(mine):
    installed.add(tiny_models.pickle_weights(mine), allow_pickle=True)

    installed.remove("mine")

    assert settings_file.load().pickle_allowed == []


def test_starters_and_unknown_models_cannot_be_removed():
    with pytest.raises(ModelError, match="starter-bert comes with Glossbench"):
        installed.remove("starter-bert", delete=True)
    with pytest.raises(ModelError, match="no model 'nix'"):
        installed.remove("nix", delete=True)


def cached(user_dir, mine, *, ours):
    """A repository in the Hugging Face cache; `ours`: Glossbench downloaded it."""
    repository = user_dir / "cache" / "huggingface" / "hub" / "models--some--tiny"
    snapshot = repository / "snapshots" / "abc"
    (repository / "blobs").mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for number, file in enumerate(sorted(mine.iterdir())):
        shutil.copy(file, repository / "blobs" / str(number))
        (snapshot / file.name).symlink_to(f"../../blobs/{number}")
    if ours:
        downloads.record(repository, [*repository.glob("blobs/*"), *snapshot.iterdir()])
    return repository


def test_a_download_of_another_program_is_never_deleted(user_dir, mine):
    repository = cached(user_dir, mine, ours=False)

    with pytest.raises(ModelError, match="was not downloaded by Glossbench"):
        installed.remove("some/tiny", delete=True)
    assert (repository / "snapshots" / "abc" / "config.json").is_file()


def test_our_download_is_deleted_once_confirmed(user_dir, mine):
    repository = cached(user_dir, mine, ours=True)

    with pytest.raises(ModelError, match="deletes its files") as error:
        installed.remove("some/tiny")
    assert "--yes" in error.value.hint and repository.is_dir()

    assert installed.remove("some/tiny", delete=True).deletes > 1000
    assert not repository.exists() and "some/tiny" not in names()


def test_what_other_programs_put_beside_our_download_stays(user_dir, mine):
    repository = cached(user_dir, mine, ours=True)
    theirs = repository / "snapshots" / "def"
    theirs.mkdir()
    (repository / "blobs" / "theirs").write_text("keep")
    (theirs / "vocab.txt").symlink_to("../../blobs/theirs")
    (theirs / "config.json").symlink_to("../../blobs/0")  # one of ours, which they need

    installed.remove("some/tiny", delete=True)

    assert (theirs / "vocab.txt").read_text() == "keep" and (theirs / "config.json").is_file()
    assert sorted(os.listdir(repository / "blobs")) == ["0", "theirs"]


@pytest.mark.parametrize("name", ["../../../mine", "/etc/passwd", "blobs/../../x", "notes.txt"])
def test_a_list_of_downloads_cannot_name_other_files(user_dir, mine, name):
    repository = cached(user_dir, mine, ours=False)
    (repository / downloads.LIST).write_text(json.dumps({"created": [name]}))
    (repository / "notes.txt").write_text("keep")

    downloads.delete(repository)

    assert (repository / "notes.txt").is_file() and (mine / "config.json").is_file()


def test_an_unknown_name_lists_the_known_ones_and_a_folder_can_be_named(mine):
    with pytest.raises(ModelError, match="no-such-model") as caught:
        installed.find("no-such-model")
    assert "starter-bert" in caught.value.hint

    assert installed.find(str(mine)).name == "mine"


def test_nothing_is_asked_of_the_network_in_offline_mode():
    with pytest.raises(ModelError, match="offline"):
        installed.look_up(None, "some/model", Settings(offline=True))
    with pytest.raises(ModelError, match="offline"):
        installed.download(None, "some/model", settings=Settings(offline=True))


class Queue:
    """Runs nothing; `spec` is the last job."""

    def run(self, spec, _watch):
        self.spec = spec
        return {"id": spec.params["id"]}


@pytest.mark.parametrize("text", ["", "a/b/c", "../x", "a b", "a/.b"])
def test_what_is_no_id_is_refused(text):
    with pytest.raises(ModelError, match="not a model id"):
        installed.look_up(Queue(), text, Settings(offline=False))


def test_a_slash_at_the_ends_of_an_id_is_taken_off():
    assert installed.look_up(Queue(), "/etc", Settings(offline=False)).id == "etc"


def test_an_address_of_the_hub_is_taken_as_an_id():
    queue, name = Queue(), "distilbert/distilbert-base-uncased"
    installed.look_up(queue, f"https://huggingface.co/{name}", Settings(offline=False))

    assert queue.spec.params["id"] == name and queue.spec.env["HF_HUB_OFFLINE"] == "0"
