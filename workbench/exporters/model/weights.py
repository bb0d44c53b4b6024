"""What smaller weights of a run cost: rows of a table, one per precision. Does not import torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.base.i18n import N_, _, ngettext
from workbench.base.records import JsonRecord
from workbench.metrics.evaluation import UNKNOWN, Measured

TARGET = "workbench.exporters.model.onnx.weights:measure"
EVENT = "weights"  # kind of what the job yields for each row
FULL, HALF, DYNAMIC, STATIC, MIXED = "fp32", "fp16", "int8_dynamic", "int8_static", "int8"
MIN_SPEEDUP = 1.1  # below, smaller weights are not called faster
LEAST_EQUAL = 0.99  # share of equal labels from which suggestions are made with them
TITLES: Mapping[str, str] = {
    FULL: N_("32 bit"),
    HALF: N_("16 bit"),
    DYNAMIC: N_("8 bit, dynamic"),
    STATIC: N_("8 bit, static"),
    MIXED: N_("8 bit, as exported"),
}
_HINTS: Mapping[str, str] = {
    FULL: N_("The weights as they were trained."),
    HALF: N_("For GPUs. On a CPU it computes as with 32 bits, after a conversion."),
    DYNAMIC: N_("All products with 8 bits, ranges measured in every batch."),
    STATIC: N_("All products with 8 bits, ranges measured once on texts of the project."),
    MIXED: N_("The faster of both, with the products that change labels kept in 32 bits."),
}


@dataclass(frozen=True)
class WeightsRow(JsonRecord):
    """A precision of the weights, measured on the documents of the table.

    id: one of this module. bytes: of the model's file. ms_1, ms_32: median milliseconds per text,
    one at a time and in batches of 32, from text to label. equal: decisions of `labels` that are
    those of the weights with 32 bits. score: the main score of the task, with its interval, without
    a value if there is no gold; change: its difference from 32 bits, with the interval of the
    paired bootstrap. products: of matrices and tables that could have 8 bits; kept: names of those
    with 32. problem: why there are no figures, "" if there are.
    """

    id: str
    bytes: int = 0
    ms_1: float | None = None
    ms_32: float | None = None
    equal: int = 0
    labels: int = 0
    score: Measured = UNKNOWN
    change: Measured = UNKNOWN
    products: int = 0
    kept: tuple[str, ...] = ()
    problem: str = ""

    @property
    def title(self) -> str:
        if self.id == MIXED and self.products:
            quantized = self.products - len(self.kept)
            return ngettext(
                "8 bit, {n} of {all} product",
                "8 bit, {n} of {all} products",
                self.products,
                n=quantized,
                all=self.products,
            )
        return _(TITLES[self.id])

    @property
    def hint(self) -> str:
        return _(_HINTS[self.id])

    @property
    def equal_share(self) -> float | None:
        return self.equal / self.labels if self.labels else None

    @property
    def changed(self) -> int:
        return self.labels - self.equal


@dataclass(frozen=True)
class WeightsTable(JsonRecord):
    """All rows of a run, in the order of the measurement. score: name of the score. documents: of
    dev. threads: that the predictions were computed with. at: ISO 8601.
    """

    rows: tuple[WeightsRow, ...] = ()
    score: str = ""
    documents: int = 0
    threads: int = 0
    at: str = ""

    def row(self, id: str) -> WeightsRow | None:
        return next((row for row in self.rows if row.id == id), None)

    @property
    def speedup(self) -> float | None:
        """Of 8 bits over 32, for texts in batches."""
        full, row = self.row(FULL), self.row(MIXED)
        return full.ms_32 / row.ms_32 if full and row and full.ms_32 and row.ms_32 else None

    @property
    def suggests(self) -> bool:
        """Whether suggestions are made with the weights of 8 bits: they are faster, and hardly any
        label differs.
        """
        row = self.row(MIXED)
        equal = row.equal_share if row else None
        return (self.speedup or 0) >= MIN_SPEEDUP and (equal or 0) >= LEAST_EQUAL
