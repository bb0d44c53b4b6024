"""State of Label errors: doubtful gold labels of a layer, measured by folds, and their review."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.i18n import N_, _
from workbench.operations.evaluation import errors, folds, label_errors, reviews
from workbench.operations.evaluation.reviews import Review
from workbench.tasks import spec as tasks
from workbench.ui.panels.results.review.state import LABELLED, ReviewState

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.operations.evaluation.errors import Detail
    from workbench.operations.evaluation.label_errors import SuspectRanking
    from workbench.operations.evaluation.reviews import ReviewItem
    from workbench.project.changes import Changes
    from workbench.text.labels import Layer
    from workbench.ui.panel import PanelContext

FOLDS, CHOICES = folds.FOLDS, (3, 5, 10)
CHANGED, KEPT = reviews.CHANGED, reviews.KEPT
WHOLE = ("label", "layer", "document", "run")
MEASURING, READING = "measure-label-errors", "label-errors"  # keys of tasks


class LabelErrorsState(ReviewState):
    """Reads the last measurement of the chosen layer while it is visible."""

    END = N_("All doubtful labels are reviewed.")

    def __init__(self, context: PanelContext) -> None:
        super().__init__(context)
        self.layers: tuple[Layer, ...] = ()
        self._layer: Layer | None = None
        self.models: tuple[tuple[str, str], ...] = ()
        self.ranking: SuspectRanking | None = None
        self.share: float | None = None  # of a running measurement; None if there is none
        self._stale = True

    def follow(self) -> None:
        if self._on and self._stale:
            self._load()

    def project_changed(self, changes: Changes) -> None:
        """Called by the page. Own decisions are shown at once, without another ranking."""
        self.similar.project_changed(changes)
        relevant = changes.rows is None or any(map(changes.touches, (*LABELLED, *WHOLE)))
        own = changes.origin is self and not self.context.waiting(READING)
        if own or not relevant:
            return
        self._stale = True
        if self._on:
            self._load(undone=changes.origin is None)

    def _load(self, *, undone: bool = False) -> None:
        """undone: if this opens a label again, choose it."""
        self._stale = False
        self.update(layers=folds.measurable(self.project))
        names = {layer.name: layer for layer in self.layers}
        before = self.layer.name if self.layer is not None else ""
        layer = names.get(before) or next(iter(self.layers), None)
        self.update(layer=layer)
        self.context.drop(READING)
        if layer is None:
            self.update(ranking=None, items=(), shown=(), models=())
            return
        self.update(models=folds.models(self.project, layer))

        def done(ranking: SuspectRanking | None) -> None:
            self.update(ranking=ranking)
            self._take(ranking.suspects if ranking is not None else (), undone=undone)

        def failed(error: Exception) -> None:
            self.update(ranking=None, items=(), shown=())
            self.context.fail(error)

        work = partial(label_errors.ranking, self.project, layer)
        self.context.task(READING, work, done, failed=failed)

    def choose_layer(self, name: str) -> None:
        layer = next((layer for layer in self.layers if layer.name == name), None)
        self.update(layer=layer, ranking=None, items=None, shown=(), chosen=None, detail=None)
        self._load()

    # ---------------------------------------------------------------- measuring

    @property
    def can_measure(self) -> bool:
        return self.layer is not None and bool(self.models) and self.share is None

    @property
    def no_model(self) -> str:
        """Why nothing can predict the folds of the chosen layer, "" if something can."""
        return folds.no_model(self.layer) if self.layer is not None and not self.models else ""

    def measure(self, model: str, count: int) -> None:
        """Compute out-of-fold predictions for every document, in the background."""
        layer = self.layer
        if layer is None or not self.can_measure:
            return
        self.update(share=0.0, problem="")
        work = partial(
            folds.measure, self.project, self.context.queue, layer.name, model=model, folds=count
        )
        self.context.task(
            MEASURING, work, self._measured, failed=self._failed, progress=self._progressed
        )

    def cancel(self) -> None:
        self.context.drop(MEASURING)
        self._failed(Cancelled())

    def _progressed(self, watch: Watch) -> None:
        self.update(share=watch.share)

    def _measured(self, _measured: object) -> None:
        self.update(share=None, chosen=None)
        self._load()

    def _failed(self, error: Exception) -> None:
        self.update(share=None)
        if isinstance(error, Cancelled):
            self.context.note(_("Cancelled. The last measurement was kept."))
        elif isinstance(error, WorkbenchError):
            self.update(problem=str(error))
        else:
            self.context.fail(error)

    # ---------------------------------------------------------------- shown values

    @property
    def layer(self) -> Layer | None:
        return self._layer

    @layer.setter
    def layer(self, layer: Layer | None) -> None:
        self._layer = layer

    @property
    def task(self) -> str:
        """That of the predictions that the labels are compared with, or could be."""
        if self.ranking is not None:
            return self.ranking.measured.task
        fitting = tasks.fitting(self.layer) if self.layer is not None else ()
        return fitting[0].id if fitting else ""

    @property
    def can_decide(self) -> bool:
        item = self.item
        open_still = item is not None and item.verdict in ("", reviews.SKIPPED)
        return open_still and not self.project.read_only

    def _read(self, item: ReviewItem) -> Detail | None:
        if self.layer is None or self.ranking is None:
            return None
        stored = self.ranking.measured.predictions.get(item.document_id)
        answer = stored[1] if stored is not None else None
        return errors.detail_of(self.project, self.layer, item.document_id, answer)

    # ---------------------------------------------------------------- decisions

    def accept(self) -> None:
        """Change gold to the out-of-fold prediction, and continue."""
        self._decide(label_errors.change, reviews.CHANGED, _("Corrected the label of {key}."))

    def set_label(self, name: str) -> None:
        """Change gold to another label of the layer, and continue."""
        item = self.item
        if item is not None and name != item.mistake.gold:
            act = partial(label_errors.change, label=name)
            self._decide(act, reviews.CHANGED, _("Corrected the label of {key}."))

    def others(self) -> tuple[str, ...]:
        """The labels that gold can be changed to besides the answer; () where a place has several
        parts: spans are corrected in Annotate.
        """
        layer = self.layer
        if layer is None or not layer.traits.on_document or layer.traits.several:
            return ()
        return layer.names

    def set_label_at(self, place: int) -> None:
        """Change gold to the label at this place of the layer, from 0."""
        if 0 <= place < len(self.others()):
            self.set_label(self.others()[place])

    def keep(self) -> None:
        self._decide(label_errors.keep, reviews.KEPT, _("Gold labels of {key} unchanged."))

    def next(self) -> None:
        """Skip: decide later."""
        if self.can_decide:
            self._decide(label_errors.skip, reviews.SKIPPED, "")
        else:
            self._go_on()

    def _decided(self, item: ReviewItem, verdict: str) -> None:
        """Shown without another ranking."""
        review = Review(0, item.document_id, 0, verdict, item.mistake, None, "")
        done = replace(item, review=review)
        items = tuple(done if other is item else other for other in self.items or ())
        self.update(items=items, shown=items)
