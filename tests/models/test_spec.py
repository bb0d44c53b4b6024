"""Cards are read from headers and configurations; what is wrong with a folder is said by name."""

import json
import shutil
import struct
import subprocess
import sys
from dataclasses import replace

import pytest

from workbench.base import paths
from workbench.base.errors import ModelError
from workbench.models import spec


@pytest.fixture
def folder(tmp_path):
    """A folder of a two-tensor model, written by hand."""
    path = tmp_path / "small"
    path.mkdir()
    write_weights(path / "model.safetensors", {"a": ("F32", [2, 3]), "ids": ("I64", [4])})
    config = {
        "model_type": "bert",
        "num_hidden_layers": 2,
        "hidden_size": 3,
        "vocab_size": 9,
        "max_position_embeddings": 16,
        "architectures": ["BertForMaskedLM"],
    }
    (path / "config.json").write_text(json.dumps(config))
    (path / "tokenizer.json").write_text("{}")
    return path


def write_weights(path, tensors):
    table, at = {}, 0
    for name, (kind, shape) in tensors.items():
        size = {"F32": 4, "F16": 2, "I64": 8}[kind]
        for one in shape:
            size *= one
        table[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    head = json.dumps(table).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + bytes(at))


def test_the_starters_are_read_without_loading_torch():
    code = "import sys; from workbench.models import spec; print([(m.name, m.layers, m.width, m.vocabulary, m.max_length, m.licence, m.uses, m.problems) for m in spec.starters()]); assert not {'torch', 'transformers', 'numpy'} & set(sys.modules)"

    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout

    assert (
        "('starter-bert', 6, 384, 30522, 512, 'apache-2.0', ('classify', 'pairs', 'tag', 'mask'), ())"
        in out
    )
    assert (
        "('starter-gpt', 4, 256, 8192, 512, 'apache-2.0', ('classify', 'pairs', 'tag', 'next'), ())"
        in out
    )


def test_an_unchanged_folder_is_not_read_again_and_a_changed_one_is(folder, monkeypatch):
    first = spec.card(folder, name="one")
    reads = []
    monkeypatch.setattr(
        spec, "_read", lambda info, *rest, read=spec._read: reads.append(1) or read(info, *rest)
    )

    assert (
        spec.card(folder, name="two", origin="cache") == replace(first, name="two", origin="cache")
        and not reads
    )

    (folder / "tokenizer.json").write_text("{")
    assert "tokenizer.json is not readable JSON" in spec.card(folder).problems[0]
    (folder / "tokenizer.json").write_text("{}")
    assert spec.card(folder).usable and len(reads) == 2


def test_a_card_counts_weights_and_leaves_position_ids_out(folder):
    card = spec.read_folder(folder)

    assert (card.parameters, card.layers, card.width, card.vocabulary, card.max_length) == (
        6,
        2,
        3,
        9,
        16,
    )
    assert card.dtype == "float32" and "mask" in card.uses and card.usable


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()

    with pytest.raises(ModelError, match=name):
        spec.read_folder(folder)


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


@pytest.mark.parametrize(
    "content", ["", "not json", "[1]", "[" * 100_000, '{"model_type": "vit"}', "{}"]
)
def test_a_configuration_that_is_none_is_refused(folder, content):
    (folder / "config.json").write_text(content)

    with pytest.raises(ModelError, match="config.json"):
        spec.read_folder(folder)


def test_pickled_weights_are_refused_until_confirmed(folder):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x02}q\x00.")

    with pytest.raises(ModelError, match="pickle") as caught:
        spec.read_folder(folder)
    assert "--allow-pickle" in caught.value.hint

    assert spec.read_folder(folder, allow_pickle=True).pickled


def test_a_sharded_model_adds_up_and_names_the_missing_part(folder):
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    write_weights(folder / "model-00002-of-00002.safetensors", {"b": ("F32", [5])})
    shards = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    assert spec.read_folder(folder).parameters == 6 + 5

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


def test_a_broken_folder_still_has_a_card(folder):
    (folder / "model.safetensors").unlink()

    card = spec.card(folder)

    assert card.problems == ("model.safetensors is missing",) and card.layers == 2
    assert spec.card(folder / "nothing").problems == ("there is no such folder",)


def test_roberta_loses_the_two_places_before_its_first_position():
    assert (
        spec.longest_input(
            {"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}
        )
        == 512
    )
    assert (
        spec.longest_input(
            {"model_type": "bert", "max_position_embeddings": 512, "pad_token_id": 0}
        )
        == 512
    )


def test_the_licence_is_read_from_the_head_of_the_card(folder):
    (folder / "README.md").write_text(
        "---\nlicense: mit\ntags:\n- license: other\n---\nlicense: none\n"
    )

    assert spec.read_folder(folder).licence == "mit"


def test_the_cache_lists_the_main_revision_and_passes_other_repositories_over(folder, tmp_path):
    cache = tmp_path / "hub"
    for revision in ("aaa", "bbb"):
        shutil.copytree(folder, cache / "models--some--model" / "snapshots" / revision)
    (cache / "models--some--model" / "refs").mkdir()
    (cache / "models--some--model" / "refs" / "main").write_text("aaa")
    vision = cache / "models--some--vision" / "snapshots" / "ccc"
    shutil.copytree(folder, vision)
    (vision / "config.json").write_text('{"model_type": "vit"}')

    found = spec.cached(cache)

    assert [(one.name, one.origin, one.path.endswith("aaa")) for one in found] == [
        ("some/model", "cache", True)
    ]
    assert spec.cached(tmp_path / "none") == ()


def test_families_agree_with_the_heads_that_transformers_has():
    from transformers.models.auto import modeling_auto as auto

    assert set(auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES) >= spec.FAMILIES
    assert (
        spec.FAMILIES - set(auto.MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES) == spec.NO_TOKEN_HEAD
    )
    assert set(auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES) >= spec.DECODERS
    assert set(auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES) >= spec.ENCODERS


def test_the_english_starter_does_not_know_thai_and_says_so():
    folder = paths.resource("models") / "starter-bert"

    assert spec.unknown_share(folder, ["The tram was late again.", "Thank you, driver!"]) == 0
    assert spec.unknown_share(folder, ["รถรางมาสายอีกแล้ว"]) > 0.1
    assert spec.unknown_warning("m", 0.05) is None and "50%" in spec.unknown_warning("m", 0.5)


def test_a_folder_that_cannot_be_read_is_a_problem_of_its_card(tmp_path, monkeypatch):
    def refused(path, *_more, **_named):
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "model").mkdir()
    monkeypatch.setattr("pathlib.Path.is_file", refused)

    assert spec.card(tmp_path / "model").problems == ("it cannot be read (Permission denied)",)


def test_the_size_of_a_folder_is_not_sought_through_the_whole_disk(tmp_path):
    for depth in ("a.bin", "onnx/b.bin", "x/y/z/c.bin"):
        (tmp_path / depth).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / depth).write_bytes(b"1234")

    assert spec.card(tmp_path).size_bytes == 8
