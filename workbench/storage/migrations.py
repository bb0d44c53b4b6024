"""The schema, one function for each version. `user_version` of the file is the number of the last one applied.

Rules: a journaled table has an `id INTEGER PRIMARY KEY` that never changes and at most 16 columns; no table that is not
journaled refers to one that is by a foreign key; a journaled table is never rebuilt while the journal is on. Columns that name
a source have no foreign key: sources go only when undo takes their whole act back, and the check would need an index each.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

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
)
JOURNAL_WIDTH = 16

_TABLES = """
create table meta(key text primary key, value) without rowid;
create table annotator(id integer primary key, uid text not null unique, name text not null);

create table layer(id integer primary key, uid text not null unique, name text not null unique, kind text not null,
  options text, guideline text not null default '', gold integer not null references annotator(id));
create table label(id integer primary key, uid text not null unique, layer_id integer not null references layer(id) on delete cascade,
  parent_id integer references label(id) on delete set null, name text not null, colour text not null default '',
  key text not null default '', description text not null default '', position integer not null default 0);

create table source(id integer primary key, kind text not null, ref text not null default '',
  annotator_id integer references annotator(id), at text not null);

create table document(id integer primary key autoincrement, uid text not null unique, key text not null, split text,
  fold_group text, meta text, batch_source_id integer, text_hash text not null,
  length integer not null, texts integer not null);
create table body(id integer primary key, document_id integer not null references document(id) on delete cascade,
  field text not null, content not null);
create table tokens(id integer primary key, document_id integer not null references document(id) on delete cascade,
  field text not null, borders blob not null, sentences blob);

create table state(id integer primary key, document_id integer not null references document(id) on delete cascade,
  layer_id integer not null references layer(id) on delete cascade, annotator_id integer not null references annotator(id),
  state text not null check (state in ('pending', 'draft', 'submitted', 'discarded')), at text not null);
create table mark(id integer primary key, document_id integer not null references document(id) on delete cascade,
  layer_id integer not null references layer(id) on delete cascade, label_id integer references label(id) on delete cascade,
  value real, annotator_id integer references annotator(id), source_id integer not null, score real);
create table span(id integer primary key, uid text not null, document_id integer not null references document(id) on delete cascade,
  field text not null, layer_id integer not null references layer(id) on delete cascade,
  label_id integer references label(id) on delete cascade, start integer not null, "end" integer not null, parts text, attrs text,
  group_id integer, annotator_id integer references annotator(id), source_id integer not null, score real,
  check (0 <= start and start <= "end"));
create table relation(id integer primary key, uid text not null, document_id integer not null references document(id) on delete cascade,
  layer_id integer not null references layer(id) on delete cascade, label_id integer references label(id) on delete cascade,
  from_span integer not null references span(id) on delete cascade, to_span integer not null references span(id) on delete cascade,
  attrs text, annotator_id integer references annotator(id), source_id integer not null, score real);
create table answer(id integer primary key, document_id integer not null references document(id) on delete cascade,
  layer_id integer not null references layer(id) on delete cascade, question text not null, field text not null default 'text',
  start integer, "end" integer, text text, is_null integer not null default 0, attrs text,
  annotator_id integer references annotator(id), source_id integer not null, score real);
create table suggestion(id integer primary key, document_id integer not null references document(id) on delete cascade,
  layer_id integer not null references layer(id) on delete cascade, label_id integer references label(id) on delete cascade,
  kind text not null check (kind in ('class', 'span')), field text not null default 'text', start integer, "end" integer, value real,
  score real, source_id integer not null, run_id integer,
  status text not null default 'open' check (status in ('open', 'accepted', 'rejected')), at text);
create table note(id integer primary key, uid text not null, document_id integer references document(id) on delete cascade,
  body text not null, annotator_id integer references annotator(id), at text not null);
create table flag(id integer primary key, document_id integer not null references document(id) on delete cascade,
  name text not null, annotator_id integer references annotator(id), at text not null);
create table saved_filter(id integer primary key, uid text not null, name text not null, spec text not null);
create table prompt(id integer primary key, uid text not null unique, name text not null);
create table prompt_version(id integer primary key, prompt_id integer not null references prompt(id) on delete cascade,
  number integer not null, body text not null, parent_id integer references prompt_version(id) on delete set null, at text not null);

create table run(id integer primary key autoincrement, uid text not null unique, name text not null, kind text not null,
  parent_id integer, layer_id integer, spec text, base_fingerprint text not null default '', data_fingerprint text not null default '',
  test_fingerprint text not null default '', status text not null, scores text, result text, versions text,
  seen_test integer not null default 0, at text not null);
create table prediction(run_id integer not null references run(id) on delete cascade, document_id integer not null,
  text_hash text not null, payload text not null, primary key (run_id, document_id)) without rowid;

create table journal_step(id integer primary key, title text not null, undone integer not null default 0, at text not null,
  rows integer not null default 0, size integer not null default 0);
create table journal_row(seq integer primary key, step_id integer not null, tbl text not null, op text not null, rid integer not null,
  doc integer, {columns});

create virtual table search using fts5(content, content='', tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co M*'");
create trigger body_is_fixed before update on body
  begin select raise(abort, 'text is only inserted and deleted, never changed'); end;
"""

_INDEXES = """
create index document_key on document(key);
create index document_hash on document(text_hash);
create index document_split on document(split);
create index body_document on body(document_id);
create index tokens_document on tokens(document_id);
create unique index state_one on state(document_id, layer_id, annotator_id);
create index state_layer on state(layer_id, annotator_id, state, document_id);
create index mark_document on mark(document_id, layer_id);
create index mark_label on mark(label_id, document_id);
create index span_document on span(document_id, layer_id);
create index span_label on span(label_id, document_id);
create index relation_document on relation(document_id);
create index relation_from on relation(from_span);
create index relation_to on relation(to_span);
create index relation_label on relation(label_id);
create index answer_document on answer(document_id);
create index suggestion_document on suggestion(document_id, status);
create index suggestion_label on suggestion(label_id);
create index suggestion_run on suggestion(run_id, status);
create index label_layer on label(layer_id, position);
create index label_parent on label(parent_id);
create index note_document on note(document_id);
create index flag_document on flag(document_id);
create index version_prompt on prompt_version(prompt_id);
create index version_parent on prompt_version(parent_id);
create index journal_row_step on journal_row(step_id);
"""


def m001_first_schema(conn: sqlite3.Connection) -> None:
    columns = ", ".join(f"c{number}" for number in range(JOURNAL_WIDTH))
    _each(conn, _TABLES.format(columns=columns))
    _each(conn, _INDEXES)


def _each(conn: sqlite3.Connection, script: str) -> None:
    """`executescript` would commit; so the statements go one by one within the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            conn.execute(statement)
            statement = ""


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (m001_first_schema,)
CURRENT = len(MIGRATIONS)


def apply(conn: sqlite3.Connection, migrations=MIGRATIONS) -> None:
    """Bring the file to the newest version in one transaction. After an upgrade the journal starts anew: its rows have the old shape."""
    (version,) = conn.execute("pragma user_version").fetchone()
    if version >= len(migrations):
        return
    conn.execute("begin immediate")
    try:
        for migrate in migrations[version:]:
            migrate(conn)
        if version:
            conn.execute("delete from journal_row")
            conn.execute("delete from journal_step")
            reason = f"the project was brought from version {version} to {len(migrations)}"
            conn.execute("insert or replace into meta values('journal_cut', ?)", (reason,))
        conn.execute(f"pragma user_version = {len(migrations)}")
        conn.execute("commit")
    except BaseException:
        conn.execute("rollback")
        raise
