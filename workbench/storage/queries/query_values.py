"""Names and values in the project that a query can contain, for completion."""

from __future__ import annotations

from workbench.storage.connections.database import Database
from workbench.storage.documents.flags import REVIEWS

SAMPLE = 2_000  # documents at the start and at the end whose metadata are read
MAX_VALUES = 200  # names of one kind, and values of a metadata field
MAX_LENGTH = 60  # code points of a value that is offered

_QUERIES = {
    "label": "select distinct name from label order by layer_id, position, id",
    "layer": "select name from layer order by id",
    "source": (
        "select name from (select name, 0 as n, -id as m from run union all select name, 1, id from"
        " annotator union all select distinct case kind when 'rule' then"
        " substr(ref, instr(ref, ':') + 1) else ref end, 2, 0 from source where kind in"
        " ('import', 'rule') and ref != '') order by n, m"
    ),
    "assigned": "select name from annotator order by id",
    "file": "select distinct ref from source where kind = 'import' and ref != '' order by 1",
    "flag": f"select distinct name from flag where name not glob '{REVIEWS}*' order by 1",
}


def names(db: Database) -> dict[str, tuple[str, ...]]:
    """Key of the query language → names, at most `MAX_VALUES`."""
    read = db.reader().execute
    names_of = {}
    for key, query in _QUERIES.items():
        rows = read(f"{query} limit {MAX_VALUES}").fetchall()
        names_of[key] = tuple(dict.fromkeys(name for (name,) in rows if name))
    return names_of


def metadata(db: Database) -> dict[str, tuple[str, ...]]:
    """Metadata field → its short values, the most frequent first, in a sample of documents."""
    some = " union all ".join(
        f"select * from (select meta from document order by id {way} limit {SAMPLE})"
        for way in ("asc", "desc")
    )
    rows = db.reader().execute(
        f"select j.key, cast(j.atom as text), count(*) from ({some}) s, json_each(s.meta) j"
        " group by 1, 2 order by 1, 3 desc, 2"
    )
    values_of: dict[str, list[str]] = {}
    for key, value, _count in rows.fetchall():
        values = values_of.setdefault(key, [])
        if (
            value is not None
            and value.strip()
            and len(value) <= MAX_LENGTH
            and len(values) < MAX_VALUES
        ):
            values.append(value)
    return {key: tuple(values) for key, values in values_of.items()}
