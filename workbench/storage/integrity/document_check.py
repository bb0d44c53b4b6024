"""Checks the consistency of texts, offsets and labels of the documents."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import islice
from typing import cast

from workbench.base.errors import ProjectError
from workbench.base.i18n import _
from workbench.storage.schema.values import offsets_out
from workbench.text.document import form_of, text_hash
from workbench.text.labels import LABEL_TABLES

SHOWN = 20  # of one kind
PAGE = 500  # documents read at once

_WITH_OFFSETS = ("span", "suggestion", "answer")
_WITH_LABELS = ("mark", "span", "suggestion", "relation")
_IN_LAYERS = ("state", "mark", "span", "suggestion", "relation", "answer")

# SQL after the columns of a query: rows t that do not fit, and what they do not fit


def _outside(table: str) -> str:
    return (
        f"from {table} t left join text_length l on l.document_id = t.document_id"
        " and l.field = t.field where t.start is not null and (l.length is null"
        ' or t."end" is null or t.start > t."end" or t."end" > l.length)'
    )


def _mislabelled(table: str) -> str:
    return f"from {table} t join label b on b.id = t.label_id where b.layer_id != t.layer_id"


def _misplaced(table: str) -> str:
    unfit = f" or y.holder is not '{table}'" if table in LABEL_TABLES else ""
    return (
        f"from {table} t join layer_texts y on y.id = t.layer_id"
        " join document d on d.id = t.document_id where (ifnull(y.texts, d.texts) != d.texts"
        f"{unfit})"
    )


_UNCONNECTED = (
    "from relation t left join span f on f.id = t.from_span left join span o on o.id = t.to_span"
    " where (f.document_id is not t.document_id or o.document_id is not t.document_id"
    " or f.layer_id is not o.layer_id)"
)
_UNFIT = (
    "from suggestion t join layer_texts y on y.id = t.layer_id where not (case t.kind when 'class'"
    " then t.start is null and y.holder is 'mark' else (t.start is not null"
    " and y.holder is 'span') or (t.start is null and y.holder is 'relation')"
    " or y.holder is 'answer' end)"
)


def delete_unfit(conn: sqlite3.Connection) -> dict[str, int]:
    """Delete what `problems` would report of offsets, labels and layers; table → rows deleted."""
    _prepare(conn)
    for _problem in _texts(conn):  # also fills in the lengths
        pass
    unfit = [(table, _outside(table)) for table in _WITH_OFFSETS]
    unfit += [(table, _mislabelled(table)) for table in _WITH_LABELS]
    unfit += [(table, _misplaced(table)) for table in _IN_LAYERS]
    deleted: dict[str, int] = {}
    for table, rest in (*unfit, ("suggestion", _UNFIT), ("relation", _UNCONNECTED)):
        count = conn.execute(f"delete from {table} where id in (select t.id {rest})").rowcount
        deleted[table] = deleted.get(table, 0) + count
    wrong = [id for id, _document in _tokens_that_do_not_fit(conn)]
    conn.executemany("delete from tokens where id = ?", ((id,) for id in wrong))
    return {**deleted, "tokens": len(wrong)}


def problems(conn: sqlite3.Connection) -> Iterator[str]:
    """Sentences about problems. `conn` must be allowed to create temporary tables."""
    _prepare(conn)
    yield from _texts(conn)
    for table in _WITH_OFFSETS:
        yield from _offsets(conn, table)
    yield from _tokens(conn)
    for table in _WITH_LABELS:
        yield from _labels(conn, table)
    for table in _IN_LAYERS:
        yield from _layers(conn, table)
    yield from _suggestions(conn)
    yield from _ends(conn)


def _prepare(conn: sqlite3.Connection) -> None:
    conn.execute(
        "create temp table text_length(document_id integer, field text, length integer,"
        " primary key (document_id, field)) without rowid"
    )
    conn.execute(
        "create temp table layer_texts as select id, name, kind, texts_of(cast(options as blob))"
        " as texts, table_of_kind(cast(kind as blob)) as holder from layer"
    )


def _texts(conn: sqlite3.Connection) -> Iterator[str]:
    """Check that the hash of each document matches its texts."""
    last = 0
    while page := conn.execute(
        "select id, key, text_hash, length, texts from document where id > ? order by id limit ?",
        (last, PAGE),
    ).fetchall():
        first, last = page[0][0], page[-1][0]
        texts: dict[int, list[tuple[str, str]]] = {}
        unreadable: set[int] = set()
        for id, field, kind, content in conn.execute(
            "select document_id, cast(field as text), typeof(content), cast(content as "
            "blob) from body"
            " where document_id between ? and ? order by id",
            (first, last),
        ).fetchall():
            decoded = _decoded(kind, content)
            if decoded is None:
                unreadable.add(id)
            else:
                texts.setdefault(id, []).append((field, decoded))
        for id, key, expected, length, form in page:
            have = tuple(texts.get(id, ()))
            lengths = [(id, field, len(content)) for field, content in have]
            conn.executemany("insert or replace into text_length values(?, ?, ?)", lengths)
            if (
                id in unreadable
                or (form_of(have), sum(row[2] for row in lengths)) != (form, length)
                or text_hash(have) != expected
            ):
                message = _(
                    "The text of document {id} ({key}) is not the one that was imported.",
                    id=id,
                    key=key,
                )
                yield message


def _decoded(kind: str, content: bytes) -> str | None:
    """The text, or None if it was not stored by `values.text_in`."""
    try:
        if kind == "text":
            return content.decode("utf-8")
        decoded = content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
    try:
        decoded.encode("utf-8")
    except UnicodeEncodeError:
        return decoded
    return None


def _offsets(conn: sqlite3.Connection, table: str) -> Iterator[str]:
    rows = conn.execute(
        f'select t.id, t.document_id, t.field, t.start, t."end", l.length {_outside(table)}'
        f" limit {SHOWN}"
    ).fetchall()
    for id, document, field, start, end, length in rows:
        if length is None:
            message = _(
                "Row {id} of {table} lies in a text {field!r} that document {document} "
                "does not have."
            )
        else:
            message = _(
                "Row {id} of {table} goes from {start} to {end}, which does not fit the text of "
                "document {document} (length {length})."
            )
        yield message.format(
            id=id, table=table, document=document, field=field, start=start, end=end, length=length
        )


def _tokens(conn: sqlite3.Connection) -> Iterator[str]:
    for id, document in islice(_tokens_that_do_not_fit(conn), SHOWN):
        message = _(
            "The tokens of document {document} (row {id}) do not fit its text.",
            document=document,
            id=id,
        )
        yield message


def _tokens_that_do_not_fit(conn: sqlite3.Connection) -> Iterator[tuple[int, int]]:
    for id, document, length, *stored in conn.execute(
        "select t.id, t.document_id, l.length, t.borders, t.sentences from tokens t left join"
        " text_length l on l.document_id = t.document_id and l.field = t.field"
    ):
        if not all(_in_order(each, length) for each in stored):
            yield id, document


def _in_order(stored: object, length: int | None) -> bool:
    """Whether offsets are ascending, without overlaps, within a text of `length` code points."""
    if stored is None:
        return True
    try:
        offsets = offsets_out(cast(bytes, stored))  # checked inside
    except ProjectError:
        return False
    last = 0
    for start, end in offsets:
        if not last <= start <= end:
            return False
        last = end
    return length is not None and last <= length


def _labels(conn: sqlite3.Connection, table: str) -> Iterator[str]:
    rows = conn.execute(f"select t.id, b.name {_mislabelled(table)} limit {SHOWN}").fetchall()
    for id, label in rows:
        yield _(
            "Row {id} of {table} has the label {label}, which belongs to another layer.",
            id=id,
            table=table,
            label=label,
        )


def _layers(conn: sqlite3.Connection, table: str) -> Iterator[str]:
    """Check that each row is in a layer of its kind that applies to the document."""
    rows = conn.execute(
        f"select t.id, y.name, t.document_id {_misplaced(table)} limit {SHOWN}"
    ).fetchall()
    for id, layer, document in rows:
        message = _(
            "Row {id} of {table} lies in the layer {layer}, which does not fit it or document "
            "{document}.",
            id=id,
            table=table,
            layer=layer,
            document=document,
        )
        yield message


def _ends(conn: sqlite3.Connection) -> Iterator[str]:
    """Check that each relation connects two spans of one layer of its document."""
    rows = conn.execute(f"select t.id, t.document_id {_UNCONNECTED} limit {SHOWN}").fetchall()
    for id, document in rows:
        message = _(
            "The relation {id} does not connect two spans of document {document}.",
            id=id,
            document=document,
        )
        yield message


def _suggestions(conn: sqlite3.Connection) -> Iterator[str]:
    """Check that spans, neither classes nor relations, have offsets, each in a layer of its kind.

    Suggested answers to questions may be either: ranges of the text, or that there is none.
    """
    rows = conn.execute(f"select t.id, t.document_id {_UNFIT} limit {SHOWN}").fetchall()
    for id, document in rows:
        message = _(
            "The suggestion {id} of document {document} does not fit its layer.",
            id=id,
            document=document,
        )
        yield message
