"""Copies staged imports into the project by SQL, from the staging file attached to the writer's
connection.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.watch import QUIET, Watch
from workbench.storage.annotation.relations import ends_in_order
from workbench.storage.connections import failures
from workbench.storage.queries import search
from workbench.storage.schema import foreign_keys
from workbench.storage.schema.tables import JOURNALED
from workbench.storage.schema.values import ids_in, new_uid, text_out
from workbench.storage.schema.without_triggers import without_triggers
from workbench.storage.staging.staging import STATE_NAME
from workbench.text.labels import LABEL_TABLES

if TYPE_CHECKING:
    from workbench.storage.connections.database import Database

_COPYING = 0.7  # share of the copy in the work; the rest is the full-text index
CHUNK = 1_000  # rows copied per statement; an import can be cancelled between two statements

_PERSON = "ifnull(t.person, y.gold)"
_TAKEN = "join temp.taken t on t.seq = s.seq"
_LABELLED = "join temp.labelled t on t.seq = s.seq"
_OF_LAYER = f"{_LABELLED} join temp.layer_id y on y.n = s.layer"
_OF_FILE = f"{_OF_LAYER} join temp.file_source f on f.file = t.file"
_OF_LABEL = (
    f"{_OF_LAYER} join temp.label_id l on l.n = s.label join temp.file_source f on f.file = t.file"
)
# a staging file is only appended to, so its rowids have no gaps
_RANGE = "where s.rowid between :first and :last order by s.rowid"
_COPY = {
    "doc": "insert into document(id, uid, key, split, fold_group, meta, batch_source_id, "
    "text_hash, length, texts)"
    " select t.id, :uid || printf('%07x', t.id & 0xfffffff), ifnull(k.key, s.key), s.split, "
    "s.fold_group, s.meta, f.source, s.text_hash, s.length, s.texts"
    f" from staging.doc s {_TAKEN} join temp.file_source f on f.file = s.file left join "
    f"temp.new_key k on k.seq = s.seq {_RANGE}",
    "body": (
        f"insert into body(document_id, field, content) select t.id, s.field, s.content from "
        f"staging.body s {_TAKEN} {_RANGE}"
    ),
    "tokens": (
        f"insert into tokens(document_id, field, borders) select t.id, s.field, s.borders "
        f"from staging.tokens s {_TAKEN} {_RANGE}"
    ),
    "state": "insert into state(document_id, layer_id, annotator_id, state, at)"
    f" select t.id, y.id, {_PERSON}, {STATE_NAME}, :at from staging.state s {_OF_LAYER} {_RANGE}",
    "mark": "insert into mark(document_id, layer_id, label_id, annotator_id, source_id)"
    f" select t.id, y.id, l.id, {_PERSON}, f.source from staging.mark s {_OF_LABEL} {_RANGE}",
    "number": "insert into mark(document_id, layer_id, value, annotator_id, source_id)"
    f" select t.id, y.id, s.value, {_PERSON}, f.source from staging.number s {_OF_FILE} {_RANGE}",
    "written": "insert into answer(document_id, layer_id, question, text, annotator_id, source_id)"
    f" select t.id, y.id, '', s.content, {_PERSON}, f.source from staging.written s {_OF_FILE}"
    f" {_RANGE}",
    # a span's id is the number of its row after the highest id, so that relations find it
    "span": 'insert into span(id, uid, document_id, field, layer_id, label_id, start, "end", '
    "parts, group_id, annotator_id, source_id)"
    " select :spans + s.rowid, lower(hex(randomblob(8))), t.id, s.field, y.id, l.id, s.start,"
    f' s."end", s.parts, s.chain, {_PERSON}, f.source from staging.span s {_OF_LABEL} {_RANGE}',
    "relation": "insert into relation(uid, document_id, layer_id, label_id, from_span, to_span, "
    "annotator_id, source_id)"
    " select lower(hex(randomblob(8))), t.id, y.id, l.id, :spans + s.from_row,"
    f" :spans + s.to_row, {_PERSON}, f.source from staging.relation s {_OF_LABEL} {_RANGE}",
    **{
        table: f"insert into {table}({uid}document_id, {text}, annotator_id, at, span_id) select"
        f" {new}t.id, s.text, ifnull(t.person, :annotator), :at, :spans + s.span_row from"
        f" staging.{table} s {_LABELLED} {_RANGE}"
        for table, text, uid, new in (
            ("note", "body", "uid, ", "lower(hex(randomblob(8))), "),
            ("flag", "name", "", ""),
        )
    },
    "answer": 'insert into answer(document_id, layer_id, question, field, start, "end", is_null, '
    'attrs, annotator_id, source_id) select t.id, y.id, s.question, s.field, s.start, s."end", '
    f"s.is_null, s.attrs, {_PERSON}, f.source from staging.answer s {_OF_LAYER}"
    f" join temp.file_source f on f.file = t.file {_RANGE}",
}

_OF_LAYERS = ("state", "mark", "number", "written", "span", "relation", "answer")  # staged


@contextmanager
def attached(db: Database, path: Path) -> Iterator[None]:
    """Attach the staging file to the writer as database `staging`.

    Enter it before the edit begins: SQLite cannot attach a database within a transaction. Raises
    ProjectBusy if another thread is writing. Foreign keys are not checked meanwhile: rows are
    copied with ids that the import has just created or looked up, and none is deleted.
    """
    with foreign_keys.unchecked(db):
        with failures.explained(path, writing=False):
            db.writer.execute("attach ? as staging", (str(path.absolute()),))
        try:
            yield
        finally:
            with failures.explained(path, writing=False):
                db.writer.execute("detach staging")


@dataclass(frozen=True)
class KeyConflict:
    """A staged document whose key already exists in the project, with the same or another text.

    `file` is the 0-based number of the imported file, `line` the line in it.
    """

    seq: int
    file: int
    line: int
    key: str
    document_id: int
    same_text: bool


def key_conflicts(db: Database) -> tuple[KeyConflict, ...]:
    """Staged documents whose key exists in the project, in order of the files. Requires `attached`.

    If several documents of the project have the key, one with the same text is preferred.
    """
    rows = db.writer.execute(
        "select s.seq, s.file, s.line, s.key, d.id, d.text_hash = s.text_hash from "
        "staging.doc s join main.document d on d.key = s.key"
        " order by s.seq, d.text_hash = s.text_hash, d.id desc"
    ).fetchall()
    by_seq = {
        seq: KeyConflict(seq, file, line, key, id, bool(same))
        for seq, file, line, key, id, same in rows
    }
    return tuple(by_seq.values())


@dataclass(frozen=True)
class DuplicateText:
    """A staged document whose text already occurs under another key, `other_key`.

    The other document is `document_id` of the project or, if that is None, the staged document
    `first` (seq), which comes earlier in the files; `first` is 0 otherwise.
    """

    seq: int
    file: int
    line: int
    key: str
    other_key: str
    document_id: int | None
    first: int


def duplicate_texts(db: Database, skip: list[int]) -> tuple[DuplicateText, ...]:
    """Staged documents with a duplicate text, in order of the files. Requires `attached`.

    `skip`: seqs to leave out. A text that occurs both in the project and in the files is reported
    as a duplicate of the project's document.
    """
    conn = db.writer
    conn.execute("create temp table if not exists asked(seq integer primary key)")
    conn.execute("delete from temp.asked")
    conn.execute(
        "insert into temp.asked select seq from staging.doc where seq not in"
        " (select value from json_each(?))",
        (ids_in(skip),),
    )
    in_project = conn.execute(
        "select s.seq, s.file, s.line, s.key, d.key, min(d.id), 0 from temp.asked a cross join"
        " staging.doc s on s.seq = a.seq cross join main.document d on d.text_hash = s.text_hash"
        " group by s.seq"
    ).fetchall()
    # The staging file has no index on texts; this table of repeated texts replaces it.
    conn.execute(
        "create temp table if not exists repeated(text_hash text primary key, seq) without rowid"
    )
    conn.execute("delete from temp.repeated")
    conn.execute(
        "insert into temp.repeated select text_hash, min(seq) from staging.doc group by text_hash"
        " having count(*) > 1"
    )
    in_files = conn.execute(
        "select s.seq, s.file, s.line, s.key, f.key, null, f.seq from staging.doc s"
        " cross join temp.repeated r on r.text_hash = s.text_hash and r.seq < s.seq"
        " cross join temp.asked a on a.seq = s.seq cross join staging.doc f on f.seq = r.seq"
        " where not exists (select 1 from main.document d where d.text_hash = s.text_hash)"
    ).fetchall()
    return tuple(DuplicateText(*row) for row in sorted([*in_project, *in_files]))


def staged_documents(db: Database, skip: list[int]) -> list[tuple[int, int, int, str]]:
    """(seq, file, line, key) of the staged documents, in order of the files, but for `skip`.

    Requires `attached`.
    """
    query = (
        "select seq, file, line, key from staging.doc where seq not in"
        " (select value from json_each(?)) order by seq"
    )
    return db.writer.execute(query, (ids_in(skip),)).fetchall()


def staged_texts(db: Database, seqs: Sequence[int]) -> list[list[str]]:
    """The texts of these staged documents, in this order. Requires `attached`."""
    texts_of: dict[int, list[str]] = {seq: [] for seq in seqs}
    query = "select seq, content from staging.body where seq between ? and ? order by seq, rowid"
    for seq, content in db.writer.execute(query, (min(seqs), max(seqs))).fetchall():
        if seq in texts_of:
            texts_of[seq].append(text_out(content))
    return [texts or [""] for texts in texts_of.values()]


def new_ids(db: Database, seqs: list[int]) -> dict[int, int]:
    """Map seq → id of the documents that the last `copy_documents` copied."""
    rows = db.writer.execute(
        "select seq, id from temp.taken where seq in (select value from json_each(?))",
        (ids_in(seqs),),
    )
    return dict(rows.fetchall())


def free_keys(db: Database, keys: list[str], table: str = "doc") -> dict[int, str]:
    """Map index in `keys` → a key that neither the project nor the staging file has, there in this
    table.

    The new keys are "key (2)", "key (3)" …
    """
    conn = db.writer
    # in memory, as the staging file has no index on keys
    taken = {key for (key,) in conn.execute(f"select key from staging.{table}")}
    next_number: dict[str, int] = {}
    new_keys: dict[int, str] = {}
    for index, key in enumerate(keys):
        number = next_number.get(key, 2)
        while (candidate := f"{key} ({number})") in taken or _in_project(conn, candidate):
            number += 1
        next_number[key] = number + 1
        taken.add(candidate)
        new_keys[index] = candidate
    return new_keys


def _in_project(conn: sqlite3.Connection, key: str) -> bool:
    return bool(
        conn.execute("select exists(select 1 from main.document where key = ?)", (key,)).fetchone()[
            0
        ]
    )


@dataclass(frozen=True)
class Targets:
    """Maps numbers of the staging file to ids of the project.

    people: number of a person → annotator; versions of others are left out. None: one version of
    each document is copied, as gold of its layers: the curated one, else the first.
    """

    layers: Mapping[int, int]
    labels: Mapping[int, int]
    sources: Mapping[int, int]  # number of the file → source id
    people: Mapping[int, int] | None = None


def copy_documents(
    db: Database,
    targets: Targets,
    *,
    annotator_id: int,
    at: str,
    skip: list[int],
    keys: Mapping[int, str],
    known: Mapping[int, int] | None = None,
    watch: Watch = QUIET,
) -> Copied:
    """Copy all staged documents except `skip` (seqs), with their texts and annotations.

    Requires `attached` and an edit with `bulk`, in which nothing was deleted. `keys`: new keys by
    seq. known: documents of `skip` that the project has, by seq → id: labels of people are added
    to them in layers in which the person has none there.
    """
    conn = db.writer
    _prepare(conn, targets, skip, keys)
    added, kept = _add_known(conn, known) if known else (0, 0)
    _drop_equal_relations(conn)
    row_counts = {
        table: conn.execute(f"select ifnull(max(rowid), 0) from staging.{table}").fetchone()[0]
        for table in _COPY
    }
    done, total = 0, sum(row_counts.values())
    last_span, last_body = (
        conn.execute(f"select ifnull(max(id), 0) from main.{table}").fetchone()[0]
        for table in ("span", "body")
    )
    # Identifiers in the order of the documents: random ones are inserted anywhere in their index.
    values = {"annotator": annotator_id, "at": at, "spans": last_span, "uid": new_uid()[:9]}
    copied = dict.fromkeys(_COPY, 0)
    # The edit is a bulk step, which journals the new rows at its end: none has the id of another.
    copying, indexing = watch.part(0.0, _COPYING), watch.part(_COPYING, 1.0)
    with without_triggers(conn, "insert", JOURNALED, (search.ADD_TRIGGER,)):
        for table, statement in _COPY.items():
            for first in range(1, row_counts[table] + 1, CHUNK):
                last = min(first + CHUNK - 1, row_counts[table])
                copying.at(done / total)
                copied[table] += conn.execute(
                    statement, {**values, "first": first, "last": last}
                ).rowcount
                done += last - first + 1
        new = last_body + 1, last_body + copied["body"]
        search.add_texts(conn, search.stored_texts(conn, *new, indexing), copied["body"])
    watch.at(1.0)
    return Copied(copied["doc"], copied["span"], added, kept)


@dataclass(frozen=True)
class Copied:
    """Numbers of new documents and spans.

    added, kept: versions of people that were added to documents of the project, and that stay as
    they are there, as the person has labels in all of its layers.
    """

    documents: int
    spans: int
    added: int = 0
    kept: int = 0


def _add_known(conn: sqlite3.Connection, known: Mapping[int, int]) -> tuple[int, int]:
    """Add the versions of documents that the project has to `labelled`.

    What the person has labelled there is deleted from the staging file, with relations to it.
    """
    conn.execute("create temp table if not exists known(seq integer primary key, id integer)")
    conn.execute("delete from temp.known")
    conn.executemany("insert into temp.known values(?, ?)", known.items())
    conn.execute(
        "insert into temp.labelled select v.seq, k.id, v.file, p.id from temp.known k"
        " join staging.version v on v.doc = k.seq join temp.person_id p on p.n = v.person"
    )
    versions = "temp.labelled t join staging.version v on v.seq = t.seq join temp.known k"
    (count,) = conn.execute(f"select count(*) from {versions} on k.seq = v.doc").fetchone()
    conn.execute("create temp table if not exists left_out(seq, layer, primary key (seq, layer))")
    conn.execute("delete from temp.left_out")
    for table in ("state", *LABEL_TABLES):
        conn.execute(
            f"insert or ignore into temp.left_out select v.seq, y.n from {versions}"
            " on k.seq = v.doc cross join temp.layer_id y where exists (select 1 from"
            f" main.{table} s where s.document_id = t.id and s.layer_id = y.id"
            " and s.annotator_id = t.person)"
        )
    conn.execute(
        "insert or ignore into temp.left_out select r.seq, r.layer from staging.relation r"
        " join staging.span s on s.rowid in (r.from_row, r.to_row)"
        " join temp.left_out o on o.seq = s.seq and o.layer = s.layer"
    )
    for table in _OF_LAYERS:
        conn.execute(
            f"delete from staging.{table} where (seq, layer) in"
            " (select seq, layer from temp.left_out)"
        )
    rest = " union ".join(f"select seq from staging.{table}" for table in _OF_LAYERS)
    conn.execute(
        "delete from temp.labelled where seq in (select v.seq from staging.version v join"
        f" temp.known k on k.seq = v.doc) and seq not in ({rest})"
    )
    (added,) = conn.execute(f"select count(*) from {versions} on k.seq = v.doc").fetchone()
    return added, count - added


def _drop_equal_relations(conn: sqlite3.Connection) -> None:
    """Delete staged relations that equal an earlier one by the rules of their layer here."""
    key = f"s.seq, s.layer, l.id, {ends_in_order('s.from_row', 's.to_row', label='l.id')}"
    conn.execute(
        "delete from staging.relation where rowid in (select rowid from (select s.rowid,"
        f" row_number() over (partition by {key} order by s.rowid) as n from staging.relation s"
        " join temp.label_id l on l.n = s.label) where n > 1)"
    )


def with_people(db: Database, people: Iterable[int]) -> set[int]:
    """Staged documents that one of these people, by number, has labelled. Requires `attached`."""
    rows = db.writer.execute(
        "select distinct doc from staging.version where person in (select value from json_each(?))",
        (ids_in(people),),
    )
    return {seq for (seq,) in rows.fetchall()}


_PAIRED = (
    "join temp.pair p on p.seq = s.seq join temp.layer_id y on y.n = s.layer"
    " join temp.file_source f on f.file = p.file"
)
_SUGGESTED = f"{_PAIRED} join temp.label_id l on l.n = s.label"
_SUGGEST_CLASSES = (
    "insert into suggestion(document_id, layer_id, label_id, kind, source_id, status, at)"
    f" select p.id, y.id, l.id, 'class', f.source, 'open', ? from staging.mark s {_SUGGESTED}"
    " where not exists (select 1 from main.mark m where m.document_id = p.id and "
    "m.label_id = l.id and m.annotator_id = y.gold)"
    " and not exists (select 1 from main.suggestion o where o.document_id = p.id and "
    "o.label_id = l.id and o.kind = 'class' and o.status = 'open')"
)
_SUGGEST_NUMBERS = (
    "insert into suggestion(document_id, layer_id, kind, value, source_id, status, at)"
    f" select p.id, y.id, 'class', s.value, f.source, 'open', ? from staging.number s {_PAIRED}"
    " where not exists (select 1 from main.mark m where m.document_id = p.id and "
    "m.layer_id = y.id and m.annotator_id = y.gold)"
    " and not exists (select 1 from main.suggestion o where o.document_id = p.id and "
    "o.layer_id = y.id and o.status = 'open')"
)
_SAME_SPAN = (
    "o.document_id = p.id and o.label_id = l.id and o.field = s.field and o.start = "
    's.start and o."end" = s."end"'
)
_SUGGEST_SPANS = (
    "insert into suggestion(document_id, layer_id, label_id, kind, field, start, "
    '"end", source_id, status, at)'
    f" select p.id, y.id, l.id, 'span', s.field, s.start, s.\"end\", f.source, "
    f"'open', ? from staging.span s {_SUGGESTED}"
    f" where not exists (select 1 from main.span o where {_SAME_SPAN}"
    " and o.annotator_id = y.gold)"
    f" and not exists (select 1 from main.suggestion o where {_SAME_SPAN} and o.kind = "
    f"'span' and o.status = 'open')"
)


def suggest(db: Database, targets: Targets, pairs: list[tuple[int, int]], *, at: str) -> int:
    """Add the labels of staged documents to existing documents, as open suggestions.

    `pairs`: (seq, document id). Labels that are already gold or suggested are left out. Returns the
    number of suggestions added.
    """
    conn = db.writer
    _prepare(conn, targets, [], {})
    conn.execute("create temp table if not exists pair(seq integer primary key, id, file)")
    conn.execute("create temp table if not exists document_pair(seq integer primary key, id)")
    for table in ("pair", "document_pair"):
        conn.execute(f"delete from temp.{table}")
    conn.executemany("insert into temp.document_pair values(?, ?)", pairs)
    conn.execute(
        "insert into temp.pair select ifnull(c.seq, p.seq), p.id, ifnull(c.file, d.file) from"
        " temp.document_pair p join staging.doc d on d.seq = p.seq"
        f" left join ({_FIRST}) c on c.doc = p.seq"
    )
    count = 0
    for statement in (_SUGGEST_CLASSES, _SUGGEST_NUMBERS, _SUGGEST_SPANS):
        conn.execute(statement, (at,))
        count += conn.execute("select changes()").fetchone()[0]
    return count


def not_suggested(db: Database) -> int:
    """Number of relations, questions and written texts of the documents that `suggest` was called
    for: these cannot be suggestions.
    """
    of = "where seq in (select seq from temp.pair)"
    statement = (
        f"select (select count(*) from staging.relation {of})"
        f" + (select count(*) from (select distinct seq, layer, question from staging.answer {of}))"
        f" + (select count(*) from staging.written {of})"
    )
    count: int = db.writer.execute(statement).fetchone()[0]
    return count


def questions(db: Database) -> int:
    """Number of questions that `copy_documents` copied."""
    statement = (
        "select count(*) from (select distinct seq, layer, question from staging.answer"
        " where seq in (select seq from temp.labelled))"
    )
    count: int = db.writer.execute(statement).fetchone()[0]
    return count


def labelled_after(db: Database, id: int) -> int:
    """Number of documents above `id` with gold labels, or submitted without any."""
    tables = " union ".join(
        f"select document_id from {table} where document_id > :id"
        for table in ("mark", "span", "relation", "answer")
    )
    statement = (
        f"select count(*) from ({tables} union select document_id from state"
        " where document_id > :id and state = 'submitted')"
    )
    count: int = db.writer.execute(statement, {"id": id}).fetchone()[0]
    return count


def splits_after(db: Database, id: int) -> dict[str, int]:
    """Number of documents above `id` in each split that has any; the others have none."""
    rows = db.writer.execute(
        "select split, count(*) from document where id > ? and ifnull(split, '') <> ''"
        " group by split",
        (id,),
    )
    return dict(rows.fetchall())


# One version of each document: the columns are those of the row with the lowest value.
_FIRST = "select doc, file, seq, min((rank << 40) | seq) from staging.version group by doc"


def _prepare(
    conn: sqlite3.Connection, targets: Targets, skip: list[int], keys: Mapping[int, str]
) -> None:
    """Fill the temporary tables that map numbers of the staging file to ids of the project."""
    for name, columns in (
        ("skip", "seq integer primary key"),
        ("taken", "seq integer primary key, id integer, file integer"),
        ("labelled", "seq integer primary key, id integer, file integer, person integer"),
        ("layer_id", "n integer primary key, id integer, gold integer"),
        ("person_id", "n integer primary key, id integer"),
        ("label_id", "n integer primary key, id integer"),
        ("file_source", "file integer primary key, source integer"),
        ("new_key", "seq integer primary key, key text"),
    ):
        conn.execute(f"create temp table if not exists {name}({columns})")
        conn.execute(f"delete from temp.{name}")
    conn.executemany("insert into temp.skip values(?)", ((seq,) for seq in skip))
    conn.executemany(
        "insert into temp.layer_id values(?1, ?2, (select gold from main.layer where id = ?2))",
        targets.layers.items(),
    )
    conn.executemany("insert into temp.label_id values(?, ?)", targets.labels.items())
    conn.executemany("insert into temp.file_source values(?, ?)", targets.sources.items())
    conn.executemany("insert into temp.new_key values(?, ?)", keys.items())
    # AUTOINCREMENT never reuses the ids of deleted documents: continue after the highest ever used.
    row = conn.execute("select seq from main.sqlite_sequence where name = 'document'").fetchone()
    conn.execute(
        "insert into temp.taken select seq, ? + row_number() over (order by seq), file "
        "from staging.doc"
        " where seq not in (select seq from temp.skip) order by seq",
        (row[0] if row else 0,),
    )
    # Whose labels are copied: of documents that one person labelled without a name, those.
    conn.execute(
        "insert into temp.labelled select seq, id, file, null from temp.taken"
        " where seq not in (select doc from staging.version)"
    )
    if targets.people is None:
        versions, person = f"({_FIRST}) v", "null"
    else:
        conn.executemany("insert into temp.person_id values(?, ?)", targets.people.items())
        versions = (
            "(select v.*, p.id from staging.version v join temp.person_id p on p.n = v.person) v"
        )
        person = "v.id"
    conn.execute(
        f"insert into temp.labelled select v.seq, t.id, v.file, {person} from {versions}"
        " join temp.taken t on t.seq = v.doc"
    )
