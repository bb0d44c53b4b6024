"""A tiny text whose next words can be learned, and tiny models."""

import pytest

from tests import tiny_models

SENTENCES = (
    "the tram is late today",
    "a bus from harbour gate to north field",
    "thank you for the ride",
    "the bus is late",
)


@pytest.fixture(scope="session")
def text_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    documents = ["\n".join(SENTENCES[number % 4 :] + SENTENCES[:2]) for number in range(200)]
    path.write_text("\n\n".join(documents), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """Folders of a tiny BERT and GPT-2."""
    folder = tmp_path_factory.mktemp("models")
    return {kind: tiny_models.make(folder / kind, kind) for kind in ("bert", "gpt2")}
