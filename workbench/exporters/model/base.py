"""Base class of the formats that the model of a run can be exported as, and one export job."""

from __future__ import annotations

import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.base import checksums
from workbench.base.i18n import N_
from workbench.base.registry import registry
from workbench.exporters.model import card
from workbench.exporters.model.results import Verification
from workbench.exporters.model.spec import KIND, ExporterInfo
from workbench.exporters.model.verify import Answering
from workbench.models import folder as folders
from workbench.models.spec import DESCRIPTION
from workbench.tasks import model as networks
from workbench.tasks.predictor import Predictor
from workbench.text.document import Document

Writing = Generator[dict[str, Any], None, Any]
Checking = Generator[dict[str, Any], None, Verification]


@dataclass
class Export:
    """One export job.

    source: the model folder of the run. draft: a temporary folder of the job. facts, allow_pickle:
    as in ExportSpec. checks: the comparisons made so far, by format. stored: see ExportResult.
    graph_folder: the ONNX model, if it was written. golds: the gold of dev documents by their id.
    original: score and speed of the model itself. calibration: texts for formats that measure
    ranges and labels while they are written; their checks are on others.
    """

    source: Path
    draft: Path
    facts: Mapping[str, Any] = field(default_factory=dict)
    checks: dict[str, Verification] = field(default_factory=dict)
    stored: Verification | None = None
    allow_pickle: bool = False
    _saved: Path | None = None
    graph_folder: Path | None = None
    golds: Mapping[int, Any] = field(default_factory=dict)
    original: Verification | None = None
    calibration: Sequence[Document] = ()

    @cached_property
    def predictor(self) -> Predictor:
        """The loaded model, on the CPU; not for formats of language models."""
        return Predictor.load(self.source, "cpu", allow_pickle=self.allow_pickle)

    @property
    def own_head(self) -> bool:
        """See `Model.own_head`."""
        return "predictor" in vars(self) and self.predictor.model.own_head

    def saved(self) -> Path:
        """A folder with the model in the format of its family; saved on the first call."""
        return self._saved or self.save(self.draft / ".saved")

    def graph(self) -> Path:
        """A folder with the ONNX model in float32 and what is needed to run it; written on the
        first call. Raises ExportFailed if the model cannot be converted.
        """
        if self.graph_folder is None:
            exporter: ModelExporter = registry().get(KIND, "onnx")()
            exporter.write(self, self.draft / ".graph")
        assert self.graph_folder is not None  # the exporter sets it
        return self.graph_folder

    def save(self, folder: Path) -> Path:
        """Save the model in the format of its family, with our own description for prediction with
        Glossbench; returns `folder`.
        """
        save_model(self.predictor, self.source, folder)
        self._saved = folder
        return folder


def save_model(predictor: Predictor, source: Path, folder: Path) -> None:
    """Weights, configuration and tokenizer as the family saves them, and our own description.

    source: the model folder of the run. For transformers, what `from_pretrained` and `pipeline`
    load: config.json with id2label, model.safetensors, tokenizer files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    networks.save(predictor.model, folder)
    if (source / DESCRIPTION).is_file():
        shutil.copyfile(source / DESCRIPTION, folder / DESCRIPTION)
    else:  # a published model
        folders.describe(folder, predictor.description)
    if (folder / "tokenizer.json").is_file():
        limit_length(folder, predictor.max_length)
    checksums.write(folder)


def limit_length(folder: Path, max_length: int) -> None:
    """Truncate at the training length, so that `truncation=True` gives the same predictions."""
    path = folder / "tokenizer_config.json"
    raw = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    raw["model_max_length"] = max_length
    path.write_text(json.dumps(raw, indent=2, ensure_ascii=False), encoding="utf-8")


class ModelExporter(ABC):
    """The heavy part of a format; `info` is its light part.

    writing, checking: display texts of the two stages, which may name {title} (of the format) and
    {n} (texts to compare); without a check, `checking` is "".
    """

    info: ExporterInfo
    writing: str = N_("Writing: {title}")
    checking: str = ""

    @abstractmethod
    def write(self, export: Export, folder: Path) -> Writing | None:
        """Write the format to `folder`, which does not exist yet. A generator may yield {"kind":
        "written", "done", "total"}.

        Raises ExportFailed if the model cannot be converted.
        """

    def note(self, folder: Path) -> str:
        """What is to be said of a written folder, as display text; "" for nothing."""
        return ""

    def load(self, export: Export, folder: Path) -> Answering | None:
        """What predicts with the written folder, for the check and its speed and score; None for a
        format without it, which has a check of its own.
        """
        return None

    def check(self, export: Export, folder: Path, documents: Sequence[Document]) -> Checking | None:
        """Compare the written folder with the original on the documents, see `verify`; of those
        with a negative id, see `proof.extremes`. None: what `load` returns is compared.
        """
        return None

    def finish(self, export: Export, folder: Path) -> None:  # noqa: B027 (most need none)
        """Called after the checks of all formats, for what is written at the end."""

    def readme(self, export: Export, folder: Path) -> str:
        """The model card of the finished folder."""
        described = export.predictor.description
        return card.readme(
            export.facts,
            {**described, "own_head": described.get("own_head") or export.own_head},
            export.checks,
            info=self.info,
            folder=folder,
            stored=export.stored,
            original=export.original,
        )
