"""Select the family that reads a folder, and load the encoder with it."""

from __future__ import annotations

from pathlib import Path

from workbench.base.registry import registry
from workbench.models import spec
from workbench.models.base import Encoder, Family, LoadOptions


def family_of(info: spec.ModelInfo) -> Family:
    family: Family = registry().get("family", info.family)()
    return family


def load(folder: Path | str, options: LoadOptions) -> Encoder:
    """The encoder in a model folder. Raises ModelError if it cannot be loaded."""
    info = spec.read_folder(folder, allow_pickle=options.allow_pickle)
    return family_of(info).load(info, options)
