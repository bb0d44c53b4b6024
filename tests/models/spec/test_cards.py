"""Cards are read from headers and configurations; what is wrong with a folder is said by name."""

import gzip
import io
import pickle
import subprocess
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from tests.vector_files import random_rows, text_of
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


LINES = text_of(random_rows(7, 1), header=False).splitlines()


def archive(*names):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as file:
        for name in names:
            file.writestr(zipfile.ZipInfo(name), b"")  # without the time of day
    return raw.getvalue()


CASES = [
    (pickle.dumps({"a": [1, 2]}), "vectors.txt is a pickle file. Readable are"),
    (archive("archive/data.pkl"), "vectors.txt is a pickle of PyTorch, under an unexpected name"),
    (gzip.compress(b"the 1 2 3", mtime=0), "vectors.txt is a compressed archive. Unpack it"),
    (archive("glove.txt"), "vectors.txt is a compressed archive. Unpack it"),
    (b"GGUF\x03\0\0\0", "vectors.txt is a GGUF file"),
    (b"\x89HDF\r\n\x1a\n\0\0", "vectors.txt is an HDF5 file. ELMo's weights need options.json"),
    (bytes(range(200, 256)), "in no known format: it begins with the bytes c8 c9 ca"),
    (b"the tram is late\n", "vectors.txt is a text file, but not of word vectors: line 1 is 'the"),
    (
        "\n".join([LINES[0], "cat 0.5 0.5 0.5 0.5 0.5 x", *LINES[2:]]).encode(),
        "word vectors of width 6, but vectors.txt, line 2: 'x' is not a number",
    ),
    (
        "\n".join(["7 6", "cat 0.5 0.5 0.5", *LINES[2:]]).encode(),
        "gives the shape 7 × 6, but vectors.txt, line 2 has 3 numbers, expected 6",
    ),
]


@pytest.mark.parametrize("whole", [True, False], ids=["folder", "file"])
@pytest.mark.parametrize(("content", "output"), CASES, ids=range(len(CASES)))
def test_the_one_problem_says_what_it_is(tmp_path, content, output, whole):
    (tmp_path / "vectors.txt").write_bytes(content)

    card = spec.card(tmp_path if whole else tmp_path / "vectors.txt")

    assert len(card.problems) == 1 and output in card.problems[0] and not card.family
    assert "Word vectors" in spec.unusable(card).hint


def test_the_largest_file_that_could_be_a_model_is_described(tmp_path):
    (tmp_path / "notes.txt").write_text("Some notes.")
    np.save(tmp_path / "vectors.npy", np.zeros((20, 4)))

    assert "vectors.npy is a NumPy array" in spec.card(tmp_path).problems[0]


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("elmo_weights.hdf5", "it has weights of ELMo (elmo_weights.hdf5), but options.json"),
        ("wt103.pth", "wt103.pth may be weights of fastai; their vocabulary"),
    ],
)
def test_a_folder_that_lacks_its_second_file_names_it(tmp_path, name, output):
    (tmp_path / name).write_bytes(b"\x80\x02}q\x00.")

    assert [output in problem for problem in spec.card(tmp_path).problems] == [True]


def test_one_file_of_a_hugging_face_folder_leads_to_the_folder(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"\0" * 20)

    (problem,) = spec.card(tmp_path / "model.safetensors").problems

    assert problem == "model.safetensors is one file of a Hugging Face folder. Choose the folder"
    assert "config.json is missing" in spec.card(tmp_path).problems
