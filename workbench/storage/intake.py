"""Copies staged imports into the project: the staging file is attached to the writer, and SQL
copies between the two.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import ProjectBusy
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.storage import failures
from workbench.storage.values import ids_in

if TYPE_CHECKING:
    from workbench.storage.database import Database

PIECE = 1_000  # rows copied by one statement, after which an import can be called off

_SOME = "join temp.taken t on t.seq = s.seq"
_OF_LAYER = f"{_SOME} join temp.layer_id y on y.n = s.layer"
_OF_LABEL = (
    f"{_OF_LAYER} join temp.label_id l on l.n = s.label join temp.file_source f on f.file = t.file"
)
# a staging file is written once, so its rows stand without gaps
_WHICH = "where s.rowid between :first and :last order by s.rowid"
_COPY = {
    "doc": "insert into document(id, uid, key, split, fold_group, meta, batch_source_id, "
    "text_hash, length, texts)"
    " select t.id, lower(hex(randomblob(8))), ifnull(k.key, s.key), s.split, "
    "s.fold_group, s.meta, f.source, s.text_hash, s.length, s.texts"
    f" from staging.doc s {_SOME} join temp.file_source f on f.file = s.file left join "
    f"temp.new_key k on k.seq = s.seq {_WHICH}",
    "body": (
        f"insert into body(document_id, field, content) select t.id, s.field, s.content from "
        f"staging.body s {_SOME} {_WHICH}"
    ),
    "tokens": (
        f"insert into tokens(document_id, field, borders) select t.id, s.field, s.borders "
        f"from staging.tokens s {_SOME} {_WHICH}"
    ),
    "state": "insert into state(document_id, layer_id, annotator_id, state, at)"
    f" select t.id, y.id, :annotator, s.state, :at from staging.state s {_OF_LAYER} {_WHICH}",
    "mark": "insert into mark(document_id, layer_id, label_id, annotator_id, source_id)"
    f" select t.id, y.id, l.id, :annotator, f.source from staging.mark s {_OF_LABEL} {_WHICH}",
    "span": 'insert into span(uid, document_id, field, layer_id, label_id, start, "end", '
    "annotator_id, source_id)"
    f' select lower(hex(randomblob(8))), t.id, s.field, y.id, l.id, s.start, s."end", '
    f":annotator, f.source from staging.span s {_OF_LABEL} {_WHICH}",
}


@contextmanager
def attached(db: Database, path: Path) -> Iterator[None]:
    """The staging file as database `staging` of the writer.

    Hold it around the edit: a database is attached between transactions only.
    """
    # The lock of the writer, so that no other thread is in the middle of a transaction of this
    # connection.
    if not db._mutex.acquire(blocking=not _at_home(db)):
        raise ProjectBusy(
            _("Another change to the project is still being written."),
            hint=_("Wait until it has finished, then try again."),
        )
    try:
        with failures.explained(path, writing=False):
            db.writer.execute("attach ? as staging", (str(path.absolute()),))
        try:
            yield
        finally:
            with failures.explained(path, writing=False):
                db.writer.execute("detach staging")
    finally:
        db._mutex.release()


def _at_home(db: Database) -> bool:
    return threading.get_ident() == db._home


@dataclass(frozen=True)
class Clash:
    """A staged document whose key stands in the project already: with the same text, or with
    another.
    """

    seq: int
    file: int
    line: int
    key: str
    document_id: int
    same_text: bool


def clashes(db: Database) -> tuple[Clash, ...]:
    """Inside `attached`. Of several documents with one key, one with the same text counts."""
    rows = db.writer.execute(
        "select s.seq, s.file, s.line, s.key, d.id, d.text_hash = s.text_hash from "
        "staging.doc s join main.document d on d.key = s.key"
        " order by s.seq, d.text_hash = s.text_hash, d.id desc"
    ).fetchall()
    found = {
        seq: Clash(seq, file, line, key, id, bool(same)) for seq, file, line, key, id, same in rows
    }
    return tuple(found.values())


@dataclass(frozen=True)
class Twin:
    """A staged document whose text another one has under another key.

    That one is `document_id` of the project, or the staged document `first` (seq, 0 if none), which
    comes earlier in the files.
    """

    seq: int
    file: int
    line: int
    key: str
    other_key: str
    document_id: int | None
    first: int


def twins(db: Database, skip: list[int]) -> tuple[Twin, ...]:
    """Inside `attached`: in the order of the files. `skip`: seqs that are not asked about.

    A text that is in the project counts as such, even where the files repeat it.
    """
    conn = db.writer
    conn.execute("create temp table if not exists asked(seq integer primary key)")
    conn.execute("delete from temp.asked")
    conn.execute(
        "insert into temp.asked select seq from staging.doc where seq not in"
        " (select value from json_each(?))",
        (ids_in(skip),),
    )
    there = conn.execute(
        "select s.seq, s.file, s.line, s.key, d.key, min(d.id), 0 from temp.asked a cross join"
        " staging.doc s on s.seq = a.seq cross join main.document d on d.text_hash = s.text_hash"
        " group by s.seq"
    ).fetchall()
    # The staging file has no index on texts; a table of the repeated ones stands in for it.
    conn.execute(
        "create temp table if not exists repeated(text_hash text primary key, seq) without rowid"
    )
    conn.execute("delete from temp.repeated")
    conn.execute(
        "insert into temp.repeated select text_hash, min(seq) from staging.doc group by text_hash"
        " having count(*) > 1"
    )
    again = conn.execute(
        "select s.seq, s.file, s.line, s.key, f.key, null, f.seq from staging.doc s"
        " cross join temp.repeated r on r.text_hash = s.text_hash and r.seq < s.seq"
        " cross join temp.asked a on a.seq = s.seq cross join staging.doc f on f.seq = r.seq"
        " where not exists (select 1 from main.document d where d.text_hash = s.text_hash)"
    ).fetchall()
    return tuple(Twin(*row) for row in sorted([*there, *again]))


def new_ids(db: Database, seqs: list[int]) -> dict[int, int]:
    """Ids of documents that `take_in` has just copied, by seq."""
    rows = db.writer.execute(
        "select seq, id from temp.taken where seq in (select value from json_each(?))",
        (ids_in(seqs),),
    )
    return dict(rows.fetchall())


def free_keys(db: Database, keys: list[str]) -> dict[int, str]:
    """For each wanted key (by its place in the list) one that neither project nor staging file has:
    "key (2)", "key (3)" …
    """
    conn = db.writer
    taken = {
        key for (key,) in conn.execute("select key from staging.doc")
    }  # the staging file has no index on keys
    next_number: dict[str, int] = {}
    found: dict[int, str] = {}
    for place, key in enumerate(keys):
        number = next_number.get(key, 2)
        while (wanted := f"{key} ({number})") in taken or _in_project(conn, wanted):
            number += 1
        next_number[key] = number + 1
        taken.add(wanted)
        found[place] = wanted
    return found


def _in_project(conn: sqlite3.Connection, key: str) -> bool:
    return bool(
        conn.execute("select exists(select 1 from main.document where key = ?)", (key,)).fetchone()[
            0
        ]
    )


@dataclass(frozen=True)
class Targets:
    """Numbers of the staging file → ids of the project."""

    layers: Mapping[int, int]
    labels: Mapping[int, int]
    sources: Mapping[int, int]  # by file


def take_in(
    db: Database,
    targets: Targets,
    *,
    annotator_id: int,
    at: str,
    skip: list[int],
    keys: Mapping[int, str],
    watch: Watch = QUIET,
) -> tuple[int, int]:
    """Copy all staged documents but `skip` with everything of theirs; gives how many documents and
    spans. Inside `attached` and an edit.

    `keys`: new keys by seq.
    """
    conn = db.writer
    _prepare(conn, targets, skip, keys)
    places = {
        table: conn.execute(f"select ifnull(max(rowid), 0) from staging.{table}").fetchone()[0]
        for table in _COPY
    }
    done, total = 0, sum(places.values())
    values = {"annotator": annotator_id, "at": at}
    copied = dict.fromkeys(_COPY, 0)
    for table, statement in _COPY.items():
        for first in range(1, places[table] + 1, PIECE):
            last = min(first + PIECE - 1, places[table])
            watch.at(done / total)
            copied[table] += conn.execute(
                statement, {**values, "first": first, "last": last}
            ).rowcount
            done += last - first + 1
    watch.at(1.0)
    return copied["doc"], copied["span"]


def suggest(db: Database, targets: Targets, pairs: list[tuple[int, int]], *, at: str) -> int:
    """Labels of staged documents (seq, document id) as open suggestions; what is gold or suggested
    already is left out. Gives how many.
    """
    conn = db.writer
    _prepare(conn, targets, [], {})
    conn.execute("create temp table if not exists pair(seq integer primary key, id integer)")
    conn.execute("delete from temp.pair")
    conn.executemany("insert into temp.pair values(?, ?)", pairs)
    joined = (
        "join temp.pair p on p.seq = s.seq join temp.layer_id y on y.n = s.layer join "
        "temp.label_id l on l.n = s.label"
        " join staging.doc d on d.seq = s.seq join temp.file_source f on f.file = d.file"
    )
    conn.execute(
        "insert into suggestion(document_id, layer_id, label_id, kind, source_id, status, at)"
        f" select p.id, y.id, l.id, 'class', f.source, 'open', ? from staging.mark s {joined}"
        " where not exists (select 1 from main.mark m where m.document_id = p.id and "
        "m.label_id = l.id)"
        " and not exists (select 1 from main.suggestion o where o.document_id = p.id and "
        "o.label_id = l.id and o.kind = 'class' and o.status = 'open')",
        (at,),
    )
    count: int = conn.execute("select changes()").fetchone()[0]
    same = (
        "o.document_id = p.id and o.label_id = l.id and o.field = s.field and o.start = "
        's.start and o."end" = s."end"'
    )
    conn.execute(
        "insert into suggestion(document_id, layer_id, label_id, kind, field, start, "
        '"end", source_id, status, at)'
        f" select p.id, y.id, l.id, 'span', s.field, s.start, s.\"end\", f.source, "
        f"'open', ? from staging.span s {joined}"
        f" where not exists (select 1 from main.span o where {same})"
        f" and not exists (select 1 from main.suggestion o where {same} and o.kind = "
        f"'span' and o.status = 'open')",
        (at,),
    )
    changed: int = conn.execute("select changes()").fetchone()[0]
    return count + changed


def _prepare(
    conn: sqlite3.Connection, targets: Targets, skip: list[int], keys: Mapping[int, str]
) -> None:
    """Temporary tables of the writer: what goes where. They vanish with the connection."""
    for name, columns in (
        ("skip", "seq integer primary key"),
        ("taken", "seq integer primary key, id integer, file integer"),
        ("layer_id", "n integer primary key, id integer"),
        ("label_id", "n integer primary key, id integer"),
        ("file_source", "file integer primary key, source integer"),
        ("new_key", "seq integer primary key, key text"),
    ):
        conn.execute(f"create temp table if not exists {name}({columns})")
        conn.execute(f"delete from temp.{name}")
    conn.executemany("insert into temp.skip values(?)", ((seq,) for seq in skip))
    conn.executemany("insert into temp.layer_id values(?, ?)", targets.layers.items())
    conn.executemany("insert into temp.label_id values(?, ?)", targets.labels.items())
    conn.executemany("insert into temp.file_source values(?, ?)", targets.sources.items())
    conn.executemany("insert into temp.new_key values(?, ?)", keys.items())
    # AUTOINCREMENT: ids of documents are never given again, so they follow the highest that ever
    # was.
    row = conn.execute("select seq from main.sqlite_sequence where name = 'document'").fetchone()
    conn.execute(
        "insert into temp.taken select seq, ? + row_number() over (order by seq), file "
        "from staging.doc"
        " where seq not in (select seq from temp.skip) order by seq",
        (row[0] if row else 0,),
    )
