"""Files of ELMo models: cards, damaged files, saving."""

import json
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")
h5py = pytest.importorskip("h5py")

from tests import tiny_elmo  # noqa: E402
from workbench.base.errors import ModelError  # noqa: E402
from workbench.models import spec as models  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.families.elmo.family import ElmoFamily  # noqa: E402
from workbench.models.loading import load  # noqa: E402


@pytest.fixture
def folder(tmp_path):
    return tiny_elmo.make(tmp_path / "elmo")


def stored(path):
    result = {}
    with h5py.File(path) as file:
        file.visititems(
            lambda name, item: result.update({name: item[...]} if hasattr(item, "shape") else {})
        )
    return result


def test_the_card_is_that_of_the_options_and_weights(folder):
    card = models.card(folder)

    assert card.usable and (card.family, card.architecture) == ("elmo", "elmo")
    assert (card.layers, card.width, card.vocabulary) == (2, 12, 0)
    assert card.parameters == sum(value.size for value in stored(folder / "weights.hdf5").values())
    assert card.to_json()["family"] == "elmo"


def test_without_a_softmax_the_card_says_that_no_words_are_predicted(folder):
    card = models.card(folder)

    assert card.gives == ("states",)
    assert "softmax" in card.notes[0]
    with pytest.raises(ModelError, match="predicts no words"):
        load(folder, LoadOptions(head="next"))


def test_a_softmax_file_gives_the_next_and_previous_word(tmp_path):
    card = models.card(tiny_elmo.make(tmp_path / "elmo", softmax=True))

    assert card.usable and {"next_lm", "previous_lm"} <= {*card.gives} and not card.notes
    assert card.vocabulary == len(tiny_elmo.WORDS)


def test_published_names_with_a_prefix_are_found(folder):
    for name in ("options.json", "weights.hdf5"):
        (folder / name).rename(folder / f"elmo_2x4096_512_{name}")

    assert models.card(folder).usable
    load(folder, LoadOptions())


@pytest.mark.parametrize("softmax", [False, True])
def test_saved_files_are_equal_and_load_again(tmp_path, softmax):
    folder = tiny_elmo.make(tmp_path / "elmo", softmax=softmax)
    head = "previous" if softmax else ""
    encoder, target = load(folder, LoadOptions(head=head)), tmp_path / "saved"
    target.mkdir()

    ElmoFamily().save(encoder, target)

    for file in folder.glob("*.hdf5"):
        before, after = stored(file), stored(target / file.name)
        assert before.keys() == after.keys()
        assert all(np.array_equal(before[name], after[name]) for name in before)
    assert json.loads((target / "options.json").read_text()) == tiny_elmo.OPTIONS
    load(target, LoadOptions(head=head))


BAD_OPTIONS = {
    "projection_dim": "wide",
    "n_layers": 0,
    "cell_clip": -1,
    "filters": [[1, 3], [2]],
    "activation": "gelu",
    "n_characters": 1000,
    "max_characters_per_token": None,
    "embedding": {"dim": 10**9},
}


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_an_option_out_of_range_is_named(folder, name):
    raw = json.loads((folder / "options.json").read_text())
    part = "lstm" if name in raw["lstm"] else "char_cnn"
    raw[part][name] = BAD_OPTIONS[name]
    (folder / "options.json").write_text(json.dumps(raw))

    card = models.card(folder)

    expected = "dim" if name == "embedding" else name
    assert any(f"options.json gives {expected} as" in problem for problem in card.problems)


def test_other_sizes_than_in_the_options_are_named(folder):
    other = tiny_elmo.make(folder.parent / "other", dim=11)
    (other / "weights.hdf5").replace(folder / "weights.hdf5")

    problems = models.card(folder).problems

    assert "W_0 in the shape [12, 44], options.json says [12, 40]" in " ".join(problems)


def test_a_missing_dataset_is_named(folder):
    with h5py.File(folder / "weights.hdf5", "a") as file:
        del file["RNN_1/RNN/MultiRNNCell/Cell1"]

    assert "has no dataset RNN_1/RNN/MultiRNNCell/Cell1" in " ".join(models.card(folder).problems)


def _empty(path):
    path.write_bytes(b"")


def _truncated(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _pickled(path):
    path.write_bytes(pickle.dumps({"weights": [1, 2]}))


def _damaged(path):
    raw = bytearray(path.read_bytes())
    raw[200:1200] = bytes(1000)
    path.write_bytes(raw)


@pytest.mark.parametrize("spoil", [_empty, _truncated, _pickled, _damaged])
def test_damaged_weights_are_a_problem_of_the_card_and_are_not_loaded(folder, spoil):
    info = models.card(folder)
    spoil(folder / "weights.hdf5")

    assert "weights.hdf5" in " ".join(models.card(folder).problems)
    with pytest.raises(ModelError, match=r"weights.hdf5"):
        ElmoFamily().load(info, LoadOptions())


def test_damaged_options_are_a_problem_of_the_card(folder):
    (folder / "options.json").write_text("{")

    assert "options.json is not readable JSON" in " ".join(models.card(folder).problems)


def test_weights_stored_in_another_file_are_not_read(folder, tmp_path):
    (tmp_path / "secret").write_bytes(bytes(100_000))
    with h5py.File(folder / "weights.hdf5", "a") as file:
        del file["CNN_proj/b_proj"]
        file["CNN_proj"].create_dataset(
            "b_proj", (6,), "f4", external=[(str(tmp_path / "secret"), 0, 24)]
        )

    assert "has no dataset CNN_proj/b_proj" in " ".join(models.card(folder).problems)


def test_a_vocabulary_of_another_model_is_named(tmp_path):
    folder = tiny_elmo.make(tmp_path / "elmo", softmax=True)
    (folder / "vocab.txt").write_text("a\nb\n", encoding="utf-8")

    (problem,) = models.card(folder).problems

    assert problem.startswith("Number of words: 2 in vocab.txt, ")
    assert problem.endswith("they are from different models")


def test_other_folders_with_options_are_no_elmo_models(tmp_path):
    (tmp_path / "options.json").write_text('{"theme": "dark"}')

    assert not models.card(tmp_path).usable
