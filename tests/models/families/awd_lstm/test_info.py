"""Cards of AWD-LSTM files: sizes from the weights, directions, and files that cannot be used."""

import json
import pickle
import shutil
from pathlib import Path

import pytest
import torch

from tests.models.families.awd_lstm.conftest import DATA
from workbench.base import checksums, owned_folder
from workbench.base.errors import ModelError
from workbench.models import spec

# By hand: 48 × 12 embeddings; layers of 12 → 20, 20 → 20 and 20 → 12; 48 biases of the decoder.
PARAMETERS = 48 * 12 + 4 * (20 * (12 + 20 + 2) + 20 * (20 + 20 + 2) + 12 * (20 + 12 + 2)) + 48


def problems(path):
    return "; ".join(spec.card(path, allow_pickle=True).problems)


@pytest.mark.parametrize("layout", ["v2", "v1", "v2_bwd", "untied"])
def test_sizes_come_from_the_weights(layout):
    card = spec.card(DATA / layout, allow_pickle=True)

    assert card.family == card.architecture == "awd_lstm" and card.usable
    assert (card.layers, card.width, card.vocabulary) == (3, 12, 48)
    more = 48 * 12 if layout == "untied" else 0
    assert card.parameters == PARAMETERS + more


def test_the_layout_of_fastai_07_has_no_bias_of_the_decoder():
    card = spec.card(DATA / "v07", allow_pickle=True)

    assert card.usable and card.parameters == PARAMETERS - 48
    assert card.gives == ("states", "next_lm")


def test_a_pickle_is_described_but_asks_first():
    card = spec.card(DATA / "v2")

    assert card.only_untrusted and card.layers == 3


def test_a_folder_that_glossbench_wrote_needs_no_confirmation(tmp_path):
    folder = tmp_path / "mine"
    owned_folder.create(folder)
    for path in (DATA / "v2").iterdir():
        shutil.copy(path, folder)

    assert spec.card(folder).only_untrusted  # anyone can write the marker

    checksums.write(folder)

    assert spec.card(folder).usable
    with pytest.raises(ModelError, match="pickle") as caught:
        spec.read_folder(DATA / "v2")
    assert "--allow-pickle" in caught.value.hint


def test_a_name_with_bwd_reads_backwards():
    gives = [spec.card(DATA / name, allow_pickle=True).gives for name in ("v2", "v2_bwd")]

    assert gives == [("states", "next_lm"), ("states", "previous_lm")]


def test_a_single_file_is_a_model_with_the_vocabulary_beside_it(copied):
    folder = copied("v2")
    other = folder / "other.pkl"
    other.write_bytes(pickle.dumps(["of", "another", "model"]))

    card = spec.card(folder / "lm.pth", allow_pickle=True)

    assert card.usable and spec.preparer(folder / "lm.pth").size == 48


def test_an_encoder_alone_gives_states_but_no_words(copied):
    folder = copied("v2")
    state = torch.load(folder / "lm.pth")
    torch.save({n[2:]: v for n, v in state.items() if n[0] == "0"}, folder / "lm.pth")

    assert spec.card(folder, allow_pickle=True).gives == ("states",)


def test_quasi_recurrent_layers_are_refused(copied):
    folder = copied("v2")
    state = {
        "0.encoder.weight": torch.zeros(48, 12),
        "0.rnns.0.layers.0.linear.weight_raw": torch.zeros(3),
    }  # noqa: E501
    torch.save(state, folder / "lm.pth")

    assert "QRNN" in problems(folder)


def test_a_vocabulary_of_another_model_is_named_with_both_sizes(copied):
    folder = copied("v2")
    (folder / "lm_vocab.pkl").write_bytes(pickle.dumps(["xxunk", "the"]))

    found = problems(folder)

    assert "of lm_vocab.pkl (2)" in found and "48" in found


def test_a_pickled_payload_in_the_vocabulary_is_not_executed(copied, tmp_path):
    class Payload:
        def __reduce__(self):
            return Path.touch, (tmp_path / "executed",)

    folder = copied("v2")
    (folder / "lm_vocab.pkl").write_bytes(pickle.dumps(Payload()))

    assert "lm_vocab.pkl" in problems(folder)
    assert not (tmp_path / "executed").exists()


def damaged(folder, how):
    weights = folder / "lm.pth"
    if how == "empty":
        weights.write_bytes(b"")
    elif how == "truncated":
        weights.write_bytes(weights.read_bytes()[:9000])
    elif how == "text":
        weights.write_text("weights")
    elif how == "other":
        torch.save({"linear.weight": torch.zeros(3, 3)}, weights)
    elif how == "sizes":
        state = torch.load(weights)
        state["0.rnns.1.module.bias_ih_l0"] = torch.zeros(7)
        torch.save(state, weights)
    elif how == "list":
        torch.save([torch.zeros(3)], weights)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("empty", "lm.pth is damaged"),
        ("truncated", "lm.pth is damaged"),
        ("text", "lm.pth is damaged"),
        ("other", "does not hold the weights of an AWD-LSTM"),
        ("list", "does not hold the weights of an AWD-LSTM"),
        ("sizes", "bias_ih_l0 has the shape [7], expected [80]"),
    ],
)
def test_damaged_weights_are_named(how, message, copied):
    folder = copied("v2")
    damaged(folder, how)

    card = spec.card(folder, allow_pickle=True)

    assert message in "; ".join(card.problems)
    with pytest.raises(ModelError, match="itos.pkl"):
        spec.read_folder(folder, allow_pickle=True)


@pytest.mark.parametrize("content", ['{"a": 1}', "[1, 2]", "[]", "no"])
def test_a_vocabulary_without_words_is_named(content, copied):
    folder = copied("v2")
    (folder / "lm_vocab.pkl").unlink()
    (folder / "itos.json").write_text(content)

    assert "itos.json" in problems(folder)
    with pytest.raises(ModelError, match=r"itos\.json"):
        spec.preparer(folder)


def test_a_vocabulary_may_be_json(copied):
    folder = copied("v2")
    words = pickle.loads((folder / "lm_vocab.pkl").read_bytes())
    (folder / "lm_vocab.pkl").unlink()
    (folder / "itos.json").write_text(json.dumps({"itos": words}))

    assert spec.preparer(folder).size == 48


def test_several_files_of_weights_are_named(copied):
    folder = copied("v2")
    (folder / "second.pth").write_bytes((folder / "lm.pth").read_bytes())

    assert "found 2 (lm.pth, second.pth)" in problems(folder)
