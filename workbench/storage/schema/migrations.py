"""The schema, one function for each version. `user_version` of the file is the number of the last
one applied.

Rules: a journaled table has an `id INTEGER PRIMARY KEY` that never changes and at most 16 columns;
no table that is not journaled refers to one that is by a foreign key; a journaled table is never
rebuilt while the journal is on. Columns that name a source have no foreign key: sources are deleted only when undo reverts the whole operation, and each check would need an index.

The functions get a `sqlite_utils.Database` and are run by `sqlite_utils.migrations`, which notes
them in `_sqlite_migrations`.
`user_version` is asked first, so that opening a project that is up to date imports neither.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, cast

from workbench.base.i18n import _
from workbench.storage.integrity import checksums
from workbench.storage.queries import state_keys
from workbench.storage.schema.values import new_uid, now
from workbench.version import __version__

if TYPE_CHECKING:
    from sqlite_utils import Database


JOURNALED = (
    "layer",
    "label",
    "source",
    "document",
    "body",
    "tokens",
    "state",
    "mark",
    "span",
    "relation",
    "answer",
    "suggestion",
    "note",
    "flag",
    "saved_filter",
    "prompt",
    "prompt_version",
    "pattern",
)
JOURNAL_WIDTH = 16

# What sqlite-utils cannot express: untyped columns, AUTOINCREMENT, WITHOUT ROWID, CHECK and the
# options of FTS5.

_META = "create table meta(key text primary key, value) without rowid"
_DOCUMENT = """create table document(id integer primary key autoincrement, uid text not null unique, key text not null, split text,
  fold_group text, meta text, batch_source_id integer, text_hash text not null, length integer not null, texts integer not null)"""
_BODY = """create table body(id integer primary key, document_id integer not null references document(id) on delete cascade,
  field text not null, content not null)"""
_STATE = """create table state(id integer primary key, document_id integer not null references document(id) on delete cascade,
  layer_id integer not null references layer(id) on delete cascade, annotator_id integer not null references annotator(id),
  state text not null check (state in ('pending', 'draft', 'submitted', 'discarded')), at text not null)"""
_SPAN = """create table span(id integer primary key, uid text not null,
  document_id integer not null references document(id) on delete cascade,
  field text not null, layer_id integer not null references layer(id) on delete cascade,
  label_id integer references label(id) on delete cascade, start integer not null, "end" integer not null, parts text, attrs text,
  group_id integer, annotator_id integer references annotator(id), source_id integer not null, score real,
  check (0 <= start and start <= "end"))"""
_SUGGESTION = """create table suggestion(id integer primary key,
  document_id integer not null references document(id) on delete cascade,
  layer_id integer not null references layer(id) on delete cascade, label_id integer references label(id) on delete cascade,
  kind text not null check (kind in ('class', 'span')), field text not null default 'text', start integer, "end" integer, value real,
  score real, source_id integer not null, run_id integer,
  status text not null default 'open' check (status in ('open', 'accepted', 'rejected')), at text)"""
_RUN = """create table run(id integer primary key autoincrement, uid text not null unique, name text not null, kind text not null,
  parent_id integer, layer_id integer, spec text, base_fingerprint text not null default '', data_fingerprint text not null default '',
  test_fingerprint text not null default '', status text not null, scores text, result text, versions text,
  seen_test integer not null default 0, at text not null)"""
_PREDICTION = """create table prediction(run_id integer not null references run(id) on delete cascade, document_id integer not null,
  text_hash text not null, payload text not null, primary key (run_id, document_id)) without rowid"""
_JOURNAL_ROW = f"""create table journal_row(seq integer primary key, step_id integer not null, tbl text not null, op text not null,
  rid integer not null, doc integer, {", ".join(f"c{number}" for number in range(JOURNAL_WIDTH))})"""
_REPLY = """create table reply(key text primary key, payload text not null, at text not null) without rowid"""
_CHECKSUM = """create table checksum(name text not null, owner integer not null, value integer not null,
  primary key (name, owner)) without rowid"""
SEARCH = """create virtual table {name}
  using fts5(content, content='', tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co M*'")"""
_BODY_IS_FIXED = """create trigger body_is_fixed before update on body
  begin select raise(abort, 'text is only inserted and deleted, never changed'); end"""

TRIGGERS = {"body_is_fixed": _BODY_IS_FIXED}
"""The triggers of the file, name → SQL; all others are temporary ones of a connection."""

_INDEXES = {
    "document_key": ("document", "key"),
    "document_hash": ("document", "text_hash"),
    "document_split": ("document", "split"),
    "body_document": ("body", "document_id"),
    "tokens_document": ("tokens", "document_id"),
    "state_layer": ("state", "layer_id", "annotator_id", "state", "document_id"),
    "mark_document": ("mark", "document_id", "layer_id"),
    "mark_label": ("mark", "label_id", "document_id"),
    "span_document": ("span", "document_id", "layer_id"),
    "span_label": ("span", "label_id", "document_id"),
    "relation_document": ("relation", "document_id"),
    "relation_from": ("relation", "from_span"),
    "relation_to": ("relation", "to_span"),
    "relation_label": ("relation", "label_id"),
    "answer_document": ("answer", "document_id"),
    "suggestion_document": ("suggestion", "document_id", "status"),
    "suggestion_label": ("suggestion", "label_id"),
    "suggestion_run": ("suggestion", "run_id", "status"),
    "label_layer": ("label", "layer_id", "position"),
    "label_parent": ("label", "parent_id"),
    "note_document": ("note", "document_id"),
    "flag_document": ("flag", "document_id"),
    "version_prompt": ("prompt_version", "prompt_id"),
    "version_parent": ("prompt_version", "parent_id"),
    "journal_row_step": ("journal_row", "step_id"),
}
_UNIQUE_INDEXES = {
    "annotator_uid": ("annotator", "uid"),
    "layer_uid": ("layer", "uid"),
    "layer_name": ("layer", "name"),
    "label_uid": ("label", "uid"),
    "prompt_uid": ("prompt", "uid"),
    "state_one": ("state", "document_id", "layer_id", "annotator_id"),
}

_PLACE = {"document_id": int, "layer_id": int, "label_id": int}
_PLACE_REFERS = {"document_id": "document", "layer_id": "layer", "label_id": "label"}
_ORIGIN = {"annotator_id": int, "source_id": int, "score": float}


def m001_first_schema(db: Database) -> None:
    _project_tables(db)
    _document_tables(db)
    _annotation_tables(db)
    _run_tables(db)
    for unique, indexes in ((False, _INDEXES), (True, _UNIQUE_INDEXES)):
        for name, (table, *columns) in indexes.items():
            db.table(table).create_index(columns, index_name=name, unique=unique)


def _project_tables(db: Database) -> None:
    db.execute(_META)
    _table(db, "annotator", {"uid": str, "name": str})
    layer = {"uid": str, "name": str, "kind": str, "options": str, "guideline": str, "gold": int}
    _table(
        db,
        "layer",
        layer,
        null=("options",),
        defaults={"guideline": ""},
        refers={"gold": "annotator"},
    )
    label = {
        "uid": str,
        "layer_id": int,
        "parent_id": int,
        "name": str,
        "colour": str,
        "key": str,
        "description": str,
        "position": int,
    }
    _table(
        db,
        "label",
        label,
        null=("parent_id",),
        defaults={"colour": "", "key": "", "description": "", "position": 0},
        refers={"layer_id": "layer", "parent_id": "label"},
    )
    source = {"kind": str, "ref": str, "annotator_id": int, "at": str}
    _table(
        db,
        "source",
        source,
        null=("annotator_id",),
        defaults={"ref": ""},
        refers={"annotator_id": "annotator"},
    )


def _document_tables(db: Database) -> None:
    db.execute(_DOCUMENT)
    db.execute(_BODY)
    db.execute(_BODY_IS_FIXED)
    tokens = {"document_id": int, "field": str, "borders": bytes, "sentences": bytes}
    _table(db, "tokens", tokens, null=("sentences",), refers={"document_id": "document"})
    note = {"uid": str, "document_id": int, "body": str, "annotator_id": int, "at": str}
    owner = {"document_id": "document", "annotator_id": "annotator"}
    _table(db, "note", note, null=("document_id", "annotator_id"), refers=owner)
    _table(
        db,
        "flag",
        {"document_id": int, "name": str, "annotator_id": int, "at": str},
        null=("annotator_id",),
        refers=owner,
    )
    _table(db, "saved_filter", {"uid": str, "name": str, "spec": str})
    db.execute(SEARCH.format(name="search"))


def _annotation_tables(db: Database) -> None:
    refers = {**_PLACE_REFERS, "annotator_id": "annotator"}
    db.execute(_STATE)
    _table(
        db,
        "mark",
        {**_PLACE, "value": float, **_ORIGIN},
        null=("label_id", "value", "annotator_id", "score"),
        refers=refers,
    )
    db.execute(_SPAN)
    _table(
        db,
        "relation",
        {"uid": str, **_PLACE, "from_span": int, "to_span": int, "attrs": str, **_ORIGIN},
        null=("label_id", "attrs", "annotator_id", "score"),
        refers={**refers, "from_span": "span", "to_span": "span"},
    )
    place = {
        "document_id": int,
        "layer_id": int,
        "question": str,
        "field": str,
        "start": int,
        "end": int,
        "text": str,
        "is_null": int,
    }
    _table(
        db,
        "answer",
        {**place, "attrs": str, **_ORIGIN},
        null=("start", "end", "text", "attrs", "annotator_id", "score"),
        defaults={"field": "text", "is_null": 0},
        refers={name: refers[name] for name in ("document_id", "layer_id", "annotator_id")},
    )
    db.execute(_SUGGESTION)


def _run_tables(db: Database) -> None:
    _table(db, "prompt", {"uid": str, "name": str})
    version = {"prompt_id": int, "number": int, "body": str, "parent_id": int, "at": str}
    _table(
        db,
        "prompt_version",
        version,
        null=("parent_id",),
        refers={"prompt_id": "prompt", "parent_id": "prompt_version"},
    )
    db.execute(_RUN)
    db.execute(_PREDICTION)
    step = {"title": str, "undone": int, "at": str, "rows": int, "size": int}
    _table(db, "journal_step", step, defaults={"undone": 0, "rows": 0, "size": 0})
    db.execute(_JOURNAL_ROW)


def m002_checksums(db: Database) -> None:
    """What `checksums` keeps; `apply` fills it. Suggestions used to outlive their run."""
    db.execute(_CHECKSUM)
    # NULL is "not in" an empty table.
    db.execute(
        "delete from suggestion where run_id is not null and run_id not in (select id from run)"
    )


def m003_patterns(db: Database) -> None:
    """Word lists and regular expressions that suggest a label."""
    columns = {
        "uid": str, "label_id": int, "kind": str, "body": str, "whole_words": int,
        "match_case": int, "active": int, "note": str,
    }  # fmt: skip
    defaults = {"whole_words": 1, "match_case": 0, "active": 1, "note": ""}
    _table(db, "pattern", columns, defaults=defaults, refers={"label_id": "label"})
    db.table("pattern").create_index(["label_id"], index_name="pattern_label")


def m004_state_keys(db: Database) -> None:
    """The table of `state_keys`."""
    state_keys.create(db.execute)


def m005_remarks_on_spans(db: Database) -> None:
    """Notes and flags may belong to a span of their document."""
    for table in ("note", "flag"):
        db.execute(
            f"alter table {table} add column span_id integer references span(id) on delete cascade"
        )
        db.table(table).create_index(["span_id"], index_name=f"{table}_span")


def m006_sums_of_deletions(db: Database) -> None:
    """Checksums of deletions contain those of the documents: `apply` computes all of them."""


def m007_whole_prompts(db: Database) -> None:
    """A version of a prompt has all its settings; replies of models are kept by their content."""
    db.execute("alter table prompt_version add column spec text not null default '{}'")
    db.execute(_REPLY)


_NO_ACTION = ("annotator",)  # is never deleted
_ON_DELETE = {
    "parent_id": "SET NULL"
}  # children of a deleted label become top-level; other references are deleted with their target


def _table(
    db: Database,
    name: str,
    columns: Mapping[str, type],
    *,
    null: Sequence[str] = (),
    defaults: Mapping[str, object] | None = None,
    refers: Mapping[str, str] | None = None,
) -> None:
    """A table with an `id INTEGER PRIMARY KEY` before `columns`, not null but for `null`;

    `refers` gives the tables whose id one holds.
    """
    from sqlite_utils.db import ForeignKey

    keys = []
    for column, other in (refers or {}).items():
        action = "NO ACTION" if other in _NO_ACTION else _ON_DELETE.get(column, "CASCADE")
        keys.append(ForeignKey(name, column, other, "id", on_delete=action))
    required = [column for column in columns if column not in null]
    db.create_table(
        name,
        {"id": int, **columns},
        pk="id",
        not_null=required,
        defaults=dict(defaults or {}),
        foreign_keys=keys,
    )


Migration = Callable[["Database"], None]
MIGRATIONS: tuple[Migration, ...] = (
    m001_first_schema,
    m002_checksums,
    m003_patterns,
    m004_state_keys,
    m005_remarks_on_spans,
    m006_sums_of_deletions,
    m007_whole_prompts,
)
CURRENT = len(MIGRATIONS)


def apply(conn: sqlite3.Connection, migrations: Sequence[Migration] | None = None) -> None:
    """Bring the file to the newest version in one transaction.

    After an upgrade the journal starts again: its rows have the old shape.
    """
    migrations = MIGRATIONS if migrations is None else migrations
    (version,) = conn.execute("pragma user_version").fetchone()
    if version >= len(migrations):
        return
    conn.execute("begin immediate")
    try:
        _run(conn, migrations[version:])
        if version:
            conn.execute("delete from journal_row")
            conn.execute("delete from journal_step")
            reason = _(
                "the project was upgraded from version {version} to {count}",
                version=version,
                count=len(migrations),
            )
            conn.execute("insert or replace into meta values('journal_cut', ?)", (reason,))
            checksums.rebuild(conn)
        conn.execute(f"pragma user_version = {len(migrations)}")
        conn.execute("commit")
    except BaseException:
        if conn.in_transaction:  # SQLite ends it itself when the disk is full
            conn.execute("rollback")
        raise


def _run(conn: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    """Run within the open transaction: each migration and its record form a savepoint."""
    db = described(conn)
    from sqlite_utils.migrations import Migrations

    steps = Migrations("glossbench")
    for migrate in migrations:
        steps()(migrate)
    steps.apply(db)


def described(conn: sqlite3.Connection) -> Database:
    """The connection as sqlite-utils sees it: for building tables and for asking what they are.

    It changes nothing of its settings.
    """
    _keep_pandas_out()
    from sqlite_utils import Database

    return Database(conn, recursive_triggers=False, execute_plugins=False)


def _keep_pandas_out() -> None:
    """sqlite-utils imports pandas where there is one, only to know the type of its time stamps:
    half a second for nothing.

    It takes an ImportError for an answer. numpy, which it asks for likewise, is needed by the
    window anyway.
    """
    if "sqlite_utils" in sys.modules or "pandas" in sys.modules:
        return
    modules = cast(dict[str, ModuleType | None], sys.modules)
    modules["pandas"] = None  # what `import` takes for "not there"
    try:
        import sqlite_utils  # noqa: F401
    finally:
        del sys.modules["pandas"]


def insert_first_rows(conn: sqlite3.Connection, annotator: str, uid: str = "") -> None:
    """The rows of a new project; `uid` of the annotator, "" for a new one."""
    with conn:
        conn.execute("begin")
        mine = conn.execute(
            "insert into annotator(uid, name) values(?, ?)", (uid or new_uid(), annotator)
        ).lastrowid
        values = {
            "uid": new_uid(),
            "seed": 1,
            "created": now(),
            "version": __version__,
            "annotator": mine,
        }
        conn.executemany("insert into meta values(?, ?)", values.items())
