"""Finishing units and documents in Annotate: submit, discard, skip, and what comes next. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.base.i18n import _
from workbench.operations import annotate
from workbench.operations.annotate import SpanRow, SuggestionRow
from workbench.text import query_edit, snap
from workbench.text.document import TEXT
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.questions import QuestionState
from workbench.ui.panels.annotate.queue import DONE
from workbench.ui.panels.annotate.relating import RelationState
from workbench.ui.panels.annotate.remarks import GOLD, Name
from workbench.ui.panels.annotate.sources import SourceState
from workbench.ui.panels.annotate.state import SUGGESTED
from workbench.ui.panels.annotate.values import ValueState


class FinishState(ValueState, QuestionState, RelationState, SourceState):
    """The selected span, the unit in focus, and the end of work on a document."""

    # suggestions, name and the suggestion of that name
    _found: tuple[object, Name, SuggestionRow | None] | None = None

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
        super().open(document_id, chosen)
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

    def submit(self) -> None:
        """Submit in the shown layers and open the next document.

        A class layer without a class stays a draft, which is shown as a message.
        """
        if not self.can_edit:
            return
        shown, here, key = (
            [layer.id for layer in self.active],
            self.shown_id,
            self.shown_doc.document.key,
        )
        if not shown:
            self.context.note(_("No layer is selected, so there is nothing to submit."))
            return
        self.save_texts()
        place = "" if self.units.is_last else self.units.message
        warnings = self._do(annotate.submit, here, shown)
        if warnings is None:
            return
        if warnings:
            self.context.note(
                f"{key}: {' '.join(warnings)}", lambda: self.open(here), action=_("Go back")
            )
        elif place:
            message = _("Submitted {key} as a whole ({place}).").format(key=key, place=place)
            self.context.note(message, undo=True)
        self._go_on(keep_note=bool(warnings or place))

    def discard(self) -> None:
        """Discard the document in the shown layers and open the next, or restore it."""
        if not self.can_edit or not self.active:
            return
        shown, key = [row_id(layer) for layer in self.active], self.shown_doc.document.key
        if self.state_of_document == "discarded":
            self._do(annotate.reopen, self.document_id, shown)
            return
        self._do(annotate.discard, self.document_id, shown)
        self.context.note(_("Discarded {key}.").format(key=key), undo=True)
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
            _("Skipped {key}; moved to the end of the queue.").format(key=key),
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
        from workbench.operations import results

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
