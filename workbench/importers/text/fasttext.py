"""fastText's supervised format: `__label__A __label__B text`, one document a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    label_name,
)
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document

PREFIX = "__label__"
_LABEL = re.compile(rf"{PREFIX}(\S*)(?:[ \t]+|$)")
_LINES = 200  # that are looked at to recognize the format


class FastTextImporter:
    def sniff(self, head: str, name: str) -> Guess:
        lines = [line for line in head.lstrip("\ufeff").split("\n")[:_LINES] if line.strip()]
        labelled = sum(line.startswith(PREFIX) for line in lines)
        if labelled * 2 < len(lines) or not lines:
            return Guess(0.0)
        return Guess(0.95, _("lines begin with __label__, the format of fastText"))

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        rows = []
        for number, line in _lines(source):
            labels, text = split_line(line)
            rows.append(TableRow(number, (", ".join(labels), text)))
            if len(rows) == limit:
                break
        return Table(
            ("label", "text"),
            tuple(rows),
            ((f"label:{options.class_layer}", "label"), ("text", "text")),
            _("labels, then the text, on one line"),
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        layer = options.class_layer
        for number, line in _lines(source):
            labels, text = split_line(line)
            try:
                marks = {layer: tuple(map(label_name, labels))} if labels else {}
                states = dict.fromkeys(marks, "submitted")
                record = Record(Document("", ((TEXT, text),)), states, marks)
                check(record)
                yield Row(number, record)
            except Fault as fault:
                yield Skipped(number, str(fault))


def split_line(line: str) -> tuple[tuple[str, ...], str]:
    """The labels in front of a line, each once, and the text behind them as it is."""
    labels: dict[str, None] = {}
    position = 0
    while match := _LABEL.match(line, position):
        labels[match.group(1)] = None
        position = match.end()
    return tuple(labels), line[position:]


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(source.lines(), 1):
        if line and not line.isspace():
            yield number, line
