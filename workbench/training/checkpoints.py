"""The best version of a run on disk: whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from workbench.models import folder as folders
from workbench.models.base import Checkpoint, Family

MODEL = "model"


def save(family: Family, checkpoint: Checkpoint, folder: Path, description: Mapping) -> Path:
    """Write `folder/model` anew; an earlier one stays until the new one is complete."""
    target = folder / MODEL

    def fill(draft: Path) -> None:
        family.save(checkpoint, draft)
        folders.describe(draft, description)

    folders.replace_folder(target, fill)
    return target


def better(score: float, best: float | None) -> bool:
    """Strictly: the earlier stays on a tie. Not-a-number is never better."""
    return score == score and (best is None or score > best)
