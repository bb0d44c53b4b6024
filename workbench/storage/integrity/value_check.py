"""Checks each value, also in the history, against the constraints of its column (`tables`)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping

from workbench.base.i18n import _, ngettext
from workbench.storage.journal.history import DROPPED
from workbench.storage.schema.tables import JOURNALED, TABLES, ColumnRules, of_version
from workbench.text.labels import LAYER_KINDS

SHOWN = 20  # rows of one table
QUOTED = 60  # characters of a value

_KEYS = {"meta": "key", "prediction": "run_id || '/' || document_id"}
_OF_BLOBS = ("json_kind", "texts_of", "table_of_kind")
_OPERATIONS = ("delete", "update", "insert", "range")
_OF_JSON = {dict: "dict", list: "list", str: "str", bool: "bool", int: "number", float: "number"}


def register(conn: sqlite3.Connection) -> None:
    """Register the functions that the rules of `tables` call with a text as a blob."""
    conn.create_function("json_kind", 1, json_kind, deterministic=True)
    conn.create_function("texts_of", 1, texts_of, deterministic=True)
    conn.create_function("table_of_kind", 1, table_of_kind, deterministic=True)


def table_of_kind(kind: bytes | str | None) -> str | None:
    """The table that holds the labels of layers of a kind; None if there is no such kind."""
    name = kind.decode("utf-8", "replace") if isinstance(kind, bytes) else kind
    layer_kind = LAYER_KINDS.get(name) if name is not None else None
    return layer_kind.table if layer_kind is not None else None


def json_kind(stored: bytes | None) -> str | None:
    """Type of a JSON value: "dict", "list", "str", "number", "bool" or "null"; None if not JSON."""
    try:
        return _OF_JSON.get(type(json.loads(stored or b"")), "null")
    except (ValueError, RecursionError):
        return None


def texts_of(stored: bytes | None) -> int | None:
    """Number of texts of the layer's documents, from its options; None if these are not valid."""
    try:
        options = json.loads(stored or b"{}")
    except (ValueError, RecursionError):
        return None
    texts = options.get("texts", 1) if isinstance(options, dict) else None
    return texts if type(texts) is int and texts >= 0 else None


def problems(conn: sqlite3.Connection, version: int) -> Iterator[str]:
    """Sentences about invalid rows and history. `version` must not be newer than this program."""
    for table in of_version(version):
        yield from _table(conn, table)
    yield from _references(conn, version)
    if version > 1:  # in version 1, suggestions were kept when their run was deleted
        yield from _dangling(conn, "suggestion", "run_id", "run")
    yield from history_problems(conn)


# ---------------------------------------------------------------- values


def _table(conn: sqlite3.Connection, table: str) -> Iterator[str]:
    key = _KEYS.get(table, "id")
    wrong = _first_wrong(_names(conn, table), TABLES[table])
    rows = conn.execute(
        f"select {key}, wrong from (select *, {wrong} as wrong from {table})"
        f" where wrong is not null limit {SHOWN}"
    ).fetchall()
    for id, column in rows:
        (value,) = conn.execute(
            f'select cast("{column}" as blob) from {table} where {key} = ?', (id,)
        ).fetchone()
        message = _(
            "Row {id} of {table} has the value {value} in {column}, which is not valid.",
            id=id,
            table=table,
            column=column,
            value=_quoted(value),
        )
        yield message


def _names(conn: sqlite3.Connection, table: str) -> dict[str, str]:
    """Column → its quoted name. Files of an earlier version lack some: SQLite would read the quoted
    name of a missing column as a text.
    """
    stored = {row[1] for row in conn.execute("select * from pragma_table_info(?)", (table,))}
    return {name: f'"{name}"' for name in TABLES[table] if name in stored}


def _first_wrong(names: Mapping[str, str], columns: Mapping[str, ColumnRules]) -> str:
    """An SQL expression: the first column whose value is not valid, NULL if all are."""
    case = "when not ({valid}) then '{name}'"
    cases = [case.format(valid=_valid(columns[name], at), name=name) for name, at in names.items()]
    return f"case {' '.join(cases)} end"


