"""Files whose records are read as lines of text that another importer knows: CSV, JSON, CoNLL."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import replace

from workbench.importers.base import Item, Row, Skipped, Table
from workbench.importers.source import HEAD, LOOK, Source


class Converted(Source):
    """The lines of a file for another importer.

    `places[n - 1]` is the record of the file, from 1, that line n of the last reading belongs to.
    """

    def __init__(self, source: Source) -> None:
        self.__dict__.update(source.__dict__)  # it is open already
        self.is_binary = False
        self.places = array("q")

    def numbered(self) -> Iterator[tuple[int, str]]:
        """(record, line), in order; a record may have several lines."""
        raise NotImplementedError

    def place(self, line: int) -> int:
        """The record that a line of the last reading belongs to."""
        return self.places[line - 1] if 0 < line <= len(self.places) else line

    def head(self, size: int = HEAD) -> str:
        parts, length = list[str](), 0
        for _place, line in self.numbered():
            parts.append(line)
            length += len(line) + 1
            if length > size:
                break
        return "\n".join(parts) + "\n"

    def lines(self, *, ends: bool = False) -> Iterator[str]:
        self.places, self.cut, length = array("q"), False, 0
        for place, line in self.numbered():
            if self.scan is not None and length > LOOK:
                self.cut = True
                return
            self.places.append(place)
            length += len(line)
            yield line + "\n" if ends else line

    def text(self) -> str:
        return "".join(self.lines(ends=True))

    def placed(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items of the importer of the lines, with records of the file as their lines."""
        for item in items:
            yield (
                replace(item, line=self.place(item.line))
                if isinstance(item, Row | Skipped)
                else item
            )

    def table(self, table: Table) -> Table:
        """The preview of the importer of the lines, with records of the file as their lines."""
        rows = tuple(replace(row, line=self.place(row.line)) for row in table.rows)
        return replace(table, rows=rows)
