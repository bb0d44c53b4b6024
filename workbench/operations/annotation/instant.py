"""The instant model of a layer: vectors of the documents, and a process that learns from them.

Until the vectors of a pretrained model are computed it learns from words (`active.word_features`),
of documents also beside the vectors.
It lives on the main thread; reading documents and computing vectors go to the background.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import scratch
from workbench.base.events import Signal
from workbench.base.i18n import _
from workbench.base.latest import Latest
from workbench.jobs.spec import JobSpec
from workbench.operations.annotation import instant_curve, queue_orders
from workbench.operations.annotation.instant_curve import Point
from workbench.operations.annotation.queue_orders import Order
from workbench.operations.inspecting import corpus_index
from workbench.storage.documents import documents
from workbench.storage.schema.values import now
from workbench.text.labels import MARKS, TOKENS, Layer
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.jobs.host import Host
    from workbench.jobs.queue import Job, Queue
    from workbench.operations.application.background import Background
    from workbench.operations.inspecting.inspect import Choice
    from workbench.project.project import Project
    from workbench.text.dataset import Record

TARGET = "workbench.active.instant:serve"
MIN_LABELLED_DOCUMENTS = 10  # labelled documents, as `active.instant` asks
# Its matrices are small: on a busy machine, threads that wait for each other took 20 times the
# processor time of one.
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
EVERY = 1 << 30  # documents: all
SHOWN = 50  # documents at the beginning of the queue that it predicts
STRATEGY = "margin"  # needs fewest labels on TREC and about half of random on WNUT-17
WORDS = ""  # in place of the name of a model: it learns from words
OFF, INDEXING, STARTING, READY, FAILED = "off", "indexing", "starting", "ready", "failed"


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
    """`status`: OFF, INDEXING, STARTING, READY or FAILED. `changed()` is emitted with each change,
    `progressed()` with each report of the job that computes vectors.

    `order`: of the unlabelled documents. `answers`: document id → predicted labels, see
    `active.instant`. `chances`: (document, start, end) of a word of the open document → the most
    probable tags (number of the label, probability). `classes`: document id → the most probable
    classes, in the same way. `labelled`: documents it has learned from. `seconds`: of the last
    training.
    `vectors`: the model whose vectors these come from, or WORDS; `model`: the one that is wanted.
    """

    def __init__(self, project: Project, queue: Queue, layer: Layer, background: Background):
        self.project, self.layer = project, layer
        self.status, self.model = OFF, ""
        self.labelled, self.seconds = 0, 0.0
        self.order: Order | None = None
        self.answers: Mapping[int, Sequence[Sequence[Any]]] = {}
        self.chances: Mapping[tuple[int, int, int], tuple[tuple[int, float], ...]] = {}
        self.classes: Mapping[int, tuple[tuple[int, float], ...]] = {}
        self.vectors = WORDS
        self._curves: dict[str, tuple[Point, ...]] = {}  # by what it learns from
        self.score: float | None = None
        self.tested = 0
        self.strategy, self.share = STRATEGY, queue_orders.SHARE
        self.changed = Signal("instant.changed")
        self.progressed = Signal("instant.progressed")
        self._queue, self._background = queue, background
        self._host: Host | None = None
        self._learns_from = WORDS  # what the process does; `vectors` is of its last answer
        self._next: corpus_index.PreparedIndex | None = None  # vectors to compute
        self._texts: Path | None = None  # that the process reads words from
        self._job: Job | None = None
        self._unsent: dict[int, Any] = {}
        self._told: frozenset[int] = frozenset()  # documents whose labels the process has
        self._dev: list[int] = []
        self._open: tuple[int, ...] = (-1,)  # the open document and some that follow it
        self._then: Callable[[], None] | None = None  # after an answer for all documents
        self._sent_all = False
        self._asking = self._again = False
        self._choice: Choice | None = None
        self._known: frozenset[tuple[int, str]] = frozenset()  # documents with vectors
        self._looking = self._look_again = False
        self._reading = Latest()  # of the labels of all documents
        self._meanwhile: dict[int, Any] = {}  # labels that have changed while they are read

    # ------------------------------------------------------------ starting

    def start(self, model: Choice) -> None:
        """Learn from what is labelled: from words, until the vectors are computed."""
        in_text = self.layer.traits.in_text
        both = _("{model} + words").format(model=model.title)
        self.model, self._choice = model.title if in_text else both, model
        self._curves = {
            vectors: instant_curve.kept(self.project, self.layer, vectors)
            for vectors in (WORDS, model.title)
        }
        self._become(INDEXING)
        self._look()

    def documents_changed(self) -> None:
        """Compute vectors again if there are new documents or texts; it continues meanwhile."""
        if self._host is not None or self._looking or self._job is not None:
            self._look()

    def _look(self) -> None:
        """Compare the documents with those that have vectors."""
        if self._looking or self._job or self._next or self._choice is None:
            self._look_again = True
            return
        self._looking, self._look_again = True, False
        project, model, known = self.project, self._choice, self._known
        of = corpus_index.of_words if self.layer.traits.in_text else corpus_index.of_documents
        with_words = self._learns_from == WORDS or not self.layer.traits.in_text

        def prepare() -> Any:
            there = frozenset(documents.text_hashes(project.db))
            if known and there <= known:
                return None
            index = of(project, model)
            need = index if index.ready else corpus_index.prepare(project, index)
            return there, need, corpus_index.texts_of(project, need) if with_words else None

        def prepared(answer: Any, error: Exception | None) -> None:
            self._looking = False
            if self.status == OFF and answer is not None:
                _there, need, texts = answer
                if texts is not None:
                    scratch.remove(texts.parent)
                if isinstance(need, corpus_index.PreparedIndex):
                    corpus_index.discard(need)
            elif error is not None:
                self._without_vectors(error)
            elif answer is not None:
                self._known, need, texts = answer
                self._use_texts(texts)
                if isinstance(need, corpus_index.Need):
                    self._indexed(need, None)
                else:
                    self._next = need
                    if self._learns_from == WORDS:
                        self._learn_from(WORDS, {})
                    else:
                        self._compute()
            elif self._look_again:
                self._look()

        self._background(prepare, prepared)

    def _compute(self) -> None:
        """Compute vectors in a job that delays no other, once there is an answer from words."""
        if self._next is None:
            return
        need, self._next = self._next, None
        self._job = corpus_index.start(self._queue, need, self._indexed, background=True)
        if self._job is not None:
            self._job.changed.connect(self._heard)
        self.changed.emit()

    def _heard(self, _event: object) -> None:
        if self.indexing:
            self.progressed.emit()

    @property
    def indexing(self) -> bool:
        """Whether vectors are computed."""
        return self._job is not None and not self._job.over

    @property
    def computed(self) -> float:
        """The fraction of the vectors that is computed, while they are."""
        progress = self._job.progress if self._job is not None else {}
        return float(progress.get("done", 0) / max(1, progress.get("total", 0)))

    @property
    def waits_for(self) -> str:
        """The job that the one that computes vectors waits for, "" if none."""
        return self._job.behind if self._job is not None and not self._job.over else ""

    @property
    def seconds_left(self) -> float | None:
        """Until the vectors are computed; None before the first ones."""
        return self._job.progress.get("seconds_left") if self._job is not None else None

    def _indexed(self, index: corpus_index.Need | None, error: Exception | None) -> None:
        self._job = None
        if error is not None or index is None or self.status == OFF:
            self._without_vectors(error)
            return
        if self.layer.traits.in_text:
            self._use_texts(None)
        self._learn_from(self.model, {"index": str(index.files.about)})
        if self._look_again:
            self._look()

    def _without_vectors(self, error: Exception | None) -> None:
        """It continues with the vectors or words that it has, if any."""
        if self.status != OFF and error is not None:
            self.message = str(error)
            self._become(self.status if self._host is not None else FAILED)

    def _learn_from(self, vectors: str, sources: Mapping[str, str]) -> None:
        """Start a process on these vectors, which learns from all labels again."""
        from workbench.jobs.host import Host

        before, kind = self._host, self.layer.traits
        params = {
            **sources,
            **({"texts": str(self._texts)} if self._texts is not None else {}),
            "labels": list(self.layer.names),
            "words": kind.in_text,
            "several": kind.several and not kind.in_text,
            "single": kind.editor == TOKENS,
        }
        spec = JobSpec(TARGET, params, title=_("Instant model"), env=ONE_THREAD)
        self._host, self._asking = Host(spec, dispatch=self._queue.dispatch), False
        self._host.start()  # it loads while the labels are read
        self._told, self._learns_from, self.message = frozenset(), vectors, ""
        if before is None:
            self._become(STARTING)
        else:
            before.close()
        self._read_labels()

    def _use_texts(self, texts: Path | None) -> None:
        """Read words from this file from now on, and delete the one before."""
        if self._texts is not None:
            scratch.remove(self._texts.parent)
        self._texts = texts

    def _every_label(self) -> tuple[dict[int, Any], list[int]]:
        db, name = self.project.db, self.layer.name
        records = list(documents.records(db, layers=(name,), submitted_in=name))
        dev = [row_id(record.document) for record in records if record.document.split == "dev"]
        drafts = documents.Filter(layer_id=row_id(self.layer), state="draft")
        records += documents.records(db, layers=(name,), ids=documents.ids(db, drafts))
        fitting = set(documents.ids(db, documents.Filter(texts=self.layer.texts)))
        others = [id for id, _hash in documents.text_hashes(db) if id not in fitting]
        known = {row_id(record.document): gold_of(self.layer, record) for record in records}
        return {**dict.fromkeys(others, False), **known}, dev

    def _read_labels(self) -> None:
        """Learn from the labels of all documents as they are now."""
        ticket, self._meanwhile = self._reading.begin(), {}
        self._background(
            self._every_label, lambda labels, error: self._labels_read(ticket, labels, error)
        )

    def _labels_read(
        self,
        ticket: object,
        labels: tuple[dict[int, Any], list[int]] | None,
        error: Exception | None,
    ) -> None:
        if not self._reading.ends(ticket):
            return  # they are read again
        if error is not None or labels is None or self.status == OFF:
            self._failed(error)
            self._compute()
            return
        dev = set(self._dev) & self._meanwhile.keys()
        lost = dict.fromkeys(self._told - labels[0].keys())
        self._unsent = {**lost, **labels[0], **self._meanwhile}
        self._dev = [*labels[1], *sorted(dev.difference(labels[1]))]
        self._ask()

    def _failed(self, error: Exception | None) -> None:
        """It continues with the vectors that it has, if any."""
        if self.status != OFF and error is not None:
            self.message = str(error)
            self._become(READY if self._host is not None and self.order is not None else FAILED)

    message = ""  # why it failed, or why new documents have no vectors

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
        if self._next is not None:
            corpus_index.discard(self._next)
            self._next = None
        self._use_texts(None)

    # ------------------------------------------------------------ labels

    def labels_changed(self, ids: Iterable[int] | None) -> None:
        """Learn from changed documents; None: of all, as after a large change."""
        if self._host is None:
            return
        if ids is None:
            self._read_labels()
            return
        name = self.layer.name
        changed = set(ids)
        for record in documents.records(self.project.db, layers=(name,), ids=changed):
            id = row_id(record.document)
            state = record.states.get(name)
            self._unsent[id] = False if state == "discarded" else gold_of(self.layer, record)
            is_gold = state == "submitted" and self._unsent[id]
            if is_gold and record.document.split == "dev" and id not in self._dev:
                self._dev.append(id)
        if self._reading.waiting:
            self._meanwhile |= {id: self._unsent[id] for id in changed & self._unsent.keys()}
        if changed & self._unsent.keys():
            self._ask()

    def show(self, document_id: int | None, following: Iterable[int] = ()) -> None:
        """Predict this document as well, if it is not among the next ones of its order, and those
        that follow it in the queue.
        """
        before, self._open = self._open, (document_id or -1, *following)
        known = {before[0], -1, *self.answers}
        if self.order is not None and not known.issuperset(self._open[:2]):
            self._ask()

    def ask_for_all(self, then: Callable[[], None]) -> None:
        """Predict all unfinished documents, which `answers` then has, and call `then`."""
        self._then = then
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
        gone = {id for id, labels in sent.items() if labels is None}
        self._told = (self._told | sent.keys()) - gone
        request = {
            "gold": {str(id): labels for id, labels in sent.items()},
            "dev": self._dev,
            "strategy": self.strategy,
            "share": self.share,
            "seed": 1,
            "show": SHOWN if self._then is None else EVERY,
            "also": list(self._open),
        }
        host, self._sent_all = self._host, self._then is not None
        host.ask("instant", request, lambda answer, error: self._answered(host, answer, error))

    def _answered(self, host: Host, answer: Any, error: Exception | None) -> None:
        if host is not self._host:
            return  # it has been replaced by one with the new documents
        self._asking = False
        if error is not None:
            self._then = None
            self._failed(error)
            self._compute()
            return
        self.labelled = int(answer["labelled"])
        if "ids" in answer:
            self._take(answer)
        self._become(READY)
        self._compute()
        if self._sent_all and self._then is not None:
            then, self._then = self._then, None
            then()
        if self._again:
            self._ask()

    def _take(self, answer: Mapping[str, Any]) -> None:
        self.vectors = self._learns_from
        order = Order(self.strategy, row_id(self.layer), self.source, self.share, 1, now())
        self.order = queue_orders.filled(order, answer["ids"], answer["scores"], answer["control"])
        self.answers = {int(id): rows for id, rows in answer["answers"].items()}
        self.chances = {
            (int(id), start, end): tuple((int(label), float(score)) for label, score in best)
            for id, words in answer["chances"].items()
            for start, end, best in words
        }
        self.classes = {
            int(id): tuple((int(label), float(score)) for label, score in best)
            for id, best in answer["classes"].items()
        }
        self.seconds, self.score = float(answer["seconds"]), answer["score"]
        self.tested = int(answer["tested"])
        last = self.points[-1] if self.points else None
        if answer["agreement"] is not None or last is None:
            point = Point(self.labelled, self.score, self.tested, answer["agreement"])
            self._curves[self.vectors] = (*self.points, point)
            instant_curve.keep(self.project, self.layer, self.vectors, self.points)

    @property
    def points(self) -> tuple[Point, ...]:
        """The learning curve with what it last learned from: others are not comparable."""
        return self._curves.get(self.vectors, ())

    @property
    def model_name(self) -> str:
        """The model whose vectors are wanted, for display."""
        return (self._choice.name if self._choice is not None else "") or self.model

    @property
    def source(self) -> str:
        """What its predictions come from, for display."""
        return _("instant model") if self.vectors != WORDS else _("instant model (words)")


def gold_of(layer: Layer, record: Record) -> list[Any] | dict[str, list[Any]] | bool | None:
    """Labels of a document as the process reads them; None if there is nothing to learn.

    False for a submitted document of test: it is finished, but not learned from; and for a document
    that the layer is not for. Drafts are learned from with what they have, unless they are measured
    on.
    """
    if record.document.form != layer.texts:
        return False
    state, split = record.states.get(layer.name), record.document.split
    if state == "submitted":
        return False if split == "test" else _labels_of(layer, record)
    if state != "draft" or split in ("test", "dev"):
        return None
    labels = _labels_of(layer, record)
    return {"draft": labels} if labels else None


def _labels_of(layer: Layer, record: Record) -> list[Any] | None:
    number = {name: at for at, name in enumerate(layer.names)}
    if layer.traits.in_text:
        field = record.document.fields[0]
        return [
            [span.start, span.end, number[span.label]]
            for span in record.spans.get(layer.name, ())
            if span.field == field and span.label in number
        ]
    numbers = [number[name] for name in record.marks.get(layer.name, ()) if name in number]
    return numbers if numbers or layer.traits.empty_is_answer else None
