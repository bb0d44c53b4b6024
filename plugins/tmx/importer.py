"""TMX 1.4b: every translation unit with two languages becomes a sentence pair.

Source: https://www.gala-global.org/tmx-14b. A unit is <tu>; its variants <tuv xml:lang="…"> hold
one <seg> each, whose inline codes (<bpt>, <ept>, <ph> …) represent formatting and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.parsers import expat

from workbench.base.errors import ImportFailed
from workbench.importers.base import (
    Fault,
    Guess,
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
from workbench.text.dataset import Record
from workbench.text.document import TEXT, TEXT_B, Document

CODES = {"bpt", "ept", "it", "ph", "ut"}  # inline codes: their content is not text
MAX_CHARACTERS = 10_000_000  # maximum characters of one unit


class TmxImporter:
    def sniff(self, head: str, name: str) -> Guess:
        if "<tmx" in head[:4000]:
            return Guess(0.95, "it begins with <tmx")
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        first = source_language = ""
        rows = []
        for unit in _units(source):
            source_language = source_language or unit.source
            pair = unit.pair(unit.source)
            if pair is not None:
                rows.append(TableRow(unit.line, tuple(text for _language, text in pair)))
                first = first or f"{pair[0][0]} – {pair[1][0]}"
            if len(rows) == limit:
                break
        why = f"each unit with two languages is one pair ({first})" if first else "no unit has two"
        return Table(("source", "target"), tuple(rows), (("text", "source"),), why)

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        several = 0
        for unit in _units(source):
            pair = unit.pair(unit.source)
            if pair is None:
                yield Skipped(unit.line, "the unit has fewer than two languages")
                continue
            several += len(unit.variants) > 2
            (item, text), (other, text_b) = pair
            document = Document(unit.key, ((TEXT, text), (TEXT_B, text_b)))
            record = Record(document)
            try:
                check(record)
                yield Row(unit.line, record)
            except Fault as fault:
                yield Skipped(unit.line, str(fault))
        if several:
            yield Remark(
                f"{several} units have more than two languages: the source and the first other "
                "language were taken."
            )


class _Unit:
    """A <tu>: the line it begins on, its id, and its variants as (language, text)."""

    def __init__(self, line: int, key: str, source: str):
        self.line, self.key, self.source = line, key, source
        self.variants: list[tuple[str, str]] = []

    def pair(self, source: str) -> tuple[tuple[str, str], tuple[str, str]] | None:
        """The variant in the source language first, then the first in another one."""
        full = [variant for variant in self.variants if variant[1].strip()]
        first = next((item for item in full if _same(item[0], source)), full[0] if full else None)
        second = next((item for item in full if first and item[0] != first[0]), None)
        return (first, second) if first and second else None


def _same(language: str, source: str) -> bool:
    """Whether a language is the source: "en-US" is "en"."""
    item, other = language.lower(), source.lower()
    return bool(other) and (item == other or item.startswith(f"{other}-"))


def _units(source: Source) -> Iterator[_Unit]:
    reader = _Reader(source.name)
    for line in source.lines():
        yield from reader.feed(line)
    yield from reader.end()


class _Reader:
    """Parses XML line by line, so that large files need little memory."""

    def __init__(self, name: str):
        self._name, self._line = name, 0
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._close
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._entity
        self._language = self._source = ""
        self._unit: _Unit | None = None
        self._text: list[str] | None = None
        self._codes = 0
        self._done: list[_Unit] = []

    def feed(self, line: str) -> Iterator[_Unit]:
        self._line += 1
        if self._line == 1 and line.lstrip("\ufeff").startswith("<?xml"):
            line = line[line.find("?>") + 2 :]  # its encoding is that of the file, already decoded
        yield from self._parse((line + "\n").encode("utf-8", "surrogatepass"), False)

    def end(self) -> Iterator[_Unit]:
        yield from self._parse(b"", True)

    def _parse(self, data: bytes, last: bool) -> Iterator[_Unit]:
        try:
            self._parser.Parse(data, last)
        except expat.ExpatError as error:
            raise ImportFailed(
                f"{self._name}, line {max(1, self._line)}: it is not well-formed XML ({error}).",
                hint="Export the memory again, or repair the file.",
            ) from error
        done, self._done = self._done, []
        yield from done

    def _entity(self, *_about: object) -> None:
        raise ImportFailed(
            f"{self._name} declares entities, which no translation memory needs.",
            hint="Remove the DOCTYPE from the file.",
        )

    def _start(self, name: str, about: dict[str, str]) -> None:
        if name == "header":
            self._source = about.get("srclang", "")
        elif name == "tu":
            source = about.get("srclang", self._source)
            self._unit = _Unit(self._line, about.get("tuid", ""), source)
        elif name == "tuv":
            self._language = about.get("xml:lang", about.get("lang", ""))
        elif name == "seg" and self._unit is not None:
            self._text = []
        elif name in CODES:
            self._codes += 1

    def _close(self, name: str) -> None:
        if name == "seg" and self._unit is not None and self._text is not None:
            text = " ".join("".join(self._text)[:MAX_CHARACTERS].split())
            self._unit.variants.append((self._language, text))
            self._text = None
        elif name == "tu" and self._unit is not None:
            self._done.append(self._unit)
            self._unit = None
        elif name in CODES:
            self._codes -= 1

    def _characters(self, text: str) -> None:
        if self._text is not None and not self._codes:
            self._text.append(text)
