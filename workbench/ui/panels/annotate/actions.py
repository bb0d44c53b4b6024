"""Actions of the user on a document in Annotate: label, correct, accept, submit, skip. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.operations.annotation import annotate, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion, SpanRow, SuggestionRow
from workbench.text import snap
from workbench.text.document import TEXT
from workbench.text.labels import TEXT as TEXT_EDITOR
from workbench.text.labels import TOKENS
from workbench.text.queries import query_edit
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.differences import Differences
from workbench.ui.panels.annotate.label_keys import has_many, steps
from workbench.ui.panels.annotate.questions import QuestionState
from workbench.ui.panels.annotate.queue import DONE
from workbench.ui.panels.annotate.relation_tool import RelationState
from workbench.ui.panels.annotate.remarks import GOLD, Name
from workbench.ui.panels.annotate.sources import SourceState
from workbench.ui.panels.annotate.span_order import SpanOrder
from workbench.ui.panels.annotate.state import SUGGESTED, SpanTarget
from workbench.ui.panels.annotate.values import ValueState
from workbench.ui.project import recent_labels, shown_layers

if TYPE_CHECKING:
    from workbench.operations.annotation.document_view import DocumentView
    from workbench.project.project import Project
    from workbench.text.labels import Label, Layer

FURTHEST = ("submitted", "discarded", "draft", "pending")  # states, the last step of work first
_GOES_ON = "annotate.goes_on"  # project uid → whether the key of a class also submits


class AnnotateActions(ValueState, QuestionState, RelationState, SourceState):
    """The state with its actions. Each is saved immediately; errors are shown, never raised."""

    # suggestions, name and the suggestion of that name
    _found: tuple[object, Name, SuggestionRow | None] | None = None
    _opened: DocumentView | None = None  # the open document as it was when it was opened
    goes_on_changes = 0  # a number that changes with `goes_on`

    # ------------------------------------------------------------ choosing

    def choose_step(self, way: int, field: str, caret: int) -> None:
        """Select the next (+1) or previous (-1) span or suggestion in text order, starting at the
        caret.
        """
        if self.doc is None:
            return
        fields = self.doc.document.fields
        order = SpanOrder(fields, self.spans, self.suggestions)
        name = order.step(way, self.chosen, (field, caret))
        if name is not None:
            self.choose(name)

    @property
    def states_text(self) -> str:
        """The state of the document, of each selected layer if they differ."""
        known = self.doc.states if self.doc else {}
        states = [(layer.name, known.get(row_id(layer), "pending")) for layer in self.active]
        if len({state for _name, state in states}) < 2:
            return term(self.state_of_document)
        message = _("{layer}: {state}")
        return " · ".join(message.format(layer=name, state=term(state)) for name, state in states)

    @property
    def states_short(self) -> str:
        """As `states_text`, counted if more than two layers are selected."""
        known = self.doc.states if self.doc else {}
        states = [known.get(row_id(layer), "pending") for layer in self.active]
        if len(set(states)) < 2 or len(states) < 3:
            return self.states_text
        furthest = next(state for state in FURTHEST if state in states)
        return ngettext(
            "{state}: {n} of {layers} layer",
            "{state}: {n} of {layers} layers",
            len(states),
            state=term(furthest),
            n=states.count(furthest),
            layers=len(states),
        )

    @property
    def saved_as(self) -> tuple[str, str]:
        """How the document is saved, with the tone to show it in."""
        if self.project.read_only:
            return _("read-only"), "warn"
        if self.without_label:
            return _("incomplete"), "muted"
        return _("saved"), "muted"

    @property
    def lacks(self) -> str:
        """What the document needs before it can be submitted, a line per layer; "" if nothing."""
        return "\n".join(map(annotate.without_label, self.without_label))

    # ------------------------------------------------------------ labelling

    @property
    def latest_labels(self) -> tuple[Label, ...]:
        """The labels of the span layers, with their keys: those used last first."""
        layers = [layer for layer in self.active if layer.traits.editor == TEXT_EDITOR]
        labels = [label for layer in layers for label in self.with_keys(layer)]
        order = self.order_of_use()
        return tuple(sorted(labels, key=lambda item: order.get(row_id(item), len(order))))

    def order_of_use(self) -> Mapping[int, int]:
        """Label id → its place among the labels used last in this project."""
        labels = (label for layer in self.layers for label in layer.labels)
        ids = recent_labels.latest(self.context, labels)
        return {id: number for number, id in enumerate(ids)}

    def label(self, label_id: int, target: SpanTarget | None = None) -> None:
        """Relabel the selected span, correct the selected suggestion, or label `target`, in this
        order.

        A class label sets or clears the class.
        """
        entry = self.label_of.get(label_id)
        if not self.can_edit or entry is None:
            return
        layer, label = entry
        recent_labels.used(self.context, label)
        if layer == self.choice_layer:
            self.choose_number(layer.names.index(label.name) + 1)
        elif layer.traits.on_document:
            self._toggle_class(layer, label_id)
        elif layer.traits.editor == TOKENS:
            self.set_tag(label)
        elif layer.traits.between_spans:
            self.relate(label_id)
        elif (span := self.chosen_span()) is not None:
            self._relabel(span, layer, label_id)
        elif (row := self.chosen_suggestion()) is not None and row.start is not None:
            self._correct(row, label_id)
        elif target is not None:
            self._add(target.start, target.end, label_id, target.field)

    def step_sublabel(self, label_id: int) -> bool:
        """The key of a label was pressed again: give what has the label its first sublabel, what
        has a sublabel the next one. After the last, a span has the label again; a class is cleared.

        Returns False if nothing selected has the label or one of its sublabels.
        """
        layer, label = self.label_of[label_id]
        group = [label_id, *map(row_id, layer.sublabels(label.name))]
        if len(group) == 1 or not self.can_edit or not steps(layer):
            return False
        if layer.traits.on_document:
            return self._step_class(layer, group)
        row = self.chosen_relation() if layer.traits.between_spans else self.chosen_span()
        if row is None or row.label_id not in group:
            return False
        self.label(group[(group.index(row.label_id) + 1) % len(group)])
        return True

    def _step_class(self, layer: Layer, group: list[int]) -> bool:
        now = next((id for id in reversed(group) if id in self.marked), None)
        if now is None:
            return False
        following = group[group.index(now) + 1 :][:1]

        def step(project: Project, *, origin: object) -> bool:
            with project.edit(_("Change the class"), origin=origin):
                annotate.clear_class(project, self.shown_id, row_id(layer), now, origin=origin)
                for id in following:
                    annotate.set_class(project, self.shown_id, id, origin=origin)
            return True

        self._do(step)
        return True

    def _toggle_class(self, layer: Layer, label_id: int) -> None:
        if label_id in self.marked:
            self._do(annotate.clear_class, self.document_id, layer.id, label_id)
        else:
            self._do(annotate.set_class, self.document_id, label_id)

    def _relabel(self, span: SpanRow, layer: Layer, label_id: int) -> None:
        if span.layer_id == layer.id:
            self._do(annotate.relabel_span, span.id, label_id)
        else:  # another layer: label the same words there as well
            self._add(span.start, span.end, label_id, span.field)

    def _correct(self, row: SuggestionRow, label_id: int) -> None:
        """Replace the suggestion by a span of the user, in one step."""

        def correct(project: Project, *, origin: object) -> Any:
            with project.edit(_("Correct suggestion"), origin=origin):
                self.deciding(suggestion_edits.reject)(project, [row.id], origin=origin)
                return annotate.add_span(
                    project,
                    self.shown_id,
                    cast(int, row.start),  # of a span, as `label` has checked
                    cast(int, row.end),
                    label_id,
                    field=row.field,
                    origin=origin,
                )

        id = self._do(correct)
        if id is not None:
            self.choose((GOLD, id))

    def _add(self, start: int, end: int, label_id: int, field: str) -> None:
        if field == TEXT:
            start, end = self.units.clipped(start, end)
        document = self.shown_doc.document
        place = {"field": field, "document": document}
        id = self._do(annotate.add_span, self.document_id, start, end, label_id, **place)
        if id is not None:
            self.choose((GOLD, id))

    def delete_chosen(self) -> None:
        """Delete the selected span or relation or reject the selected suggestion, else clear the
        number.
        """
        if not self.can_edit:
            return
        if (relation := self.chosen_relation()) is not None:
            self.delete_relation(relation.id)
        elif (span := self.chosen_span()) is not None:
            self._do(annotate.delete_span, span.id)
        elif self.chosen_suggestion() is not None:
            self.reject()
        else:
            self.clear_number()

    def resize(self, start: int, end: int) -> None:
        """Move the boundaries of the selected span; empty spans are not created."""
        span = self.chosen_span()
        limits = self.units.limits(span.start, span.end) if span is not None else None
        if limits is not None:
            start, end = max(start, limits[0]), min(end, limits[1])
        if self.can_edit and span is not None and start < end:
            self._do(annotate.resize_span, span.id, start, end)

    # ------------------------------------------------------------ suggestions

    def _first_suggestion(self) -> SuggestionRow | None:
        return self.chosen_suggestion() or next(iter(self.suggestions), None)

    def accept(self, suggestion_id: int | None = None) -> None:
        """Accept this suggestion, else the selected one, else the first; then select the next.

        In error review, the prediction becomes gold and the next error is opened.
        """
        if self.errors and suggestion_id is None:
            self.accept_answer()
        else:
            self._decide(self.deciding(suggestion_edits.accept), suggestion_id)

    def reject(self, suggestion_id: int | None = None) -> None:
        """Reject the suggestion, chosen as in `accept`.

        In error review, keep gold and open the next.
        """
        if self.errors and suggestion_id is None:
            self.next_error()
        else:
            self._decide(self.deciding(suggestion_edits.reject), suggestion_id)

    def accept_answer(self) -> None:
        """Make the prediction of the reviewed run gold, and open the next error."""
        if not self.can_edit or not self.errors or self.run_layer is None:
            return
        if self.take_prediction():
            return
        key, run = self.shown_doc.document.key, self.shown_run
        if self.predicted is None:
            self.context.note(_("The prediction for this text is no longer stored."))
            return
        if self.differences != Differences():
            answer = self._as_suggestions()
            if answer is None:
                return
            done = self._do(self._take, answer)
            if done is None:
                return
            message = _(
                "Accepted the prediction of {run} as gold for {key}.", run=run.name, key=key
            )
            self.context.note(message, undo=True)
        self.next_error()

    def _take(self, project: Project, answer: list[NewSuggestion], *, origin: object) -> bool:
        differences = self.differences
        ids = {
            label.name: id
            for id, (layer, label) in self.label_of.items()
            if layer.id == self.run_layer
        }
        suggestion_edits.take_answer(
            project,
            self.shown_run.id,
            self.shown_id,
            cast(int, self.run_layer),
            answer,
            spans=differences.missed,
            classes=[ids[label] for label in differences.missed_labels],
            origin=origin,
        )
        return True

    def _as_suggestions(self) -> list[NewSuggestion] | None:
        """Predictions of the run that gold lacks; None, with a message, if a label was deleted."""
        differences = self.differences
        layer = next(layer for layer in self.layers if layer.id == self.run_layer)
        ids = {label.name: row_id(label) for label in layer.labels}
        names = [*(span.label for span in differences.spans), *differences.labels]
        gone = next((name for name in names if name not in ids), None)
        if gone is not None:
            message = _(
                "Layer {layer} no longer has the label {name}.", layer=layer.name, name=gone
            )
            self.context.note(message)
            return None
        here = self.shown_id, row_id(layer)
        suggestions = [
            NewSuggestion(*here, ids[span.label], span.start, span.end, span.field, span.score)
            for span in differences.spans
        ]
        scores = {answer.label: answer.score for answer in self.predicted_answers}
        suggestions += [
            NewSuggestion(*here, ids[label], score=scores.get(label))
            for label in differences.labels
        ]
        if differences.number is not None:
            suggestions.append(NewSuggestion(*here, None, value=differences.number))
        return suggestions

    def _decide(self, act: Callable[..., Any], suggestion_id: int | None) -> None:
        if not self.can_edit:
            return
        row = (
            next((r for r in self.suggestions if r.id == suggestion_id), None)
            if suggestion_id is not None
            else self._first_suggestion()
        )
        if row is None:
            return
        ids = [suggestion.id for suggestion in self.suggestions]
        rest = ids[ids.index(row.id) + 1 :] + ids[: ids.index(row.id)]
        was_chosen = self.chosen is not None
        self._do(act, [row.id])
        left = {suggestion.id for suggestion in self.suggestions}
        following = next((id for id in rest if id in left), None)
        self.choose((SUGGESTED, following) if following is not None and was_chosen else None)

    def set_sure(self, sure: float) -> None:
        self.update(sure=sure)

    @property
    def sure_suggestions(self) -> list[int]:
        """Ids of the suggestions that "Accept all" accepts."""
        return [r.id for r in self.suggestions if r.score is None or r.score >= self.sure]

    def accept_all(self) -> None:
        """Accept every suggestion of this document with a score of at least `sure`, or without a
        score.
        """
        self._all(
            self.deciding(suggestion_edits.accept),
            self.sure_suggestions,
            lambda n: ngettext("Accepted {n} suggestion.", "Accepted {n} suggestions.", n),
        )

    def reject_all(self) -> None:
        self._all(
            self.deciding(suggestion_edits.reject),
            [r.id for r in self.suggestions],
            lambda n: ngettext("Rejected {n} suggestion.", "Rejected {n} suggestions.", n),
        )

    def _all(self, act: Callable[..., Any], ids: list[int], words: Callable[[int], str]) -> None:
        if self.can_edit and ids:
            done = self._do(act, ids)
            if done:
                self.context.note(words(done).format(n=done), undo=True)

    # ------------------------------------------------------------ the selected span

    def _do(self, act: Callable[..., Any], *args: Any, **named: Any) -> Any:
        return self.context.attempt(act, self.project, *args, origin=self, **named)

    def chosen_span(self) -> SpanRow | None:
        if self.chosen is None or self.chosen[0] != GOLD:
            return None
        return self.spans.by_id.get(self.chosen[1])

    def chosen_suggestion(self) -> SuggestionRow | None:
        """Cached, as it is read often."""
        if self.chosen is None or self.chosen[0] != SUGGESTED:
            return None
        rows = self.suggestions
        if self._found is None or self._found[0] is not rows or self._found[1] != self.chosen:
            row = next((row for row in rows if row.id == self.chosen[1]), None)
            self._found = rows, self.chosen, row
        return self._found[2]

    # ------------------------------------------------------------ what spans snap to

    @property
    def snap(self) -> str:
        """To what a selection snaps: the finest of the selected layers."""
        return snap.finest(layer for layer in self.active if layer.traits.in_text)

    def snap_of(self, label_id: int) -> str:
        """To what new spans with a label snap."""
        known = self.label_of.get(label_id)
        return snap.snap_of(known[0]) if known is not None else snap.WORD

    @property
    def snap_of_chosen(self) -> str:
        """To what the boundaries of the selected span snap."""
        span = self.chosen_span()
        layer = next((layer for layer in self.layers if span and layer.id == span.layer_id), None)
        return snap.snap_of(layer) if layer is not None else snap.WORD

    # ------------------------------------------------------------ sentences and paragraphs

    def open(self, document_id: int, chosen: Name | None = None) -> None:
        before = self.document_id
        super().open(document_id, chosen)
        if before != self.document_id or self._opened is None:
            self._opened = self.doc
        self._focus_chosen()

    def choose(self, name: Name | None) -> None:
        super().choose(name)
        self._focus_chosen()

    def _focus_chosen(self) -> None:
        row = self.chosen_span() or self.chosen_suggestion()
        if row is not None and row.start is not None and row.field == TEXT:
            self.units.follow(row.start)

    def step_unit(self, way: int) -> None:
        """Go to the next or previous unit, then to the next or previous document."""
        if self.units.step(way):
            self._enter_unit()
        elif self.step(way):
            if way < 0 and self.units.ranges:
                self.units.follow(self.units.ranges[-1][0])
            self._enter_unit()

    def finish_unit(self) -> None:
        """Go to the next unit; after the last one, submit the document."""
        if self.units.step(1):
            self._enter_unit()
        else:
            self.submit()

    def _enter_unit(self) -> None:
        self.choose(None)
        if self.units.range is not None and self.tag_layers:
            self.choose_token_at(self.units.range[0])

    # ------------------------------------------------------------ finishing a document

    @property
    def untouched(self) -> tuple[Layer, ...]:
        """Shown layers that the user has not begun in the open document: it has no label in them,
        and has lost none since it was opened.
        """
        doc, before = self.shown_doc, self._opened
        touched = {id for id, state in doc.states.items() if state != "pending"} | doc.labelled
        if before is not None and before.document.id == doc.document.id:
            open_ones = {row.id for row in doc.suggestions}
            decided = (row for row in before.suggestions if row.id > 0 and row.id not in open_ones)
            touched |= before.labelled | {row.layer_id for row in decided}
        return tuple(layer for layer in self.active if layer.id not in touched)

    def submit(self) -> None:
        """Submit in the layers that the user labels, and open the next document.

        Until the user has chosen the layers to label, these are those with a label in this
        document, or all if there is none. A class layer without a class stays a draft. What is not
        submitted, and what is submitted without a label, is shown as a message.
        """
        if not self.can_edit:
            return
        if not self.active:
            self.context.note(_("No layer is selected, so there is nothing to submit."))
            return
        self.save_texts()
        here, key, untouched = self.shown_id, self.shown_doc.document.key, self.untouched
        place = "" if self.units.is_last else self.units.message
        layers = self.active
        if len(untouched) < len(layers) and not shown_layers.chosen(self.context):
            layers = tuple(layer for layer in layers if layer not in untouched)
        warnings = self._do(annotate.submit, here, [row_id(layer) for layer in layers])
        if warnings is None:
            return
        whole = _("Submitted {key} as a whole ({place}).", key=key, place=place)
        messages = [whole] if place else []
        if rest := [layer for layer in self.active if layer not in layers]:
            self._say_part(here, messages, layers, rest)
        elif empty := self._empty_to_tell(untouched):
            self._say_empty([*messages, *warnings], empty)
        elif warnings:
            self.context.note(
                f"{key}: {' '.join(warnings)}", lambda: self.open(here), action=_("Go back")
            )
        elif messages:
            self.context.note(whole, undo=True)
        self._go_on(keep_note=bool(rest or empty or warnings or messages))

    @property
    def can_go_on(self) -> bool:
        """Whether the key of a class can submit as well: all to label is one of many classes."""
        layers = self.active
        flag = len(layers) == 1 and has_many(layers[0]) and not layers[0].traits.several
        return flag and not self.errors

    @property
    def goes_on(self) -> bool:
        """Whether the key of a class also submits the document and opens the next."""
        by_project = self.context.settings.window.get(_GOES_ON, {})
        return self.can_go_on and bool(by_project.get(self.project.uid))

    def set_goes_on(self, goes_on: bool) -> None:
        """Kept for the project."""
        window = self.context.settings.window
        by_project = {uid: True for uid in window.get(_GOES_ON, {}) if uid != self.project.uid}
        window[_GOES_ON] = {**by_project, self.project.uid: True} if goes_on else by_project
        self.context.settings.save()
        self.update(goes_on_changes=self.goes_on_changes + 1)

    def choose_and_go_on(self, label_id: int) -> None:
        """Set the class, submit the document and open the next; one undo step takes all back."""
        if not self.can_edit:
            return
        layer, label = self.label_of[label_id]
        here = self.shown_id

        def choose(project: Project, *, origin: object) -> bool:
            title = _("Set class {label} and submit", label=label.name)
            with project.edit(title, origin=origin):
                annotate.set_class(project, here, label_id, origin=origin)
                annotate.submit(project, here, [row_id(layer)], origin=origin)
            return True

        recent_labels.used(self.context, label)
        if self._do(choose) is not None:
            self._go_on()

    def _say_part(
        self, here: int, messages: list[str], done: Sequence[Layer], rest: Sequence[Layer]
    ) -> None:
        """Say which layers were not submitted, after `messages`, and offer to choose the layers to
        label.
        """
        key = self.shown_doc.document.key
        names = {"layers": _names(done), "rest": _names(rest)}
        message = ngettext(
            "Submitted {key} in {layers} only: {rest} has no labels.",
            "Submitted {key} in {layers} only: {rest} have no labels.",
            len(rest),
        )

        def always() -> None:
            shown_layers.choose(self.context)
            shown_layers.tell_empty(self.context, rest, False)
            self._do(annotate.submit, here, [row_id(layer) for layer in rest])

        def leave() -> None:
            off = self.off | {layer.id for layer in rest}
            shown_layers.hide(self.context, [layer for layer in self.layers if layer.id in off])

        choices = (
            (_("Label only {layers}", **names), leave),
            (_("Always submit {rest} too", **names), always),
        )
        text = " ".join((*messages, message.format(key=key, **names)))
        self.context.note(text, undo=True, more=choices)

    def _empty_to_tell(self, untouched: Sequence[Layer]) -> tuple[Layer, ...]:
        """Layers of which a message says that the document was submitted without a label in them;
        none for the only layer, in which that is what Submit was pressed for.
        """
        if len(self.active) < 2:
            return ()
        return tuple(
            layer
            for layer in untouched
            if layer.traits.empty_is_answer and shown_layers.empty_is_told(self.context, layer)
        )

    @property
    def tells_empty(self) -> bool:
        """Whether a message says for every layer that it was submitted without a label."""
        return all(shown_layers.empty_is_told(self.context, layer) for layer in self.layers)

    def tell_empty(self, tell: bool) -> None:
        shown_layers.tell_empty(self.context, self.layers, tell)

    def _say_empty(self, messages: Sequence[str], empty: Sequence[Layer]) -> None:
        """Say, after `messages`, in which layers the document was submitted without a label."""
        message = _(
            "Submitted {key} without a label in {layers}.",
            key=self.shown_doc.document.key,
            layers=_names(empty),
        )
        text = message

        def always() -> None:
            shown_layers.tell_empty(self.context, empty, False)

        self.context.note(" ".join((*messages, text)), undo=True, more=((_("Always"), always),))

    def discard(self) -> None:
        """Discard the document in the shown layers and open the next, or restore it."""
        if not self.can_edit or not self.active:
            return
        layer_ids, key = [row_id(layer) for layer in self.active], self.shown_doc.document.key
        if self.state_of_document == "discarded":
            self._do(annotate.reopen, self.document_id, layer_ids)
            return
        self._do(annotate.discard, self.document_id, layer_ids)
        self.context.note(_("Discarded {key}.", key=key), undo=True)
        self._go_on(keep_note=True)

    def skip(self) -> None:
        """Move the document to the end of the queue, unchanged."""
        if self.doc is None or self.errors:
            self.next_error()
            return
        here, at, key = self.shown_id, self.place, self.doc.document.key
        if list(self.ids) == [here]:
            self.context.note(_("This is the only document in the queue."))
            return
        following = self._next_open(here)
        self._put_last(here)
        if following not in (None, here):
            self.open(following)
        elif at is not None:
            self.open(self.ids[at])
        self.context.note(
            _("Skipped {key}; moved to the end of the queue.", key=key),
            lambda: self._put_back(here),
        )

    def show_suggestions(self, run_id: int | None = None) -> None:
        """Filter the queue to documents with suggestions and open the first.

        The layer of the run is shown for this even if it is hidden.
        """
        if self.errors:
            self.leave_errors()
        off, text, here = self.off, self.query.text, self.document_id
        if run_id is not None:
            layer = next(
                (layer for layer in self.layers if layer.id == self._layer_of(run_id)), None
            )
            self.update(off=off - {layer.id} if layer else off)
        self.query.set(query_edit.term("has", "suggestion"))
        self.document_id = None  # the open document may be the first
        first = self._next_open(None)
        if first is None:
            self.document_id = here
            self.update(off=off)
            self.query.set(text)
            self.context.note(_("There are no suggestions in the selected layers."))
            return
        self.open(first)
        self._load_queue()

    def _layer_of(self, run_id: int) -> int | None:
        from workbench.operations.runs import results

        run = self.context.attempt(results.run, self.project, run_id)
        return run.layer_id if run is not None else None

    def _go_on(self, *, keep_note: bool = False) -> None:
        """After submitting: the next document to label; else the next of a filtered queue."""
        if self.errors:
            self.next_error()
        elif self._next_open(self.document_id) not in (None, self.document_id):
            self.next_unlabelled()
        elif not (self.narrowed.state in DONE and self.step(1)) and not keep_note:
            self.say_all_is_done()

    def say_all_is_done(self) -> None:
        """Show that everything is labelled, and offer the next action."""
        if self.narrowed.empty:
            self.context.note(
                _("All documents are labelled."),
                lambda: self.context.go("train"),
                action=_("Train"),
            )
        else:
            self.context.note(
                _("All documents in this part of the queue are labelled."),
                self.clear_filters,
                action=_("Show all"),
            )


def _names(layers: Sequence[Layer]) -> str:
    return ", ".join(layer.name for layer in layers)
