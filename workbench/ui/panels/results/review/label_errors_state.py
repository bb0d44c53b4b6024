"""State of Label errors: doubtful gold labels of a layer, measured by folds, and their review."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.evaluation import errors, folds, label_errors, reviews
from workbench.operations.evaluation.errors import Detail
from workbench.operations.evaluation.label_errors import Suspect, SuspectRanking
from workbench.operations.evaluation.reviews import Review
from workbench.tasks import spec as tasks
from workbench.text.result_view import UNKNOWN
from workbench.ui.panels.results.review.similar import SimilarState
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.project.changes import Changes
    from workbench.text.labels import Layer
    from workbench.text.result_view import ResultView
    from workbench.ui.panel import PanelContext

FOLDS, CHOICES = folds.FOLDS, (3, 5, 10)
LABELLED = ("span", "mark", "state", "flag")
WHOLE = ("label", "layer", "document", "run")
MEASURING, READING = "measure-label-errors", "label-errors"  # keys of tasks
Identity = tuple[object, ...]


class LabelErrorsState(State):
    """Reads the last measurement of the chosen layer while it is visible."""

    can_inspect = False

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.project, self.context = opened(context), context
        self.layers: tuple[Layer, ...] = ()
        self.layer: Layer | None = None
        self.models: tuple[tuple[str, str], ...] = ()
        self.ranking: SuspectRanking | None = None
        self.suspects: tuple[Suspect, ...] = ()
        self.loaded = False
        self.share: float | None = None  # of a running measurement; None if there is none
        self.problem = ""
        self.chosen: Identity | None = None
        self.detail: Detail | None = None
        self.similar = SimilarState(context)
        self._on, self._stale = False, True

    def close(self) -> None:
        self.similar.close()
        super().close()

    def watch(self, on: bool) -> None:
        self._on = on
        if on and self._stale:
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
        closed = {suspect.identity for suspect in self.suspects if suspect.verdict}
        self.update(layers=folds.measurable(self.project))
        names = {layer.name: layer for layer in self.layers}
        before = self.layer.name if self.layer is not None else ""
        layer = names.get(before) or next(iter(self.layers), None)
        self.update(layer=layer)
        self.context.drop(READING)
        if layer is None:
            self.update(ranking=None, suspects=(), loaded=True, models=())
            return
        self.update(models=folds.models(self.project, layer))

        def done(ranking: SuspectRanking | None) -> None:
            suspects = ranking.suspects if ranking else ()
            self.update(ranking=ranking, suspects=suspects, loaded=True)
            opened = [item.identity for item in self.suspects if not item.verdict]
            again = [identity for identity in opened if undone and identity in closed]
            self.chosen = again[0] if again else self.chosen
            self._choose_open()

        def failed(error: Exception) -> None:
            self.update(ranking=None, suspects=(), loaded=True)
            self.context.fail(error)

        work = partial(label_errors.ranking, self.project, layer)
        self.context.task(READING, work, done, failed=failed)

    def _choose_open(self) -> None:
        known = {suspect.identity for suspect in self.suspects}
        if self.chosen in known:
            self.choose(self.chosen)
            return
        first = next((suspect for suspect in self.suspects if not suspect.verdict), None)
        first = first or next(iter(self.suspects), None)
        self.choose(first.identity if first is not None else None)

    def choose_layer(self, name: str) -> None:
        layer = next((layer for layer in self.layers if layer.name == name), None)
        self.update(layer=layer, ranking=None, suspects=(), loaded=False, chosen=None, detail=None)
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
    def item(self) -> Suspect | None:
        return next((suspect for suspect in self.suspects if suspect.identity == self.chosen), None)

    def count(self, *verdicts: str) -> int:
        """Number of labels with one of these verdicts; without any, of those reviewed."""
        if not verdicts:
            return sum(bool(suspect.verdict) for suspect in self.suspects)
        return sum(suspect.verdict in verdicts for suspect in self.suspects)

    @property
    def corrected(self) -> int:
        return self.count(reviews.CHANGED)

    @property
    def kept(self) -> int:
        return self.count(reviews.KEPT)

    @property
    def asks(self) -> bool:
        """Whether the labels are answers to questions."""
        return self.layer is not None and self.layer.traits.asks

    @property
    def view(self) -> ResultView:
        """How the predictions that the labels are compared with are shown."""
        if self.ranking is not None:
            return tasks.view_of(self.ranking.measured.task)
        fitting = tasks.fitting(self.layer) if self.layer is not None else ()
        return tasks.view_of(fitting[0].id) if fitting else UNKNOWN

    def same_confusion(self) -> list[Suspect]:
        item = self.item
        return errors.same_confusion(self.suspects, item) if item is not None else []

    @property
    def can_decide(self) -> bool:
        item = self.item
        open_still = item is not None and item.verdict in ("", reviews.SKIPPED)
        return open_still and not self.project.read_only

    def choose(self, identity: Identity | None) -> None:
        self.update(chosen=identity)
        item, layer, ranking = self.item, self.layer, self.ranking
        detail = None
        if item is not None and layer is not None and ranking is not None:
            prediction = ranking.measured.predictions.get(item.document_id)
            try:
                answer = prediction[1] if prediction is not None else None
                ordered = tasks.info(ranking.measured.task).ordered
                detail = errors.detail_of(
                    self.project, layer, item.document_id, answer, ordered=ordered
                )
            except KeyError:
                detail = None  # deleted meanwhile: the list is read again
        self.update(detail=detail)
        if ranking is not None:
            document = item.document_id if detail is not None and item is not None else None
            self.similar.follow(layer, ranking.measured.task, None, document)

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

    def _decide(self, act: Callable[..., None], verdict: str, message: str) -> None:
        item, layer = self.item, self.layer
        if item is None or layer is None or not self.can_decide:
            return

        def decide() -> bool:
            act(self.project, layer, item, origin=self)
            return True

        if not self.context.attempt(decide):
            return
        done = replace(item, review=Review(0, item.document_id, 0, verdict, item.mistake, None, ""))
        self.update(
            suspects=tuple(done if suspect is item else suspect for suspect in self.suspects)
        )
        if message:
            self.context.note(message.format(key=item.key), undo=True)
        self._go_on()

    def _go_on(self) -> None:
        places = [n for n, suspect in enumerate(self.suspects) if suspect.identity == self.chosen]
        at = places[0] + 1 if places else 0
        rest = (*self.suspects[at:], *self.suspects[:at])
        following = next((suspect for suspect in rest if not suspect.verdict), None)
        if following is None:
            self.context.note(_("All doubtful labels are reviewed."))
            self.choose(self.chosen)
        else:
            self.choose(following.identity)

    # ---------------------------------------------------------------- other pages

    def open(self) -> None:
        """Open the chosen label in Annotate at its place."""
        item = self.item
        if item is None:
            return
        args: dict[str, Any] = {}
        if self.detail is not None:
            args = errors.place_in_annotate(self.detail, item.mistake)
        self.context.go("annotate", document=item.document_id, **args)

    def inspect(self) -> None:
        """There is no run to inspect."""
