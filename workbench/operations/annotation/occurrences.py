"""Label all places that an unsaved pattern matches, in one document or many, as one undo step."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.annotation import annotate, patterns, suggestion_edits
from workbench.storage.annotation.suggestions import NewSuggestion
from workbench.storage.documents import places
from workbench.storage.documents.places import Content, TextPlace
from workbench.storage.labels import labels
from workbench.storage.queries.listing import Filter
from workbench.text.labels import TEXT, TOKENS, Layer
from workbench.text.queries.patterns import WORDS, Pattern
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project

NEW, LABELLED, SUGGESTED, OVERLAPS = "new", "labelled", "suggested", "overlaps"
MAX_OCCURRENCES = 100_000  # occurrences that are listed
MAX_QUERY_LENGTH = 1000  # code points of the text that is searched for
AROUND = 60  # code points shown on each side
RULE, REF = "rule", "occurrences:"  # kind and start of `source.ref`; the text follows


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Code points [start, end) of one text, with the text around them on one line.

    status: NEW; LABELLED, has this label already; SUGGESTED, the label is suggested already;
    OVERLAPS another gold span. other: the label of that span.
    """

    document_id: int
    key: str
    field: str
    start: int
    end: int
    before: str
    text: str
    after: str
    status: str = NEW
    other: str = ""

    def is_free(self, *, gold: bool) -> bool:
        """Whether the label is added here unless the user decides otherwise."""
        return self.status == NEW or (gold and self.status == SUGGESTED)

    def may_be_labelled(self, *, gold: bool) -> bool:
        """Whether the user may decide to add the label here."""
        return self.is_free(gold=gold) or self.status == OVERLAPS


@dataclass(frozen=True)
class Occurrences:
    """`cut`: there are more than the `MAX_OCCURRENCES` that are listed."""

    rows: tuple[Occurrence, ...] = ()
    cut: bool = False

    @property
    def documents(self) -> int:
        return len({row.document_id for row in self.rows})


def span_label(project: Project, label_id: int) -> tuple[Layer, str]:
    """The layer and the name of a label of spans or tags. Raises SpecError for any other label."""
    try:
        layer_id, label = labels.label(project.db, label_id)
    except KeyError:
        raise SpecError(_("This label has been deleted.")) from None
    layer = labels.layer(project.db, layer_id)
    if layer.traits.editor not in (TEXT, TOKENS):
        message = _("{label} is not a label for spans or tags: the layer {layer} holds {kind}.")
        raise SpecError(
            message.format(label=label.name, layer=layer.name, kind=_(layer.traits.title))
        )
    return layer, label.name


def pattern_of(
    text: str, label_id: int, *, whole_words: bool = True, match_case: bool = True
) -> Pattern:
    """The pattern that matches a text, which is not saved; white space at its ends is ignored."""
    line = text.replace("\n", " ")  # matches a line break, and does not separate two words
    return Pattern(WORDS, line, label_id, whole_words=whole_words, match_case=match_case)


def find_occurrences(
    project: Project, pattern: Pattern, where: Filter | None = None, *, watch: Watch = QUIET
) -> Occurrences:
    """All places that a pattern of `pattern_of` matches in the documents of the filter. Words are
    looked up in the full-text index first. Of a label of tags, the tokens that lie within a match.

    Raises SpecError if the text is empty or too long, or the label is one for documents.
    """
    layer, _name = span_label(project, pattern.label_id)
    _check_text(pattern.body)
    phrase = pattern.body if pattern.whole_words else ""
    ids = places.candidates(project.db, replace(where or Filter(), texts=layer.texts), phrase)
    tags = {pattern.label_id} if layer.traits.editor == TOKENS else set[int]()
    rows: list[Occurrence] = []
    for contents in patterns.search(project, [pattern], ids, watch, tags):
        occurrences = [
            _occurrence(content, hit.start, hit.end) for content, hits in contents for hit in hits
        ][: MAX_OCCURRENCES - len(rows) + 1]
        rows += _with_status(project, layer, pattern.label_id, occurrences) if occurrences else ()
        if len(rows) > MAX_OCCURRENCES:
            return Occurrences(tuple(rows[:MAX_OCCURRENCES]), cut=True)
    return Occurrences(tuple(rows))


def _check_text(text: str) -> None:
    if not text.strip():
        raise SpecError(
            _("There is no text to search for."), hint=_("Select a word or a phrase first.")
        )
    if len(text) > MAX_QUERY_LENGTH:
        message = _("The text is too long to search for: {n:,} of at most {most:,} characters.")
        raise SpecError(message.format(n=len(text), most=MAX_QUERY_LENGTH))


