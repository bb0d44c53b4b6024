"""Weights of a TensorFlow checkpoint of BERT as tensors of torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models.families.transformer.info import google
from workbench.models.formats.tensor_bundle import TensorEntry


def state_dict(index: Path) -> dict[str, Tensor]:
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
