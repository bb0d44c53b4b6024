"""State of the Errors part: the errors of the selected run, filtered, and what is done to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import N_, _
from workbench.operations.evaluation import errors, reviews
from workbench.operations.evaluation.errors import Detail, ErrorFilters, ErrorItem
from workbench.operations.runs import results
from workbench.tasks import spec as tasks
from workbench.text.result_view import UNKNOWN
from workbench.ui.panels.results.review.similar import SimilarState

if TYPE_CHECKING:
    from workbench.project.changes import Changes
    from workbench.text.labels import Layer
    from workbench.text.result_view import ResultView
    from workbench.ui.panels.results.selection import RunSelection

LOSS, DOCUMENT, SORTS = errors.LOSS, errors.DOCUMENT, errors.SORTS
_DIFFERENCE = N_("Difference from gold")  # the loss of numbers
OPEN, REVIEWED = errors.OPEN, errors.REVIEWED
VERDICTS, NONE = reviews.TITLES, tasks.NONE
LABELLED = ("span", "mark", "state", "flag")  # changes of a document that change its errors
WHOLE = ("label", "layer", "document", "body", "run", "prediction")
MAX_SINGLE_READS = 50  # changed documents that are read again on the main thread
READING = "errors"  # key of the task
Identity = tuple[object, ...]


class ErrorsState(State):
    """Follows the selected run while its part is visible."""

    def __init__(self, selection: RunSelection) -> None:
        super().__init__()
        self.selection, self.project = selection, selection.project
        self.context = selection.context
        self.items: tuple[ErrorItem, ...] | None = None  # None while they are read
        self.problem = ""  # why they cannot be read
        self.shown: tuple[ErrorItem, ...] = ()
        self.filters = ErrorFilters()
        self.caption = ""  # what restricts the documents, such as a cell of the matrix
        self.split = "dev"
        self.chosen: Identity | None = None
        self.detail: Detail | None = None
        self.asked = False  # the list was asked for from elsewhere: it takes the focus when shown
        self.similar = SimilarState(self.context)
        self._on = False
        self._read: tuple[int, str] | None = None  # run and split of `items`
        self._sorted_for: ResultView | None = None  # the kind that the order was chosen for

    def close(self) -> None:
        self.similar.close()
        super().close()

    def watch(self, on: bool) -> None:
        self._on = on
        if on:
            self.follow()

    def follow(self) -> None:
        """Read the errors of the selected run unless they are known."""
        run = self.selection.run
        if not self._on or run is None:
            return
        split = self.split if self.split in self.selection.splits_shown else "dev"
        if self._read == (run.id, split):
            return
        if self._read is not None and self._read[0] != run.id:
            self.update(items=None, shown=(), chosen=None, detail=None)
            self.update(filters=ErrorFilters(sort=self.filters.sort), caption="")
        elif self._read is not None:
            self.update(items=None, shown=(), detail=None)  # of the other split
        self.update(split=split)
        self._load()

    def _load(self) -> None:
        run, split = self.selection.run, self.split
        if run is None:
            return
        self._read = run.id, split

        def failed(error: Exception) -> None:
            self.update(items=(), shown=(), problem=str(error))

        work = partial(errors.items, self.project, run, split)
        self.context.task(READING, work, self._take, failed=failed)

    def project_changed(self, changes: Changes) -> None:
        """Called by the page: read changed documents again, or all of them when next shown."""
        self.similar.project_changed(changes)
        if self._read is None:
            return
        documents = changes.documents
        whole = changes.rows is None or any(map(changes.touches, WHOLE))
        if not whole and not any(map(changes.touches, LABELLED)):
            return
        run = self.selection.run
        if (
            whole
            or documents is None
            or len(documents) > MAX_SINGLE_READS
            or run is None
            or not self._on
            or self.items is None
            or self.context.waiting(READING)  # what is read may be that before the change
        ):
            self.context.drop(READING)
            self._read = None
            self.follow()
            return
        before = {item.identity for item in self.items if item.review}
        self._take(errors.refreshed(self.project, run, self.split, self.items, documents))
        if changes.origin is None:  # an undo leads back to the error
            reopened = [item for item in self.shown if not item.review and item.identity in before]
            if reopened:
                self.choose(reopened[0].identity)

    def _take(self, items: tuple[ErrorItem, ...]) -> None:
        self.update(items=items, problem="")
        view = self.view
        known = errors.orders(view, items)
        if view is not self._sorted_for or self.filters.sort not in known:
            self.update(filters=replace(self.filters, sort=view.orders[0]))
        self._sorted_for = view
        self._arrange()

    def _arrange(self) -> None:
        arranged = errors.arranged(self.items or (), self.filters)
        self.update(shown=arranged)
        known = {item.identity for item in arranged}
        if self.chosen not in known:
            first = next(
                (item for item in arranged if not item.verdict), next(iter(arranged), None)
            )
            self.choose(first.identity if first is not None else None)
        else:
            self.choose(self.chosen)

    # ---------------------------------------------------------------- shown values

    @property
    def view(self) -> ResultView:
        """How predictions of the selected run are shown."""
        run = self.selection.run
        return tasks.view_of(results.task_of(run)) if run is not None else UNKNOWN

    @property
    def orders(self) -> list[tuple[str, str]]:
        """(title, value) of the orders of the list."""
        titles = {**SORTS, LOSS: _DIFFERENCE} if self.view.by_size else SORTS
        orders = errors.orders(self.view, self.items or ())
        return [(_(titles[value]), value) for value in orders]

    @property
    def item(self) -> ErrorItem | None:
        """The chosen error."""
        return next((item for item in self.shown if item.identity == self.chosen), None)

    @property
    def counts(self) -> Counter[str]:
        """Number of errors by kind."""
        return errors.counts(self.items or ())

    @property
    def reviewed(self) -> int:
        return sum(bool(item.verdict) for item in self.items or ())

    @property
    def accepted(self) -> int:
        return sum(item.verdict == reviews.ACCEPTED for item in self.items or ())

    def labels(self, side: str) -> list[str]:
        """The labels of one side, "gold" or "predicted", that occur in an error."""
        names = {getattr(item.mistake, side) or tasks.NONE for item in self.items or ()}
        return sorted(names, key=lambda name: (name != tasks.NONE, name.casefold()))

    @property
    def layer(self) -> Layer | None:
        """The layer of the selected run; None if it was deleted."""
        try:
            return (
                results.layer_of(self.project, self.selection.shown_run)
                if self.selection.run
                else None
            )
        except WorkbenchError:
            return None

    def same_confusion(self) -> list[ErrorItem]:
        return errors.same_confusion(self.items or (), self.item) if self.item else []

    @property
    def can_inspect(self) -> bool:
        return self.item is not None and not self.selection.cannot_inspect

    @property
    def can_decide(self) -> bool:
        item = self.item
        return item is not None and not item.verdict and not self.project.read_only

    # ---------------------------------------------------------------- choosing

    def narrow(self, **values: Any) -> None:
        """Set filters or the order."""
        self.update(filters=replace(self.filters, **values))
        self._arrange()

    def clear(self) -> None:
        """Show all errors, in the same order."""
        self.update(filters=ErrorFilters(sort=self.filters.sort), caption="")
        self._arrange()

    def show(
        self,
        *,
        split: str = "dev",
        caption: str = "",
        documents: Collection[int] | None = None,
        **filters: Any,
    ) -> None:
        """Show the errors of these documents, or with these labels, alone."""
        ids = frozenset(documents) if documents is not None else None
        chosen = ErrorFilters(sort=self.filters.sort, documents=ids, **filters)
        run = self.selection.run
        if run is None:
            return
        self.context.remember_place()
        self._show(split, chosen, caption, None)
        self.update(asked=True)

    def restore(
        self, split: str, filters: ErrorFilters, caption: str, chosen: Identity | None
    ) -> None:
        """Show the errors that were shown before, and the same one of them."""
        if self.selection.run is not None:
            self._sorted_for = self.view
            self._show(split, filters, caption, chosen)

    def _show(
        self, split: str, filters: ErrorFilters, caption: str, chosen: Identity | None
    ) -> None:
        run = self.selection.shown_run
        if self._read is not None and self._read != (run.id, split):
            self.context.drop(READING)
            self._read = None
            self.update(items=None, shown=())
        self.update(filters=filters, caption=caption, split=split, chosen=chosen)
        if self._read is not None:
            self._arrange()
        elif self._on:
            self._load()

    def take_asked(self) -> bool:
        """Whether the list was asked for since the last call."""
        was_asked, self.asked = self.asked, False
        return was_asked

    def open_cell(self, gold: str, predicted: str) -> None:
        """Show the errors of a cell of the matrix; documents of the diagonal are opened on Data."""
        matrix = self.selection.matrix
        ids = matrix.documents.get((gold, predicted), ()) if matrix is not None else ()
        message = _("gold {gold}, predicted {predicted}", gold=gold, predicted=predicted)
        if ids and gold != predicted:
            self._show_cell(gold, predicted, ids, message)
        elif ids:
            self.show_documents(ids, message)

    def _show_cell(self, gold: str, predicted: str, ids: Collection[int], caption: str) -> None:
        """Show the errors of a cell.

        There, spans with other boundaries count as missed and spurious; here they are boundary
        errors with both labels, so only the label that the cell names restricts.
        """
        names: dict[str, Any] = {"gold": gold, "predicted": predicted}
        if tasks.NONE in names.values():
            names = {side: name for side, name in names.items() if name != tasks.NONE}
            self.show(documents=ids, caption=caption, **names)
        else:
            self.show(caption=caption, **names)

    def show_split(self, split: str) -> None:
        self.update(split=split)
        self.follow()

    def choose(self, identity: Identity | None) -> None:
        self.update(chosen=identity)
        item, run = self.item, self.selection.run
        detail = None
        if item is not None and run is not None:
            try:
                detail = errors.detail(self.project, run, item.document_id)
            except (KeyError, WorkbenchError):
                detail = None  # deleted meanwhile: the list is read again
        self.update(detail=detail)
        if run is not None:
            document = item.document_id if detail is not None and item is not None else None
            self.similar.follow(self.layer, results.task_of(run), run, document)

    def next(self) -> None:
        """The next open error below the chosen one, else the first open one."""
        places = [number for number, item in enumerate(self.shown) if item.identity == self.chosen]
        at = places[0] + 1 if places else 0
        rest = (*self.shown[at:], *self.shown[:at])
        following = next((item for item in rest if not item.verdict), None)
        if following is None or following.identity == self.chosen:
            last = _("This is the last open error.")
            done = _("All errors shown here are reviewed.")
            self.context.note(done if following is None else last)
        else:
            self.choose(following.identity)

    # ---------------------------------------------------------------- decisions

    def accept(self) -> None:
        """Make the prediction gold at this place, and continue."""
        self._decide(errors.accept, _("Accepted the prediction as gold for {key}."))

    def keep(self) -> None:
        """Keep gold, remember it, and continue."""
        self._decide(errors.keep, _("Gold labels of {key} unchanged."))

    def _decide(self, act: Callable[..., None], message: str) -> None:
        item, run = self.item, self.selection.run
        if item is None or run is None or not self.can_decide:
            return

        def decide() -> bool:
            act(self.project, run, item, origin=self)
            return True

        if self.context.attempt(decide):
            self.context.note(message.format(key=item.key), undo=True)
            self.next()

    def others(self) -> tuple[str, ...]:
        """No other labels are offered than the prediction."""
        return ()

    def set_label_at(self, place: int) -> None:
        """No other labels are offered."""

    # ---------------------------------------------------------------- other pages

    def open(self) -> None:
        """Open the chosen error in Annotate at its place, with the prediction beside gold."""
        item, run, detail = self.item, self.selection.run, self.detail
        if item is None or run is None:
            return
        args = errors.place_in_annotate(detail, item.mistake)
        if self.layer is not None and self.layer.traits.asks:
            args["question"] = item.mistake.gold or item.mistake.predicted
        ids = tuple(dict.fromkeys(item.document_id for item in self.shown))
        self.context.go("annotate", document=item.document_id, run=run.id, errors=ids, **args)

    def inspect(self) -> None:
        item, run = self.item, self.selection.run
        if item is not None and run is not None:
            self.context.go("inspect", run=run.id, document=item.document_id)

    def show_documents(self, ids: Collection[int] = (), what: str = "") -> None:
        """Documents on Data; by default those of the present restriction, correct ones included."""
        run, documents = self.selection.run, ids or self.filters.documents
        if documents and run is not None:
            message = _("{run}: {what}", run=run.name, what=what or self.caption)
            self.context.go("data", ids=tuple(dict.fromkeys(documents)), caption=message)
