"""Multiple choice in JSON, CSV or TSV: a text or question, its choices and the right one.

The fields of SWAG, HellaSwag, RACE, ARC, CommonsenseQA, OpenBookQA, Story Cloze, COPA, PIQA,
Social IQa, Winogrande and MMLU are recognized; others are mapped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
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
    show,
    split_name,
)
from workbench.importers.fields import roles
from workbench.importers.fields.document_values import metadata
from workbench.importers.json import jsonl
from workbench.importers.source import Source
from workbench.importers.tables.table_form import TableForm, guess_delimiter
from workbench.text.dataset import Record
from workbench.text.document import CHOICES, choice_names, with_choices
from workbench.text.labels import ONE_OF, Label, Layer

LAYER = "answer"  # the usual name of the layer
SAMPLE = 2000  # records from which the numbering of the answers is told
MAX_CHOICES = 100  # choices of a document
_CONTEXT = (
    "context", "article", "passage", "sent1", "ctx", "ctx_a", "premise", "goal", "story", "text",
    "sentence", "paragraph", "prompt",
)  # fmt: skip
_QUESTION = ("question", "query", "sent2", "question_stem", "stem", "ctx_b")
_LISTS = ("choices", "options", "endings", "answers", "alternatives", "candidates", "responses")
_ANSWER = (
    "answer", "answerkey", "answer_key", "answerrightending", "correct", "correct_answer", "label",
    "answer_index", "answer_idx", "gold", "gold_label", "target",
)  # fmt: skip
_DECISIONS = ("accept", "reject", "ignore")  # of Prodigy
_KEY = ("id", "example_id", "qid", "inputstoryid", "key", "uid", "idx", "ind", "video-id")
_COLUMN = re.compile(
    r"(?:choice|option|ending|answer|sol|solution|alternative|candidate|randomfifthsentencequiz)"
    r"[ _-]?([0-9]+|[a-j])|([a-j])",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?:input)?sentence[ _-]?[0-9]", re.IGNORECASE)


class MultipleChoiceImporter:
    """One document per question."""

    def sniff(self, head: str, name: str) -> Guess:
        if jsonl.opens(head):
            record = jsonl.first_object(head)
            if isinstance(record.get("accept"), list) and record.get("answer") in _DECISIONS:
                return Guess(0.0)  # Prodigy: classes to choose from, which are the same everywhere
            first = next(iter(_flat(record)), {})
            rows, fields = [first], list(first)
        else:
            delimiter, _even = guess_delimiter(head)
            first_line = head.lstrip("\ufeff").split("\n", 1)[0].rstrip("\r")
            fields = [cell.strip().strip('"') for cell in first_line.split(delimiter or "\t")]
            rows = []
            beside = [role for role, _column in roles.written_in(fields)]
            if beside and not roles.chooses((*((role, "") for role in beside), (roles.CHOICE, ""))):
                return Guess(0.0)  # a table with documents of other forms, see TableImporter
        kinds = {role.partition(":")[0] for role, _field in _guess(fields, rows)}
        if {roles.CHOICE, roles.CHOICES} & kinds and {"text", "answer"} <= kinds:
            return Guess(0.97, _("a text or question with several choices"))
        listed = {"choices", "responses"} & {*fields} if rows else ()
        if listed and {roles.CHOICES, "text"} <= kinds:  # without an answer: to be labelled
            return Guess(0.93, _("a text or question with several choices"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        rows = list(islice(_rows(source, options), limit))
        records = [row for _line, row in rows if isinstance(row, dict)]
        fields = _fields(records)
        return Table(
            fields,
            tuple(
                TableRow(line, tuple(_cell(row.get(name, "")) for name in fields))
                for line, row in rows
                if isinstance(row, dict)
            ),
            options.mapping or _guess(fields, records),
            _("a text or question with several choices"),
            "" if jsonl.opens(source.head()) else TableForm.of(source, options, ",").delimiter,
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        sample = [
            row for _line, row in islice(_rows(source, options), SAMPLE) if isinstance(row, dict)
        ]
        fields = _fields(sample)
        form = _Form.of(options.mapping or _guess(fields, sample), fields, source.name)
        form, message = form.numbered(sample)
        most = max((len(form.choices(row)) for row in sample), default=0)
        if form.layer:
            labels = tuple(Label(name) for name in choice_names(min(most, MAX_CHOICES)))
            yield Layer(form.layer, ONE_OF.id, labels, CHOICES)
        if message:
            yield Remark(message)
        for line, row in _rows(source, options):
            try:
                record = form.record(row)
                check(record)
                yield Row(line, record)
            except Fault as fault:
                yield Skipped(line, str(fault))


# ---------------------------------------------------------------- rows of a file


def _rows(source: Source, options: Options) -> Iterator[tuple[int, dict[str, Any] | Fault]]:
    """(line, fields by name) of each question; a Fault for one that cannot be read."""
    if not jsonl.opens(source.head()):
        form = TableForm.of(source, options, ",")
        for line, cells in form.rows(source):
            yield line, cells if isinstance(cells, Fault) else _named(form.columns, cells)
        return
    for line, value in jsonl.values(source):
        if isinstance(value, dict):
            for row in _flat(value):
                yield line, row
        elif isinstance(value, Fault):
            yield line, value
        else:
            yield line, Fault(_("expected an object, found {value}", value=show(value)))


def _named(columns: Sequence[str], cells: Sequence[str]) -> dict[str, Any] | Fault:
    if len(cells) != len(columns):
        return Fault(
            ngettext(
                "the row has {n} column, expected {wanted}",
                "the row has {n} columns, expected {wanted}",
                len(cells),
                wanted=len(columns),
            )
        )
    return dict(zip(columns, cells, strict=True))


def _flat(value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One object for each question: RACE has several for one article, ARC nests the question."""
    row = dict(value)
    if isinstance(row.get("question"), dict):
        row = {**row, "question": row["question"].get("stem", ""), **{
            name: content for name, content in row["question"].items() if name != "stem"
        }}  # fmt: skip
    questions, options = row.get("questions"), row.get("options")
    if not (isinstance(questions, list) and isinstance(options, list)):
        yield row
        return
    answers = row.get("answers") or row.get("answer") or ""
    if not isinstance(answers, list | str) or not answers:
        answers = [answers] * len(questions)  # what is no answer is reported for each question
    shared = {name: row[name] for name in row if name not in ("questions", "options", "answers")}
    key = str(row.get("id", ""))
    for number, (question, choices, answer) in enumerate(
        zip(questions, options, answers, strict=False), 1
    ):
        own = {"question": question, "options": choices, "answer": answer}
        yield {**shared, **own, "id": f"{key}-{number}" if key else "", "group": key}


