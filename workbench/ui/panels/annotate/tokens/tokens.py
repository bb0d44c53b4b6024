"""Tags of tokens: the selected token, its tags, and key actions. No Qt."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from workbench.base.i18n import _, ngettext
from workbench.operations.annotation import annotate, live_suggestions, suggestion_edits
from workbench.operations.annotation.annotate import SpanRow, SuggestionRow
from workbench.text.document import TEXT
from workbench.text.labels import Label, Layer
from workbench.text.rows import row_id
from workbench.text.segment import tokens_of
from workbench.ui.panels.annotate.differences import differences
from workbench.ui.panels.annotate.session import GOLD, SUGGESTED
from workbench.ui.panels.annotate.tool import EditorTool

if TYPE_CHECKING:
    from workbench.operations.annotation.document_view import DocumentView
    from workbench.project.project import Project
    from workbench.ui.panels.annotate.session import DocumentSession, SpanTarget

PAGE = 1000  # tokens per page
RunChances = tuple[int, str, live_suggestions.TagChances]  # layer, name of the run, probabilities
Place = tuple[int, int]
R = TypeVar("R", SpanRow, SuggestionRow)


class Offer(NamedTuple):
    """A tag that is suggested for a token. row: None for the next best of a run (with its name as
    `source`) or of the instant model.
    """

    label_id: int
    score: float | None
    row: SuggestionRow | None
    source: str = ""


class TokenTool(EditorTool):
    """`token`: the index of the selected token of the first text."""

    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        self.token = 0
        self._tokens: tuple[object, Sequence[Place]] = (None, ())
        self._ranked: tuple[object, tuple[int, ...]] = (None, ())  # for which token, ids of labels
        self._chances: tuple[object, dict[int, RunChances]] = (None, {})  # of the document, by run
        self._stepped: tuple[object, int | None] = (None, None)  # for which token, the undo step
        self._tagged: int | None = None  # the layer of the last tag that was given
        self.listen(session.opening, self._opening)
        self.listen(session.opened, self._opened)
        self.listen(session.changed, self._session_changed)
        self.listen(session.unit_entered, self._enter_unit)

    def _opening(self, doc: DocumentView) -> None:
        if doc.document.id != self.session.document_id:
            self.token = 0

    def _opened(self, _before: int | None) -> None:
        session = self.session
        self._follow_chosen()
        if session.errors and session.run_layer in {layer.id for layer in session.tag_layers}:
            places = [span.start for span in differences(session).spans]
            if places:
                self.choose_token_at(min(places))

    def _session_changed(self, fields: frozenset[str]) -> None:
        if "chosen" in fields:
            self._follow_chosen()

    def _enter_unit(self, start: int) -> None:
        if self.session.tag_layers:
            self.choose_token_at(start)

    def label(self, layer: Layer, label: Label, target: SpanTarget | None) -> None:
        self.set_tag(label)

    @property
    def tokens(self) -> Sequence[Place]:
        """Tokens of the first text: those of the import, else its words."""
        if self.session.doc is None:
            return ()
        document = self.session.doc.document
        if self._tokens[0] is not document:
            self._tokens = document, tokens_of(document)
        return self._tokens[1]

    @property
    def token_page(self) -> range:
        """Indices of the displayed tokens."""
        if (unit := self.session.units.range) is not None:
            inside = range(
                bisect_left(self.tokens, unit[0], key=_start),
                bisect_left(self.tokens, unit[1], key=_start),
            )
            if len(inside) <= PAGE:
                return inside
        first = self.token // PAGE * PAGE
        return range(first, min(first + PAGE, len(self.tokens)))

    @property
    def token_place(self) -> Place | None:
        """Code points of the selected token."""
        return self.tokens[self.token] if self.token < len(self.tokens) else None

    @property
    def tag_keys(self) -> Mapping[str, int]:
        """Key → label id, of tag layers only."""
        labels = [
            label
            for layer in self.session.tag_layers
            for label in self.session.keys.with_keys(layer)
        ]
        return {label.key: row_id(label) for label in reversed(labels) if label.key}

    def tags(self) -> dict[Place, list[SpanRow]]:
        """Gold tags of the displayed tokens, by token offsets."""
        page = self.token_page
        if not page:
            return {}
        low, high = self.tokens[page.start][0], self.tokens[page.stop - 1][1]
        rows = self.session.spans  # in order of field and start
        first = bisect_left(rows, (TEXT, low), key=_order)
        after = bisect_left(rows, (TEXT, high), first, key=_order)
        return _by_place(self._tag_rows(rows[first:after]))

    def suggested_tags(self) -> dict[Place, list[SuggestionRow]]:
        return _by_place(self._tag_rows(self.session.suggestions))

    def _tag_rows(self, rows: Iterable[R]) -> list[R]:
        ids = {layer.id for layer in self.session.tag_layers}
        return [row for row in rows if row.layer_id in ids and row.field == TEXT]

    @property
    def token_text(self) -> str:
        place = self.token_place
        return (
            self.session.shown_doc.document.text[slice(*place)]
            if place and self.session.doc
            else ""
        )

    def token_tags(self) -> list[SpanRow]:
        """The tags of the selected token."""
        return self.tags().get(self.token_place, []) if self.token_place else []

    def token_offers(self) -> list[Offer]:
        """What is suggested for the selected token, the most probable first.

        Of a source that gives one tag only that one; of a run and of the instant model, the next
        best as well.
        """
        place = self.token_place
        if place is None:
            return []
        rows = self.suggested_tags().get(place, ())
        offers = [Offer(row.label_id, row.score, row) for row in rows if row.label_id is not None]
        others = self._run_offers(place)
        for layer in self.session.tag_layers:
            chances = self.session.model.tag_chances(layer, *place)
            others += [Offer(id, score, None) for id, score in chances]
        known = {offer.label_id for offer in offers}
        for offer in sorted(others, key=_least_probable_last):
            if offer.label_id not in known:
                known.add(offer.label_id)
                offers.append(offer)
        return sorted(offers, key=_least_probable_last)

    @property
    def likely_tag(self) -> int | None:
        """The label of the selected token, else the most probable one, else the first."""
        labels = (label for layer in self.session.tag_layers for label in layer.labels)
        ids = [row.label_id for row in self.token_tags()]
        ids += [offer.label_id for offer in self.token_offers()]
        return next(iter(ids), next((row_id(label) for label in labels), None))

    def _run_offers(self, place: Place) -> list[Offer]:
        """The most probable tags by each run that suggests tags in the document.

        A run stays one of them when the last of its suggestions equals gold.
        """
        document, layers = (
            self.session.shown_doc.document,
            {layer.id: layer for layer in self.session.tag_layers},
        )
        if self._chances[0] is not document:
            self._chances = document, {}
        of_run = self._chances[1]
        for row in self.session.suggestions:
            if row.run_id is not None and row.layer_id in layers and row.run_id not in of_run:
                chances = live_suggestions.tag_chances(self.project, row.run_id, document)
                of_run[row.run_id] = row.layer_id, row.source, chances
        return [
            Offer(row_id(layers[layer_id].label(name)), score, None, source)
            for layer_id, source, chances in of_run.values()
            if layer_id in layers
            for name, score in chances.get(place, ())
            if name in layers[layer_id].names
        ]

    def _follow_chosen(self) -> None:
        """Select the token of a tag that was selected elsewhere, such as in the list of spans."""
        if self.session.chosen is None or not self.session.tag_layers:
            return
        kind, id = self.session.chosen
        row: SpanRow | SuggestionRow | None = (
            self.session.spans.by_id.get(id)
            if kind == GOLD
            else next((row for row in self.session.suggestions if row.id == id), None)
            if kind == SUGGESTED
            else None
        )
        if (
            row is not None
            and row.field == TEXT
            and row.layer_id in map(row_id, self.session.tag_layers)
        ):
            place = row.start, row.end
            number = next((n for n, token in enumerate(self.tokens) if token == place), None)
            if number is not None and number != self.token:
                self.update(token=number)

    def choose_token(self, number: int) -> None:
        """Out-of-range indices select the first or last token."""
        number = min(max(number, 0), max(0, len(self.tokens) - 1))
        if self.session.chosen is not None:
            self.session.update(chosen=None)
        if number != self.token:
            self.update(token=number)
        if self.tokens:
            self.session.units.follow(self.tokens[number][0])

    def choose_token_at(self, position: int) -> None:
        """Select the token at or after a code point of the first text."""
        number = next((n for n, (_start, end) in enumerate(self.tokens) if end > position), 0)
        self.choose_token(number)

    def set_tag(self, label: Label) -> None:
        """Tag the selected token and go to the next."""
        place = self.token_place
        if not self.session.can_edit or place is None:
            return
        if label.id not in {row.label_id for row in self.tags().get(place, ())}:
            self.context.attempt(
                annotate.add_span,
                self.project,
                self.session.document_id,
                *place,
                label.id,
                origin=self.session,
            )
        self._tagged = next(
            (layer.id for layer in self.session.tag_layers if label in layer.labels), None
        )
        self.choose_token(self.token + 1)

    def step_tag(self, way: int) -> None:
        """Give the selected token the next (1) or previous (-1) tag of `tag_layer` and stay there.

        Repeated steps on a token are undone as one. The most probable tags come first, then the
        others in the order of the layer.
        """
        place, layer = self.token_place, self.tag_layer
        if not self.session.can_edit or place is None or layer is None or not layer.labels:
            return
        ranked = self._ranked_tags(layer)
        tags = [row.label_id for row in self.token_tags() if row.layer_id == layer.id]
        at = ranked.index(tags[0]) if tags else min(0, -way)
        label_id = ranked[(at + way) % len(ranked)]
        name = next(label.name for label in layer.labels if label.id == label_id)
        stepped = self.session.document_id, self.token, layer.id
        joins = self._stepped[1] if self._stepped[0] == stepped else None
        self.context.attempt(self._give_tag, place, label_id, name, joins)
        self._stepped = stepped, self.project.undo_step
        self._tagged = layer.id

    def _give_tag(self, place: Place, label_id: int, name: str, joins: int | None) -> None:
        if (document_id := self.session.document_id) is None:
            return
        title = _("Tag {label}", label=name)
        with self.project.edit(title, origin=self.session, joins=joins):
            annotate.add_span(self.project, document_id, *place, label_id, origin=self.session)

    @property
    def tag_layer(self) -> Layer | None:
        """The layer whose tags Shift+↓ steps through: of the selected tag or suggestion, else of
        the last tag that was given, else the first.
        """
        preferred = self._tagged
        if self.session.chosen is not None:
            rows = (*self.token_tags(), *self.suggested_tags().get(self.token_place or (0, 0), ()))
            kinds = {SpanRow: GOLD, SuggestionRow: SUGGESTED}
            layer_ids = [
                row.layer_id for row in rows if (kinds[type(row)], row.id) == self.session.chosen
            ]
            preferred = next(iter(layer_ids), preferred)
        layers = self.session.tag_layers
        return next((layer for layer in layers if layer.id == preferred), next(iter(layers), None))

    def _ranked_tags(self, layer: Layer) -> Sequence[int]:
        """The labels of a layer by probability; they keep their order while the token is selected,
        as its suggestions go when it gets a tag.
        """
        ids = [row_id(label) for label in layer.labels]
        key = self.session.document_id, self.token, *ids
        if self._ranked[0] != key:
            offered = [offer.label_id for offer in self.token_offers() if offer.label_id in ids]
            self._ranked = key, tuple(dict.fromkeys((*offered, *ids)))
        return self._ranked[1]

    def clear_tag(self) -> None:
        """Clear the tags of the selected token, or reject its suggestion if it has none."""
        place = self.token_place
        if not self.session.can_edit or place is None:
            return
        rows = self.tags().get(place, [])
        if rows:
            self.session.attempt(_delete, [row.id for row in rows])
        elif suggested := self.suggested_tags().get(place, ()):
            self._decide_tags(suggestion_edits.reject, suggested)

    def accept_tag(self) -> bool:
        """Accept the suggestion for the selected token and continue; False if there is none."""
        suggested = self.suggested_tags().get(self.token_place, ()) if self.token_place else ()
        if not self.session.can_edit or not suggested:
            return False
        self._decide_tags(suggestion_edits.accept, _best(suggested))
        self.choose_token(self.token + 1)
        return True

    def accept_other_tags(self) -> None:
        """Accept the suggestions for all tokens of the text that have no tag, as one undo step.

        Where sources disagree, the one with the highest score.
        """
        tagged = {(row.layer_id, row.start, row.end) for row in self._tag_rows(self.session.spans)}
        rows = self._tag_rows(self.session.suggestions)
        missing = [row for row in rows if (row.layer_id, row.start, row.end) not in tagged]
        if not self.session.can_edit or not missing:
            return
        done = self._decide_tags(suggestion_edits.accept, _best(missing))
        if done:
            message = ngettext("Accepted {n:,} suggestion.", "Accepted {n:,} suggestions.", done)
            self.context.note(message, undo=True)

    def _decide_tags(self, act: Callable[..., int], rows: Iterable[SuggestionRow]) -> int | None:
        ids = [row.id for row in rows]
        done: int | None = self.context.attempt(
            self.session.deciding(act), self.project, ids, origin=self.session
        )
        return done


def _least_probable_last(offer: Offer) -> float:
    return -(offer.score or 0.0)


def _best(rows: Iterable[SuggestionRow]) -> list[SuggestionRow]:
    """The suggestion with the highest score for each token and layer."""
    best: dict[tuple[int, int | None], SuggestionRow] = {}
    for row in rows:
        before = best.setdefault((row.layer_id, row.start), row)
        if (row.score or 0.0) > (before.score or 0.0):
            best[row.layer_id, row.start] = row
    return list(best.values())


def _delete(project: Project, ids: Sequence[int], *, origin: object) -> None:
    with project.edit(_("Clear tag"), origin=origin):
        for id in ids:
            annotate.delete_span(project, id, origin=origin)


def _start(place: Place) -> int:
    return place[0]


def _order(row: SpanRow) -> tuple[str, int]:
    return row.field, row.start


def _by_place(rows: Sequence[R]) -> dict[Place, list[R]]:
    by_place: dict[Place, list[R]] = {}
    for row in rows:
        if row.start is not None and row.end is not None:  # not the suggestion of a class
            by_place.setdefault((row.start, row.end), []).append(row)
    return by_place
