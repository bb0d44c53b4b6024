"""A LoRA adapter alone, in the format of peft: for users who have the base model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import nn

from workbench.base.errors import ExportFailed
from workbench.base.i18n import N_, _
from workbench.exporters.model import verify
from workbench.exporters.model.adapter.info import BASE, CONFIG, FOLDER, INFO
from workbench.exporters.model.base import Checking, Export, ModelExporter
from workbench.models.spec import DESCRIPTION
from workbench.tasks.predictor import Predictor
from workbench.text.document import Document


class AdapterExporter(ModelExporter):
    info = INFO
    checking = N_("Loading the adapter into its base model")

    def write(self, export: Export, folder: Path) -> None:
        write(export.predictor, export.source, folder)

    def check(self, export: Export, folder: Path, documents: Sequence[Document]) -> Checking:
        """Against the logits as peft and transformers compute them."""
        model = load(export.source, folder, verify.library_class(export.predictor))
        ask = verify.asking(export.predictor, model, export.saved())
        return verify.check_folder(export.predictor, folder, documents, ask=ask, format=INFO.id)


def write(predictor: Predictor, source: Path, folder: Path) -> None:
    """What `peft.PeftModel.from_pretrained` reads; config.json and our own description have labels.

    The base model is named instead of its folder on this computer.
    """
    shutil.copytree(source / FOLDER, folder)
    for name in (DESCRIPTION, "config.json"):
        shutil.copyfile(source / name, folder / name)
    raw = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    raw[BASE] = str(predictor.description.get("model") or raw[BASE])
    (folder / CONFIG).write_text(json.dumps(raw, indent=2, ensure_ascii=False), encoding="utf-8")


def load(source: Path, folder: Path, library_class: Any) -> nn.Module:
    """The base model of the run in `source` with the exported adapter, as peft puts them together.

    library_class: a class of transformers with the head of the task.
    Raises ExportFailed where the base model is no longer where the run has read it.
    """
    import transformers
    from peft import PeftModel

    raw = json.loads((source / FOLDER / CONFIG).read_text(encoding="utf-8"))
    if not Path(raw[BASE]).is_dir():
        raise ExportFailed(
            _(
                "The adapter cannot be checked: its base model is no longer in {folder}.",
                folder=raw[BASE],
            ),
            hint=_("Restore the base model, or export other formats."),
        )
    config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
    base = library_class.from_pretrained(
        raw[BASE], config=config, local_files_only=True, ignore_mismatched_sizes=True
    )
    return PeftModel.from_pretrained(base, str(folder)).eval()
