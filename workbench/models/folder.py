"""Folders of trained models: our own description beside the Hugging Face files, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.base.registry import builtins

DESCRIPTION = "glossbench.json"


def replace_folder(target: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` write a new folder and put it in the place of `target`; the old one stays if anything fails."""
    draft, old = target.with_name(f"{target.name}.new"), target.with_name(f"{target.name}.old")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    try:
        fill(draft)
        for file in draft.iterdir():
            _sync(file)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    if target.exists():
        shutil.rmtree(old, ignore_errors=True)
        os.replace(target, old)
    os.replace(draft, target)
    shutil.rmtree(old, ignore_errors=True)


def recover(target: Path) -> None:
    """After a crash between the two renames: the old folder takes its place again. A half written one goes."""
    draft, old = target.with_name(f"{target.name}.new"), target.with_name(f"{target.name}.old")
    if not target.exists() and old.exists():
        os.replace(old, target)
    shutil.rmtree(draft, ignore_errors=True)


def _sync(path: Path) -> None:
    if path.is_file():
        with open(path, "rb+") as file:
            os.fsync(file.fileno())


def describe(folder: Path, description: Mapping) -> None:
    (folder / DESCRIPTION).write_text(
        json.dumps(description, indent=1, ensure_ascii=False), encoding="utf-8"
    )


def description(folder: Path | str) -> dict:
    """What a run wrote beside its weights: task, layer, labels, max_length … Raises ModelError where this is no folder of a run."""
    path = Path(folder) / DESCRIPTION
    try:
        recover(Path(folder))
        there = path.is_file()
    except OSError as error:
        raise ModelError(
            _("{folder} cannot be read: {error}.").format(folder=folder, error=error.strerror),
            hint=_("Check the rights of the folder."),
        ) from error
    if not there:
        raise ModelError(
            _("{folder} is no trained model of Glossbench: {file} is missing.").format(
                folder=folder, file=DESCRIPTION
            ),
            hint=_("Name a run, or the folder of an exported run."),
        )
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(
            _("{path} cannot be read: {error}.").format(path=path, error=error)
        ) from error
    if not isinstance(raw, dict) or not {"task", "labels", "max_length"} <= raw.keys():
        raise ModelError(
            _("{path} does not describe a model: task, labels or max_length is missing.").format(
                path=path
            )
        )
    _check(raw, path)
    return raw


def _check(raw: Mapping, path: Path) -> None:
    known = builtins().ids("task")
    if raw["task"] not in known:
        raise ModelError(
            _("{path} names the task {task!r}; known are {known}.").format(
                path=path, task=str(raw["task"])[:40], known=", ".join(known)
            )
        )
    labels = raw["labels"]
    if (
        not isinstance(labels, list)
        or not labels
        or not all(isinstance(one, str) for one in labels)
    ):
        raise ModelError(
            _("{path} names no labels: a list of names is expected.").format(path=path)
        )
    length = raw["max_length"]
    if isinstance(length, bool) or not isinstance(length, int) or length < 1:
        raise ModelError(
            _("{path} gives a maximum length of {length}, expected a number of subwords.").format(
                path=path, length=str(length)[:40]
            )
        )


def sha256(folder: Path) -> str:
    """Over the weight files, in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted((*folder.glob("*.safetensors"), *folder.glob("pytorch_model*.bin"))):
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
