"""Context menus of Annotate: for the text, a span or suggestion, and a row of the queue."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF
from PySide6.QtGui import QGuiApplication

from workbench.base.i18n import _
from workbench.text.labels import Label, Layer
from workbench.text.rows import row_id
from workbench.ui.commands import SEPARATOR, MenuChoice
from workbench.ui.panels.annotate.keys import moved
from workbench.ui.panels.annotate.suggestions.suggestion_list import of_source
from workbench.ui.style import escaping
from workbench.ui.widgets.text.context_menu import ContextMenu, RowMenu
from workbench.ui.widgets.text.view import TextView

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import RelationRow, SpanRow, SuggestionRow
    from workbench.ui.panels.annotate.view import AnnotateView

EXCERPT_LENGTH = 32  # characters of the text in a menu entry
Choices = tuple[MenuChoice | None, ...]

# commands whose keys are shown beside the entries
CHAIN, NEW_CHAIN, ADD_PART = "annotate.chain", "annotate.chain-new", "annotate.part"
LINK, DELETE, SKIP = "annotate.link-key", "annotate.delete", "annotate.space"
ANSWER = "annotate.enter"
EXAMPLE, COUNTEREXAMPLE = "annotate.example-good", "annotate.example-bad"
ACCEPT, REJECT = "annotate.accept", "annotate.reject"


class ContextMenus:
    """Creates the context menus of a page; `view` is the page."""

    def __init__(self, view: AnnotateView) -> None:
        self._view, self._state = view, view.state
        self._session = view.state.session
        RowMenu(view.queue.list, self.document)
        RowMenu(view.right.spans, self.chosen)
        RowMenu(view.right.relations.table, self.chosen)
        RowMenu(view.right.suggestions, self.chosen)

    def watch(self, text: TextView) -> None:
        """Add the context menu to a text."""
        ContextMenu(text, partial(self._text, text), partial(_at_caret, text))

    # ------------------------------------------------------------ the text

    def _text(self, text: TextView, point: QPoint | None) -> Choices:
        if self._session.doc is None:
            return ()
        text.setFocus()
        if point is not None:
            self._take(text, QPointF(point))
        return self.chosen() or self._words(text)

    def _take(self, text: TextView, point: QPointF) -> None:
        """Select what is under the mouse: keep a selection, else take a span, else a word."""
        if text.selection and text.selected_at(point):
            self._session.choose(None)
            return
        under = text.names_at(point)
        if under:
            if self._session.chosen not in under:
                self._session.choose(under[0])
            return
        text.move_caret(text.position_at(point))

    def _words(self, text: TextView) -> Choices:
        start, end = text.target or (0, 0)
        some = start < end
        labels = self._labels(self._layers(), lambda label: self._view.label(row_id(label)))
        can = some and self._session.can_edit and bool(labels)
        content = text.text.text[start:end]
        title = _("&Label “{text}” as", text=escaping.menu_text(_cut(content)))
        return (
            MenuChoice(title if some else _("&Label as"), enabled=can, choices=labels or _NOTHING),
            self._all_occurrences(some and bool(labels)),
            MenuChoice(
                _("Add to the &guideline…"),
                self._view.ask_example,
                self._session.can_edit,
                command="annotate.guideline-example",
            ),
            *self._answers(text),
            *self._of_text(),
            SEPARATOR,
            MenuChoice(_("&Copy"), partial(_copy, content), some, command="copy"),
            MenuChoice(_("&Find in the text"), self._view.find, command="find"),
            MenuChoice(_("Select &all"), text.selectAll, text.can_select_all, command="select-all"),
        )

    def _answers(self, text: TextView) -> Choices:
        """The current question, which the selected text can answer."""
        question = self._state.questions.question
        if question is None:
            return ()
        title = _("Ans&wer “{question}”")
        title = title.format(question=escaping.menu_text(_cut(question.question.text)))
        can = self._session.can_edit and text.selection is not None
        return (MenuChoice(title, self._view.asking.answer, can, command=ANSWER),)

    def _of_text(self) -> Choices:
        """Chains and parts: what the selected text can be added to."""
        state, links = self._state, self._view.links
        choices = []
        if self._session.chain_layers:
            chain = state.relations.chain[1] if state.relations.chain else None
            if chain is not None:
                title = _("Add to c&hain {number}", number=chain)
                choices.append(
                    MenuChoice(title, links.join_chain, self._session.can_edit, command=CHAIN)
                )
            choices.append(
                MenuChoice(
                    _("&New chain"), links.new_chain, self._session.can_edit, command=NEW_CHAIN
                )
            )
        if (span := state.relations.growing) is not None:
            title = _("Add to “{text}” as a &part")
            title = title.format(text=escaping.menu_text(_cut(self._content(span))))
            choices.append(
                MenuChoice(title, links.add_part, self._session.can_edit, command=ADD_PART)
            )
        return tuple(choices)

    def _all_occurrences(self, some: bool) -> MenuChoice:
        can = some and self._session.can_edit
        act = self._view.occurrences.open
        return MenuChoice(_("Label all &occurrences…"), act, can, command="annotate.occurrences")

    def _layers(self, *, but: Layer | None = None) -> list[Layer]:
        """The visible span layers that have labels."""
        layers = [layer for layer in self._session.active if layer.traits.in_text and layer.labels]
        return [layer for layer in layers if but is None or layer.id != but.id]

    def _labels(
        self, layers: list[Layer], act: Callable[[Label], object], now: int | None = None
    ) -> Choices:
        """The labels of the layers with their keys, in submenus if there are several; `now` is
        checked.
        """

        def line(label: Label) -> MenuChoice:
            on = None if now is None else label.id == now
            name = escaping.menu_text(label.name)
            return MenuChoice(name, partial(act, label), key=label.key.upper(), on=on)

        lines = {
            layer.name: tuple(map(line, self._session.keys.with_keys(layer))) for layer in layers
        }
        if len(lines) == 1:
            return next(iter(lines.values()))
        return tuple(
            MenuChoice(escaping.menu_text(name), choices=inner) for name, inner in lines.items()
        )

    # ------------------------------------------------------------ a span, a suggestion

    def chosen(self) -> Choices:
        """Menu of the selected span, suggestion or prediction; empty if nothing is selected."""
        span, suggestion = (self._session.chosen_span(), self._session.chosen_suggestion())
        if span is not None:
            return self._span(span)
        if suggestion is not None:
            return self._suggestion(suggestion)
        if (relation := self._state.relations.chosen_relation()) is not None:
            return self._relation(relation)
        return self._answer() if self._session.chosen is not None else ()

    def _span(self, span: SpanRow) -> Choices:
        state, can = self._state, self._session.can_edit
        known = self._session.label_of.get(span.label_id) if span.label_id is not None else None
        layer = known[0] if known else None
        labels = self._labels([layer] if layer else [], self._label, span.label_id)
        also = self._labels(self._layers(but=layer), self._label)
        return (
            MenuChoice(
                _("Change &label"), enabled=can and bool(labels), choices=labels or _NOTHING
            ),
            *(
                [MenuChoice(_("Label in &another layer"), enabled=can, choices=also)]
                if also
                else ()
            ),
            MenuChoice(_("Move &boundary"), enabled=can, choices=self._boundaries(span)),
            *self._links(span),
            self._all_occurrences(True),
            MenuChoice(_("&Note…"), self._view.remarks.ask_note, can, command="annotate.note"),
            MenuChoice(_("Fla&g…"), self._view.remarks.ask_flag, can, command="annotate.flag"),
            *self._examples(can),
            MenuChoice(_("&Copy text"), partial(_copy, self._content(span))),
            SEPARATOR,
            self._of_source(span),
            MenuChoice(_("&Delete span"), state.delete_chosen, can, command=DELETE),
        )

    def _examples(self, can: bool) -> Choices:
        """What is selected as an example in the guideline."""
        good, bad = (partial(self._view.add_example, positive=good) for good in (True, False))
        return (
            MenuChoice(_("Add as &example to the guideline"), good, can, command=EXAMPLE),
            MenuChoice(_("Add as co&unterexample"), bad, can, command=COUNTEREXAMPLE),
        )

    def _links(self, span: SpanRow) -> Choices:
        """A relation from the span; its chain and parts."""
        state, can = self._state, self._session.can_edit
        choices = []
        if state.relations.can_link:
            chains = span.chain is not None
            title = _("&Merge with another chain") if chains else _("Add &relation…")
            may = can and state.relations.linkable(span)
            choices.append(MenuChoice(title, state.relations.start_link, may, command=LINK))
        if span.chain is not None:
            title = _("&Split off into a new chain")
            choices.append(MenuChoice(title, self._view.links.new_chain, can, command=NEW_CHAIN))
        for start, end in span.parts:
            content = self._session.shown_doc.document.content(span.field)[start:end]
            title = _("Remove the part “{text}”", text=escaping.menu_text(_cut(content)))
            choices.append(MenuChoice(title, partial(state.relations.remove_part, start), can))
        return tuple(choices)

    def _relation(self, row: RelationRow) -> Choices:
        state, can = self._state, self._session.can_edit
        known = self._session.label_of.get(row.label_id) if row.label_id is not None else None
        labels = self._labels([known[0]] if known else [], self._label, row.label_id)
        directed = state.relations.is_directed(row)
        return (
            MenuChoice(
                _("Change &label"), enabled=can and bool(labels), choices=labels or _NOTHING
            ),
            MenuChoice(
                _("Re&verse"), state.relations.reverse, can and directed, command="annotate.reverse"
            ),
            SEPARATOR,
            self._of_source(row),
            MenuChoice(_("&Delete relation"), state.delete_chosen, can, command=DELETE),
        )

    def _of_source(self, row: SpanRow | SuggestionRow | RelationRow) -> MenuChoice:
        """The actions on everything from the source of a span, relation or suggestion."""
        state, origin = self._state, self._session.origins.origin_of(row)
        n = next((n for item, _title, n in state.suggested.origins if item == origin), 0)
        title = _("&From {source}", source=escaping.menu_text(self._session.origins.maker(row)))
        return MenuChoice(
            title, enabled=self._session.can_edit, choices=of_source(state.suggested, origin, n)
        )

    def _label(self, label: Label) -> None:
        """Relabel the selected span, or correct the selected suggestion."""
        self._session.label(row_id(label))

    def _boundaries(self, span: SpanRow) -> Choices:
        """Move boundaries by a word; disabled if that changes nothing or leaves an empty span."""
        text = self._view.text_of_chosen()
        titles = (
            ("[", _("Extend &start by a word")),
            ("]", _("Shrink s&tart by a word")),
            ("}", _("Extend &end by a word")),
            ("{", _("Shrink e&nd by a word")),
        )
        choices, snap = [], self._state.spans.snap_of_chosen
        for key, title in titles:
            at = span.start, span.end
            start, end = moved(text, *at, key, letters=False, snap=snap) if text else (0, 0)
            can = start < end and (start, end) != (span.start, span.end)
            choices.append(
                MenuChoice(title, partial(self._state.spans.resize, start, end), can, key=key)
            )
        return tuple(choices)

    def _suggestion(self, row: SuggestionRow) -> Choices:
        state, can = self._state, self._session.can_edit
        known = self._session.label_of.get(row.label_id) if row.label_id is not None else None
        layer = known[0] if known else None
        spans = layer is not None and layer.traits.in_text
        labels = self._labels([layer], self._label) if spans and layer else ()
        return (
            MenuChoice(
                _("&Accept suggestion"),
                partial(state.suggested.accept, row.id),
                can,
                command=ACCEPT,
            ),
            MenuChoice(
                _("&Reject suggestion"),
                partial(state.suggested.reject, row.id),
                can,
                command=REJECT,
            ),
            *([MenuChoice(_("Correct the &label"), enabled=can, choices=labels)] if labels else ()),
            *self._examples(can),
            self._of_source(row),
            *(
                [SEPARATOR, MenuChoice(_("&Copy text"), partial(_copy, self._content(row)))]
                if spans
                else ()
            ),
        )

    def _answer(self) -> Choices:
        state = self._state
        return (
            MenuChoice(
                _("&Accept prediction as gold"),
                state.review.accept_answer,
                self._session.can_edit,
                command=ACCEPT,
            ),
            MenuChoice(
                _("&Keep gold and open the next error"), state.queue.next_error, command=REJECT
            ),
        )

    def _content(self, row: SpanRow | SuggestionRow) -> str:
        return self._session.shown_doc.document.content(row.field)[row.start : row.end]

    # ------------------------------------------------------------ a document of the queue

    def document(self) -> Choices:
        """Menu of the open document: clicking a row of the queue opens it."""
        state = self._state
        if self._session.doc is None:
            return ()
        document, go = self._session.doc.document, state.context.go
        can = self._session.can_edit and bool(self._session.active)
        discarded = self._session.state_of_document == "discarded"
        discard = _("&Restore document") if discarded else _("&Discard document")
        text = "\n".join(content for _name, content in document.texts)
        return (
            MenuChoice(
                _("&Submit and open next"), state.submission.submit, can, command="annotate.submit"
            ),
            MenuChoice(discard, state.submission.discard, can, command="annotate.discard"),
            MenuChoice(_("S&kip document"), state.queue.skip, command=SKIP),
            SEPARATOR,
            MenuChoice(_("&Inspect"), partial(go, "inspect", document=document.id)),
            MenuChoice(
                _("Show in &Data"), partial(go, "data", ids=(document.id,), caption=document.key)
            ),
            SEPARATOR,
            MenuChoice(_("Copy ke&y"), partial(_copy, document.key)),
            MenuChoice(_("&Copy text"), partial(_copy, text)),
        )


_NOTHING = (MenuChoice("–", enabled=False),)


def _cut(text: str) -> str:
    """Shorten a text for a menu: one line, elided in the middle."""
    excerpt = " ".join(text[: 2 * EXCERPT_LENGTH].split())
    if len(text) <= 2 * EXCERPT_LENGTH and len(excerpt) <= EXCERPT_LENGTH:
        return excerpt
    half = EXCERPT_LENGTH // 2
    return f"{excerpt[:half].rstrip()}…{' '.join(text[-half:].split())}"


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


def _at_caret(text: TextView) -> QPoint:
    name = text.chosen
    span = next((span for span in text.spans if span.name == name), None) if name else None
    inside = text.viewport().rect()
    at = text.rect_of(span.start if span is not None else text.caret).bottomLeft().toPoint()
    return QPoint(
        min(max(at.x(), inside.left()), inside.right()),
        min(max(at.y(), inside.top()), inside.bottom()),
    )
