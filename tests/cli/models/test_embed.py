"""`glossbench embed`: files of numpy arrays."""

import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tests import tiny_elmo

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("forked_workers")]


@pytest.fixture
def model(tmp_path):
    return tiny_elmo.make(tmp_path / "elmo")


@pytest.mark.parametrize("more", [(), ("--text", "a", "--input", "x.txt")], ids=["neither", "both"])
def test_either_texts_or_a_file_is_required(call, tmp_path, more):
    code, out, err = call("embed", "starter-bert", tmp_path / "out.npz", *more)

    assert code == 2 and "Either --text or --input is required" in err and out == ""


def test_tokens_of_a_conll_file_are_the_words(ask, model, tmp_path):
    source, out = tmp_path / "words.conll", tmp_path / "out.npz"
    source.write_text("the O\ntram-stop O\n\nlate O\n", encoding="utf-8")

    report = ask("embed", "embed", model, out, "--input", source)

    assert (report["documents"], report["rows"], report["width"]) == (2, 3, 12)
    assert report["layers"] == ["layer_0", "layer_1", "layer_2"]
    with np.load(out) as arrays:
        assert arrays["0/offsets"].tolist() == [[0, 3], [4, 13]]
        assert arrays["0/layer_0"].shape == (2, 12) and arrays["0/layer_0"].dtype == np.float32


def test_words_between_spaces_are_kept_whole(ask, model, tmp_path):
    text, out = "don't stop-here .", tmp_path / "out.npz"

    ask("embed", "embed", model, out, "--text", text, "--tokens", "space")

    with np.load(out) as arrays:
        result = [text[start:end] for start, end in arrays["0/offsets"]]
    assert result == ["don't", "stop-here", "."]


def test_the_written_file_is_described_in_words(call, model, tmp_path):
    out = tmp_path / "out.npz"

    code, message, err = call("embed", model, out, "--text", "the tram", "--layers", "last")

    assert code == 0, err
    assert "2 rows of 1 document, 1 layer, width 12" in message and out.is_file()


@pytest.mark.parametrize("place", ["", "missing/out.npz"])
def test_a_place_that_cannot_be_written_is_named_before_the_model_is_loaded(
    call, model, tmp_path, place
):
    code, _out, err = call("embed", model, tmp_path / place, "--text", "a")

    assert code == 1 and ("is a folder" in err or "There is no folder" in err)


def test_the_reference_list_is_equal_in_order(call, data_folder, tmp_path):
    """The outputs of the original TensorFlow implementation, see shared/reference/README.md."""
    h5py = pytest.importorskip("h5py")
    folder = data_folder / "reference" / "elmo"
    if not folder.is_dir():
        pytest.skip(f"no reference outputs in {folder}")
    lists = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
    source, out = tmp_path / "list.txt", tmp_path / "out.npz"
    source.write_text("\n".join(lists[0]), encoding="utf-8")

    code, _told, err = call(
        "embed", folder, out, "--input", source, "--tokens", "space", "--stateful"
    )

    assert code == 0, err
    with np.load(out) as arrays, h5py.File(folder / "lm_embeddings_0.hdf5") as expected:
        for number in range(10):
            top = np.concatenate(expected[str(number)][...], -1)
            np.testing.assert_allclose(arrays[f"{number}/layer_2"], top, atol=1e-5)


def test_states_that_are_no_numbers_are_a_warning(ask, call, tiny_model, tmp_path):
    model = shutil.copytree(tiny_model, tmp_path / "broken")
    weights = load_file(model / "model.safetensors")
    name = next(name for name in weights if name.endswith("word_embeddings.weight"))
    weights[name][:] = np.nan
    save_file(weights, model / "model.safetensors")
    texts = ("--text", "tram", "--text", "bus")

    report = ask("embed", "embed", model, tmp_path / "out.npz", *texts)
    code, _message, err = call("embed", model, tmp_path / "out.npz", *texts)

    assert report["not_finite"] == 2 and code == 0
    assert "Warning: 2 documents have states that are infinite or not a number" in err
    assert ask("embed", "embed", tiny_model, tmp_path / "out.npz", *texts)["not_finite"] == 0
