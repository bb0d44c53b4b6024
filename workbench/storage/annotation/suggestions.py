"""Suggestions of runs, prompts and imports, kept in a separate table until they are accepted.

`what` identifies the suggested label: (document id, label id, start, end, field), where a class has
None, None and "". A number, or a text to be written, has the negative id of its layer in place of a
label: a document has one in a layer. A suggested answer has that, too, and the id of its question
as a sixth entry.

The column `field` of a suggested text holds that text: such a row has neither label, offsets nor
value. The value of a span with a label is the number of the chain that its run puts it into. The
field of a suggested relation, which has a label and no offsets, holds its spans (`field_of_ends`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.storage.connections.database import Database
from workbench.storage.schema.tables import SUGGESTION_STATUSES
from workbench.storage.schema.values import ids_in, name_in, now
from workbench.text.relations import UNDIRECTED
from workbench.text.spans import Span

Ends = tuple[Span, Span]
_ENDS = "[["  # begins the field of a relation


def field_of_ends(ends: Ends, *, directed: bool = True) -> str:
    """The spans of a relation in place of the name of a text, in order of the text without a
    direction.
    """
    rows = [[span.start, span.end, span.label] for span in ends]
    return json.dumps(rows if directed else sorted(rows), ensure_ascii=False)


def _ends(field: str) -> Ends | None:
    """What `field_of_ends` wrote; None for the name of a text."""
    if not field.startswith(_ENDS):
        return None
    first, second = (Span(int(a), int(b), str(label)) for a, b, label in json.loads(field))
    return first, second


@dataclass(frozen=True)
class NewSuggestion:
    """A suggested span [start, end), or a class if `start` is None. `score` is in [0, 1].

    The `field` of a relation holds its spans.

    Without a label, `value` is a suggested number of the document, `written` a text, or it is an
    answer to the question with the id `question` (see `answers`); without offsets, there is none.
    Of a span with a label, `value` is the number of its chain (`chain`).
    """

    document_id: int
    layer_id: int
    label_id: int | None
    start: int | None = None
    end: int | None = None
    field: str = "text"
    score: float | None = None
    value: float | None = None
    question: int | None = None
    written: str | None = None

    @property
    def kind(self) -> str:
        is_class = self.start is None and self.question is None and self.written is None
        return "class" if is_class and self.ends is None else "span"

    @property
    def ends(self) -> Ends | None:
        """The spans of a relation, as they were predicted; None for other suggestions."""
        return _ends(self.field) if self.label_id is not None else None

    @property
    def chain(self) -> int | None:
        """The number of the chain of a suggested mention; None for other suggestions."""
        return _chain(self)

    @property
    def what(self) -> What:
        """Identifies the suggested label; see the module."""
        label = self.label_id if self.label_id is not None else -self.layer_id
        return _key(self.document_id, label, self.start, self.end, self.field, self.question)


# document, label, start, end, field, question
What = tuple[int, int, int | None, int | None, str, int | None]


@dataclass(frozen=True)
class SuggestionRow:
    """`source`: the name of the run, or the kind of source if there is no run.

    `source_kind`, `source_ref`, `made_by` (an annotator, or None) and `made_at` are those of the
    source.
    """

    id: int
    document_id: int
    layer_id: int
    label_id: int | None
    kind: str
    start: int | None
    end: int | None
    field: str
    score: float | None
    run_id: int | None
    source: str
    source_id: int
    status: str
    source_kind: str = ""
    source_ref: str = ""
    made_by: int | None = None
    made_at: str = ""
    value: float | None = None

    @property
    def question(self) -> int | None:
        """The id of the question that is answered; None for other suggestions."""
        is_answer = self.kind == "span" and self.label_id is None and self.value is not None
        return int(self.value or 0) if is_answer else None

    @property
    def chain(self) -> int | None:
        """The number of the chain of a suggested mention; None for other suggestions. Suggestions
        of one source with the same number are of one chain.
        """
        return _chain(self)

    @property
    def ends(self) -> Ends | None:
        """The spans of a suggested relation, as they were predicted; None for other suggestions."""
        return _ends(self.field) if self.label_id is not None else None

    @property
    def written(self) -> str | None:
        """The suggested text; None for other suggestions."""
        is_text = self.kind == "span" and self.label_id is self.start is self.value is None
        return self.field if is_text else None


_ROW = (
    'select g.id, g.document_id, g.layer_id, g.label_id, g.kind, g.start, g."end", '
    "g.field, g.score, g.run_id,"
    " ifnull(r.name, s.kind), g.source_id, g.status, s.kind, s.ref, s.annotator_id, s.at, g.value"
    " from suggestion g join source s on "
    "s.id = g.source_id left join run r on r.id = g.run_id"
)


def suggestions(db: Database, document_id: int, status: str = "open") -> tuple[SuggestionRow, ...]:
    """Suggestions of a document, classes first, then spans in text order.

    Open suggestions that are equal to a gold label are omitted.
    """
    rows = (
        db.reader()
        .execute(f"{_ROW} where g.document_id = ? and g.status = ?", (document_id, status))
        .fetchall()
    )
    listed = [SuggestionRow(*row) for row in rows]
    if status == "open" and listed:
        gold = gold_of(db, [document_id])
        listed = [suggestion for suggestion in listed if _what(suggestion) not in gold]
    return tuple(sorted(listed, key=_order))


def _order(row: SuggestionRow) -> tuple[str, int, str, int, int, float]:
    return (
        row.kind,
        row.layer_id,
        row.field,
        row.start or 0,
        -(row.end or 0),
        -(row.score or 0),
    )


def by_ids(db: Database, ids: Iterable[int]) -> tuple[SuggestionRow, ...]:
    rows = (
        db.reader()
        .execute(
            f"{_ROW} where g.id in (select value from json_each(?)) order by g.id", (ids_in(ids),)
        )
        .fetchall()
    )
    return tuple(SuggestionRow(*row) for row in rows)


def add_suggestions(
    db: Database, rows: Iterable[NewSuggestion], *, source_id: int, run_id: int | None = None
) -> int:
    """Insert suggestions without checks; returns their number.

    `operations.annotation.suggestion_edits` applies the rules.
    """
    columns = (
        'document_id, layer_id, label_id, kind, field, start, "end", score, value, source_id, '
        "run_id, at"
    )
    at = now()
    stored = [
        (
            r.document_id,
            r.layer_id,
            r.label_id,
            r.kind,
            r.field if r.written is None else name_in(r.written),
            r.start,
            r.end,
            r.score,
            r.value if r.question is None else r.question,
            source_id,
            run_id,
            at,
        )
        for r in rows
    ]
    db.writer.executemany(
        f"insert into suggestion({columns}) values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", stored
    )
    return len(stored)


def gold_chain(db: Database, suggestion: SuggestionRow) -> int | None:
    """The chain of the gold mentions that the source suggested for the chain of a suggestion, None
    if there are none.
    """
    row = db.writer.execute(
        "select p.group_id from suggestion g join layer l on l.id = g.layer_id join span p on"
        " p.document_id = g.document_id and p.layer_id = g.layer_id and p.annotator_id = l.gold"
        ' and p.label_id = g.label_id and p.start = g.start and p."end" = g."end"'
        " and p.field = g.field where g.document_id = ? and g.layer_id = ? and g.source_id = ?"
        " and g.value = ? and g.status != 'rejected' and p.group_id is not null"
        " order by g.start, g.id limit 1",
        (suggestion.document_id, suggestion.layer_id, suggestion.source_id, suggestion.value),
    ).fetchone()
    return int(row[0]) if row else None


def set_suggestion_status(db: Database, ids: Iterable[int], status: str) -> int:
    """Set the status; returns the number changed. Raises ValueError for an unknown status."""
    if status not in SUGGESTION_STATUSES:
        raise ValueError(f"status {status!r} is none of {SUGGESTION_STATUSES}")
    statement = (
        "update suggestion set status = ?, at = ? where id in (select value from "
        "json_each(?)) and status != ?"
    )
    return db.writer.execute(statement, (status, now(), ids_in(ids), status)).rowcount


def delete_open(db: Database, run_id: int) -> int:
    """Delete all open suggestions of a run; returns their number."""
    return db.writer.execute(
        "delete from suggestion where run_id = ? and status = 'open'", (run_id,)
    ).rowcount


_WHAT = (
    'document_id, ifnull(label_id, -layer_id), start, "end", field,'
    " case when kind = 'span' and label_id is null then value end"
)
_OF_SOURCES = "source_id in (select id from source where kind = ? and substr(ref, 1, ?) = ?)"


def delete_open_of(db: Database, kind: str, ref: str, ids: Iterable[int] | None = None) -> int:
    """Delete the open suggestions of all sources of this kind whose ref begins with `ref`.

    `ids`: only in these documents. Returns their number.
    """
    statement = f"delete from suggestion where status = 'open' and {_OF_SOURCES}"
    values: list[object] = [kind, len(ref), ref]
    if ids is not None:
        statement += " and document_id in (select value from json_each(?))"
        values.append(ids_in(ids))
    return db.writer.execute(statement, values).rowcount


def rejected_of(db: Database, kind: str) -> set[What]:
    """`what` of all rejected suggestions of sources of this kind."""
    statement = f"select {_WHAT} from suggestion where status = 'rejected' and {_OF_SOURCES}"
    return {_key(*row) for row in db.reader().execute(statement, (kind, 0, "")).fetchall()}


def rejected(db: Database, run_id: int) -> set[What]:
    """`what` of all rejected suggestions of a run."""
    statement = f"select {_WHAT} from suggestion where run_id = ? and status = 'rejected'"
    return {_key(*row) for row in db.reader().execute(statement, (run_id,)).fetchall()}


def gold_of(db: Database, document_ids: Iterable[int]) -> set[What]:
    """`what` of all gold marks, spans, relations, answers and texts of these documents."""
    ids = ids_in(document_ids)
    gold = (
        "join layer l on l.id = t.layer_id and l.gold = t.annotator_id where t.document_id "
        "in (select value from json_each(?))"
    )
    read = db.reader().execute
    marks = {
        _key(document, label, None, None, "")
        for document, label in read(
            f"select t.document_id, ifnull(t.label_id, -t.layer_id) from mark t {gold}", (ids,)
        ).fetchall()
    }
    spans = read(
        f'select t.document_id, t.label_id, t.start, t."end", t.field from span t {gold}', (ids,)
    ).fetchall()
    answers = read(
        'select t.document_id, -t.layer_id, t.start, t."end", t.field, min(t.id) over (partition by'
        " t.document_id, t.layer_id, t.question, ifnull(t.attrs, '')), t.is_null"
        f" from answer t {gold}",
        (ids,),
    ).fetchall()
    decided = {_key(*row) for *row, is_null in answers if is_null or row[2] is not None}
    written = read(
        f"select t.document_id, -t.layer_id from answer t {gold}"
        " and t.question = '' and t.text is not null",
        (ids,),
    ).fetchall()
    texts = {_key(document, layer, None, None, "") for document, layer in written}
    return marks | {_key(*row) for row in spans} | _relations_of(db, ids) | decided | texts


def _relations_of(db: Database, ids: str) -> set[What]:
    """`what` of the gold relations of documents."""
    rows = db.reader().execute(
        "select r.document_id, r.label_id, ifnull(k.name, ''), l.options, f.start, f.\"end\","
        ' fl.name, t.start, t."end", tl.name from relation r'
        " join layer l on l.id = r.layer_id and l.gold = r.annotator_id"
        " left join label k on k.id = r.label_id join span f on f.id = r.from_span"
        " join span t on t.id = r.to_span left join label fl on fl.id = f.label_id"
        " left join label tl on tl.id = t.label_id"
        " where r.document_id in (select value from json_each(?))",
        (ids,),
    )
    gold = set()
    for document, label, name, options, *places in rows.fetchall():
        ends = tuple(Span(a, b, text or "") for a, b, text in (places[:3], places[3:]))
        undirected = name in (json.loads(options or "{}").get(UNDIRECTED) or ())
        field = field_of_ends((ends[0], ends[1]), directed=not undirected)
        gold.add(_key(document, label, None, None, field))
    return gold


def _key(
    document_id: int,
    label_id: int,
    start: int | None,
    end: int | None,
    field: str,
    question: float | None = None,
) -> What:
    question_id = int(question) if question is not None else None
    place = field if start is not None or field.startswith(_ENDS) else ""
    return document_id, label_id, start, end, place, question_id


def _chain(row: NewSuggestion | SuggestionRow) -> int | None:
    is_mention = row.label_id is not None and row.start is not None
    return int(row.value) if is_mention and row.value is not None else None


def _what(row: SuggestionRow) -> What:
    label = row.label_id if row.label_id is not None else -row.layer_id
    return _key(row.document_id, label, row.start, row.end, row.field, row.question)
