"""Columns: a token a line with its tag in the last column, a blank line between documents (CoNLL-2000, 2002, 2003, two-column BIO …)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.importers import roles
from workbench.importers.base import Fault, Guess, Item, Options, Remark, Row, Skipped, Table, check
from workbench.importers.source import Source
from workbench.text import schemes
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.joining import join
from workbench.text.spans import Span

DOCSTART = "-DOCSTART-"
_COMMENT = re.compile(
    r"#\s*(?:(newdoc id|newdoc|doc)|(sent_id|id)|newpar|text|relations|meta|global\.columns|split)\b\s*=?\s*(.*)$",
    re.I,
)
_OTHER_COMMENT = re.compile(r"#(?:begin|end) document|# ?[^\t ]+ = ")
_SAMPLE = 2000
_WIDEST = 1000  # columns; a known corpus has 16
_LONGEST = 1_000_000  # characters of a line: a token with its columns has fewer, and cutting up 100 MB would fill the memory
_TAG = re.compile(r"^(?:O|[BIESLUMW][-_].+)$")


@dataclass
class Block:
    """Lines of one document: tokens as rows of columns, what comments said, and the first fault."""

    line: int = 0
    rows: list[list[str]] = field(default_factory=list)
    key: str = ""
    fault: tuple[int, str] | None = None
    group: str | None = None


class ConllImporter:
    def sniff(self, head: str, name: str) -> Guess:
        if head.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
            return Guess(0.0)
        by, rows = sample(head)
        ending = name.lower().endswith(
            (".conll", ".conll03", ".iob", ".iob2", ".bio", ".bioes", ".conllup")
        )
        if not rows or width_of(rows) < 2:
            return Guess(0.0)
        if tag_columns(rows):
            return Guess(0.9, _("a column holds tags like O and B-X"))
        if any(row[0] == DOCSTART for row in rows):
            return Guess(0.9, _("there are -DOCSTART- lines"))
        if ending:
            return Guess(
                0.85,
                _("the name ends in {name} and the lines have columns").format(
                    name=name[name.rindex(".") :]
                ),
            )
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        form = _Form.of(source, options)
        rows: list[tuple[str, ...]] = []
        for block in blocks(source, form):
            rows += [tuple(row) for row in block.rows]
            if len(rows) >= limit:
                break
        width = max([len(row) for row in rows[:limit]], default=form.width)
        names = tuple(map(str, range(1, width + 1)))
        padded = tuple(row + ("",) * (width - len(row)) for row in rows[:limit])
        schemes_ = ", ".join(
            _("column {column}: {schemes}").format(column=column, schemes=form.schemes[column])
            for column in form.schemes
        )
        return Table(
            names,
            padded,
            form.mapping,
            _("a token a line; {schemes}").format(schemes=schemes_),
            form.delimiter,
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        form = _Form.of(source, options)
        for column, scheme in form.schemes.items():
            if scheme in ("IO", "POS"):
                kind = (
                    _("neighbours with one label became one span")
                    if scheme == "IO"
                    else _("each token became a span")
                )
                yield Remark(
                    _(
                        "{name}: the tags of column {column} have no B- and I- before them; {kind}."
                    ).format(name=source.name, column=column, kind=kind)
                )
        for block in blocks(source, form):
            try:
                if block.fault:
                    raise Fault(block.fault[1])
                record = _record(block, form)
                check(record)
                yield Row(block.line, record)
            except Fault as fault:
                yield Skipped(block.fault[0] if block.fault else block.line, str(fault))


# ---------------------------------------------------------------- lines


def delimiter(lines: Sequence[str]) -> str:
    """A tab where most lines hold one, else spaces."""
    tabs = sum("\t" in line for line in lines if not line.startswith("# "))
    return "\t" if tabs * 2 > len(lines) else " "


def sample(head: str) -> tuple[str, list[list[str]]]:
    """The delimiter and the rows of a file's first lines, without comments."""
    lines = [
        line.rstrip("\r") for line in (head.split("\n")[:-1] or [head])[:_SAMPLE] if line.strip()
    ]
    by = delimiter(lines)
    return by, [
        row for line in lines if not line.startswith(("# ", "#\t")) and (row := columns(line, by))
    ]


def width_of(rows: Sequence[Sequence[str]]) -> int:
    """How many columns most rows have."""
    return Counter(map(len, rows)).most_common(1)[0][0] if rows else 0


def tag_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    """Columns (from 0, not the first) in which nearly every cell is a tag like O or B-X."""
    width = width_of(rows)
    rows = [row for row in rows if len(row) == width and row[0] != DOCSTART]
    return (
        [
            n
            for n in range(1, width)
            if sum(bool(_TAG.match(row[n])) for row in rows) > 0.9 * len(rows)
        ]
        if rows
        else []
    )


def text_column(rows: Sequence[Sequence[str]]) -> int:
    """The first column, or the second where the first counts the words."""
    width = width_of(rows)
    counted = [row for row in rows if len(row) == width and row[0] != DOCSTART]
    return int(
        width > 2
        and bool(counted)
        and all(row[0].isdigit() for row in counted)
        and counted[0][0] == "1"
    )


def columns(line: str, by: str) -> list[str]:
    if by == "\t":
        return line.split("\t")
    return [part for part in re.split("[ \t]+", line) if part]


def is_comment(line: str, by: str, width: int) -> bool:
    """A line of its own kind, not a token "#": such a one has as many columns as the others."""
    if not line.startswith("#"):
        return False
    if by == "\t":
        if line.startswith("#\t"):
            return line.count("\t") + 1 != width
        return "\t" not in line and (
            line.startswith(("# ", "#begin", "#end")) or bool(_COMMENT.match(line))
        )
    return bool(_OTHER_COMMENT.match(line) or ("=" in line and _COMMENT.match(line))) or len(
        columns(line, by)
    ) not in (width, 2)


