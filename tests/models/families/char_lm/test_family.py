"""Cards of flair's files, reading without executing anything, and saving for flair."""

import os
import shutil
import zipfile

import numpy as np
import pytest
import torch

from tests import flair_models
from tests.flair_models import DATA
from workbench.base import checksums, settings
from workbench.base.errors import ModelError
from workbench.models import folder as folders
from workbench.models import pickled, spec
from workbench.models.base import LoadOptions
from workbench.models.families.char_lm.family import CLASSES, CharacterLmFamily
from workbench.models.loading import load
from workbench.runtime.preparers.character_texts import FILE

TRUSTED = LoadOptions(allow_pickle=True)
FAMILY = CharacterLmFamily()


def changed(path, **settings):
    """The forward model with other settings."""
    content = pickled.load(DATA / "forward.pt", CLASSES)
    pickled.save({**content, **settings}, path, CLASSES)
    return path


def test_the_card_of_a_file_is_whole_before_it_is_confirmed():
    card = spec.card(DATA / "forward.pt")

    assert (card.family, card.architecture, card.layers, card.width) == (
        "char_lm",
        "char_lm",
        1,
        24,
    )
    assert card.vocabulary == 58 and card.parameters == 58 * 10 + 4 * 24 * 36 + 58 * 25
    assert card.gives == ("states", "next_character") and card.only_untrusted
    with pytest.raises(ModelError, match="pickle"):
        spec.read_folder(DATA / "forward.pt")


def test_a_folder_with_both_directions_is_one_model(tmp_path):
    card = spec.card(flair_models.pair(tmp_path), allow_pickle=True)

    assert (
        card.usable
        and card.width == 48
        and card.gives == ("states", "next_character", "previous_character")
    )


@pytest.mark.parametrize("name", ["forward.pt", "tagger.pt"])
def test_a_folder_of_the_hub_is_recognized_by_its_content(name, tmp_path):
    shutil.copyfile(DATA / name, tmp_path / "pytorch_model.bin")
    (tmp_path / "README.md").write_text("a model of flair")

    asked, card = spec.card(tmp_path), spec.card(tmp_path, allow_pickle=True)

    assert asked.family == "char_lm" and asked.only_untrusted
    assert card.usable and bool(card.labels) == (name == "tagger.pt")
    assert len(list(load(tmp_path, TRUSTED).parameters())) > 3
    assert spec.card(tmp_path / "pytorch_model.bin").family == "char_lm"


def test_a_pickled_transformer_is_not_taken_for_a_model_of_flair(tmp_path):
    torch.save({"bert.embeddings.weight": torch.zeros(2, 2)}, tmp_path / "pytorch_model.bin")

    assert spec.card(tmp_path).family != "char_lm"
    assert spec.card(tmp_path / "pytorch_model.bin").family == ""


def test_two_models_of_one_direction_are_refused(tmp_path):
    shutil.copyfile(DATA / "legacy.pt", flair_models.pair(tmp_path) / "another.pt")

    (problem,) = spec.card(tmp_path, allow_pickle=True).problems

    assert "forward.pt" in problem and "another.pt" in problem and "direction" in problem


@pytest.mark.parametrize("name", ["forward", "projected", "gru", "legacy"])
def test_a_saved_model_is_the_same_and_needs_no_confirmation(name, tmp_path):
    encoder = load(DATA / f"{name}.pt", TRUSTED)

    folder = tmp_path / "saved"
    folder.mkdir()
    FAMILY.save(encoder, folder)
    checksums.write(folder)
    again = load(folder, LoadOptions())

    assert (folder / FILE).is_file()
    for key, value in encoder.state_dict().items():
        assert torch.equal(value, again.state_dict()[key])
    assert again.preparer.tables == encoder.preparer.tables


def test_a_table_of_characters_of_unknown_origin_does_not_skip_the_question(tmp_path):
    FAMILY.save(load(DATA / "forward.pt", TRUSTED), tmp_path)
    (tmp_path / "glossbench.json").write_text("{}")
    (tmp_path / ".glossbench").touch()

    assert (tmp_path / FILE).is_file() and spec.card(tmp_path).only_untrusted


def test_a_saved_file_names_the_classes_of_flair(tmp_path):
    FAMILY.save(load(DATA / "forward.pt", TRUSTED), tmp_path)

    with zipfile.ZipFile(tmp_path / "forward.pt") as archive:
        name = next(name for name in archive.namelist() if name.endswith("data.pkl"))
        instructions = archive.read(name)

    assert b"cflair.data\nDictionary\n" in instructions and b"workbench" not in instructions


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_a_file_cannot_execute_code(tmp_path):
    mark = tmp_path / "executed"
    content = pickled.load(DATA / "forward.pt", CLASSES)
    pickled.save({**content, "document_delimiter": Evil(str(mark))}, tmp_path / "x.pt", CLASSES)

    with pytest.raises(ModelError):
        load(tmp_path / "x.pt", TRUSTED)
    with pytest.raises(ModelError, match="mkdir"):
        pickled.load(tmp_path / "x.pt", CLASSES)

    assert not mark.exists()


