"""Files and folders that hold no model: one message says what they are instead."""

import gzip
import io
import pickle
import zipfile

import numpy as np
import pytest

from tests.vector_files import random_rows, text_of
from workbench.models import spec

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
