"""Plain text: one document per line, no labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from workbench.base.i18n import _, ngettext
from workbench.exporters.data.base import COMMON, ExportPlan
from workbench.text.dataset import Record
from workbench.text.labels import Layer


class TextExporter:
    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        return _(COMMON), _(
            "Only the texts are written, each on one line: no labels, keys, splits or states."
        )

    def write(self, records: Iterable[Record], plan: ExportPlan, out: TextIO) -> int:
        count = 0
        for record in records:
            text = " ‖ ".join(content for _field, content in record.document.texts)
            if "\n" in text or "\r" in text:
                plan.count(_joined)
                text = " ".join(text.split("\n")).replace("\r", " ")
            plan.count(_on_one_line, int(len(record.document.texts) > 1))
            out.write(text + "\n")
            count += 1
        return count


def _joined(n: int) -> str:
    return ngettext(
        "In {n} text, line ends were replaced by spaces.",
        "In {n} texts, line ends were replaced by spaces.",
        n,
    )


def _on_one_line(n: int) -> str:
    return ngettext(
        "{n} pair was written on one line with ‖ between the texts.",
        "{n} pairs were written on one line with ‖ between the texts.",
        n,
    )
