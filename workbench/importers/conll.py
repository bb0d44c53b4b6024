"""Columns: one token per line, tags in one or more columns, a blank line between documents.

CoNLL-2000, 2002 and 2003, two-column BIO, nested annotation with a column for each level.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
from workbench.importers import jsonl, roles
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
    add_spans,
    check,
)
from workbench.importers.conll_columns import (
    COMMENT,
    DOCSTART,
    columns,
    is_comment,
    is_header,
    layers_of,
    regular,
    sample,
    tag_columns,
    text_column,
    width_of,
)
from workbench.importers.source import Source
from workbench.text import schemes
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.joining import join
from workbench.text.labels import TAG
from workbench.text.spans import Span

_WIDEST = 1000  # columns; a known corpus has 16
# maximum number of characters of a line; a token with its columns has fewer, and splitting 100 MB
# fills the memory
_LONGEST = 1_000_000
_ENDINGS = (".conll", ".conll03", ".iob", ".iob2", ".bio", ".bioes", ".conllup")
EXAMINED = 200_000  # tokens in which a preview recognizes schemes and counts spans


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
        if jsonl.opens(head):
            return Guess(0.0)
        by, rows = sample(head)
        rows = rows[is_header(rows[0]) :] if rows else rows
        if width_of(rows) < 2 or not regular(rows, by):
            return Guess(0.0)
        if tag_columns(rows):
            return Guess(0.9, _("a column holds tags like O and B-X"))
        if any(row[0] == DOCSTART for row in rows):
            return Guess(0.9, _("there are -DOCSTART- lines"))
        if name.lower().endswith(_ENDINGS):
            return Guess(
                0.85,
                _("the name ends in {name} and the lines have columns").format(
                    name=name[name.rindex(".") :]
                ),
            )
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        form = _Form.of(source, options)
        rows = _first_rows(source, form, limit)
        width = max([form.width, *(len(row.cells) for row in rows)])
        counts, examined = _span_counts(source, form)
        return Table(
            tuple(map(str, range(1, width + 1))),
            tuple(TableRow(row.line, row.cells + ("",) * (width - len(row.cells))) for row in rows),
            form.mapping,
            _("one token per line; {schemes}").format(schemes=form.described_schemes(source)),
            form.delimiter,
            counts,
            examined,
            tuple(
                _left_out(source, str(column + 1), counts[str(column + 1)])
                for column in form.unmapped_tags()
            ),
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        form = _Form.of(source, options)
        yield from (Remark(text) for text in _remarks(source, form))
        yield from (Hint(layer, TAG) for layer in form.tag_layers())
        left_out = {str(column + 1): 0 for column in form.unmapped_tags()}
        for block in blocks(source, form):
            _add_counts(left_out, block, form)
            try:
                if block.fault:
                    raise Fault(block.fault[1])
                record = _record(block, form)
                check(record)
                yield Row(block.line, record)
            except Fault as fault:
                yield Skipped(block.fault[0] if block.fault else block.line, str(fault))
        for column, count in left_out.items():
            yield Remark(_left_out(source, column, count))


# ---------------------------------------------------------------- the form of a file


@dataclass(frozen=True)
class _Form:
    """What is the same for the whole file. Columns are named by their number from 1.

    `tags`: (layer, column from 0) pairs, those of the main layer first. `tagged`: the columns that
    look like tags, whether they are mapped or not. `schemes`: by the name of the column.
    """

    delimiter: str
    width: int
    mapping: tuple[tuple[str, str], ...]
    text: int
    tags: tuple[tuple[str, int], ...]
    tagged: tuple[int, ...]
    misc: int | None
    schemes: dict[str, str]
    header: bool  # the first line names the columns

    @classmethod
    def of(cls, source: Source, options: Options) -> _Form:
        by, rows = sample(source.head())
        if options.delimiter:
            by = "\t" if options.delimiter in ("\t", "tab") else " "
            rows = [columns("\t".join(row), by) for row in rows]
        header = bool(rows) and is_header(rows[0])
        rows = rows[header:]
        width = width_of([row for row in rows if row[0] != DOCSTART])
        _check_width(width, source.name)
        tagged = tag_columns(rows)
        words = str(text_column(rows) + 1)
        mapping = tuple(options.mapping) or guessed_mapping(
            rows, words, tagged or [width - 1], options
        )
        found = roles.with_text(roles.parse(mapping), (("text", words),), source.name)
        text, tags = _places(found, width, source.name)
        main = options.span_layer
        tags.sort(key=lambda tag: tag[0] != main)  # the layer that other formats export comes first
        form = cls(
            by, width, mapping, text, tuple(tags), tuple(tagged), _misc(rows, width), {}, header
        )
        form.schemes.update(_detect_schemes(source, form))
        return form

    def tag_layers(self) -> tuple[str, ...]:
        """The layers all of whose columns hold a tag for every token."""
        found: dict[str, bool] = {}
        for layer, column in self.tags:
            is_tag = self.schemes[str(column + 1)] == schemes.EVERY
            found[layer] = found.get(layer, True) and is_tag
        counts = Counter(layer for layer, _column in self.tags)
        return tuple(layer for layer, is_tag in found.items() if is_tag and counts[layer] == 1)

    def unmapped_tags(self) -> list[int]:
        mapped = {column for _layer, column in self.tags}
        return [column for column in self.tagged if column not in mapped and column != self.text]

    def described_schemes(self, source: Source) -> str:
        message = _("column {column}: {schemes}")
        return ", ".join(
            message.format(column=source.column_name(column), schemes=scheme)
            for column, scheme in self.schemes.items()
        )


def _check_width(width: int, name: str) -> None:
    if width < 2:
        item = _("{name} has 1 column, expected at least 2 (token and tag).")
        none = _("{name} has no columns, expected at least 2 (token and tag).")
        raise ImportFailed(
            (item if width else none).format(name=name),
            hint=_("Check the format. Choose another delimiter, or import the file as plain text."),
        )
    if width > _WIDEST:
        raise ImportFailed(
            _("The lines of {name} have too many columns: {width:,}.").format(
                name=name, width=width
            ),
            hint=_("Check the format. Plain text has no columns."),
        )


def guessed_mapping(
    rows: list[list[str]], words: str, tagged: list[int], options: Options
) -> tuple[tuple[str, str], ...]:
    main = options.tag_layer if _for_every_token(rows, max(tagged)) else options.span_layer
    layers = layers_of(rows, tagged, main)
    tags = ((f"tag:{layers[column]}", str(column + 1)) for column in sorted(layers))
    return (("text", words), *tags)


def _for_every_token(rows: list[list[str]], column: int) -> bool:
    """Whether a column has a tag without a prefix for every token."""
    detector = schemes.Detector()
    detector.feed(row[column] for row in rows if len(row) > column and row[0] != DOCSTART)
    return detector.scheme == schemes.EVERY


def _places(
    found: tuple[roles.Role, ...], width: int, name: str
) -> tuple[int, list[tuple[str, int]]]:
    """The column of the token and (layer, column) pairs. Raises ImportFailed."""
    if other := [role.text for role in found if role.kind != "text" and not role.in_text]:
        raise ImportFailed(
            _("{file}: a column of tokens cannot be {names}.").format(
                file=name, names=", ".join(other)
            ),
            hint=_("Use text and tag:LAYER."),
        )
    text = next(_number(role.column, width, name) for role in found if role.kind == "text")
    return text, [
        (role.name, _number(role.column, width, name)) for role in found if role.kind != "text"
    ]


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
            ngettext(
                "{name} has {width} column, there is no column {column}.",
                "{name} has {width} columns, there is no column {column}.",
                width,
            ).format(name=name, width=width, column=column)
        )
    return index


def _misc(rows: list[list[str]], width: int) -> int | None:
    """The column that says where no space follows a token."""
    return next(
        (n for n in range(width) if any(len(row) > n and "SpaceAfter=" in row[n] for row in rows)),
        None,
    )


def _detect_schemes(source: Source, form: _Form) -> dict[str, str]:
    """Schemes by column name, for mapped columns and for those that look like tags."""
    found = {
        column: schemes.Detector()
        for column in (*(column for _layer, column in form.tags), *form.unmapped_tags())
    }
    tokens = 0
    for block in blocks(source, form):
        if not block.fault:
            for column, detector in found.items():
                detector.feed([row[column] for row in block.rows])
        tokens += len(block.rows)
        if source.scan is not None and tokens >= EXAMINED:
            break
    return {str(column + 1): detector.scheme for column, detector in found.items()}


# ---------------------------------------------------------------- previews and remarks


def _first_rows(source: Source, form: _Form, limit: int) -> list[TableRow]:
    """The first lines of tokens, those with a fault included."""
    rows: list[TableRow] = []
    for number, line in enumerate(source.lines(), 1):
        if not line.strip(" \t") or is_comment(line, form.delimiter, form.width):
            continue
        row = tuple(columns(line[:_LONGEST], form.delimiter)[:_WIDEST])
        if row[0] != DOCSTART and (rows or not is_header(row)):
            rows.append(TableRow(number, row))
        if len(rows) >= limit:
            break
    return rows


def _span_counts(source: Source, form: _Form) -> tuple[dict[str, int], str]:
    """Spans by column of tags, and a sentence on where they were counted, "" for the whole file."""
    counts = dict.fromkeys(form.schemes, 0)
    tokens = 0
    for block in blocks(source, form):
        _add_counts(counts, block, form)
        tokens += len(block.rows)
        if tokens >= EXAMINED:
            return counts, ngettext(
                "Spans were counted in the first {n:,} token.",
                "Spans were counted in the first {n:,} tokens.",
                tokens,
            ).format(n=tokens)
    return counts, _("Spans were counted at the beginning of the file.") if source.cut else ""


def _add_counts(counts: dict[str, int], block: Block, form: _Form) -> None:
    """Add the spans of a block without a fault to those of each column in `counts`."""
    for column in counts if not block.fault else ():
        tags = [row[int(column) - 1] for row in block.rows]
        counts[column] += len(schemes.spans(tags, form.schemes[column]))


def _left_out(source: Source, column: str, count: int) -> str:
    return ngettext(
        "{name}: column {column} holds tags and is left out ({n:,} span).",
        "{name}: column {column} holds tags and is left out ({n:,} spans).",
        count,
    ).format(name=source.name, column=source.column_name(column), n=count)


def _remarks(source: Source, form: _Form) -> Iterator[str]:
    for _layer, number in form.tags:
        scheme = form.schemes[str(number + 1)]
        column = source.column_name(str(number + 1))
        if scheme == "IO":
            yield _(
                "{name}: the tags of column {column} have no B- and I- prefixes; adjacent tokens "
                "with the same label became one span."
            ).format(name=source.name, column=column)
        elif scheme == schemes.EVERY:
            yield _("{name}: column {column} has a tag for every token.").format(
                name=source.name, column=column
            )


# ---------------------------------------------------------------- lines


def _unnamed(match: re.Match[str], file: str, line: int) -> str | None:
    """The group after a comment without a name: none if our own export ends a group with it."""
    return None if match.group(1) == "doc" else f"{file}:{line}"


def blocks(source: Source, form: _Form) -> Iterator[Block]:
    """Documents of the file.

    A line with too few or too many columns marks its block with a fault.
    """
    block, group, header = Block(), None, form.header
    for number, line in enumerate(source.lines(), 1):
        if not line.strip(" \t"):
            if block.rows or block.fault:
                yield block
                block = Block()
            continue
        if len(line) > _LONGEST:
            block.line = block.line or number
            message = _(
                "the line is too long for this format: {count:,} of at most {most:,} characters"
            )
            block.fault = block.fault or (number, message.format(count=len(line), most=_LONGEST))
            continue
        if is_comment(line, form.delimiter, form.width):
            if match := COMMENT.match(line):
                if match.group(1):
                    group = match.group(3).strip() or _unnamed(match, source.name, number)
                elif match.group(2):
                    block.key = match.group(3).strip()
            continue
        row = columns(line, form.delimiter)
        if header:
            header = False
            continue
        if row[0] == DOCSTART and not block.rows:
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
        return ngettext(
            "the line has {n} column, expected {width}",
            "the line has {n} columns, expected {width}",
            len(row),
        ).format(n=len(row), width=form.width)
    if not row[form.text]:
        return _("the token is empty")
    if any(not row[column] for _, column in form.tags):
        return _("the tag is empty")
    return ""


# ---------------------------------------------------------------- one document


def _record(block: Block, form: _Form) -> Record:
    tokens = [row[form.text] for row in block.rows]
    glued = [form.misc is not None and "SpaceAfter=No" in row[form.misc] for row in block.rows]
    text, offsets = join(tokens, glued)
    found: dict[str, tuple[Span, ...]] = {}
    for layer, column in form.tags:
        tags = [row[column] for row in block.rows]
        spans = schemes.spans(tags, form.schemes[str(column + 1)])
        add_spans(
            found,
            layer,
            (Span(offsets[span.first][0], offsets[span.last - 1][1], span.label) for span in spans),
        )
    document = Document(block.key, ((TEXT, text),), None, block.group, {}, {TEXT: offsets})
    return Record(document, dict.fromkeys(found, "submitted"), {}, found)
