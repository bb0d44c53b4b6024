"""Checks a project file for damage, without changing it.

In this order: pages and schema, values and references, texts and offsets, the search index, and the
checksums, which also reveal valid values that were changed.

Not detected: changes after which the checksums were recomputed (they protect against accidents and
other programs, not against forgery); changes of a real number beyond its 12th decimal place; valid
changes made before the file was upgraded to version 2. Irrelevant and not reported: the time of
migrations, id counters that are higher than necessary, unused columns of history rows, and unused
pages and segments of the full-text index.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from workbench.base.errors import ProjectError
from workbench.base.i18n import _, ngettext
from workbench.storage.connections import failures, temp_files
from workbench.storage.connections.database import Database
from workbench.storage.integrity import checksums, document_check, value_check
from workbench.storage.queries import search, state_keys
from workbench.storage.schema import migrations, schema_check

SHOWN = 20  # of one kind

_BROKEN = (AttributeError, KeyError, OverflowError, TypeError, ValueError)  # a value of any type

Check = Callable[[sqlite3.Connection], Iterator[str]]


def problems(db: Database, *, contents: bool = False) -> Iterator[str]:
    """Sentences about all problems found, the most severe first.

    contents: without what can be computed again: search index, table of states.
    Reads in one transaction, so that concurrent changes of another process are not reported.
    """
    with closing(db.checking_reader()) as conn, temp_files.beside(db.path):
        conn.text_factory = _readable
        for register in (checksums.register, value_check.register):
            register(conn)
        conn.create_function("seg", 1, search.seg, deterministic=True)
        conn.execute("begin")
        (version,) = conn.execute("pragma user_version").fetchone()
        reported: set[str] = set()
        for check in (_file, *_checks(version, contents)):
            for problem in _guarded(conn, check):
                if problem not in reported:
                    reported.add(problem)
                    yield problem
    if version <= migrations.CURRENT and not contents:
        yield from _index_structure(db)


def _checks(version: int, contents: bool) -> tuple[Check, ...]:
    if version > migrations.CURRENT:
        return ()  # the schema of a newer version is not known here
    checks: tuple[Check, ...] = (
        lambda conn: schema_check.problems(conn, version),
        lambda conn: value_check.problems(conn, version),
        document_check.problems,
        _entries,
    )
    if not contents:
        checks = (*checks, _search)
    if version >= 2:
        checks = (*checks, _checksums)
    return (*checks, _state_keys) if version >= 4 and not contents else checks


def _guarded(conn: sqlite3.Connection, check: Check) -> Iterator[str]:
    """The problems that one check finds; an error that ends the check is reported as a problem."""
    try:
        yield from check(conn)
    except ProjectError as error:
        if "user-defined" in error.message:
            error = failures.damaged(_unreadable(), getattr(conn, "path", Path()))
        yield error.message
    except (sqlite3.Error, *_BROKEN) as error:
        ours = not isinstance(error, (sqlite3.Error, UnicodeDecodeError))
        if ours or "user-defined" in str(error):  # words of Python help no one
            error = _unreadable()
        yield failures.damaged(error, getattr(conn, "path", Path())).message


def _unreadable() -> ValueError:
    return ValueError(_("it contains values that cannot be read"))


def _readable(stored: bytes) -> str:
    return stored.decode("utf-8", "backslashreplace")


# ---------------------------------------------------------------- file, entries, checksums


def _file(conn: sqlite3.Connection) -> Iterator[str]:
    rows = conn.execute(f"pragma integrity_check({SHOWN})").fetchall()
    lines = [line for (text,) in rows for line in text.splitlines()]
    places = [line for line in lines if line != "ok" and not line.startswith("***")]
    if places:
        message = ngettext(
            "The file is damaged in {n} place: {line}.",
            "The file is damaged in {n} places or more. The first: {line}.",
            len(places),
            line=places[0],
        )
        yield message


def _entries(conn: sqlite3.Connection) -> Iterator[str]:
    """Check the entries needed to open the file, and counters of ids that are never reused."""
    meta = dict(conn.execute("select key, value from meta").fetchall())
    own = conn.execute("select id from annotator where id = ?", (meta.get("annotator"),)).fetchone()
    if own is None or type(meta.get("seed")) is not int or len(str(meta.get("uid"))) != 16:
        yield _("The entries that identify the project and its annotator are missing or not valid.")
    counters: dict[object, list[object]] = {"document": [], "run": []}
    for name, counter in conn.execute("select name, seq from sqlite_sequence").fetchall():
        counters.setdefault(name, []).append(counter)
    for table in ("document", "run"):
        (highest,) = conn.execute(f"select ifnull(max(id), 0) from {table}").fetchone()
        (counter, *more) = counters.pop(table) or [0]
        if more or not isinstance(counter, int) or counter < highest:
            message = _(
                "The counter of ids of {table} is not valid: deleted ids could be reused.",
                table=table,
            )
            yield message
    if counters:
        yield _("There are counters of ids for tables that have none.")
    (version,) = conn.execute("pragma user_version").fetchone()
    names = [("glossbench", step.__name__) for step in migrations.MIGRATIONS[:version]]
    noted = conn.execute("select migration_set, name from _sqlite_migrations order by id")
    if noted.fetchall() != names:
        yield _("The list of schema versions that were applied is not valid.")


def _checksums(conn: sqlite3.Connection) -> Iterator[str]:
    owners_of: dict[str, list[int]] = {}
    for name, owner in checksums.differences(conn):
        owners_of.setdefault(name, []).append(owner)
    for name, owners in owners_of.items():
        for owner in owners[:SHOWN]:
            yield _changed(conn, name, owner)
        if (more := len(owners) - SHOWN) > 0:
            yield ngettext("… and {n} more like it.", "… and {n} more like these.", more)


_DESCRIBED = {
    "document": "select key from document where id = ?",
    "layer": "select name from layer where id = ?",
    "run": "select name from run where id = ?",
    "prompt": "select name from prompt where id = ?",
    "step": "select title from journal_step where id = ?",
}


def _changed(conn: sqlite3.Connection, name: str, owner: int) -> str:
    sentences = {
        "document": _(
            "Document {id} ({name}) or its labels, states or suggestions were changed outside "
            "Glossbench."
        ),
        "layer": _("The layer {name} ({id}) or its labels were changed outside Glossbench."),
        "run": _("The run {name} ({id}) or its predictions were changed outside Glossbench."),
        "prompt": _("The prompt {name} ({id}) or its versions were changed outside Glossbench."),
        "step": _("The history step {id} ({name}) was changed outside Glossbench."),
        "source": _("The list of sources of labels was changed outside Glossbench."),
        "saved_filter": _("The saved filters were changed outside Glossbench."),
        "pattern": _("The patterns were changed outside Glossbench."),
        "annotator": _("The list of annotators was changed outside Glossbench."),
        "meta": _("The settings of the project were changed outside Glossbench."),
    }
    row = conn.execute(_DESCRIBED[name], (owner,)).fetchone() if name in _DESCRIBED else None
    sentence = sentences.get(
        name, _("The list of checksums has an entry that does not belong there (row {id}).")
    )
    return sentence.format(id=owner, name=row[0] if row else "?")


def _state_keys(conn: sqlite3.Connection) -> Iterator[str]:
    if not state_keys.is_right(conn):
        yield _(
            "The table that filters look up states in does not match the states: lists and counts "
            "may be wrong."
        )


# ---------------------------------------------------------------- search index


_WORDS = "select count(*), sum(crc(cast(term || ' ' || doc || ' ' || \"offset\" as blob))) from {}"
_SIZES = "select count(*), sum(crc(cast(id || ' ' || hex(sz) as blob))) from {}"
_SETTINGS = "select k, v from {} where k != 'hashsize'"  # its memory, see `search.add_texts`


def _search(conn: sqlite3.Connection) -> Iterator[str]:
    """Check that the index has exactly the words of the texts, by comparison with a new index."""
    conn.execute("create virtual table temp.has using fts5vocab('main', 'search', 'instance')")
    conn.execute(migrations.SEARCH.format(name="temp.fresh"))
    conn.execute("insert into temp.fresh(rowid, content) select id, seg(content) from body")
    conn.execute("create virtual table temp.needs using fts5vocab('temp', 'fresh', 'instance')")
    for statement, *tables in (
        (_WORDS, "temp.has", "temp.needs"),
        (_SIZES, "search_docsize", "temp.fresh_docsize"),
        (_SETTINGS, "search_config", "temp.fresh_config"),
    ):
        have, need = (conn.execute(statement.format(table)).fetchall() for table in tables)
        if have != need:
            yield _("The full-text index does not match the texts: searches may miss documents.")
            return


def _index_structure(db: Database) -> Iterator[str]:
    """SQLite's own check of the index. It changes nothing, but requires write permission."""
    if not db.may_be_written:
        return
    with closing(sqlite3.connect(db.path, timeout=10, isolation_level=None)) as conn:
        try:
            conn.execute("insert into search(search) values('integrity-check')")
        except sqlite3.OperationalError:
            return  # another process is writing
        except sqlite3.DatabaseError as error:
            yield _("The full-text index is damaged: {error}.", error=error)
