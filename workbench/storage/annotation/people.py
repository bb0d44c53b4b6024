"""People: the annotators of a project, and whose labels are gold.

Every row of labels and states has an annotator; those of the gold annotator of a layer are shown,
edited, trained and exported. Initials and colour are an entry of `meta`, which files of all
versions have.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workbench.storage.connections.database import Database
from workbench.storage.documents.flags import ASSIGNED
from workbench.storage.schema.tables import IS_READ_ONLY
from workbench.storage.schema.values import ids_in, new_id, new_uid
from workbench.text.labels import LABEL_TABLES

LOOKS = "people"  # key of `meta`: uid → initials and colour


@dataclass(frozen=True, slots=True)
class Person:
    """uid: 16 hex digits, equal in all files in which the person labels. initials: of the name
    unless chosen. colour: #RRGGBB, "" for the default one of the position.
    """

    id: int
    uid: str
    name: str
    initials: str = ""
    colour: str = ""


def every(db: Database) -> tuple[Person, ...]:
    """All annotators, in order of id."""
    rows = db.reader().execute("select id, uid, name from annotator order by id").fetchall()
    looks = _looks(db)
    return tuple(_person(id, uid, name, looks.get(uid, {})) for id, uid, name in rows)


def initials_of(name: str) -> str:
    """Up to two letters: the first one of the first and of the last word."""
    words = [word for word in name.split() if word[0].isalnum()]
    return "".join(word[0] for word in dict.fromkeys((*words[:1], *words[-1:]))).upper()


def add(db: Database, name: str, *, uid: str = "", initials: str = "", colour: str = "") -> int:
    """Add an annotator and return the id. Within a transaction; cannot be undone."""
    uid = uid or new_uid()
    inserted = db.writer.execute("insert into annotator(uid, name) values(?, ?)", (uid, name))
    id = new_id(inserted)
    if initials or colour:
        _set_look(db, uid, initials, colour)
    return id


def become(db: Database, id: int, person: Person) -> None:
    """Make an annotator the same person as one of another file."""
    values = (person.uid, person.name, id)
    db.writer.execute("update annotator set uid = ?, name = ? where id = ?", values)
    if person.colour or person.initials not in ("", initials_of(person.name)):
        _set_look(db, person.uid, person.initials, person.colour)


def change(db: Database, id: int, name: str, *, initials: str = "", colour: str = "") -> None:
    """Set the name and the look. Within a transaction; cannot be undone."""
    db.writer.execute("update annotator set name = ? where id = ?", (name, id))
    (uid,) = db.reader().execute("select uid from annotator where id = ?", (id,)).fetchone()
    _set_look(db, uid, initials, colour)


def submitted(db: Database) -> dict[tuple[int, int], int]:
    """(layer id, annotator id) → number of submitted documents; pairs without any are left out."""
    rows = db.reader().execute(
        "select layer_id, annotator_id, count(*) from state where state = 'submitted'"
        " group by layer_id, annotator_id"
    )
    return {(layer, annotator): count for layer, annotator, count in rows.fetchall()}


def submitted_by_several(db: Database, layer_id: int, annotators: Iterable[int]) -> set[int]:
    """The documents that at least two of these annotators submitted in a layer."""
    rows = db.reader().execute(
        "select document_id from state where layer_id = ? and state = 'submitted' and annotator_id"
        " in (select value from json_each(?)) group by document_id having count(*) > 1",
        (layer_id, ids_in(annotators)),
    )
    return {id for (id,) in rows.fetchall()}


def times(db: Database, layer_id: int, annotator_id: int) -> dict[int, str]:
    """Document → when the annotator submitted it in a layer, ISO 8601."""
    rows = db.reader().execute(
        "select document_id, at from state where layer_id = ? and annotator_id = ?"
        " and state = 'submitted'",
        (layer_id, annotator_id),
    )
    return dict(rows.fetchall())


def submission_times(db: Database, annotator_id: int) -> list[str]:
    """When each document was last submitted by the annotator in any layer, ISO 8601, ascending."""
    rows = db.reader().execute(
        "select max(at) as last from state where annotator_id = ? and state = 'submitted'"
        " group by document_id order by last",
        (annotator_id,),
    )
    return [at for (at,) in rows.fetchall()]


def states(db: Database) -> dict[tuple[int, int], dict[int, str]]:
    """(layer, annotator) → document → state."""
    by_document: dict[tuple[int, int], dict[int, str]] = {}
    rows = db.reader().execute("select layer_id, annotator_id, document_id, state from state")
    for layer, annotator, document, state in rows.fetchall():
        by_document.setdefault((layer, annotator), {})[document] = state
    return by_document


def equal_texts(db: Database, layer_id: int, annotator_id: int) -> list[list[int]]:
    """Documents with equal texts that the annotator submitted in a layer, at least two each; those
    of a text by time.
    """
    rows = db.reader().execute(
        "select d.text_hash, d.id from state s join document d on d.id = s.document_id"
        " where s.layer_id = ? and s.annotator_id = ? and s.state = 'submitted' and d.text_hash in"
        " (select text_hash from document group by text_hash having count(*) > 1)"
        " order by s.at, d.id",
        (layer_id, annotator_id),
    )
    groups: dict[str, list[int]] = {}
    for text_hash, id in rows.fetchall():
        groups.setdefault(text_hash, []).append(id)
    return [ids for ids in groups.values() if len(ids) > 1]


def labelling(db: Database, *, read_only: bool = True) -> set[int]:
    """The annotators who have labels or states, also of drafts; read_only: also in layers whose
    labels are read-only.
    """
    where = (
        "" if read_only else f" where layer_id not in (select id from layer where {IS_READ_ONLY})"
    )
    tables = " union ".join(
        f"select annotator_id from {name}{where}" for name in ("state", *LABEL_TABLES)
    )
    return {id for (id,) in db.reader().execute(tables).fetchall() if id is not None}


def labelled_layers(db: Database) -> set[int]:
    """Layers in which anybody has labels or states."""
    exists = " or ".join(
        f"exists (select 1 from {name} where layer_id = layer.id)"
        for name in ("state", *LABEL_TABLES)
    )
    rows = db.reader().execute(f"select id from layer where {exists}").fetchall()
    return {id for (id,) in rows}


def submitted_documents(db: Database) -> dict[int, int]:
    """Annotator id → number of documents that were submitted in at least one layer."""
    rows = db.reader().execute(
        "select annotator_id, count(distinct document_id) from state where state = 'submitted'"
        " group by annotator_id"
    )
    return dict(rows.fetchall())


def assigned(db: Database) -> dict[str, tuple[int, int]]:
    """Uid of a person → number of documents that are assigned to them, and of those of them that
    they submitted in at least one layer.
    """
    rows = db.reader().execute(
        "select f.uid, count(distinct f.document_id), count(distinct s.document_id) from"
        f" (select substr(name, {len(ASSIGNED) + 1}) as uid, document_id from flag"
        f" where substr(name, 1, {len(ASSIGNED)}) = '{ASSIGNED}') f"
        " left join annotator a on a.uid = f.uid left join state s on s.annotator_id = a.id"
        " and s.document_id = f.document_id and s.state = 'submitted' group by f.uid"
    )
    return {uid: (count, done) for uid, count, done in rows.fetchall()}


def _looks(db: Database) -> Mapping[str, Mapping[str, str]]:
    try:
        raw = json.loads(db.meta(LOOKS, "{}"))
    except (TypeError, ValueError):
        return {}
    return {uid: look for uid, look in raw.items() if isinstance(look, dict)}


def _person(id: int, uid: str, name: str, look: Mapping[str, str]) -> Person:
    initials = str(look.get("initials") or initials_of(name))
    return Person(id, uid, name, initials, str(look.get("colour") or ""))


def _set_look(db: Database, uid: str, initials: str, colour: str) -> None:
    look = {"initials": initials, "colour": colour}
    db.set_meta(LOOKS, json.dumps({**_looks(db), uid: look}, sort_keys=True))
