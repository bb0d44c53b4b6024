"""Plain text: one document per line, no labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from workbench.base.i18n import _
from workbench.exporters.data.base import COMMON, Plan
from workbench.text.dataset import Record
from workbench.text.labels import Layer


class TextExporter:
    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        return _(COMMON), _(
            "Only the texts are written, each on one line: no labels, keys, splits or states."
        )

    def write(self, records: Iterable[Record], plan: Plan, out: TextIO) -> int:
        count = 0
        for record in records:
            text = " ‖ ".join(content for _field, content in record.document.texts)
            if "\n" in text or "\r" in text:
                plan.count(_("In {n} texts, line ends were replaced by spaces."))
                text = " ".join(text.split("\n")).replace("\r", " ")
            plan.count(
                _("{n} pairs were written on one line with ‖ between the texts."),
                int(len(record.document.texts) > 1),
            )
            out.write(text + "\n")
            count += 1
        return count
