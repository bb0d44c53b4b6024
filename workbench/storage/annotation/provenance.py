"""Annotators, and the sources and origins of labels and suggestions; reverting one origin."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.storage.annotation.annotations import reset_untouched
from workbench.storage.connections import failures
from workbench.storage.connections.database import Database
from workbench.storage.documents.bulk import reopen_submitted
from workbench.storage.schema.tables import SOURCE_KINDS
from workbench.storage.schema.values import ids_in, name_in, new_id, now
from workbench.text.labels import LABEL_TABLES


class Origin(NamedTuple):
    """Sources that are one to the user: `by` is the annotator if `kind` is person, else None."""

    kind: str
    ref: str = ""
    by: int | None = None


BY = "case s.kind when 'person' then s.annotator_id end"
OF_ORIGIN = f"select s.id from source s where s.kind = ? and s.ref = ? and {BY} is ?"
"""SQL of the ids of the sources of an origin, which gives the parameters."""


CHANGES = "annotators"  # key of `meta`: [id of a source, id of the annotator since], oldest first


def own_annotator(db: Database) -> tuple[int, str]:
    """Id and name of the person who labels. Raises ProjectDamaged if the file names none."""
    id = db.meta_number("annotator")
    for source_id, since in reversed(_changes(db)):
        statement = "select 1 from source where id = ? and kind = 'person' and annotator_id = ?"
        if db.reader().execute(statement, (source_id, since)).fetchone():
            id = since
            break
    row = db.reader().execute("select name from annotator where id = ?", (id,)).fetchone()
    if row is None:
        error = ValueError(_("its annotator {id} is missing", id=id))
        raise failures.damaged(error, db.path)
    return id, row[0]


def change_annotator(db: Database, id: int) -> None:
    """Another person labels from now on, until this edit is undone.

    `meta` is not part of the history: the change is in effect while the source that it adds exists.
    """
    source_id = add_source(db, "person", "", id)
    db.set_meta(CHANGES, json.dumps([*_changes(db), [source_id, id]]))


def _changes(db: Database) -> list[tuple[int, int]]:
    try:
        changes = json.loads(db.meta(CHANGES, "[]"))
        return [(int(source_id), int(since)) for source_id, since in changes]
    except (TypeError, ValueError):
        return []


def add_source(db: Database, kind: str, ref: str = "", annotator_id: int | None = None) -> int:
    """Add a source, one per operation, and return its id. Raises ValueError for an unknown kind."""
    if kind not in SOURCE_KINDS:
        raise ValueError(f"source kind {kind!r} is none of {SOURCE_KINDS}")
    row = (kind, name_in(ref), annotator_id, now())
    inserted = db.writer.execute(
        "insert into source(kind, ref, annotator_id, at) values(?, ?, ?, ?)", row
    )
    return new_id(inserted)


CHUNK = 1000  # documents per statement


class OriginCounts(NamedTuple):
    """What an origin made: gold and other labels, open suggestions, and when (ISO 8601, UTC)."""

    origin: Origin
    labels: int
    suggestions: int
    first: str
    last: str


def origins(db: Database) -> list[Origin]:
    """All origins, the one with the latest source first."""
    statement = f"select s.kind, s.ref, {BY} as who from source s group by 1, 2, 3"
    rows = db.reader().execute(f"{statement} order by max(s.id) desc").fetchall()
    return [Origin(*row) for row in rows]


def made(db: Database) -> list[OriginCounts]:
    """What each origin made, the latest first. Counts all labels: seconds for some millions."""
    count = "select source_id, count(*) as n from {} group by source_id"
    suggested = "select source_id, count(*) as n from suggestion where status = 'open' group by 1"
    labels = " union all ".join(count.format(table) for table in LABEL_TABLES)
    statement = (
        f"select s.kind, s.ref, {BY} as who, ifnull(sum(l.n), 0), ifnull(sum(g.n), 0), min(s.at),"
        f" max(s.at) from source s left join (select source_id, sum(n) as n from ({labels})"
        f" group by source_id) l on l.source_id = s.id left join ({suggested}) g on"
        " g.source_id = s.id group by 1, 2, 3 order by max(s.id) desc"
    )
    return [
        OriginCounts(Origin(kind, ref, by), *numbers)
        for kind, ref, by, *numbers in db.reader().execute(statement).fetchall()
    ]


def annotators(db: Database) -> dict[int, str]:
    """Id → name."""
    return dict(db.reader().execute("select id, name from annotator").fetchall())


def open_suggestions(
    db: Database,
    layer_ids: Sequence[int],
    *,
    origin: Origin | None = None,
    least: float | None = None,
    below: float | None = None,
) -> list[int]:
    """Ids of the open suggestions in these layers, of all documents.

    `least`: only with at least this score, or without a score. `below`: only with a lower score.
    """
    statement = (
        "select id from suggestion where status = 'open'"
        " and layer_id in (select value from json_each(?))"
    )
    values: list[object] = [ids_in(layer_ids)]
    if origin is not None:
        statement += f" and source_id in ({OF_ORIGIN})"
        values += origin
    if least is not None:
        statement += " and ifnull(score, 1) >= ?"
        values.append(least)
    if below is not None:
        statement += " and score < ?"
        values.append(below)
    return [id for (id,) in db.reader().execute(f"{statement} order by id", values).fetchall()]


def documents_of(db: Database, origin: Origin) -> int:
    """Number of documents with labels of an origin, also where a window hides them."""
    documents = " union ".join(
        f"select document_id from main.{table} where source_id in ({OF_ORIGIN})"
        for table in LABEL_TABLES
    )
    values = tuple(origin) * len(LABEL_TABLES)
    count: int = db.reader().execute(f"select count(*) from ({documents})", values).fetchone()[0]
    return count


def take_back(
    db: Database, origin: Origin, required: Sequence[int], *, watch: Watch = QUIET
) -> tuple[int, int]:
    """Delete the labels of an origin, and its suggestions unless they were rejected.

    A draft without a label left becomes pending; so does, as a draft, a submitted document that has
    no label left in a layer of `required`. Returns the numbers of labels and of suggestions.
    """
    read, write = db.writer.execute, db.writer.execute
    touched: dict[tuple[int, int], set[int]] = {}
    for table in LABEL_TABLES:
        statement = (
            f"select distinct layer_id, annotator_id, document_id from {table}"
            f" where source_id in ({OF_ORIGIN})"
        )
        for layer, by, document in read(statement, origin).fetchall():
            touched.setdefault((layer, by), set()).add(document)
    with_its_spans = (  # relations, also of other people, which are deleted with them
        "select distinct layer_id, annotator_id, document_id from relation r where exists (select 1"
        f" from span s where s.id in (r.from_span, r.to_span) and s.source_id in ({OF_ORIGIN}))"
    )
    for layer, by, document in read(with_its_spans, origin).fetchall():
        touched.setdefault((layer, by), set()).add(document)
    everything = sorted(set().union(*touched.values())) if touched else []
    labels = 0
    for chunk in watch.part(0.0, 0.7).over(everything, CHUNK):
        for table in LABEL_TABLES:
            labels += write(
                f"delete from {table} where document_id in (select value from json_each(?))"
                f" and source_id in ({OF_ORIGIN})",
                (ids_in(chunk), *origin),
            ).rowcount
    for (layer, by), documents in touched.items():
        for chunk in watch.part(0.7, 0.9).over(sorted(documents), CHUNK):
            reset_untouched(db, chunk, layer, by)
            if layer in required:
                reopen_submitted(db, chunk, layer, by)
    suggestions = write(
        f"delete from suggestion where status != 'rejected' and source_id in ({OF_ORIGIN})", origin
    ).rowcount
    return labels, suggestions
