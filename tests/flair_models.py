"""The small language models of tests/data/char_lm, and what flair computes with them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np

from workbench.text.document import Document

DATA = Path(__file__).parent / "data" / "char_lm"
SENTENCES = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))["sentences"]


def expected(name: str) -> np.ndarray:
    with np.load(DATA / "expected.npz") as arrays:
        return arrays[name]


def pair(folder: Path) -> Path:
    """A folder with a forward and a backward model."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("forward.pt", "backward.pt"):
        shutil.copyfile(DATA / name, folder / name)
    return folder


def tagger(folder: Path) -> Path:
    """A folder with a tagger as published."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(DATA / "tagger.pt", folder / "tagger.pt")
    return folder


def document(words: list[str], number: int = 0) -> Document:
    """A document with these tokens, separated by spaces."""
    tokens, start = [], 0
    for word in words:
        tokens.append((start, start + len(word)))
        start += len(word) + 1
    return Document(str(number), (("text", " ".join(words)),), tokens={"text": tuple(tokens)})


def documents() -> list[Document]:
    return [document(words, number) for number, words in enumerate(SENTENCES)]
