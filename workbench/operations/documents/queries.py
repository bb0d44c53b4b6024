"""Queries on the documents of a project, saved filters, and completion.

Grammar: `text.queries.query`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.storage.documents import documents
from workbench.storage.queries import listing, query_values, saved_filters
from workbench.storage.queries.listing import Filter
from workbench.storage.queries.saved_filters import SavedFilter
from workbench.text.queries import query, query_edit
from workbench.text.queries.query import Query, QueryError, parse

if TYPE_CHECKING:
    from workbench.project.project import Project

MOST_OFFERED = 12  # completions at once
LONGEST_NAME = 200  # of a saved filter, in characters


def check(project: Project, text: str, layer_ids: Sequence[int] = ()) -> Query:
    """Read a query and look up its names. Raises QueryError."""
    query = parse(text)
    listing.condition(project.db, Filter(query=query, queue_layers=layer_ids))
    return query


def matching(project: Project, text: str, ids: Sequence[int] | None = None) -> array[int]:
    """Ids of the documents that match, of all or only of these, in import order.

    Raises QueryError.

    Takes seconds for a million documents: not for the main thread.
    """
    return documents.ids(project.db, Filter(query=check(project, text), ids=ids))


# ---------------------------------------------------------------- saved filters


def filters(project: Project) -> tuple[SavedFilter, ...]:
    """The saved filters, in the order in which they were saved."""
    return saved_filters.all(project.db)


def filter_named(project: Project, name: str) -> SavedFilter:
    """Raises SpecError if there is no such filter."""
    known = filters(project)
    for filter_ in known:
        if filter_.name == name:
            return filter_
    names = ", ".join(filter_.name for filter_ in known) or _("none")
    raise SpecError(
        _("There is no saved filter named {name!r}.", name=name),
        hint=_("Saved filters: {names}.", names=names),
    )


def save_filter(project: Project, name: str, text: str, *, origin: object = None) -> int:
    """Save a query under a name, in place of an earlier one of this name. Returns its id.

    Raises QueryError for a query that cannot be read, SpecError for one without conditions or an
    invalid name.
    """
    name, text = _name(name), text.strip()
    if not check(project, text).nodes:
        raise SpecError(_("The filter has no conditions."), hint=_("Write a query first."))
    same = [filter_ for filter_ in filters(project) if filter_.name == name]
    with project.edit(_("Save filter {name}", name=name), origin=origin):
        if not same:
            return saved_filters.add(project.db, name, text)
        saved_filters.update(project.db, same[0].id, name, text)
        return same[0].id


def rename_filter(project: Project, id: int, name: str, *, origin: object = None) -> None:
    """Rename a filter, also where other filters refer to it. Raises SpecError for a name in use."""
    name, known = _name(name), filters(project)
    before = next(filter_ for filter_ in known if filter_.id == id)
    if any(filter_.name == name and filter_.id != id for filter_ in known):
        message = _("There is already a saved filter named {name!r}.", name=name)
        raise SpecError(message, hint=_("Choose another name."))
    with project.edit(_("Rename filter {name}", name=before.name), origin=origin):
        for filter_ in known:
            text = _renamed(filter_.query, before.name, name)
            if filter_.id == id or text != filter_.query:
                saved_filters.update(
                    project.db, filter_.id, name if filter_.id == id else filter_.name, text
                )


def delete_filter(project: Project, id: int, *, origin: object = None) -> None:
    """Delete a saved filter; documents are not affected. Raises KeyError if there is none."""
    name = next((filter_.name for filter_ in filters(project) if filter_.id == id), "")
    with project.edit(_("Delete filter {name}", name=name), origin=origin):
        saved_filters.delete(project.db, id)


def _renamed(text: str, before: str, after: str) -> str:
    """The query with the name of a filter replaced in its `filter:` conditions."""
    try:
        terms = [term for term in parse(text).terms() if term.key == "filter"]
    except QueryError:
        return text
    for term in sorted(terms, key=lambda term: -term.at):
        if before in term.values:
            values = [after if value == before else value for value in term.values]
            text = text[: term.at] + query_edit.term("filter", *values) + text[term.end :]
    return text


def _name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME:
        message = _("The name of a filter has 1 to {most} characters.", most=LONGEST_NAME)
        raise SpecError(message, hint=_("Choose another name."))
    return name


def slices_of(project: Project, ids: Sequence[int]) -> dict[str, frozenset[int]]:
    """Name of each saved filter → those of the documents that match it.

    Filters that no longer can be applied, for example by a deleted label, are left out.
    """
    slices = {}
    for filter_ in filters(project):
        try:
            slices[filter_.name] = frozenset(matching(project, filter_.query, ids))
        except QueryError:
            continue
    return slices


# ---------------------------------------------------------------- completion


@dataclass(frozen=True)
class Completion:
    """A completion: `text` replaces [start, end) of the query. `title` and `note` describe it."""

    text: str
    title: str
    note: str
    start: int
    end: int


@dataclass(frozen=True)
class QueryNames:
    """The names in a project that a query can contain, by key; `fields`: values by metadata field.

    Metadata and values are those of a sample of documents.
    """

    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    fields: dict[str, tuple[str, ...]] = field(default_factory=dict)


def vocabulary(project: Project) -> QueryNames:
    """Read the names for `complete`. Some milliseconds: not for each keystroke."""
    names = query_values.names(project.db)
    names["filter"] = tuple(filter_.name for filter_ in filters(project))
    return QueryNames(names, query_values.metadata(project.db))


def complete(known: QueryNames, text: str, caret: int) -> tuple[Completion, ...]:
    """Completions at the caret, those that begin with what is written first."""
    place = query_edit.place(text, caret)
    typed = place.typed.casefold()
    offers = []
    for value, label, note in _candidates(known, place):
        low = label.casefold()
        if typed in low and (typed or place.key or place.name is not None or not text.strip()):
            offers.append((not low.startswith(typed), value, label, note))
    if not place.key and place.name is None and typed:
        offers = [offer for offer in offers if not offer[0]]  # keys only by their beginning
    offers.sort(key=lambda offer: offer[0])
    if len(offers) == 1 and offers[0][1].rstrip() == text[place.start : place.end]:
        return ()
    completions = [
        Completion(value, label, note, place.start, place.end) for _n, value, label, note in offers
    ]
    return tuple(completions[:MOST_OFFERED])


def _candidates(known: QueryNames, place: query_edit.CaretPlace) -> Iterator[tuple[str, str, str]]:
    """(text to insert, what is compared and shown, note)"""
    if place.name is not None:
        names = known.fields if place.name == "meta" else known.names.get("layer", ())
        for name in names:
            yield f"{query_edit.quoted(name)}:", name, ""
    elif place.key:
        key = query.KEYS.get(place.key)
        values = key.choices if key else ()
        if place.key == "meta":
            values = known.fields.get(place.field, ())
        for value in values or known.names.get(place.key, ()):
            yield f"{query_edit.quoted(value)} ", value, ""
    else:
        for name, key in query.KEYS.items():
            ordered = key.kind in (query.NUMBER, query.DATE)
            after = "." if key.required else ">" if ordered else ":"
            yield f"{name}{after}", f"{name}{after}", _(key.title)
