"""UIMA CAS in XMI or JSON, as INCEpTION, cTAKES and dkpro write it: one file is one document.

A feature of an annotation type becomes a layer of spans, or of tags if it is on every token; chains
and relations keep their ends. Type systems are not needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from workbench.base.errors import ImportFailed
from workbench.base.i18n import N_, _
from workbench.importers import inception, uima_files
from workbench.importers.base import (
    Fault,
    Guess,
    Hint,
    Item,
    Options,
    Remark,
    Row,
    Skipped,
    Table,
    TableRow,
    check,
)
from workbench.importers.source import Source
from workbench.importers.uima_layers import RELATIONS, VIEWS, Reading
from workbench.text.labels import CLUSTER, TAG

_LEFT = {
    RELATIONS: N_("relations whose ends have no label in common"),
    VIEWS: N_("annotations of other views"),
}


class UimaImporter:
    def sniff(self, head: str, name: str) -> Guess:
        if inception.is_cas(head):
            return Guess(0.99, _("annotations of a UIMA CAS, as INCEpTION and cTAKES write them"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        columns = (_("layer"), _("label"), _("offsets"), _("text"))
        why = _("one document with its annotations")
        try:
            reading = Reading(uima_files.read(source))
            record = reading.record("")
        except Fault:  # reading says what is wrong
            return Table(columns, (), (), why)
        text, ids = record.document.text, reading.ids
        rows = [
            TableRow(
                1,
                (name, span.label, f"{span.start} {span.end}", text[span.start : span.end]),
                f"#{ids[name, span]}",
            )
            for name, spans in record.spans.items()
            for span in spans[:limit]
        ]
        return Table(columns, tuple(rows[:limit]), (), why)

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: a UIMA CAS has no columns.").format(file=source.name),
                hint=_("Leave --map out."),
            )
        try:
            reading = Reading(uima_files.read(source))
            record = reading.record(inception.key(source.path))
            check(record)
        except Fault as fault:
            yield Skipped(1, str(fault))
            return
        yield from (Hint(layer, CLUSTER) for layer in reading.chains)
        yield from (Hint(layer, TAG) for layer in reading.tags)
        yield Row(1, record)
        yield from (Remark(message) for message in _remarks(source.name, reading.left))


def _remarks(name: str, left: Counter[str]) -> Iterator[str]:
    if kinds := +left:
        listed = ", ".join(f"{_(_LEFT[kind])} ({n:,})" for kind, n in sorted(kinds.items()))
        yield _("{name}: not imported: {kinds}.").format(name=name, kinds=listed)
