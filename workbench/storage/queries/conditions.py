"""Queries (`text.queries.query`) as SQL conditions on `document d`.

A condition is never NULL, so that it can be negated. Names that the project does not have raise
QueryError with the place in the query.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.storage.documents.flags import ASSIGNED, REVIEWS
from workbench.storage.labels import labels
from workbench.storage.queries import queue, saved_filters, search, text_search
from workbench.storage.schema.tables import SOURCE_KINDS
from workbench.storage.schema.values import ids_in
from workbench.text.labels import LABEL_TABLES, WITH_LABEL
from workbench.text.queries.query import (
    And,
    Node,
    Not,
    Or,
    Query,
    QueryError,
    Term,
    Words,
    days,
    interval,
    parse,
)

if TYPE_CHECKING:
    from workbench.storage.connections.database import Database

Part = tuple[str, list[object]]
_DEEPEST = 5  # saved filters in one another
_SOME = "(select value from json_each(?))"

_HAS = {
    "label": (
        "(exists (select 1 from mark t where t.document_id = d.id"
        " and (t.label_id is not null or t.value is not null))"
        " or exists (select 1 from span t where t.document_id = d.id)"
        " or exists (select 1 from answer t where t.document_id = d.id"
        " and (t.start is not null or t.text is not null or t.is_null)))"
    ),
    "span": "exists (select 1 from span t where t.document_id = d.id)",
    "note": "exists (select 1 from note t where t.document_id = d.id)",
    "flag": (
        "exists (select 1 from flag t where t.document_id = d.id"
        f" and substr(t.name, 1, {len(REVIEWS)}) != '{REVIEWS}')"
    ),
    "split": "d.split is not null",
}
_COUNTED = {
    "length": "d.length",
    "spans": "(select count(*) from span t where t.document_id = d.id)",
    "suggestions": (
        "(select count(*) from suggestion t where t.document_id = d.id and t.status = 'open')"
    ),
}
_SCORED = (
    "exists (select 1 from suggestion t where t.document_id = d.id and t.status = 'open'"
    " and {test})"
)


def condition(db: Database, query: Query, layer_ids: Sequence[int]) -> Part:
    """The query as a condition and its parameters.

    `layer_ids`: the layers whose states and suggestions are meant where the query names none.
    """
    return _Reading(db, layer_ids).all(query.nodes)


class _Reading:
    def __init__(self, db: Database, layer_ids: Sequence[int], depth: int = 0):
        self.db, self.layer_ids, self.depth = db, layer_ids, depth
        self.read = db.reader().execute

    def all(self, nodes: Iterable[Node]) -> Part:
        return _join(" and ", [self.node(node) for node in nodes])

    def node(self, node: Node) -> Part:
        if isinstance(node, Not):
            part, values = self.node(node.node)
            return f"not ({part})", values
        if isinstance(node, Or):
            return _join(" or ", [self.node(words) for words in node.nodes])
        if isinstance(node, And):
            return self.all(node.nodes)
        if isinstance(node, Words):
            return self._words(node)
        return getattr(self, f"_{node.key}")(node)  # type: ignore[no-any-return]  # by its name

    def _words(self, node: Words) -> Part:
        if not node.exact:
            return _added(lambda add: text_search.add_text(add, node.text))
        phrase = search.phrase(node.text)
        if phrase is None:
            matching = "select document_id from body where instr(content, ?)"
            return f"d.id in ({matching})", [node.text]
        matching = "select rowid from search where search match ?"
        return f"d.id in (select document_id from body where id in ({matching}))", [phrase]

    # ------------------------------------------------------------ labels and states

    def _label(self, term: Term) -> Part:
        layers = self._layers(term) if term.name else None
        rows = self.read("select id, name, layer_id from label").fetchall()
        if layers is not None:
            rows = [row for row in rows if row[2] in layers]
        ids = self._named(term, [(id, name) for id, name, _layer in rows], _("label"))
        ids = [*ids, *labels.sublabels(self.db, ids)]
        return _in_any(WITH_LABEL, "label_id", ids)

    def _layer(self, term: Term) -> Part:
        rows = self.read("select id, name from layer").fetchall()
        return _in_any(LABEL_TABLES, "layer_id", self._named(term, rows, _("layer")))

    def _layers(self, term: Term) -> list[int]:
        """The layers of the name after the dot, or those that are meant."""
        if not term.name:
            return list(self.layer_ids)
        rows = self.read("select id, name from layer").fetchall()
        named = Term("layer", "", "=", (term.name,), (False,), term.at, term.end)
        return self._named(named, rows, _("layer"))

    def _state(self, term: Term) -> Part:
        layers = self._layers(term)
        aliases = {"open": (queue.TO_DO,), "done": ("submitted", "discarded")}
        states = [state for value in term.values for state in aliases.get(value, (value,))]
        matches = [queue.state_matches(self.db, state, layers) for state in states]
        return _join(" or ", [_added(partial(_add_state, match)) for match in matches])

    # ------------------------------------------------------------ columns of the document

    def _split(self, term: Term) -> Part:
        splits = [None if value == "none" else value for value in term.values]
        return _join(" or ", [("d.split is ?", [split]) for split in splits])

    def _length(self, term: Term) -> Part:
        return _numbers(term, _COUNTED[term.key])

    _spans = _suggestions = _length

    def _score(self, term: Term) -> Part:
        test, values = _numbers(term, "t.score")
        return _SCORED.format(test=f"ifnull({test}, 0)"), values

    def _number(self, term: Term) -> Part:
        test, values = _numbers(term, "t.value")
        these = f"select t.document_id from mark t where t.layer_id in {_SOME} and {test}"
        return f"d.id in ({these})", [ids_in(self._layers(term)), *values]

    def _written(self, term: Term) -> Part:
        tests = [_like("t.text", value, inside=True) for value, _pattern in _values(term)]
        test, values = _join(" or ", tests)
        return f"exists (select 1 from answer t where t.document_id = d.id and {test})", values

    def _key(self, term: Term) -> Part:
        return _join(" or ", [_like("d.key", value, inside=True) for value, _p in _values(term)])

    def _date(self, term: Term) -> Part:
        last = "(select max(s.at) from state s where s.document_id = d.id)"
        if term.operator != "=":
            tests = [[(term.operator, value)] for value in term.values]
        else:
            limits = map(days, term.values)
            tests = [[(">=", first), ("<=", end)] for first, end in limits]
        parts = [
            _join(
                " and ",
                [
                    (f"ifnull(substr({last}, 1, {len(value)}) {operator} ?, 0)", [value])
                    for operator, value in test
                ],
            )
            for test in tests
        ]
        return _join(" or ", parts)

    def _meta(self, term: Term) -> Part:
        tests = [_meta_test(term.operator, *value) for value in _values(term)]
        test, values = _join(" or ", tests)
        these = f"select 1 from json_each(d.meta) j where j.key = ? and {test}"
        return f"exists ({these})", [term.name, *values]

    # ------------------------------------------------------------ other tables

    def _has(self, term: Term) -> Part:
        parts = []
        for value in term.values:
            if value == "suggestion":
                parts.append(_added(lambda add: queue.add_suggested(add, self.layer_ids)))
            else:
                parts.append((_HAS[value], []))
        return _join(" or ", parts)

    def _flag(self, term: Term) -> Part:
        test, values = _join(" or ", [_equal("t.name", *value) for value in _values(term)])
        own = f"substr(t.name, 1, {len(REVIEWS)}) != '{REVIEWS}'"
        return f"exists (select 1 from flag t where t.document_id = d.id and {own} and {test})", (
            values
        )

    def _assigned(self, term: Term) -> Part:
        people = self.read("select id, name from annotator").fetchall()
        ids = self._named(term, people, _("person"))
        these = f"select '{ASSIGNED}' || a.uid from annotator a where a.id in {_SOME}"
        exists = f"exists (select 1 from flag t where t.document_id = d.id and t.name in ({these}))"
        return exists, [ids_in(ids)]

    def _note(self, term: Term) -> Part:
        tests = [_like("t.body", value, inside=True) for value, _pattern in _values(term)]
        test, values = _join(" or ", tests)
        return f"exists (select 1 from note t where t.document_id = d.id and {test})", values

    def _file(self, term: Term) -> Part:
        test, values = _join(" or ", [_equal("s.ref", *value) for value in _values(term)])
        these = f"select s.id from source s where s.kind = 'import' and {test}"
        return f"ifnull(d.batch_source_id in ({these}), 0)", values

    def _source(self, term: Term) -> Part:
        test, values = _join(" or ", [self._from(term, value) for value in term.values])
        these = f"(select s.id from source s where {test})"
        exists = "exists (select 1 from {} t where t.document_id = d.id and t.source_id in {}"
        parts = [f"{exists.format(table, these)})" for table in LABEL_TABLES]
        parts.append(f"{exists.format('suggestion', these)} and t.status = 'open')")
        return f"({' or '.join(parts)})", [*values] * len(parts)

    def _from(self, term: Term, value: str) -> Part:
        """The sources of this kind, run, prompt, person, file or rule."""
        if value in SOURCE_KINDS:
            return "s.kind = ?", [value]
        low = value.casefold()
        parts: list[Part] = []
        for kinds, table in ((("run", "prompt"), "run"), (("person",), "annotator")):
            rows = self.read(f"select id, name from {table}").fetchall()
            ids = [id for id, name in rows if name.casefold() == low]
            column = "s.annotator_id" if table == "annotator" else "cast(s.ref as integer)"
            if ids:
                parts.append(
                    (f"s.kind in {_SOME} and {column} in {_SOME}", [_json(kinds), ids_in(ids)])
                )
        by_ref = "s.kind in ('import', 'rule') and (s.ref = ? or (s.kind = 'rule' and"
        parts.append((f"{by_ref} substr(s.ref, instr(s.ref, ':') + 1) = ?))", [value, value]))
        if len(parts) == 1 and not self._has_source(value):
            names = [name for (name,) in self.read("select name from run").fetchall()]
            raise self._unknown(term, value, names, _("source"))
        return _join(" or ", parts)

    def _has_source(self, ref: str) -> bool:
        query = "select 1 from source where kind in ('import', 'rule') and (ref = ? or"
        return bool(
            self.read(f"{query} substr(ref, instr(ref, ':') + 1) = ?)", (ref, ref)).fetchone()
        )

    def _filter(self, term: Term) -> Part:
        stored = saved_filters.all(self.db)
        named = self._named(
            term, [(filter_.id, filter_.name) for filter_ in stored], _("saved filter")
        )
        if self.depth >= _DEEPEST:
            message = _(
                "The saved filter {name!r} refers to itself, or its filters are nested too deeply."
            )
            raise QueryError(message.format(name=term.values[0]), term.at, term.end)
        inner = _Reading(self.db, self.layer_ids, self.depth + 1)
        chosen = [filter_ for filter_ in stored if filter_.id in named]
        return _join(" or ", [inner.all(parse(filter_.query).nodes) for filter_ in chosen])

    # ------------------------------------------------------------ names

    def _named(self, term: Term, rows: Iterable[tuple[int, str]], what: str) -> list[int]:
        """Ids of the rows with the names of the condition, ignoring case if need be."""
        rows, ids = list(rows), list[int]()
        for value, pattern in _values(term):
            if pattern:
                matches = _pattern(value)
                ids += [id for id, name in rows if matches(name)]
                continue
            same = [id for id, name in rows if name == value]
            low = value.casefold()
            same = same or [id for id, name in rows if name.casefold() == low]
            if not same:
                raise self._unknown(term, value, [name for _id, name in rows], what)
            ids += same
        return ids

    def _unknown(self, term: Term, value: str, names: Sequence[str], what: str) -> QueryError:
        near = difflib.get_close_matches(value, names, 1, 0.5)
        hint = _("Did you mean {name}?", name=near[0]) if near else ""
        message = _("There is no {what} named {name!r}.", what=what, name=value)
        return QueryError(message, term.at, term.end, hint=hint)


def _in_any(tables: Sequence[str], column: str, ids: Sequence[int]) -> Part:
    """Documents with a row of gold in one of the tables."""
    gold = "t.annotator_id = (select gold from layer l where l.id = t.layer_id)"
    rows = [
        f"select t.document_id from {table} t where t.{column} in {_SOME} and {gold}"
        for table in tables
    ]
    return f"d.id in ({' union all '.join(rows)})", [ids_in(ids)] * len(tables)


def _values(term: Term) -> list[tuple[str, bool]]:
    return list(zip(term.values, term.patterns, strict=True))


def _join(word: str, parts: Sequence[Part]) -> Part:
    if len(parts) == 1:
        return parts[0]
    text = word.join(f"({part})" for part, _values in parts)
    return f"({text})" if parts else "1", [value for _part, some in parts for value in some]


def _added(build: Callable[[queue.Add], None]) -> Part:
    """What a function adds that takes `add(condition, *values)`."""
    parts, values = list[str](), list[object]()

    def add(part: str, *more: object) -> None:
        parts.append(part)
        values.extend(more)

    build(add)
    return " and ".join(parts) or "1", values


def _add_state(matches: queue.StateMatches, add: queue.Add) -> None:
    queue.add_state(add, matches)


def _numbers(term: Term, value: str) -> Part:
    if term.operator != "=":
        return f"{value} {term.operator} ?", [float(term.values[0])]
    limits = [interval(text) for text in term.values]
    return _join(" or ", [(f"{value} between ? and ?", list[object](both)) for both in limits])


def _like(column: str, value: str, *, inside: bool) -> Part:
    """A condition for equal values, ignoring the case of Latin letters; `*` stands for anything;
    anywhere if `inside`.
    """
    escaped = value.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_").replace("*", "%")
    return f"ifnull({column} like ? escape '\\', 0)", [f"%{escaped}%" if inside else escaped]


def _equal(column: str, value: str, pattern: bool) -> Part:
    if pattern:
        return _like(column, value, inside=False)
    return f"ifnull({column} = ? collate nocase, 0)", [value]


def _pattern(value: str) -> Callable[[str], bool]:
    import re

    parts = (re.escape(part) for part in value.split("*"))
    pattern = re.compile(".*".join(parts), re.IGNORECASE | re.DOTALL)
    return lambda name: pattern.fullmatch(name) is not None


def _meta_test(operator: str, value: str, pattern: bool) -> Part:
    """Condition on a value `j` of `json_each`: a number or text; numbers may be stored as text."""
    if operator == "=":
        if pattern or value.lower() not in ("true", "false"):
            return _equal("cast(j.value as text)", value, pattern)
        return "(j.type = ? or cast(j.value as text) = ? collate nocase)", [value.lower(), value]
    try:
        number = float(value)
    except ValueError:
        return f"(j.type = 'text' and j.value {operator} ?)", [value]
    numeric = "(j.type in ('integer', 'real') or (j.type = 'text' and j.value glob '[-0-9.]*'))"
    return f"({numeric} and cast(j.value as real) {operator} ?)", [number]


def _json(names: Iterable[str]) -> str:
    import json

    return json.dumps(list(names))
