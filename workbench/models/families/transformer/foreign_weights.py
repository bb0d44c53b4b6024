"""Weights of checkpoints that transformers does not read, as tensors of torch: those of TensorFlow
(BERT) and of fairseq (SpanBERT).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models import pickled
from workbench.models.families.transformer.info import fairseq, google
from workbench.models.families.transformer.info.fairseq import BOUNDARY, BOUNDARY_NAMES
from workbench.models.formats import weights
from workbench.models.formats.tensor_bundle import TensorEntry

_CLASSES = {"argparse.Namespace": argparse.Namespace}  # the settings of a training


def fairseq_weights(file: Path) -> dict[str, Tensor]:
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
        return _boundary(fairseq_weights(file))
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


def google_weights(index: Path) -> dict[str, Tensor]:
    """Parameters of BertForPreTraining by name, float32, each of its shape there.

    Raises ModelError.
    """
    try:
        places = google.places(index)
        return {
            name: _tensor(place, transposed=bool(google.KERNELS.search(variable)))
            for name, (variable, place) in places.items()
        }
    except (OSError, ValueError) as error:
        raise ModelError(
            _("{path} cannot be read: {error}.", path=index, error=error),
            hint=_("Download the checkpoint again."),
        ) from error


def _tensor(place: TensorEntry, *, transposed: bool) -> Tensor:
    mapped = np.memmap(
        place.file, np.dtype(place.dtype), "r", offset=place.offset, shape=place.shape or (1,)
    )
    array = mapped.reshape(place.shape).astype(np.float32)
    return torch.from_numpy(np.ascontiguousarray(array.T if transposed else array))
