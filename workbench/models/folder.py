"""Folders of trained models: our own description beside the Hugging Face files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.base import owned_folder, untrusted
from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.base.records import json_text
from workbench.base.registry import registry
from workbench.models.spec import DESCRIPTION, card, published


def describe(folder: Path, description: Mapping[str, Any]) -> None:
    (folder / DESCRIPTION).write_text(json_text(description, indent=1), encoding="utf-8")


def located(folder: Path | str) -> Path:
    """The folder of the complete model: `folder`, or the version beside it after a crash.

    Changes nothing on disk. Raises ModelError if the folder is not accessible.
    """
    try:
        return owned_folder.current(Path(folder))
    except OSError as error:
        raise _unreadable(folder, error) from error


def description(folder: Path | str) -> dict[str, Any]:
    """The description that a run writes beside its weights: task, layer, labels, max_length …

    A published model that is trained for a task has the same. Changes nothing on disk. Raises
    ModelError for anything else.
    """
    path = Path(folder) / DESCRIPTION
    try:
        there = path.is_file()
    except OSError as error:
        raise _unreadable(folder, error) from error
    if not there and (published_description := published(Path(folder))) is not None:
        return published_description
    if not there:
        raise ModelError(
            _(
                "{folder} is not a model trained with Glossbench: {file} is missing.",
                folder=folder,
                file=DESCRIPTION,
            ),
            hint=_("Specify a run, or the folder of an exported run."),
        )
    untrusted.refuse_special_files(path.parent)
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(_("{path} cannot be read: {error}.", path=path, error=error)) from error
    if not isinstance(raw, dict) or not {"task", "labels", "max_length"} <= raw.keys():
        raise ModelError(
            _("{path} does not describe a model: task, labels or max_length is missing.", path=path)
        )
    _check(raw, path)
    return raw


def _unreadable(folder: Path | str, error: OSError) -> ModelError:
    return ModelError(
        _("{folder} cannot be read: {error}.", folder=folder, error=error.strerror),
        hint=_("Check the permissions of the folder."),
    )


def _check(raw: Mapping[str, Any], path: Path) -> None:
    known = registry().ids("task")
    if raw["task"] not in known:
        raise ModelError(
            _(
                "{path} names the unknown task {task!r}. Known tasks: {known}.",
                path=path,
                task=str(raw["task"])[:40],
                known=", ".join(known),
            )
        )
    labels = raw["labels"]
    if (
        not isinstance(labels, list)
        or (not labels and registry().info("task", raw["task"]).least_labels)
        or not all(isinstance(label, str) for label in labels)
    ):
        raise ModelError(_("{path} has no labels: expected a list of names.", path=path))
    length = raw["max_length"]
    if isinstance(length, bool) or not isinstance(length, int) or length < 1:
        raise ModelError(
            _(
                "{path} has max_length {length}, expected a number of subwords.",
                path=path,
                length=str(length)[:40],
            )
        )


def sha256(path: Path) -> str:
    """Hash over the weight files of a model, those of its head included."""
    digest = hashlib.sha256()
    for name in _weight_files(path):
        with open(name, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _weight_files(path: Path) -> list[Path]:
    """The files of the model's family, then other weights (of a head) in the folder."""
    family = card(path, allow_pickle=True).family
    files = list(registry().info("family", family).weight_files(path)) if family else []
    others = sorted((*path.glob("*.safetensors"), *path.glob("pytorch_model*.bin")))
    return files + [name for name in others if name not in files]
