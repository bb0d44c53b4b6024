"""The best checkpoint of a run on disk, written atomically."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.base import checksums, owned_folder
from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.sizes import size
from workbench.models import folder as folders
from workbench.runtime.inputs import Logits
from workbench.tasks.answers import write_answers
from workbench.tasks.base import Model
from workbench.text.dataset import Record
from workbench.text.fields import Prediction
from workbench.training import states

MODEL, PREDICTIONS = "model", "predictions.jsonl"
SMALL_FILES = 10_000_000  # bytes: tokenizer, predictions, events


def save(write: Callable[[Path], None], folder: Path, description: Mapping[str, Any]) -> Path:
    """Let `write` fill a new `folder/model`; an older one stays until the new one is complete."""
    target = folder / MODEL

    def fill(draft: Path) -> None:
        write(draft)
        folders.describe(draft, description)
        checksums.write(draft)

    owned_folder.replace(target, fill)
    return target


def write_predictions(
    folder: Path,
    records: Mapping[str, Sequence[Record]],
    predictions: Mapping[str, Sequence[Prediction]],
) -> None:
    """Write `folder/predictions.jsonl`; both mappings are by split."""
    draft = folder / f"{PREDICTIONS}.new"
    with open(draft, "w", encoding="utf-8", newline="\n") as file:
        for split, predicted in predictions.items():
            documents = [record.document for record in records[split]]
            write_answers(file, documents[: len(predicted)], predicted, split=split)
    os.replace(draft, folder / PREDICTIONS)


def check_room(folder: Path, model: Model) -> None:
    """Check the output folder before training.

    While a checkpoint is replaced, the old and the new one exist side by side, so both must fit on
    the disk. Raises WorkbenchError if they do not, or if files that a run did not write would be
    overwritten.
    """
    _check_ours(folder)
    needed = 2 * _bytes(model) + SMALL_FILES
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise SpecError(
            _(
                "The disk of {folder} has {free} free; the run needs about {needed}.",
                folder=folder,
                free=size(free),
                needed=size(needed),
            ),
            hint=_("Free some disk space, then start again."),
        )


def ensure_room(folder: Path, model: Model) -> None:
    """Raises OSError, before anything is written, if the disk has no room for a checkpoint."""
    if shutil.disk_usage(folder).free < _bytes(model) + SMALL_FILES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def _bytes(model: Model) -> int:
    return sum(p.numel() * p.element_size() for p in model.parameters())


def _check_ours(folder: Path) -> None:
    """An earlier training may be replaced, or continued, if its weights were deleted; any other
    file with one of our names is kept.
    """
    owned_folder.check(folder / MODEL)
    predictions = folder / PREDICTIONS
    is_ours = owned_folder.is_owned(folder / MODEL) or states.header(folder) is not None
    if predictions.exists() and not is_ours:
        raise SpecError(
            _("{file} already exists and would be overwritten.", file=predictions),
            hint=_("Move it elsewhere, or choose another folder."),
        )


def better(score: float, best: float | None) -> bool:
    """Strictly: on a tie the earlier one is kept. NaN is never better."""
    return score == score and (best is None or score > best)


@dataclass
class Best:
    """The best checkpoint so far.

    fitted: decoding parameters, see TaskInfo.fit. layers: see TrainResult.layer_weights. sample:
    logits of the documents that the saved model is compared on.
    """

    value: float | None = None
    step: int = 0
    scores: Mapping[str, float] = field(default_factory=dict)
    predictions: list[Prediction] = field(default_factory=list)
    fitted: dict[str, Any] = field(default_factory=dict)
    layers: dict[str, Any] = field(default_factory=dict)
    sample: Logits = field(default_factory=list)
