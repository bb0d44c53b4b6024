"""The instant model of a layer: what it can learn from, and a process that learns from labels.

It learns from words (`active.word_features`) until the vectors of a pretrained model are computed;
of documents also beside the vectors. The functions, and `Learner.learn`, block.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import finalize

from workbench.base import scratch
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.jobs.spec import JobSpec
from workbench.operations.annotation import queue_orders
from workbench.operations.annotation.queue_orders import QueueOrder
from workbench.operations.inspecting import corpus_index
from workbench.storage.documents import documents
from workbench.storage.schema.values import now
from workbench.text.labels import MARKS, TOKENS, Layer
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.operations.inspecting.corpus_index import Need
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.project.project import Project
    from workbench.text.dataset import Record

TARGET = "workbench.active.instant:serve"
MIN_LABELLED_DOCUMENTS = 10  # labelled documents, as `active.instant` asks
# Its matrices are small: on a busy machine, threads that wait for each other took 20 times the
# processor time of one.
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
ANSWER_SECONDS = 1800.0  # within which an answer comes, on a busy machine too
ALL_DOCUMENTS = 1 << 30
WORDS = ""  # in place of the name of a model: it learns from words

Labels = dict[int, Any]  # by document, see `gold_of`


def score_name(layer: Layer) -> str:
    """What `Answer.score` is, for display."""
    if layer.traits.in_text and layer.traits.editor != TOKENS:
        return _("Span F1")
    return _("Micro F1") if layer.traits.several else _("Accuracy")


def source_of(vectors: str) -> str:
    """What the predictions of the instant model come from, for display."""
    return _("instant model") if vectors != WORDS else _("instant model (words)")


def fits(layer: Layer) -> bool:
    """Whether the instant model can learn a layer: classes, spans and tags of single texts."""
    kind = layer.traits
    return (
        layer.texts == 1
        and kind.takes_labels
        and (kind.in_text or kind.record == MARKS)
        and not kind.in_choices
    )


# ---------------------------------------------------------------- what it learns from


class WordSource:
    """The texts of documents in a file, `path`, which is deleted with this object."""

    def __init__(self, path: Path):
        self.path = path
        finalize(self, scratch.remove, path.parent)


@dataclass(frozen=True)
class Sources:
    """What the instant model can learn from. documents: (id, hash of the text) of all.

    need: the index of their vectors, perhaps not computed yet. texts: None if it needs no words.
    """

    documents: frozenset[tuple[int, str]]
    need: Need
    texts: WordSource | None


def sources(
    project: Project,
    layer: Layer,
    model: InspectableModel,
    known: frozenset[tuple[int, str]] = frozenset(),
    *,
    learns_from_words: bool = True,
) -> Sources | None:
    """What there is to learn from; None if no document is new since `known`.

    learns_from_words: for lack of vectors.
    """
    there = frozenset(documents.text_hashes(project.db))
    if known and there <= known:
        return None
    need = _need(project, layer, model)
    texts = None
    if not layer.traits.in_text or (learns_from_words and not need.ready):
        texts = WordSource(corpus_index.texts_of(project, need))
    return Sources(there, need, texts)


def _need(project: Project, layer: Layer, model: InspectableModel) -> Need:
    of = corpus_index.of_words if layer.traits.in_text else corpus_index.of_documents
    return of(project, model)


def compute_vectors(
    project: Project, queue: Queue, layer: Layer, model: InspectableModel, *, watch: Watch = QUIET
) -> Need:
    """Compute the vectors of the documents in a job that delays no other one.

    Returns their index; it is not ready if there are no documents. Raises Cancelled or JobFailed.
    """
    need = _need(project, layer, model)
    if need.ready:
        return need
    prepared = corpus_index.prepare(project, need)
    return corpus_index.compute(queue, prepared, background=True, watch=watch)


# ---------------------------------------------------------------- labels


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


def _every_label(project: Project, layer: Layer) -> tuple[Labels, list[int]]:
    """The labels of all documents, and the labelled ones of dev."""
    db, name = project.db, layer.name
    records = list(documents.records(db, layers=(name,), submitted_in=name))
    dev = [row_id(record.document) for record in records if record.document.split == "dev"]
    drafts = documents.Filter(layer_id=row_id(layer), state="draft")
    records += documents.records(db, layers=(name,), ids=documents.ids(db, drafts))
    fitting = set(documents.ids(db, documents.Filter(texts=layer.texts)))
    others = [id for id, _hash in documents.text_hashes(db) if id not in fitting]
    known = {row_id(record.document): gold_of(layer, record) for record in records}
    return {**dict.fromkeys(others, False), **known}, dev


# ---------------------------------------------------------------- the process


@dataclass(frozen=True)
class Answer:
    """What the process has learned from `labelled` documents. order: of the unlabelled documents,
    None with fewer than MIN_LABELLED_DOCUMENTS; then the rest has no values either.

    predictions: document → rows [label, start, end, probability], see `active.instant`. tags:
    (document, start, end) of a word → the most probable tags (number of the label, probability).
    classes: document → the most probable classes, in the same way. score: on `tested` documents
    that are held out. agreement: with the predictions of the last point of the learning curve.
    seconds: of the training.
    """

    labelled: int
    order: QueueOrder | None = None
    predictions: Mapping[int, Sequence[Sequence[Any]]] = field(default_factory=dict)
    tags: Mapping[tuple[int, int, int], tuple[tuple[int, float], ...]] = field(default_factory=dict)
    classes: Mapping[int, tuple[tuple[int, float], ...]] = field(default_factory=dict)
    score: float | None = None
    tested: int = 0
    agreement: float | None = None
    seconds: float = 0.0


class Learner:
    """The process that learns a layer. vectors: the name of their model, or WORDS.

    It is created and closed on the main thread, and learns in one task at a time.
    """

    def __init__(
        self, queue: Queue, layer: Layer, vectors: str, index: Path | None, texts: WordSource | None
    ):
        from workbench.jobs.host import Host

        kind = layer.traits
        params = {
            **({"index": str(index)} if index is not None else {}),
            **({"texts": str(texts.path)} if texts is not None else {}),
            "labels": list(layer.names),
            "words": kind.in_text,
            "several": kind.several and not kind.in_text,
            "single": kind.editor == TOKENS,
        }
        self.layer, self.vectors, self._texts = layer, vectors, texts
        spec = JobSpec(TARGET, params, title=_("Instant model"), env=ONE_THREAD)
        self._host = Host(spec, dispatch=queue.dispatch)
        self._host.start()  # it loads while the labels are read
        self._sent: frozenset[int] = frozenset()  # documents whose labels the process has
        self._dev: list[int] = []
        self._knows_labels = False

    def close(self) -> None:
        self._host.close()
        self._texts = None

    def learn(
        self,
        project: Project,
        changed: Collection[int] | None = None,
        *,
        strategy: str,
        share: float,
        first: int = ALL_DOCUMENTS,
        also: Iterable[int] = (),
        watch: Watch = QUIET,
    ) -> Answer:
        """Learn from the labels of documents that have changed, None for all, and predict.

        Predicts the `first` documents of the order, by `strategy` with a `share` of control
        documents, and `also` others. Raises Cancelled or JobFailed.
        """
        labels = self._changes(project, changed)
        self._knows_labels = False  # if the process ends, the next one has none
        reply = self._host.ask_now(
            {
                "gold": {str(id): gold for id, gold in labels.items()},
                "dev": self._dev,
                "strategy": strategy,
                "share": share,
                "seed": 1,
                "show": first,
                "also": list(also),
            },
            ANSWER_SECONDS,
            watch,
        )
        self._knows_labels = True
        lost = {id for id, gold in labels.items() if gold is None}
        self._sent = (self._sent | labels.keys()) - lost
        if "ids" not in reply:
            return Answer(int(reply["labelled"]))
        order = QueueOrder(strategy, row_id(self.layer), source_of(self.vectors), share, 1, now())
        return _answer(
            reply, queue_orders.filled(order, reply["ids"], reply["scores"], reply["control"])
        )

    def _changes(self, project: Project, changed: Collection[int] | None) -> Labels:
        if changed is None or not self._knows_labels or self._host.status == "crashed":
            labels, self._dev = _every_label(project, self.layer)
            return {**dict.fromkeys(self._sent - labels.keys()), **labels}
        name, changes = self.layer.name, Labels()
        for record in documents.records(project.db, layers=(name,), ids=set(changed)):
            id, state = row_id(record.document), record.states.get(name)
            changes[id] = False if state == "discarded" else gold_of(self.layer, record)
            is_gold = state == "submitted" and changes[id]
            if is_gold and record.document.split == "dev" and id not in self._dev:
                self._dev.append(id)
        return changes


def _answer(reply: Mapping[str, Any], order: QueueOrder) -> Answer:
    return Answer(
        int(reply["labelled"]),
        order,
        {int(id): rows for id, rows in reply["answers"].items()},
        {
            (int(id), start, end): _ranked(best)
            for id, words in reply["chances"].items()
            for start, end, best in words
        },
        {int(id): _ranked(best) for id, best in reply["classes"].items()},
        reply["score"],
        int(reply["tested"]),
        reply["agreement"],
        float(reply["seconds"]),
    )


def _ranked(best: Sequence[Sequence[Any]]) -> tuple[tuple[int, float], ...]:
    return tuple((int(label), float(score)) for label, score in best)
