"""Plain text: one document for each line that is not empty, or for the whole file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.base.i18n import _
from workbench.importers.base import (
    Fault,
    Guess,
    Item,
    Options,
    Row,
    Skipped,
    Table,
    TableRow,
    check,
)
from workbench.importers.json import jsonl
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document


class PlainImporter:
    def sniff(self, head: str, name: str) -> Guess:
        if name.lower().endswith((".txt", ".text", ".md")) and not jsonl.opens(head):
            return Guess(
                0.3,
                _(
                    "the name ends in {name} and no other format fits better",
                    name=name[name.rindex(".") :],
                ),
            )
        return Guess(0.05, _("nothing else fits"))

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        rows = []
        for number, line in enumerate(source.lines(), 1):
            if line and not line.isspace():
                rows.append(TableRow(number, (line,)))
            if len(rows) == limit:
                break
        return Table(
            ("line",),
            tuple(rows),
            (("text", "line"),),
            _(
                "each line that is not empty is one document; with another format, the whole file "
                "is one document"
            ),
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        for number, line in enumerate(source.lines(), 1):
            if not line or line.isspace():
                continue
            record = Record(Document("", ((TEXT, line),)))
            try:
                check(record)
                yield Row(number, record)
            except Fault as fault:
                yield Skipped(number, str(fault))


class WholeFileImporter:
    """The lines of a file with U+000A between them; its name without the suffix is the key."""

    def sniff(self, head: str, name: str) -> Guess:
        return Guess(0.0, _("it must be chosen"))

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        lines = PlainImporter().preview(source, options, limit)
        return replace(lines, why=_("the whole file is one document"))

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        content = "\n".join(source.lines()).rstrip("\n")
        record = Record(Document(source.path.stem, ((TEXT, content),)))
        try:
            check(record)
            yield Row(1, record)
        except Fault as fault:
            yield Skipped(1, str(fault))
