"""Formats that are made from the ONNX folder with 32 bits: smaller weights, fused operations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import onnx
from onnxruntime.transformers import float16, optimizer

from workbench.base.errors import ExportFailed
from workbench.base.i18n import N_, _, ngettext
from workbench.exporters.model import verify
from workbench.exporters.model.base import Checking, Export
from workbench.exporters.model.onnx import quantization
from workbench.exporters.model.onnx.exporter import OnnxExporter
from workbench.exporters.model.onnx.info import (
    EIGHT_BIT_INFO,
    HALF_INFO,
    OPTIMISED_INFO,
    fusion_of,
)
from workbench.exporters.model.onnx.quantization import Quantization
from workbench.runtime.onnx_predictor import LABELS
from workbench.text.document import Document


class HalfExporter(OnnxExporter):
    info = HALF_INFO
    writing = N_("Writing: {title}")

    def write(self, export: Export, folder: Path) -> None:
        half(export.graph(), folder)


class OptimisedExporter(OnnxExporter):
    info = OPTIMISED_INFO
    writing = N_("Writing: {title}")

    def write(self, export: Export, folder: Path) -> None:
        optimised(export.graph(), folder)


class EightBitExporter(OnnxExporter):
    info = EIGHT_BIT_INFO
    writing = N_("Writing: {title}")

    def write(self, export: Export, folder: Path) -> quantization.Steps:
        return quantization.quantize(export.graph(), folder, export.calibration)

    def check(self, export: Export, folder: Path, documents: Sequence[Document]) -> Checking:
        """On documents that were not used to choose what has 8 bits, if there are others."""
        used = {document.id for document in export.calibration}
        others = [document for document in documents if document.id not in used]
        loaded = self.load(export, folder)
        return verify.check(export.predictor, loaded, others or documents, format=self.info.id)

    def note(self, folder: Path) -> str:
        raw = json.loads((folder / LABELS).read_text(encoding="utf-8"))
        done = Quantization.from_json(raw["quantization"])
        n, names = len(done.products) - len(done.kept), ", ".join(done.kept)
        if not names:
            return ngettext("The only product has 8 bits.", "All {n} products have 8 bits.", n, n=n)
        return ngettext(
            "{quantized} of {n} product has 8 bits; in 32 bits: {names}.",
            "{quantized} of {n} products have 8 bits; in 32 bits: {names}.",
            len(done.products),
            n=len(done.products),
            quantized=n,
            names=names,
        )


def half(source: Path, target: Path) -> None:
    """Write `target`, from the folder `source`: weights and products in float16.

    Inputs and outputs keep their types. Raises ExportFailed if the model is too large.
    """
    graph = onnx.load(quantization.path_of(source))
    converted = float16.convert_float_to_float16(graph, keep_io_types=True)
    quantization.write(source, target, converted)


def optimised(source: Path, target: Path) -> None:
    """Write `target`, from the folder `source`: with fused operations.

    Raises ExportFailed if nothing can be fused.
    """
    path, fusion = quantization.path_of(source), fusion_of(source)
    if fusion is not None:
        kind, heads, width = fusion
        model = optimizer.optimize_model(str(path), kind, heads, width, opt_level=1)
        if any(model.get_fused_operator_statistics().values()):
            quantization.write(source, target, model.model)
            return
    raise ExportFailed(
        _("onnxruntime fuses no operation of this model."), hint=_("Export other formats.")
    )
