"""State: the labelled documents that are most similar to the one whose error is shown."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.events import State
from workbench.base.i18n import _
from workbench.inspection import spec as inspectors
from workbench.operations.documents import similar
from workbench.operations.documents.similar import SimilarDocument
from workbench.ui.project.indexing import Indexing
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.project.changes import Changes
    from workbench.storage.runs.runs import Run
    from workbench.text.labels import Layer
    from workbench.ui.panel import PanelContext
    from workbench.ui.project.indexing import Build

INDEXED = ("document", "body")  # changes that make another index
Subject = tuple[int | None, int, int]  # run, layer, document


class SimilarState(State):
    """Follows the shown error while `on`: the list costs an index of the documents."""

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.project, self.context = opened(context), context
        self.on = False
        self.rows: tuple[SimilarDocument, ...] = ()
        self.build: Build | None = None  # the index is computed, or waits for a click
        self.message = ""  # why there are no rows
        self.model = ""
        self.fits = False
        self._indexing = Indexing(
            self.context, self.project, lambda build: self.update(build=build)
        )
        self._error: tuple[Layer, str, Run | None, int] | None = None
        self._index: tuple[int | None, dict[str, Any]] | None = None  # run, and what names it
        self._read: Subject | None = None
        self._awaited: tuple[int | None] | None = None  # the run whose index is computed

    def show(self, on: bool) -> None:
        """Show the list, or do not read it."""
        self.update(on=on)
        self._follow()

    def follow(self, layer: Layer | None, task: str, run: Run | None, document: int | None) -> None:
        """The error that is shown; None for none. task: reads the gold of the layer."""
        fits = layer is not None and similar.fits(layer)
        self.update(fits=fits)
        known = layer is not None and document is not None and fits
        self._error = (layer, task, run, document) if known and layer and document else None
        self._follow()

    def project_changed(self, changes: Changes) -> None:
        """Called by the page: labels make another list, texts another index."""
        if changes.rows is None or any(map(changes.touches, INDEXED)):
            self._index = self._awaited = None
        self._read = None
        self._follow()

    def _follow(self) -> None:
        if self._error is None:
            self.context.drop(self)
            self._read = None
        if not self.on or self._error is None:
            return
        layer, task, run, document = self._error
        subject = run.id if run is not None else None, layer.id or 0, document
        if self._read == subject:
            return
        self._read = subject
        if self._index is not None and self._index[0] == subject[0]:
            self._find(self._index[1], layer, task, subject)
            return
        self.update(rows=(), message="")
        if self._awaited == (subject[0],):
            self.context.drop(self)
            return
        work = partial(similar.model_for, self.project, run, self.context.settings)
        self._run(work, lambda choice: self._ensure(choice, subject))

    def _run(self, work: Callable[[], Any], done: Callable[[Any], None]) -> None:
        """Read the model, then the documents."""
        self.context.task(self, work, done, failed=lambda error: self._failed(str(error)))

    def _ensure(self, choice: Any, subject: Subject) -> None:
        info = inspectors.light(similar.INSPECTOR)
        if choice is None or info is None:
            self.update(message=_("No model is installed that gives vectors."))
            return
        self.update(model=choice.title)

        def ready(options: dict[str, Any]) -> None:
            self._index, self._awaited = (subject[0], options), None
            if self._error is not None and self._read is not None and self._read[0] == subject[0]:
                layer, task, _run, _document = self._error
                self._find(options, layer, task, self._read)

        options = inspectors.options(similar.INSPECTOR, {})
        self._awaited = (subject[0],)
        self._indexing.ensure(choice, info, options, ready, self._failed)

    def _find(self, options: dict[str, Any], layer: Layer, task: str, subject: Subject) -> None:
        def done(rows: tuple[SimilarDocument, ...]) -> None:
            message = "" if rows else _("No other labelled document was compared.")
            self.update(rows=rows, message=message)

        index = str(options["index"])
        self._run(partial(similar.nearest, self.project, layer, task, subject[2], index), done)

    def _failed(self, message: str) -> None:
        self._read = self._index = self._awaited = None  # the next error asks again
        self.update(rows=(), message=message)

    def compute(self) -> None:
        """Compute the index that the list waits for."""
        self._indexing.build()

    def cancel(self) -> None:
        self._indexing.cancel()

    def open(self, row: SimilarDocument) -> None:
        """Open a document in Annotate."""
        self.context.go("annotate", document=row.id)

    def close(self) -> None:
        self._indexing.close()
        super().close()
