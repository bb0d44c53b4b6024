"""What Annotate shows and what a person can do there. No Qt.

A *name* is (kind, id): ("gold", span id) or ("suggested", suggestion id). Labels keys, chips and the palette all end in `label`.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.base.events import State
from workbench.operations import annotate, labels
from workbench.operations.annotate import DocumentRow, DocumentView, Filter, SpanRow, SuggestionRow
from workbench.text.labels import Label, Layer

if TYPE_CHECKING:
    from workbench.storage.runs import Run
    from workbench.text.fields import Prediction

GOLD, SUGGESTED = "gold", "suggested"
CLASS_KINDS, SPAN_KINDS = ("class", "multi"), ("span", "tag")
KINDS = (*CLASS_KINDS, *SPAN_KINDS)
MANY = 20_000  # documents from which counting and listing leave the main thread
LARGE = 8_000_000  # bytes of a project file from which its list is read off the main thread
SURE = 0.85  # score from which "Accept all" takes suggestions, at first

NO_DIFFERENCES = (), frozenset(), None
Name = tuple[str, int]


class Target(NamedTuple):
    """Code points [start, end) of one text: what a span label would mark."""

    field: str
    start: int
    end: int


class Predicted(NamedTuple):
    """A span that a run answered and gold does not have."""

    field: str
    start: int
    end: int
    label: str
    score: float | None


class AnnotateState(State):
    """`ids`: the queue in order. `doc`: the document shown. `chosen`: a Name or None. `off`: layers switched off.

    `errors`: the documents that Results handed over, with the run's `predicted` answer beside gold; empty outside of that.
    """

    def __init__(self, context):
        super().__init__()
        self.context, self.project = context, context.project
        self.doc: DocumentView | None = None
        self.document_id: int | None = None
        self.chosen: Name | None = None
        self.layers: tuple[Layer, ...] = ()
        self.off: frozenset[int] = frozenset()
        self.ids: Sequence[int] = array("q")
        self.skipped: tuple[int, ...] = ()
        self.left: int | None = None
        self.errors: tuple[int, ...] = ()
        self.run: Run | None = None
        self.run_layer: int | None = None
        self.predicted: Prediction | None = None
        self.stale_rows: frozenset[int] | None = (
            frozenset()
        )  # documents whose row in the queue is out of date; None: all
        self.sure = SURE
        self._filtered: dict[str, tuple] = {}
        self._load_layers()
        self.listen(self.project.changed, self._on_changed)
        self.listen(self.project.selected, self._on_selected)
        self._load_queue()

    # ------------------------------------------------------------ what is there

    @property
    def can_write(self) -> bool:
        return not self.project.read_only

    @property
    def can_edit(self) -> bool:
        return self.can_write and self.doc is not None

    @property
    def active(self) -> tuple[Layer, ...]:
        """The layers being labelled that are for this document."""
        return (
            tuple(
                layer
                for layer in self.doc.layers
                if layer.kind in KINDS and layer.id not in self.off
            )
            if self.doc
            else ()
        )

    @property
    def active_ids(self) -> tuple[int, ...]:
        """The layers being labelled, of any document."""
        return tuple(layer.id for layer in self.layers if layer.id not in self.off)

    @property
    def spans(self) -> tuple[SpanRow, ...]:
        """Of the layers shown."""
        return self._of_shown_layers("spans")

    @property
    def suggestions(self) -> tuple[SuggestionRow, ...]:
        return self._of_shown_layers("suggestions")

    def _of_shown_layers(self, rows: str) -> tuple:
        """Filtered once for each document, however often it is asked for."""
        if self.doc is None:
            return ()
        given = getattr(self.doc, rows)
        kept = self._filtered.get(rows)
        if kept is None or kept[0] is not given or kept[1] is not self.off:
            shown = {layer.id for layer in self.active}
            whole = shown.issuperset(layer.id for layer in self.doc.layers)
            kept = self._filtered[rows] = (
                given,
                self.off,
                tuple(given if whole else (row for row in given if row.layer_id in shown)),
            )
        return kept[2]

    @property
    def marked(self) -> frozenset[int]:
        """Ids of the class labels that the document has."""
        return frozenset(mark.label_id for mark in self.doc.marks) if self.doc else frozenset()

    @property
    def label_of(self) -> Mapping[int, tuple[Layer, Label]]:
        return {label.id: (layer, label) for layer in self.layers for label in layer.labels}

    @property
    def keys(self) -> Mapping[str, int]:
        """Key → label id, of the labels shown."""
        return {label.key: label.id for layer in self.active for label in layer.labels if label.key}

    @property
    def state_of_document(self) -> str:
        """One word for the shown layers: draft while some of them are submitted and others are not."""
        return (
            annotate.overall(self.doc.states.get(layer.id, "pending") for layer in self.active)
            if self.doc
            else "pending"
        )

    @property
    def without_class(self) -> tuple[str, ...]:
        """Shown class layers in which the document has no class yet."""
        classed = {mark.layer_id for mark in self.doc.marks} if self.doc else set()
        return tuple(
            layer.name for layer in self.active if layer.kind == "class" and layer.id not in classed
        )

    @property
    def guideline(self) -> str:
        """Markdown: the guidelines of the layers shown, each once."""
        parts: dict[str, list[str]] = {}
        for layer in self.active or self.layers:
            if layer.guideline.strip():
                parts.setdefault(layer.guideline.strip(), []).append(layer.name)
        if len(parts) < 2:
            return "".join(parts)
        return "\n\n---\n\n".join(
            f"# {', '.join(names)}\n\n{text}" for text, names in parts.items()
        )

    @property
    def has_labels(self) -> bool:
        return any(layer.labels for layer in self.layers)

    def rows(self, ids: Sequence[int]) -> tuple[DocumentRow, ...]:
        return annotate.queue_page(self.project, ids, self.active_ids)

    # ------------------------------------------------------------ loading

    def _load_layers(self) -> None:
        layers = tuple(layer for layer in labels.layers(self.project) if layer.kind in KINDS)
        kept = self.context.settings.window.get("annotate.off", {}).get(self.project.uid, [])
        self.update(layers=layers, off=frozenset(layer.id for layer in layers if layer.uid in kept))

    def _filter(self) -> Filter:
        """Documents that a switched-on layer is for."""
        texts = {layer.texts for layer in self.layers if layer.id not in self.off}
        return Filter(texts=next(iter(texts))) if len(texts) == 1 else Filter()

    def _load_queue(self) -> None:
        if self.errors:
            return
        wanted = self._filter()
        if len(self.ids) > MANY or (not self.ids and self.project.path.stat().st_size > LARGE):
            if self.document_id is None:
                self.next_unlabelled(start=True)
            self.context.run(lambda: annotate.queue(self.project, wanted), self._take_queue)
        else:
            self._take_queue(annotate.queue(self.project, wanted))

    def _take_queue(self, ids: Sequence[int]) -> None:
        there = set(ids) if self.skipped else set()
        last = tuple(id for id in self.skipped if id in there)
        if last:
            ids = array("q", [id for id in ids if id not in set(last)] + list(last))
        self.update(ids=ids, skipped=last)
        self._count()
        if self.document_id not in ids and not self.errors:
            self._open_first()

    def _count(self) -> None:
        ids = self.active_ids
        if len(self.ids) > MANY:
            self.context.run(
                lambda: annotate.open_count(self.project, ids), lambda left: self.update(left=left)
            )
        else:
            self.update(left=annotate.open_count(self.project, ids))

    def _open_first(self) -> None:
        self.document_id = None
        if self.ids:
            self.next_unlabelled(start=True)
        else:
            self.update(doc=None, document_id=None, chosen=None, predicted=None)

    def open(self, document_id: int, chosen: Name | None = None) -> None:
        """Show a document. One that is gone leads to the first that has something left to do."""
        try:
            doc = annotate.view(self.project, document_id)
        except KeyError:
            self._load_queue()
            return
        self.update(doc=doc, document_id=document_id, chosen=chosen, predicted=self._answer(doc))

    def _reload(self, changes=None) -> None:
        try:
            doc = (
                annotate.refreshed(self.project, self.doc, changes)
                if changes
                else annotate.view(self.project, self.document_id)
            )
        except KeyError:
            self._load_queue()
            return
        self.update(doc=doc, chosen=self.chosen if self._stands(doc, self.chosen) else None)

    def _stands(self, doc: DocumentView, name: Name | None) -> bool:
        rows = {GOLD: doc.spans, SUGGESTED: doc.suggestions}.get(name[0], ()) if name else ()
        return any(row.id == name[1] for row in rows)

    def _on_selected(self, document_id: int, span: object) -> None:
        self.open(document_id, (GOLD, span) if isinstance(span, int) else None)

    def _on_changed(self, changes) -> None:
        if self.errors and changes.touches("run") and not self._run_stands():
            self.leave_errors()
        if changes.touches("layer") or changes.touches("label"):
            self._load_layers()
            self._reload_all()
            return
        if changes.touches("document"):
            self._load_queue()
        if any(changes.touches(table) for table in ("mark", "span", "state", "suggestion")):
            self.update(stale_rows=changes.documents)
            if changes.touches("state"):
                self._count()
            self._follow(changes)

    def _reload_all(self) -> None:
        self.update(stale_rows=None)
        self._load_queue()
        if self.document_id is not None:
            self._reload()
        else:
            self._open_first()

    def _follow(self, changes) -> None:
        """Show the change; an undo or redo elsewhere in the queue brings its document up."""
        here = self.document_id is not None and any(
            changes.touches(t, self.document_id) for t in ("mark", "span", "state", "suggestion")
        )
        if here:
            self._reload(changes)
        elif (
            changes.origin is None
            and changes.documents is not None
            and len(changes.documents) == 1
            and not self.errors
        ):
            if changes.touches("mark") or changes.touches("span") or changes.touches("state"):
                self.open(next(iter(changes.documents)))

    # ------------------------------------------------------------ layers

    def switch_layer(self, layer_id: int, on: bool) -> None:
        """Label in a layer or not; remembered for this project."""
        off = self.off - {layer_id} if on else self.off | {layer_id}
        kept = dict(self.context.settings.window.get("annotate.off", {}))
        kept[self.project.uid] = [layer.uid for layer in self.layers if layer.id in off]
        self.context.settings.window["annotate.off"] = kept
        self.context.settings.save()
        self.update(off=off, chosen=None)
        self._load_queue()

    # ------------------------------------------------------------ walking

    def step(self, way: int) -> None:
        """The next (+1) or previous (-1) document of the queue."""
        if not self.ids:
            return
        at = self.place
        if at is None:
            self.open(self.ids[0])
        elif 0 <= at + way < len(self.ids):
            self.open(self.ids[at + way])

    @property
    def place(self) -> int | None:
        """Where the document stands in the queue."""
        try:
            return self.ids.index(self.document_id)
        except (ValueError, TypeError):
            return None

    def next_unlabelled(self, *, start: bool = False) -> bool:
        """The next document with something to do, those skipped last; False (and nothing changes) if there is none."""
        found = self._next_open(None if start else self.document_id)
        if found is not None:
            self.open(found)
        elif start and self.ids:
            self.open(self.ids[0])
        return found is not None

    def _next_open(self, after: int | None) -> int | None:
        """Something to do behind `after`: first what was not skipped, then the skipped, at last this document itself."""
        waiting: set[int] = set()
        while True:
            found = annotate.next_unlabelled(self.project, after, self.active_ids)
            if found is None or found in waiting:
                break
            if found not in self.skipped and found != self.document_id:
                return found
            waiting.add(found)
            after = found
        rest = (*(id for id in self.skipped if id != self.document_id), self.document_id)
        return next((id for id in rest if id in waiting), None)

    def next_error(self, way: int = 1) -> None:
        """Through the documents that Results handed over."""
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
        """Prediction beside gold, through these documents alone."""
        from workbench.operations import results

        run = self.context.attempt(results.run, self.project, run_id)
        if run is None or not documents:
            return
        layer = next(
            (one for one in self.layers if one.id == run.layer_id or one.name == run.layer), None
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
            )  # for now: the switch that is remembered stays as it is
        self.open(document_id if document_id is not None else documents[0])

    def leave_errors(self) -> None:
        self.update(errors=(), run=None, run_layer=None, predicted=None)
        self._load_layers()
        self._load_queue()

    def _run_stands(self) -> bool:
        from workbench.operations import results

        return any(one.id == self.run.id for one in results.all_runs(self.project))

    def _answer(self, doc: DocumentView) -> Prediction | None:
        """What the run whose errors are gone through said of a document; None if its text has changed since."""
        if self.run is None:
            return None
        from workbench.operations import predict

        return predict.stored(self.project, self.run, [doc.document]).get(doc.document.id)

    @property
    def differences(self) -> tuple[tuple[Predicted, ...], frozenset[int], str | None]:
        """What the run answers and gold lacks; gold spans that it missed; its class where it differs from gold."""
        if self.predicted is None or self.doc is None:
            return NO_DIFFERENCES
        names = self.label_of
        mine = [
            row for row in self.spans if row.layer_id == self.run_layer and row.label_id in names
        ]
        gold = {
            (row.field, row.start, row.end, names[row.label_id][1].name): row.id for row in mine
        }
        answered = {(s.field, s.start, s.end, s.label): s for s in self.predicted.spans}
        extra = tuple(
            Predicted(*key, one.score) for key, one in answered.items() if key not in gold
        )
        missed = (
            frozenset(id for key, id in gold.items() if key not in answered)
            if self.predicted.classes is None
            else frozenset()
        )
        classes = {
            names[mark.label_id][1].name
            for mark in self.doc.marks
            if mark.layer_id == self.run_layer and mark.label_id in names
        }
        other = (
            self.predicted.label
            if self.predicted.label is not None and self.predicted.label not in classes
            else None
        )
        return extra, missed, other
