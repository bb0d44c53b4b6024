"""Columns: one token per line, tags in one or more columns, a blank line between documents.

CoNLL-2000, 2002 and 2003, two-column BIO, nested annotation with a column for each level.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
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
from workbench.importers.columns import conll_columns
from workbench.importers.columns.conll_columns import (
    COMMENT,
    DOCSTART,
    POS_LAYER,
    POS_NAMES,
    Spacing,
)
from workbench.importers.fields import roles
from workbench.importers.joining import join
from workbench.importers.json import jsonl
from workbench.importers.source import Source
from workbench.importers.tables.table_form import NAMED_DELIMITERS
from workbench.text import schemes
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import TAG
from workbench.text.spans import Span

_WIDEST = 1000  # columns; a known corpus has 16
# maximum number of characters of a line; a token with its columns has fewer, and splitting 100 MB
# fills the memory
_MAX_PREVIEW_LINE_CHARS = 1_000_000
_ENDINGS = (".conll", ".conll03", ".iob", ".iob2", ".bio", ".bioes", ".conllup")
_NO_TAGS = frozenset((*schemes.MISSING, *schemes.MISWRITTEN))
EXAMINED = 200_000  # tokens in which a preview recognizes schemes and counts spans


@dataclass
class DocumentBlock:
    """Lines of one document: tokens as rows of columns, what comments said, and the first fault.

    `blank`: lines whose token is white space.
    """

    line: int = 0
    rows: list[list[str]] = field(default_factory=list)
    key: str = ""
    fault: tuple[int, str] | None = None
    group: str | None = None
    blank: list[int] = field(default_factory=list)


class ConllImporter:
    def sniff(self, head: str, name: str) -> Guess:
        if jsonl.opens(head):
            return Guess(0.0)
        by, rows = conll_columns.sample(head)
        rows = rows[conll_columns.has_header(rows) :]
        if (
            by not in (" ", "\t")
            or conll_columns.width_of(rows) < 2
            or not conll_columns.regular(rows, by)
        ):
            return Guess(0.0)
        if conll_columns.tag_columns(rows):
            return Guess(0.9, _("a column holds tags like O and B-X"))
        if re.search(rf"^{DOCSTART}", head, re.M):
            return Guess(0.9, _("there are -DOCSTART- lines"))
        if name.lower().endswith(_ENDINGS):
            return Guess(
                0.85,
                _(
                    "the name ends in {name} and the lines have columns",
                    name=name[name.rindex(".") :],
                ),
            )
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        form = _Form.of(source, options)
        rows = _first_rows(source, form, limit)
        width = max([form.width, *(len(row.cells) for row in rows)])
        counts, examined = _span_counts(source, form)
        name = form.column_name
        return Table(
            tuple(name(str(number)) for number in range(1, width + 1)),
            tuple(TableRow(row.line, row.cells + ("",) * (width - len(row.cells))) for row in rows),
            tuple((role, name(column)) for role, column in form.mapping),
            form.described(),
            form.delimiter,
            {name(column): n for column, n in counts.items()},
            examined,
            tuple(
                _left_out(source, form, str(column + 1), counts[str(column + 1)])
                for column in form.unmapped_tags()
            ),
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        form = _Form.of(source, options)
        yield from (Remark(text) for text in _remarks(source, form))
        yield from (Hint(layer, TAG) for layer in form.tag_layers())
        left_out = {str(column + 1): 0 for column in form.unmapped_tags()}
        untagged: Counter[tuple[str, str]] = Counter()
        blank: list[int] = []
        for block in blocks(source, form):
            _add_counts(left_out, block, form)
            untagged.update(_untagged(block, form))
            blank += block.blank
            try:
                if block.fault:
                    raise Fault(block.fault[1])
                record = _record(block, form)
                check(record)
                yield Row(block.line, record)
            except Fault as fault:
                yield Skipped(block.fault[0] if block.fault else block.line, str(fault))
        for column, count in left_out.items():
            yield Remark(_left_out(source, form, column, count))
        yield from map(Remark, _remarks_after(source, form, untagged, blank))


# ---------------------------------------------------------------- the form of a file


@dataclass(frozen=True)
class _Form:
    """What is the same for the whole file. Columns are identified by their number from 1.

    `tags`: (layer, column from 0) pairs, those of the main layer first. `tagged`: the columns that
    look like tags, whether they are mapped or not. `schemes`: by the number of the column.
    `names`: what messages call the columns. `header`: the row of names, None if the file has none.
    """

    delimiter: str
    width: int
    mapping: tuple[tuple[str, str], ...]
    text: int
    tags: tuple[tuple[str, int], ...]
    tagged: tuple[int, ...]
    unused: tuple[int, ...]
    spacing: Spacing | None
    schemes: dict[str, str]
    names: tuple[str, ...]
    header: list[str] | None

    @classmethod
    def of(cls, source: Source, options: Options) -> _Form:
        head = source.head()
        by, rows = conll_columns.sample(
            head, NAMED_DELIMITERS.get(options.delimiter, options.delimiter)
        )
        named = conll_columns.has_header(rows) if options.header is None else options.header
        header, rows = (rows[0] if named and rows else None), rows[named:]
        width = conll_columns.width_of(rows)
        _check_width(width, source.name)
        names = conll_columns.unique_names(header or conll_columns.global_names(head))
        has_names = len(names) == width
        if not has_names:
            names = tuple(source.column_name(str(n + 1)) for n in range(width))
        tagged = conll_columns.tag_columns(rows)
        layer_names = names if has_names and (header or len(tagged) > 1) else ()
        words = str(conll_columns.text_column(rows, names) + 1)
        user_mapping = tuple((role, _numbered(column, names)) for role, column in options.mapping)
        mapping = user_mapping or guessed_mapping(
            rows, words, tagged or [width - 1], options, layer_names
        )
        column_roles = roles.with_text(roles.parse(mapping), (("text", words),), source.name)
        text, tags = _places(column_roles, width, source.name)
        main = options.span_layer
        tags.sort(key=lambda tag: tag[0] != main)  # the layer that other formats export comes first
        used = {*source.used_columns, text, *tagged, *(column for _layer, column in tags)}
        spacing = conll_columns.spacing(rows, names, text, used)
        unused = conll_columns.unused(rows, text, {*used, spacing.column} if spacing else used)
        form = cls(
            by, width, mapping, text, tuple(tags), tuple(tagged), unused, spacing, {}, names, header
        )
        form.schemes.update(_detect_schemes(source, form))
        return form

    def column_name(self, number: str) -> str:
        """What messages call a column, of which the number from 1 is given."""
        known = number.isdecimal() and 0 < int(number) <= len(self.names)
        return self.names[int(number) - 1] if known else number

    def is_header(self, row: list[str]) -> bool:
        """Whether a row has the names of the columns, as each part of joined files has."""
        return self.header is not None and [row[0].lstrip("# "), *row[1:]] == self.header

    def tag_layers(self) -> tuple[str, ...]:
        """The layers all of whose columns hold a tag for every token."""
        fully_tagged: dict[str, bool] = {}
        for layer, column in self.tags:
            is_tag = schemes.is_every(self.schemes[str(column + 1)])
            fully_tagged[layer] = fully_tagged.get(layer, True) and is_tag
        counts = Counter(layer for layer, _column in self.tags)
        return tuple(
            layer for layer, is_tag in fully_tagged.items() if is_tag and counts[layer] == 1
        )

    def unmapped_tags(self) -> list[int]:
        mapped = {column for _layer, column in self.tags}
        return [column for column in self.tagged if column not in mapped and column != self.text]

    def described(self) -> str:
        """What the preview says of the form."""
        message = _("column {column}: {schemes}")
        schemes_of = ", ".join(
            message.format(column=self.column_name(column), schemes=scheme)
            for column, scheme in self.schemes.items()
        )
        if self.spacing is None:
            return _("one token per line; {schemes}", schemes=schemes_of)
        return _(
            "one token per line; spaces from column {column}; {schemes}",
            column=self.column_name(str(self.spacing.column + 1)),
            schemes=schemes_of,
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
            _("The lines of {name} have too many columns: {width:,}.", name=name, width=width),
            hint=_("Check the format. Plain text has no columns."),
        )


def guessed_mapping(
    rows: list[list[str]],
    words: str,
    tagged: list[int],
    options: Options,
    names: Sequence[str] = (),
) -> tuple[tuple[str, str], ...]:
    """The roles of the columns. Several columns of tags that have names are layers of these names;
    one of parts of speech is known by its name.
    """
    plain = [conll_columns.plain_name(name) for name in names]
    pos = [n for n, name in enumerate(plain) if name in POS_NAMES and n != int(words) - 1]
    tagged = [n for n in tagged if n not in pos]
    if names and len(tagged) > 1:
        layers = {column: names[column] for column in tagged}
    elif tagged:
        is_tag = _for_every_token(rows, max(tagged))
        layers = conll_columns.layers_of(
            rows, tagged, options.tag_layer if is_tag else options.span_layer
        )
    else:
        layers = {}
    if pos and all(row[pos[0]] for row in rows if len(row) > pos[0]):
        layers[pos[0]] = POS_LAYER
    order = [*tagged, *pos[:1]]
    tags = ((f"tag:{layers[column]}", str(column + 1)) for column in order if column in layers)
    return (("text", words), *tags)


def _for_every_token(rows: list[list[str]], column: int) -> bool:
    """Whether a column has a tag without a prefix for every token."""
    return schemes.is_every(schemes.detect([[row[column] for row in rows if len(row) > column]]))


def _numbered(column: str, names: Sequence[str]) -> str:
    """The number of a column from 1, of which the name or the number is given."""
    return str(names.index(column) + 1) if column in names else column


def _places(
    column_roles: tuple[roles.Role, ...], width: int, name: str
) -> tuple[int, list[tuple[str, int]]]:
    """The column of the token and (layer, column) pairs. Raises ImportFailed."""
    if other := [role.text for role in column_roles if role.kind != "text" and not role.in_text]:
        raise ImportFailed(
            _("{file}: a column of tokens cannot be {names}.", file=name, names=", ".join(other)),
            hint=_("Use text and tag:LAYER."),
        )
    text = next(_number(role.column, width, name) for role in column_roles if role.kind == "text")
    return text, [
        (role.name, _number(role.column, width, name))
        for role in column_roles
        if role.kind != "text"
    ]


def _number(column: str, width: int, name: str) -> int:
    """ "2", "column 2" or "-1" → index from 0."""
    try:
        number = int(column.lower().removeprefix("column").strip())
    except ValueError:
        raise ImportFailed(
            _("{name} has no column {column!r}.", name=name, column=column),
            hint=_("Columns of tokens are named by their number, from 1."),
        ) from None
    index = number - 1 if number > 0 else width + number
    if not 0 <= index < width or number == 0:
        raise ImportFailed(
            ngettext(
                "{name} has {width} column, there is no column {column}.",
                "{name} has {width} columns, there is no column {column}.",
                width,
                name=name,
                width=width,
                column=column,
            )
        )
    return index


def _detect_schemes(source: Source, form: _Form) -> dict[str, str]:
    """Schemes by column name, for mapped columns and for those that look like tags."""
    detectors = {
        column: schemes.Detector()
        for column in (*(column for _layer, column in form.tags), *form.unmapped_tags())
    }
    tokens = 0
    for block in blocks(source, form):
        if not block.fault:
            for column, detector in detectors.items():
                detector.feed([row[column] for row in block.rows])
        tokens += len(block.rows)
        if source.scan is not None and tokens >= EXAMINED:
            break
    return {str(column + 1): detector.scheme for column, detector in detectors.items()}


# ---------------------------------------------------------------- previews and remarks


def _first_rows(source: Source, form: _Form, limit: int) -> list[TableRow]:
    """The first lines of tokens, those with a fault included."""
    rows: list[TableRow] = []
    for number, line in enumerate(source.lines(), 1):
        if not line.strip() or conll_columns.is_comment(line, form.delimiter, form.width):
            continue
        row = conll_columns.fitted(line[:_MAX_PREVIEW_LINE_CHARS], form.delimiter, form.width)[
            :_WIDEST
        ]
        if conll_columns.docstart(line, form.width) is None and not form.is_header(row):
            rows.append(TableRow(number, tuple(row)))
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
            )
    return counts, _("Spans were counted at the beginning of the file.") if source.cut else ""


def _add_counts(counts: dict[str, int], block: DocumentBlock, form: _Form) -> None:
    """Add the spans of a block without a fault to those of each column in `counts`."""
    for column in counts if not block.fault else ():
        tags = [row[int(column) - 1] for row in block.rows]
        counts[column] += len(schemes.spans(tags, form.schemes[column]))


def _left_out(source: Source, form: _Form, column: str, count: int) -> str:
    return ngettext(
        "{name}: column {column} holds tags and is left out ({n:,} span).",
        "{name}: column {column} holds tags and is left out ({n:,} spans).",
        count,
        name=source.name,
        column=form.column_name(column),
    )


def _remarks(source: Source, form: _Form) -> Iterator[str]:
    for _layer, number in form.tags:
        scheme = form.schemes[str(number + 1)]
        column = form.column_name(str(number + 1))
        if scheme == "IO":
            yield _(
                "{name}: the tags of column {column} have no B- and I- prefixes; adjacent tokens "
                "with the same label became one span.",
                name=source.name,
                column=column,
            )
        elif schemes.is_every(scheme):
            yield _(
                "{name}: column {column} has a tag for every token.",
                name=source.name,
                column=column,
            )
    if form.header and not conll_columns.names_words(form.header):
        yield _(
            "{name}: the first line was read as names of the columns: {columns}.",
            name=source.name,
            columns=", ".join(form.header),
        )
    if form.unused:
        yield ngettext(
            "{name}: column {columns} is left out.",
            "{name}: columns {columns} are left out.",
            len(form.unused),
            name=source.name,
            columns=", ".join(form.column_name(str(n + 1)) for n in form.unused),
        )


def _untagged(block: DocumentBlock, form: _Form) -> Iterator[tuple[str, str]]:
    """(column, value) for each value of a block that stands for no tag, or for O."""
    for column in {column for _layer, column in form.tags} if not block.fault else ():
        scheme = form.schemes[str(column + 1)]
        if scheme == schemes.EVERY or _NO_TAGS.isdisjoint(row[column] for row in block.rows):
            continue
        for row in block.rows:
            if row[column] in _NO_TAGS and schemes.read_tag(row[column], scheme)[1] is None:
                yield str(column + 1), row[column]


def _remarks_after(
    source: Source, form: _Form, untagged: Counter[tuple[str, str]], blank: list[int]
) -> Iterator[str]:
    """What was found while the file was read."""
    for (column, value), count in sorted(untagged.items()):
        yield ngettext(
            "{name}: {n:,} token has {value} instead of a tag in column {column}; no span covers "
            "it.",
            "{name}: {n:,} tokens have {value} instead of a tag in column {column}; no span "
            "covers them.",
            count,
            name=source.name,
            value=f"“{value}”",
            column=form.column_name(column),
        )
    if blank:
        yield ngettext(
            "{name}: {n:,} token is white space and was left out (line {line}).",
            "{name}: {n:,} tokens are white space and were left out (the first in line {line}).",
            len(blank),
            name=source.name,
            line=blank[0],
        )


# ---------------------------------------------------------------- lines


@dataclass
class _Place:
    """The document at which a reading is: its group, its id, and how many blocks had the id."""

    group: str | None = None
    key: str = ""
    parts: int = 0

    def begin(self, group: str | None, key: str = "") -> None:
        self.group, self.key, self.parts = group, key, 0

    def next_key(self) -> str:
        """The key of the next block of the document: d1, d1#2, …; "" without an id."""
        self.parts += 1
        return f"{self.key}#{self.parts}" if self.key and self.parts > 1 else self.key