def _valid(column: ColumnRules, name: str) -> str:
    if column.storage == "content":
        kind = f"typeof({name}) in ('text', 'blob')"
    elif column.storage == "value":
        kind = f"typeof({name}) in ('text', 'integer', 'real')"
    else:
        kind = f"typeof({name}) = '{column.storage}'"
    rule = column.rule.format(c=name)
    if any(function in rule for function in _OF_BLOBS):
        rule = rule.replace(f"({name})", f"(cast({name} as blob))")
    valid = f"{kind} and ifnull({rule}, 0)" if rule else kind
    return f"{name} is null or ({valid})" if column.null else valid


def delete_wrong(conn: sqlite3.Connection, table: str) -> int:
    """Delete the rows of a table that have a value that is not valid; returns their number."""
    wrong = _first_wrong(_names(conn, table), TABLES[table])
    return conn.execute(f"delete from {table} where {wrong} is not null").rowcount


def _quoted(value: bytes | None) -> str:
    if value is None:
        return "NULL"
    text = value.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= QUOTED else f"{text[: QUOTED - 1]}…")


# ---------------------------------------------------------------- references


def _references(conn: sqlite3.Connection, version: int) -> Iterator[str]:
    """Ids without a row. Some are not declared as foreign keys; declared ones may be violated."""
    for table in of_version(version):
        for name, column in TABLES[table].items():
            if column.refers:
                yield from _dangling(conn, table, name, column.refers)


def _dangling(conn: sqlite3.Connection, table: str, name: str, other: str) -> Iterator[str]:
    key = _KEYS.get(table, "id")
    rows = conn.execute(
        f'select {key}, "{name}" from {table} where "{name}" is not null'
        f' and "{name}" not in (select id from {other}) limit {SHOWN}'
    ).fetchall()
    for id, missing in rows:
        message = _(
            "Row {id} of {table} refers to row {missing} of {other}, which is missing.",
            id=id,
            table=table,
            missing=missing,
            other=other,
        )
        yield message


# ---------------------------------------------------------------- history


def history_problems(conn: sqlite3.Connection) -> Iterator[str]:
    """Check the rows that undo and redo would delete, change or restore."""
    for (seq,) in conn.execute(_MALFORMED).fetchall():
        yield _("Row {seq} of the history is not valid.", seq=seq)
    for table, columns in JOURNALED.items():
        names = {name: f"c{place}" for place, name in enumerate(columns)}
        wrong = f"case when c0 is not rid then 'id' else {_first_wrong(names, columns)} end"
        rows = conn.execute(
            f"select seq, wrong from (select seq, {wrong} as wrong from journal_row where tbl = ?"
            f" and op in ('update', 'insert')) where wrong is not null limit {SHOWN}",
            (table,),
        ).fetchall()
        for seq, column in rows:
            message = _(
                "Row {seq} of the history would restore a value in {column} of {table} "
                "that is not valid."
            )
            yield message.format(seq=seq, column=column, table=table)
    for id, title in conn.execute(_STEP_SIZES).fetchall():
        message = _("The history step {id} ({title}) does not have as many rows as it should.")
        yield message.format(id=id, title=title)
    (lost,) = conn.execute(
        "select count(*) from journal_row where step_id not in (select id from journal_step)"
    ).fetchone()
    if lost:
        yield ngettext(
            "The history has {n} row that belongs to no step.",
            "The history has {n} rows that belong to no step.",
            lost,
        )


_LISTED = ", ".join(f"'{word}'" for word in _OPERATIONS)
_TABLES = ", ".join(f"'{table}'" for table in JOURNALED)
_MALFORMED = f"""select seq from journal_row where not (tbl in ({_TABLES}) and op in ({_LISTED})
  and typeof(rid) = 'integer' and (doc is null or typeof(doc) = 'integer')
and typeof(step_id) = 'integer'
  and (op != 'delete' or c0 is null) and (op != 'range' or (typeof(c0) = 'integer' and c0 >= rid)))
  limit {SHOWN}"""
_STEP_SIZES = f"""select s.id, s.title from journal_step s where s.undone != {DROPPED} and s.rows !=
  (select ifnull(sum(case op when 'range' then c0 - rid + 1 else 1 end), 0) from journal_row r
where r.step_id = s.id)
  limit {SHOWN}"""
