"""Tiny BiLSTMs: a new one for given parts, and a saved one of every kind of part."""

from __future__ import annotations

from pathlib import Path

from tests import flair_models, tiny_elmo, tiny_models, vector_files
from workbench.base import paths
from workbench.models import spec
from workbench.models.base import LoadOptions
from workbench.models.families.bilstm.encoder import BilstmEncoder
from workbench.models.families.bilstm.family import BilstmFamily
from workbench.text.document import Document

TEXTS = ("the tram was late at gate 3 .", "Bonn sat on the dog", "a very good tram")
SIZES = {"lstm_width": 8, "word_width": 5, "char_width": 4}


def documents(texts: tuple[str, ...] = TEXTS) -> list[Document]:
    return [Document(str(number), (("text", text),)) for number, text in enumerate(texts)]


def new(embeddings: str, seed: int = 0, random: bool = False, **settings: object) -> BilstmEncoder:
    """A new encoder over these parts, with the vocabulary of TEXTS."""
    given = {**SIZES, "embeddings": embeddings, **settings}
    options = LoadOptions(
        seed=seed, random=random, settings=given, documents=documents(), allow_pickle=True
    )
    card = spec.card(paths.resource("models") / "bilstm")
    return BilstmFamily().load(card, options).eval()


def models(folder: Path) -> dict[str, Path]:
    """One tiny model of each kind of part."""
    folder.mkdir(parents=True)
    published = Path(__file__).parent / "data" / "awd_lstm" / "v2"
    return {
        "vectors": vector_files.make(folder / "vectors"),
        "elmo": tiny_elmo.make(folder / "elmo"),
        "bert": tiny_models.make(folder / "bert", "bert"),
        "awd_lstm": published,
        "char_lm": flair_models.pair(folder / "char_lm"),
    }


def save(encoder: BilstmEncoder, folder: Path) -> None:
    folder.mkdir(exist_ok=True, parents=True)
    BilstmFamily().save(encoder, folder)


def make(folder: Path) -> Path:
    """A saved model over words, characters, vectors and ELMo (of one layer)."""
    parts = folder.parent / "parts"
    parts.mkdir(parents=True)
    vectors = vector_files.make(parts / "vectors")
    elmo = tiny_elmo.make(parts / "elmo", n_layers=1, filters=[[1, 3], [2, 4]])
    save(new(f"words+chars+{vectors}+{elmo}"), folder)
    return folder
