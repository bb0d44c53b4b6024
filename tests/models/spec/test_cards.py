"""Cards are read from headers and configurations; what is wrong with a folder is said by name."""

import subprocess
import sys
from dataclasses import replace

import pytest

from workbench.base.errors import ModelError
from workbench.models import spec
from workbench.models.spec import cards


def test_the_starters_are_read_without_loading_torch():
    code = (
        "import sys; from workbench.models import spec; "
        "print([(m.name, m.layers, m.width, m.vocabulary, m.max_length, m.licence, m.gives, "
        "m.problems) for m in spec.starters()]); "
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )

    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout

    assert (
        "('starter-bert', 6, 384, 30522, 512, 'apache-2.0', "
        "('states', 'attention', 'token_embeddings', 'attention_steps', "
        "'masked_lm', 'layer_logits', 'sentence_pairs'), ())" in out
    )
    assert (
        "('starter-gpt', 4, 256, 8192, 512, 'apache-2.0', "
        "('states', 'attention', 'token_embeddings', 'attention_steps', "
        "'next_lm', 'layer_logits'), ())" in out
    )


def test_an_unchanged_folder_is_not_read_again_and_a_changed_one_is(folder, monkeypatch):
    first = spec.card(folder, name="one")
    reads = []
    monkeypatch.setattr(
        cards, "_read", lambda *given, read=cards._read: reads.append(1) or read(*given)
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
        9 * 4 + 16 * 4 + 2 * 16 + 4,
        2,
        4,
        9,
        16,
    )
    assert card.dtype == "float32" and "masked_lm" in card.gives and card.usable


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()

    with pytest.raises(ModelError, match=name):
        spec.read_folder(folder)


@pytest.mark.parametrize(
    "content", ["", "not json", "[1]", "[" * 100_000, '{"model_type": "vit"}', "{}"]
)
def test_a_configuration_that_is_none_is_refused(folder, content):
    (folder / "config.json").write_text(content)

    with pytest.raises(ModelError, match="config.json"):
        spec.read_folder(folder)


def test_a_broken_folder_still_has_a_card(folder):
    (folder / "model.safetensors").unlink()

    card = spec.card(folder)

    assert card.problems == ("model.safetensors is missing",) and card.layers == 2
    assert spec.card(folder / "nothing").problems == ("there is no such file or folder",)


def test_the_licence_is_read_from_the_head_of_the_card(folder):
    (folder / "README.md").write_text(
        "---\nlicense: mit\ntags:\n- license: other\n---\nlicense: none\n"
    )

    assert spec.read_folder(folder).licence == "mit"


def test_a_folder_that_cannot_be_read_is_a_problem_of_its_card(tmp_path, monkeypatch):
    def refused(path, *_more, **_named):
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "model").mkdir()
    monkeypatch.setattr("pathlib.Path.is_file", refused)

    assert spec.card(tmp_path / "model").problems == ("it cannot be read (Permission denied)",)


def test_a_model_whose_family_is_of_a_plugin_that_is_not_enabled_names_the_plugin(tmp_path):
    (tmp_path / "model.gru").write_bytes(b"weights")
    (tmp_path / "glossbench.json").write_text('{"task": "classify", "family": "lines.gru"}')

    with pytest.raises(ModelError, match="family lines.gru needs the plugin lines") as caught:
        spec.read_folder(tmp_path)

    assert "`glossbench plugins enable lines`" in caught.value.hint


@pytest.mark.parametrize("config", [False, True])  # models of words have one beside the graph
def test_an_onnx_export_is_named_as_one(tmp_path, config):
    for name in ("model.onnx", "labels.json", *(["config.json"] if config else [])):
        (tmp_path / name).write_text("{}")

    (problem,) = spec.card(tmp_path).problems

    assert "it is an ONNX export" in problem


def test_the_size_of_a_folder_is_not_sought_through_the_whole_disk(tmp_path):
    for depth in ("a.bin", "onnx/b.bin", "x/y/z/c.bin"):
        (tmp_path / depth).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / depth).write_bytes(b"1234")

    assert spec.card(tmp_path).size_bytes == 8
