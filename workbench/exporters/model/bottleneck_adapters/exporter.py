"""Bottleneck adapters alone: several sets of a few megabytes share one base model."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from workbench.base.errors import ExportFailed
from workbench.base.i18n import N_, _
from workbench.exporters.model import card, verify
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
        folder.mkdir(parents=True)
        for name in WEIGHTS:
            if (export.source / name).is_file():
                shutil.copyfile(export.source / name, folder / name)
        networks.forget_base(folder)
        folders.describe(folder, export.predictor.description)

    def check(self, export: Export, folder: Path, documents: Sequence[Document]) -> Checking:
        loaded = Predictor.load(folder, "cpu", base=_base(export.source))
        ask = verify.every_window(loaded)
        return verify.check_folder(export.predictor, folder, documents, ask=ask, format=INFO.id)

    def finish(self, export: Export, folder: Path) -> None:
        card.write(export, folder, INFO, library="glossbench")


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
