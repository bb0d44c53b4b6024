"""Models of fastai and its outputs, see tests/data/awd_lstm/make.py."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from workbench.models.base import LoadOptions
from workbench.models.loading import load

DATA = Path(__file__).parents[3] / "data" / "awd_lstm"


@pytest.fixture(scope="session")
def outputs():
    with np.load(DATA / "outputs.npz") as file:
        return {name: torch.from_numpy(file[name]) for name in file.files}


@pytest.fixture
def loaded():
    def loaded(name, **options):
        return load(DATA / name, LoadOptions(allow_pickle=True, **options)).eval()

    return loaded


@pytest.fixture
def copied(tmp_path):
    """A copy of one of the models, to be changed."""

    def copied(name):
        return Path(shutil.copytree(DATA / name, tmp_path / name))

    return copied


def batch(ids, lengths=None):
    """Inputs of an encoder; rows are padded after their length."""
    mask = torch.ones_like(ids)
    for row, length in enumerate(lengths or ()):
        mask[row, length:] = 0
    return {"input_ids": torch.where(mask.bool(), ids, 1), "attention_mask": mask}
