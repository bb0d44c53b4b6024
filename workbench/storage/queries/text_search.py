"""Documents that a search finds: all of them, or quickly some for the first rows of a table."""

from __future__ import annotations

import json
import re
import sqlite3
from array import array
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from workbench.storage.queries import search
from workbench.storage.schema import migrations

if TYPE_CHECKING:
    from workbench.storage.connections.database import Database

SAMPLED = 400  # texts, from the first on, in which the first rows are searched for
SAMPLED_CHARACTERS = 1_000  # of each of them
SCREEN = 40  # matches in the sample that fill a table
FIRST = 200  # matches that are read from the index if the sample has fewer

Row = tuple[int, str]

_BY_INDEX = (
    "select b.document_id as id from search s cross join body b on b.id = s.rowid"
    " where s.search match ? order by s.rowid"
)
_BY_KEY = "select id from document where key like ? escape '\\'"
_BY_QUESTION = "select document_id as id from answer where question like ? escape '\\'"
_BEGINNINGS = (
    "select document_id, case typeof(content) when 'text' then"
    f" substr(content, 1, {SAMPLED_CHARACTERS}) else '' end from body order by id limit ?"
)


def add_text(add: Callable[..., None], text: str, ids: str = "") -> None:
    """Match documents whose texts contain the words, or a key or question `text`, ignoring case.

    `ids`: JSON of the only documents in question, if there are few.
    """
    query = search.query(text)
    if query is not None:
        texts = "id in (select rowid from search where search match ?)"
    else:  # punctuation only, which is not in the index
        texts, query = "instr(content, ?)", text.strip()
    parts, values = [f"select document_id from body where {texts}"], [query]
    for statement, id in ((_BY_KEY, "id"), (_BY_QUESTION, "document_id")):
        only = f" and {id} in (select value from json_each(?))" if ids else ""
        parts.append(statement + only)
        values += [_pattern(text), *([ids] if ids else [])]
    add(f"d.id in ({' union '.join(parts)})", *values)


def _pattern(text: str) -> str:
    return "%" + re.sub(r"([%_\\])", r"\\\1", text.strip()) + "%"


def matches(db: Database, text: str) -> array[int] | None:
    """Ids of all documents that `add_text` matches, in order; None if the index does not help.

    For a million matches a third of the time of the condition, whose union sorts all of them.
    """
    query = search.query(text)
    if query is None:
        return None
    document_ids = numbers(db, _BY_INDEX, [query])
    for statement in (_BY_KEY, _BY_QUESTION):
        document_ids += numbers(db, statement, [_pattern(text)])
    return array("q", dict.fromkeys(sorted(document_ids)))


class _Sample:
    """An index in memory of the texts in which the last search looked for its first rows.

    While one types, the texts are the same; to index them takes longer than the search.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._rows: list[Row] = []
        self._index: sqlite3.Connection | None = None

    def places(self, rows: list[Row], query: str) -> list[int]:
        """The places in `rows`, of (id, text), of the texts that match a query."""
        with self._lock:
            if self._index is None or rows != self._rows:
                self._fill(rows)
            matching = "select rowid from sample where sample match ?"
            return [place for (place,) in cast(Any, self._index).execute(matching, (query,))]

    def _fill(self, rows: list[Row]) -> None:
        if self._index is not None:
            self._index.close()
        # searches run in any of the threads of the pool, one after another here
        self._index = conn = sqlite3.connect(":memory:", check_same_thread=False)
        conn.execute(migrations.SEARCH.format(name="sample"))
        texts = ((place, search.seg(text)) for place, (_id, text) in enumerate(rows))
        conn.executemany("insert into sample(rowid, content) values(?, ?)", texts)
        self._rows = rows


_sample = _Sample()


def first_matches(db: Database, text: str) -> array[int]:
    """Ids of some documents in whose texts the words occur, usually the first ones, in order.

    The index reads all occurrences of a prefix before it returns one. This takes long for a prefix
    of many words, but then the first texts contain some.
    """
    query = search.query(text)
    if query is None:
        return array("q")
    rows = db.reader().execute(_BEGINNINGS, (SAMPLED,)).fetchall()
    places = _sample.places(rows, query)
    if len(places) >= SCREEN:
        return array("q", dict.fromkeys(rows[place][0] for place in places))
    return array("q", dict.fromkeys(numbers(db, f"{_BY_INDEX} limit {FIRST}", [query])))


def narrows(text: str, before: str) -> bool:
    """Whether `text` can only match documents that `before` matches, as when it is typed on."""
    return (
        text.startswith(before)
        and bool(before)
        and not before[-1].isspace()
        and search.query(before) is not None
    )


def numbers(db: Database, query: str, values: list[object]) -> list[int]:
    """The column `id` of a query, as one value: a third of the time of a row for each number."""
    statement = f"select json_group_array(id) from ({query})"
    (listed,) = db.reader().execute(statement, values).fetchone()
    result: list[int] = json.loads(listed)
    return result
