"""Documents and labels of another project file, which is attached as `staging`.

Temporary tables map its ids to those of this project: `other_document`, `other_layer`,
`other_label`, `other_person`. `version` lists what is copied: the labels of one person in one layer
of one document, with ids of both files.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.base.watch import QUIET, Watch
from workbench.storage.annotation.relations import (
    drop_equal_relations,
    drop_equal_undirected,
    hand_over,
)
from workbench.storage.documents.flags import REVIEWS
from workbench.storage.labels import guidelines
from workbench.storage.queries import search
from workbench.storage.schema.migrations import JOURNALED
from workbench.storage.schema.tables import IS_READ_ONLY, TABLES
from workbench.storage.schema.values import now
from workbench.storage.schema.without_triggers import without_triggers
from workbench.text.labels import ANSWERS, LABEL_TABLES, LAYER_KINDS, READ_ONLY

if TYPE_CHECKING:
    from workbench.storage.connections.database import Database

CHUNK = 1_000  # documents per statement; a merge can be cancelled between two
UID, KEY, TEXT, NEW = "uid", "key", "text", "new"  # how a document is matched

_TABLES = {
    "other_document": "oid integer primary key, id integer unique, how text",
    "other_layer": "oid integer primary key, id integer",
    "other_label": "oid integer primary key, id integer",
    "other_person": "oid integer primary key, id integer, source integer",
    "version": "document integer, layer integer, person integer, document_id integer,"
    " layer_id integer, annotator_id integer, there integer default 0,"
    " primary key (document, layer, person)) without rowid",
    "span_id": "oid integer primary key, id integer",
    "former_span": "id integer primary key, newer integer",
    "deletion": "document integer, layer integer, person integer, at text,"
    " primary key (document, layer, person)) without rowid",
    "replaced": "document_id integer, annotator_id integer,"
    " primary key (document_id, annotator_id)) without rowid",
}
_ON_SPANS = {"relation": ("from_span", "to_span"), "note": ("span_id",), "flag": ("span_id",)}
WHERE = {  # the rows of a version, in the other file and in this one
    "staging": "s.document_id = v.document and s.layer_id = v.layer and s.annotator_id = v.person",
    "main": "s.document_id = v.document_id and s.layer_id = v.layer_id"
    " and s.annotator_id = v.annotator_id",
}
_IN_CHAINS = "kind in ({})".format(
    ", ".join(f"'{kind.id}'" for kind in LAYER_KINDS.values() if kind.in_chains)
)
_ASKS = "y.kind in ({})".format(
    ", ".join(f"'{kind.id}'" for kind in LAYER_KINDS.values() if kind.asks)
)
RANGE = "v.document between :first and :last"


@dataclass(frozen=True)
class Matches:
    """How the documents of the other file were found here.

    counts: by UID, KEY and TEXT, and NEW for those that are not here. changed: keys of documents
    whose text differs here; their labels are not taken.
    """

    counts: Mapping[str, int] = field(hash=False)
    changed: tuple[str, ...]


def prepare(
    db: Database,
    layers: Mapping[int, int],
    labels: Mapping[int, int],
    people: Mapping[int, tuple[int, int]],
) -> None:
    """Fill the maps of ids; `people`: id there → id and source here. Requires `attached`."""
    conn = db.writer
    for name, columns in _TABLES.items():
        conn.execute(f"drop table if exists temp.{name}")
        end = "" if columns.endswith("rowid") else ")"
        conn.execute(f"create temp table {name}({columns}{end}")
    here = "document_id, layer_id, annotator_id"
    conn.execute(f"create index temp.version_here on version({here})")
    for table, ids in (("other_layer", layers), ("other_label", labels)):
        conn.executemany(f"insert into temp.{table} values(?, ?)", ids.items())
    rows = [(other, *here) for other, here in people.items()]
    conn.executemany("insert into temp.other_person values(?, ?, ?)", rows)


def match(db: Database, *, add: bool = True) -> Matches:
    """Fill `other_document`: the same uid, else the same key, else only the same text.

    The text must be equal in any case. add: documents that are not here get new ids.
    """
    conn = db.writer
    for how, same in ((UID, "d.uid = o.uid and "), (KEY, "d.key = o.key and "), (TEXT, "")):
        conn.execute(
            "insert or ignore into temp.other_document select o.id, d.id, ? from"
            f" staging.document o join main.document d on {same}d.text_hash = o.text_hash"
            " where o.id not in (select oid from temp.other_document)"
            " and d.id not in (select id from temp.other_document) order by o.id, d.id",
            (how,),
        )
    changed = conn.execute(
        "select o.key from staging.document o join main.document d on d.uid = o.uid"
        " where o.id not in (select oid from temp.other_document) order by o.id"
    ).fetchall()
    unmatched = (
        "from staging.document o where o.id not in (select oid from temp.other_document)"
        " and o.uid not in (select uid from main.document)"
    )
    if add:
        (last,) = conn.execute(
            "select max(ifnull((select max(id) from main.document), 0), ifnull((select seq from"
            " main.sqlite_sequence where name = 'document'), 0))"
        ).fetchone()
        conn.execute(
            "insert into temp.other_document"
            f" select o.id, ? + row_number() over (order by o.id), ? {unmatched} order by o.id",
            (last, NEW),
        )
    rows = conn.execute("select how, count(*) from temp.other_document group by how").fetchall()
    counts = {**dict.fromkeys((UID, KEY, TEXT, NEW), 0), **dict(rows)}
    if not add:
        (counts[NEW],) = conn.execute(f"select count(*) {unmatched}").fetchone()
    return Matches(counts, tuple(key for (key,) in changed))


IS_OPEN = "s.start is null and s.text is null and not s.is_null"  # a question without an answer
IS_HERE = (
    "exists (select 1 from main.answer m where m.document_id = {document} and m.layer_id = {layer}"
    " and m.question = s.question and m.attrs is s.attrs)"
)
IS_THERE = (
    "exists (select 1 from staging.answer m where m.document_id = v.document"
    " and m.layer_id = v.layer and m.annotator_id = v.person"
    " and m.question = s.question and m.attrs is s.attrs)"
)
_LABELLED = {  # the rows that make a version; of other tables all
    "state": " where s.state != 'pending'",
    "answer": f" where not ({IS_OPEN} and {IS_HERE.format(document='d.id', layer='y.id')})",
}


def find_versions(db: Database) -> None:
    """Fill `version` with everything that the mapped people labelled in mapped layers.

    Open questions that are here too, of anybody, are no labels: each person gets a copy of them.
    """
    conn = db.writer
    for table in ("state", *LABEL_TABLES):
        more = _LABELLED.get(table, "")
        conn.execute(
            "insert or ignore into temp.version"
            " select distinct s.document_id, s.layer_id, s.annotator_id, d.id, y.id, p.id, 0"
            f" from staging.{table} s join temp.other_document d on d.oid = s.document_id"
            " join temp.other_layer y on y.oid = s.layer_id"
            f" join temp.other_person p on p.oid = s.annotator_id{more}"
        )
    for table in ("state", *LABEL_TABLES):
        conn.execute(
            "update temp.version as v set there = 1 where not there and exists"
            f" (select 1 from main.{table} s where {WHERE['main']})"
        )


def leave_out_context(db: Database, *, mentions: bool) -> None:
    """Take out of `version` what was only handed out: layers that are read-only there, and, with
    `mentions`, those of documents that were not begun.
    """
    begun = "s.document_id = v.document and s.layer_id = v.layer and s.annotator_id = v.person"
    db.writer.execute(
        "delete from temp.version as v where layer in"
        f" (select id from staging.layer where {IS_READ_ONLY}) or ? and layer in (select id from"
        f" staging.layer where {_IN_CHAINS}) and not exists (select 1 from staging.state s where"
        f" {begun} and s.state != 'pending')",
        (mentions,),
    )


_MERGED = " or ".join(
    f"exists (select 1 from main.{table} r join main.source c on c.id = r.source_id"
    " where r.document_id = m.document_id and r.layer_id = m.layer_id"
    " and r.annotator_id = m.annotator_id and c.kind = 'merge')"
    for table in LABEL_TABLES
)
_MISSING = (
    "from temp.other_layer y cross join main.state m on m.layer_id = y.id"
    " and m.annotator_id in (select value from json_each(:people))"
    " join temp.other_document d on d.id = m.document_id join staging.layer l on l.id = y.oid"
    " join temp.other_person p on p.id = m.annotator_id"
    f" where m.state != 'pending' and not {IS_READ_ONLY} and not exists (select 1"
    " from temp.version v where v.document_id = m.document_id and v.layer_id = m.layer_id"
    f" and v.annotator_id = m.annotator_id) and ({_MERGED})"
)
_DELETED = " union all ".join(
    "select j.c{document_id} as document, j.c{layer_id} as layer, j.c{annotator_id} as person, h.at"
    " from staging.journal_row j join staging.journal_step h on h.id = j.step_id"
    " where j.tbl = '{table}' and j.op = 'insert'".format(
        table=table, **{name: number for number, name in enumerate(TABLES[table])}
    )
    for table in ("state", *LABEL_TABLES)
)


def find_removed(db: Database, people: Iterable[int]) -> int:
    """Add what these people, ids here, have removed in the other file to `version`.

    These are labels that came here by a merge and of which nothing is left in the other file,
    though it has their documents and layers, if its history tells that they were deleted. Returns
    the number of those of which it does not.
    """
    values = {"people": json.dumps(list(people))}
    conn = db.writer
    conn.execute(
        "insert into temp.deletion select document, layer, person, max(at)"
        f" from ({_DELETED}) where person is not null group by 1, 2, 3"
    )
    conn.execute(
        "insert into temp.version select d.oid, y.oid, p.oid, m.document_id, m.layer_id,"
        f" m.annotator_id, 1 {_MISSING} and exists (select 1 from temp.deletion r where"
        " r.document = d.oid and r.layer = y.oid and r.person = p.oid)",
        values,
    )
    return int(conn.execute(f"select count(*) {_MISSING}", values).fetchone()[0])


def map_spans(db: Database) -> None:
    """Fill `span_id`, which relations, notes and flags of the other file need. Call it again after
    versions are left out, before they are copied.
    """
    conn = db.writer
    conn.execute("delete from temp.span_id")
    if any(
        conn.execute(f"select 1 from staging.{table} where {end} is not null limit 1").fetchone()
        for table, (end, *_more) in _ON_SPANS.items()
    ):
        _map_ends(conn, _highest(conn, "span"))


def lost_relations(db: Database) -> int:
    """Number of relations in `version` of which a span is not here and is not copied."""
    (lost,) = db.writer.execute(
        f"select count(*) {_OF_VERSION.format(table='relation')}"
        " where s.from_span not in (select oid from temp.span_id)"
        " or s.to_span not in (select oid from temp.span_id)"
    ).fetchone()
    return int(lost)


def leave_out(db: Database, replaced: Iterable[tuple[int, int]]) -> dict[tuple[int, bool], int]:
    """Take the versions that are in both files out of `version`, except of these: (document,
    person), ids here. Returns person, and whether they are in it still → how many are in both.
    """
    conn = db.writer
    conn.executemany("insert into temp.replaced values(?, ?)", replaced)
    is_replaced = "(document_id, annotator_id) in (select * from temp.replaced)"
    rows = conn.execute(
        f"select annotator_id, {is_replaced}, count(*) from temp.version where there group by 1, 2"
    ).fetchall()
    conn.execute(f"delete from temp.version where there and not {is_replaced}")
    return {(person, bool(stays)): n for person, stays, n in rows}


def counts(db: Database) -> dict[tuple[int, int], tuple[int, int]]:
    """(layer, person), ids of this project → versions that are new, and that replace one here."""
    rows = db.writer.execute(
        "select layer_id, annotator_id, count(*) - sum(there), sum(there) from temp.version"
        " group by layer_id, annotator_id"
    )
    return {(layer, person): (new, again) for layer, person, new, again in rows.fetchall()}


# ---------------------------------------------------------------- copying

_DOCUMENTS = {
    "document": "insert into main.document(id, uid, key, split, fold_group, meta,"
    " batch_source_id, text_hash, length, texts) select d.id, s.uid, ifnull(k.key, s.key),"
    " {split}, s.fold_group, s.meta, :source, s.text_hash, s.length, s.texts"
    " from staging.document s join temp.other_document d on d.oid = s.id"
    " left join temp.other_key k on k.oid = s.id",
    "body": "insert into main.body(document_id, field, content) select d.id, s.field, s.content"
    " from staging.body s join temp.other_document d on d.oid = s.document_id",
    "tokens": "insert into main.tokens(document_id, field, borders, sentences) select d.id,"
    " s.field, s.borders, s.sentences from staging.tokens s"
    " join temp.other_document d on d.oid = s.document_id",
}
_OF_VERSION = (
    f"from temp.version v cross join staging.{{table}} s on {WHERE['staging']}"
    " join temp.other_person p on p.oid = v.person"
)
_LABEL = "left join temp.other_label l on l.oid = s.label_id"
_WHO = "v.annotator_id, p.source, s.score"
_ONCE = (  # two labels there can be one here
    " group by v.document, v.layer, v.person, l.id, s.value order by min(s.id)"
)
AT = (  # before the merge, also if it was a moment ago or the other clock is ahead
    "ifnull(min(s.at, (select strftime('%Y-%m-%dT%H:%M:%SZ', c.at, '-1 second') from main.source c"
    " where c.id = p.source and c.kind = 'merge')), s.at)"
)
_LABELS = {
    "mark": "insert into main.mark(document_id, layer_id, label_id, value, annotator_id, source_id,"
    f" score) select v.document_id, v.layer_id, l.id, s.value, {_WHO} {_OF_VERSION} {_LABEL}",
    "span": "insert into main.span(id, uid, document_id, field, layer_id, label_id, start,"
    ' "end", parts, attrs, group_id, annotator_id, source_id, score) select s.id + :spans, s.uid,'
    ' v.document_id, s.field, v.layer_id, l.id, s.start, s."end", s.parts, s.attrs, s.group_id,'
    f" {_WHO} {_OF_VERSION} {_LABEL}",
    "relation": "insert into main.relation(uid, document_id, layer_id, label_id, from_span,"
    " to_span, attrs, annotator_id, source_id, score) select s.uid, v.document_id, v.layer_id,"
    f" l.id, f.id, t.id, s.attrs, {_WHO} {_OF_VERSION} {_LABEL}"
    " join temp.span_id f on f.oid = s.from_span join temp.span_id t on t.oid = s.to_span",
    "answer": "insert into main.answer(document_id, layer_id, question, field, start,"
    ' "end", text, is_null, attrs, annotator_id, source_id, score) select v.document_id,'
    ' v.layer_id, s.question, s.field, s.start, s."end", s.text, s.is_null, s.attrs,'
    f" {_WHO} {_OF_VERSION}",
    "state": "insert into main.state(document_id, layer_id, annotator_id, state, at) select"
    f" v.document_id, v.layer_id, v.annotator_id, s.state, {AT} {_OF_VERSION}",
}


def copy(
    db: Database,
    *,
    source_id: int,
    keys: Mapping[int, str],
    splits: bool = True,
    watch: Watch = QUIET,
) -> None:
    """Copy the new documents and all of `version`; requires an edit with `bulk`, `map_spans` and
    `deleted_relations`.

    keys: other keys for new documents, by id there. splits: with their splits. Versions that are
    here already are replaced. What others have on the former spans, such as relations, goes to the
    newer ones.
    """
    conn = db.writer
    conn.execute("create temp table if not exists other_key(oid integer primary key, key text)")
    conn.execute("delete from temp.other_key")
    conn.executemany("insert into temp.other_key values(?, ?)", keys.items())
    highest = {table: _highest(conn, table) for table in ("body", "span", *LABEL_TABLES)}
    values = {"source": source_id, "spans": highest["span"]}
    # The edit is a bulk step, which journals the new rows at its end: none has the id of another.
    with without_triggers(conn, "insert", JOURNALED, (search.ADD_TRIGGER,)):
        split = "s.split" if splits else "null"
        for table, statement in _DOCUMENTS.items():
            column = "id" if table == "document" else "document_id"
            for some in _pages(conn, f"document where how = '{NEW}'", watch.part(0.0, 0.3)):
                conn.execute(
                    f"{statement.format(split=split)} where d.how = '{NEW}'"
                    f" and s.{column} between :first and :last order by s.id",
                    {**values, **some},
                )
        new = highest["body"] + 1, _highest(conn, "body")
        texts = search.stored_texts(conn, *new, watch.part(0.3, 0.6))
        search.add_texts(conn, texts, new[1] - new[0] + 1)
        for table in ("span", "mark", "answer"):
            for some in _pages(conn, "document", watch.part(0.6, 0.7)):
                once = _ONCE if table == "mark" else ""
                conn.execute(
                    f"{_LABELS[table].format(table=table)} where {RANGE}{once}",
                    {**values, **some},
                )
        _insert(conn, "relation", "1")
        _insert(conn, "state", f"not exists (select 1 from main.state s where {WHERE['main']})")
    conn.execute(
        f"update main.state as m set state = s.state, at = {AT}"
        f" {_OF_VERSION.format(table='state')} where v.there and m.document_id = v.document_id"
        " and m.layer_id = v.layer_id and m.annotator_id = v.annotator_id"
    )
    conn.execute(
        "delete from main.state where id in (select s.id from temp.version v cross join main.state"
        f" s on {WHERE['main']} where v.there and not exists (select 1 from staging.state s where"
        f" {WHERE['staging']}))"
    )
    _delete_replaced(conn, highest)
    _delete_equal(db, highest["span"])
    watch.at(1.0)


def _delete_equal(db: Database, highest: int) -> None:
    """Delete equal spans of two labels that are one here, and relations that became equal."""
    conn = db.writer
    count = "select count(*) > count(distinct id) from temp.other_label"
    if conn.execute(count).fetchone()[0]:
        twins = conn.execute(
            "select id, first from (select id, min(id) over (partition by document_id, layer_id,"
            ' annotator_id, label_id, field, start, "end", parts, group_id) as first'
            " from main.span where id > ?) where id != first",
            (highest,),
        ).fetchall()
        hand_over(db, twins)
        conn.executemany("update temp.span_id set id = ?2 where id = ?1", twins)
        for id, _first in twins:
            conn.execute("delete from main.span where id = ?", (id,))
    newer = [id for (id,) in conn.execute("select distinct newer from temp.former_span") if id]
    if newer:
        drop_equal_relations(db, newer)
    drop_equal_undirected(db, [id for (id,) in conn.execute("select id from temp.other_layer")])


def _insert(conn: sqlite3.Connection, table: str, condition: str) -> None:
    conn.execute(f"{_LABELS[table].format(table=table)} where {condition}")


def _map_ends(conn: sqlite3.Connection, shift: int) -> None:
    """Spans that are copied, else those here that are the same, else at the same place."""
    conn.execute(
        "insert or ignore into temp.span_id select s.id, s.id + ?"
        f" {_OF_VERSION.format(table='span')}",
        (shift,),
    )
    ends = " union ".join(
        f"select {end} as id from staging.{table}"
        for table, columns in _ON_SPANS.items()
        for end in columns
    )
    for same in (
        "m.uid = s.uid",
        'm.start = s.start and m."end" = s."end" and m.field = s.field and m.label_id = l.id'
        " and m.parts is s.parts",
    ):
        conn.execute(
            "insert or ignore into temp.span_id select s.id, m.id"
            f" from ({ends}) e join staging.span s on s.id = e.id"
            " join temp.other_document d on d.oid = s.document_id"
            " join temp.other_layer y on y.oid = s.layer_id"
            " join temp.other_person p on p.oid = s.annotator_id"
            " join temp.other_label l on l.oid = s.label_id"
            " join main.span m on m.document_id = d.id and m.layer_id = y.id"
            f" and m.annotator_id = p.id and {same}"
            " where e.id not in (select oid from temp.span_id)"
        )


def _find_newer(conn: sqlite3.Connection) -> None:
    """Fill `former_span` with the spans of the versions that will be replaced.

    `newer` is the id of the newer span in the other file: the one with the same uid, else at the
    same place; null without one.
    """
    conn.execute("delete from temp.former_span")
    conn.execute(
        "insert into temp.former_span select id, newer from (select m.id as id, s.id as newer,"
        " row_number() over (partition by m.id order by s.uid = m.uid desc,"
        " l.id is m.label_id desc, s.id) as rank from temp.version v cross join main.span m"
        " on m.document_id = v.document_id and m.layer_id = v.layer_id"
        f" and m.annotator_id = v.annotator_id left join staging.span s on {WHERE['staging']}"
        ' and (s.uid = m.uid or s.field = m.field and s.start = m.start and s."end" = m."end"'
        " and s.parts is m.parts) left join temp.other_label l on l.oid = s.label_id"
        " where v.there) where rank = 1"
    )


_OF_OTHERS = (
    "not exists (select 1 from temp.version v where v.there and v.document_id = r.document_id"
    " and v.layer_id = r.layer_id and v.annotator_id = r.annotator_id)"
)


def deleted_relations(db: Database) -> int:
    """Number of relations that are deleted since the newer version of others lacks their span, or
    has one span in place of both.
    """
    _find_newer(db.writer)
    ends = "r.from_span = f.id or r.to_span = f.id"
    (deleted,) = db.writer.execute(
        "select count(distinct r.id) from temp.former_span f cross join main.relation r"
        f" on {ends} left join temp.former_span a on a.id = r.from_span"
        " left join temp.former_span b on b.id = r.to_span"
        f" where (f.newer is null or a.newer = b.newer) and {_OF_OTHERS}"
    ).fetchone()
    return int(deleted)


def _delete_replaced(conn: sqlite3.Connection, highest: Mapping[str, int]) -> None:
    """Delete the former rows of the versions that were copied again.

    What others have on a span goes to the newer one, as new rows: undo deletes the newer spans with
    all rows that refer to them. Without a newer span, a relation is deleted, see
    `deleted_relations`, and a note or flag becomes one on the document.
    """
    conn.execute("update temp.former_span set newer = newer + ?", (highest["span"],))
    for table, ends in _ON_SPANS.items():
        several = len(ends) > 1
        newer = {end: f"ifnull({end}_f.newer, r.{end})" for end in ends}
        columns = [name for name in TABLES[table] if name != "id"]
        joins = " ".join(
            f"left join temp.former_span {end}_f on {end}_f.id = {end}" for end in ends
        )
        conn.execute(
            f"insert into main.{table}({', '.join(columns)})"
            f" select {', '.join(newer.get(name, f'r.{name}') for name in columns)}"
            f" from main.{table} r {joins} where ({' or '.join(f'{end}_f.id' for end in ends)})"
            + "".join(f" and ifnull({end}_f.newer, {end}_f.id is null)" for end in ends)
            + (f" and {' != '.join(newer.values())} and {_OF_OTHERS}" if several else "")
        )
        if not several:
            conn.execute(
                f"update main.{table} set span_id = null where span_id in"
                " (select id from temp.former_span where newer is null)"
            )
        for end in ends:  # foreign keys are not enforced here
            conn.execute(
                f"delete from main.{table} where {end} in (select id from temp.former_span)"
            )
    _hand_over_suggestions(conn, highest["answer"])
    for table in ("relation", "mark", "answer", "span"):
        more = f" and not ({IS_OPEN} and not {IS_THERE})" if table == "answer" else ""
        conn.execute(
            f"delete from main.{table} where id in (select s.id from temp.version v"
            f" cross join main.{table} s on {WHERE['main']} where v.there and s.id <= ?{more})",
            (highest[table],),
        )


def _hand_over_suggestions(conn: sqlite3.Connection, highest: int) -> None:
    """Suggestions of answers go to the newer rows of their questions, see `storage.answers`;
    those of questions that are not in the newer version are deleted.
    """
    first = (
        "select min(m.id) from main.answer o join main.answer m on m.document_id = o.document_id"
        " and m.layer_id = o.layer_id and m.annotator_id = o.annotator_id"
        " and m.question = o.question and m.attrs is o.attrs and m.id > ?1 where o.id = g.value"
    )
    conn.execute("drop table if exists temp.handed_over")
    conn.execute(
        f"create temp table handed_over as select g.id as id, cast(({first}) as real) as value"
        " from temp.version v cross join main.suggestion g on g.document_id = v.document_id"
        " and g.layer_id = v.layer_id join main.answer a on a.id = g.value"
        " and a.annotator_id = v.annotator_id and a.document_id = v.document_id"
        " and a.layer_id = v.layer_id join main.layer y on y.id = v.layer_id"
        f" where v.there and {_ASKS} and a.id <= ?1",
        (highest,),
    )
    conn.execute(
        "update main.suggestion as g set value = n.value from temp.handed_over n"
        " where n.id = g.id and n.value is not null"
    )
    conn.execute(
        "delete from main.suggestion where id in (select h.id from temp.handed_over h"
        " join main.suggestion g on g.id = h.id join main.answer s on s.id = g.value"
        f" where h.value is null and not ({IS_OPEN}))"
    )


_REMARKS_PLACE = (
    "join temp.other_document d on d.oid = s.document_id"
    " left join temp.other_person p on p.oid = s.annotator_id"
    " left join temp.span_id e on e.oid = s.span_id"
)
_REMARKS = {  # table → its columns, their values, and the rows that are not here
    "note": (
        "uid, document_id, body, annotator_id, at, span_id",
        "s.uid, d.id, s.body, p.id, s.at, e.id",
        f"from staging.note s {_REMARKS_PLACE} where s.uid not in (select uid from main.note)",
    ),
    "flag": (
        "document_id, name, annotator_id, at, span_id",
        "d.id, s.name, p.id, s.at, e.id",
        f"from staging.flag s {_REMARKS_PLACE}"
        f" where substr(s.name, 1, {len(REVIEWS)}) != '{REVIEWS}' and not exists (select 1 from"
        " main.flag f left join temp.former_span o on o.id = f.span_id where f.document_id = d.id"
        " and f.name = s.name and f.annotator_id is p.id"
        " and (f.span_id is e.id or o.newer + {shift} = e.id))",
    ),
}


def remarks(db: Database) -> int:
    """Number of notes and flags that are not here yet. Requires `map_spans` and
    `deleted_relations`.
    """
    conn = db.writer
    shift = _highest(conn, "span")
    return sum(
        conn.execute(f"select count(*) {rows.format(shift=shift)}").fetchone()[0]
        for _columns, _values, rows in _REMARKS.values()
    )


def copy_remarks(db: Database) -> None:
    """Copy notes and flags of people that are not here yet."""
    for table, (columns, values, rows) in _REMARKS.items():
        db.writer.execute(
            f"insert into main.{table}({columns}) select {values} {rows.format(shift=0)}"
        )


def taken_keys(db: Database) -> dict[int, str]:
    """New documents whose key another document here has: id there → key."""
    rows = db.writer.execute(
        "select o.id, o.key from staging.document o join temp.other_document d on d.oid = o.id"
        f" where d.how = '{NEW}' and o.key in (select key from main.document) order by o.id"
    )
    return dict(rows.fetchall())


def _pages(conn: sqlite3.Connection, which: str, watch: Watch) -> Iterator[dict[str, int]]:
    ids = [id for (id,) in conn.execute(f"select oid from temp.other_{which} order by oid")]
    for page in watch.over(ids, CHUNK):
        yield {"first": page[0], "last": page[-1]}


def _highest(conn: sqlite3.Connection, table: str) -> int:
    return int(conn.execute(f"select ifnull(max(id), 0) from main.{table}").fetchone()[0])


# ---------------------------------------------------------------- a part of a project


_EDITABLE = f"nullif(json_remove(options, '$.{READ_ONLY}'), '{{}}')"


def copy_schema(db: Database, gold: int) -> None:
    """Copy layers, with their guidelines, labels and patterns, by id, into an empty project. None
    is read-only there.
    """
    conn = db.writer
    for table in ("layer", "label", "pattern"):
        columns = [f'"{name}"' for name in TABLES[table]]
        other = {'"gold"': str(int(gold)), '"options"': _EDITABLE}
        values = [other.get(name, name) if table == "layer" else name for name in columns]
        conn.execute(
            f"insert into main.{table}({', '.join(columns)})"
            f" select {', '.join(values)} from staging.{table} order by id"
        )
    guidelines.copy_all(db)


def schema_ids(db: Database) -> tuple[dict[int, int], dict[int, int]]:
    """The ids of layers and of labels, as maps to themselves."""
    layers, labels = (
        {id: id for (id,) in db.writer.execute(f"select id from main.{table}")}
        for table in ("layer", "label")
    )
    return layers, labels


def choose(db: Database, ids: Sequence[int]) -> None:
    """Fill `other_document` with these documents, which keep their ids in an empty project."""
    db.writer.executemany(
        "insert or ignore into temp.other_document values(?1, ?1, ?2)", ((id, NEW) for id in ids)
    )


def copy_questions(db: Database, person: int, source_id: int) -> None:
    """Give a person the questions of gold about these documents, without their answers.

    Requires that the labels of the person are copied: their questions are not copied again.
    """
    kinds = ", ".join(f"'{kind.id}'" for kind in LAYER_KINDS.values() if kind.record == ANSWERS)
    db.writer.execute(
        "insert into main.answer(document_id, layer_id, question, field, is_null, attrs,"
        " annotator_id, source_id) select d.id, s.layer_id, s.question, s.field, 0, s.attrs, ?, ?"
        " from staging.answer s join temp.other_document d on d.oid = s.document_id"
        " join staging.layer y on y.id = s.layer_id and y.gold = s.annotator_id"
        f" where y.kind in ({kinds}) and not exists (select 1 from main.answer m"
        " where m.document_id = d.id and m.layer_id = s.layer_id and m.question = s.question"
        " and m.attrs is s.attrs)"
        " group by d.id, s.layer_id, s.question, s.attrs order by min(s.id)",
        (person, source_id),
    )


def copy_mentions(db: Database, layer_id: int, gold: int, person: int, source_id: int) -> None:
    """Give a person the gold spans of a layer of chains, each in a chain of its own, in documents
    in which the person has none. Requires that the labels of the person are copied.
    """
    db.writer.execute(
        'insert into main.span(uid, document_id, field, layer_id, label_id, start, "end", parts,'
        " group_id, annotator_id, source_id) select lower(hex(randomblob(8))), d.id, s.field,"
        ' s.layer_id, s.label_id, s.start, s."end", s.parts, row_number() over (partition by d.id'
        ' order by s.start, s."end", s.id), ?, ? from staging.span s'
        " join temp.other_document d on d.oid = s.document_id"
        " where s.layer_id = ? and s.annotator_id = ? and d.id not in"
        " (select document_id from main.span where layer_id = ? and annotator_id = ?)"
        " order by d.id, s.start, s.id",
        (person, source_id, layer_id, gold, layer_id, person),
    )


def leave_out_split(db: Database, split: str, person: int) -> None:
    """Take a person's versions of documents of this split out of `version`."""
    db.writer.execute(
        "delete from temp.version where person = ? and document in"
        " (select id from staging.document where split = ?)",
        (person, split),
    )


def leave_out_others(db: Database, person: int, context: Mapping[int, int]) -> None:
    """Of others than this person, leave only the context in `version`: layer → annotator."""
    db.writer.execute(
        "delete from temp.version where person != ? and not exists (select 1 from json_each(?)"
        " where cast(key as integer) = layer and value = person)",
        (person, json.dumps(context)),
    )


def submit_all(db: Database, layer_id: int, annotator_id: int) -> None:
    """Submit all documents of an annotator in a layer, also those without a label."""
    key = layer_id, annotator_id
    where = "layer_id = ? and annotator_id = ?"
    db.writer.execute(f"update main.state set state = 'submitted' where {where}", key)
    db.writer.execute(
        "insert into main.state(document_id, layer_id, annotator_id, state, at)"
        " select id, ?, ?, 'submitted', ? from main.document where id not in"
        f" (select document_id from main.state where {where}) order by id",
        (*key, now(), *key),
    )
