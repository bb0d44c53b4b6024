"""Word vectors as an encoder: the state of a word is its vector, independent of the context."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from bag_of_embeddings import vectors
from bag_of_embeddings.info import INFO, WEIGHTS, WORDS
from bag_of_embeddings.preparer import Words
from workbench.base.errors import ModelError
from workbench.models.base import Encoder, LoadOptions, Parts, States
from workbench.models.spec import ModelInfo
from workbench.runtime.inputs import MASK


class WordVectors(Encoder):
    """A table of vectors. A head that takes their mean makes it a classifier like fastText's.

    Source: Joulin et al. 2016, Bag of Tricks for Efficient Text Classification.
    """

    input_names = ("input_ids", MASK)

    def __init__(self, info: ModelInfo, preparer: Words, table: Tensor):
        super().__init__()
        self.info, self.preparer, self.max_length = info, preparer, info.max_length
        self.table = nn.Embedding.from_pretrained(table, freeze=False, padding_idx=0)

    def forward(self, inputs: Mapping[str, Tensor]) -> States:
        return States((self.table(inputs["input_ids"]),), inputs[MASK].bool(), None)

    def parts(self) -> Parts:
        return Parts(tuple(self.table.parameters()), (), (), (self.table,))


class BagOfEmbeddings:
    """Loads GloVe text files and saved models; saves the table and the list of words."""

    info = INFO

    def heads(self, info: ModelInfo) -> frozenset[str]:
        return frozenset()

    def load(self, info: ModelInfo, options: LoadOptions) -> WordVectors:
        path = Path(info.path)
        preparer = INFO.preparer(path)
        try:
            table = load_file(path / WEIGHTS)["table"] if path.is_dir() else _table(path, info)
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"{path} cannot be loaded: {error}.") from error
        if len(table) != preparer.size:
            raise ModelError(f"{path} holds {len(table)} vectors for {preparer.size} words.")
        return WordVectors(info, preparer, table)

    def save(self, encoder: WordVectors, folder: Path) -> None:
        table = encoder.table.weight.detach().cpu().contiguous()
        save_file({"table": table}, folder / WEIGHTS)
        about = {"words": [], "width": table.shape[1]}
        (folder / WORDS).write_text(json.dumps(about), encoding="utf-8")
        encoder.preparer.save(folder)


def _table(path: Path, info: ModelInfo) -> Tensor:
    """float32 (words + 2, width): padding is zero, an unknown word the mean of all vectors."""
    rows = [vector for _word, vector in vectors.read(path, info.width)]
    found = torch.tensor(rows, dtype=torch.float32)
    return torch.cat([torch.zeros(1, info.width), found.mean(0, keepdim=True), found])
