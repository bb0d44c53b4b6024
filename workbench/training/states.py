"""The state of a training in the folder of its run, from which it can be continued.

A state is written again and again while a run trains, each time as a whole. `state.json` says what
it belongs to; `state.pt` holds the tensors. Does not import torch.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.base import owned_folder
from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.records import JsonRecord

FORMAT = 1
FOLDER, HEADER, TENSORS = "state", "state.json", "state.pt"
TASKS = "tasks"  # beside it, the checkpoints of a training on several layers, by number
CHECKPOINT = "checkpoint"  # the best one when the state was written, as links to its files


@dataclass(frozen=True)
class StateHeader(JsonRecord):
    """What a state belongs to.

    step, total: updates that are done, and that were planned. epoch: that of the next update,
    0-based, of `epochs`. bytes: size of the tensors. data, model: fingerprints of the training data
    and of the weights that the training began with. settings: those that cannot change. versions:
    of the packages that computed it.
    """

    step: int
    total: int
    epoch: int
    epochs: int
    bytes: int = 0
    data: str = ""
    model: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    versions: Mapping[str, str] = field(default_factory=dict, hash=False)
    format: int = FORMAT

    def check_readable(self, folder: Path) -> None:
        """Raises SpecError if the state is damaged, or of another version. folder: of the run."""
        if self.format != FORMAT:
            raise SpecError(
                _("The state was written by another version of Glossbench."),
                hint=_("Train again, or continue with the version that wrote it."),
            )
        tensors = owned_folder.current(folder / FOLDER) / TENSORS
        if not tensors.is_file() or tensors.stat().st_size != self.bytes:
            raise SpecError(
                _("The state is damaged: {file} is missing or incomplete.", file=tensors),
                hint=_("Train again."),
            )

    def check(self, other: StateHeader) -> None:
        """Raises SpecError, saying what differs, unless a training with the header `other` can be
        continued from this state.
        """
        differing = sorted(
            name
            for name in {*self.settings, *other.settings}
            if self.settings.get(name) != other.settings.get(name)
        )
        if differing:
            message = _("These settings differ from those of the state: {names}.")
            raise SpecError(message.format(names=", ".join(differing)), hint=_("Train again."))
        if self.data != other.data:
            raise SpecError(
                _("The training data differs from that of the state."),
                hint=_("Train again on the present labels."),
            )
        if self.model != other.model:
            raise SpecError(
                _("The weights of the pretrained model differ from those of the state."),
                hint=_("Restore the model, or train again."),
            )

    def changes(self, other: StateHeader) -> str:
        """A sentence about the packages whose versions differ, "" if there are none."""
        names = [
            f"{name} {self.versions.get(name, '–')} → {other.versions.get(name, '–')}"
            for name in sorted({*self.versions, *other.versions})
            if self.versions.get(name) != other.versions.get(name)
        ]
        if not names:
            return ""
        message = _("The training continues with other versions: {changes}. Results may differ.")
        return message.format(changes=", ".join(names))


def task_folder(folder: Path, number: int) -> Path:
    """Model and predictions of a layer of a training on several. folder: of the run."""
    return folder / TASKS / str(number)


def header(folder: Path) -> StateHeader | None:
    """The header of the state of a run, None if there is none. folder: of the run."""
    path = owned_folder.current(folder / FOLDER) / HEADER
    try:
        return StateHeader.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def size(folder: Path) -> int:
    """Bytes on the disk of the state of a run, without the links to its checkpoint."""
    state = owned_folder.current(folder / FOLDER)
    try:
        return sum(file.stat().st_size for file in state.iterdir() if file.is_file())
    except OSError:
        return 0


def remove(folder: Path) -> None:
    """Delete the state of a run; nothing else can continue it."""
    owned_folder.recover(folder / FOLDER)
    owned_folder.remove(folder / FOLDER)


def link(source: Path, target: Path) -> None:
    """Copy a folder so that it shares the files, which are replaced and never written again; where
    the file system has no links, the files are copied.
    """
    shutil.copytree(source, target, copy_function=_link_file, dirs_exist_ok=True)


def _link_file(source: Path | str, target: Path | str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
