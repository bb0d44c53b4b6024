"""Questions with answers in a text: JSON of SQuAD 1.1 and 2.0, or a row for each question.

Rows are JSON lines or a table with a context, a question and its answer, as data sets on the
Hugging Face hub have them. Every context is one document, with all its questions; documents of one
article belong together, so that splits do not part them.
Source: Rajpurkar et al. 2016 and 2018.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, cast

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
    is_number,
    show,
    split_name,
)
from workbench.importers.fields import roles
from workbench.importers.json import jsonl
from workbench.importers.offsets import OPEN, Offsets, Quote
from workbench.importers.source import Source
from workbench.importers.tables.table_form import TableForm, guess_delimiter
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import ANSWER, Layer
from workbench.text.questions import ID, Question, state_of

LAYER = "answers"  # the usual name of the layer
PLAUSIBLE = "plausible_answers"  # of questions that cannot be answered, in SQuAD 2.0
_CONTEXT = ("context", "passage", "paragraph", "article", "text", "document")
_ANSWER = ("answers", "answer", "answer_text", "gold_answer")
_START = ("answer_start", "start", "answer_offset")
_NULL = ("is_impossible", "impossible", "no_answer", "is_null")
_ID = ("id", "qid", "question_id", "key", "uid")
_GROUP = ("title", "group")
_TRUE = ("true", "1", "yes")

MAX_LISTED_ANSWERS = 20  # answers that are not in their text are listed up to this number


class SquadImporter:
    """One document per context."""

    def sniff(self, head: str, name: str) -> Guess:
        if jsonl.opens(head):
            if '"qas"' in head or ('"paragraphs"' in head and '"context"' in head):
                return Guess(1.0, _("questions and answers in the format of SQuAD"))
            first = jsonl.first_object(head)
            fields = list(first)
            if fields and not _answers_in_text(first):
                return Guess(0.0)
        else:
            delimiter, _even = guess_delimiter(head)
            line = head.lstrip("\ufeff").split("\n", 1)[0].rstrip("\r")
            fields = [cell.strip().strip('"') for cell in line.split(delimiter or "\t")]
        kinds = {role.partition(":")[0] for role, _field in _guess(fields)}
        if {"text", roles.QUESTION, "answer"} <= kinds:
            return Guess(0.96, _("a text, a question and its answer in each row"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        if _is_squad(source):
            return _squad_table(source, limit)
        numbered = [(line, row) for line, row in islice(_rows(source, options), limit)]
        rows = [row for _line, row in numbered if isinstance(row, dict)]
        fields = _fields(rows)
        return Table(
            fields,
            tuple(
                TableRow(line, tuple(_cell(row.get(name, "")) for name in fields))
                for line, row in numbered
                if isinstance(row, dict)
            ),
            options.mapping or _guess(fields),
            _("a text, a question and its answer in each row"),
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        placing = Placing(source.name)
        items = _articles(source, placing) if _is_squad(source) else None
        yield from items if items is not None else _contexts(source, options, placing)
        yield from placing.remarks()


# ---------------------------------------------------------------- JSON of SQuAD


def _is_squad(source: Source) -> bool:
    head = source.head()
    return jsonl.opens(head) and (
        '"qas"' in head or ('"paragraphs"' in head and '"context"' in head)
    )


def _articles(source: Source, placing: Placing) -> Iterator[Item]:
    yield Layer(LAYER, ANSWER.id)
    for line, value in jsonl.values(source):
        if isinstance(value, Fault):
            yield Skipped(line, str(value))
            continue
        articles = value.get("data", [value]) if isinstance(value, dict) else []
        for number, article in enumerate(articles, 1):
            yield from _paragraphs(line, number, article, placing)


def _paragraphs(line: int, number: int, article: object, placing: Placing) -> Iterator[Item]:
    if not isinstance(article, dict) or not isinstance(article.get("paragraphs"), list):
        yield Skipped(line, _("article {n} has no list of paragraphs", n=number))
        return
    title = article.get("title")
    name = title if isinstance(title, str) and title.strip() else str(number)
    for count, raw in enumerate(article["paragraphs"], 1):
        place = _("paragraph {n} of {title}", n=count, title=name)
        try:
            record = _paragraph(raw, f"{name}-{count}", name, place, placing)
            check(record)
            yield Row(line, record)
        except Fault as fault:
            yield Skipped(line, f"{place}: {fault}")


def _paragraph(raw: object, key: str, group: str, place: str, placing: Placing) -> Record:
    """Raises Fault."""
    if not isinstance(raw, dict) or not isinstance(raw.get("context"), str):
        raise Fault(_("there is no context"))
    context, raw_questions = raw["context"], raw.get("qas", [])
    if not isinstance(raw_questions, list):
        raise Fault(_("the questions are {value}, expected a list", value=show(raw_questions)))
    questions = [_question(context, item, place, placing) for item in raw_questions]
    return _record(context, questions, LAYER, key, group=group)


def _question(context: str, raw: object, place: str, placing: Placing) -> Question:
    """Raises Fault."""
    if not isinstance(raw, dict) or not isinstance(raw.get("question"), str):
        raise Fault(_("a question is {value}, expected its text", value=show(raw)))
    attrs = {ID: str(raw["id"])} if raw.get("id") not in (None, "") else {}
    is_null = bool(raw.get("is_impossible"))
    if is_null and raw.get(PLAUSIBLE):
        attrs[PLAUSIBLE] = raw[PLAUSIBLE]
    return placing.question(
        context,
        raw["question"],
        _pairs(raw.get("answers")) if not is_null else [],
        is_null=is_null,
        attrs=dict(attrs),
        place=_("{place}, question {id}", place=place, id=attrs.get(ID) or show(raw["question"])),
    )


def _squad_table(source: Source, limit: int) -> Table:
    """The first questions, without where their answers are."""
    rows = []
    for item in _articles(source, Placing(source.name)):
        if isinstance(item, Row):
            document = item.record.document
            for question in item.record.questions.get(LAYER, ()):
                answers = "; ".join(document.text[start:end] for start, end in question.answers)
                cells = (document.key, document.text, question.text, answers)
                rows.append(TableRow(item.line, cells))
        if len(rows) >= limit:
            break
    why = _("contexts, questions and answers are imported unchanged")
    return Table(("key", "context", "question", "answer"), tuple(rows[:limit]), (), why)


# ---------------------------------------------------------------- a row for each question


@dataclass
class _Context:
    """The questions about a text; `line` is that of the first."""

    line: int
    fields: Mapping[str, Any]
    questions: list[Question] = field(default_factory=list)


def _contexts(source: Source, options: Options, placing: Placing) -> Iterator[Item]:
    """Rows with the same text are one document, wherever they occur."""
    by_text: dict[str, _Context] = {}
    columns: dict[str, str] = {}
    named = LAYER
    for line, row in _rows(source, options):
        if isinstance(row, Fault):
            yield Skipped(line, str(row))
            continue
        if not columns:
            columns, named = _columns(options, row, source.name)
        try:
            context, question = _row(row, columns, line, placing)
        except Fault as fault:
            yield Skipped(line, str(fault))
            continue
        by_text.setdefault(context, _Context(line, row)).questions.append(question)
    yield Layer(named, ANSWER.id)
    for context, entry in by_text.items():
        try:
            group, split = (
                entry.fields.get(columns.get(literal, "")) for literal in ("group", "split")
            )
            record = _record(
                context, entry.questions, named, "", group=_plain(group), split=split_name(split)
            )
            check(record)
            yield Row(entry.line, record)
        except Fault as fault:
            yield Skipped(entry.line, str(fault))


def _columns(options: Options, row: Mapping[str, Any], file: str) -> tuple[dict[str, str], str]:
    """Kind of role → column, and the name of the layer. Raises ImportFailed for missing roles."""
    parsed = roles.parse(options.mapping or _guess(list(row)), asks=True)
    roles.check_columns(parsed, list(row), file)
    columns = {role.kind: role.column for role in parsed if role.kind != "meta"}
    if "text" not in columns or roles.QUESTION not in columns:
        raise ImportFailed(
            _("Which columns of {file} hold the text and the question?", file=file),
            hint=_("Specify text=COLUMN, question=COLUMN and answer:LAYER=COLUMN."),
        )
    left = {name.lower(): name for name in row if name not in columns.values()}
    for kind, names in (("start", _START), ("null", _NULL)):
        if (name := next((left[name] for name in names if name in left), "")) and name:
            columns[kind] = name
    return columns, next((role.name for role in parsed if role.kind == "answer"), LAYER)


def _row(
    row: Mapping[str, Any], columns: Mapping[str, str], line: int, placing: Placing
) -> tuple[str, Question]:
    """Raises Fault."""
    context, text = row.get(columns["text"]), row.get(columns[roles.QUESTION])
    for value, what in ((context, _("the text")), (text, _("the question"))):
        if not isinstance(value, str) or not value.strip():
            raise Fault(_("{what} is empty", what=what))
    answers, start_value = (
        _pairs(row.get(columns.get("answer", ""))),
        row.get(columns.get("start", "")),
    )
    if len(answers) == 1 and answers[0][1] is None and (start := _number(start_value)) is not None:
        answers = [(answers[0][0], start)]
    is_null = str(row.get(columns.get("null", ""), "")).strip().lower() in _TRUE
    listed = isinstance(row.get(columns.get("answer", "")), dict | list)
    attrs = {}
    if (id := row.get(columns.get("id", ""))) not in (None, ""):
        attrs[ID] = str(id)
    question = placing.question(
        str(context),
        str(text),
        [] if is_null else answers,
        is_null=is_null or (listed and not answers),  # the layout of squad_v2 on the hub
        attrs=dict(attrs),
        place=_("line {n}", n=line),
    )
    return str(context), question


def _rows(source: Source, options: Options) -> Iterator[tuple[int, dict[str, Any] | Fault]]:
    """(line, fields by name) of each question; a Fault for one that cannot be read."""
    if jsonl.opens(source.head()):
        for line, value in jsonl.values(source):
            wrong = Fault(_("expected an object, found {value}", value=show(value)))
            yield line, value if isinstance(value, dict | Fault) else wrong
        return
    form = TableForm.of(source, options, ",")
    for line, cells in form.rows(source):
        if isinstance(cells, Fault):
            yield line, cells
        elif len(cells) != len(form.columns):
            message = ngettext(
                "the row has {n} column, expected {wanted}",
                "the row has {n} columns, expected {wanted}",
                len(cells),
                wanted=len(form.columns),
            )
            yield line, Fault(message)
        else:
            yield line, dict(zip(form.columns, cells, strict=True))


def _guess(fields: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """(role, field) pairs from the names of the fields."""
    left = {str(name).strip().lower(): str(name) for name in fields}
    mapping: list[tuple[str, str]] = []

    def take(role: str, names: Iterable[str]) -> None:
        name = next((name for name in names if name in left), None)
        if name is not None:
            mapping.append((role, left.pop(name)))

    take("text", _CONTEXT)
    take(roles.QUESTION, (roles.QUESTION, "query"))
    take(f"answer:{LAYER}", _ANSWER)
    take("id", _ID)
    take("group", _GROUP)
    take("split", ("split", "partition"))
    return tuple(mapping)


def _answers_in_text(row: Mapping[str, Any]) -> bool:
    """Whether the answer of the first row is from its text, so not a class or a written one."""
    by_role = {role.partition(":")[0]: name for role, name in _guess(list(row))}
    context, answer = row.get(by_role.get("text", "")), row.get(by_role.get("answer", ""))
    return isinstance(context, str) and all(
        isinstance(text, str) and text.strip() in context for text, _start in _pairs(answer)
    )


# ---------------------------------------------------------------- values


def _pairs(value: object) -> list[tuple[object, object]]:
    """(text, start or None) of each answer: objects, texts, or two lists of these."""
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        starts = value.get("answer_start")
        starts = starts if isinstance(starts, list) else []
        return [
            (text, starts[n] if n < len(starts) else None) for n, text in enumerate(value["text"])
        ]
    listed = value if isinstance(value, list) else [value]
    return [
        (entry.get("text"), entry.get("answer_start", entry.get("start")))
        if isinstance(entry, dict)
        else (entry, None)
        for entry in listed
        if entry not in (None, "")
    ]


def _number(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    word = value.strip() if isinstance(value, str) else ""
    return int(word) if word.isdecimal() and word.isascii() else None


def _plain(value: object) -> str | None:
    return None if value in (None, "") else str(value)


def _record(
    context: str,
    questions: Sequence[Question],
    layer: str,
    key: str,
    *,
    group: str | None = None,
    split: str | None = None,
) -> Record:
    document = Document(key, ((TEXT, context),), split, group)
    state = state_of(questions)
    states = {layer: state} if state != "pending" else {}
    return Record(document, states, questions={layer: tuple(questions)})


def _fields(rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(name) for row in rows for name in row))


def _cell(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else jsonl.dumps(value)


@dataclass
class Placing:
    """Places answers and counts what was wrong with their offsets.

    file: its name, for messages. missing: sentences on answers that do not occur in their text.
    """

    file: str
    moved: int = 0
    repeated: int = 0
    missing: list[str] = field(default_factory=list)
    offsets: Offsets = field(default_factory=Offsets)

    def question(
        self,
        context: str,
        question: str,
        answers: Sequence[tuple[object, object]],
        *,
        is_null: bool,
        attrs: dict[str, object],
        place: str,
    ) -> Question:
        """`answers`: (text, start); `start` may be missing. `place`: of the question, in words."""
        placed: dict[tuple[int, int], None] = {}
        for text, start in self._converted(context, answers):
            offsets = self._place(context, text, start)
            if offsets is not None:
                placed[offsets] = None
            else:
                self.missing.append(f"{self.file}, {place}: {show(text, 60)}")
        return Question(question, tuple(placed), is_null and not placed, attrs)

    def _converted(
        self, context: str, answers: Sequence[tuple[object, object]]
    ) -> Sequence[tuple[object, object]]:
        """The answers with their starts in code points, if there is a way of counting in which all
        of them are at their starts.
        """
        quotes = [
            Quote(((start, OPEN),), text)
            for text, start in answers
            if isinstance(text, str) and type(start) is int and text.strip()
        ]
        try:
            counting = self.offsets.counting(context, quotes, fixed=True, mark=False)
        except Fault:
            return answers
        return [
            (text, counting.start(start) if type(start) is int else start)
            for text, start in answers
        ]

    def _place(self, context: str, text: object, start: object) -> tuple[int, int] | None:
        """Where the answer is, in code points; the occurrence nearest to a wrong start."""
        if not isinstance(text, str) or not text.strip():
            return None
        stated = int(cast(float, start)) if is_number(start) else None
        if stated is not None and stated >= 0 and context.startswith(text, stated):
            return stated, stated + len(text)
        answer = text if text in context else text.strip()
        places = list(_occurrences(context, answer))
        if not places:
            return None
        if stated is None:
            self.repeated += len(places) > 1
            best = places[0]
        else:
            self.moved += 1
            best = min(places, key=lambda at: abs(at - stated))
        return best, best + len(answer)

    def remarks(self) -> Iterator[Remark]:
        """What the user must know about the answers read so far."""
        if self.moved:
            message = ngettext(
                "{file}: {n:,} answer was not found at its offset; the nearest occurrence of its "
                "text was used.",
                "{file}: {n:,} answers were not found at their offsets; the nearest occurrences "
                "of their texts were used.",
                self.moved,
            )
            yield Remark(message.format(file=self.file, n=self.moved))
        if self.repeated:
            message = ngettext(
                "{file}: {n:,} answer without an offset occurs several times in its text; the "
                "first occurrence was used.",
                "{file}: {n:,} answers without offsets occur several times in their texts; the "
                "first occurrences were used.",
                self.repeated,
            )
            yield Remark(message.format(file=self.file, n=self.repeated))
        if self.missing:
            message = ngettext(
                "{n:,} answer was not imported, as it does not occur in its text: {listed}",
                "{n:,} answers were not imported, as they do not occur in their texts: {listed}",
                len(self.missing),
            )
            listed = "; ".join(self.missing[:MAX_LISTED_ANSWERS])
            more = "; …" if len(self.missing) > MAX_LISTED_ANSWERS else "."
            yield Remark(message.format(n=len(self.missing), listed=listed + more))
        yield from (Remark(message) for message in self.offsets.remarks(self.file))


def _occurrences(context: str, text: str) -> Iterator[int]:
    at = context.find(text)
    while at >= 0:
        yield at
        at = context.find(text, at + 1)
