"""The documents in the queue of Annotate, their order, and navigation. No Qt."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.base.events import State
from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.operations import annotate, provenance
from workbench.operations.annotate import TO_DO, DocumentRow, Filter, SourceFile
from workbench.operations.background import is_large
from workbench.text.rows import row_id
from workbench.ui.opened import opened

if TYPE_CHECKING:
    from workbench.operations.annotate import DocumentView
    from workbench.storage.origins import Origin
    from workbench.text.labels import Layer
    from workbench.ui.panel import PanelContext

UNLABELLED = TO_DO  # a state of the filter

MANY = 20_000  # documents above which counting and listing run off the main thread
FEW = 50  # changed documents that are tested against the filter one by one
LATEST = 30  # origins that are offered as a filter
NO_SPLIT = "none"
DONE = ("submitted", "discarded")


@dataclass(frozen=True)
class Narrowed:
    """Filter of the queue; all conditions apply together.

    `state`: `TO_DO`, pending, draft, submitted or discarded in the selected layers.
    `suggested`: there are suggestions in them. `source`: the name of an imported file.
    `origin`: who or what made a label or an open suggestion.
    """

    state: str | None = None
    suggested: bool = False
    label_id: int | None = None
    split: str | None = None
    source: str | None = None
    origin: Origin | None = None

    @property
    def empty(self) -> bool:
        return self == Narrowed()


class QueueState(State):
    """`ids`: the queue in order. `total`: documents without the filter. `left`: those to label.

    `skipped` come last. The open document stays in the queue until another is opened, even if it no
    longer passes the filter. `AnnotateState` has the document and the layers.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.document_id: int | None = None
        self.doc: DocumentView | None = None
        self.layers: tuple[Layer, ...] = ()
        self.off: frozenset[int] = frozenset()
        self.errors: tuple[int, ...] = ()
        self.ids: Sequence[int] = array("q")
        self.skipped: tuple[int, ...] = ()
        self.total = 0
        self.left: int | None = None
        self.narrowed = Narrowed()
        self.source_files: tuple[SourceFile, ...] = ()

    def open(self, document_id: int, chosen: Any = None) -> None:
        raise NotImplementedError

    @property
    def active_ids(self) -> tuple[int, ...]:
        """The selected layers, of any document."""
        return tuple(id for id in map(row_id, self.layers) if id not in self.off)

    def rows(self, ids: Sequence[int]) -> tuple[DocumentRow, ...]:
        return annotate.queue_page(self.project, ids, self.active_ids)

    # ------------------------------------------------------------ filter

    def narrow(self, **values: Any) -> None:
        """Change fields of the filter; opens the first matching document unless the open one
        matches.
        """
        self._set_narrowed(replace(self.narrowed, **values))

    @property
    def only_unlabelled(self) -> bool:
        return self.narrowed.state == TO_DO

    def toggle_unlabelled(self) -> None:
        self.narrow(state=None if self.only_unlabelled else TO_DO)

    def clear_filters(self) -> None:
        self._set_narrowed(Narrowed())

    def _set_narrowed(self, narrowed: Narrowed) -> None:
        if narrowed != self.narrowed:
            self.update(narrowed=narrowed, skipped=())
            self._load_queue()

    @property
    def filters(self) -> tuple[tuple[str, str], ...]:
        """The active filters, as (field of `Narrowed`, text)."""
        found, now = [], self.narrowed
        if now.state == TO_DO:
            found.append(("state", _("Unlabelled")))
        elif now.state:
            found.append(("state", _("State: {name}").format(name=term(now.state))))
        if now.suggested:
            found.append(("suggested", _("With suggestions")))
        if now.label_id is not None:
            name = self._label_name(now.label_id)
            found.append(("label_id", _("Label: {name}").format(name=name)))
        if now.split:
            split = _("No split") if now.split == NO_SPLIT else _("Split: {name}")
            found.append(("split", split.format(name=term(now.split))))
        if now.source is not None:
            found.append(("source", _("File: {name}").format(name=now.source)))
        if now.origin is not None:
            name = provenance.Names(self.project).of(now.origin)
            found.append(("origin", _("Made by: {name}").format(name=name)))
        return tuple(found)

    @property
    def origin_choices(self) -> list[tuple[Origin, str]]:
        """The latest origins of labels and suggestions, with titles."""
        names = provenance.Names(self.project)
        latest = provenance.origins(self.project)[:LATEST]
        return [(origin, names.of(origin)) for origin in latest]

    def _label_name(self, label_id: int) -> str:
        names = {label.id: label.name for layer in self.layers for label in layer.labels}
        return names.get(label_id, "?")

    def _unfiltered(self) -> Filter:
        """The documents that a selected layer applies to."""
        texts = {layer.texts for layer in self.layers if layer.id not in self.off}
        return Filter(texts=next(iter(texts))) if len(texts) == 1 else Filter()

    def shown_filter(self) -> Filter:
        """The filter of the queue, as one on documents."""
        now = self.narrowed
        sources = next((s.source_ids for s in self.source_files if s.name == now.source), ())
        return replace(
            self._unfiltered(),
            queue_layers=self.active_ids,
            queued=now.state,
            suggested=now.suggested,
            label_id=now.label_id,
            split=now.split,
            sources=sources if now.source is not None else None,
            origin=now.origin,
        )

    # ------------------------------------------------------------ loading

    def _load_queue(self) -> None:
        if self.errors:
            return
        every, wanted = self._unfiltered(), self.shown_filter()
        project, narrowed = self.project, self.narrowed

        def read() -> tuple[Any, ...]:
            ids = annotate.queue(project, wanted)
            total = len(ids) if narrowed.empty else annotate.queue_size(project, every)
            return ids, total, annotate.source_files(project)

        def take(found: tuple[Any, ...]) -> None:
            if narrowed == self.narrowed and not self.errors:
                self._take_queue(*found)

        many = max(len(self.ids), self.total) > MANY
        if many or (not self.ids and is_large(self.project)):
            if self.document_id is None:
                self.next_unlabelled(start=True)
            self.context.run(read, take)
        else:
            take(read())

    def _take_queue(
        self, ids: Sequence[int], total: int, source_files: tuple[SourceFile, ...]
    ) -> None:
        there = set(ids) if self.skipped else set()
        last = tuple(id for id in self.skipped if id in there)
        self.update(ids=_with_last(ids, last), skipped=last, total=total, source_files=source_files)
        self._count()
        if self.document_id not in self.ids:
            self._open_first()

    def _count(self) -> None:
        ids = self.active_ids
        if self.total > MANY:
            self.context.run(
                lambda: annotate.open_count(self.project, ids), lambda left: self.update(left=left)
            )
        else:
            self.update(left=annotate.open_count(self.project, ids))

    def _open_first(self) -> None:
        if self.ids:
            self.document_id = None
            self.next_unlabelled(start=True)
        elif self.narrowed.empty or not self._is_there(self.document_id):
            self.update(doc=None, document_id=None, chosen=None, predicted=None)

    def _is_there(self, document_id: int | None) -> bool:
        only = Filter(ids=[document_id] if document_id is not None else [])
        return annotate.queue_size(self.project, only) > 0

    def _check(self, ids: Iterable[int]) -> None:
        """Add or remove documents of a filtered queue, as they now pass the filter or not."""
        if self.narrowed.empty or self.errors:
            return
        asked = set(ids)
        if not asked:
            return
        passing = set(annotate.queue(self.project, replace(self.shown_filter(), ids=sorted(asked))))
        if self.document_id is not None and self.document_id in asked:
            passing.add(self.document_id)
        listed = asked.intersection(self.ids)
        if passing != listed:
            kept = (set(self.ids) - asked) | passing
            last = tuple(id for id in self.skipped if id in kept)
            self.update(ids=_with_last(sorted(kept), last), skipped=last)

    # ------------------------------------------------------------ navigation

    @property
    def place(self) -> int | None:
        """Position of the document in the queue."""
        try:
            return self.ids.index(self.document_id)
        except (ValueError, TypeError):
            return None

    def step(self, way: int) -> bool:
        """Go to the next (+1) or previous (-1) document of the queue; False at its end."""
        at = self.place
        to = 0 if at is None else at + way
        if not 0 <= to < len(self.ids):
            return False
        self.open(self.ids[to])
        return True

    def next_unlabelled(self, *, start: bool = False) -> bool:
        """Go to the next document to label, skipped ones last.

        Returns False, changing nothing, if there is none.
        """
        found = self._next_open(None if start else self.document_id)
        if found is not None:
            self.open(found)
        elif start and self.ids:
            self.open(self.ids[0])
        return found is not None

    def _next_open(self, after: int | None) -> int | None:
        """The next document to label after `after`: first those not skipped, then skipped ones,
        then itself.
        """
        if self.narrowed.state in DONE:
            return None
        wanted = None if self.narrowed.empty else self.shown_filter()
        waiting: set[int] = set()
        while True:
            found = annotate.next_unlabelled(self.project, after, self.active_ids, wanted)
            if found is None or found in waiting:
                break
            if found not in self.skipped and found != self.document_id:
                return found
            waiting.add(found)
            after = found
        rest = (*(id for id in self.skipped if id != self.document_id), self.document_id)
        return next((id for id in rest if id in waiting), None)

    def _put_last(self, document_id: int) -> None:
        """Move a document to the end of the queue."""
        rest = tuple(id for id in self.skipped if id != document_id)
        self._reorder((*rest, document_id))

    def _put_back(self, document_id: int) -> None:
        """Undo `_put_last`: restore the position of the document and open it."""
        self._reorder(tuple(id for id in self.skipped if id != document_id))
        self.open(document_id)

    def _reorder(self, skipped: tuple[int, ...]) -> None:
        self.update(ids=_with_last(sorted(self.ids), skipped), skipped=skipped)


def _with_last(ids: Sequence[int], last: tuple[int, ...]) -> Sequence[int]:
    """The documents in order, with those of `last` at the end."""
    if not last:
        return ids if isinstance(ids, array) else array("q", ids)
    behind = set(last)
    return array("q", [id for id in ids if id not in behind] + list(last))
