"""The triggers that write the journal: the old values of every row changed in an edit."""

from __future__ import annotations

from collections.abc import Iterator


def document_column(columns: list[str]) -> str | None:
    """The column with a row's document id. The table of documents is the one with `text_hash`."""
    if "document_id" in columns:
        return "document_id"
    return "id" if "text_hash" in columns else None


def triggers(table: str, columns: list[str]) -> Iterator[str]:
    into = ", ".join(f"c{number}" for number in range(len(columns)))
    old = ", ".join(f'old."{name}"' for name in columns)
    document = document_column(columns)
    step = (
        f"(case (select step from journal_now) when 0 then raise(abort, '{table} is changed "
        f"outside of an edit') else (select step from journal_now) end)"
    )
    new_doc, old_doc = (f"new.{document}", f"old.{document}") if document else ("null", "null")
    yield (
        f"create temp trigger journal_{table}_insert after insert on main.{table}"
        f" when new.id <= (select high from journal_high where tbl = '{table}') begin"
        f" insert into journal_row(step_id, tbl, op, rid, doc) values({step}, '{table}', "
        f"'delete', new.id, {new_doc}); end"
    )
    if table != "body":  # never updated
        watched = [name for name in columns if name != "id"]
        names = ", ".join(f'"{name}"' for name in watched)
        differs = " or ".join(f'old."{name}" is not new."{name}"' for name in watched)
        yield (
            f"create temp trigger journal_{table}_update after update of {names} on main.{table}"
            f" when {differs} begin insert into journal_row(step_id, tbl, op, rid, doc, {into})"
            f" values({step}, '{table}', 'update', old.id, {old_doc}, {old}); end"
        )
    yield (
        f"create temp trigger journal_{table}_delete before delete on main.{table} begin"
        f" insert into journal_row(step_id, tbl, op, rid, doc, {into})"
        f" values({step}, '{table}', 'insert', old.id, {old_doc}, {old}); end"
    )
