"""Headers of weight files: what is damaged or missing is named."""

import json
import struct

import pytest

from tests.models.folders import TENSORS, write_weights
from workbench.base.errors import ModelError
from workbench.models import spec
from workbench.models.spec.blocks import model_map


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 5,
        b"\xff" * 5000,
        struct.pack("<Q", 4) + b"{{{{",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 16) + b'{"a": {"x": 1} }',
    ],
)
def test_damaged_weights_are_named(folder, content):
    (folder / "model.safetensors").write_bytes(content)

    with pytest.raises(ModelError, match="model.safetensors"):
        spec.read_folder(folder)


def test_weights_cut_short_tell_both_sizes(folder):
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])

    with pytest.raises(ModelError, match=f"{len(whole) - 7:,} bytes, expected {len(whole):,}"):
        spec.read_folder(folder)


def test_a_sharded_model_adds_up_and_names_the_missing_part(folder):
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    write_weights(folder / "model-00002-of-00002.safetensors", {"b": ("F32", [5])})
    shards = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    assert spec.read_folder(folder).parameters == 136 + 5

    (folder / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(ModelError, match="model-00002-of-00002.safetensors is missing"):
        spec.read_folder(folder)


def test_an_index_may_not_lead_out_of_the_folder(folder):
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": {"a": "../other/model.safetensors"}})
    )

    with pytest.raises(ModelError, match="outside the folder"):
        spec.read_folder(folder)


def test_constants_in_a_file_are_not_counted_as_parameters(folder):
    """The causal masks of the published GPT-2 are 12,582,912 numbers beside 124,439,808 weights."""
    before = spec.read_folder(folder)
    constants = {"h.0.attn.bias": ("F32", [1, 1, 8, 8]), "final_logits_bias": ("F32", [1, 9])}

    write_weights(folder / "model.safetensors", {**TENSORS, **constants})

    after = spec.read_folder(folder)
    assert after.parameters == before.parameters
    assert sum(block.parameters for block in model_map(after).blocks) == after.parameters
