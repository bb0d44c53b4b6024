"""State of the Errors part: the errors of the selected run, filtered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import N_, _
from workbench.operations.evaluation import errors, reviews
from workbench.operations.evaluation.errors import Detail, ErrorFilters
from workbench.operations.runs import results
from workbench.tasks import spec as tasks
from workbench.ui.panels.results.review.state import LABELLED, Identity, ReviewState

if TYPE_CHECKING:
    from workbench.operations.evaluation.reviews import ReviewItem
    from workbench.project.changes import Changes
    from workbench.storage.runs.runs import Run
    from workbench.text.labels import Layer
    from workbench.text.result_view import ResultView
    from workbench.ui.panels.results.selection import RunSelection

LOSS, SORTS = errors.LOSS, errors.SORTS
OPEN, REVIEWED, ACCEPTED = errors.OPEN, errors.REVIEWED, reviews.ACCEPTED
_DIFFERENCE = N_("Difference from gold")  # the loss of numbers
WHOLE = ("label", "layer", "document", "body", "run", "prediction")
MAX_SINGLE_READS = 50  # changed documents that are read again on the main thread
READING = "errors"  # key of the task


class ErrorsState(ReviewState):
    """Follows the selected run while its part is visible."""

    END = N_("All errors shown here are reviewed.")

    def __init__(self, selection: RunSelection) -> None:
        super().__init__(selection.context)
        self.selection = selection
        self.filters = ErrorFilters()
        self.caption = ""  # what restricts the documents, such as a cell of the matrix
        self.split = "dev"
        self._known: tuple[int, str] | None = None  # run and split of `items`
        self._sorted_for: ResultView | None = None  # the kind that the order was chosen for

    def follow(self) -> None:
        """Read the errors of the selected run unless they are known."""
        run = self.selection.run
        if not self._on or run is None:
            return
        split = self.split if self.split in self.selection.splits_shown else "dev"
        if self._known == (run.id, split):
            return
        if self._known is not None and self._known[0] != run.id:
            self.update(items=None, shown=(), chosen=None, detail=None)
            self.update(filters=ErrorFilters(sort=self.filters.sort), caption="")
        elif self._known is not None:
            self.update(items=None, shown=(), detail=None)  # of the other split
        self.update(split=split)
        self._load()

    def _load(self) -> None:
        run, split = self.selection.run, self.split
        if run is None:
            return
        self._known = run.id, split

        def failed(error: Exception) -> None:
            self.update(items=(), shown=(), problem=str(error))

        work = partial(errors.items, self.project, run, split)
        self.context.task(READING, work, self._show_items, failed=failed)

    def project_changed(self, changes: Changes) -> None:
        """Called by the page: read changed documents again, or all of them when next shown."""
        self.similar.project_changed(changes)
        if self._known is None:
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
            self._known = None
            self.follow()
            return
        items = errors.refreshed(self.project, run, self.split, self.items, documents)
        self._show_items(items, undone=changes.origin is None)  # an undo leads back to the error

    def _show_items(self, items: tuple[ReviewItem, ...], *, undone: bool = False) -> None:
        view = self.view
        known = errors.orders(view, items)
        if view is not self._sorted_for or self.filters.sort not in known:
            self.update(filters=replace(self.filters, sort=view.orders[0]))
        self._sorted_for = view
        self.update(problem="")
        self._take(items, undone=undone)

    def _arranged(self) -> tuple[ReviewItem, ...]:
        return errors.arranged(self.items or (), self.filters)

    def _read(self, item: ReviewItem) -> Detail | None:
        run = self.selection.run
        return errors.detail(self.project, run, item.document_id) if run is not None else None

    # ---------------------------------------------------------------- shown values

    @property
    def run(self) -> Run | None:
        return self.selection.run

    @property
    def task(self) -> str:
        run = self.selection.run
        return results.task_of(run) if run is not None else ""

    @property
    def layer(self) -> Layer | None:
        """The layer of the selected run; None if it was deleted."""
        try:
            run = self.selection.run
            return results.layer_of(self.project, run) if run is not None else None
        except WorkbenchError:
            return None

    @property
    def sort(self) -> str:
        return self.filters.sort

    @property
    def orders(self) -> list[tuple[str, str]]:
        """(title, value) of the orders of the list."""
        titles = {**SORTS, LOSS: _DIFFERENCE} if self.view.by_size else SORTS
        orders = errors.orders(self.view, self.items or ())
        return [(_(titles[value]), value) for value in orders]

    @property
    def counts(self) -> Counter[str]:
        """Number of errors by kind."""
        return errors.counts(self.items or ())

    def labels(self, side: str) -> list[str]:
        """The labels of one side, "gold" or "predicted", that occur in an error."""
        names = {getattr(item.mistake, side) or tasks.NONE for item in self.items or ()}
        return sorted(names, key=lambda name: (name != tasks.NONE, name.casefold()))

    @property
    def can_inspect(self) -> bool:
        return self.item is not None and not self.selection.cannot_inspect

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
        if self._known is not None and self._known != (run.id, split):
            self.context.drop(READING)
            self._known = None
            self.update(items=None, shown=())
        self.update(filters=filters, caption=caption, split=split, chosen=chosen)
        if self._known is not None:
            self._arrange()
        elif self._on:
            self._load()

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

    # ---------------------------------------------------------------- decisions

    def accept(self) -> None:
        message = _("Accepted the prediction as gold for {key}.")
        self._decide(errors.accept, reviews.ACCEPTED, message)

    def keep(self) -> None:
        self._decide(errors.keep, reviews.KEPT, _("Gold labels of {key} unchanged."))

    # ---------------------------------------------------------------- other pages

    def _beside(self, item: ReviewItem) -> dict[str, Any]:
        """The prediction beside gold, and the other errors to go through."""
        ids = tuple(dict.fromkeys(item.document_id for item in self.shown))
        args: dict[str, Any] = {"run": self.selection.shown_run.id, "errors": ids}
        if self.view.asks:
            args["question"] = item.mistake.gold or item.mistake.predicted
        return args

    def show_documents(self, ids: Collection[int] = (), what: str = "") -> None:
        """Documents on Data; by default those of the present restriction, correct ones included."""
        run, documents = self.selection.run, ids or self.filters.documents
        if documents and run is not None:
            message = _("{run}: {what}", run=run.name, what=what or self.caption)
            self.context.go("data", ids=tuple(dict.fromkeys(documents)), caption=message)
