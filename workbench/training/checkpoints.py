"""The best version of a run on disk: whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.models import folder as folders
from workbench.models.base import Checkpoint, Family

MODEL = "model"
SMALL_FILES = 10_000_000  # bytes: tokenizer, predictions, events


def save(family: Family, checkpoint: Checkpoint, folder: Path, description: Mapping) -> Path:
    """Write `folder/model` anew; an earlier one stays until the new one is complete."""
    target = folder / MODEL

    def fill(draft: Path) -> None:
        family.save(checkpoint, draft)
        folders.describe(draft, description)

    folders.replace_folder(target, fill)
    return target


def check_room(folder: Path, checkpoint: Checkpoint) -> None:
    """Before hours of work: the best version and the next one lie side by side for a moment. Raises SpecError."""
    needed = (
        2 * sum(one.numel() * one.element_size() for one in checkpoint.model.parameters())
        + SMALL_FILES
    )
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise SpecError(
            _(
                "The disk of {folder} has {free:,.0f} MB free; the run takes about {needed:,.0f} MB."
            ).format(folder=folder, free=free / 1e6, needed=needed / 1e6),
            hint=_("Make room, then start again."),
        )


def better(score: float, best: float | None) -> bool:
    """Strictly: the earlier stays on a tie. Not-a-number is never better."""
    return score == score and (best is None or score > best)
