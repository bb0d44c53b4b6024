"""Documents with their texts, and records: documents with their gold annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from workbench.base.watch import QUIET, Watch
from workbench.storage.annotation import answers, document_values
from workbench.storage.connections.database import Database
from workbench.storage.documents.deletion import delete
from workbench.storage.documents.flags import REVIEWS
from workbench.storage.documents.notes import span_column
from workbench.storage.labels import labels
from workbench.storage.queries.listing import (
    DocumentCounts,
    DocumentRow,
    Filter,
    any_at_all,
    counts,
    ids,
    long_texts,
    rows,
)
from workbench.storage.schema.values import (
    Row,
    ids_in,
    json_out,
    offsets_out,
    parts_out,
    text_out,
)
from workbench.storage.staging.record_writer import RecordWriter
from workbench.text.dataset import Record
from workbench.text.document import CHOICE, CHOICES, Document
from workbench.text.labels import NUMBERS, WRITTEN, Layer
from workbench.text.questions import texts_of
from workbench.text.relations import Relation, directed, span_layer
from workbench.text.remarks import FLAG, NOTE, DocumentRemark
from workbench.text.rows import row_id
from workbench.text.spans import Span


def _remarks(db: Database, page: Sequence[int]) -> dict[int, tuple[DocumentRemark, ...]]:
    """Document id → its notes and flags, and those of its gold spans."""
    remarks_of: dict[int, list[DocumentRemark]] = {}
    for kind, table, text in ((NOTE, "note", "body"), (FLAG, "flag", "name")):
        span = span_column(db, table)
        statement = (
            f'select r.document_id, r.{text}, {span}, l.name, s.field, s.start, s."end", b.name,'
            f" s.parts from {table} r left join span s on s.id = {span} left join layer l on"
            " l.id = s.layer_id and l.gold = s.annotator_id left join label b on b.id = s.label_id"
            f" where r.document_id in (select value from json_each(?)) and r.{text} not glob ?"
            " order by r.id"
        )
        values = ids_in(page), f"{REVIEWS}*" if kind == FLAG else ""
        for id, words, on_span, layer, *place, parts in (
            db.reader().execute(statement, values).fetchall()
        ):
            if on_span is None:
                remarks_of.setdefault(id, []).append(DocumentRemark(kind, words))
            elif layer is not None and place[-1] is not None:
                field, start, end, label = place
                at = field, start, end, label, parts_out(parts)
                remarks_of.setdefault(id, []).append(DocumentRemark(kind, words, layer, at))
    return {id: tuple(some) for id, some in remarks_of.items()}


def with_remarks(db: Database, records: Iterable[Record]) -> Iterator[Record]:
    """The records of a page with their notes and flags."""
    page = list(records)
    remarks = _remarks(db, [row_id(record.document) for record in page])
    for record in page:
        some = remarks.get(row_id(record.document))
        yield replace(record, remarks=some) if some else record


_SPAN = '{0}.start, {0}."end", {0}_label.name, {0}.field, {0}.score, {0}.id, {0}.parts'
_STATEMENT = (
    "select r.document_id, r.layer_id, label.name, r.score, r.id,"
    f" {_SPAN.format('f')}, {_SPAN.format('t')}"
    " from relation r join layer l on l.id = r.layer_id and l.gold = r.annotator_id"
    " join label on label.id = r.label_id join span f on f.id = r.from_span"
    " join span t on t.id = r.to_span join label f_label on f_label.id = f.label_id"
    " join label t_label on t_label.id = t.label_id"
    " where r.document_id in (select value from json_each(?)) and r.layer_id in"
    " (select value from json_each(?)) order by f.start, t.start, r.id"
)


def gold_relations(
    db: Database, page: Sequence[int], chosen: Sequence[Layer]
) -> dict[int, dict[str, tuple[Relation, ...]]]:
    """Document id → layer → relations, of these documents and layers."""
    joining = {row_id(layer): layer for layer in chosen if layer.traits.between_spans}
    if not joining:
        return {}
    lists: dict[int, dict[str, list[Relation]]] = {}
    values = ids_in(page), ids_in(joining)
    for id, layer, label, score, row, *ends in db.reader().execute(_STATEMENT, values).fetchall():
        from_span, to_span = (
            Span(*(*some[:6], parts_out(some[6]))) for some in (ends[:7], ends[7:])
        )
        has_direction = directed(joining[layer], label)
        relation = Relation(label, from_span, to_span, score, row, has_direction)
        lists.setdefault(id, {}).setdefault(joining[layer].name, []).append(relation)
    return {
        id: {name: tuple(layer_relations) for name, layer_relations in by_layer.items()}
        for id, by_layer in lists.items()
    }


__all__ = [
    "DocumentCounts",
    "DocumentRow",
    "Filter",
    "add",
    "any_at_all",
    "counts",
    "delete",
    "get",
    "ids",
    "long_texts",
    "record",
    "records",
    "rows",
    "set_split",
]

PAGE = 500  # documents read at once
CHUNK = 1000  # documents per statement (about 0.1 s); an operation can be cancelled in between


# ---------------------------------------------------------------- writing


def add(
    db: Database,
    records: Iterable[Record],
    *,
    source_id: int,
    annotator_id: int | None = None,
    batch: int = 1000,
) -> list[int]:
    """Insert records with their states and labels; returns the new ids in order.

    Layers and labels are looked up by name; raises KeyError if one does not exist. `annotator_id`
    defaults to the gold annotator of each layer. `batch`: records per statement. For more than a
    few hundred records, use `project.edit(…, bulk=True)`.
    """
    writer = RecordWriter(db, source_id, annotator_id)
    stream, new_ids = iter(records), []
    while page := list(islice(stream, batch)):
        new_ids += writer.write(page)
    return new_ids


def set_split(db: Database, ids: Iterable[int], split: str | None, *, watch: Watch = QUIET) -> int:
    """Set or clear (None) the split of documents; returns the number of documents changed."""
    statement = (
        "update document set split = ? where id in (select value from json_each(?)) and "
        "split is not ?"
    )
    return sum(
        db.writer.execute(statement, (split, ids_in(chunk), split)).rowcount
        for chunk in watch.over(sorted(ids), CHUNK)
    )


# ---------------------------------------------------------------- reading


def get(db: Database, id: int) -> Document:
    """Raises KeyError if there is no such document."""
    documents = _documents(db, [id])
    if not documents:
        raise KeyError(id)
    questions = answers.of_page(db, [id], labels.layers(db)).get(id)
    return replace(documents[0], questions=texts_of(questions)) if questions else documents[0]


def by_key(db: Database, key: str) -> Document | None:
    """The document with this key, or None."""
    row = db.reader().execute("select id from document where key = ?", (key,)).fetchone()
    return get(db, row[0]) if row else None


def record(db: Database, id: int, layer_names: Iterable[str] | None = None) -> Record:
    """Raises KeyError if there is no such document."""
    for record in records(db, layers=layer_names, ids=[id]):
        return record
    raise KeyError(id)


def most_choices(db: Database) -> int:
    """The largest number of choices of a document, 0 without documents with choices."""
    (count,) = (
        db.reader()
        .execute(
            "select max(n) from (select count(*) as n from body where substr(field, 1, ?) = ?"
            " and document_id in (select id from document where texts = ?) group by document_id)",
            (len(CHOICE), CHOICE, CHOICES),
        )
        .fetchone()
    )
    return int(count or 0)


def text_hashes(db: Database) -> list[tuple[int, str]]:
    """(id, hash of the texts) of every document, in order of id."""
    return db.reader().execute("select id, text_hash from document order by id").fetchall()


def keys(db: Database, ids: Iterable[int]) -> dict[int, str]:
    """Id → key of these documents."""
    statement = "select id, key from document where id in (select value from json_each(?))"
    return dict(db.reader().execute(statement, (ids_in(ids),)).fetchall())


def splits(db: Database) -> dict[int, str | None]:
    """The split of every document by id."""
    return dict(db.reader().execute("select id, split from document").fetchall())


def records(
    db: Database,
    *,
    layers: Iterable[str] | None = None,
    splits: Iterable[str | None] | None = None,
    ids: Iterable[int] | None = None,
    submitted_in: str | None = None,
    remarks: bool = False,
) -> Iterator[Record]:
    """Documents with their gold annotations, in order of id, read in pages of `PAGE`.

    `layers`: names of the layers to read; all by default. `splits`: only documents of these splits;
    None in it: without a split. `ids`: only these documents. `submitted_in`: only those submitted
    in the layer of this name. `remarks`: with notes and flags. Where `layers` has a layer of
    relations, the spans that it connects are `Document.input_spans`.
    """
    names = None if layers is None else set(layers)
    every = labels.layers(db)
    chosen = [layer for layer in every if names is None or layer.name in names]
    connected = {span_layer(layer) for layer in chosen if layer.traits.between_spans}
    inputs = [layer for layer in every if names is not None and layer.name in connected]
    matching = _matching_ids(db, splits, ids, submitted_in)
    for start in range(0, len(matching), PAGE):
        page = _page(db, matching[start : start + PAGE], chosen, inputs)
        yield from with_remarks(db, page) if remarks else page


def _matching_ids(
    db: Database,
    splits: Iterable[str | None] | None,
    ids: Iterable[int] | None,
    submitted_in: str | None,
) -> list[int]:
    where, values = ["1"], list[str | None]()
    if ids is not None:
        where.append("id in (select value from json_each(?))")
        values.append(ids_in(ids))
    if splits is not None:
        splits = list(splits)
        where.append(
            f"(split in "
            f"({', '.join('?' * len(splits))}){' or split is null' if None in splits else ''})"
        )
        values += splits
    if submitted_in is not None:
        where.append(
            "id in (select s.document_id from state s join layer l on l.id = s.layer_id "
            "and l.gold = s.annotator_id"
            " where l.name = ? and s.state = 'submitted')"
        )
        values.append(submitted_in)
    rows = (
        db.reader()
        .execute(f"select id from document where {' and '.join(where)} order by id", values)
        .fetchall()
    )
    return [id for (id,) in rows]


def _page(
    db: Database, page: Sequence[int], chosen: Sequence[Layer], inputs: Sequence[Layer]
) -> Iterator[Record]:
    """inputs: the layers of spans that layers of relations among those `chosen` connect."""
    parts: tuple[dict[int, dict[str, Any]], ...] = (
        _states(db, page, chosen),
        _marks(db, page, chosen),
        _spans(db, page, chosen),
        document_values.gold_values(db, page, chosen, NUMBERS),
        document_values.gold_values(db, page, chosen, WRITTEN),
    )
    relations = gold_relations(db, page, chosen)
    questions = answers.of_page(db, page, chosen)
    connected = _spans(db, page, inputs) if inputs else {}
    for document in _documents(db, page):
        id = row_id(document)
        questions_here = questions.get(id, {})
        if questions_here:
            document = replace(document, questions=texts_of(questions_here))
        if between := [span for spans in connected.get(id, {}).values() for span in spans]:
            document = replace(document, input_spans=tuple(sorted(between, key=_order)))
        states, marks, spans, numbers, written = (part.get(id, {}) for part in parts)
        joined = relations.get(id, {})
        yield Record(document, states, marks, spans, joined, questions_here, numbers, written)


def _documents(db: Database, page: Sequence[int]) -> list[Document]:
    read, ids = db.reader().execute, (ids_in(page),)
    in_page = "in (select value from json_each(?))"
    texts: dict[int, list[tuple[str, str]]] = {}
    for id, field, content in read(
        f"select document_id, field, content from body where document_id {in_page} order by id", ids
    ).fetchall():
        texts.setdefault(id, []).append((field, text_out(content)))
    tokens: dict[int, dict[str, tuple[tuple[int, int], ...]]] = {}
    for id, field, offsets in read(
        f"select document_id, field, borders from tokens where document_id {in_page}", ids
    ).fetchall():
        tokens.setdefault(id, {})[field] = offsets_out(offsets)
    rows = read(
        f"select id, key, split, fold_group, meta from document where id {in_page} order by id", ids
    ).fetchall()
    return [
        Document(
            key,
            tuple(texts.get(id, (("text", ""),))),
            split,
            group,
            json_out(meta),
            tokens.get(id, {}),
            id,
        )
        for id, key, split, group, meta in rows
    ]


def _gold_rows(
    db: Database, table: str, columns: str, page: Sequence[int], chosen: Sequence[Layer]
) -> list[Row]:
    statement = (
        f"select t.document_id, t.layer_id, {columns} from {table} t join layer l on l.id "
        f"= t.layer_id and l.gold = t.annotator_id"
        " left join label on label.id = t.label_id"
        # With the index of layers, each page would read all rows of a layer.
        " where t.document_id in (select value from json_each(?)) and +t.layer_id in "
        "(select value from json_each(?)) order by t.id"
    )
    if table == "state":
        statement = statement.replace(" left join label on label.id = t.label_id", "")
    layer_ids = {row_id(layer) for layer in chosen}
    rows = db.reader().execute(statement, (ids_in(page), ids_in(layer_ids))).fetchall()
    # In a damaged file the index may return rows of other layers.
    return [row for row in rows if row[1] in layer_ids]


def _states(
    db: Database, page: Sequence[int], chosen: Sequence[Layer]
) -> dict[int, dict[str, str]]:
    names = {layer.id: layer.name for layer in chosen}
    states: dict[int, dict[str, str]] = {}
    for id, layer, state in _gold_rows(db, "state", "t.state", page, chosen):
        if state != "pending":
            states.setdefault(id, {})[names[layer]] = state
    return states


def _marks(
    db: Database, page: Sequence[int], chosen: Sequence[Layer]
) -> dict[int, dict[str, tuple[str, ...]]]:
    names = {layer.id: layer.name for layer in chosen}
    marks: dict[int, dict[str, tuple[str, ...]]] = {}
    for id, layer, name in _gold_rows(db, "mark", "label.name", page, chosen):
        if name is not None:
            of_document = marks.setdefault(id, {})
            of_document[names[layer]] = (*of_document.get(names[layer], ()), name)
    return marks


def _spans(
    db: Database, page: Sequence[int], chosen: Sequence[Layer]
) -> dict[int, dict[str, tuple[Span, ...]]]:
    names = {layer.id: layer.name for layer in chosen}
    lists: dict[int, dict[str, list[Span]]] = {}
    columns = 't.start, t."end", label.name, t.field, t.score, t.id, t.parts, t.group_id'
    for id, layer, *values, parts, chain in _gold_rows(db, "span", columns, page, chosen):
        span = Span(*(*values, parts_out(parts), chain))
        lists.setdefault(id, {}).setdefault(names[layer], []).append(span)
    return {
        id: {name: tuple(sorted(spans, key=_order)) for name, spans in by_layer.items()}
        for id, by_layer in lists.items()
    }


def _order(span: Span) -> tuple[str, int, int, int]:
    return span.field, span.start, -span.end, row_id(span)
