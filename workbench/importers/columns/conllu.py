"""CoNLL-U: ten columns, `# text`, sentence and document ids. Words of a multiword token keep their
offsets if possible.

Source: universaldependencies.org/format.html.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

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
    show,
)
from workbench.importers.fields import roles
from workbench.importers.joining import join
from workbench.importers.source import Source
from workbench.text import schemes
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import TAG
from workbench.text.spans import Span

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_MISC = COLUMNS.index("misc")
_TAG = re.compile(r"(?<=[\t|])Tag=([^\t|\r\n]*)")
_FOR_EVERY_WORD = tuple(map(COLUMNS.index, ("upos", "xpos")))
_MAX_PREVIEW_LINE_CHARS = 1_000_000  # characters of a line that a preview splits
_SPACES = re.compile(r"\t| {2,}")
_ID = re.compile(r"(\d{1,9})(?:-(\d{1,9})|\.(\d{1,9}))?$")


@dataclass
class _Sentence:
    line: int = 0
    rows: list[list[str]] = field(default_factory=list)
    key: str = ""
    text: str | None = None
    group: str | None = None
    fault: tuple[int, str] | None = None
    widths: list[tuple[int, int]] = field(default_factory=list)  # (line, columns)
    extra: bool = False  # columns beyond the tenth were cut off


@dataclass(frozen=True)
class _Word:
    """A word with its column line; several lines for an inseparable contraction (du = de + le)."""

    form: str
    rows: tuple[list[str], ...]
    glued: bool


class ConlluImporter:
    def sniff(self, head: str, name: str) -> Guess:
        lines = [
            line
            for line in head.split("\n")[:-1] or [head]
            if line.strip() and not line.startswith("#")
        ][:50]
        if lines and sum(map(_looks_like_a_word, lines)) > 0.9 * len(lines):
            return Guess(0.97, _("ten columns that begin with a number"))
        return Guess(
            0.3 if name.lower().endswith(".conllu") else 0.0, _("the name ends in .conllu")
        )

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        rows: list[TableRow] = []
        for number, line in enumerate(source.lines(), 1):
            if line.strip() and not line.startswith("#"):
                cells = _cells(line[:_MAX_PREVIEW_LINE_CHARS])[: len(COLUMNS)]
                rows.append(TableRow(number, (*cells, *[""] * (len(COLUMNS) - len(cells)))))
            if len(rows) >= limit:
                break
        return Table(
            COLUMNS,
            tuple(rows),
            options.mapping or _guessed(source.head(), options),
            _("sentences with ten columns"),
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        column_roles = roles.with_text(
            roles.parse(options.mapping or _guessed(source.head(), options)),
            (("text", "form"),),
            source.name,
        )
        roles.check_columns(column_roles, COLUMNS, source.name)
        tags = [(role.name, COLUMNS.index(role.column)) for role in column_roles if role.in_text]
        written = _schemes(source, {column for _layer, column in tags})
        layers = Counter(layer for layer, _column in tags)
        for layer, column in tags:
            if schemes.is_every(written[column]) and layers[layer] == 1:
                yield Hint(layer, TAG)
        extra = False
        for sentence in _sentences(source):
            extra |= sentence.extra
            try:
                if sentence.fault:
                    raise Fault(sentence.fault[1])
                record = _record(sentence, tags, written)
                check(record)
                yield Row(sentence.line, record)
            except Fault as fault:
                yield Skipped(sentence.fault[0] if sentence.fault else sentence.line, str(fault))
        imported = ", ".join(COLUMNS[n] for _layer, n in tags) or _("the words")
        yield Remark(
            _(
                "{name}: imported columns: {kept}. Lemmas, features and dependencies are not "
                "imported.",
                name=source.name,
                kept=imported,
            )
        )
        if extra:
            yield Remark(_("{name}: columns after the tenth were not imported.", name=source.name))


def _guessed(head: str, options: Options) -> tuple[tuple[str, str], ...]:
    """The roles of columns: spans stand in MISC if our own export or an equal one wrote them."""
    usual = (("text", "form"), ("tag:upos", "upos"))
    return (*usual, (f"tag:{options.span_layer}", "misc")) if _are_in_misc(head) else usual


def _are_in_misc(head: str) -> bool:
    values = _TAG.findall(head)
    return bool(values) and schemes.are_tags(["O", *values])


def _tag(row: list[str], column: int) -> str:
    """The tag in a column of a word: in MISC it is one of several entries."""
    if column != _MISC:
        return row[column]
    tags = [entry[4:] for entry in row[column].split("|") if entry.startswith("Tag=")]
    return tags[0] if tags else "O"


def _cells(line: str) -> list[str]:
    """The columns of a line; where tabs became spaces, several of them separate columns."""
    if line.count("\t") >= 9:
        return line.split("\t")
    cells = _SPACES.split(line)
    return cells if len(cells) == len(COLUMNS) else line.split("\t")


def _looks_like_a_word(line: str) -> bool:
    cells = _cells(line.rstrip("\r"))
    return (
        len(cells) >= 10 and bool(_ID.match(cells[0])) and (cells[6].isdigit() or cells[6] == "_")
    )


def _sentences(source: Source) -> Iterator[_Sentence]:
    now, group = _Sentence(), None
    for number, line in enumerate(source.lines(), 1):
        if not line.strip():
            if now.rows or now.fault:
                yield _checked(now)
            now = _Sentence()
            continue
        now.line = now.line or number
        if line.startswith("#"):
            name, equals, value = line[1:].strip().partition("=")
            name, value = name.strip(), value.removeprefix(" ")
            if name in ("newdoc id", "newdoc", "doc"):
                unnamed = None if name == "doc" else f"{source.name}:{number}"
                group = value.strip() or unnamed
            elif name == "sent_id" and equals:
                now.key = value.strip()
            elif name == "text" and equals:
                now.text = value
            continue
        now.group = group
        row = _cells(line) if len(line) <= _MAX_PREVIEW_LINE_CHARS else [line]
        now.widths.append((number, len(row)))
        if len(row) >= len(COLUMNS) and not _ID.match(row[0]):
            message = _("the line begins with {row}, expected the number of a word")
            now.fault = now.fault or (number, message.format(row=show(row[0])))
        now.rows.append(row)
    if now.rows or now.fault:
        yield _checked(now)


def _checked(sentence: _Sentence) -> _Sentence:
    """With a fault where a line has another number of columns; extra columns in all are ignored."""
    expected = len(COLUMNS)
    widths = {width for _number, width in sentence.widths}
    if len(widths) == 1 and min(widths) > expected:
        sentence.rows = [row[:expected] for row in sentence.rows]
        sentence.extra = True
    elif wrong := [pair for pair in sentence.widths if pair[1] != expected]:
        number, width = wrong[0]
        if sentence.fault is None or number < sentence.fault[0]:
            message = ngettext(
                "the line has {n} column, expected 10",
                "the line has {n} columns, expected 10",
                width,
            )
            sentence.fault = (number, message)
    return sentence


def _number(row: list[str]) -> tuple[str, str | None, str | None]:
    """Of a row that `_sentences` has checked: the number of the word, the last number of a range,
    the decimal of an empty node.
    """
    match = _ID.match(row[0])
    return (match[1], match[2], match[3]) if match else (row[0], None, None)


def _words(rows: list[list[str]]) -> list[_Word]:
    """The words as they occur in the text. Empty nodes (8.1) are omitted."""
    words: list[_Word] = []
    n = 0
    while n < len(rows):
        row = rows[n]
        _, last, empty = _number(row)
        n += 1
        if empty:
            continue
        glued = "SpaceAfter=No" in row[9].split("|")
        if last is None:
            words.append(_Word(row[1], (row,), glued))
            continue
        parts = []
        while n < len(rows) and not _number(rows[n])[1] and int(_number(rows[n])[0]) <= int(last):
            parts += [] if _number(rows[n])[2] else [rows[n]]
            n += 1
        if parts and "".join(part[1] for part in parts) == row[1]:
            words += [_Word(part[1], (part,), True) for part in parts[:-1]] + [
                _Word(parts[-1][1], (parts[-1],), glued)
            ]
        else:
            words.append(_Word(row[1], tuple(parts) or (row,), glued))
    return words


def _schemes(source: Source, columns: Collection[int]) -> dict[int, str]:
    """The scheme of each column of tags, from the whole file. Columns for parts of speech have a
    tag for every word unless those at the beginning of the file have prefixes.
    """
    rows = [_cells(line) for line in source.head().split("\n")[:-1] if not line.startswith("#")]
    every = {
        column
        for column in _FOR_EVERY_WORD
        if not any(schemes.split_tag(_tag(row, column)) for row in rows if len(row) > column)
    }
    detectors = {column: schemes.Detector() for column in columns if column not in every}
    for sentence in _sentences(source) if detectors else ():
        words = [] if sentence.fault else _words(sentence.rows)
        for column, detector in detectors.items():
            detector.feed(_tags(words, column))
    detected = {column: detector.scheme for column, detector in detectors.items()}
    return dict.fromkeys(columns, schemes.EVERY) | detected


def _tags(words: list[_Word], column: int) -> list[str]:
    """One for each word; several of an inseparable contraction are joined."""
    return ["+".join(dict.fromkeys(_tag(part, column) for part in word.rows)) for word in words]


def _record(sentence: _Sentence, tags: list[tuple[str, int]], written: Mapping[int, str]) -> Record:
    words = _words(sentence.rows)
    if not words or any(not word.form for word in words):
        raise Fault(
            _("a word of the sentence is empty") if words else _("the sentence has no words")
        )
    text, offsets = _place(words, sentence.text)
    spans: dict[str, tuple[Span, ...]] = {}
    for layer, column in tags:
        row = _tags(words, column)
        add_spans(
            spans,
            layer,
            (
                Span(offsets[span.first][0], offsets[span.last - 1][1], span.label)
                for span in schemes.spans(row, written[column])
            ),
        )
    document = Document(sentence.key, ((TEXT, text),), None, sentence.group, {}, {TEXT: offsets})
    return Record(document, dict.fromkeys(spans, "submitted"), {}, spans)


def _place(words: list[_Word], text: str | None) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The words in the sentence's own text, or in a joined one if the file has none.

    Raises Fault where a word is not found at its place.
    """
    if text is None:
        return join([word.form for word in words], [word.glued for word in words])
    offsets, position = [], 0
    for word in words:
        start = text.find(word.form, position)
        if start < 0 or text[position:start].strip():
            raise Fault(
                _(
                    "the word {form!r} was not found at position {position} of the text of the "
                    "sentence",
                    form=word.form,
                    position=position,
                )
            )
        position = start + len(word.form)
        offsets.append((start, position))
    return text, tuple(offsets)
