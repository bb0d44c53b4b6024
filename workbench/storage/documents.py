"""Documents with their texts, and records: documents with their gold annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from workbench.base.watch import QUIET, Watch
from workbench.storage import labels
from workbench.storage.database import Database
from workbench.storage.listing import (
    Counts,
    DocumentRow,
    Filter,
    any_at_all,
    counts,
    ids,
    long_texts,
    rows,
)
from workbench.storage.values import (
    Row,
    borders_in,
    borders_out,
    ids_in,
    json_in,
    json_out,
    name_in,
    new_uid,
    now,
    text_in,
    text_out,
)
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Layer
from workbench.text.rows import row_id
from workbench.text.spans import Span

__all__ = [
    "Counts",
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
# documents changed by one statement: a tenth of a second, after which an act can be called off
CHUNK = 1000

_INSERT = {
    "document": "insert into document(id, uid, key, split, fold_group, meta, batch_source_id, "
    "text_hash, length, texts)"
    " values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "body": "insert into body(document_id, field, content) values(?, ?, ?)",
    "tokens": "insert into tokens(document_id, field, borders) values(?, ?, ?)",
    "state": (
        "insert into state(document_id, layer_id, annotator_id, state, at) values(?, ?, ?, ?, ?)"
    ),
    "mark": (
        "insert into mark(document_id, layer_id, label_id, annotator_id, source_id) "
        "values(?, ?, ?, ?, ?)"
    ),
    "span": 'insert into span(uid, document_id, field, layer_id, label_id, start, "end", '
    "annotator_id, source_id, score)"
    " values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
}


# ---------------------------------------------------------------- writing


def add(
    db: Database,
    records: Iterable[Record],
    *,
    source_id: int,
    annotator_id: int | None = None,
    batch: int = 1000,
) -> list[int]:
    """Insert records with their states, class labels and spans; returns the new ids in order.

    Layers and labels are found by name and must exist (KeyError otherwise). `annotator_id` defaults
    to the project's own.
    For more than a few hundred records do it inside `project.edit(…, bulk=True)`.
    """
    writer = _RecordWriter(db, source_id, annotator_id or int(db.meta("annotator")))
    stream, new_ids = iter(records), []
    while page := list(islice(stream, batch)):
        new_ids += writer.write(page)
    return new_ids


class _RecordWriter:
    def __init__(self, db: Database, source_id: int, annotator_id: int):
        self._conn, self._source, self._annotator, self._at = (
            db.writer,
            source_id,
            annotator_id,
            now(),
        )
        found = labels.layers(db)
        self._layers = {layer.name: layer.id for layer in found}
        self._labels = {
            (layer.name, label.name): label.id for layer in found for label in layer.labels
        }
        row = self._conn.execute(
            "select seq from sqlite_sequence where name = 'document'"
        ).fetchone()
        self._last = row[0] if row else 0

    def write(self, page: Sequence[Record]) -> list[int]:
        rows: dict[str, list[Row]] = {table: [] for table in _INSERT}
        first = self._last + 1
        for record in page:
            self._last += 1
            self._document(rows, self._last, record.document)
            self._annotations(rows, self._last, record)
        for table, statement in _INSERT.items():
            self._conn.executemany(statement, rows[table])
        return list(range(first, self._last + 1))

    def _document(self, rows: dict[str, list[Row]], id: int, document: Document) -> None:
        length = sum(len(content) for _, content in document.texts)
        group = None if document.group is None else name_in(document.group)
        meta = json_in(dict(document.meta))
        head = (
            id,
            new_uid(),
            name_in(document.key),
            document.split,
            group,
            meta,
            self._source,
            document.text_hash,
            length,
        )
        rows["document"].append((*head, len(document.texts)))
        rows["body"] += [(id, field, text_in(content)) for field, content in document.texts]
        rows["tokens"] += [
            (id, field, borders_in(borders)) for field, borders in document.tokens.items()
        ]

    def _annotations(self, rows: dict[str, list[Row]], id: int, record: Record) -> None:
        who, source = self._annotator, self._source
        for name, state in record.states.items():
            if state != "pending":
                rows["state"].append((id, self._layers[name], who, state, self._at))
        for name, found in record.marks.items():
            rows["mark"] += [
                (id, self._layers[name], self._labels[name, label], who, source) for label in found
            ]
        for name, spans in record.spans.items():
            layer = self._layers[name]
            for one in spans:
                label = self._labels[name, one.label]
                rows["span"].append(
                    (
                        new_uid(),
                        id,
                        one.field,
                        layer,
                        label,
                        one.start,
                        one.end,
                        who,
                        source,
                        one.score,
                    )
                )


def delete(db: Database, ids: Iterable[int], *, watch: Watch = QUIET) -> int:
    """With everything that belongs to them. Gives how many there were."""
    statement = "delete from document where id in (select value from json_each(?))"
    return sum(
        db.writer.execute(statement, (ids_in(some),)).rowcount
        for some in watch.over(sorted(ids), CHUNK)
    )


def set_split(db: Database, ids: Iterable[int], split: str | None, *, watch: Watch = QUIET) -> int:
    statement = (
        "update document set split = ? where id in (select value from json_each(?)) and "
        "split is not ?"
    )
    return sum(
        db.writer.execute(statement, (split, ids_in(some), split)).rowcount
        for some in watch.over(sorted(ids), CHUNK)
    )


# ---------------------------------------------------------------- reading


def get(db: Database, id: int) -> Document:
    """Raises KeyError if there is no such document."""
    found = _documents(db, [id])
    if not found:
        raise KeyError(id)
    return found[0]


def by_key(db: Database, key: str) -> Document | None:
    """None if there is no such document."""
    row = db.reader().execute("select id from document where key = ?", (key,)).fetchone()
    return get(db, row[0]) if row else None


def record(db: Database, id: int, layer_names: Iterable[str] | None = None) -> Record:
    """Raises KeyError if there is no such document."""
    for one in records(db, layers=layer_names, ids=[id]):
        return one
    raise KeyError(id)


def records(
    db: Database,
    *,
    layers: Iterable[str] | None = None,
    splits: Iterable[str | None] | None = None,
    ids: Iterable[int] | None = None,
    submitted_in: str | None = None,
) -> Iterator[Record]:
    """Documents with their gold annotations, in order of id, read one page at a time.

    `layers`: names, all by default. `splits`: only these (None: in no split). `submitted_in`: only
    training data of that layer.
    """
    chosen = [one for one in labels.layers(db) if layers is None or one.name in set(layers)]
    wanted = _wanted(db, splits, ids, submitted_in)
    for start in range(0, len(wanted), PAGE):
        yield from _page(db, wanted[start : start + PAGE], chosen)


def _wanted(
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
    found = (
        db.reader()
        .execute(f"select id from document where {' and '.join(where)} order by id", values)
        .fetchall()
    )
    return [id for (id,) in found]


def _page(db: Database, page: Sequence[int], chosen: Sequence[Layer]) -> Iterator[Record]:
    states, marks, spans = (
        _states(db, page, chosen),
        _marks(db, page, chosen),
        _spans(db, page, chosen),
    )
    for document in _documents(db, page):
        id = row_id(document)
        yield Record(document, states.get(id, {}), marks.get(id, {}), spans.get(id, {}))


def _documents(db: Database, page: Sequence[int]) -> list[Document]:
    read, some = db.reader().execute, (ids_in(page),)
    these = "in (select value from json_each(?))"
    texts: dict[int, list[tuple[str, str]]] = {}
    for id, field, content in read(
        f"select document_id, field, content from body where document_id {these} order by id", some
    ).fetchall():
        texts.setdefault(id, []).append((field, text_out(content)))
    tokens: dict[int, dict[str, tuple[tuple[int, int], ...]]] = {}
    for id, field, borders in read(
        f"select document_id, field, borders from tokens where document_id {these}", some
    ).fetchall():
        tokens.setdefault(id, {})[field] = borders_out(borders)
    rows = read(
        f"select id, key, split, fold_group, meta from document where id {these} order by id", some
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
        " where t.document_id in (select value from json_each(?)) and t.layer_id in "
        "(select value from json_each(?)) order by t.id"
    )
    if table == "state":
        statement = statement.replace(" left join label on label.id = t.label_id", "")
    known = {row_id(one) for one in chosen}
    found = db.reader().execute(statement, (ids_in(page), ids_in(known))).fetchall()
    return [row for row in found if row[1] in known]  # a damaged index gives others


def _states(
    db: Database, page: Sequence[int], chosen: Sequence[Layer]
) -> dict[int, dict[str, str]]:
    names = {one.id: one.name for one in chosen}
    found: dict[int, dict[str, str]] = {}
    for id, layer, state in _gold_rows(db, "state", "t.state", page, chosen):
        if state != "pending":
            found.setdefault(id, {})[names[layer]] = state
    return found


def _marks(
    db: Database, page: Sequence[int], chosen: Sequence[Layer]
) -> dict[int, dict[str, tuple[str, ...]]]:
    names = {one.id: one.name for one in chosen}
    found: dict[int, dict[str, tuple[str, ...]]] = {}
    for id, layer, name in _gold_rows(db, "mark", "label.name", page, chosen):
        if name is not None:
            marks = found.setdefault(id, {})
            marks[names[layer]] = (*marks.get(names[layer], ()), name)
    return found


def _spans(
    db: Database, page: Sequence[int], chosen: Sequence[Layer]
) -> dict[int, dict[str, tuple[Span, ...]]]:
    names = {one.id: one.name for one in chosen}
    lists: dict[int, dict[str, list[Span]]] = {}
    columns = 't.start, t."end", label.name, t.field, t.score, t.id'
    for id, layer, *values in _gold_rows(db, "span", columns, page, chosen):
        lists.setdefault(id, {}).setdefault(names[layer], []).append(Span(*values))
    return {
        id: {name: tuple(sorted(spans, key=_order)) for name, spans in found.items()}
        for id, found in lists.items()
    }


def _order(span: Span) -> tuple[str, int, int, int]:
    return span.field, span.start, -span.end, row_id(span)
