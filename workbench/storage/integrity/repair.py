"""Makes the rows that were read of a damaged project consistent.

Invalid rows are deleted; lost layers, labels and documents that others refer to get new names.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator

from workbench.base.errors import ProjectError
from workbench.base.i18n import _, ngettext
from workbench.storage.integrity import document_check, value_check
from workbench.storage.schema.tables import TABLES, of_version
from workbench.storage.schema.values import ids_in, new_uid, now, text_out
from workbench.text.document import form_of, text_hash

LISTED = 10  # keys in a sentence of the report
_OWNER = "(select value from meta where key = 'annotator')"


def columns(conn: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in conn.execute(f"pragma table_info({table})")]


class Repair:
    """Repairs the rows in `conn`, a project of this version, in one transaction.

    After `run`: `dropped`, rows deleted or made up by table; `lost`, sentences about documents;
    `made_up`, entries of the project itself that were missing.
    """

    def __init__(self, conn: sqlite3.Connection, version: int):
        self.conn, self.version = conn, version
        self.dropped = Counter[str]()
        self.lost: list[str] = []
        self.made_up = 0

    def run(self) -> None:
        conn, tables = self.conn, of_version(self.version)
        for table in tables:
            self.dropped[table] += value_check.delete_wrong(conn, table)
        self._restore_meta()
        self._restore_annotators()
        self._restore_sources()
        self._restore_layers()
        self._restore_documents()
        self._drop_dangling()
        for table, count in document_check.delete_unfit(conn).items():
            self.dropped[table] += count
        self._drop_dangling()
        self._count_ids()

    def _restore_meta(self) -> None:
        defaults = (("uid", new_uid()), ("seed", 1), ("created", now()), ("version", ""))
        for key, value in defaults:
            if self.conn.execute("insert or ignore into meta values(?, ?)", (key, value)).rowcount:
                self.made_up += 1
        own = self.conn.execute(f"select id from annotator where id = {_OWNER}").fetchone()
        if own is None:
            (first,) = self.conn.execute("select ifnull(min(id), 1) from annotator").fetchone()
            self.conn.execute("insert or replace into meta values('annotator', ?)", (first,))
            self.made_up += 1

    def _references(self, other: str) -> Iterator[tuple[str, str, bool]]:
        """(table, column, whether it may be NULL) of everything that refers to `other`."""
        for table in of_version(self.version):
            for name, column in TABLES[table].items():
                if column.refers == other and name in columns(self.conn, table):
                    yield table, name, column.null

    def _missing(self, other: str) -> set[int]:
        return {
            id
            for table, name, _null in self._references(other)
            for (id,) in self.conn.execute(
                f'select distinct "{name}" from {table} where "{name}" > 0'
                f' and "{name}" not in (select id from {other})'
            )
        }

    def _restore_annotators(self) -> None:
        (own,) = self.conn.execute(f"select {_OWNER}").fetchone()
        known = self.conn.execute("select 1 from annotator where id = ?", (own,)).fetchone()
        for id in self._missing("annotator") | (set() if known else {own}):
            self.made_up += 1
            values = (id, new_uid(), _("recovered"))
            self.conn.execute("insert into annotator values(?, ?, ?)", values)

    def _restore_sources(self) -> None:
        for id in self._missing("source"):
            values = (id, "import", _("recovered"), None, now())
            self.conn.execute("insert into source values(?, ?, ?, ?, ?)", values)
            self.dropped["source"] += 1

    def _restore_layers(self) -> None:
        """Layers and labels that only their annotations are left of; their names are lost."""
        conn = self.conn
        kinds = {"mark": "class", "span": "span", "relation": "relation", "answer": "answer"}
        for id in sorted(self._missing("layer")):
            kind = next(
                (
                    kind
                    for table, kind in kinds.items()
                    if conn.execute(f"select 1 from {table} where layer_id = ?", (id,)).fetchone()
                ),
                "class",
            )
            conn.execute(
                f"insert into layer(id, uid, name, kind, gold) values(?, ?, ?, ?, {_OWNER})",
                (id, new_uid(), _("recovered layer {id}", id=id), kind),
            )
            self.dropped["layer"] += 1
        for id in sorted(self._missing("label")):
            for table in ("mark", "span", "suggestion", "relation"):
                row = conn.execute(
                    f"select layer_id from {table} where label_id = ?", (id,)
                ).fetchone()
                if row:
                    conn.execute(
                        "insert into label(id, uid, layer_id, name) values(?, ?, ?, ?)",
                        (id, new_uid(), row[0], _("recovered label {id}", id=id)),
                    )
                    self.dropped["label"] += 1
                    break

    def _restore_documents(self) -> None:
        """Texts without a document get one; documents without a text are deleted."""
        texts, missing = self._texts(), self._missing("document")
        changed = self._describe(texts)
        named = [self._add_document(id, texts[id]) for id in sorted(missing & texts.keys())]
        bare = self.conn.execute(
            "select id, key from document where id not in (select document_id from body)"
        ).fetchall()
        these = ids_in(id for id, _key in bare)
        self.conn.execute(
            "delete from document where id in (select value from json_each(?))", (these,)
        )
        gone = len(bare) + len(missing - texts.keys())
        message = ngettext("{n:,} document is lost", "{n:,} documents are lost", gone)
        self.lost += listed(message, [key for _id, key in bare], gone)
        message = ngettext(
            "{n:,} document has another text than was imported",
            "{n:,} documents have another text than was imported",
            len(changed),
        )
        self.lost += listed(message, changed)
        message = ngettext(
            "{n:,} document lost its key, split and metadata",
            "{n:,} documents lost their keys, splits and metadata",
            len(named),
        )
        self.lost += listed(message, named)

    def _texts(self) -> dict[int, tuple[tuple[str, str], ...]]:
        """Document id → its texts; deletes those that cannot be read."""
        texts: dict[int, tuple[tuple[str, str], ...]] = {}
        unreadable = []
        for row, id, field, content in self.conn.execute(
            "select id, document_id, field, content from body order by id"
        ):
            try:
                texts[id] = (*texts.get(id, ()), (field, text_out(content)))
            except ProjectError:
                unreadable.append((row,))
        self.conn.executemany("delete from body where id = ?", unreadable)
        self.dropped["body"] += len(unreadable)
        return texts

    def _describe(self, texts: dict[int, tuple[tuple[str, str], ...]]) -> list[str]:
        """Let documents describe the texts that they have; returns the keys of changed ones."""
        changed = []
        for id, key, *expected in self.conn.execute(
            "select id, key, text_hash, length, texts from document"
        ).fetchall():
            own = _described(texts.get(id, ()))
            if id in texts and own != tuple(expected):
                changed.append(key)
                statement = "update document set text_hash = ?, length = ?, texts = ? where id = ?"
                self.conn.execute(statement, (*own, id))
        return changed

    def _add_document(self, id: int, texts: tuple[tuple[str, str], ...]) -> str:
        key: str = _("recovered {id}", id=id)
        self.conn.execute(
            "insert into document(id, uid, key, text_hash, length, texts) values(?, ?, ?, ?, ?, ?)",
            (id, new_uid(), key, *_described(texts)),
        )
        return key

    def _drop_dangling(self) -> None:
        """Until every id that a row holds is there."""
        conn, again = self.conn, True
        while again:
            again = False
            for other in of_version(self.version):
                if other in ("meta", "prediction"):
                    continue
                gone = f"not in (select id from {other})"
                for table, name, null in self._references(other):
                    act = f'update {table} set "{name}" = null' if null else f"delete from {table}"
                    count = conn.execute(
                        f'{act} where "{name}" is not null and "{name}" {gone}'
                    ).rowcount
                    self.dropped[table] += count
                    again = again or bool(count)
            self.dropped["suggestion"] += conn.execute(
                "delete from suggestion where run_id is not null"
                " and run_id not in (select id from run)"
            ).rowcount

    def _count_ids(self) -> None:
        """Ids of documents and runs are never used twice, also those that are lost."""
        conn = self.conn
        for table in ("document", "run"):
            highest = conn.execute(
                f"select max(ifnull((select max(seq) from sqlite_sequence where name = '{table}'),"
                f" 0), ifnull((select max(id) from {table}), 0))"
            ).fetchone()[0]
            conn.execute("delete from sqlite_sequence where name = ?", (table,))
            if highest:
                conn.execute("insert into sqlite_sequence values(?, ?)", (table, highest))
        conn.execute("delete from sqlite_sequence where name not in ('document', 'run')")


def _described(texts: tuple[tuple[str, str], ...]) -> tuple[str, int, int]:
    """The columns of a document that follow from its texts: hash, length, form."""
    return text_hash(texts), sum(len(text) for _field, text in texts), form_of(texts)


def listed(sentence: str, keys: list[str], count: int | None = None) -> list[str]:
    """The sentence with `count` (by default the number of keys) and some keys; [] for 0."""
    number = len(keys) if count is None else count
    if not number:
        return []
    message = sentence.format(n=number)
    if not keys:
        return [f"{message}."]
    return [f"{message}: {', '.join(keys[:LISTED])}{' …' if len(keys) > LISTED else '.'}"]
