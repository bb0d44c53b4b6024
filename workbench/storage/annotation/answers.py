"""Questions about documents and their answers, per layer and annotator.

Every answer is a row; a question without answers has one row, either `is_null` (the text holds no
answer) or open. The rows of a question have the same `question` and the same attributes. The row
with the lowest id stands for the question: it is kept as long as the question is, and suggestions
refer to it by `suggestion.value`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from workbench.storage.connections.database import Database
from workbench.storage.schema.values import Row, ids_in, json_in, json_out, name_in, new_id
from workbench.text.document import TEXT
from workbench.text.labels import LAYER_KINDS, Layer
from workbench.text.questions import Question
from workbench.text.rows import row_id

INSERT = (
    'insert into answer(document_id, layer_id, question, field, start, "end", is_null, attrs,'
    " annotator_id, source_id, score) values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_GOLD = (
    'select a.id, a.document_id, a.layer_id, a.question, a.start, a."end", a.is_null, a.attrs,'
    " s.kind, s.ref, a.score, s.annotator_id, s.at, a.field from answer a"
    " join layer l on l.id = a.layer_id and l.gold = a.annotator_id"
    " join source s on s.id = a.source_id"
)


@dataclass(frozen=True)
class AnswerRow:
    """An answer, [start, end) in code points of a text field; None without one.

    `source_kind`, `source_ref`, `made_by` (an annotator, or None) and `made_at` are those of the
    source; `score` is in [0, 1].
    """

    id: int
    document_id: int
    layer_id: int
    question: str
    start: int | None
    end: int | None
    is_null: bool
    attrs: Mapping[str, Any] = field(hash=False)
    source_kind: str
    source_ref: str
    score: float | None
    made_by: int | None
    made_at: str
    field: str = TEXT


@dataclass(frozen=True)
class AskedQuestion:
    """A question of a layer with the rows of its answers; `id` is that of the first."""

    id: int
    layer_id: int
    question: Question
    rows: tuple[AnswerRow, ...]


@dataclass(frozen=True)
class AskedCounts:
    """Numbers of questions of a layer, of those with an answer and certainly without one."""

    documents: int
    questions: int
    answered: int
    without_answer: int

    @property
    def open(self) -> int:
        return self.questions - self.answered - self.without_answer


# ---------------------------------------------------------------- reading


def asked(db: Database, document_id: int) -> tuple[AskedQuestion, ...]:
    """The questions about a document by the gold annotator of each layer, in order of layers.

    Written texts, which are rows of the same table, are none.
    """
    kinds = ", ".join(f"'{kind.id}'" for kind in LAYER_KINDS.values() if kind.asks)
    where = f"a.document_id = ? and l.kind in ({kinds}) order by a.layer_id, a.id"
    rows = _rows(db, where, (document_id,))
    return tuple(_grouped(rows))


def question(db: Database, id: int) -> AskedQuestion:
    """The question that a row belongs to. Raises KeyError if there is no such row."""
    row = db.reader().execute("select document_id from answer where id = ?", (id,)).fetchone()
    questions = asked(db, row[0]) if row is not None else ()
    for asked_question in questions:
        if any(answer.id == id for answer in asked_question.rows):
            return asked_question
    raise KeyError(id)


def counts(db: Database, layer_id: int) -> AskedCounts:
    """Numbers of questions by the gold annotator of the layer."""
    each = (
        "select a.document_id, count(a.start) as given, max(a.is_null) as none from answer a"
        " join layer l on l.id = a.layer_id and l.gold = a.annotator_id where a.layer_id = ?"
        " group by a.document_id, a.question, ifnull(a.attrs, '')"
    )
    row = db.reader().execute(
        "select count(distinct document_id), count(*), ifnull(sum(given > 0), 0),"
        f" ifnull(sum(given = 0 and none), 0) from ({each})",
        (layer_id,),
    )
    return AskedCounts(*row.fetchone())


def count(db: Database, layer_id: int) -> int:
    """Number of questions in a layer, of all annotators, also where a window shows those of one."""
    each = (
        "select 1 from main.answer where layer_id = ?"
        " group by annotator_id, document_id, question, ifnull(attrs, '')"
    )
    return int(db.reader().execute(f"select count(*) from ({each})", (layer_id,)).fetchone()[0])


def of_page(
    db: Database, ids: Sequence[int], layers: Iterable[Layer]
) -> dict[int, dict[str, tuple[Question, ...]]]:
    """Document id → layer name → questions, of those layers that have questions."""
    names = {row_id(layer): layer.name for layer in layers if layer.traits.asks}
    if not names:
        return {}
    where = (
        "a.document_id in (select value from json_each(?)) and a.layer_id in"
        " (select value from json_each(?)) order by a.document_id, a.layer_id, a.id"
    )
    by_document: dict[int, dict[str, tuple[Question, ...]]] = {}
    rows = _rows(db, where, (ids_in(ids), ids_in(names)))
    for (document, layer), group in groupby(rows, lambda row: (row.document_id, row.layer_id)):
        if layer in names:  # in a damaged file the index may return rows of other layers
            asked_here = tuple(asked_question.question for asked_question in _grouped(group))
            by_document.setdefault(document, {})[names[layer]] = asked_here
    return by_document


def _rows(db: Database, where: str, values: Sequence[object]) -> Iterator[AnswerRow]:
    for row in db.reader().execute(f"{_GOLD} where {where}", values).fetchall():
        id, document, layer, text, start, end, is_null, attrs, *rest = row
        yield AnswerRow(
            id, document, layer, text, start, end, bool(is_null), json_out(attrs), *rest
        )


def _grouped(rows: Iterable[AnswerRow]) -> Iterator[AskedQuestion]:
    """Rows of one document, by layer and id → questions, in order of their first rows."""
    by_question: dict[tuple[int, str, str | None], list[AnswerRow]] = {}
    for row in rows:
        by_question.setdefault((row.layer_id, row.question, json_in(row.attrs)), []).append(row)
    for (layer, text, _attrs), own in by_question.items():
        answers = tuple(
            (row.start, row.end) for row in own if row.start is not None and row.end is not None
        )
        is_null = not answers and any(row.is_null for row in own)
        question = Question(text, answers, is_null, own[0].attrs)
        yield AskedQuestion(own[0].id, layer, question, tuple(own))


# ---------------------------------------------------------------- writing


def rows_of(
    question: Question, document_id: int, layer_id: int, annotator_id: int, source_id: int
) -> list[Row]:
    """The values that `INSERT` writes for a question."""
    offsets: Iterable[tuple[int | None, int | None]] = question.answers or ((None, None),)
    attrs = json_in(question.attrs)
    text, is_null = name_in(question.text), int(question.is_null and not question.answers)
    by = (is_null, attrs, annotator_id, source_id, None)
    return [(document_id, layer_id, text, TEXT, start, end, *by) for start, end in offsets]


def add_question(
    db: Database,
    document_id: int,
    layer_id: int,
    question: Question,
    *,
    annotator_id: int,
    source_id: int,
) -> int:
    """Insert a question with its answers and return the id that stands for it."""
    first, *rest = rows_of(question, document_id, layer_id, annotator_id, source_id)
    question_id = new_id(db.writer.execute(INSERT, first))
    db.writer.executemany(INSERT, rest)
    return question_id


def set_answers(
    db: Database, question: AskedQuestion, new: Question, *, annotator_id: int, source_id: int
) -> None:
    """Write another text or other answers of a question.

    Answers that are unchanged keep their source, and the row that stands for the question is kept.
    """
    execute = db.writer.execute
    execute(
        "update answer set question = ?, attrs = ? where id in (select value from json_each(?))",
        (name_in(new.text), json_in(new.attrs), ids_in(row.id for row in question.rows)),
    )
    rows = rows_of(new, question.rows[0].document_id, question.layer_id, annotator_id, source_id)
    there = {(row.start, row.end, int(row.is_null)): row.id for row in question.rows}
    missing = [row for row in rows if _place(row) not in there]
    unchanged = {there[_place(row)] for row in rows if _place(row) in there}
    extra = [row.id for row in question.rows if row.id not in unchanged]
    if question.id in extra:
        extra.remove(question.id)
        if missing:
            execute(
                'update answer set start = ?, "end" = ?, is_null = ?, source_id = ?, score = null'
                " where id = ?",
                (*_place(missing.pop(0)), source_id, question.id),
            )
        else:
            extra.append(_take_over(db, question.id, min(unchanged)))
    execute("delete from answer where id in (select value from json_each(?))", (ids_in(extra),))
    db.writer.executemany(INSERT, missing)


def _place(row: Row) -> tuple[int | None, int | None, int]:
    """start, end and is_null of the values of a row."""
    return row[4], row[5], row[6]


def _take_over(db: Database, id: int, other: int) -> int:
    """Copy the answer of the row `other`, which is returned, to the row `id`."""
    columns = 'start, "end", is_null, source_id, score'
    db.writer.execute(
        f"update answer set ({columns}) = (select {columns} from answer where id = ?) where id = ?",
        (other, id),
    )
    return other


def delete_question(db: Database, question: AskedQuestion) -> None:
    """Delete a question with its answers and the suggestions for it."""
    ids = ids_in(row.id for row in question.rows)
    db.writer.execute("delete from answer where id in (select value from json_each(?))", (ids,))
    db.writer.execute(
        "delete from suggestion where document_id = ? and layer_id = ? and value = ?",
        (question.rows[0].document_id, question.layer_id, float(question.id)),
    )
