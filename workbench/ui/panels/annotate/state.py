"""State of the Annotate page and actions of the user. No Qt.

A *name* is (kind, id): ("gold", span id), ("suggested", suggestion id) or ("relation", its id).
Label keys, chips and the palette all call `label`.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.base.events import concerns
from workbench.operations.annotation import annotate, document_view
from workbench.operations.annotation.annotate import RelationRow, SpanRow, SuggestionRow
from workbench.operations.annotation.document_view import DocumentView, SpanRows
from workbench.operations.schema import labels
from workbench.text import result_view
from workbench.text.document import TEXT
from workbench.text.labels import LABEL_TABLES
from workbench.text.rows import row_id
from workbench.text.spans import Span, flatten
from workbench.ui.panels.annotate.differences import Differences, UnmatchedPrediction
from workbench.ui.panels.annotate.finder import Finder
from workbench.ui.panels.annotate.label_keys import LabelKeys
from workbench.ui.panels.annotate.queue import MAX_SINGLE_CHECKS
from workbench.ui.panels.annotate.remarks import GOLD, Name, RemarkState
from workbench.ui.panels.annotate.units import UnitState
from workbench.ui.project import shown_layers

if TYPE_CHECKING:
    from workbench.project.changes import Changes
    from workbench.storage.runs.runs import Run
    from workbench.text.fields import Prediction
    from workbench.text.labels import Layer
    from workbench.text.result_view import Answer
    from workbench.ui.panel import PanelContext

SUGGESTED, LINKED = "suggested", "relation"
AHEAD = 10  # documents that follow the open one, which the instant model predicts with it
ACCEPT_ALL_THRESHOLD = 0.85  # initial score from which "Accept all" accepts suggestions

# tables that hold data of a document
LABELLED = (*LABEL_TABLES, "state", "suggestion", "note", "flag")


class SpanTarget(NamedTuple):
    """Code points [start, end) of one text that a span label would mark."""

    field: str
    start: int
    end: int


class AnnotateState(LabelKeys):
    """`doc`: the open document. `chosen`: a Name or None. `off`: layers that are not selected.

    `errors`: the documents of an error review started on Results, with the run's `predicted` labels
    beside gold; empty otherwise. `remarks` follows the open document and the selected span.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__(context)
        self.chosen: Name | None = None
        self.remarks = RemarkState(context)
        self.remark_changes = 0  # a number that changes with each change of `remarks`
        self.listen(self.changed, self._follow_remarks)
        self.listen(self.remarks.changed, self._remarks_changed)
        self.finder = Finder(context)
        self.units = UnitState(context)
        self.unit_changes = 0  # a number that changes with each change of `units`
        self.linking: int | None = None  # the span from which a relation is being made
        self.run: Run | None = None
        self.run_layer: int | None = None
        self.predicted: Prediction | None = None
        self.stale_rows: frozenset[int] | None = (
            frozenset()
        )  # documents whose row in the queue is out of date; None: all
        self.sure = ACCEPT_ALL_THRESHOLD
        self.selected = 0  # a number that changes when another page selects documents
        self._filtered: dict[str, tuple[Any, ...]] = {}
        self._shown_spans: tuple[SpanRows, object, SpanRows] | None = None  # all, `off`, shown
        self._load_layers()
        self._load_order()
        self.listen(self.units.changed, self._units_changed)
        self.listen(self.project.changed, self._on_changed)
        self.listen(self.project.selected, self._on_selected)
        self.listen(self.project.layers_shown, self._layers_shown)
        before = self.project.selection
        self._load_queue()
        self.project.select(before, self)  # what opens by itself selects nothing
        self.resume_instant()

    # ------------------------------------------------------------ queries

    @property
    def can_write(self) -> bool:
        return not self.project.read_only

    @property
    def can_edit(self) -> bool:
        return self.can_write and self.doc is not None

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
    def relations(self) -> tuple[RelationRow, ...]:
        """Relations of the selected layers."""
        return self._of_shown_layers("relations")

    @property
    def suggestions(self) -> tuple[SuggestionRow, ...]:
        return self._of_shown_layers("suggestions")

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
        that is not answered.
        """
        if self.doc is None:
            return ()
        is_open = {row.layer_id for row in self.doc.questions if row.question.is_open}
        labelled = self.doc.labelled - is_open
        return tuple(
            layer
            for layer in self.active
            if not layer.traits.empty_is_answer and layer.id not in labelled
        )

    # ------------------------------------------------------------ loading

    def _load_layers(self) -> None:
        layers = tuple(layer for layer in labels.layers(self.project) if layer.traits.editor)
        self.update(layers=layers, off=shown_layers.hidden(self.context, layers))
        self._check_query()

    def open(self, document_id: int, chosen: Name | None = None) -> None:
        """Open a document. If it was deleted, open the first one that has something to label."""
        try:
            doc = self._with_live(document_view.view(self.project, document_id))
        except KeyError:
            self._load_queue()
            return
        before = self.document_id
        self.units.show(doc.document)
        if self.instant is not None:
            self.instant.show(document_id, self._following(document_id))
        self.update(doc=doc, document_id=document_id, chosen=chosen, predicted=self._answer(doc))
        self.update(linking=None)
        self.finder.show_texts(doc.document.texts)
        self.project.select((document_id,), self)
        if before != document_id:
            self._check(id for id in (before, document_id) if id is not None)

    def _following(self, document_id: int) -> Sequence[int]:
        """Some documents that follow in the queue."""
        ids = self.ids if isinstance(self.ids, array) else array("q", self.ids)
        at = ids.index(document_id) + 1 if document_id in ids else 0
        return ids[at : at + AHEAD]

    def _units_changed(self, _fields: frozenset[str]) -> None:
        self.update(unit_changes=self.unit_changes + 1)

    def _follow_remarks(self, fields: frozenset[str]) -> None:
        if concerns(fields, "document_id", "chosen", "doc"):
            kind, span_id = self.chosen or ("", 0)
            self.remarks.show(self.document_id, span_id if kind == GOLD else None)

    def _remarks_changed(self, _fields: frozenset[str]) -> None:
        self.update(remark_changes=self.remark_changes + 1)

    def close(self) -> None:
        self.units.close()
        self.remarks.close()
        super().close()

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

    def _reload(self, changes: Changes | None = None) -> None:
        try:
            doc = (
                document_view.refreshed(self.project, self.shown_doc, changes)
                if changes
                else document_view.view(self.project, self.shown_id)
            )
        except KeyError:
            self._load_queue()
            return
        doc = self._with_live(doc)
        chosen = self.chosen if self._stands(doc, self.chosen) else None
        linking = self.linking if self._stands(doc, (GOLD, self.linking or 0)) else None
        self.update(doc=doc, chosen=chosen, linking=linking)

    def _stands(self, doc: DocumentView, name: Name | None) -> bool:
        if name is None:
            return False
        kind, id = name
        if kind == GOLD:
            return id in doc.spans.by_id
        ids = {
            SUGGESTED: (row.id for row in doc.suggestions),
            LINKED: (row.id for row in doc.relations),
        }
        return id in ids.get(kind, ())

    def _on_selected(self, origin: object) -> None:
        if origin is not self:
            self.update(selected=self.selected + 1)

    def follow(self) -> None:
        """Open the document that was selected on another page; not in an error review of others,
        and not one of several.
        """
        selection = self.project.selection
        if len(selection) != 1 or selection[0] == self.document_id:
            return
        if not self.errors or selection[0] in self.errors:
            self.open(selection[0])

    def _on_changed(self, changes: Changes) -> None:
        if self.errors and changes.touches("run") and not self._run_stands():
            self.leave_errors()
        if changes.touches("layer") or changes.touches("label"):
            self._load_layers()
            self._reload_all()
            return
        if changes.touches("document"):
            self._documents_changed()
        labelled = any(changes.touches(table) for table in LABELLED)
        documents = changes.documents
        few = documents is not None and len(documents) <= MAX_SINGLE_CHECKS
        if changes.touches("document") or (labelled and not few and not self.narrowed.empty):
            self._load_queue()
        if labelled:
            if changes.touches("state"):
                self._count()
            self._learn(changes.documents)
            if documents is not None and few:
                self._check(documents)
            self._follow(changes)
            self.update(stale_rows=changes.documents)  # the row shows what `doc` knows

    def _reload_all(self) -> None:
        self.update(stale_rows=None)
        self._load_queue()
        if self.document_id is not None:
            self._reload()
        else:
            self._open_first()

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

    # ------------------------------------------------------------ layers

    def switch_layer(self, layer_id: int, on: bool) -> None:
        """Select or deselect a layer; stored for this project, and followed by Data."""
        off = self.off - {layer_id} if on else self.off | {layer_id}
        shown_layers.hide(self.context, [layer for layer in self.layers if layer.id in off])

    def _layers_shown(self) -> None:
        self.update(off=shown_layers.hidden(self.context, self.layers), chosen=None)
        self._load_order()
        self._load_queue()

    # ------------------------------------------------------------ error review

    def next_error(self, way: int = 1) -> None:
        """Go to the next document of the error review."""
        if self.errors:
            at = (
                self.errors.index(self.document_id)
                if self.document_id in self.errors
                else -1
                if way > 0
                else 0
            )
            self.open(self.errors[(at + way) % len(self.errors)])

    def show_errors(
        self, run_id: int, documents: Sequence[int], document_id: int | None = None
    ) -> None:
        """Start an error review: prediction beside gold, for these documents only."""
        from workbench.operations.runs import results

        run = self.context.attempt(results.run, self.project, run_id)
        if run is None or not documents:
            return
        layer = next(
            (layer for layer in self.layers if layer.id == run.layer_id or layer.name == run.layer),
            None,
        )
        self.update(
            errors=tuple(documents),
            run=run,
            run_layer=layer.id if layer else None,
            ids=array("q", documents),
        )
        if self.run_layer in self.off:
            self.update(
                off=self.off - {self.run_layer}
            )  # temporary: the stored selection of layers is kept
        self.open(document_id if document_id is not None else documents[0])

    def leave_errors(self) -> None:
        self.update(errors=(), run=None, run_layer=None, predicted=None)
        self._load_layers()
        self._load_queue()

    def _run_stands(self) -> bool:
        from workbench.operations.runs import results

        return any(run.id == self.shown_run.id for run in results.all_runs(self.project))

    def _answer(self, doc: DocumentView) -> Prediction | None:
        """The prediction of the reviewed run for a document; None if its text has changed since."""
        if self.run is None:
            return None
        from workbench.operations.runs import predict

        return predict.stored(self.project, self.run, [doc.document]).get(row_id(doc.document))

    @property
    def predicted_answers(self) -> list[Answer]:
        """What the reviewed run predicts for the open document."""
        view = result_view.of(self.predicted)
        return view.answers(self.predicted) if self.predicted is not None else []

    @property
    def differences(self) -> Differences:
        """Differences for the open document; empty outside of an error review."""
        if self.predicted is None or self.doc is None:
            return Differences()
        answers, view = self.predicted_answers, result_view.of(self.predicted)
        if view.on_document:
            return self._different_labels(answers)
        if view.asks:
            return Differences()
        if (number := next((answer.value for answer in answers), None)) is not None:
            gold_number = self.doc.value(self.run_layer) if self.run_layer is not None else None
            return Differences(number=None if gold_number == number else number)
        names = self.label_of
        mine = [
            row for row in self.spans if row.layer_id == self.run_layer and row.label_id in names
        ]
        gold = {
            (row.field, row.start, row.end, names[row.label_id][1].name): row.id
            for row in mine
            if row.label_id is not None
        }
        answered = {
            (answer.field, answer.start, answer.end, answer.label): answer.score
            for answer in answers
            if answer.start is not None and answer.end is not None
        }
        extra = tuple(
            UnmatchedPrediction(*key, score) for key, score in answered.items() if key not in gold
        )
        read = self._learned(mine)
        missed = frozenset(id for key, id in gold.items() if key not in answered and id in read)
        return Differences(extra, missed)

    def _different_labels(self, answers: Sequence[Answer]) -> Differences:
        predicted = [answer.label for answer in answers]
        names = self.label_of
        several = any(layer.traits.several for layer in self.layers if layer.id == self.run_layer)
        gold = [
            names[mark.label_id][1].name
            for mark in self.shown_doc.marks
            if mark.label_id is not None
            and mark.layer_id == self.run_layer
            and mark.label_id in names
        ]
        return Differences(
            labels=tuple(label for label in predicted if label not in gold),
            missed_labels=tuple(label for label in gold if several and label not in predicted),
        )

    def _learned(self, rows: Sequence[SpanRow]) -> frozenset[int]:
        """Gold spans that the run could predict: non-overlapping ones in the part of the text it
        read.
        """
        spans = [Span(row.start, row.end, "", row.field, None, row.id) for row in rows]
        flat, _left_out = flatten(span for span in spans if span.field == TEXT)
        end = None
        if self.predicted is not None and self.predicted.cut:
            ends = [word.end for word in self.predicted.words]
            end = max((*ends, *(span.end for span in self.predicted.spans)), default=0)
        return frozenset(row_id(span) for span in flat if end is None or span.start < end)
