"""Layers and their labels. Undoable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.storage.annotation.annotations import reset_untouched
from workbench.storage.connections.database import Database
from workbench.storage.labels import guidelines
from workbench.storage.queries import state_keys
from workbench.storage.schema.tables import IS_READ_ONLY
from workbench.storage.schema.values import Row, ids_in, json_in, json_out, name_in, new_id, new_uid
from workbench.text import relations
from workbench.text.labels import LABEL_TABLES, WITH_LABEL, Label, Layer

CHUNK = 1000  # rows per statement; an operation can be cancelled between two statements
_LABEL = (
    "l.id, l.uid, l.layer_id, l.name, l.colour, l.key, l.description, l.position,"
    " ifnull(p.name, '') from label l left join label p on p.id = l.parent_id"
)
_GROUPED = (  # sublabels follow their parent
    "l.layer_id, ifnull(p.position, l.position), ifnull(p.id, l.id), p.id is not null,"
    " l.position, l.id"
)


def layers(db: Database) -> tuple[Layer, ...]:
    """All layers by id, each with its labels in order of position, sublabels after their
    parent.
    """
    labels: dict[int, list[Label]] = {}
    for row in db.reader().execute(f"select {_LABEL} order by {_GROUPED}").fetchall():
        labels.setdefault(row[2], []).append(_label(row))
    rows = (
        db.reader()
        .execute("select id, uid, name, kind, options, guideline from layer order by id")
        .fetchall()
    )
    return tuple(_layer(row, tuple(labels.get(row[0], ()))) for row in rows)


def layer(db: Database, id: int) -> Layer:
    """Raises KeyError if there is no such layer."""
    for layer in layers(db):
        if layer.id == id:
            return layer
    raise KeyError(id)


def layer_by_name(db: Database, name: str) -> Layer | None:
    return next((layer for layer in layers(db) if layer.name == name), None)


def label(db: Database, id: int) -> tuple[int, Label]:
    """Return (layer id, label). Raises KeyError if there is no such label."""
    row = db.reader().execute(f"select {_LABEL} where l.id = ?", (id,)).fetchone()
    if row is None:
        raise KeyError(id)
    return row[2], _label(row)


def _label(row: Row) -> Label:
    id, uid, _, name, colour, key, description, position, parent = row
    return Label(name, colour, key, description, position, id, uid, parent)


def _layer(row: Row, labels: tuple[Label, ...]) -> Layer:
    id, uid, name, kind, options, guideline = row
    rest = dict(json_out(options))
    return Layer(name, kind, labels, int(rest.pop("texts", 1)), guideline, rest, id, uid)


def require_editable(db: Database, layer_id: int) -> None:
    """Raises WorkbenchError if the labels of the layer are read-only in this file."""
    statement = f"select name from layer where id = ? and {IS_READ_ONLY}"
    if row := db.reader().execute(statement, (layer_id,)).fetchone():
        raise WorkbenchError(
            _("The labels of {layer} are read-only in this file.", layer=row[0]),
            hint=_("They were handed out as context for other layers."),
        )


def gold(db: Database) -> dict[int, int]:
    """Map layer id → id of its gold annotator."""
    return dict(db.reader().execute("select id, gold from layer").fetchall())


# ---------------------------------------------------------------- layers


def add_layer(
    db: Database,
    name: str,
    kind: str,
    *,
    texts: int = 1,
    guideline: str = "",
    options: dict[str, Any] | None = None,
    uid: str = "",
    gold: int | None = None,
) -> int:
    """Add a layer and return its id.

    `uid`: by default a new one. `gold`: the annotator whose labels are gold, by default the one
    that the project was created for.
    `texts`: number of text fields of the documents that the layer applies to.

    The new id is higher than the layer id of any run; otherwise a run of a deleted layer could be
    mistaken for a run of this layer.
    """
    stored = json_in({**(options or {}), "texts": texts})
    (highest,) = db.writer.execute(
        "select max(ifnull((select max(id) from layer), 0),"
        " ifnull((select max(layer_id) from run), 0))"
    ).fetchone()
    row = (
        highest + 1,
        uid or new_uid(),
        name_in(name),
        kind,
        stored,
        guideline,
        gold or db.meta_number("annotator"),
    )
    inserted = db.writer.execute(
        "insert into layer(id, uid, name, kind, options, guideline, gold)"
        " values(?, ?, ?, ?, ?, ?, ?)",
        row,
    )
    return new_id(inserted)


def update_layer(db: Database, id: int, **values: Any) -> None:
    """Set columns of a layer: `name`, `guideline`, `gold`, `options`.

    `options` replaces all options except `texts`; relation layers follow a new name. Raises
    TypeError for another column and KeyError if there is no such layer.
    """
    if "name" in values:
        _rename_spans_of(db, id, values["name"])
    if "options" in values:
        values["options"] = json_in({**values["options"], "texts": layer(db, id).texts})
    _update(db, "layer", {"name", "guideline", "gold", "options"}, id, values)


def _rename_spans_of(db: Database, layer_id: int, name: str) -> None:
    """Relation layers name the layer whose spans they connect."""
    old = layer(db, layer_id).name
    for item in layers(db):
        if item.traits.between_spans and relations.span_layer(item) == old and item.id is not None:
            update_layer(db, item.id, options={**item.options, relations.SPANS: name})


def delete_layer(db: Database, id: int, *, watch: Watch = QUIET) -> None:
    """Delete a layer with its labels, annotations, states, suggestions and guideline."""
    _delete_rows(db, (*LABEL_TABLES[::-1], "suggestion", "state"), "layer_id", id, watch)
    guidelines.delete(db, layer(db, id).uid)
    db.writer.execute("delete from layer where id = ?", (id,))


# ---------------------------------------------------------------- labels


def add_label(
    db: Database,
    layer_id: int,
    name: str,
    *,
    colour: str = "",
    key: str = "",
    description: str = "",
    uid: str = "",
) -> int:
    """Append a label to a layer and return its id; `uid`: by default a new one."""
    next_position = "select ifnull(max(position) + 1, 0) from label where layer_id = ?"
    (position,) = db.writer.execute(next_position, (layer_id,)).fetchone()
    row = (uid or new_uid(), layer_id, name_in(name), colour, key, description, position)
    statement = (
        "insert into label(uid, layer_id, name, colour, key, description, position) "
        "values(?, ?, ?, ?, ?, ?, ?)"
    )
    return new_id(db.writer.execute(statement, row))


def update_label(db: Database, id: int, **values: Any) -> None:
    """Set columns of a label: `name`, `colour`, `key`, `description`.

    The rules of relation layers follow a new name. Raises TypeError for another column and KeyError
    if there is no such label.
    """
    if "name" in values:
        rename_in_rules(db, id, values["name"])
    _update(db, "label", {"name", "colour", "key", "description"}, id, values)


def set_parent(db: Database, id: int, parent_id: int | None) -> None:
    """Make a label a sublabel of another one of its layer, or a label of its own (None)."""
    db.writer.execute("update label set parent_id = ? where id = ?", (parent_id, id))


def group_labels(db: Database, labels: Iterable[Label], ids: Mapping[str, int]) -> None:
    """Give labels that were just added the parents that they name, at most one level deep.

    `ids`: name → id of the labels of the layer. A parent that is missing, or a sublabel itself, is
    ignored.
    """
    named = [item for item in labels if ids.get(item.parent) not in (None, ids[item.name])]
    below = {item.name for item in named}
    for item in named:
        known = set(sublabels(db, [ids[item.name]]))
        if item.parent not in below and not label(db, ids[item.parent])[1].parent and not known:
            set_parent(db, ids[item.name], ids[item.parent])


def sublabels(db: Database, label_ids: Iterable[int]) -> dict[int, int]:
    """Map the ids of the sublabels of these labels → id of their parent."""
    statement = (
        "select id, parent_id from label where parent_id in (select value from json_each(?))"
        " order by position, id"
    )
    return dict(db.reader().execute(statement, (ids_in(label_ids),)).fetchall())


def move_label(db: Database, id: int, position: int) -> None:
    """Move a label to `position` (0-based index within its layer)."""
    layer_id, _ = label(db, id)
    order = [label.id for label in layer(db, layer_id).labels if label.id != id]
    order.insert(max(0, position), id)
    db.writer.executemany(
        "update label set position = ? where id = ?",
        list(enumerate(order)),
    )


def delete_label(db: Database, id: int, *, watch: Watch = QUIET) -> None:
    """Delete a label with its annotations and suggestions, and the relations of its spans.

    Submitted documents left without a label become drafts, unless the layer kind allows documents
    without labels (`LayerKind.empty_is_answer`). Drafts left without annotations become pending.
    """
    layer_id, _ = label(db, id)
    drafts = _drafts_with(db, layer_id, id)
    traits = layer(db, layer_id).traits
    table = traits.table
    if not traits.empty_is_answer:
        annotations = (
            f"select 1 from {table} t where t.layer_id = state.layer_id"
            " and t.document_id = state.document_id and t.annotator_id = state.annotator_id"
        )
        db.writer.execute(
            "update state set state = 'draft' where layer_id = ? and state = 'submitted'"
            f" and exists ({annotations} and t.label_id = ?)"
            f" and not exists ({annotations} and t.label_id != ?)",
            (layer_id, id, id),
        )
    _delete_rows(db, (*WITH_LABEL, "suggestion"), "label_id", id, watch)
    for annotator_id, documents in drafts.items():
        reset_untouched(db, documents, layer_id, annotator_id)
    rename_in_rules(db, id, None)
    db.writer.execute("delete from label where id = ?", (id,))


def rename_in_rules(db: Database, label_id: int, name: str | None) -> None:
    """Change the rules of relation layers that name the label.

    `name`: its new name, or that of the label that takes its place; None if it is deleted.
    """
    layer_id, label_now = label(db, label_id)
    of = layer(db, layer_id).name
    for item in layers(db):
        if item.traits.between_spans and item.id is not None:
            options = relations.renamed_label(item, of, label_now.name, name)
            if options != dict(item.options):
                update_layer(db, item.id, options=options)


def _drafts_with(db: Database, layer_id: int, label_id: int) -> dict[int, list[int]]:
    """Map annotator id → ids of documents that are drafts in the layer and have the label."""
    drafts: dict[int, list[int]] = {}
    for table in WITH_LABEL:
        statement = (
            f"select distinct s.annotator_id, s.document_id from {table} t join state s"
            " on s.document_id = t.document_id and s.annotator_id = t.annotator_id"
            " where t.label_id = ? and s.layer_id = ? and s.state = 'draft'"
        )
        for annotator_id, document in db.writer.execute(statement, (label_id, layer_id)):
            drafts.setdefault(annotator_id, []).append(document)
    return drafts


def _delete_rows(db: Database, tables: Sequence[str], column: str, id: int, watch: Watch) -> None:
    """Delete the rows that refer to a layer or label, in chunks.

    Called before the layer or label is deleted, because a cascading delete cannot be cancelled.
    """
    rows = [
        (table, row[0])
        for table in tables
        for row in db.writer.execute(
            f"select id from {table} where {column} = ? order by id", (id,)
        )
    ]
    for chunk in watch.over(rows, CHUNK):
        for table in tables:
            row_ids = ids_in(row_id for owner, row_id in chunk if owner == table)
            db.writer.execute(
                f"delete from {table} where id in (select value from json_each(?))", (row_ids,)
            )


def _update(db: Database, table: str, allowed: set[str], id: int, values: dict[str, Any]) -> None:
    if unknown := set(values) - allowed:
        raise TypeError(f"a {table} has no {', '.join(sorted(unknown))}")
    changes = ", ".join(f"{name} = ?" for name in values)
    done = db.writer.execute(f"update {table} set {changes} where id = ?", (*values.values(), id))
    if not done.rowcount:
        raise KeyError(id)


# ---------------------------------------------------------------- counts


def counts(db: Database) -> dict[int, int]:
    """Map label id → number of annotations with that label; 0 for unused labels."""
    counts = {id: 0 for (id,) in db.reader().execute("select id from label").fetchall()}
    for table in WITH_LABEL:
        rows = (
            f"select label_id, count(*) from {table} where label_id is not null group by label_id"
        )
        for id, count in db.reader().execute(rows).fetchall():
            counts[id] = counts.get(id, 0) + count
    return counts


def usage(db: Database, label_ids: Iterable[int]) -> dict[str, int]:
    """Number of rows that deleting these labels would delete, of all annotators, also where a
    window shows those of one (`Database.show_only`).

    Keys: `marks`, `spans`, `relations` (with these labels, and of these spans), `suggestions`
    (open), `documents` (with such an annotation); `annotations`: those with these labels.
    """
    ids = ids_in(label_ids)
    condition = "label_id in (select value from json_each(?))"
    open_only = f"{condition} and status = 'open'"
    rows = {
        "marks": f"main.mark where {condition}",
        "spans": f"main.span where {condition}",
        "suggestions": f"main.suggestion where {open_only}",
        "relations": f"main.relation where {condition}",
    }
    counts = {
        name: db.reader().execute(f"select count(*) from {each}", (ids,)).fetchone()[0]
        for name, each in rows.items()
    }
    counts["annotations"] = sum(counts[name] for name in ("marks", "spans", "relations"))
    spans = f"in (select id from main.span where {condition})"
    (more,) = (
        db.reader()
        .execute(
            f"select count(*) from main.relation where (from_span {spans} or to_span {spans})"
            " and ifnull(label_id, 0) not in (select value from json_each(?))",
            (ids, ids, ids),
        )
        .fetchone()
    )
    counts["relations"] += more
    documents = " union ".join(
        f"select document_id from main.{table} where {condition}" for table in WITH_LABEL
    )
    values = [ids] * len(WITH_LABEL)
    counts["documents"] = (
        db.reader().execute(f"select count(*) from ({documents})", values).fetchone()[0]
    )
    return counts


def documents_in(db: Database, layer_id: int) -> int:
    """Number of documents with an annotation in a layer, of any annotator, also where a window
    shows those of one.
    """
    documents = " union ".join(
        f"select document_id from main.{table} where layer_id = ?1" for table in LABEL_TABLES
    )
    statement = f"select count(*) from ({documents})"
    count: int = db.reader().execute(statement, (layer_id,)).fetchone()[0]
    return count


def submitted_counts(db: Database) -> dict[int, int]:
    """Map layer id → number of training documents: submitted by the gold annotator."""
    counts = {id: 0 for (id,) in db.reader().execute("select id from layer").fetchall()}
    for key, documents in state_keys.numbers(db.reader()).items():
        for id, state in state_keys.parsed(key)[1].items():
            counts[id] += documents * (state == "submitted")
    return counts
