"""The instant model while it is on: what it learns from, when it learns, and its answers. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.events import Signal
from workbench.base.i18n import _
from workbench.operations.annotation import instant, instant_curve, queue_orders
from workbench.operations.annotation.instant import WORDS, Answer, Learner, Sources, WordSource
from workbench.operations.annotation.instant_curve import CurvePoint
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.operations.annotation.queue_orders import QueueOrder
    from workbench.operations.inspecting.corpus_index import Need
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.text.labels import Layer
    from workbench.ui.panel import PanelContext

PREDICTED = 50  # documents at the beginning of the queue that it predicts
STRATEGY = "margin"  # needs fewest labels on TREC and about half of random on WNUT-17
OFF, INDEXING, STARTING, READY, FAILED = "off", "indexing", "starting", "ready", "failed"
SOURCES, VECTORS, LEARN = "instant-sources", "instant-vectors", "instant-learn"  # keys of tasks


class Instant:
    """`status`: OFF, INDEXING, STARTING, READY or FAILED. `changed()` is emitted with each change,
    `progressed()` with each report of the job that computes vectors.

    `order`, `labelled`, `score`, `tested`, `seconds`: as in the last `instant.Answer`; `answers`
    are its predictions, `chances` its tags, `classes` its classes.
    `vectors`: the model whose vectors these come from, or WORDS; `model`: the one that is wanted.
    `message`: why it failed, or why new documents have no vectors.
    """

    def __init__(self, context: PanelContext, layer: Layer):
        self.context, self.project, self.layer = context, opened(context), layer
        self.status, self.model, self.message = OFF, "", ""
        self.labelled, self.seconds = 0, 0.0
        self.order: QueueOrder | None = None
        self.answers: Mapping[int, Sequence[Sequence[Any]]] = {}
        self.chances: Mapping[tuple[int, int, int], tuple[tuple[int, float], ...]] = {}
        self.classes: Mapping[int, tuple[tuple[int, float], ...]] = {}
        self.vectors = WORDS
        self._curves: dict[str, tuple[CurvePoint, ...]] = {}  # by what it learns from
        self.score: float | None = None
        self.tested = 0
        self.strategy, self.share = STRATEGY, queue_orders.SHARE
        self.changed = Signal("instant.changed")
        self.progressed = Signal("instant.progressed")
        self._choice: InspectableModel | None = None
        self._learner: Learner | None = None
        self._texts: WordSource | None = None  # that the learner reads words from
        self._known: frozenset[tuple[int, str]] = frozenset()  # documents with vectors
        self._vectors_missing = False  # they are computed after the next answer
        self._watch: Watch | None = None  # of the job that computes them
        self._look_again = False
        self._changed: set[int] | None = None  # documents with other labels; None: all
        self._open: tuple[int, ...] = (-1,)  # the open document and some that follow it
        self._then: Callable[[], None] | None = None  # after an answer for all documents
        self._again = False

    # ------------------------------------------------------------ what it learns from

    def start(self, model: InspectableModel) -> None:
        """Learn from what is labelled: from words, until the vectors are computed."""
        in_text = self.layer.traits.in_text
        both = _("{model} + words", model=model.title)
        self.model, self._choice = model.title if in_text else both, model
        self._curves = {
            vectors: instant_curve.kept(self.project, self.layer, vectors)
            for vectors in (WORDS, self.model)
        }
        self._become(INDEXING)
        self._look()

    def documents_changed(self) -> None:
        """Compute vectors again if there are new documents or texts; it continues meanwhile."""
        if self._learner is not None or self._looking or self.indexing:
            self._look()

    @property
    def _looking(self) -> bool:
        return self.context.waiting(SOURCES)

    @property
    def _learns_from_words(self) -> bool:
        """Whether the process has no vectors; `vectors` is of its last answer."""
        return self._learner is None or self._learner.vectors == WORDS

    def _look(self) -> None:
        """Compare the documents with those that have vectors."""
        if self._looking or self.indexing or self._vectors_missing or self._choice is None:
            self._look_again = True
            return
        self._look_again = False
        look = partial(
            instant.sources,
            self.project,
            self.layer,
            self._choice,
            self._known,
            learns_from_words=self._learns_from_words,
        )
        self.context.task(SOURCES, look, self._take_sources, failed=self._without_vectors)

    def _take_sources(self, sources: Sources | None) -> None:
        if sources is None:
            if self._look_again:
                self._look()
            return
        self._known, self._texts = sources.documents, sources.texts
        if sources.need.ready:
            self._take_vectors(sources.need)
            return
        self._vectors_missing = True
        if self._learns_from_words:
            self._learn_from(WORDS, None)
        else:
            self._compute()

    def _compute(self) -> None:
        """Compute vectors that are missing, once there is an answer from words."""
        if not self._vectors_missing or self._choice is None:
            return
        self._vectors_missing, self._watch = False, None
        compute = partial(
            instant.compute_vectors, self.project, self.context.queue, self.layer, self._choice
        )
        self.context.task(
            VECTORS,
            compute,
            self._take_vectors,
            failed=self._without_vectors,
            progress=self._report,
        )
        self.changed.emit()

    def _report(self, watch: Watch) -> None:
        self._watch = watch
        self.progressed.emit()

    @property
    def indexing(self) -> bool:
        """Whether vectors are computed."""
        return self.context.waiting(VECTORS)

    @property
    def computed(self) -> float:
        """The fraction of the vectors that is computed, while they are."""
        progress = self._watch.progress if self._watch is not None else {}
        return float(progress.get("done", 0) / max(1, progress.get("total", 0)))

    @property
    def waits_for(self) -> str:
        """The job that the one that computes vectors waits for, "" if none."""
        return self._watch.behind if self._watch is not None and self.indexing else ""

    @property
    def seconds_left(self) -> float | None:
        """Until the vectors are computed; None before the first ones."""
        return self._watch.progress.get("seconds_left") if self._watch is not None else None

    def _take_vectors(self, index: Need) -> None:
        if index.ready:
            if self.layer.traits.in_text:
                self._texts = None
            self._learn_from(self.model, index)
        if self._look_again:
            self._look()

    def _without_vectors(self, error: Exception) -> None:
        """It continues with the vectors or words that it has, if any."""
        self.message = str(error)
        self._become(self.status if self._learner is not None else FAILED)

    def _learn_from(self, vectors: str, index: Need | None) -> None:
        """Start a process on these vectors, which learns from all labels again."""
        before, about = self._learner, index.files.about if index is not None else None
        self.context.drop(LEARN)
        self._learner = Learner(self.context.queue, self.layer, vectors, about, self._texts)
        self._changed, self.message = None, ""
        if before is None:
            self._become(STARTING)
        else:
            before.close()
        self._learn()

    def _become(self, status: str) -> None:
        self.status = status
        self.changed.emit()

    def close(self) -> None:
        """End the process; what it has suggested is gone."""
        self.status = OFF
        for key in (SOURCES, VECTORS, LEARN):
            self.context.drop(key)
        if self._learner is not None:
            self._learner.close()
            self._learner = None
        self._texts = None

    # ------------------------------------------------------------ labels

    def labels_changed(self, ids: Iterable[int] | None) -> None:
        """Learn from changed documents; None: of all, as after a large change."""
        if self._learner is None:
            return
        if ids is None:
            self._changed = None
        elif self._changed is not None:
            self._changed |= set(ids)
        self._learn()

    def show(self, document_id: int | None, following: Iterable[int] = ()) -> None:
        """Predict this document as well, if it is not among the next ones of its order, and those
        that follow it in the queue.
        """
        before, self._open = self._open, (document_id or -1, *following)
        known = {before[0], -1, *self.answers}
        if self.order is not None and not known.issuperset(self._open[:2]):
            self._learn()

    def ask_for_all(self, then: Callable[[], None]) -> None:
        """Predict all unfinished documents, which `answers` then has, and call `then`."""
        self._then = then
        self._learn()

    def use(self, strategy: str, share: float) -> None:
        """Order by this strategy, with a share of control documents."""
        if (strategy, share) != (self.strategy, self.share):
            self.strategy, self.share = strategy, share
            self._learn()

    def _learn(self) -> None:
        """Learn from what has changed; if an answer is awaited, after it."""
        if self._learner is None or self.context.waiting(LEARN):
            self._again = True
            return
        self._again, changed, self._changed = False, self._changed, set()
        learn = partial(
            self._learner.learn,
            self.project,
            changed,
            strategy=self.strategy,
            share=self.share,
            first=PREDICTED if self._then is None else instant.ALL_DOCUMENTS,
            also=self._open,
        )
        answered = partial(self._answered, self._learner.vectors, self._then is not None)
        self.context.task(LEARN, learn, answered, failed=self._failed)

    def _answered(self, vectors: str, predicts_all: bool, answer: Answer) -> None:
        self.labelled = answer.labelled
        if answer.order is not None:
            self._take(vectors, answer)
        self._become(READY)
        self._compute()
        if predicts_all and self._then is not None:
            then, self._then = self._then, None
            then()
        if self._again:
            self._learn()

    def _failed(self, error: Exception) -> None:
        """It continues with what it has learned, if anything."""
        self._then, self.message = None, str(error)
        self._become(READY if self.order is not None else FAILED)
        self._compute()

    def _take(self, vectors: str, answer: Answer) -> None:
        self.vectors, self.order = vectors, answer.order
        self.answers, self.chances = answer.predictions, answer.tags
        self.classes = answer.classes
        self.score, self.tested, self.seconds = answer.score, answer.tested, answer.seconds
        if answer.agreement is not None or not self.points:
            point = CurvePoint(self.labelled, self.score, self.tested, answer.agreement)
            self._curves[vectors] = (*self.points, point)
            instant_curve.keep(self.project, self.layer, vectors, self.points)

    @property
    def points(self) -> tuple[CurvePoint, ...]:
        """The learning curve with what it last learned from: others are not comparable."""
        return self._curves.get(self.vectors, ())

    @property
    def model_name(self) -> str:
        """The model whose vectors are wanted, for display."""
        return (self._choice.name if self._choice is not None else "") or self.model
