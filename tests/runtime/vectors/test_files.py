"""Recognizing files of word vectors from their first bytes, and problems that show there."""

import gzip

import pytest

from tests.vector_files import WIDTH, WORDS, binary_of, native_of, quantized_of, text_of
from workbench.runtime.vectors import files
from workbench.runtime.vectors.files import Format

FORMATS = {
    "words.bin": Format.BINARY,
    "words.txt": Format.TEXT,
    "glove.txt": Format.GLOVE,
    "words.vec": Format.TEXT,
    "native.bin": Format.FASTTEXT,
}


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_recognized(written, name):
    header, problems = files.header(written[name])

    assert (header.format, header.width, problems) == (FORMATS[name], WIDTH, [])
    assert header.words == (0 if name == "glove.txt" else len(WORDS))


def test_ngrams_and_buckets_stand_in_the_header_of_fasttext(written):
    header, _problems = files.header(written["native.bin"])

    assert (header.low, header.high, header.buckets) == (3, 4, 20)


@pytest.mark.parametrize(
    "content",
    [
        b"Some ordinary text.\nAnd more of it.\n",
        b"1 2\n3 4\n5 6\n",
        b"name\tage\nAda\t36\n",
        b"\x80\x02}q\x00.",
        gzip.compress(b"the 1 2 3 4 5", mtime=0),
        b"__label__good a b c d e\n",
    ],
)
def test_other_files_are_not_taken_for_vectors(tmp_path, content):
    path = tmp_path / "file.txt"
    path.write_bytes(content)

    assert files.header(path) == (None, [])


def problem_of(path, content):
    path.write_bytes(content)
    _header, problems = files.header(path)
    return "; ".join(problems)


def test_an_empty_file_is_reported(tmp_path):
    assert problem_of(tmp_path / "a.vec", b"") == "a.vec is empty"


def test_an_empty_file_alone_in_a_folder_is_named(tmp_path):
    (tmp_path / "vectors.bin").touch()
    (tmp_path / "README.md").write_text("Vectors")

    assert files.file_of(tmp_path) == (None, ["vectors.bin is empty"])

    (tmp_path / "config.json").write_text("{}")
    assert files.file_of(tmp_path) == (None, [])


def test_a_truncated_binary_file_is_reported_with_both_sizes(tmp_path, values):
    content = binary_of(values)

    problem = problem_of(tmp_path / "a.bin", content[:-30])

    assert problem.startswith("a.bin is truncated, or its header is wrong: a matrix of 7 × 6")
    assert f"the file has {len(content) - 30:,}" in problem


def test_a_gigantic_header_is_rejected_without_allocating(tmp_path, values):
    content = text_of(values, header=False).encode()

    problem = problem_of(tmp_path / "a.txt", b"9999999999999 300\n" + content)

    assert "9,999,999,999,999 × 300" in problem


def test_a_width_of_zero_is_reported(tmp_path):
    assert problem_of(tmp_path / "a.bin", b"5 0\n\x00\x01") == (
        "its first line gives the shape 5 × 0"
    )


def test_an_unknown_version_of_fasttext_is_named(tmp_path, values, grams):
    problem = problem_of(tmp_path / "a.bin", native_of(values, grams, version=9))

    assert problem == "a.bin has version 9 of the fastText format, known are 11, 12"


def test_a_truncated_fasttext_file_is_reported(tmp_path, values, grams):
    content = native_of(values, grams)

    assert "a.bin is truncated" in problem_of(tmp_path / "a.bin", content[:40])
    assert "a matrix of 27 × 6" in problem_of(tmp_path / "a.bin", content[:300])


@pytest.mark.parametrize("pruned", [(), (5, 77, 1999)], ids=["all n-grams", "pruned"])
def test_a_quantized_fasttext_file_is_not_called_truncated(tmp_path, pruned):
    content = quantized_of(pruned=pruned)

    problem = problem_of(tmp_path / "a.ftz", content)

    assert problem.startswith("a.ftz is a quantized fastText model, which cannot be read. Use the")
    assert "fasttext print-word-vectors a.ftz" in problem
    assert files.file_of(tmp_path)[0] == tmp_path / "a.ftz"
    assert "is truncated" in problem_of(tmp_path / "cut.ftz", content[:150])  # in its dictionary


def test_a_folder_with_one_file_of_vectors_and_a_readme_is_a_model(written, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    written["words.vec"].rename(folder / "words.vec")
    (folder / "README.txt").write_text("1 2\n")
    (folder / "notes.txt").write_text("not vectors\n")

    assert files.file_of(folder) == (folder / "words.vec", [])


def test_a_folder_with_several_files_names_them(written, tmp_path):
    found, problems = files.file_of(tmp_path)

    assert found is None
    assert problems[0].startswith("it holds several files of vectors (glove.txt, native.bin")


def test_a_hugging_face_folder_is_left_to_its_family(written, tmp_path):
    (tmp_path / "config.json").write_text("{}")

    assert files.file_of(tmp_path) == (None, [])
