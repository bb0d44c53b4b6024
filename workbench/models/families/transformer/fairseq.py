"""Weights of SpanBERT's checkpoints, which transformers does not read, as tensors of torch."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from workbench.models import pickled
from workbench.models.families.transformer.info import fairseq
from workbench.models.families.transformer.info.fairseq import BOUNDARY, BOUNDARY_NAMES
from workbench.models.formats import weights

_CLASSES = {"argparse.Namespace": argparse.Namespace}  # the settings of a training


def state_dict(file: Path) -> dict[str, Tensor]:
    """Parameters of BertForPreTraining and of the boundary head by name, each of its shape there.

    Raises ModelError.
    """
    content = pickled.load(file, _CLASSES)
    if isinstance(content.get(fairseq.STATE), Mapping):
        content = content[fairseq.STATE]
    return {
        fairseq.name_of(name): value
        for name, value in content.items()
        if name.startswith(fairseq.PREFIX)
    }


def boundary(folder: Path) -> dict[str, Tensor]:
    """Parameters of the head of the span boundary objective, by our names; {} without one.

    Each has the shape of the parameter of `SpanBoundary`. Raises ModelError.
    """
    if (file := fairseq.file_of(folder)) is not None:
        return _boundary(state_dict(file))
    if not fairseq.has_boundary(weights.read(folder, []).shapes):
        return {}
    if (folder / weights.WEIGHTS).is_file():
        from safetensors.torch import load_file

        return _boundary(load_file(folder / weights.WEIGHTS))
    return _boundary(pickled.load(folder / weights.PICKLE, {}))


def _boundary(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    if not fairseq.has_boundary({name: value.shape for name, value in weights.items()}):
        return {}
    return {ours: weights[BOUNDARY + name].float() for name, ours in BOUNDARY_NAMES.items()}
