"""GloVe text files: one word per line, then its numbers, separated by single spaces.

Source: Pennington, Socher and Manning 2014, GloVe, https://nlp.stanford.edu/projects/glove/. The
text format of word2vec is the same after a first line with the number of words and the width.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

MIN_WIDTH = 8  # a narrower table is more likely another format
MAX_WORD_CHARS = 1000  # characters


def width_of(path: Path) -> int:
    """The width of the vectors according to the first lines, 0 for a file in another format."""
    try:
        with open(path, encoding="utf-8", errors="strict") as file:
            lines = [file.readline(1_000_000) for _ in range(3)]
    except (OSError, ValueError):
        return 0
    if _is_header(lines[0]):
        del lines[0]
    widths = {_numbers(line) for line in lines if line}
    found = widths.pop() if len(widths) == 1 else 0
    return found if found >= MIN_WIDTH else 0


def count(path: Path) -> int:
    """Lines of a file that contain a word."""
    lines, last = 0, b"\n"
    with open(path, "rb") as file:
        head = file.readline().decode("utf-8", "replace")
        file.seek(0)
        while block := file.read(1 << 20):
            lines, last = lines + block.count(b"\n"), block[-1:]
    return lines + (last != b"\n") - _is_header(head)


def read(path: Path, width: int) -> Iterator[tuple[str, list[float]]]:
    """Words with their vectors. Raises ValueError that names an invalid line."""
    with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
        for number, line in enumerate(file, 1):
            if number == 1 and _is_header(line):
                continue
            word, *values = line.rstrip(" \r\n").rsplit(" ", width)
            if not line.strip():
                continue
            try:
                vector = [float(value) for value in values]
            except ValueError:
                vector = []
            if len(vector) != width or len(word) > MAX_WORD_CHARS:
                raise ValueError(f"line {number} of {path.name} has not {width} numbers")
            yield word, vector


def _is_header(line: str) -> bool:
    parts = line.split()
    return len(parts) == 2 and all(part.isascii() and part.isdigit() for part in parts)


def _numbers(line: str) -> int:
    """Count of numbers after the word of a line, 0 if there is anything else."""
    _word, *values = line.rstrip(" \r\n").split(" ")
    try:
        return len([float(value) for value in values])
    except ValueError:
        return 0
