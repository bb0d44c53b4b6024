"""Patterns that suggest labels: edit them, count what they match, apply them to documents.

Every change is one undo step. Suggestions of patterns are replaced when they are applied again;
rejected ones do not return.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.storage.annotation import patterns as stored
from workbench.storage.annotation import suggestions as proposals
from workbench.storage.annotation.suggestions import NewSuggestion
from workbench.storage.documents import places
from workbench.storage.documents.places import Content
from workbench.storage.labels import labels
from workbench.storage.queries.listing import Filter
from workbench.text.labels import CLASSES, TEXT, TOKENS, Label, Layer
from workbench.text.queries.patterns import Hit, Pattern, PatternSearch
from workbench.text.rows import row_id
from workbench.text.segment import covered, tokens_in

if TYPE_CHECKING:
    from workbench.project.project import Project

RULE, REF = "rule", "pattern:"  # kind and start of `source.ref`; the title of the pattern follows
CHUNK = 500  # documents read and searched between two reports of progress
STORED = 2000  # matches whose suggestions are stored at a time


@dataclass(frozen=True)
class Hits:
    """What a pattern matches: places, and documents with at least one."""

    places: int = 0
    documents: int = 0


@dataclass(frozen=True)
class PatternCounts:
    """`of`: id of the pattern → its hits. `documents`: number of documents searched."""

    of: Mapping[int, Hits] = field(hash=False)
    documents: int


@dataclass(frozen=True)
class AppliedPatterns:
    """New open `suggestions` in `documents`; `patterns` were applied to `searched` documents."""

    suggestions: int
    documents: int
    patterns: int
    searched: int


def describe(applied: AppliedPatterns) -> str:
    """A summary of the result, as sentences."""
    suggested = ngettext(
        "Patterns created {n:,} suggestion.",
        "Patterns created {n:,} suggestions.",
        applied.suggestions,
    )
    searched = ngettext(
        "{n:,} document was searched.", "{n:,} documents were searched.", applied.searched
    )
    return f"{suggested.format(n=applied.suggestions)} {searched}"


# ---------------------------------------------------------------- the table


def all_patterns(project: Project) -> tuple[Pattern, ...]:
    """The patterns in the order in which they were added."""
    return stored.all(project.db)


def label_choices(project: Project) -> tuple[tuple[Layer, Label], ...]:
    """The labels that patterns can suggest: of classes, spans and tags."""
    return tuple(
        (layer, label)
        for layer in labels.layers(project.db)
        if layer.traits.editor in (TEXT, CLASSES, TOKENS)
        for label in layer.labels
    )


def add(project: Project, patterns: Sequence[Pattern], *, origin: object = None) -> list[int]:
    """Add patterns; returns their ids. Raises SpecError if one is not valid."""
    known = {row_id(label) for _layer, label in label_choices(project)}
    for pattern in patterns:
        _check(pattern, known)
    title = ngettext("Add {n:,} pattern", "Add {n:,} patterns", len(patterns))
    with project.edit(title, origin=origin, bulk=True):
        return stored.add(project.db, patterns)


def change(project: Project, *patterns: Pattern, origin: object = None) -> int:
    """Store changed patterns; returns their number.

    Raises SpecError if one is not valid or was removed.
    """
    known = {row_id(label) for _layer, label in label_choices(project)}
    for pattern in patterns:
        _check(pattern, known)
    title = ngettext("Change {n:,} pattern", "Change {n:,} patterns", len(patterns))
    with project.edit(title, origin=origin):
        try:
            for pattern in patterns:
                stored.update(project.db, pattern)
        except KeyError:
            raise SpecError(_("This pattern has been removed.")) from None
    return len(patterns)


def remove(project: Project, ids: Sequence[int], *, origin: object = None) -> int:
    """Remove patterns; their suggestions stay. Returns how many were removed."""
    title = ngettext("Remove {n:,} pattern", "Remove {n:,} patterns", len(ids))
    with project.edit(title, origin=origin):
        return stored.remove(project.db, ids)


def _check(pattern: Pattern, known: set[int]) -> None:
    pattern.check()
    if pattern.label_id not in known:
        raise SpecError(
            _("The pattern {pattern} has no label.", pattern=pattern.title),
            hint=_("Choose a label of a layer of classes, spans or tags."),
        )


# ---------------------------------------------------------------- searching


class _Match(NamedTuple):
    """`pattern` is an index in the list of patterns."""

    document_id: int
    field: str
    start: int
    end: int
    pattern: int


def search(
    project: Project,
    patterns: Sequence[Pattern],
    ids: Sequence[int],
    watch: Watch,
    tags: Container[int] = frozenset(),
) -> Iterator[list[tuple[Content, Sequence[Hit]]]]:
    """The texts of these documents with their hits, a list for every few documents.

    tags: labels of tags; their patterns match each token that lies within a match.
    """
    searcher = PatternSearch(patterns)
    of_tags = {number for number, pattern in enumerate(patterns) if pattern.label_id in tags}
    for chunk in watch.over(ids, CHUNK):
        tokens_of = places.tokens(project.db, chunk) if of_tags else {}
        contents: list[tuple[Content, Sequence[Hit]]] = []
        for content in places.contents(project.db, chunk):
            id, key, name, text = content
            hits = searcher.find(text, key)
            if any(hit.pattern in of_tags for hit in hits):
                hits = _of_tokens(hits, tokens_in(text, tokens_of.get((id, name))), of_tags)
            contents.append((content, hits))
        yield contents


def _matches(
    project: Project,
    patterns: Sequence[Pattern],
    ids: Sequence[int],
    watch: Watch,
    tags: Container[int] = frozenset(),
) -> Iterator[list[_Match]]:
    """`search` as matches alone."""
    for contents in search(project, patterns, ids, watch, tags):
        yield [
            _Match(content.document_id, content.field, *hit)
            for content, hits in contents
            for hit in hits
        ]


def _of_tokens(
    hits: Sequence[Hit], tokens: Sequence[tuple[int, int]], of_tags: Container[int]
) -> list[Hit]:
    """The hits of patterns for tags, by token; the others as they are."""
    return [
        Hit(start, end, hit.pattern)
        for hit in hits
        for start, end in (
            covered(tokens, hit.start, hit.end)
            if hit.pattern in of_tags
            else ((hit.start, hit.end),)
        )
    ]


def _tag_labels(project: Project) -> frozenset[int]:
    """The labels of layers of tags."""
    return frozenset(
        row_id(label) for layer, label in label_choices(project) if layer.traits.editor == TOKENS
    )


def count(
    project: Project,
    patterns: Sequence[Pattern] | None = None,
    *,
    where: Filter | None = None,
    watch: Watch = QUIET,
) -> PatternCounts:
    """What each pattern matches in the documents of the filter, by default all patterns in all.

    Raises SpecError, naming pattern and document, if an expression takes too long.
    """
    chosen = all_patterns(project) if patterns is None else tuple(patterns)
    ids = places.candidates(project.db, where or Filter())
    hits, documents = Counter[int](), Counter[int]()
    # each with a label of its own, so that no pattern takes the matches of another
    apart = [replace(pattern, label_id=number) for number, pattern in enumerate(chosen)]
    for matches in _matches(project, apart, ids, watch):
        hits.update(match.pattern for match in matches)
        pairs = {(match.document_id, match.pattern) for match in matches}
        documents.update(number for _id, number in pairs)
    of = {
        pattern.id: Hits(hits[number], documents[number]) for number, pattern in enumerate(chosen)
    }
    return PatternCounts({id: counts for id, counts in of.items() if id is not None}, len(ids))


# ---------------------------------------------------------------- applying


def apply(
    project: Project,
    *,
    where: Filter | None = None,
    watch: Watch = QUIET,
    origin: object = None,
) -> AppliedPatterns:
    """Suggest labels for all matches of the active patterns, as one undo step.

    Open suggestions of patterns in the documents of the filter, by default in all, are replaced.
    Omitted are labels that are gold there, tokens that have a tag, and suggestions of patterns that
    were rejected. The texts are searched before the project is changed. Raises SpecError, naming
    pattern and document, if an expression takes too long; then nothing is changed.
    """
    active = [pattern for pattern in all_patterns(project) if pattern.active]
    ids = places.candidates(project.db, where or Filter())
    matches = [
        match
        for some in _matches(project, active, ids, watch.part(0.0, 0.4), _tag_labels(project))
        for match in some
    ]
    with project.edit(_("Apply patterns"), origin=origin, bulk=True, watch=watch.part(0.8, 1.0)):
        proposals.delete_open_of(project.db, RULE, REF, None if where is None else ids)
        added = _suggest(project, active, matches, watch.part(0.4, 0.8))
    return AppliedPatterns(
        added, len({match.document_id for match in matches}), len(active), len(ids)
    )


def apply_to_new(project: Project, after: int, *, watch: Watch = QUIET) -> tuple[int, str]:
    """Within an edit, suggest labels in the documents with ids above `after`.

    Returns the number of suggestions, and a message if a pattern could not be applied: then there
    are none.
    """
    active = [pattern for pattern in all_patterns(project) if pattern.active]
    ids = places.documents_after(project.db, after) if active else []
    try:
        part = watch.part(0.0, 0.5)
        some = _matches(project, active, ids, part, _tag_labels(project)) if ids else ()
        all_matches = [match for matches in some for match in matches]
    except SpecError as error:
        message = _("The patterns were not applied to the new documents. {error}", error=error)
        return 0, message
    return _suggest(project, active, all_matches, watch.part(0.5, 1.0)), ""


def _suggest(
    project: Project, patterns: Sequence[Pattern], matches: Sequence[_Match], watch: Watch
) -> int:
    """Add suggestions within an edit; returns their number. Each pattern is a source."""
    layers = {row_id(label): layer for layer, label in label_choices(project)}
    texts = places.texts_of(project.db, {match.document_id for match in matches})
    rejected = proposals.rejected_of(project.db, RULE)
    sources: dict[int, int] = {}
    added = 0
    for some in watch.over(matches, STORED):
        gold = proposals.gold_of(project.db, {match.document_id for match in some})
        shut, tagged = gold | rejected, _tagged(layers, gold)
        of_source: dict[int, dict[proposals.What, NewSuggestion]] = {}
        for match in some:
            layer = layers.get(patterns[match.pattern].label_id)
            if layer is None or layer.texts != texts[match.document_id]:
                continue
            row = _suggestion(layer, patterns[match.pattern].label_id, match)
            if row.what not in shut and (row.layer_id, *_place(row.what)) not in tagged:
                shut.add(row.what)
                of_source.setdefault(match.pattern, {})[row.what] = row
        for number, rows in of_source.items():
            if number not in sources:
                ref = f"{REF}{patterns[number].title}"
                sources[number] = project.source(RULE, ref, annotator=False)
            added += proposals.add_suggestions(project.db, rows.values(), source_id=sources[number])
    return added


def _tagged(layers: Mapping[int, Layer], gold: Iterable[proposals.What]) -> set[tuple[object, ...]]:
    """Layer and place of the tokens that have a tag."""
    known = ((layers.get(what[1]), what) for what in gold)
    return {
        (layer.id, *_place(what))
        for layer, what in known
        if layer is not None and layer.traits.editor == TOKENS
    }


def _place(what: proposals.What) -> tuple[object, ...]:
    """Document, start, end and field."""
    document, _label, start, end, field, *_question = what
    return document, start, end, field


def _suggestion(layer: Layer, label_id: int, match: _Match) -> NewSuggestion:
    if layer.traits.on_document:
        return NewSuggestion(match.document_id, row_id(layer), label_id)
    return NewSuggestion(
        match.document_id, row_id(layer), label_id, match.start, match.end, match.field
    )
