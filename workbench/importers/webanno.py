"""WebAnno TSV 3, which INCEpTION and WebAnno export: one file is one document.

A feature of a span layer becomes a layer of spans, one that tags every token a layer of tags;
chains and relations keep their ends. Links of slots, and the names of links in chains, are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from workbench.base.errors import ImportFailed
from workbench.base.i18n import N_, _
from workbench.importers import inception
from workbench.importers import webanno_lines as lines
from workbench.importers.base import (
    SPANS,
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
from workbench.importers.offsets import UTF16, Offsets
from workbench.importers.source import Source
from workbench.importers.webanno_layers import LINKS, RELATIONS, SLOTS, Reading
from workbench.importers.webanno_lines import Declared
from workbench.importers.webanno_text import Text
from workbench.text.labels import CLUSTER, TAG


class WebannoImporter:
    def sniff(self, head: str, name: str) -> Guess:
        if head.lstrip("\ufeff \t\r\n").startswith(lines.START):
            return Guess(0.99, _("tokens with offsets and layers, as INCEpTION exports them"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        layers = lines.declared(source.lines())
        names = [name for layer in layers for name, _column in layer.features]
        rows = []
        try:
            for sentence in lines.sentences(source.lines(), _width(layers)):
                for unit in sentence.units:
                    found = [unit.cells[at] for layer in layers for _name, at in layer.features]
                    rows.append(TableRow(unit.line, (unit.text, *map(_shown, found))))
                if len(rows) >= limit:
                    break
        except Fault:
            pass  # reading says what is wrong
        why = _("one document; its layers are in the header")
        return Table((_("token"), *names), tuple(rows[:limit]), (), why)

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: the columns of WebAnno TSV are fixed.").format(file=source.name),
                hint=_("Leave --map out."),
            )
        layers = lines.declared(source.lines())
        try:
            found = list(lines.sentences(source.lines(), _width(layers)))
            if not found:
                raise Fault(_("the file has no sentences"))
            text = Text.of(found)
            reading = Reading(text, found, layers)
            if options.span_layer != SPANS:
                reading.rename(options.span_layer)
            record = reading.record(inception.key(source.path))
            check(record)
        except Fault as fault:
            yield Skipped(1, str(fault))
            return
        yield from (Hint(layer, CLUSTER) for layer in reading.chains)
        yield from (Hint(layer, TAG) for layer in reading.tags)
        yield Row(1, record)
        offsets = Offsets()
        if text.way != UTF16:
            offsets.note(text.way)
        messages = (*_remarks(source.name, reading.left), *offsets.remarks(source.name))
        yield from map(Remark, messages)


def _width(layers: tuple[Declared, ...]) -> int:
    return layers[-1].columns.stop if layers else 0


def _shown(cell: str) -> str:
    return ", ".join(value.text or lines.UNSET for value in lines.values(cell))


_LEFT = {
    SLOTS: N_("links of slots"),
    RELATIONS: N_("relations whose ends have no label in common"),
    LINKS: N_("names of the links in chains"),
}


def _remarks(name: str, left: Counter[str]) -> Iterator[str]:
    if kinds := +left:
        listed = ", ".join(f"{_(_LEFT[kind])} ({n:,})" for kind, n in sorted(kinds.items()))
        yield _("{name}: not imported: {kinds}.").format(name=name, kinds=listed)