@dataclass(frozen=True)
class _Form:
    """What is the same for the whole file. Columns are named by their number from 1."""

    delimiter: str
    width: int
    mapping: tuple[tuple[str, str], ...]
    text: int
    tags: tuple[tuple[str, int], ...]  # (layer, column from 0)
    misc: int | None
    schemes: dict[str, str]

    @classmethod
    def of(cls, source: Source, options: Options) -> _Form:
        by, rows = sample(source.head())
        if options.delimiter:
            by = "\t" if options.delimiter in ("\t", "tab") else " "
            rows = [columns("\t".join(row), by) for row in rows]
        width = width_of([row for row in rows if row[0] != DOCSTART])
        if width < 2:
            one = _("{name} has 1 column, expected at least 2 (token and tag).")
            none = _("{name} has no columns, expected at least 2 (token and tag).")
            raise ImportFailed(
                (one if width else none).format(name=source.name),
                hint=_(
                    "Is this the right format? Choose another delimiter, or import it as plain text."
                ),
            )
        if width > _WIDEST:
            raise ImportFailed(
                _("The lines of {name} have {width:,} columns.").format(
                    name=source.name, width=width
                ),
                hint=_("Is this the right format? Plain text has no columns."),
            )
        words = str(text_column(rows) + 1)
        tag = str((tag_columns(rows) or [width - 1])[-1] + 1)
        mapping = options.mapping or (("text", words), (f"tag:{options.span_layer}", tag))
        found = roles.with_text(roles.parse(mapping), (("text", words),), source.name)
        text = next(_number(one.column, width, source.name) for one in found if one.kind == "text")
        tags = tuple(
            (one.name, _number(one.column, width, source.name))
            for one in found
            if one.kind in ("tag", "spans")
        )
        if other := [one.text for one in found if one.kind not in ("text", "tag", "spans")]:
            raise ImportFailed(
                _("Columns of tokens cannot be {names}.").format(names=", ".join(other)),
                hint=_("Use text and tag:LAYER."),
            )
        misc = next(
            (
                n
                for n in range(width)
                if any(len(row) > n and "SpaceAfter=" in row[n] for row in rows)
            ),
            None,
        )
        form = cls(by, width, tuple(mapping), text, tags, misc, {})
        for _layer, column in tags:
            form.schemes[str(column + 1)] = schemes.detect(
                [row[column] for row in block.rows]
                for block in blocks(source, form)
                if not block.fault
            )
        return form


def _number(column: str, width: int, name: str) -> int:
    """ "2", "column 2" or "-1" → index from 0."""
    try:
        number = int(column.lower().removeprefix("column").strip())
    except ValueError:
        raise ImportFailed(
            _("{name} has no column {column!r}.").format(name=name, column=column),
            hint=_("Columns of tokens are named by their number, from 1."),
        ) from None
    index = number - 1 if number > 0 else width + number
    if not 0 <= index < width or number == 0:
        raise ImportFailed(
            _("{name} has {width} columns, there is no column {column}.").format(
                name=name, width=width, column=column
            )
        )
    return index


def blocks(source: Source, form: _Form) -> Iterator[Block]:
    """Documents of the file. A line with too few or too many columns marks its block with a fault."""
    block, group, starts = Block(), None, 0
    for number, line in enumerate(source.lines(), 1):
        if not line.strip(" \t"):
            if block.rows or block.fault:
                yield block
                block = Block()
            continue
        if len(line) > _LONGEST:
            block.line = block.line or number
            block.fault = block.fault or (
                number,
                _(
                    "the line has {count:,} characters, at most {longest:,} are read in this format"
                ).format(count=len(line), longest=_LONGEST),
            )
            continue
        if is_comment(line, form.delimiter, form.width):
            if match := _COMMENT.match(line):
                if match.group(1):
                    group = match.group(3).strip() or f"{source.name}:{number}"
                elif match.group(2):
                    block.key = match.group(3).strip()
            continue
        row = columns(line, form.delimiter)
        if row[0] == DOCSTART and not block.rows:
            starts += 1
            group = f"{DOCSTART} {source.name}:{number}"
            continue
        block.line, block.group = block.line or number, group
        if fault := _fault(row, form):
            block.fault = block.fault or (number, fault)
        else:
            block.rows.append(row)
    if block.rows or block.fault:
        yield block


def _fault(row: list[str], form: _Form) -> str:
    if len(row) != form.width:
        one, many = (
            _("the line has 1 column, expected {width}"),
            _("the line has {n} columns, expected {width}"),
        )
        return (one if len(row) == 1 else many).format(n=len(row), width=form.width)
    if not row[form.text]:
        return _("the token is empty")
    if any(not row[column] for _, column in form.tags):
        return _("the tag is empty")
    return ""


# ---------------------------------------------------------------- one document


def _record(block: Block, form: _Form) -> Record:
    tokens = [row[form.text] for row in block.rows]
    glued = [form.misc is not None and "SpaceAfter=No" in row[form.misc] for row in block.rows]
    text, borders = join(tokens, glued)
    found: dict[str, tuple[Span, ...]] = {}
    for layer, column in form.tags:
        spans = schemes.spans([row[column] for row in block.rows], form.schemes[str(column + 1)])
        found[layer] = tuple(
            Span(borders[one.first][0], borders[one.last - 1][1], one.label) for one in spans
        )
    document = Document(block.key, ((TEXT, text),), None, block.group, {}, {TEXT: borders})
    return Record(document, dict.fromkeys(found, "submitted"), {}, found)
