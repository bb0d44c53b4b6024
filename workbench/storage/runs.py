"""Runs (one training or prompt run each) and their predictions. Not undoable."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.storage.database import Database
from workbench.storage.tables import RUN_STATUSES
from workbench.storage.values import Row, ids_in, json_in, json_out, new_id, new_uid, now

if TYPE_CHECKING:  # `fields` brings numpy, which the first window must not wait for
    from workbench.storage.journal import Touched
    from workbench.text.fields import Prediction

UNFINISHED = ("waiting", "running")
_JSON = ("spec", "scores", "result", "versions")
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
class Run:
    """`kind`: train, prompt …;

    `status`: waiting, running or one of jobs' endings; `result`: what the job reported at its end,
    as JSON: `operations.outcomes` reads it.
    """

    id: int
    uid: str
    name: str
    kind: str
    parent_id: int | None
    layer_id: int | None
    layer: str  # the layer's name today; "" if it is gone
    spec: dict[str, Any] = field(hash=False)
    status: str
    scores: dict[str, Any] = field(hash=False)  # split → name → fraction of 1
    result: dict[str, Any] = field(hash=False)
    versions: dict[str, Any] = field(hash=False)
    base_fingerprint: str
    data_fingerprint: str
    test_fingerprint: str
    seen_test: int
    at: str

    @property
    def seconds(self) -> float | None:
        return self.result.get("seconds")

    @property
    def failure(self) -> Failure:
        """Empty for a run that has not failed."""
        return Failure(*(str(self.result.get(one.name) or "") for one in fields(Failure)))


def add(db: Database, name: str, kind: str = "train", **values: Any) -> Run:
    """A new run; `values` are columns of it. Raises WorkbenchError if the name is taken."""
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
    """Set columns of a run. Raises KeyError if there is no such run."""
    if "name" in values and values["name"] != get(db, id).name:
        _check_name(db, values["name"])
    row = _stored(values)
    changes = ", ".join(f"{name} = ?" for name in row)
    db.writer.execute(f"update run set {changes} where id = ?", (*row.values(), id))
    return get(db, id)


def _check_name(db: Database, name: str) -> None:
    if not name.strip():
        raise WorkbenchError(_("A run needs a name."))
    if by_name(db, name) is not None:
        raise WorkbenchError(
            _("A run named {name!r} already exists.").format(name=name),
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
    """`stem`, else the first unused of `stem 2`, `stem 3`, …."""
    taken = {name for (name,) in db.reader().execute("select name from run").fetchall()}
    number, name = 1, stem
    while name in taken:
        number += 1
        name = f"{stem} {number}"
    return name


def get(db: Database, id: int) -> Run:
    """Raises KeyError if there is no such run."""
    found = _select(db, "where run.id = ?", id)
    if not found:
        raise KeyError(id)
    return found[0]


def all(db: Database) -> tuple[Run, ...]:
    """Oldest first."""
    return _select(db, "order by run.id")


def by_name(db: Database, name: str) -> Run | None:
    found = _select(db, "where run.name = ?", name)
    return found[0] if found else None


def delete(db: Database, id: int, *, watch: Watch = QUIET) -> Touched | None:
    """The run with its predictions and suggestions; neither undo nor redo brings them back.

    Labels that were accepted from its suggestions stay. Returns which suggestions were deleted. The
    run's folder is left to the caller; see `Project.delete_run`.
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
    lost = any(row[at] in UNFINISHED for row in rows) and not db.written_by_someone()
    return tuple(_run(row, lost) for row in rows)


def _run(row: Row, lost: bool) -> Run:
    values = dict(zip((*_COLUMNS, "layer"), row, strict=True))
    for name in _JSON:
        values[name] = json_out(values[name])
    if lost and values["status"] in UNFINISHED:
        values["status"] = "interrupted"
    return Run(**values)


def record_interrupted(db: Database) -> int:
    """For a writer that has just opened the project: no process of it can be running.

    Gives how many runs were marked.
    """
    marks = ", ".join("?" * len(UNFINISHED))
    return db.writer.execute(
        f"update run set status = 'interrupted' where status in ({marks})", UNFINISHED
    ).rowcount


# ---------------------------------------------------------------- predictions


def save_predictions(
    db: Database, run_id: int, rows: Iterable[tuple[int, str, dict[str, Any]]]
) -> int:
    """(document id, text hash, Prediction.to_json()) each; an earlier one of the same run and
    document is replaced. Gives how many.
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
    """Document id → (hash of the text that was predicted on, prediction)."""
    from workbench.text.fields import Prediction

    return {
        id: (text_hash, Prediction.from_json(raw))
        for id, text_hash, raw in prediction_rows(db, run_id, document_ids)
    }


def prediction_rows(
    db: Database, run_id: int, document_ids: Iterable[int] | None = None
) -> list[tuple[int, str, dict[str, Any]]]:
    """As `predictions`, with the JSON object itself."""
    statement = "select document_id, text_hash, payload from prediction where run_id = ?"
    values: list[object] = [run_id]
    if document_ids is not None:
        statement += " and document_id in (select value from json_each(?))"
        values.append(ids_in(document_ids))
    return [
        (id, text_hash, json_out(payload))
        for id, text_hash, payload in db.reader().execute(statement, values).fetchall()
    ]
