"""Actions of the user on a document in Annotate: label, correct, accept, submit. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.operations.annotation import annotate, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion, SpanRow, SuggestionRow
from workbench.text.document import TEXT
from workbench.text.fields import DocumentLabels
from workbench.text.labels import TEXT as TEXT_EDITOR
from workbench.text.labels import TOKENS
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.differences import Differences
from workbench.ui.panels.annotate.label_keys import steps
from workbench.ui.panels.annotate.remarks import GOLD
from workbench.ui.panels.annotate.span_order import SpanOrder
from workbench.ui.panels.annotate.state import SUGGESTED, Target
from workbench.ui.panels.annotate.submit import SubmitState
from workbench.ui.project import recent_labels as latest_labels

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.labels import Label, Layer

FURTHEST = ("submitted", "discarded", "draft", "pending")  # states, the last step of work first


class AnnotateActions(SubmitState):
    """The state with its actions. Each is saved immediately; errors are shown, never raised."""

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
        message = ngettext(
            "{state}: {n} of {layers} layer", "{state}: {n} of {layers} layers", len(states)
        )
        return message.format(state=term(furthest), n=states.count(furthest), layers=len(states))

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
        found = [label for layer in layers for label in self.with_keys(layer)]
        order = self.order_of_use()
        return tuple(sorted(found, key=lambda item: order.get(row_id(item), len(order))))

    def order_of_use(self) -> Mapping[int, int]:
        """Label id → its place among the labels used last in this project."""
        labels = (label for layer in self.layers for label in layer.labels)
        found = latest_labels.latest(self.context, labels)
        return {id: number for number, id in enumerate(found)}

    def label(self, label_id: int, target: Target | None = None) -> None:
        """Relabel the selected span, correct the selected suggestion, or label `target`, in this
        order.

        A class label sets or clears the class.
        """
        found = self.label_of.get(label_id)
        if not self.can_edit or found is None:
            return
        layer, label = found
        latest_labels.used(self.context, label)
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
        given = {"field": field, "document": document}
        id = self._do(annotate.add_span, self.document_id, start, end, label_id, **given)
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
            message = _("Accepted the prediction of {run} as gold for {key}.")
            self.context.note(message.format(run=run.name, key=key), undo=True)
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
            message = _("Layer {layer} no longer has the label {name}.")
            self.context.note(message.format(layer=layer.name, name=gone))
            return None
        here = self.shown_id, row_id(layer)
        found = [
            NewSuggestion(*here, ids[span.label], span.start, span.end, span.field, span.score)
            for span in differences.spans
        ]
        given = self.predicted.get(DocumentLabels) if self.predicted is not None else None
        scores = given.as_dict() if given else {}
        found += [
            NewSuggestion(*here, ids[label], score=scores.get(label))
            for label in differences.labels
        ]
        if differences.number is not None:
            found.append(NewSuggestion(*here, None, value=differences.number))
        return found

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
