"""The instant model of a layer: vectors of a pretrained model, and a process that learns from them.

It lives on the main thread; reading documents and computing vectors go to the background.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.events import Signal
from workbench.base.i18n import _, ngettext
from workbench.jobs.spec import JobSpec
from workbench.operations import corpus_index, queue_orders
from workbench.operations.queue_orders import Order
from workbench.storage import documents
from workbench.storage.values import now
from workbench.text.labels import MARKS, TOKENS, Layer
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.jobs.host import Host
    from workbench.jobs.queue import Job, Queue
    from workbench.operations.background import Background
    from workbench.operations.inspect import Choice
    from workbench.project.project import Project
    from workbench.text.dataset import Record

TARGET = "workbench.active.instant:serve"
LEAST = 10  # labelled documents, as `active.instant` asks
SHOWN = 50  # documents at the beginning of the queue that it predicts
STRATEGY = "margin"  # needs fewest labels on TREC and about half of random on WNUT-17
OFF, INDEXING, STARTING, READY, FAILED = "off", "indexing", "starting", "ready", "failed"
STABLE, POINTS = 0.99, 3  # agreement at so many points that predictions are called stable
GAIN = 0.01  # of the score over these points below which it is called level


@dataclass(frozen=True)
class Point:
    """What was measured after so many labels. score: on `tested` held-out labels, or None.

    agreement: Cohen's kappa with the predictions of the point before.
    """

    labels: int
    score: float | None
    tested: int
    agreement: float | None


def score_name(layer: Layer) -> str:
    """What `Instant.score` is, for display."""
    if layer.traits.in_text and layer.traits.editor != TOKENS:
        return _("Span F1")
    return _("Micro F1") if layer.traits.several else _("Accuracy")


def fits(layer: Layer) -> bool:
    """Whether the instant model can learn a layer: classes, spans and tags of single texts."""
    kind = layer.traits
    return (
        layer.texts == 1
        and kind.takes_labels
        and (kind.in_text or kind.record == MARKS)
        and not kind.in_choices
    )


class Instant:
    """`status`: OFF, INDEXING, STARTING, READY or FAILED. `changed()` is emitted with each change.

    `order`: of the unlabelled documents. `answers`: document id → predicted labels, see
    `active.instant`. `labelled`: documents it has learned from. `seconds`: of the last training.
    """

    def __init__(self, project: Project, queue: Queue, layer: Layer, background: Background):
        self.project, self.layer = project, layer
        self.status, self.model = OFF, ""
        self.labelled, self.seconds = 0, 0.0
        self.order: Order | None = None
        self.answers: Mapping[int, Sequence[Sequence[Any]]] = {}
        self.points: tuple[Point, ...] = ()
        self.score: float | None = None
        self.tested = 0
        self.strategy, self.share = STRATEGY, queue_orders.SHARE
        self.changed = Signal("instant.changed")
        self._queue, self._background = queue, background
        self._host: Host | None = None
        self._job: Job | None = None
        self._unsent: dict[int, Any] = {}
        self._dev: list[int] = []
        self._open = -1
        self._asking = self._again = False

    # ------------------------------------------------------------ starting

    def start(self, model: Choice) -> None:
        """Compute the vectors unless they exist, then learn from what is labelled."""
        self.model = model.title
        self._become(INDEXING)
        project = self.project
        of = corpus_index.of_words if self.layer.traits.in_text else corpus_index.of_documents

        def prepare() -> Any:
            found = of(project, model)
            return found if found.ready else corpus_index.prepare(project, found)

        def prepared(found: Any, error: Exception | None) -> None:
            if error is not None or self.status == OFF:
                self._failed(error)
            elif isinstance(found, corpus_index.Need):
                self._indexed(found, None)
            else:
                self._job = corpus_index.start(self._queue, found, self._indexed)

        self._background(prepare, prepared)

    def _indexed(self, found: corpus_index.Need | None, error: Exception | None) -> None:
        self._job = None
        if error is not None or found is None or self.status == OFF:
            self._failed(error)
            return
        from workbench.jobs.host import Host

        kind = self.layer.traits
        params = {
            "index": str(found.files.about),
            "labels": list(self.layer.names),
            "words": kind.in_text,
            "several": kind.several and not kind.in_text,
            "single": kind.editor == TOKENS,
        }
        spec = JobSpec(TARGET, params, title=_("Instant model"))
        self._host = Host(spec, dispatch=self._queue.dispatch)
        self._become(STARTING)
        self._background(self._every_label, self._labels_read)

    def _every_label(self) -> tuple[dict[int, Any], list[int]]:
        name = self.layer.name
        found = list(documents.records(self.project.db, layers=(name,), submitted_in=name))
        dev = [row_id(one.document) for one in found if one.document.split == "dev"]
        return {row_id(one.document): gold_of(self.layer, one) for one in found}, dev

    def _labels_read(
        self, found: tuple[dict[int, Any], list[int]] | None, error: Exception | None
    ) -> None:
        if error is not None or found is None or self.status == OFF:
            self._failed(error)
            return
        self._unsent, self._dev = {**found[0], **self._unsent}, found[1]
        self._ask()

    def _failed(self, error: Exception | None) -> None:
        if self.status != OFF and error is not None:
            self.message = str(error)
            self._become(FAILED)

    message = ""  # why it failed

    def _become(self, status: str) -> None:
        self.status = status
        self.changed.emit()

    def close(self) -> None:
        """End the process; what it has suggested is gone."""
        self.status = OFF
        if self._job is not None and not self._job.over:
            self._job.cancel()
        if self._host is not None:
            self._host.close()
            self._host = None

    # ------------------------------------------------------------ labels

    def labels_changed(self, ids: Iterable[int] | None) -> None:
        """Learn from changed documents; None: of all, as after a large change."""
        if self._host is None:
            return
        if ids is None:
            self._background(self._every_label, self._labels_read)
            return
        name = self.layer.name
        changed = set(ids)
        for one in documents.records(self.project.db, layers=(name,), ids=changed):
            id = row_id(one.document)
            state = one.states.get(name)
            known = gold_of(self.layer, one) if state == "submitted" else None
            self._unsent[id] = False if state == "discarded" else known
            if known and one.document.split == "dev" and id not in self._dev:
                self._dev.append(id)
        if changed & self._unsent.keys():
            self._ask()

    def show(self, document_id: int | None) -> None:
        """Predict this document as well, if it is not among the next ones."""
        before, self._open = self._open, document_id or -1
        if self.order is not None and self._open not in (before, -1, *self.answers):
            self._ask()

    def use(self, strategy: str, share: float) -> None:
        """Order by this strategy, with a share of control documents."""
        if (strategy, share) != (self.strategy, self.share):
            self.strategy, self.share = strategy, share
            self._ask()

    def _ask(self) -> None:
        """Send what has changed; if an answer is awaited, after it."""
        if self._asking or self._host is None:
            self._again = True
            return
        self._asking, self._again = True, False
        sent, self._unsent = self._unsent, {}
        request = {
            "gold": {str(id): labels for id, labels in sent.items()},
            "dev": self._dev,
            "strategy": self.strategy,
            "share": self.share,
            "seed": 1,
            "show": SHOWN,
            "also": [self._open],
        }
        self._host.ask("instant", request, self._answered)

    def _answered(self, found: Any, error: Exception | None) -> None:
        self._asking = False
        if error is not None:
            self._failed(error)
            return
        self.labelled = int(found["labelled"])
        if "ids" in found:
            self._take(found)
        self._become(READY)
        if self._again:
            self._ask()

    def _take(self, found: Mapping[str, Any]) -> None:
        order = Order(self.strategy, row_id(self.layer), _("instant model"), self.share, 1, now())
        self.order = queue_orders.filled(order, found["ids"], found["scores"], found["control"])
        self.answers = {int(id): rows for id, rows in found["answers"].items()}
        self.seconds, self.score = float(found["seconds"]), found["score"]
        self.tested = int(found["tested"])
        last = self.points[-1] if self.points else None
        if found["agreement"] is not None or last is None:
            point = Point(self.labelled, self.score, self.tested, found["agreement"])
            self.points = (*self.points, point)


def gold_of(layer: Layer, record: Record) -> list[Any] | bool | None:
    """Labels of a submitted document as the process reads them; None if it has none.

    False for a document of test: it is finished, but not learned from.
    """
    if record.document.split == "test":
        return False
    number = {name: at for at, name in enumerate(layer.names)}
    if layer.traits.in_text:
        field = record.document.fields[0]
        return [
            [span.start, span.end, number[span.label]]
            for span in record.spans.get(layer.name, ())
            if span.field == field and span.label in number
        ]
    found = [number[name] for name in record.marks.get(layer.name, ()) if name in number]
    return found if found or layer.traits.empty_is_answer else None


# ---------------------------------------------------------------- advice


def advice(points: Sequence[Point]) -> str:
    """Whether more labels are likely to help, in a sentence.

    Predictions that no longer change are the sign (Bloodgood and Vijay-Shanker 2009, kappa of at
    least 0.99 at three points); the score on held-out labels confirms it.
    """
    known = [one for one in points if one.agreement is not None]
    if len(known) < POINTS:
        missing = POINTS - len(known)
        return ngettext(
            "Too early to say: {n} more point is needed, one for every 10 labels.",
            "Too early to say: {n} more points are needed, one for every 10 labels.",
            missing,
        ).format(n=missing)
    last = known[-POINTS:]
    stable = all((one.agreement or 0.0) >= STABLE for one in last)
    scores = [one.score for one in last if one.score is not None]
    level = len(scores) < 2 or scores[-1] - scores[0] < GAIN
    if stable and level:
        return _(
            "More labels are unlikely to help this model: its predictions have stopped changing."
        )
    if stable:
        return _("Go on: predictions hardly change, but the score on held-out labels still rises.")
    if level:
        return _("Go on: predictions still change, though the score is level.")
    return _("Go on: the score still rises with each label.")
