"""Pickled weights are described without unpickling them."""

import os
import pickle
import struct
import zipfile

import pytest

from workbench.base.errors import ModelError
from workbench.models import spec
from workbench.models.formats import pickles

torch = pytest.importorskip("torch")


def state():
    shared = torch.zeros(9, 4)
    return {
        "bert.embeddings.word_embeddings.weight": shared,
        "bert.embeddings.position_embeddings.weight": torch.zeros(16, 4),
        "bert.embeddings.position_ids": torch.arange(16).unsqueeze(0),
        "bert.encoder.layer.0.output.dense.weight": torch.nn.Parameter(torch.zeros(4, 4)),
        "bert.encoder.layer.1.output.dense.weight": torch.zeros(4, 4),
        "cls.predictions.transform.dense.weight": torch.zeros(4, 4),
        "cls.predictions.decoder.weight": shared,
    }


@pytest.fixture(params=[True, False], ids=["archive", "before torch 1.6"])
def pickled(request, folder):
    """A folder whose weights are pickled, in either layout of torch.save."""
    (folder / "model.safetensors").unlink()
    path = folder / "pytorch_model.bin"
    torch.save(state(), path, _use_new_zipfile_serialization=request.param)
    return folder


def test_pickled_weights_are_refused_until_confirmed(pickled):
    with pytest.raises(ModelError, match="pickle") as caught:
        spec.read_folder(pickled)
    assert "--allow-pickle" in caught.value.hint

    assert spec.read_folder(pickled, allow_pickle=True).pickled


def test_the_card_is_whole_before_the_weights_are_confirmed(pickled):
    card = spec.card(pickled)

    assert card.untrusted and card.only_untrusted
    assert card.parameters == 9 * 4 + 16 * 4 + 3 * 16  # shared ones once, position ids not at all
    assert card.dtype == "float32" and "masked_lm" in card.gives
    assert "pytorch_model.bin" in dict(card.files)


def test_a_head_that_the_pickle_lacks_is_not_offered(folder):
    (folder / "model.safetensors").unlink()
    body = {name: value for name, value in state().items() if not name.startswith("cls")}
    torch.save(body, folder / "pytorch_model.bin")

    assert "masked_lm" not in spec.card(folder).gives


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("archive", [True, False])
def test_nothing_in_a_pickle_is_run(tmp_path, archive):
    path = tmp_path / "pytorch_model.bin"
    evil = {"a.weight": torch.zeros(2), "b": Evil(str(tmp_path / "was here"))}
    torch.save(evil, path, _use_new_zipfile_serialization=archive)

    assert [tensor.name for tensor in pickles.tensors(path, [])] == ["a.weight"]
    assert not (tmp_path / "was here").exists()


@pytest.mark.parametrize(
    "content",
    [b"", b"\x80\x02}q\x00.", b"PK\x03\x04" + bytes(100), struct.pack("<Q", 8) + b"{}      "],
)
def test_a_file_that_torch_did_not_write_is_named(tmp_path, content):
    path = tmp_path / "pytorch_model.bin"
    path.write_bytes(content)
    problems = []

    assert pickles.tensors(path, problems) == ()
    assert "pytorch_model.bin is damaged" in problems[0]


def test_an_archive_cut_short_is_named(tmp_path):
    path = tmp_path / "pytorch_model.bin"
    torch.save(state(), path)
    path.write_bytes(path.read_bytes()[:-200])
    problems = []

    assert pickles.tensors(path, problems) == () and "truncated" in problems[0]


@pytest.mark.parametrize(
    "instructions",
    [
        pickle.dumps([1, 2]),
        pickle.dumps({"a": [[]] * 3, "b": {1: None}}),
        b"\x80\x04(((((((((.",
        b"\x80\x04" + b"]" * 1000 + b".",
        b"\x80\x04cposix\nsystem\n.",
        b"\x80\x04\x8a\xff",
        b"garbage",
    ],
)
def test_instructions_that_describe_no_tensors_give_none(tmp_path, instructions):
    path = tmp_path / "pytorch_model.bin"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", instructions)

    assert pickles.tensors(path, []) == ()
