"""Writes the model in the format of its family, with a model card."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.base.i18n import N_
from workbench.exporters.model import verify
from workbench.exporters.model.base import Checking, Export, ModelExporter
from workbench.exporters.model.hf.info import INFO
from workbench.tasks.predictor import Predictor
from workbench.text.document import Document


class HuggingFaceExporter(ModelExporter):
    info = INFO
    writing = N_("Saving the model")
    checking = N_("Reloading the saved model")

    def write(self, export: Export, folder: Path) -> None:
        export.save(folder)

    def load(self, export: Export, folder: Path) -> Predictor:
        predictor = Predictor.load(folder, "cpu", allow_pickle=export.allow_pickle)
        predictor.references = export.predictor.references  # they stay in the folder of the run
        return predictor

    def check(self, export: Export, folder: Path, documents: Sequence[Document]) -> Checking:
        return verify.check_folder(export.predictor, folder, documents, format=INFO.id)