def _begin(place: _Place, line: str, file: str, number: int, width: int) -> bool:
    """Whether a line begins a document; its group and id are in `place` then."""
    if (name := conll_columns.docstart(line, width)) is not None:
        place.begin(f"{DOCSTART} {name or f'{file}:{number}'}")
        return True
    if not line.startswith("#"):
        return False
    if name := conll_columns.marked_document(line):
        place.begin(name)
        return True
    match = COMMENT.match(line)
    if match and match[1]:
        # A comment without a name ends a group in our own export.
        unnamed = None if match[1] == "doc" else f"{file}:{number}"
        place.begin(match[4].strip() or unnamed)
    elif match and match[3] and (key := match[4].strip()):
        place.begin(key, key)
    else:
        return False
    return True


def blocks(source: Source, form: _Form) -> Iterator[DocumentBlock]:
    """Documents of the file.

    A line with too few or too many columns marks its block with a fault.
    """
    block, place = DocumentBlock(), _Place()
    for number, line in enumerate(source.lines(), 1):
        comment = line.startswith("#") and conll_columns.is_comment(
            line, form.delimiter, form.width
        )
        begins = (comment or line.startswith(DOCSTART)) and _begin(
            place, line, source.name, number, form.width
        )
        if begins or not line.strip():
            if block.rows or block.fault:
                yield block
                block = DocumentBlock()
            elif block.blank or (begins and block.key):
                block = DocumentBlock(blank=block.blank)
            continue
        if len(line) > _MAX_PREVIEW_LINE_CHARS:
            block.line = block.line or number
            message = _(
                "the line is too long for this format: {count:,} of at most {most:,} characters"
            )
            block.fault = block.fault or (
                number,
                message.format(count=len(line), most=_MAX_PREVIEW_LINE_CHARS),
            )
            continue
        if comment:
            if (match := COMMENT.match(line)) and match[2]:
                block.key = match[4].partition("\t")[0].strip()
            continue
        row = conll_columns.fitted(line, form.delimiter, form.width)
        if form.header and form.is_header(row):
            continue
        if not block.line:
            block.line, block.group = number, place.group
            block.key = block.key or place.next_key()
        if fault := _fault(row, form):
            block.fault = block.fault or (number, fault)
        elif not row[form.text].strip(" \t"):
            block.blank.append(number)
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
            width=form.width,
        )
    if "" in row and any(not row[column] for _, column in form.tags):
        return _("the tag is empty")
    return ""


# ---------------------------------------------------------------- one document


def _record(block: DocumentBlock, form: _Form) -> Record:
    tokens = [row[form.text] for row in block.rows]
    glued = [form.spacing is not None and form.spacing.glued(row) for row in block.rows]
    text, offsets = join(tokens, glued)
    spans_by_layer: dict[str, tuple[Span, ...]] = {}
    for layer, column in form.tags:
        tags = [row[column] for row in block.rows]
        spans = schemes.spans(tags, form.schemes[str(column + 1)])
        add_spans(
            spans_by_layer,
            layer,
            (Span(offsets[span.first][0], offsets[span.last - 1][1], span.label) for span in spans),
        )
    document = Document(block.key, ((TEXT, text),), None, block.group, {}, {TEXT: offsets})
    return Record(document, dict.fromkeys(spans_by_layer, "submitted"), {}, spans_by_layer)
