"""Predictions for the next documents of a queue, computed before they are opened.

They are stored as predictions of the run, not as suggestions: `live_suggestions` shows them with
the document, so that nothing enters the history before the user decides.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from workbench.base.errors import Cancelled
from workbench.base.events import Signal
from workbench.operations.annotation import queue_orders, suggest
from workbench.operations.runs import predict, train
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.queries import listing, unfinished
from workbench.storage.runs import runs
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.jobs.events import Event
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.storage.queries.listing import Filter
    from workbench.storage.runs.runs import Run
    from workbench.text.document import Document
    from workbench.text.labels import Layer

AHEAD = 20  # documents after the open one that are kept predicted
BATCH = 60  # documents that a job predicts, so that one starts for every 40 documents labelled
CHUNK = 500  # documents of the queue whose states are read at a time
FAR = 20  # chunks after which the search for unfinished documents ends
NEWEST = 0  # in place of the id of a run: the newest one of the layer
READING, PREDICTING = "preannotation-read", "preannotation-predict"  # keys of tasks
IDLE, WAITING, RUNNING, FAILED = "idle", "waiting", "running", "failed"


@dataclass(frozen=True)
class QueuePlace:
    """Where in the queue the user is: `ids` in order, and the open document.

    wanted: the filter of a queue in file order, where finished documents are left in; else None.
    """

    ids: Sequence[int]
    open: int | None
    wanted: Filter | None = None


@dataclass(frozen=True)
class Read:
    """What is known about the next documents of a run: their texts, and those without prediction.

    documents: the open one first if it is unfinished; at most BATCH. counts: of suggestions, of
    those documents whose were not counted before.
    """

    documents: tuple[Document, ...]
    missing: frozenset[int]
    counts: Mapping[int, int] = field(default_factory=dict)


def choices(project: Project, layer: Layer) -> tuple[Run, ...]:
    """The runs that can predict a layer, newest first."""
    return queue_orders.runs_for(project, layer)


def refused(project: Project, layer: Layer) -> dict[int, str]:
    """Id → reason of the runs of `choices` that cannot predict: ensembles that lack some runs."""
    from workbench.operations.runs import ensemble

    reasons = {run.id: ensemble.lacking(project, run) for run in choices(project, layer)}
    return {id: reason for id, reason in reasons.items() if reason}


def newest(project: Project, layer: Layer) -> Run | None:
    """The newest run that can predict a layer."""
    cannot = refused(project, layer)
    return next((run for run in choices(project, layer) if run.id not in cannot), None)


def resolved(project: Project, chosen: Mapping[int, int]) -> tuple[Run, ...]:
    """The chosen runs, by id of the layer; those that do not exist are left out."""
    members = []
    for layer in labels.layers(project.db):
        id = chosen.get(row_id(layer))
        fitting = choices(project, layer) if id not in (None, NEWEST) else ()
        run = next((run for run in fitting if id == run.id), None)
        run = newest(project, layer) if id == NEWEST else run
        if run is not None:
            members.append(run)
    return tuple(members)


def upcoming(project: Project, layer: Layer, place: QueuePlace, count: int) -> list[int]:
    """The open document and the next ones of the queue that are unfinished in the layer.

    The search ends FAR * CHUNK documents after the first unfinished one.
    """
    ids, first = place.ids, place.open
    if place.wanted is not None and first is not None:
        here = listing.ids(project.db, _unfinished(layer, [first]))
        if not here:
            first = unfinished.next_unlabelled(
                project.db, first, (row_id(layer),), filter=place.wanted
            )
    try:
        at = ids.index(first) if first is not None else 0
    except ValueError:  # the open document is not in the queue any more
        at = 0
    upcoming_ids: list[int] = []
    for start in range(at, min(len(ids), at + FAR * CHUNK), CHUNK):
        chunk = list(ids[start : start + CHUNK])
        is_open = set(listing.ids(project.db, _unfinished(layer, chunk)))
        upcoming_ids += [id for id in chunk if id in is_open]
        if len(upcoming_ids) >= count:
            break
    return upcoming_ids[:count]


def _unfinished(layer: Layer, ids: Sequence[int]) -> Filter:
    return replace(queue_orders.unfinished(layer), ids=ids)


class TaskRunner(Protocol):
    """Runs operations in threads and follows jobs, as the context of a panel does."""

    def task(
        self,
        key: Hashable,
        work: Callable[..., Any],
        done: Callable[[Any], None],
        *,
        failed: Callable[[Exception], None] | None = None,
    ) -> None: ...

    def drop(self, key: Hashable) -> None: ...

    def follow(self, what: None, on_event: Callable[[Job, Event], None]) -> Callable[[], None]: ...


class Preannotation:
    """Keeps the next documents of the queue predicted by `runs`; lives on the main thread.

    `status`: IDLE, WAITING (for a job that needs the device), RUNNING or FAILED, with `message`.
    `ready`: how many of the next `wanted` documents are predicted by every run; `wanted` is None
    until that is known.
    `counts`: document → how many suggestions the runs have for it, of those seen. `changed()` is
    emitted with each change. One job at a time.
    """

    def __init__(self, project: Project, queue: Queue, tasks: TaskRunner):
        self.project, self._queue, self._tasks = project, queue, tasks
        self.runs: tuple[Run, ...] = ()
        self.status, self.message = IDLE, ""
        self.ready = 0
        self.wanted: int | None = None
        self.counts: dict[int, int] = {}
        self.fresh: frozenset[int] = frozenset()  # documents whose count the last change has added
        self._counted: dict[int, dict[int, int]] = {}  # run → document → number
        self.changed = Signal("preannotation.changed")
        self._place: QueuePlace | None = None
        self._reading = self._again = self._closed = False
        self._listening: Callable[[], None] | None = None

    def use(self, runs: tuple[Run, ...]) -> None:
        """Predict with these runs from now on; an earlier failure is forgotten."""
        self._cancel()
        self.runs, self.status, self.message = runs, IDLE, ""
        self.ready, self.wanted = 0, None
        self.fresh, self.counts, self._counted = frozenset(self.counts), {}, {}
        if self._listening is None and runs:
            self._listening = self._tasks.follow(None, self._on_job_event)
        self.changed.emit()
        self._look()

    def follow(self, place: QueuePlace) -> None:
        """The user has moved, or the queue has changed."""
        self._place = place
        self._look()

    def retry(self) -> None:
        """Go on after a failure."""
        if self.status == FAILED:
            self.status, self.message = IDLE, ""
            self._look()

    def close(self) -> None:
        self._closed = True
        if self._listening is not None:
            self._listening()
        self._cancel()

    def _cancel(self) -> None:
        self._tasks.drop(PREDICTING)

    # ------------------------------------------------------------ what is missing

    def _look(self) -> None:
        """Read in the background what is missing; once more if the user moves meanwhile."""
        if self._closed or not self.runs or self._place is None:
            return
        if self._reading:
            self._again = True
            return
        self._reading, self._again = True, False
        place, chosen = self._place, self.runs
        known = {run.id: frozenset(self._counted.get(run.id, ())) for run in chosen}
        self._tasks.task(
            READING,
            lambda: [(run, _read(self.project, run, place, known[run.id])) for run in chosen],
            lambda counted: self._seen(chosen, counted),
            failed=lambda error: self._not_read(chosen, error),
        )

    def _is_outdated(self, chosen: tuple[Run, ...]) -> bool:
        """Whether something else is to be read than has been; then it is."""
        self._reading = False
        if self._closed:
            return True
        if outdated := self._again or chosen is not self.runs:
            self._look()
        return outdated

    def _not_read(self, chosen: tuple[Run, ...], error: Exception) -> None:
        if not self._is_outdated(chosen):
            self._fail(error)

    def _seen(self, chosen: tuple[Run, ...], counted: list[tuple[Run, Read]]) -> None:
        if self._is_outdated(chosen):
            return
        self._count(counted)
        known = [_ready(read) for _run, read in counted]
        self.ready = min((ready for ready, _wanted in known), default=0)
        self.wanted = max((total for _ready, total in known), default=0)
        short = [
            (run, read)
            for (run, read), (ready, total) in zip(counted, known, strict=True)
            if ready < total
        ]
        if self.status in (IDLE, WAITING):
            self._begin(short)
        self.changed.emit()

    def _count(self, counted: Sequence[tuple[Run, Read]]) -> None:
        self.fresh = frozenset(id for _run, read in counted for id in read.counts)
        for run, read in counted:
            self._counted.setdefault(run.id, {}).update(read.counts)
        for id in self.fresh:
            self.counts[id] = sum(counts.get(id, 0) for counts in self._counted.values())

    def _begin(self, short: Sequence[tuple[Run, Read]]) -> None:
        """Predict with the first run that lacks predictions, unless its device is needed."""
        if not short:
            self.status = IDLE
            return
        run, read = short[0]
        if _is_needed(self._queue, run):
            self.status = WAITING
            return
        self.status = RUNNING
        missing = [document for document in read.documents if document.id in read.missing]
        work = partial(
            predict.predictions, self.project, self._queue, run, missing, forget=True
        )  # the list of jobs would grow with every few documents
        self._tasks.task(PREDICTING, work, self._predicted, failed=self._fail)

    def _predicted(self, _answers: object) -> None:
        self.status = IDLE
        self._look()

    def _fail(self, error: Exception) -> None:
        self.status, self.message = FAILED, str(error)
        if isinstance(error, Cancelled):
            self.message = ""
        self.changed.emit()

    def _on_job_event(self, _job: Job, _event: Event) -> None:
        """A job has ended or begun: the device may be free now."""
        if self.status == WAITING and not any(_is_needed(self._queue, run) for run in self.runs):
            self._look()


def _is_needed(queue: Queue, run: Run) -> bool:
    """Whether a training waits for the device of a run, or has an accelerator to itself."""
    device = train.queue_device(train.wanted_device(predict.device_of(run)))
    long = [
        job
        for job in queue.jobs
        if not job.over and job.spec.device == device and not job.spec.short
    ]
    return any(job.status == "waiting" or device != "cpu" for job in long)


def _read(project: Project, run: Run, place: QueuePlace, counted: frozenset[int]) -> Read:
    """The next documents of a run, and which of them it has not predicted.

    counted: documents whose suggestions are not counted again.
    """
    run = runs.get(project.db, run.id)
    layer = next((layer for layer in labels.layers(project.db) if layer.id == run.layer_id), None)
    if layer is None:
        return Read((), frozenset())
    ids = upcoming(project, layer, place, BATCH)
    by_id = {
        row_id(record.document): record
        for record in documents.records(project.db, layers=(layer.name,), ids=ids)
        if record.document.text.strip()
    }
    read_documents = tuple(by_id[id].document for id in ids if id in by_id)
    have = runs.predicted(project.db, run.id, by_id)
    missing = frozenset(
        row_id(document)
        for document in read_documents
        if have.get(row_id(document)) != document.asked_hash
    )
    fresh = [document for document in read_documents if row_id(document) not in missing | counted]
    answers = predict.stored(project, run, fresh) if fresh else {}
    counts = {
        id: len(suggest.rows_of(project, run, layer, by_id[id], answer))
        for id, answer in answers.items()
    }
    return Read(read_documents, missing, counts)


def _ready(read: Read) -> tuple[int, int]:
    """How many of the first AHEAD documents are predicted without a gap, and how many there are."""
    first = [row_id(document) for document in read.documents[:AHEAD]]
    gap = next((at for at, id in enumerate(first) if id in read.missing), len(first))
    return gap, len(first)
