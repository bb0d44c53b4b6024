"""The lines of WebAnno TSV 3: layers in the header, sentences, tokens with a cell per feature.

Offsets are UTF-16 units. Source: INCEpTION User Guide, appendix “WebAnno TSV 3.3 File format”.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from workbench.base.i18n import _, ngettext
from workbench.importers.base import Fault, show
from workbench.importers.offsets import joined_surrogates

START = "#FORMAT=WebAnno TSV 3"
SPAN, RELATION, CHAIN = "SP", "RL", "CH"
NONE, UNSET = "_", "*"  # no annotation; an annotation without a value
_BASE, _ROLE = "BT_", "ROLE_"
_LAYER = re.compile(r"#T_(SP|RL|CH)=(.+)$")
_UNIT = re.compile(r"(\d{1,9}-\d{1,9})(\.\d{1,9})?$")
_RANGE = re.compile(r"(\d{1,12})-(\d{1,12})$")
_STACKED = re.compile(r"(?:\\.|[^\\|])+", re.S)  # a value between bars that are not escaped
_NUMBERED = re.compile(r"((?:\\.|[^\\])*)\[(\d{1,9})\]", re.S)
_ESCAPED = re.compile(r"\\(->|u[0-9A-Fa-f]{4}|.)", re.S)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "b": "\b"}


@dataclass(frozen=True)
class Declared:
    """A layer of the header.

    columns: its cells in a line. features: (name, number of its cell) of those that hold values.
    base: the layer whose spans a relation connects. slots: the cells with the targets of slots.
    """

    kind: str
    type: str
    columns: range
    features: tuple[tuple[str, int], ...]
    base: str = ""
    slots: tuple[int, ...] = ()

    @property
    def short(self) -> str:
        """The name without its package."""
        return self.type.rpartition(".")[2]


@dataclass(frozen=True)
class TokenUnit:
    """A token, or a part of one. id: as relations name it. start, end: UTF-16 units."""

    line: int
    id: str
    start: int
    end: int
    text: str
    cells: tuple[str, ...]

    @property
    def is_token(self) -> bool:
        return "." not in self.id


@dataclass
class Sentence:
    """line: its first. text: "" where the file has none."""

    line: int
    text: str = ""
    units: list[TokenUnit] = field(default_factory=list)


@dataclass(frozen=True)
class Value:
    """A value of a cell: "" if unset. number: of the annotation, 0 where a token has only one."""

    text: str
    number: int
    raw: str


def plain(text: str) -> str:
    r"""The text without its escapes. WebAnno 3.2 wrote letters beyond ASCII as in Java: \u00FC."""
    unescaped = _ESCAPED.sub(lambda match: _character(match[1]), text)
    return unescaped if text.isascii() and unescaped.isascii() else joined_surrogates(unescaped)


def _character(escape: str) -> str:
    return chr(int(escape[1:], 16)) if len(escape) == 5 else _CONTROLS.get(escape, escape)


def values(cell: str) -> tuple[Value, ...]:
    """The values of the stacked annotations of a cell; () for none."""
    if cell == NONE:
        return ()
    stacked = []
    for piece in _STACKED.findall(cell):
        match = _NUMBERED.fullmatch(piece)
        raw, number = (match[1], int(match[2])) if match else (piece, 0)
        stacked.append(Value("" if raw in (NONE, UNSET) else plain(raw), number, raw))
    return tuple(stacked)


def declared(lines: Iterable[str]) -> tuple[Declared, ...]:
    """The layers of the header, in the order of their columns."""
    layers: list[Declared] = []
    column = 0
    for line in lines:
        if match := _LAYER.match(line.rstrip()):
            layers.append(_layer(match[1], match[2], column))
            column = layers[-1].columns.stop
        elif layers and not line.startswith("#") and line.strip():
            break
    return tuple(layers)


def _layer(kind: str, rest: str, first: int) -> Declared:
    type, *names = rest.split("|")
    base = ""
    features: list[tuple[str, int]] = []
    slots: list[int] = []
    for at, name in enumerate(names, first):
        if name.startswith(_BASE):
            base = name.removeprefix(_BASE)
        elif name.startswith(_ROLE):
            slots.append(at + 1)  # the next cell has the targets of its links
        elif name and at not in slots:
            features.append((name, at))
    columns = range(first, first + max(1, len(names)))
    return Declared(kind, type, columns, tuple(features), base, tuple(slots))


def sentences(lines: Iterable[str], width: int) -> Iterator[Sentence]:
    """The sentences of a file whose lines have `width` cells of layers. Raises Fault."""
    now = Sentence(0)
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            name, equals, text = line.partition("=")
            if name != "#Text" or not equals:
                continue
            if now.units:
                yield now
                now = Sentence(number)
            now.line = now.line or number
            now.text += ("\n" if now.text else "") + plain(text)
        elif line.strip():
            now.line = now.line or number
            now.units.append(_unit(number, line, width))
    if now.units:
        yield now


def _unit(number: int, line: str, width: int) -> TokenUnit:
    cells = line.removesuffix("\t").split("\t")  # each line ends with a tab
    if len(cells) != width + 3:
        raise Fault(
            ngettext(
                "line {line} has {n} column, expected {wanted}",
                "line {line} has {n} columns, expected {wanted}",
                len(cells),
                line=number,
                wanted=width + 3,
            )
        )
    place = _RANGE.match(cells[1])
    if not _UNIT.match(cells[0]) or not place:
        message = _("line {line} begins with {cells}, expected the number and offsets of a token")
        raise Fault(message.format(line=number, cells=show("\t".join(cells[:2]))))
    start, end = int(place[1]), int(place[2])
    return TokenUnit(number, cells[0], start, end, plain(cells[2]), tuple(cells[3:]))
