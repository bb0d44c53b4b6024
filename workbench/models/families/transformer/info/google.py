"""Checkpoints of BERT as Google published them for TensorFlow, under the names of transformers.

A folder holds bert_config.json, bert_model.ckpt.index, bert_model.ckpt.data-00000-of-00001 and
vocab.txt. Other programs name the checkpoint model.ckpt-100000, so any index file is taken.
Source of the names: github.com/google-research/bert, modeling.py and run_pretraining.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

from workbench.base.i18n import _
from workbench.models.formats import tensor_bundle
from workbench.models.formats.tensor_bundle import TensorEntry
from workbench.models.formats.weights import Weights

CONFIG = "bert_config.json"
KERNELS = re.compile(r"/kernel$")  # stored as (inputs, outputs), in torch the other way round
_LAYER = re.compile(r"/layer_(\d+)/")
_PARTS = (
    ("cls/predictions/output_bias", "cls/predictions/bias"),
    ("cls/seq_relationship/output_weights", "cls/seq_relationship/weight"),
    ("cls/seq_relationship/output_bias", "cls/seq_relationship/bias"),
)
_ENDS = {"kernel": "weight", "gamma": "weight", "beta": "bias"}
_TABLES = ("word_embeddings", "position_embeddings", "token_type_embeddings")


def index_of(folder: Path) -> Path | None:
    """The index of the checkpoint in a folder without the files of transformers, else None."""
    if not (folder / CONFIG).is_file() or (folder / "config.json").is_file():
        return None
    indexes = sorted(folder.glob("*.ckpt*" + tensor_bundle.SUFFIX))
    return indexes[0] if indexes else None


def files(folder: Path) -> tuple[Path, ...]:
    """The index and the files with the weights."""
    index = index_of(folder)
    if index is None:
        return ()
    stem = index.name.removesuffix(tensor_bundle.SUFFIX)
    return (index, *sorted(folder.glob(f"{stem}.data-*")))


def name_of(variable: str) -> str:
    """The parameter of transformers' BertForPreTraining for a variable, "" if there is none.

    Variables of the optimizer have none.
    """
    if not variable.startswith(("bert/", "cls/")) or variable.endswith(("/adam_m", "/adam_v")):
        return ""
    name = dict(_PARTS).get(variable, variable)
    name = _LAYER.sub(r"/layer/\1/", name)
    head, _slash, last = name.rpartition("/")
    if last in _TABLES:
        return name.replace("/", ".") + ".weight"
    return f"{head}/{_ENDS.get(last, last)}".replace("/", ".")


def places(index: Path) -> dict[str, tuple[str, TensorEntry]]:
    """Parameter → (variable, its place). Raises ValueError and OSError."""
    variables = tensor_bundle.read(index)
    named = {name_of(variable): (variable, place) for variable, place in variables.items()}
    return {name: place for name, place in named.items() if name}


def read(index: Path, problems: list[str]) -> Weights:
    """Names and shapes as in torch. Appends problems."""
    try:
        by_name = places(index)
    except OSError as error:
        problems.append(f"{index.name}: {error.strerror}")
        return Weights()
    except ValueError as error:
        problems.append(str(error))
        return Weights()
    if not by_name:
        problems.append(_("{file} holds no weights of BERT", file=index.name))
    shapes: Mapping[str, tuple[int, ...]] = {
        name: place.shape[::-1] if KERNELS.search(variable) else place.shape
        for name, (variable, place) in by_name.items()
    }
    return Weights(sum(map(math.prod, shapes.values())), "float32", False, shapes)
