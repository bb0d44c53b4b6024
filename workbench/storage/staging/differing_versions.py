"""The versions that are in both files and differ: which is newer, and what is here only by a merge.

Requires the tables that `other_project` fills.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from workbench.base.watch import QUIET, Watch
from workbench.storage.staging.other_project import (
    CHUNK,
    IS_HERE,
    IS_OPEN,
    IS_THERE,
    RANGE,
    WHERE,
    map_spans,
)
from workbench.text.labels import LABEL_TABLES

if TYPE_CHECKING:
    from workbench.storage.connections.database import Database
    from workbench.storage.schema.values import Row

_COPIES = ("import", "merge")  # kinds of sources of rows that were not changed in the other file
_HEAD = "select v.document_id, v.layer_id, v.annotator_id"
_IDS = 3  # columns of `_HEAD`

Times = Mapping[str, str]  # kind of the sources of labels → the newest time
State = tuple[str, str]  # the state of a version, and when it was set or the labels changed
_NONE: State = ("", "")


class Differing(NamedTuple):
    """A version that differs; ids of this project.

    newer: it was changed later there; older: earlier. merged: what is here came from a merge and
    was not changed since. removed: nothing of it is left there.
    """

    document_id: int
    annotator_id: int
    newer: bool
    older: bool
    merged: bool
    removed: bool


def differing(db: Database, *, watch: Watch = QUIET) -> Iterator[Differing]:
    """The versions in both files that are not equal, in no order."""
    conn = db.writer
    map_spans(db)
    comparison = _Comparison(conn)
    ids = [
        id
        for (id,) in conn.execute(
            "select distinct document from temp.version where there order by document"
        )
    ]
    for page in watch.over(ids, CHUNK):
        yield from comparison.differing({"first": page[0], "last": page[-1]})


_CONTENTS = {
    "mark": "{s}, s.value",
    "span": '{s}, s.field, s.start, s."end", s.parts, s.attrs, s.group_id',
    "answer": 's.question, s.field, s.start, s."end", s.text, s.is_null',
    "relation": "{s}, {f}, {t}, s.attrs",
}
_END = '{0}.label_id, {0}.field, {0}.start, {0}."end", {0}.parts'
_ENDS = {
    "main": " join main.span f on f.id = s.from_span join main.span t on t.id = s.to_span",
    # of spans that are not copied, the place is that of the same span here
    "staging": "".join(
        f" join temp.span_id {end}_id on {end}_id.oid = s.{column} join staging.span {end}_there"
        f" on {end}_there.id = s.{column} left join main.span {end} on {end}.id = {end}_id.id"
        for end, column in (("f", "from_span"), ("t", "to_span"))
    ),
}


def _label(alias: str) -> str:
    return f"(select id from temp.other_label where oid = {alias}.label_id)"


def _names(side: str) -> dict[str, str]:
    """SQL of the label of a row, and of the ends of a relation."""
    if side == "main":
        return {"s": "s.label_id", **{end: _END.format(end) for end in "ft"}}
    there = {
        end: f"{_label(f'{end}_there')}, {end}_there.field, {end}_there.start,"
        f' {end}_there."end", {end}_there.parts'
        for end in "ft"
    }
    ends = {
        end: ", ".join(
            f"iif({end}.id is null, {other}, {here})"
            for other, here in zip(
                there[end].split(", "), _END.format(end).split(", "), strict=True
            )
        )
        for end in "ft"
    }
    return {"s": _label("s"), **ends}


def _rows(side: str, table: str) -> str:
    """SQL of the rows of the versions in both files; questions that are open here are no labels."""
    condition = WHERE[side]
    if table == "answer":
        is_here = IS_HERE.format(document="v.document_id", layer="v.layer_id")
        condition += f" and not ({IS_OPEN}{')' if side == 'main' else f' and {is_here})'}"
    return f"from temp.version v cross join {side}.{table} s on {condition}"


def _contents(side: str, table: str) -> str:
    """SQL of the labels of the versions, in terms of this project."""
    ends = _ENDS[side] if table == "relation" else ""
    columns = _CONTENTS[table].format(**_names(side))
    return f"{_HEAD}, {columns} {_rows(side, table)}{ends} where v.there and {RANGE}"


class _Comparison:
    def __init__(self, conn: sqlite3.Connection):
        self._conn = conn
        self._merges = _Merges(conn)
        self._sources = {
            side: {id: (kind, at) for id, kind, at in conn.execute(f"{_SOURCES} {side}.source")}
            for side in ("main", "staging")
        }

    def differing(self, where: Mapping[str, int]) -> Iterator[Differing]:
        """Of a range of documents."""
        mine, theirs = (self._states(side, where) for side in ("main", "staging"))
        versions = {
            version
            for version in mine.keys() | theirs.keys()
            if mine.get(version, _NONE)[0] != theirs.get(version, _NONE)[0]
        }
        for table in LABEL_TABLES:
            here, there = (
                set(self._conn.execute(_contents(side, table), where))
                for side in ("main", "staging")
            )
            versions |= {row[:_IDS] for row in here ^ there}
        if not versions:
            return
        times, changes = (self._times(side, where, versions) for side in ("main", "staging"))
        open_since = self._open_questions(where)
        deletions = self._deletions(where)
        for version in versions:
            state, since = mine.get(version, _NONE)
            kinds = times.get(version, {})
            changed = [at for kind, at in changes.get(version, {}).items() if kind not in _COPIES]
            removed = version not in theirs and version not in changes
            at = max(theirs.get(version, _NONE)[1], deletions.get(version, ""), *changed)
            if version in open_since and not kinds and state in ("", "draft"):
                newer, older, merged = at >= open_since[version], at < open_since[version], True
            else:
                newer = at > since if state else at >= kinds.get("merge", "")
                newer |= removed and at == since  # a step that was undone has its time
                older, merged = at < since, self._merges.brought(version, since, kinds)
            document, _layer, annotator = version
            yield Differing(document, annotator, newer, older, merged, removed)

    def _states(self, side: str, where: Mapping[str, int]) -> dict[Row, State]:
        query = f"{_HEAD}, s.state, s.at {_rows(side, 'state')} where v.there and {RANGE}"
        return {tuple(ids): (state, at) for *ids, state, at in self._conn.execute(query, where)}

    def _times(
        self, side: str, where: Mapping[str, int], versions: Collection[Row]
    ) -> dict[Row, dict[str, str]]:
        """Version → kind of the sources of its labels → the newest time."""
        times: dict[Row, dict[str, str]] = {}
        for table in LABEL_TABLES:
            query = f"{_HEAD}, s.source_id {_rows(side, table)} where v.there and {RANGE}"
            for row in set(self._conn.execute(query, where)):
                version, (kind, at) = row[:_IDS], self._sources[side].get(row[_IDS], _NONE)
                if kind and version in versions:
                    of = times.setdefault(version, {})
                    of[kind] = max(at, of.get(kind, ""))
        return times

    def _open_questions(self, where: Mapping[str, int]) -> dict[Row, str]:
        """The versions here with open questions → when the newest that is in both files was asked,
        or lost its answers.
        """
        rows = self._conn.execute(
            f"{_HEAD}, max(case when {IS_THERE} then c.at else '' end) from temp.version v"
            f" cross join main.answer s on {WHERE['main']} and {IS_OPEN}"
            " join main.source c on c.id = s.source_id"
            f" where v.there and {RANGE} group by v.document, v.layer, v.person",
            where,
        )
        return {tuple(ids): at for *ids, at in rows}

    def _deletions(self, where: Mapping[str, int]) -> dict[Row, str]:
        """The versions of which labels were deleted there → when, by the history."""
        rows = self._conn.execute(
            f"{_HEAD}, r.at from temp.version v cross join temp.deletion r on"
            " r.document = v.document and r.layer = v.layer and r.person = v.person"
            f" where v.there and {RANGE}",
            where,
        )
        return {tuple(ids): at for *ids, at in rows}


_SOURCES = "select id, kind, at from"


class _Merges:
    """When labels of people came from other files, and who has worked here."""

    def __init__(self, conn: sqlite3.Connection):
        rows = conn.execute(
            "select annotator_id, min(at), max(at) from main.source where kind = 'merge'"
            " and id not in (select source from temp.other_person) group by annotator_id"
        )
        self._times: dict[int, tuple[str, str]] = {id: (first, last) for id, first, last in rows}
        self._here = {
            id
            for (id,) in conn.execute(
                "select annotator_id from main.source where kind = 'person'"
                " union select gold from main.layer"
            )
        }

    def brought(self, version: Row, since: str, kinds: Times) -> bool:
        """Whether all that is here came from a merge; kinds: of sources → their newest time.

        What a merge copies is older than the merge, see `other_project.AT`. Without labels, their
        sources cannot tell, so the state must be older than the first merge, or nobody has worked
        for this person.
        """
        if kinds:
            return kinds.keys() == {"merge"} and since < kinds["merge"]
        annotator = version[_IDS - 1]
        first, last = self._times.get(annotator, ("", ""))
        return since < (first if annotator in self._here else last)