def _occurrence(content: Content, start: int, end: int) -> Occurrence:
    id, key, field, text = content
    before = ("…" if start > AROUND else "") + text[max(0, start - AROUND) : start]
    after = text[end : end + AROUND] + ("…" if end + AROUND < len(text) else "")
    return Occurrence(
        id, key, field, start, end, _line(before), _line(text[start:end]), _line(after)
    )


def _line(text: str) -> str:
    """White space as single characters, so that the text stays on one line."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def _with_status(
    project: Project, layer: Layer, label_id: int, rows: Sequence[Occurrence]
) -> Iterator[Occurrence]:
    names = {row_id(label): label.name for label in layer.labels}
    ids = sorted({row.document_id for row in rows})
    spans: dict[tuple[int, str], list[TextPlace]] = {}
    for place in places.gold_spans(project.db, ids, row_id(layer)):
        spans.setdefault((place.document_id, place.field), []).append(place)
    sorted_spans = {key: _Spans(document_spans) for key, document_spans in spans.items()}
    suggested = places.suggested_spans(project.db, ids, row_id(layer))
    for row in rows:
        there = sorted_spans.get((row.document_id, row.field))
        over = there.overlapping(row.start, row.end) if there else ()
        place = TextPlace(row.document_id, row.field, row.start, row.end, label_id)
        if place in over:
            yield replace(row, status=LABELLED, other=names.get(label_id, "?"))
        elif over:
            other = over[0].label_id
            yield replace(row, status=OVERLAPS, other=names.get(other or 0, "?"))
        else:
            yield replace(row, status=SUGGESTED) if place in suggested else row


class _Spans:
    """Spans of one text in order, for queries of overlaps."""

    def __init__(self, spans: Sequence[TextPlace]):
        self._spans = spans
        self._starts = [span.start for span in spans]
        self._reach = list(accumulate((span.end for span in spans), max))

    def overlapping(self, start: int, end: int) -> tuple[TextPlace, ...]:
        at, spans = bisect_left(self._starts, end), []
        while at and self._reach[at - 1] > start:
            at -= 1
            if self._spans[at].end > start:
                spans.append(self._spans[at])
        return tuple(reversed(spans))


def title(project: Project, pattern: Pattern, n: int) -> str:
    """The title of the undo step that labels `n` places."""
    _layer, label = span_label(project, pattern.label_id)
    return ngettext(
        "Label {n:,} occurrence as {label}", "Label {n:,} occurrences as {label}", n, label=label
    )


def label_occurrences(
    project: Project,
    pattern: Pattern,
    rows: Sequence[Occurrence],
    *,
    gold: bool,
    watch: Watch = QUIET,
    origin: object = None,
) -> int:
    """Add the label at these places as gold spans or as suggestions; returns their number.

    Places that have the label meanwhile are left out. A gold tag replaces the one that a token has.
    Documents that were pending become drafts.
    """
    layer, _name = span_label(project, pattern.label_id)
    step = title(project, pattern, len(rows))
    ref = f"{REF}{pattern.body}"
    with project.edit(step, origin=origin, bulk=True, watch=watch.part(0.6, 1.0)):
        now = _with_status(project, layer, pattern.label_id, rows)
        labelable = [row for row in now if row.may_be_labelled(gold=gold)]
        watch.at(0.1)
        if not gold:
            suggestions = [
                NewSuggestion(
                    row.document_id, row_id(layer), pattern.label_id, row.start, row.end, row.field
                )
                for row in labelable
            ]
            return suggestion_edits.add_suggestions(
                project, None, suggestions, title=step, kind=RULE, ref=ref, origin=origin
            )
        for row in labelable:
            if row.status == OVERLAPS:
                place = row.start, row.end, row.field
                annotate.make_room(project, row.document_id, layer, *place)
        if labelable:
            places.add_spans(
                project.db,
                [
                    TextPlace(row.document_id, row.field, row.start, row.end, pattern.label_id)
                    for row in labelable
                ],
                row_id(layer),
                annotator_id=project.gold(row_id(layer)),
                source_id=project.source(RULE, ref),
                watch=watch.part(0.1, 0.6),
            )
        return len(labelable)


def state_words(row: Occurrence) -> str:
    """What is at this place already, in words."""
    if row.status == LABELLED:
        return _("has {label}", label=row.other)
    if row.status == OVERLAPS:
        return _("overlaps {label}", label=row.other)
    return _("suggested") if row.status == SUGGESTED else _("new")
