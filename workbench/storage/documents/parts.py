"""Moves labels between a document and its parts. Rows keep their ids, sources and scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.storage.connections.database import Database
from workbench.storage.schema.values import ids_in, json_in, new_uid, parts_out
from workbench.text.document import TEXT

Range = tuple[int, int]


@dataclass(frozen=True)
class Inside:
    """What a document has in its text, and whether it has labels as a whole.

    `ranges`: spans, and the text between the ends of relations. `chains`: of each, its hull.
    """

    ranges: tuple[Range, ...]
    chains: tuple[Range, ...]
    on_whole: bool


def inside(db: Database, id: int) -> Inside:
    """Code points of the labels of all people in the text of a document, also where a window shows
    those of one.
    """
    read = db.reader().execute
    spans = read('select start, "end" from main.span where document_id = ?', (id,)).fetchall()
    relations = read(
        'select min(a.start, b.start), max(a."end", b."end") from main.relation r'
        " join main.span a on a.id = r.from_span join main.span b on b.id = r.to_span"
        " where r.document_id = ?",
        (id,),
    ).fetchall()
    chains = read(
        'select min(start), max("end") from main.span where document_id = ?'
        " and group_id is not null group by layer_id, annotator_id, group_id having count(*) > 1",
        (id,),
    ).fetchall()
    (whole,) = read(
        "select exists(select 1 from main.mark where document_id = ?)"
        " or exists(select 1 from main.answer where document_id = ?)",
        (id, id),
    ).fetchone()
    return Inside((*spans, *relations), tuple(chains), bool(whole))


def batch_sources(db: Database, ids: Iterable[int]) -> dict[int, int]:
    """Document id → the import that it came with."""
    query = (
        "select id, batch_source_id from document where batch_source_id is not null"
        " and id in (select value from json_each(?))"
    )
    return dict(db.reader().execute(query, (ids_in(ids),)).fetchall())


def part_ids(db: Database, keys: Iterable[str]) -> dict[str, list[int]]:
    """Key of a whole → ids of its parts, in their order."""
    query = (
        "select json_extract(meta, '$.part_of'), id from document"
        " where json_extract(meta, '$.part_of') in (select value from json_each(?))"
        " order by json_extract(meta, '$.part'), id"
    )
    ids_of: dict[str, list[int]] = {}
    for key, id in db.reader().execute(query, (json_in(list(keys)),)).fetchall():
        ids_of.setdefault(key, []).append(id)
    return ids_of


def move_into(db: Database, old: int, new: Sequence[tuple[int, int, int]]) -> None:
    """Move the labels in the text of a document into its parts, with states, notes and flags.

    `new`: (id, start, end) of the parts; a span that lies in none stays. Notes and flags on the
    document go to the first part, states to all.
    """
    for id, start, end in new:
        _move_spans(db, old, id, -start, (start, end))
        _move_suggestions(db, old, id, -start, (start, end))
    _follow_spans(db, old)
    for table in ("note", "flag"):
        db.writer.execute(
            f"update {table} set document_id = ? where document_id = ?", (new[0][0], old)
        )
    for id, _start, _end in new:
        db.writer.execute(
            "insert into state(document_id, layer_id, annotator_id, state, at)"
            " select ?, layer_id, annotator_id, state, at from state where document_id = ?",
            (id, old),
        )


def move_out(db: Database, parts: Sequence[tuple[int, int]], new: int) -> None:
    """Move the labels of parts into the whole. `parts`: (id, where it begins).

    The whole is submitted or discarded in a layer if all parts are; a draft if some are begun.
    """
    used: dict[int, set[int]] = {}
    for id, start in parts:
        _renumber_chains(db, id, used)
        _move_spans(db, id, new, start)
        _move_suggestions(db, id, new, start)
        _follow_spans(db, id)
        for table in ("note", "flag"):
            db.writer.execute(
                f"update {table} set document_id = ? where document_id = ?", (new, id)
            )
    db.writer.execute(
        "insert into state(document_id, layer_id, annotator_id, state, at)"
        " select ?, layer_id, annotator_id,"
        " case when count(*) = ? and min(state) = max(state) then min(state) else 'draft' end,"
        " max(at) from state where document_id in (select value from json_each(?))"
        " group by layer_id, annotator_id",
        (new, len(parts), ids_in(id for id, _start in parts)),
    )


def _renumber_chains(db: Database, id: int, used: dict[int, set[int]]) -> None:
    """Give the chains of a part other numbers in layers where another part has the same ones.

    `used`: layer id → numbers so far.
    """
    rows = db.writer.execute(
        "select distinct layer_id, group_id from span"
        " where document_id = ? and group_id is not null",
        (id,),
    ).fetchall()
    here: dict[int, set[int]] = {}
    for layer_id, number in rows:
        here.setdefault(layer_id, set()).add(number)
    for layer_id, numbers in here.items():
        before = used.setdefault(layer_id, set())
        shift = max(before) if before & numbers else 0
        if shift:
            db.writer.execute(
                "update span set group_id = group_id + ?"
                " where document_id = ? and layer_id = ? and group_id is not null",
                (shift, id, layer_id),
            )
        before.update(number + shift for number in numbers)


def layers_on_whole(db: Database, id: int) -> frozenset[int]:
    """Layers in which a document has labels as a whole."""
    rows = db.writer.execute(
        "select layer_id from mark where document_id = ?"
        " union select layer_id from answer where document_id = ?",
        (id, id),
    )
    return frozenset(id for (id,) in rows.fetchall())


def marks_to_spans(
    db: Database, id: int, end: int, layer_id: int, target: int, labels: Sequence[tuple[int, int]]
) -> None:
    """Make the classes of a part in a layer spans over its text, in the layer `target`.

    `end`: the length of the text. `labels`: (label, label of the target).
    """
    for label, other in labels:
        rows = db.writer.execute(
            "select annotator_id, source_id, score from mark"
            " where document_id = ? and layer_id = ? and label_id = ?",
            (id, layer_id, label),
        ).fetchall()
        db.writer.executemany(
            'insert into span(uid, document_id, field, layer_id, label_id, start, "end",'
            " annotator_id, source_id, score) values(?, ?, ?, ?, ?, 0, ?, ?, ?, ?)",
            [(new_uid(), id, TEXT, target, other, end, *row) for row in rows],
        )


def _move_spans(db: Database, old: int, new: int, by: int, within: Range | None = None) -> None:
    chosen, args = _within(within)
    divided = db.writer.execute(
        f"select id, parts from span where document_id = ? and parts is not null{chosen}",
        (old, *args),
    ).fetchall()
    db.writer.executemany(
        "update span set parts = ? where id = ?",
        [(json_in([(a + by, b + by) for a, b in parts_out(parts)]), id) for id, parts in divided],
    )
    db.writer.execute(
        'update span set document_id = ?, start = start + ?, "end" = "end" + ?'
        f" where document_id = ?{chosen}",
        (new, by, by, old, *args),
    )


def _move_suggestions(
    db: Database, old: int, new: int, by: int, within: Range | None = None
) -> None:
    """Move the suggestions in the text."""
    chosen, args = _within(within)
    db.writer.execute(
        'update suggestion set document_id = ?, start = start + ?, "end" = "end" + ?'
        f" where document_id = ? and start is not null{chosen}",
        (new, by, by, old, *args),
    )


def _within(within: Range | None) -> tuple[str, tuple[int, ...]]:
    return (' and start >= ? and "end" <= ?', within) if within is not None else ("", ())


def _follow_spans(db: Database, old: int) -> None:
    """Relations, notes and flags go where their spans are."""
    for table, column in (("relation", "from_span"), ("note", "span_id"), ("flag", "span_id")):
        db.writer.execute(
            f"update {table} set document_id = (select document_id from span where"
            f" span.id = {table}.{column}) where document_id = ? and {column} is not null",
            (old,),
        )
