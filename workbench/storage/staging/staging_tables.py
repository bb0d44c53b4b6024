"""The tables of a staging file, and the statements that fill them."""

from __future__ import annotations

from workbench.storage.schema.tables import STATES

TABLES = """
create table doc(seq integer primary key, file integer, line integer, key text, split text,
fold_group text, meta text,
  text_hash text, length integer, texts integer);
create table body(seq integer, content, field text default 'text');
create table tokens(seq integer, field text, borders blob);
create table state(seq integer, layer integer, state integer);
create table mark(seq integer, layer integer, label integer);
create table span(seq integer, layer integer, label integer, start integer, "end" integer,
field text default 'text', parts text, chain integer);
create table relation(seq integer, layer integer, label integer, from_row integer, to_row integer);
create table answer(seq integer, layer integer, question text, field text, start integer,
"end" integer, is_null integer, attrs text);
create table number(seq integer, layer integer, value real);
create table written(seq integer, layer integer, content);
create table note(seq integer, text text, span_row integer);
create table flag(seq integer, text text, span_row integer);
create table layer(n integer primary key, name text, kind text, texts integer, guideline text,
options text, declared integer);
create table label(n integer primary key, layer integer, name text, colour text, key text,
description text, parent text);
create table skipped(file integer, line integer, reason text);
create table warning(message text);
create table complete(documents integer);
"""
INSERTS = {
    "doc": "insert into doc values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "body": "insert into body(seq, content, field) values(?, ?, ?)",
    "tokens": "insert into tokens values(?, ?, ?)",
    "state": "insert into state values(?, ?, ?)",
    "mark": "insert into mark values(?, ?, ?)",
    "span": "insert into span values(?, ?, ?, ?, ?, ?, ?, ?)",
    "relation": "insert into relation values(?, ?, ?, ?, ?)",
    "answer": "insert into answer values(?, ?, ?, ?, ?, ?, ?, ?)",
    "number": "insert into number values(?, ?, ?)",
    "written": "insert into written values(?, ?, ?)",
    "note": "insert into note values(?, ?, ?)",
    "flag": "insert into flag values(?, ?, ?)",
    "skipped": "insert into skipped values(?, ?, ?)",
    "warning": "insert into warning values(?)",
}
# By number of columns: those that have the same text in most rows are left out, as binding a text
# takes long.
SHORT_INSERTS = {
    ("body", 2): "insert into body(seq, content) values(?, ?)",
    ("span", 5): 'insert into span(seq, layer, label, start, "end") values(?, ?, ?, ?, ?)',
}
STATE_NUMBERS = {name: number for number, name in enumerate(STATES)}
STATE_NAME = "case s.state {} end".format(
    " ".join(f"when {number} then '{name}'" for name, number in STATE_NUMBERS.items())
)
"""SQL of the name of a staged state `s.state`."""
