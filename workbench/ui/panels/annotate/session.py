"""The document that is open in Annotate: project, layers, labels, what is selected. No Qt.

Tools see a session, never the page or one another. What one needs of another goes through here: a
field that it sets, a signal, or one of the capabilities below (`queue`, `model`, `predictors`,
`editors`, `arrange`). A *name* is (kind, id): ("gold", span id), ("suggested", suggestion id) or
("relation", its id).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from workbench.base.events import Signal, State
from workbench.operations.annotation import annotate, document_view, live_suggestions, queue_orders
from workbench.operations.annotation.annotate import (
    DocumentRow,
    Filter,
    RelationRow,
    SpanRow,
    SuggestionRow,
)
from workbench.operations.annotation.document_view import DocumentView, SpanRows
from workbench.operations.documents.notes import Remarks
from workbench.operations.people import people
from workbench.operations.schema import labels
from workbench.text import result_view
from workbench.text.labels import LABEL_TABLES, TOKENS
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.label_keys import LabelKeys, steps
from workbench.ui.panels.annotate.origins import Origins
from workbench.ui.panels.annotate.units import UnitState
from workbench.ui.project import recent_labels, shown_layers
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.operations.annotation.preannotate import QueuePlace
    from workbench.operations.annotation.queue_orders import QueueOrder
    from workbench.project.changes import Changes
    from workbench.storage.runs.runs import Run
    from workbench.text.fields import Prediction
    from workbench.text.labels import Label, Layer
    from workbench.text.result_view import Answer
    from workbench.ui.panel import PanelContext

GOLD, SUGGESTED, LINKED = "gold", "suggested", "relation"
Name = tuple[str, int]

DONE = ("submitted", "discarded")  # states

# tables that hold data of a document
LABELLED = (*LABEL_TABLES, "state", "suggestion", "note", "flag")


class SpanTarget(NamedTuple):
    """Code points [start, end) of one text that a span label would mark."""

    field: str
    start: int
    end: int


class DocumentQueue(Protocol):
    """What tools may ask of the queue."""

    queue_order: QueueOrder | None
    follows: bool  # whether the instant model orders it

    @property
    def filtered(self) -> bool:
        """Whether conditions leave documents out."""

    def shown_filter(self) -> Filter:
        """The filter of the queue, as one on documents."""

    def load(self) -> None:
        """Read the queue again; opens its first document if the open one is gone."""

    def step(self, way: int) -> bool:
        """Go to the next (+1) or previous (-1) document; False at the end."""

    def next_error(self, way: int = 1) -> None:
        """Go to the next document of the error review."""

    def skip(self) -> None:
        """Move the document to the end of the queue, unchanged."""

    def go_on(self, *, keep_note: bool = False) -> None:
        """Open what follows a document that is done."""

    def begin_following(self) -> None:
        """The instant model orders it from now on."""

    def follow_order(self, order: QueueOrder | None) -> None:
        """Take another order of the instant model, if it follows that."""

    def end_following(self) -> None:
        """The instant model was turned off."""


class SuggestionSource:
    """Predicts documents without storing: what is suggested beside stored suggestions."""

    def suggested_for(self, doc: DocumentView) -> list[SuggestionRow]:
        """Suggestions for a document."""
        return []

    def suggesting_runs(self) -> Iterable[tuple[int, int]]:
        """Runs whose stored predictions are suggestions: (run, layer)."""
        return ()

    def suggestion_count(self, row: DocumentRow) -> int:
        """How many suggestions there are for a document that is not finished."""
        return 0


class LiveModel(Protocol):
    """The instant model, as other tools see it."""

    @property
    def is_on(self) -> bool: ...

    def offer(self, layer: Layer) -> tuple[str, str]:
        """What it does in a layer, as sentences, and what a button that turns it on or off there
        says; "" for a layer that it does not learn.
        """

    def toggle(self) -> None:
        """Turn it on or off."""

    def use(self, strategy: str, share: float) -> None:
        """Order the queue by this strategy, with a share of control documents."""

    def class_chances(self, layer: Layer) -> list[tuple[int, float]]:
        """The most probable classes of the open document: (id of the label, probability)."""

    def tag_chances(self, layer: Layer, start: int, end: int) -> list[tuple[int, float]]:
        """The most probable tags of a word: (id of the label, probability)."""


class Editor(Protocol):
    """A tool that edits layers, as the session and other tools see it: `tool.EditorTool`."""

    def label(self, layer: Layer, label: Label, target: SpanTarget | None) -> None: ...
    def step(self, layer: Layer, group: Sequence[int]) -> bool: ...
    def take_prediction(self) -> bool: ...
    @property
    def mistakes(self) -> str: ...
    @property
    def mistaken(self) -> bool: ...


class DocumentSession(State):
    """`doc`: the open document. `chosen`: a Name or None. `off`: layers that are not selected.

    `errors`: the documents of an error review started on Results, with the run's `predicted` labels
    beside gold; empty otherwise. `place`: where in the queue the document is. `remarks`: notes and
    flags of the document. `unsaved`: (document id, layer id) → text that is not stored yet.

    `blind`: the labels of others, and suggestions, are hidden; `layers` are without
    `people.hidden_layers`.

    `changing(changes)` is emitted before the document is read again, `leaving()` before another one
    is opened or this one is submitted, `opening(doc)` before a document is shown, `opened(before)`
    afterwards with the id of the document before, `suggested_again(ids)` when the number of
    suggestions of documents may have changed, `unit_entered(start)` when the user goes to a unit.
    """

    queue: DocumentQueue
    model: LiveModel

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.changing, self.leaving = Signal("session.changing"), Signal("session.leaving")
        self.opening, self.opened = Signal("session.opening"), Signal("session.opened")
        self.suggested_again = Signal("session.suggested_again")
        self.unit_entered = Signal("session.unit_entered")
        self.predictors: list[SuggestionSource] = []
        self.editors: dict[str, Editor] = {}  # by the name of `LayerKind.editor`
        # which of the suggestions are shown, and in which order
        self.arrange: Callable[[tuple[SuggestionRow, ...]], tuple[SuggestionRow, ...]] | None = None
        self.document_id: int | None = None
        self.doc: DocumentView | None = None
        self.layers: tuple[Layer, ...] = ()
        self.blind = False
        self.off: frozenset[int] = frozenset()
        self.chosen: Name | None = None
        self.errors: tuple[int, ...] = ()
        self.run: Run | None = None
        self.run_layer: int | None = None
        self.predicted: Prediction | None = None
        self.place: QueuePlace | None = None
        self.remarks = Remarks()
        self.unsaved: dict[tuple[int, int], str] = {}
        self.blocked = False  # whether a mode of the page is on in which nothing is edited here
        self.finish: Callable[[], None] | None = None  # what Submit does instead
        self.live: Mapping[int, SuggestionRow] = {}  # suggestions that are not stored, by id
        self.selected = 0  # a number that changes when another page selects documents
        self.run_changes = 0  # a number that changes with the runs of the project
        self.units = UnitState(context)
        self.keys, self.origins = LabelKeys(self), Origins(self)
        self._filtered: dict[str, tuple[Any, ...]] = {}
        self._shown_spans: tuple[SpanRows, object, SpanRows] | None = None  # all, `off`, shown
        self._active: tuple[object, object, tuple[Layer, ...]] = ((), None, ())
        self._label_of: tuple[object, dict[int, tuple[Layer, Label]]] = ((), {})
        self._suggestion: tuple[object, Name, SuggestionRow | None] | None = None
        self.load_layers()
        self.listen(self.changed, self._focus_chosen)
        self.listen(self.project.changed, self._on_changed)
        self.listen(self.project.selected, self._on_selected)
        self.listen(self.project.layers_shown, self._layers_shown)

    def close(self) -> None:
        self.units.close()
        super().close()

    def attempt(self, act: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Call an operation on the project; an error is shown, and None returned."""
        return self.context.attempt(act, self.project, *args, origin=self, **named)

    # ------------------------------------------------------------ layers

    def load_layers(self) -> None:
        """Read the layers again, and whether those of others are hidden."""
        every = tuple(layer for layer in labels.layers(self.project) if layer.traits.editor)
        hidden = people.hidden_layers(self.project)
        layers = tuple(layer for layer in every if layer.id not in hidden)
        off = shown_layers.hidden(self.context, every) | hidden.keys()
        self.update(layers=layers, off=off, blind=people.is_blind(self.project))

    @property
    def active(self) -> tuple[Layer, ...]:
        """The selected layers that apply to this document."""
        if self.doc is None:
            return ()
        layers, off = self.doc.layers, self.off
        if self._active[0] is not layers or self._active[1] is not off:
            editable = (layer for layer in layers if layer.traits.editor and layer.id not in off)
            self._active = layers, off, tuple(editable)
        return self._active[2]

    @property
    def active_ids(self) -> tuple[int, ...]:
        """The selected layers, of any document."""
        return tuple(id for id in map(row_id, self.layers) if id not in self.off)

    @property
    def ordered_layers(self) -> tuple[Layer, ...]:
        """The selected layers whose documents can be ordered."""
        return tuple(
            layer
            for layer in self.layers
            if layer.id not in self.off and queue_orders.can_order(layer)
        )

    @property
    def tag_layers(self) -> tuple[Layer, ...]:
        """The visible layers whose labels are shown below tokens."""
        return tuple(layer for layer in self.active if layer.traits.editor == TOKENS)

    @property
    def only_tags(self) -> bool:
        """Whether all labels shown in the text are tags of tokens."""
        in_text = [layer for layer in self.active if layer.traits.in_text]
        return bool(in_text) and all(layer.traits.editor == TOKENS for layer in in_text)

    @property
    def chain_layers(self) -> tuple[Layer, ...]:
        return tuple(layer for layer in self.active if layer.traits.in_chains)

    @property
    def choice_layer(self) -> Layer | None:
        """The visible layer whose labels are choices."""
        return next((layer for layer in self.active if layer.traits.in_choices), None)

    @property
    def question_layer(self) -> Layer | None:
        """The visible layer that holds questions."""
        return next((layer for layer in self.active if layer.traits.asks), None)

    @property
    def label_of(self) -> Mapping[int, tuple[Layer, Label]]:
        if self._label_of[0] is not self.layers:
            entries = {
                row_id(label): (layer, label) for layer in self.layers for label in layer.labels
            }
            self._label_of = self.layers, entries
        return self._label_of[1]

    @property
    def has_labels(self) -> bool:
        kinds = (
            layer.labels or layer.traits.asks or not layer.traits.has_labels
            for layer in self.layers
        )
        return any(kinds)

    def switch_layer(self, layer_id: int, on: bool) -> None:
        """Select or deselect a layer; stored for this project, and followed by Data."""
        off = self.off - {layer_id} if on else self.off | {layer_id}
        shown_layers.hide(self.context, [layer for layer in self.layers if layer.id in off])

    def _layers_shown(self) -> None:
        self.update(chosen=None)
        was_blind = self.blind
        self.load_layers()
        if self.blind != was_blind and self.document_id is not None:
            self._reload()

    # ------------------------------------------------------------ the document

    @property
    def can_write(self) -> bool:
        return not self.project.read_only

    @property
    def can_edit(self) -> bool:
        return self.can_write and self.doc is not None and not self.blocked

    @property
    def shown_doc(self) -> DocumentView:
        """The open document. Raises RuntimeError without one."""
        if self.doc is None:
            raise RuntimeError("no document is open")
        return self.doc

    @property
    def shown_id(self) -> int:
        """Id of the open document. Raises RuntimeError without one."""
        if self.document_id is None:
            raise RuntimeError("no document is open")
        return self.document_id

    @property
    def shown_run(self) -> Run:
        """The run of the error review. Raises RuntimeError outside of one."""
        if self.run is None:
            raise RuntimeError("no errors are reviewed")
        return self.run

    @property
    def spans(self) -> SpanRows:
        """Spans of the selected layers; after an edit made from those before it."""
        if self.doc is None:
            return SpanRows()
        spans, cached = self.doc.spans, self._shown_spans
        if cached is None or cached[0] is not spans or cached[1] is not self.off:
            cached = self._shown_spans = spans, self.off, self._filter_spans(spans, cached)
        return cached[2]

    def _filter_spans(
        self, spans: SpanRows, last: tuple[SpanRows, object, SpanRows] | None
    ) -> SpanRows:
        layer_ids = {layer.id for layer in self.active}
        if layer_ids.issuperset(layer.id for layer in self.shown_doc.layers):
            return spans
        if last is not None and last[1] is self.off and last[2] is not last[0]:
            filtered = spans.kept(last[0], last[2], lambda row: row.layer_id in layer_ids)
            if filtered is not None:
                return filtered
        return SpanRows(row for row in spans if row.layer_id in layer_ids)

    @property
    def span_of(self) -> Mapping[int, SpanRow]:
        """The spans of the document by id."""
        return self.doc.spans.by_id if self.doc else {}

    @property
    def relations(self) -> tuple[RelationRow, ...]:
        """Relations of the selected layers."""
        return self._of_shown_layers("relations")

    @property
    def every_suggestion(self) -> tuple[SuggestionRow, ...]:
        """The suggestions of the document in the selected layers, of all origins."""
        return self._of_shown_layers("suggestions")

    @property
    def suggestions(self) -> tuple[SuggestionRow, ...]:
        """Those that are shown, in the chosen order."""
        rows = self.every_suggestion
        return rows if self.arrange is None else self.arrange(rows)

    def _of_shown_layers(self, rows: str) -> tuple[Any, ...]:
        """Filtered once per document."""
        if self.doc is None:
            return ()
        every = getattr(self.doc, rows)
        cached = self._filtered.get(rows)
        if cached is None or cached[0] is not every or cached[1] is not self.off:
            layer_ids = {layer.id for layer in self.active}
            whole = layer_ids.issuperset(layer.id for layer in self.doc.layers)
            cached = self._filtered[rows] = (
                every,
                self.off,
                tuple(every if whole else (row for row in every if row.layer_id in layer_ids)),
            )
        visible: tuple[Any, ...] = cached[2]
        return visible

    @property
    def marked(self) -> frozenset[int]:
        """Ids of the class labels that the document has."""
        marks = self.doc.marks if self.doc else ()
        return frozenset(mark.label_id for mark in marks if mark.label_id is not None)

    @property
    def state_of_document(self) -> str:
        """The state of the document over the selected layers: draft if only some are submitted."""
        return (
            annotate.overall(self.doc.states.get(row_id(layer), "pending") for layer in self.active)
            if self.doc
            else "pending"
        )

    @property
    def without_label(self) -> tuple[Layer, ...]:
        """Selected layers in which the document needs a label and has none yet, or has a question
        that is not answered. A text that is being written counts as a label.
        """
        if self.doc is None:
            return ()
        is_open = {row.layer_id for row in self.doc.questions if row.question.is_open}
        labelled = self.doc.labelled - is_open
        return tuple(
            layer
            for layer in self.active
            if not layer.traits.empty_is_answer
            and layer.id not in labelled
            and not self.unsaved.get((self.shown_id, row_id(layer)), "")
        )

    # ------------------------------------------------------------ opening and choosing

    def open(self, document_id: int, chosen: Name | None = None) -> None:
        """Open a document. If it was deleted, open the first one that has something to label."""
        before = self.document_id
        if document_id != before:
            self.leaving.emit()
        try:
            doc = self._with_live(document_view.view(self.project, document_id))
        except KeyError:
            self.queue.load()
            return
        self.units.show(doc.document)
        self.opening.emit(doc)
        prediction = self._prediction(doc)
        self.update(doc=doc, document_id=document_id, chosen=chosen, predicted=prediction)
        self.project.select((document_id,), self)
        self.opened.emit(before)

    def forget(self) -> None:
        """Nothing is left to show."""
        self.update(doc=None, document_id=None, chosen=None, predicted=None)

    def choose(self, name: Name | None) -> None:
        """Select a span, suggestion or relation."""
        self.update(chosen=self.chosen if name == self.chosen else name)

    def chosen_span(self) -> SpanRow | None:
        if self.chosen is None or self.chosen[0] != GOLD:
            return None
        return self.spans.by_id.get(self.chosen[1])

    def chosen_suggestion(self) -> SuggestionRow | None:
        """Cached, as it is read often."""
        if self.chosen is None or self.chosen[0] != SUGGESTED:
            return None
        rows, cached = self.suggestions, self._suggestion
        if cached is None or cached[0] is not rows or cached[1] != self.chosen:
            row = next((row for row in rows if row.id == self.chosen[1]), None)
            cached = self._suggestion = rows, self.chosen, row
        return cached[2]

    def _focus_chosen(self, fields: frozenset[str]) -> None:
        """Focus the unit of what is selected."""
        row = self.chosen_span() or self.chosen_suggestion() if "chosen" in fields else None
        if row is not None and row.start is not None and row.field == "text":
            self.units.follow(row.start)

    def _on_selected(self, origin: object) -> None:
        if origin is not self:
            self.update(selected=self.selected + 1)

    def follow(self) -> None:
        """Open the document that was selected on another page; not in an error review of others,
        and not one of several.
        """
        selection = self.project.selection
        if self.blocked or len(selection) != 1 or selection[0] == self.document_id:
            return
        if not self.errors or selection[0] in self.errors:
            self.open(selection[0])

    def step_unit(self, way: int) -> None:
        """Go to the next or previous unit, then to the next or previous document."""
        if self.units.step(way):
            self._enter_unit()
        elif self.queue.step(way):
            if way < 0 and self.units.ranges:
                self.units.follow(self.units.ranges[-1][0])
            self._enter_unit()

    def enter_next_unit(self) -> bool:
        """Go to the next unit; False at the last one."""
        if not self.units.step(1):
            return False
        self._enter_unit()
        return True

    def _enter_unit(self) -> None:
        self.choose(None)
        if self.units.range is not None:
            self.unit_entered.emit(self.units.range[0])

    def leave_review(self) -> None:
        """End the error review; the queue follows again."""
        self.load_layers()
        self.update(errors=(), run=None, run_layer=None, predicted=None)

    @property
    def predicted_answers(self) -> list[Answer]:
        """What the reviewed run predicts for the open document."""
        view = result_view.of(self.predicted)
        return view.answers(self.predicted) if self.predicted is not None else []

    def _prediction(self, doc: DocumentView) -> Prediction | None:
        """The prediction of the reviewed run for a document; None if its text has changed since."""
        if self.run is None:
            return None
        from workbench.operations.runs import predict

        document = doc.document
        layer = next((layer for layer in self.layers if layer.id == self.run_layer), None)
        if layer is not None:
            document = live_suggestions.document_of_layer(self.project, layer, document)
        return predict.stored(self.project, self.run, [document]).get(row_id(document))

    # ------------------------------------------------------------ labelling

    def label(self, label_id: int, target: SpanTarget | None = None) -> None:
        """Give a label to what is selected, to the document, or to `target`."""
        entry = self.label_of.get(label_id)
        if not self.can_edit or entry is None:
            return
        layer, label = entry
        recent_labels.used(self.context, label)
        if (editor := self.editors.get(layer.traits.editor)) is not None:
            editor.label(layer, label, target)

    def step_sublabel(self, label_id: int) -> bool:
        """The key of a label was pressed again: give what has the label its first sublabel, what
        has a sublabel the next one. After the last, a span has the label again; a class is cleared.

        Returns False if nothing selected has the label or one of its sublabels.
        """
        layer, label = self.label_of[label_id]
        group = [label_id, *map(row_id, layer.sublabels(label.name))]
        editor = self.editors.get(layer.traits.editor)
        if len(group) == 1 or not self.can_edit or not steps(layer) or editor is None:
            return False
        return editor.step(layer, group)

    # ------------------------------------------------------------ following the project

    def _on_changed(self, changes: Changes) -> None:
        if changes.touches("run"):
            self.update(run_changes=self.run_changes + 1)
        layers = changes.touches("layer") or changes.touches("label")
        if layers:
            self.load_layers()
        self.changing.emit(changes)
        if layers and self.document_id is not None:
            self._reload()
        elif not layers and any(changes.touches(table) for table in LABELLED):
            self._follow(changes)

    def _follow(self, changes: Changes) -> None:
        """Show the change; an undo or redo in another document of the queue opens that document."""
        here = self.document_id is not None and any(
            changes.touches(table, self.document_id) for table in LABELLED
        )
        if here:
            self._reload(changes)
        elif (
            changes.origin is None
            and changes.documents is not None
            and len(changes.documents) == 1
            and not self.errors
        ) and any(changes.touches(table) for table in (*LABEL_TABLES, "state")):
            self.open(next(iter(changes.documents)))

    def _reload(self, changes: Changes | None = None) -> None:
        try:
            doc = (
                document_view.refreshed(self.project, self.shown_doc, changes)
                if changes
                else document_view.view(self.project, self.shown_id)
            )
        except KeyError:
            self.queue.load()
            return
        doc = self._with_live(doc)
        chosen = self.chosen if _stands(doc, self.chosen) else None
        if self._only_spans_differ(doc):
            changed = frozenset(("spans",) if chosen is self.chosen else ("spans", "chosen"))
            self.doc, self.chosen = doc, chosen
            self.changed.emit(changed)
        else:
            self.update(doc=doc, chosen=chosen)

    def _only_spans_differ(self, doc: DocumentView) -> bool:
        """Whether `doc` differs from the document as it is shown only in spans, from which nothing
        else on the page is made: after the most frequent edits. Then the field that changes is
        called `spans`, not `doc`.
        """
        if self.errors or self.tag_layers or self.question_layer or self.choice_layer:
            return False
        before = self.doc
        if before is None or before.document is not doc.document or doc.relations:
            return False
        parts = (field.name for field in fields(doc) if field.name not in ("document", "spans"))
        if any(getattr(before, name) != getattr(doc, name) for name in parts):
            return False
        return before.spans.of_layers.keys() == doc.spans.of_layers.keys()

    # ------------------------------------------------------------ suggestions that are not stored

    def _with_live(self, doc: DocumentView) -> DocumentView:
        """The document with the predictions of the instant model and of runs."""
        if self.blind:
            self.live = {}
            return replace(doc, suggestions=())
        stored = tuple(row for row in doc.suggestions if row.id > 0)
        doc = replace(doc, suggestions=stored)
        rows = live_suggestions.open_ones(self.project, doc, self._live_rows(doc))
        rows = [replace(row, id=-number) for number, row in enumerate(rows, 1)]
        self.live = {row.id: row for row in rows}
        return replace(doc, suggestions=(*stored, *rows)) if rows else doc

    def _live_rows(self, doc: DocumentView) -> list[SuggestionRow]:
        rows = [row for predictor in self.predictors for row in predictor.suggested_for(doc)]
        runs = (pair for predictor in self.predictors for pair in predictor.suggesting_runs())
        for run, layer_id in dict.fromkeys(runs):
            if doc.states.get(layer_id) not in DONE:
                rows += live_suggestions.of_run(self.project, run, layer_id, doc)
        return rows

    def show_live(self) -> None:
        """Show suggestions that have come for the open document."""
        if self.doc is not None and not self.errors:
            doc = self._with_live(self.doc)
            if doc.suggestions != self.doc.suggestions:
                was_live = self.chosen is not None and self.chosen[1] < 0
                self.update(doc=doc, chosen=None if was_live else self.chosen)

    def deciding(self, act: Callable[..., int]) -> Callable[..., int]:
        """An act on suggestions, which first stores those that are not stored."""
        return live_suggestions.deciding(act, self.live)


def _stands(doc: DocumentView, name: Name | None) -> bool:
    """Whether what has this name is still in a document."""
    kind, id = name or ("", 0)
    if kind == GOLD:
        return id in doc.spans.by_id
    ids = {
        SUGGESTED: (row.id for row in doc.suggestions),
        LINKED: (row.id for row in doc.relations),
    }
    return id in ids.get(kind, ())
