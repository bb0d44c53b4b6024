"""Writes the layout of transformers.js, and the page that runs the model without a server."""

from __future__ import annotations

import json
import shutil
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from workbench.base.errors import ExportFailed
from workbench.base.i18n import N_, _, ngettext
from workbench.base.sizes import size
from workbench.exporters.model import verify
from workbench.exporters.model.base import Checking, Export, ModelExporter
from workbench.exporters.model.browser import page
from workbench.exporters.model.browser.info import INFO, PAGE, kind_of
from workbench.exporters.model.onnx import exporter as onnx
from workbench.exporters.model.onnx import quantization
from workbench.exporters.model.onnx.info import EIGHT_BIT_INFO
from workbench.runtime.onnx_predictor import LABELS, OnnxPredictor
from workbench.tasks.predictor import Predictor
from workbench.text.document import Document

GRAPHS = "onnx"  # the folder that transformers.js looks in
FULL, SMALL = "model.onnx", "model_quantized.onnx"  # of the dtypes fp32 and q8
MIN_LABELS = 20  # that must be equal before the page gets the weights with 8 bits
TITLE = "Glossbench"  # of the page of a model without a name
COPIED = ("tokenizer.json", "tokenizer_config.json", LABELS)


class BrowserExporter(ModelExporter):
    info = INFO
    writing = N_("Writing: {title}")
    checking = N_("Comparing predictions (texts: {n})")
    _equal = _labels = 0  # with 8 bits

    def write(self, export: Export, folder: Path) -> Generator[dict[str, Any], None, None]:
        graph = export.graph()
        (folder / GRAPHS).mkdir(parents=True)
        shutil.copyfile(graph / onnx.FILE, folder / GRAPHS / FULL)
        for name in COPIED:
            shutil.copyfile(graph / name, folder / name)
        (folder / "config.json").write_text(
            json.dumps(config(export.predictor, export.saved()), indent=1, ensure_ascii=False),
            encoding="utf-8",
        )
        small = yield from _eight_bit(export)
        if small is not None:
            shutil.copyfile(small / onnx.FILE, folder / GRAPHS / SMALL)

    def load(self, export: Export, folder: Path) -> OnnxPredictor:
        return OnnxPredictor.load(folder, file=folder / GRAPHS / FULL)

    def check(self, export: Export, folder: Path, documents: Sequence[Document]) -> Checking:
        """Of the weights with 32 bits. The page gets those with 8 if they give the same labels."""
        full, small = self.load(export, folder), folder / GRAPHS / SMALL
        result = yield from verify.check(export.predictor, full, documents, format=INFO.id)
        own = [document for document in documents if (document.id or 0) >= 0]
        if small.is_file() and own:
            used = {document.id for document in export.calibration}
            chosen = [document for document in documents if document.id not in used]
            self._compare(full, OnnxPredictor.load(folder, file=small), chosen)
        write_page(export, folder, folder / GRAPHS / (SMALL if self._suffices else FULL))
        return result

    def _compare(
        self, full: OnnxPredictor, small: OnnxPredictor, documents: Sequence[Document]
    ) -> None:
        pairs = zip(full.predict(documents), small.predict(documents), strict=True)
        for expected, answer in pairs:
            same, labels = verify.agreement(full.info, expected, [answer])
            self._equal, self._labels = self._equal + same, self._labels + labels

    @property
    def _suffices(self) -> bool:
        return MIN_LABELS <= self._labels == self._equal

    def note(self, folder: Path) -> str:
        if self._suffices:
            return ngettext(
                "index.html has weights with 8 bits: {n} of {n} label is equal.",
                "index.html has weights with 8 bits: {n} of {n} labels are equal.",
                self._labels,
            )
        if self._equal == self._labels:
            return _("index.html has weights with 32 bits.")
        return ngettext(
            "index.html has weights with 32 bits: with 8 bits, {equal} of {n} label is equal.",
            "index.html has weights with 32 bits: with 8 bits, {equal} of {n} labels are equal.",
            self._labels,
            equal=self._equal,
        )

    def finish(self, export: Export, folder: Path) -> None:
        if not (folder / PAGE).is_file():  # the check has failed
            write_page(export, folder, folder / GRAPHS / FULL)
        page.write_licences(folder / "LICENCES.txt")


def _eight_bit(export: Export) -> Generator[dict[str, Any], None, Path | None]:
    """A folder with the model in 8 bits, that of the format for it if it was written before; None
    if nothing can have 8 bits.
    """
    folder = export.draft / EIGHT_BIT_INFO.id
    if folder.is_dir():
        return folder
    folder = export.draft / ".eight-bit"
    try:
        yield from quantization.quantize(export.graph(), folder, export.calibration)
    except ExportFailed:
        return None
    return folder


def config(predictor: Predictor, saved: Path) -> dict[str, Any]:
    """config.json with the outputs of the graph; heads of ours have none of their own."""
    raw: dict[str, Any] = json.loads((saved / "config.json").read_text(encoding="utf-8"))
    outputs = predictor.task.info.trained_outputs(predictor.labels, predictor.decoder)
    raw["id2label"] = {str(number): name for number, name in enumerate(outputs)}
    raw["label2id"] = {name: number for number, name in enumerate(outputs)}
    if problem := predictor.task.problem:
        raw["problem_type"] = problem
    return raw


def write_page(export: Export, folder: Path, graph: Path) -> None:
    """index.html with one of the graphs. Its texts are in English, as those of the model card."""
    task, facts = export.predictor.task.info, export.facts
    about = {name: facts[name] for name in ("run", "base_model") if facts.get(name)}
    labels = {
        **json.loads((folder / LABELS).read_text(encoding="utf-8")),
        "kind": kind_of(task),
        "texts": task.texts,
        "about": {**about, "model": f"{graph.name}, {size(graph.stat().st_size)}"},
    }
    files = {
        "graph": graph,
        "tokenizer": folder / "tokenizer.json",
        "settings": folder / "tokenizer_config.json",
    }
    page.write(folder / PAGE, str(facts.get("layer") or facts.get("run") or TITLE), labels, files)
