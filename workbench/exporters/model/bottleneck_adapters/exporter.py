"""Bottleneck adapters alone: several sets of a few megabytes share one base model."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from workbench.base.errors import ExportFailed
from workbench.base.i18n import N_, _
from workbench.exporters.model import verify
from workbench.exporters.model.base import Checking, Export, ModelExporter
from workbench.exporters.model.bottleneck_adapters.info import INFO, WEIGHTS
from workbench.models import folder as folders
from workbench.tasks import model as networks
from workbench.tasks.predictor import Predictor
from workbench.text.document import Document


class BottleneckExporter(ModelExporter):
    info = INFO
    checking = N_("Loading the adapters into their base model")

    def write(self, export: Export, folder: Path) -> None:
        """The file of norms names the folder of the base model on this computer: left out."""
        description = export.predictor.description  # loaded first: damaged weights are named
        folder.mkdir(parents=True)
        for name in WEIGHTS:
            if (export.source / name).is_file():
                shutil.copyfile(export.source / name, folder / name)
        networks.forget_base(folder)
        folders.describe(folder, description)

    def load(self, export: Export, folder: Path) -> Predictor:
        return Predictor.load(folder, "cpu", base=_base(export.source))

    def check(self, export: Export, folder: Path, documents: Sequence[Document]) -> Checking:
        ask = verify.every_window(self.load(export, folder))
        return verify.check_folder(export.predictor, folder, documents, ask=ask, format=INFO.id)


def _base(source: Path) -> str:
    """Raises ExportFailed where the base model is no longer where the run has read it."""
    base = networks.base_of(source)
    if not base or not Path(base).exists():
        raise ExportFailed(
            _(
                "The adapters cannot be checked: their base model is no longer in {folder}.",
                folder=base,
            ),
            hint=_("Restore the base model, or export other formats."),
        )
    return base
