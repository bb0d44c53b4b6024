"""Select the family that reads a folder, and load the encoder with it."""

from __future__ import annotations

from pathlib import Path

from workbench.base import checksums
from workbench.base.registry import needed_plugin, registry
from workbench.models import contract, spec
from workbench.models.base import Encoder, Family, LoadOptions


def family_of(info: spec.ModelInfo) -> Family:
    family: Family = registry().get("family", info.family)()
    return family


def load(folder: Path | str, options: LoadOptions) -> Encoder:
    """The encoder in a model folder. Raises ModelError if it cannot be loaded."""
    info = spec.read_folder(folder, allow_pickle=options.allow_pickle)
    return loaded(info, options)


def loaded(info: spec.ModelInfo, options: LoadOptions) -> Encoder:
    """The encoder of a card; one of a plugin is tried once.

    Raises ModelError, also if its files are no longer those that were saved.
    """
    checksums.ensure_unchanged(Path(info.path))
    encoder = family_of(info).load(info, options)
    if needed_plugin(info.family):
        contract.ensure(encoder, info.family)
    return encoder