@pytest.mark.parametrize("keep", [0, 3, 1000, -1000])
def test_an_empty_or_truncated_file_is_named(keep, tmp_path):
    path = tmp_path / "forward.pt"
    path.write_bytes((DATA / "forward.pt").read_bytes()[:keep])

    for place in (path, tmp_path):
        card = spec.card(place, allow_pickle=True)
        assert "forward.pt is damaged" in card.problems[0]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"hidden_size": 25}, "rnn.weight_ih_l0"),
        ({"nlayers": 2}, "rnn.weight_ih_l1"),
        ({"hidden_size": 10**9}, "size"),
        ({"embedding_size": -1}, "size"),
        ({"dictionary": {}}, "dictionary"),
        ({"recurrent_type": "SRU"}, "SRU"),
        ({"state_dict": {}}, "encoder.weight"),
    ],
)
def test_settings_that_contradict_the_weights_are_named(settings, reason, tmp_path):
    path = changed(tmp_path / "x.pt", **settings)

    (problem,) = spec.card(path, allow_pickle=True).problems

    assert reason.lower() in problem.lower() and "x.pt" in problem
    with pytest.raises(ModelError):
        load(path, TRUSTED)


def test_another_file_of_torch_is_no_language_model(tmp_path):
    torch.save({"weight": torch.zeros(2)}, tmp_path / "other.pt")

    assert "not a language model of Flair" in spec.card(tmp_path / "other.pt").problems[0]


def test_characters_of_another_model_are_refused(tmp_path):
    FAMILY.save(load(DATA / "forward.pt", TRUSTED), tmp_path)
    path = tmp_path / FILE
    path.write_text(path.read_text("utf-8").replace('"size": 58', '"size": 59'), "utf-8")

    with pytest.raises(ModelError, match="another model"):
        load(tmp_path, TRUSTED)


def test_a_damaged_table_of_characters_is_named(tmp_path):
    FAMILY.save(load(DATA / "forward.pt", TRUSTED), tmp_path)
    (tmp_path / FILE).write_text('{"next": {"ids": {"a": 7}, "size": 3, "delimiter": "x"}}')

    with pytest.raises(ModelError, match=FILE):
        spec.preparer(tmp_path)


def test_dropout_of_a_run_replaces_the_configured_one_while_in_memory(tmp_path):
    encoder = load(DATA / "projected.pt", LoadOptions(allow_pickle=True, dropout=0.5))
    FAMILY.save(encoder, tmp_path)

    assert encoder.model("next").layers[0].dropout.p == 0.5
    assert pickled.load(tmp_path / "forward.pt", CLASSES)["dropout"] == 0.25


def test_the_words_of_a_text_are_shown_as_the_model_reads_them(tmp_path):
    for place in (DATA / "forward.pt", DATA / "backward.pt"):
        preparer = spec.preparer(place)
        (encoded,) = preparer.whole([flair_models.documents()[2]], 100).inputs

        assert preparer.pieces(encoded)[:6] == ["�he", "na�ve", "café", "costs", "�", "5"]
        assert np.array_equal(encoded.offsets[1], [4, 9])


def test_random_weights_have_the_architecture_of_the_file_and_follow_the_seed():
    options = LoadOptions(allow_pickle=True, random=True, seed=3)
    pretrained, first, second = (
        load(DATA / "projected.pt", chosen) for chosen in (TRUSTED, options, options)
    )

    for name, value in pretrained.state_dict().items():
        assert torch.equal(first.state_dict()[name], second.state_dict()[name])
        assert value.shape == first.state_dict()[name].shape
    assert first.model("next").characters.table.weight.abs().max() <= 0.1


def test_weights_are_hashed_with_the_file_or_folder(tmp_path):
    folder = flair_models.pair(tmp_path / "both")

    assert folders.sha256(folder) != folders.sha256(folder / "forward.pt")
    (folder / "backward.pt").unlink()
    assert folders.sha256(folder) == folders.sha256(folder / "forward.pt")


def test_a_folder_of_an_earlier_version_is_asked_about_once(tmp_path):
    """It has no checksums; the answer is kept in the settings, for all its uses."""
    FAMILY.save(load(DATA / "forward.pt", TRUSTED), tmp_path)
    with pytest.raises(ModelError, match="pickle") as caught:
        load(tmp_path, LoadOptions())
    assert f"glossbench models add {tmp_path} --allow-pickle" in caught.value.hint

    chosen = settings.load()
    chosen.pickle_allowed = [str(tmp_path)]
    chosen.save()

    assert load(tmp_path, LoadOptions()).directions == ("next",)
