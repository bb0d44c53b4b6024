"""The native format: lossless and reproducible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from workbench.base.i18n import _
from workbench.exporters.data.base import COMMON, ExportPlan
from workbench.text import dataset
from workbench.text.dataset import Record
from workbench.text.labels import Layer


class OwnExporter:
    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        return (_(COMMON),)

    def write(self, records: Iterable[Record], plan: ExportPlan, out: TextIO) -> int:
        count = -1  # the first line holds the layers
        for line in dataset.lines(plan.layers, records):
            out.write(line + "\n")
            count += 1
        return count