def _fields(rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(name) for row in rows for name in row))


def _cell(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else jsonl.dumps(value)


# ---------------------------------------------------------------- which field is what


def _guess(fields: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    """(role, field) pairs; `text` may be given several times, they are joined by spaces."""
    left = {name.strip().lower(): name for name in fields}
    mapping: list[tuple[str, str]] = []

    def take(role: str, names: Iterable[str]) -> bool:
        name = next((name for name in names if name in left), None)
        if name is not None:
            mapping.append((role, left.pop(name)))
        return name is not None

    columns = [name for name in left if _COLUMN.fullmatch(name)]
    alone = [name for name in columns if len(name) == 1]
    numbered = [name for name in columns if len(name) > 1]
    columns = numbered if len(numbered) > 1 else alone if {"a", "b", "c"} <= {*alone} else []
    listed = [name for name in _LISTS if name in left and _is_list(left[name], rows)]
    if columns:
        mapping += [(roles.CHOICE, left.pop(name)) for name in columns]
    elif listed or not rows:
        take(roles.CHOICES, listed or _LISTS)
    sentences = [name for name in left if _SENTENCE.fullmatch(name)]
    sentences = sentences if len(sentences) > 1 else []
    mapping += [("text", left.pop(name)) for name in sentences]
    has_text = bool(sentences) or take("text", _CONTEXT)
    take(roles.QUESTION if has_text else "text", _QUESTION)
    own = next((pair for pair in roles.written_in(fields) if pair[0].startswith("answer:")), None)
    if own is not None:
        mapping.append((own[0], left.pop(own[1].strip().lower())))
    else:
        take(f"answer:{LAYER}", _ANSWER)
    take("id", _KEY)
    take("split", ("split", "partition"))
    take("group", ("group",))
    return (*mapping, *roles.metadata(left.values()))


def _is_list(field: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    value = next((row[field] for row in rows if row.get(field)), None)
    return isinstance(value, list | dict) or (isinstance(value, str) and value[:1] in "[{")


@dataclass(frozen=True)
class _Form:
    """Which fields hold what. first: the number of the first choice in answers that are numbers."""

    texts: tuple[str, ...]
    question: str = ""
    listed: str = ""
    columns: tuple[str, ...] = ()
    answer: str = ""
    layer: str = ""
    plain: Mapping[str, str] = field(default_factory=dict)  # id, split, group → field
    meta: tuple[tuple[str, str], ...] = ()
    first: int = 0

    @classmethod
    def of(cls, mapping: Iterable[tuple[str, str]], fields: Sequence[str], file: str) -> _Form:
        """Raises ImportFailed for roles that do not exist, or without texts or choices."""
        mapping = tuple(mapping)
        texts = tuple(field for role, field in mapping if role == "text")
        # a role without choices is refused below, with the name of the file
        parsed = roles.parse((pair for pair in mapping if pair[0] != "text"), asks=True)
        roles.check_columns(parsed, fields, file)
        roles.check_columns([roles.Role("text", "", field) for field in texts], fields, file)
        by_kind = {role.kind: role for role in parsed}
        columns = tuple(role.column for role in parsed if role.kind == roles.CHOICE)
        if not texts or not (columns or roles.CHOICES in by_kind):
            raise ImportFailed(
                _("Which fields of {file} hold the text and its choices?", file=file),
                hint=_("Specify text=FIELD and choices=FIELD, or choice=FIELD for each choice."),
            )
        answer = by_kind.get("answer")
        return cls(
            texts,
            by_kind[roles.QUESTION].column if roles.QUESTION in by_kind else "",
            by_kind[roles.CHOICES].column if roles.CHOICES in by_kind else "",
            columns,
            answer.column if answer is not None else "",
            answer.name if answer is not None else "",
            {name: by_kind[name].column for name in ("id", "split", "group") if name in by_kind},
            tuple((role.name, role.column) for role in parsed if role.kind == "meta"),
        )

    def numbered(self, rows: Sequence[Mapping[str, Any]]) -> tuple[_Form, str]:
        """With the number of the first choice, and a remark where the file does not show it."""
        pairs = [(_number(row.get(self.answer)), len(self.choices(row))) for row in rows]
        numbers = [(number, count) for number, count in pairs if number is not None]
        if not numbers or any(number == 0 for number, _count in numbers):
            return self, ""
        counted = [_ending(name) for name in self.columns]
        if ("1" in counted and "0" not in counted) or any(
            number == count for number, count in numbers
        ):
            return replace(self, first=1), ""
        return self, _(
            "The file does not show whether its answers are numbered from 0 or from 1: "
            "they were read as numbers from 0."
        )

    # ------------------------------------------------------------ one record

    def choices(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        """() for a value that is not a list of texts."""
        return tuple(text for _name, text in self._choices(row))

    def _choices(self, row: Mapping[str, Any]) -> list[tuple[str, str]]:
        """(own name, text) of each choice."""
        if self.columns:
            cells = [(name, row.get(name)) for name in self.columns]
            filled = [
                (name, cell) for name, cell in cells if isinstance(cell, str) and cell.strip()
            ]
            return [(_ending(name), cell) for name, cell in filled]
        return _listed(row.get(self.listed))

    def record(self, row: dict[str, Any] | Fault) -> Record:
        """Raises Fault."""
        if isinstance(row, Fault):
            raise row
        choices = self._choices(row)
        if not 2 <= len(choices) <= MAX_CHOICES:
            raise Fault(
                _("expected 2 to {most} choices, found {n}", n=len(choices), most=MAX_CHOICES)
            )
        parts = [row.get(name) for name in self.texts]
        text = " ".join(part.strip() for part in parts if isinstance(part, str) and part.strip())
        question = row.get(self.question) if self.question else ""
        question_text = question.strip() if isinstance(question, str) else ""
        texts = [choice for _own, choice in choices]
        plain = {name: row.get(column) for name, column in self.plain.items()}
        group = plain.get("group")
        meta = metadata((name, row.get(column)) for name, column in self.meta)
        key = "" if plain.get("id") is None else str(plain["id"])
        document = replace(
            with_choices(key, text or question_text, texts, question_text if text else ""),
            split=split_name(plain.get("split")),
            group=None if group in (None, "") else str(group),
            meta=meta,
        )
        right = self._right(row.get(self.answer), choices) if self.answer else None
        if right is None:
            return Record(document)
        marks = {self.layer: (str(right + 1),)}
        return Record(document, {self.layer: "submitted"}, marks)

    def _right(self, value: object, choices: Sequence[tuple[str, str]]) -> int | None:
        """The 0-based number of the correct choice, None for an answer that is not given."""
        if value is None or value == "" or value == -1 or value == "-1":
            return None
        word = str(value).strip()
        names, texts = [name for name, _text in choices], [text.strip() for _name, text in choices]
        number = _number(value)
        if number is not None and word not in (names if not self.columns else ()):
            place = number - self.first
        elif word in texts:
            place = texts.index(word)
        elif word.lower() in [name.lower() for name in names]:
            place = [name.lower() for name in names].index(word.lower())
        elif len(word) == 1 and word.isalpha():
            place = ord(word.upper()) - ord("A")
        else:
            place = -1
        if not 0 <= place < len(choices):
            raise Fault(
                _(
                    "the answer {value} is not among the choices ({n} in total)",
                    value=show(value),
                    n=len(choices),
                )
            )
        return place


def _listed(value: object) -> list[tuple[str, str]]:
    """(own name, text) of choices in a list: texts, {"label", "text"}, or two lists of these."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        value = _parsed(value)
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        labels = value.get("label") or [""] * len(value["text"])
        pairs = list(zip(labels, value["text"], strict=False))
    elif isinstance(value, list):
        pairs = [
            (entry.get("label", ""), entry.get("text")) if isinstance(entry, dict) else ("", entry)
            for entry in value
        ]
    else:
        return []
    if not all(isinstance(text, str | int | float) for _name, text in pairs):
        return []
    return [(str(name), str(text)) for name, text in pairs]


def _parsed(cell: str) -> object:
    """A list in a cell of a table."""
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return None


def _ending(column: str) -> str:
    match = _COLUMN.fullmatch(column.strip())
    return (match[1] or match[2]) if match is not None else column


def _number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    word = value.strip() if isinstance(value, str) else ""
    return int(word) if word.isdecimal() and word.isascii() else None
