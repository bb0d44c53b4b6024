"""Runs (one training or prompt run each) and their predictions. Not undoable."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.storage.connections.database import Database
from workbench.storage.schema.tables import RUN_STATUSES
from workbench.storage.schema.values import Row, ids_in, json_in, json_out, new_id, new_uid, now

if TYPE_CHECKING:  # `fields` imports numpy, which would delay the first window
    from workbench.storage.journal.journal import Touched
    from workbench.text.fields import Prediction

UNFINISHED = ("waiting", "running")
_MARKS = ", ".join("?" * len(UNFINISHED))
_JSON = ("spec", "scores", "result", "versions")
_LISTING = "listing"  # key in the column `spec`
_COLUMNS = (
    "id uid name kind parent_id layer_id spec status scores result versions "
    "base_fingerprint data_fingerprint test_fingerprint seen_test at"
).split()


@dataclass(frozen=True)
class Failure:
    """Why a run has no result. `details`: a traceback, or the last lines of the log."""

    message: str = ""
    hint: str = ""
    details: str = ""


@dataclass(frozen=True)
class Listing:
    """How the user organises a run in the list of runs; "" is no group and no note.

    Stored in the column `spec`: a column of its own would change the schema, and an upgrade of the
    schema ends the undo history of a project.
    """

    group: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    archived: bool = False

    @classmethod
    def from_json(cls, raw: object) -> Listing:
        """Values of another type, as a damaged file may have, are left out."""
        if not isinstance(raw, dict):
            return cls()
        group, note, tags = (raw.get(name) for name in ("group", "note", "tags"))
        return cls(
            group if isinstance(group, str) else "",
            tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
            note if isinstance(note, str) else "",
            raw.get("archived") is True,
        )


@dataclass(frozen=True)
class Run:
    """A row of the table of runs.

    `kind`: "train", "prompt" or another type of run. `status`: one of `tables.RUN_STATUSES`.
    `result`: the JSON object that the job returned; `operations.runs.run_results` reads it.
    """

    id: int
    uid: str
    name: str
    kind: str
    parent_id: int | None
    layer_id: int | None
    layer: str  # current name of the layer; "" if it was deleted
    spec: dict[str, Any] = field(hash=False)
    status: str
    scores: dict[str, Any] = field(hash=False)  # split → metric → value in [0, 1]
    result: dict[str, Any] = field(hash=False)
    versions: dict[str, Any] = field(hash=False)
    base_fingerprint: str
    data_fingerprint: str
    test_fingerprint: str
    seen_test: int
    at: str
    listing: Listing = Listing()

    @property
    def seconds(self) -> float | None:
        return self.result.get("seconds")

    @property
    def failure(self) -> Failure:
        """Empty for a run that has not failed."""
        return Failure(*(str(self.result.get(item.name) or "") for item in fields(Failure)))


def add(db: Database, name: str, kind: str = "train", **values: Any) -> Run:
    """Add a run; `values` are columns. Raises WorkbenchError if the name is empty or in use."""
    _check_name(db, name)
    row = {
        "uid": new_uid(),
        "status": "waiting",
        "at": now(),
        **_stored(values),
        "name": name,
        "kind": kind,
    }
    names = ", ".join(row)
    marks = ", ".join("?" * len(row))
    inserted = db.writer.execute(f"insert into run({names}) values({marks})", tuple(row.values()))
    return get(db, new_id(inserted))


def update(db: Database, id: int, **values: Any) -> Run:
    """Set columns of a run.

    Raises KeyError if there is no such run, WorkbenchError if a new name is empty or in use.
    """
    if "name" in values and values["name"] != get(db, id).name:
        _check_name(db, values["name"])
    row = _stored(values)
    changes = ", ".join(f"{name} = ?" for name in row)
    db.writer.execute(f"update run set {changes} where id = ?", (*row.values(), id))
    return get(db, id)


def organise(db: Database, id: int, listing: Listing) -> Run:
    """Set group, tags, note and archive of a run. Raises KeyError if there is no such run."""
    values = {name: value for name, value in asdict(listing).items() if value}
    spec = {**get(db, id).spec, **({_LISTING: values} if values else {})}
    return update(db, id, spec=spec)


def _check_name(db: Database, name: str) -> None:
    if not name.strip():
        raise WorkbenchError(_("A run needs a name."))
    if by_name(db, name) is not None:
        raise WorkbenchError(
            _("A run named {name!r} already exists.", name=name),
            hint=_("Choose another name."),
        )


def _stored(values: dict[str, Any]) -> dict[str, Any]:
    unknown = set(values) - set(_COLUMNS) - {"id"}
    if unknown:
        raise TypeError(f"a run has no {', '.join(sorted(unknown))}")
    if values.get("status", RUN_STATUSES[0]) not in RUN_STATUSES:
        raise ValueError(f"status {values['status']!r} is none of {RUN_STATUSES}")
    return {name: json_in(value) if name in _JSON else value for name, value in values.items()}


def free_name(db: Database, stem: str) -> str:
    """`stem` if no run has this name, otherwise the first unused of `stem 2`, `stem 3` …"""
    taken = {name for (name,) in db.reader().execute("select name from run").fetchall()}
    number, name = 1, stem
    while name in taken:
        number += 1
        name = f"{stem} {number}"
    return name


def get(db: Database, id: int) -> Run:
    """Raises KeyError if there is no such run."""
    rows = _select(db, "where run.id = ?", id)
    if not rows:
        raise KeyError(id)
    return rows[0]


def all(db: Database) -> tuple[Run, ...]:
    """All runs, oldest first."""
    return _select(db, "order by run.id")


def by_name(db: Database, name: str) -> Run | None:
    rows = _select(db, "where run.name = ?", name)
    return rows[0] if rows else None


def delete(db: Database, id: int, *, watch: Watch = QUIET) -> Touched | None:
    """Delete a run with its predictions and suggestions. Cannot be undone.

    Labels accepted from its suggestions are kept. Returns the deleted suggestions. The caller
    deletes the run's folder; see `Project.delete_run`.
    """
    touched = db.journal.purge("suggestion", "run_id", id, watch=watch)
    db.writer.execute("delete from run where id = ?", (id,))
    return touched


def _select(db: Database, rest: str, *values: Any) -> tuple[Run, ...]:
    columns = ", ".join(f"run.{name}" for name in _COLUMNS)
    statement = (
        f"select {columns}, ifnull(layer.name, '') from run left join layer on layer.id = "
        f"run.layer_id {rest}"
    )
    rows = db.reader().execute(statement, values).fetchall()
    at = _COLUMNS.index("status")
    interrupted = any(row[at] in UNFINISHED for row in rows) and not db.written_by_someone()
    return tuple(_run(row, interrupted) for row in rows)


def _run(row: Row, interrupted: bool) -> Run:
    values = dict(zip((*_COLUMNS, "layer"), row, strict=True))
    for name in _JSON:
        values[name] = json_out(values[name])
    values["listing"] = Listing.from_json(values["spec"].pop(_LISTING, None))
    if interrupted and values["status"] in UNFINISHED:
        values["status"] = "interrupted"
    return Run(**values)


def any_unfinished(db: Database) -> bool:
    query = f"select exists(select 1 from run where status in ({_MARKS}))"
    return bool(db.reader().execute(query, UNFINISHED).fetchone()[0])


def record_interrupted(db: Database) -> int:
    """Mark unfinished runs as interrupted; returns their number.

    Called by a writer that has just opened the project, when no job of it can be running.
    """
    return db.writer.execute(
        f"update run set status = 'interrupted' where status in ({_MARKS})", UNFINISHED
    ).rowcount


# ---------------------------------------------------------------- predictions


def save_predictions(
    db: Database, run_id: int, rows: Iterable[tuple[int, str, dict[str, Any]]]
) -> int:
    """Save rows of (document id, text hash, Prediction.to_json()); returns their number.

    Replaces earlier predictions of the same run and document.
    """
    stored = [
        (run_id, document_id, text_hash, json_in(payload) or "{}")
        for document_id, text_hash, payload in rows
    ]
    db.writer.executemany("insert or replace into prediction values(?, ?, ?, ?)", stored)
    return len(stored)


def predictions(
    db: Database, run_id: int, document_ids: Iterable[int] | None = None
) -> dict[int, tuple[str, Prediction]]:
    """Map document id → (hash of the text at prediction time, prediction)."""
    from workbench.text.fields import Prediction

    return {
        id: (text_hash, Prediction.from_json(raw))
        for id, text_hash, raw in prediction_rows(db, run_id, document_ids)
    }


def predicted(
    db: Database, run_id: int, document_ids: Iterable[int] | None = None
) -> dict[int, str]:
    """Document id → hash of the text at prediction time, of the predictions of a run."""
    statement = "select document_id, text_hash from prediction where run_id = ?"
    values: list[object] = [run_id]
    if document_ids is not None:
        statement += " and document_id in (select value from json_each(?))"
        values.append(ids_in(document_ids))
    return dict(db.reader().execute(statement, values).fetchall())


@dataclass(frozen=True)
class Decided:
    """The labels of one prediction. spans: (start, end, label). text_hash: of the text then."""

    text_hash: str
    label: str | None
    labels: tuple[str, ...]
    spans: tuple[tuple[int, int, str], ...]


def decided_labels(db: Database, run_id: int, document_ids: Iterable[int]) -> dict[int, Decided]:
    """Document id → the labels that a run predicts for it, without probabilities or words.

    Raises ProjectError if a prediction is not JSON: the file is damaged.
    """
    statement = (
        "select document_id, text_hash, case when json_valid(payload) then"
        " json_extract(payload, '$.label', '$.labels', '$.spans') else payload end"
        " from prediction where run_id = ? and document_id in (select value from json_each(?))"
    )
    decided: dict[int, Decided] = {}
    rows = db.reader().execute(statement, (run_id, ids_in(document_ids))).fetchall()
    for id, hashed, raw in rows:
        parts: Any = json_out(raw)
        label, several, spans = parts
        ranges = tuple((span["start"], span["end"], span["label"]) for span in spans or ())
        decided[id] = Decided(hashed, label, tuple(several or ()), ranges)
    return decided


def predicts(db: Database, run_id: int, document_ids: Iterable[int]) -> bool:
    """Whether a run has a prediction for one of the documents, also where a window hides them."""
    statement = (
        "select exists(select 1 from main.prediction where run_id = ?"
        " and document_id in (select value from json_each(?)))"
    )
    return bool(db.reader().execute(statement, (run_id, ids_in(document_ids))).fetchone()[0])


def payloads(db: Database, run_id: int, document_ids: Iterable[int]) -> dict[int, str]:
    """Document id → its prediction as one line of JSON."""
    statement = (
        "select document_id, payload from prediction where run_id = ?"
        " and document_id in (select value from json_each(?))"
    )
    return dict(db.reader().execute(statement, (run_id, ids_in(document_ids))).fetchall())


def prediction_rows(
    db: Database, run_id: int, document_ids: Iterable[int] | None = None
) -> list[tuple[int, str, dict[str, Any]]]:
    """Rows of (document id, text hash, prediction as a JSON object)."""
    statement = "select document_id, text_hash, payload from prediction where run_id = ?"
    values: list[object] = [run_id]
    if document_ids is not None:
        statement += " and document_id in (select value from json_each(?))"
        values.append(ids_in(document_ids))
    return [
        (id, text_hash, json_out(payload))
        for id, text_hash, payload in db.reader().execute(statement, values).fetchall()
    ]
