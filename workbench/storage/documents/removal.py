"""Removes documents permanently: from tables, history, search index and free pages."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from workbench.base.errors import ProjectBusy
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.storage.connections import failures, header
from workbench.storage.connections.database import Database
from workbench.storage.documents import deletion
from workbench.storage.labels import guidelines
from workbench.storage.runs import replies
from workbench.storage.schema import migrations
from workbench.storage.schema.values import ids_in, text_out
from workbench.text import guideline

_THESE = "in (select value from json_each(?))"
_UIDS = (
    f"select id, uid from document where uid {_THESE} union"
    f" select rid, c1 from journal_row where tbl = 'document' and c1 {_THESE}"
)
_LABELS = ("mark", "span", "relation", "answer", "suggestion", "note", "flag")


@dataclass(frozen=True)
class DocumentTraces:
    """What a project file has of some documents: rows by table, and rows of the history."""

    documents: int
    labels: int
    predictions: int
    history: int


def uids(db: Database, ids: Iterable[int]) -> dict[int, str]:
    """Document id → uid; the uid is the same in all copies of the project."""
    rows = db.reader().execute(f"select id, uid from document where id {_THESE}", (ids_in(ids),))
    return dict(rows.fetchall())


def text_hashes(db: Database, ids: Iterable[int]) -> frozenset[str]:
    rows = db.reader().execute(f"select text_hash from document where id {_THESE}", (ids_in(ids),))
    return frozenset(hash for (hash,) in rows.fetchall())


def ids_of(db: Database, uid: str) -> list[int]:
    """Ids of the documents with these uids (a JSON array), also of those only in the history."""
    return sorted({id for id, _uid in db.reader().execute(_UIDS, (uid, uid)).fetchall()})


def found(db: Database, ids: Sequence[int]) -> DocumentTraces:
    """What `remove` would delete, also what a window hides (`Database.show_only`)."""
    these = ids_in(ids)

    def count(table: str, column: str) -> int:
        statement = f"select count(*) from main.{table} where {column} {_THESE}"
        return int(db.reader().execute(statement, (these,)).fetchone()[0])

    return DocumentTraces(
        count("document", "id"),
        sum(count(table, "document_id") for table in _LABELS),
        count("prediction", "document_id"),
        count("journal_row", "doc"),
    )


def texts(db: Database, ids: Sequence[int]) -> tuple[str, ...]:
    """The texts, questions and written texts of the documents, of all people, each once."""
    these = ids_in(ids)
    contents: dict[str, None] = {}
    for statement in (
        "select content from body where document_id {}",
        "select question from main.answer where document_id {}",
        "select text from main.answer where document_id {} and text is not null",
    ):
        rows = db.reader().execute(statement.format(_THESE), (these,)).fetchall()
        contents.update((text_out(content), None) for (content,) in rows)
    return tuple(contents)


def mentions(db: Database, ids: Sequence[int], redact: Callable[[str], str]) -> int:
    """Number of notes on other documents, prompts, patterns, filters and guidelines that `redact`
    would change.
    """
    statements = (
        f"select body from note where document_id not {_THESE}",
        "select body || spec from prompt_version where ?1 is not null",
        "select body from pattern where ?1 is not null",
        "select spec from saved_filter where ?1 is not null",
    )
    these = ids_in(ids)
    count: int = sum(
        redact(body) != body
        for statement in statements
        for (body,) in db.reader().execute(statement, (these,)).fetchall()
        if body
    )
    return count + sum(
        any(redact(form) != form for text in texts for form in (text, guideline.unmarked(text)))
        for texts in guidelines.every(db)
    )


def stays(db: Database, ids: Sequence[int], word: str) -> bool:
    """Whether a text of another document contains the word; case is ignored in ASCII only."""
    statement = (
        f"select 1 from body where document_id not {_THESE} and"
        " (instr(content, ?) or instr(lower(content), ?)) limit 1"
    )
    row = db.reader().execute(statement, (ids_in(ids), word, word.lower())).fetchone()
    return row is not None


def remove(
    db: Database,
    ids: Sequence[int],
    *,
    redact: Callable[[str], str] | None = None,
    watch: Watch = QUIET,
) -> int:
    """Delete documents and everything of them, also what undo would restore.

    `redact` is applied to the titles of the history, and to the settings and results of runs;
    replies of models that it would change are deleted.
    Within a transaction; `compact` must follow, as deleted rows stay in the free pages of the file
    until then. Returns the number of documents deleted.
    """
    these = ids_in(ids)
    conn = db.writer
    conn.execute(f"delete from prediction where document_id {_THESE}", (these,))
    deleted = db.journal.remove_for_good(
        these, lambda: deletion.delete(db, ids, watch=watch.part(0.0, 0.7))
    )
    watch.at(0.8)
    if redact is not None:
        _redact_titles(db, redact)
        _redact_runs(db, redact)
        replies.delete(db, lambda payload: redact(payload) != payload)
    conn.execute("insert into search(search) values('optimize')")  # drops the deleted words
    return deleted


def _redact_titles(db: Database, redact: Callable[[str], str]) -> None:
    for step, title in db.writer.execute("select id, title from journal_step").fetchall():
        if (redacted := redact(title)) != title:
            db.journal.rename_step(step, redacted)


def _redact_runs(db: Database, redact: Callable[[str], str]) -> None:
    columns = ("spec", "scores", "result")
    rows = db.writer.execute(f"select id, {', '.join(columns)} from run").fetchall()
    for id, *values in rows:
        redacted = [value and redact(value) for value in values]
        if redacted != values:
            changes = ", ".join(f"{column} = ?" for column in columns)
            db.writer.execute(f"update run set {changes} where id = ?", (*redacted, id))


def compact(db: Database) -> None:
    """Rewrite the file, so that nothing deleted is left in it or in its log.

    Needs free disk space of the file's size. Raises ProjectBusy while another window or command
    reads the project: it may still need the log.
    """
    with db.alone() as conn:
        db.vacuum()
        (busy, *_rest) = conn.execute("pragma wal_checkpoint(truncate)").fetchone()
    if busy:
        raise ProjectBusy(
            _("{path} is being read by another window or command.", path=db.path),
            hint=_("Close it there, then remove the documents again to finish."),
        )


def in_file(path: Path, uid: str) -> tuple[bool, bool]:
    """Whether a project file that nobody writes has documents with these uids (a JSON array), and
    whether it is of the current version.

    Raises ProjectError if it cannot be read.
    """
    version = header.examine(path).version
    with (
        failures.explained(path, writing=False),
        closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        ) as conn,
    ):
        there = conn.execute(_UIDS, (uid, uid)).fetchone() is not None
    return there, version == migrations.CURRENT
