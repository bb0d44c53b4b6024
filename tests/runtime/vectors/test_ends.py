"""Damaged and truncated files are recognized without reading them whole."""

import os
import time

import numpy as np
import pytest

from tests.vector_files import WIDTH, WORDS, binary_of, native_of, text_of
from workbench.runtime.vectors import ends, files

NAMES = ("words.bin", "words.txt", "glove.txt", "words.vec", "native.bin")


def problems_of(path, content):
    path.write_bytes(content)
    header, problems = files.header(path)
    return problems or ends.problems(path, header)


@pytest.mark.parametrize("name", NAMES)
def test_a_complete_file_has_no_problems(written, name):
    assert ends.problems(written[name], files.header(written[name])[0]) == []


@pytest.mark.parametrize("name", NAMES)
def test_half_a_file_has_one_problem(written, name):
    content = written[name].read_bytes()

    assert len(problems_of(written[name], content[: len(content) // 2])) == 1


def test_a_line_of_another_width_is_named(tmp_path, values):
    lines = text_of(values, header=False).split("\n")
    lines[2] = "dog 0.1 0.2"

    found = problems_of(tmp_path / "a.txt", "\n".join(lines).encode())

    assert found == [
        f"a.txt, line 3 has 2 numbers, expected {WIDTH}. The file is damaged or truncated. "
        "Download it again"
    ]


def test_the_line_in_which_a_long_text_ends_is_named(tmp_path):
    rows = [f"word{number} " + " ".join(["0.25"] * 50) for number in range(2000)]
    content = "\n".join([*rows, "last 0.25 0.25"]).encode()
    assert len(content) > ends.TAIL

    (problem,) = problems_of(tmp_path / "a.txt", content)

    assert problem.startswith("a.txt, line 2001 has 2 numbers, expected 50")


def test_a_text_that_ends_between_two_lines_has_too_few_words(tmp_path, values):
    lines = text_of(values).encode().splitlines(keepends=True)

    (problem,) = problems_of(tmp_path / "a.vec", b"".join(lines[:-3]))

    assert "the number of words is about 4, the first line gives 7" in problem


@pytest.mark.parametrize("newline", [b"\n", b""])
def test_a_binary_file_that_lacks_some_bytes_is_recognized(tmp_path, values, newline):
    """Words are longer than the shortest possible, so that the size alone does not tell."""
    content = binary_of(values, newline=newline)
    assert problems_of(tmp_path / "a.bin", content) == []

    (problem,) = problems_of(tmp_path / "b.bin", content[:-9])

    assert "b.bin is truncated, or its header is wrong" in problem


def test_long_words_hide_no_missing_part_of_a_fasttext_file(tmp_path, values, grams):
    words = [f"{word}{'x' * 50}" for word in WORDS]
    content = native_of(values, grams, words)
    assert problems_of(tmp_path / "a.bin", content) == []

    (problem,) = problems_of(tmp_path / "b.bin", content[:-100])

    assert problem.startswith("b.bin is damaged") and "incomplete" in problem


def test_words_of_a_large_file_are_estimated_in_a_moment(tmp_path):
    """A sparse file of 4 GB: zeros have no line ends, so that it seems to hold few words."""
    row = b"word " + b" ".join([b"0.125"] * 300) + b"\n"
    path = tmp_path / "large.vec"
    path.write_bytes(b"2000000 300\n" + row * 200)
    os.truncate(path, 4_000_000_000)
    with open(path, "r+b") as file:
        file.seek(-len(row) * 200, os.SEEK_END)
        file.write(b"\n" + (row * 200)[1:])
    header, problems = files.header(path)

    started = time.perf_counter()
    (problem,) = problems or ends.problems(path, header)

    assert time.perf_counter() - started < 1
    assert "the first line gives 2,000,000" in problem


def test_the_estimate_of_a_long_text_is_close(tmp_path):
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 12, 60_000)
    rows = [f"{'w' * length} " + " ".join(["-0.123"] * 8) for length in lengths]
    path = tmp_path / "long.vec"

    assert problems_of(path, "\n".join([f"{len(rows)} 8", *rows, ""]).encode()) == []
    assert path.stat().st_size > ends.COUNTED
    assert problems_of(path, "\n".join([f"{len(rows) * 6 // 5} 8", *rows, ""]).encode())
