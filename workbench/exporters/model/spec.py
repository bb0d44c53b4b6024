"""Formats of model exports and the parameters of an export. Does not import torch.

A format has a light part, an `ExporterInfo`, named `info` in the index, and a heavy part
(`workbench.exporters.model.base.ModelExporter`) that runs in the worker.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.base.errors import ExportFailed, SpecError
from workbench.base.i18n import N_, _
from workbench.base.records import JsonRecord
from workbench.base.registry import registry
from workbench.tasks import spec as tasks
from workbench.tasks.spec import TaskInfo

KIND = "model_exporter"
TARGET = "workbench.exporters.model.run:export"
MAX_VERIFICATION_TEXTS = 500  # maximum number of texts used for verification
# Of which use a format is, in the order of the Export page.
GROUPS = {
    "python": N_("Python"),
    "any": N_("Any language"),
    "browser": N_("Browser"),
    "server": N_("Server"),
    "language_model": N_("Language model"),
}
SMALL_FILES = 2_000_000  # bytes of a format besides the weights, estimated


class ExporterInfo(ABC):
    """The light part of a format that the model of a run can be exported as.

    id: in the registry. title, purpose: display texts; short: a title for narrow columns.
    library: that loads it, as model hubs name it. language: of `loading_code`, for Markdown. group:
    a key of GROUPS. lossy: its weights are rounded, so that some labels may differ from the
    original. main_check: whether its check is the main one of an export, which uses all texts.
    """

    id: str
    title: str
    purpose: str
    short: str = ""
    library: str = "glossbench"
    language: str = "python"
    group: str = "python"
    lossy: bool = False
    main_check: bool = False

    def suits(self, model: Path) -> bool:
        """Whether the format is one of the method that this run was trained with; others are not
        offered.
        """
        return True

    def unfit(self, model: Path) -> str:
        """Why a run with this model folder cannot be exported in this format, "" if it can."""
        return ""

    def described(self, model: Path) -> tuple[str, str]:
        """Title and purpose as display text, for a run with this model folder."""
        return _(self.title), _(self.purpose)

    def size(self, model: Path) -> int:
        """Estimated bytes of the export of a run with this model folder."""
        files = model.iterdir() if model.is_dir() else (model,)
        return sum(file.stat().st_size for file in files if file.is_file()) + SMALL_FILES

    @abstractmethod
    def loading_code(self, folder: str, task: TaskInfo, *, own_head: bool) -> str:
        """Code that loads the exported folder, with telemetry of libraries turned off.

        own_head: the model has a head of ours, which transformers cannot load.
        """


class LanguageModelInfo(ExporterInfo):
    """The light part of a format for language models themselves; others export trained tasks."""

    group = "language_model"

    def loading_code(self, folder: str, task: TaskInfo, *, own_head: bool) -> str:
        return self.usage(folder)

    @abstractmethod
    def usage(self, folder: str) -> str:
        """Code that loads the exported folder."""


def infos() -> tuple[ExporterInfo, ...]:
    """The formats of the registry, in order. Plugins that cannot be loaded are left out."""
    return registry().infos(KIND)


def trained_formats() -> tuple[ExporterInfo, ...]:
    """Those of models that are trained for a task."""
    return tuple(info for info in infos() if not isinstance(info, LanguageModelInfo))


def language_model_formats() -> tuple[ExporterInfo, ...]:
    return tuple(info for info in infos() if isinstance(info, LanguageModelInfo))


def exporter_info(id: str) -> ExporterInfo:
    """Raises SpecError for an unknown id."""
    missing = _("There is no export format {unknown!r}.", unknown=id)
    info: ExporterInfo = registry().info(KIND, id, missing=missing)
    return info


def default_formats() -> tuple[str, ...]:
    """The formats of an export that names none: those with `default = true` in the index."""
    return tuple(entry.id for entry in registry().all(KIND) if entry.options.get("default"))


def parse_formats(formats: str | Sequence[str]) -> tuple[str, ...]:
    """ "hf,int8" → ("hf", "onnx_int8"): ids, or the `alias` of an entry of the index. Raises
    SpecError naming unknown formats.
    """
    parts = formats.split(",") if isinstance(formats, str) else formats
    ids = {str(entry.options.get("alias")): entry.id for entry in registry().all(KIND)}
    names = [ids.get(part.strip(), part.strip()) for part in parts if part.strip()]
    known = registry().ids(KIND)
    if unknown := [name for name in names if name not in known]:
        exporter_info(unknown[0])  # raises; the hint names the plugin of the format, or all formats
    if not names:
        raise SpecError(
            _("No export format was chosen."),
            hint=_("Choose from: {names}.", names=", ".join(known)),
        )
    return tuple(id for id in known if id in names)


def check_fit(model: Path | str, formats: Sequence[str]) -> None:
    """Raises ExportFailed if a run with this model folder does not support one of the formats."""
    for id in formats:
        if reason := exporter_info(id).unfit(Path(model)):
            fitting = ", ".join(info.id for info in infos() if not info.unfit(Path(model)))
            raise ExportFailed(
                reason, hint=_("This run can be exported as: {names}.", names=fitting)
            )


@dataclass(frozen=True)
class ExportSpec(JsonRecord):
    """`model` is the folder of a run's model, `texts` a file of records (native format) for
    verification, `out` the folder to create.

    `facts` go into the model card, each if known: run, project, layer, base_model, base_licence,
    seed, options, counts {train, dev, test}, left_out [{reason, count}], cut, scores {split: {name:
    value}}, slices {split, score, value, n, rows}, definition, versions, at. allow_pickle: see
    LoadOptions. predictions: a file of those that the run has stored for these texts (JSON lines of
    `tasks.answers`), "" without any. layer: the one whose gold the texts have, "" without any.
    calibration: a file of records of other documents, "" without any.
    """

    model: str
    texts: str
    out: str
    formats: tuple[str, ...] = ()  # the default formats that the model can have
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)
    allow_pickle: bool = False
    predictions: str = ""
    layer: str = ""
    calibration: str = ""

    def __post_init__(self) -> None:
        model = Path(self.model)
        fitting = (id for id in default_formats() if not exporter_info(id).unfit(model))
        chosen = parse_formats(self.formats or tuple(fitting))
        object.__setattr__(self, "formats", chosen)


def draft_of(out: Path, job: Path) -> Path:
    """The temporary folder of the job with this folder; beside the target, so that it can be moved
    in one step.
    """
    return out.with_name(f".{out.name}.partial-{job.name}")


def check_target(out: Path) -> None:
    """Raises ExportFailed if the target cannot be used."""
    nearest = next(path for path in (out, *out.parents) if path.exists())
    if not nearest.is_dir():
        raise ExportFailed(
            _("{path} is a file, not a folder.", path=nearest),
            hint=_("Choose a folder that is empty or does not exist yet."),
        )
    if out.is_dir() and (entries := sorted(path.name for path in out.iterdir())):
        raise ExportFailed(
            _("The folder {out} is not empty (it contains {found!r}).", out=out, found=entries[0]),
            hint=_("Choose an empty or a new folder."),
        )
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        probe = out.parent / f".{out.name}.probe-{os.getpid()}"
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        raise ExportFailed(
            _(
                "{parent} cannot be written: {strerror}.",
                parent=out.parent,
                strerror=error.strerror or error,
            ),
            hint=_("Choose another folder."),
        ) from error


def loading_code(format: str, folder: Path | str, task: str, *, own_head: bool = False) -> str:
    """Python code that loads the exported folder, see `ExporterInfo.loading_code`.

    task: id, "" for a language model.
    """
    info = exporter_info(format)
    if isinstance(info, LanguageModelInfo):
        return info.usage(str(folder))
    return info.loading_code(str(folder), tasks.info(task), own_head=own_head)
