"""The examples of a prompt: what their selection reads, and why each was selected.

The methods are in prompting/shots.py. Vectors come from the index of the documents and
uncertainties from the predictions of a run; a job computes what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import N_, _
from workbench.base.watch import QUIET, Watch
from workbench.inspection.corpus.spec import IndexFiles
from workbench.operations.annotation import queue_orders
from workbench.operations.documents import similar
from workbench.operations.inspecting import corpus_index, inspect
from workbench.operations.prompts import prompt_reading
from workbench.operations.runs.kinds.prompt.info import INFO
from workbench.prompting.spec import BY_VECTORS, UNCERTAIN
from workbench.storage.documents import documents
from workbench.storage.documents import statistics as stored
from workbench.storage.queries import listing
from workbench.storage.queries.listing import Filter
from workbench.storage.runs import runs
from workbench.text.columns import Column, ValueKind
from workbench.text.labels import Layer
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.jobs.queue import Queue
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.project.project import Project
    from workbench.prompting.shots import Chosen, Shot, Shots, Vectors
    from workbench.prompting.spec import PromptSpec
    from workbench.storage.runs.runs import Run

BEGINNING = 400  # characters of an example in a list

_DROPPED = {  # method → which of the examples is left out first, if not all fit
    "balanced": N_("the last one drawn"),
    "random": N_("the last one drawn"),
    "nearest": N_("the least similar one"),
    "nearest-balanced": N_("the least similar one of the last round over the labels"),
    "mmr": N_("the one with the least marginal relevance"),
    "uncertain": N_("the least uncertain one"),
    "pinned": N_("the last one pinned"),
}


# ---------------------------------------------------------------- selecting


class NotComputed(WorkbenchError):
    """A job has to compute what the selection reads."""


def shots(
    project: Project,
    spec: PromptSpec,
    layer: Layer,
    pool: Sequence[Shot],
    *,
    known: dict[object, Any],
    queue: Queue | None = None,
    settings: Settings | None = None,
    watch: Watch = QUIET,
) -> Shots:
    """What selects the examples of a prompt from the training documents. Not for the main thread.

    known: what was read or computed for the same documents; adds to it. Raises SpecError if the
    method needs what is missing, NotComputed without a queue, Cancelled or JobFailed.
    """
    from workbench.prompting.shots import Shots

    vectors, entropies = None, None
    if spec.order in BY_VECTORS and pool:
        model = vector_model(spec.vectors, settings)
        key: object = ("vectors", model.folder)
        if key not in known:
            known[key] = _vectors(project, model, queue, watch)
        vectors = known[key]
    if spec.order == UNCERTAIN and pool:
        run = source_run(project, layer, spec.source_run)
        key = ("entropies", run.id)
        if key not in known:
            ids = list(dict.fromkeys(shot.document_id for shot in pool))
            known[key] = _entropies(project, run, layer, ids, queue, watch)
        entropies = known[key]
    return Shots(
        pool,
        order=spec.order,
        seed=spec.seed,
        every_label=spec.every_label,
        pinned=spec.pinned,
        entropies=entropies,
        vectors=vectors,
        diversity=spec.diversity,
    )


def vector_model(name: str, settings: Settings | None = None) -> InspectableModel:
    """The model whose vectors compare texts: by name or folder, "" for the first one.

    Raises ModelError or SpecError if there is none.
    """
    if name:
        model = inspect.of_folder(name, settings)
    else:
        first = next(iter(queue_orders.vector_models(settings)), None)
        if first is None:
            raise SpecError(
                _("No model is installed that gives vectors."),
                hint=_("Install one on the Models page, or select examples without similarity."),
            )
        model = first
    if "states" not in model.gives:
        raise SpecError(
            _("{name} gives no vectors of texts.", name=model.title),
            hint=_("Choose a pretrained encoder or language model."),
        )
    return model


def source_runs(project: Project, layer: Layer) -> tuple[Run, ...]:
    """The runs whose uncertainty can select examples, newest first, those of prompts last.

    A prompt whose examples are those of the newest run would ask itself.
    """
    fitting = [
        run
        for run in queue_orders.runs_for(project, layer)
        if run.kind != INFO.id or run.spec.get("order") != UNCERTAIN
    ]
    return tuple(sorted(fitting, key=lambda run: run.kind == INFO.id))


def source_run(project: Project, layer: Layer, id: int | None) -> Run:
    """The run whose uncertainty selects examples: by id, or the first of `source_runs`."""
    fitting = source_runs(project, layer)
    if not layer.traits.takes_labels:
        raise SpecError(
            _("The predictions of layer {layer!r} have no probabilities.", layer=layer.name),
            hint=_("Select examples in another way."),
        )
    run = next((run for run in fitting if id in (None, run.id)), None)
    if run is None:
        raise SpecError(
            _("The most uncertain examples are those of a run; there is none of this layer."),
            hint=_("Choose a run of the layer {layer}, or train one.", layer=layer.name),
        )
    return run


def _vectors(
    project: Project, model: InspectableModel, queue: Queue | None, watch: Watch
) -> Vectors:
    """The last layer of the index of all documents."""
    import numpy as np

    from workbench.prompting.shots import Vectors

    need = corpus_index.of_documents(project, model)
    if not need.ready:
        if queue is None:
            raise NotComputed(_("The vectors of the documents are not computed."))
        need = corpus_index.compute(queue, corpus_index.prepare(project, need), watch=watch)
    files = IndexFiles.at(str(need.files.about))
    try:
        layers = files.read_about()["layers"]
        ids = np.load(files.places, allow_pickle=False)[:, 0].tolist()
        last = max(layers)  # type: ignore[call-overload]  # a list, whatever the other counts are
        rows = np.load(files.layer(last), mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, KeyError) as error:
        raise WorkbenchError(
            _("The index of the documents cannot be read: {error}.", error=error)
        ) from error
    return Vectors(rows, {id: at for at, id in enumerate(ids)})


def _entropies(
    project: Project,
    run: Run,
    layer: Layer,
    ids: Sequence[int],
    queue: Queue | None,
    watch: Watch,
) -> dict[int, float]:
    """Document id → entropy of what a run predicts, in nats; what is missing is predicted."""
    if queue is None:
        raise NotComputed(_("The uncertainty of the documents is not computed."))
    order = queue_orders.OrderSpec("entropy", layer, (run,), share=0.0)
    return queue_orders.scores(project, queue, order, ids, watch=watch)


# ---------------------------------------------------------------- what was selected


@dataclass(frozen=True)
class ExampleRow:
    """An example of a document, in the order of importance.

    place: in the prompt from 1, None if it did not fit. label: its labels, or its answer.
    similarity: cosine in [-1, 1], None if texts were not compared. text: its beginning.
    """

    id: int
    key: str
    split: str | None
    label: str
    reason: str
    similarity: float | None
    text: str
    place: int | None


def columns() -> tuple[Column, ...]:
    """Of the examples of a document, as `ExampleRow`."""
    return (
        Column(
            _("Place"),
            lambda row: row.place,
            kind=ValueKind.COUNT,
            key="place",
            display=lambda row: _("left out") if row.place is None else str(row.place),
            hint=_("In the prompt"),
        ),
        Column(_("Key"), lambda row: row.key, key="key"),
        Column(_("Split"), lambda row: row.split, kind=ValueKind.TERM, key="split"),
        Column(_("Label"), lambda row: row.label, key="label"),
        Column(_("Selected because"), lambda row: row.reason, key="reason"),
        Column(
            _("Similarity"),
            lambda row: row.similarity,
            kind=ValueKind.NUMBER,
            key="similarity",
            digits=2,
            hint=_("Cosine of the vectors of both texts"),
        ),
        Column(_("Text"), lambda row: row.text, key="text"),
    )


def rows(
    project: Project, chosen: Sequence[Chosen], examples: Sequence[object], seed: int
) -> tuple[ExampleRow, ...]:
    """What was selected for a document. examples: those in the prompt, in its order."""
    ids = [item.shot.document_id for item in chosen]
    keys, splits = stored.keys(project.db, ids), stored.splits(project.db, ids)
    places = {example: number for number, example in enumerate(examples, 1)}
    return tuple(
        ExampleRow(
            item.shot.document_id,
            keys.get(item.shot.document_id, ""),
            splits.get(item.shot.document_id),
            ", ".join(item.shot.labels),
            reason(item, seed),
            item.similarity,
            item.shot.example.text[:BEGINNING],
            places.get(item.shot.example),
        )
        for item in chosen
    )


def reason(chosen: Chosen, seed: int) -> str:
    """Why an example was selected, with the number that decided."""
    similarity, value = chosen.similarity or 0.0, chosen.value or 0.0
    if chosen.reason == "nearest":
        return _("most similar, {similarity:.2f}", similarity=similarity)
    if chosen.reason == "mmr":
        return _(
            "marginal relevance {value:.2f}, similarity {similarity:.2f}",
            value=value,
            similarity=similarity,
        )
    if chosen.reason == "nearest-balanced" and value > 1:
        return _(
            "number {n:.0f} of its label, {similarity:.2f}",
            n=value,
            similarity=similarity,
        )
    if chosen.reason in ("nearest-balanced", "of-label"):
        if chosen.similarity is None:
            return _("first of its label")
        return _("best of its label, {similarity:.2f}", similarity=similarity)
    if chosen.reason == "uncertain":
        return _("uncertain, entropy {value:.2f}", value=value)
    if chosen.reason == "pinned":
        return _("pinned")
    if chosen.reason == "balanced":
        return _("balanced, seed {seed}", seed=seed)
    return _("random, seed {seed}", seed=seed)


def dropped_first(spec: PromptSpec) -> str:
    """Which example is left out first if a prompt is too long."""
    if spec.every_label:
        return _("{first}; the best one of each label last", first=_(_DROPPED[spec.order]))
    return _(_DROPPED[spec.order])


def arguments(project: Project, spec: PromptSpec) -> list[str]:
    """The options of the command line that select the same examples, besides --shots, --order and
    --seed.
    """
    words = ["--every-label"] if spec.every_label else []
    words += ["--arrangement", spec.arrangement] if spec.arrangement != "fixed" else []
    words += ["--orders", str(spec.orders)] if spec.arrangement == "shuffled" else []
    words += ["--vectors", spec.vectors] if spec.vectors else []
    words += ["--diversity", f"{spec.diversity:g}"] if spec.order == "mmr" else []
    if spec.source_run is not None:
        known = {run.id: run.name for run in runs.all(project.db)}
        if spec.source_run in known:
            words += ["--uncertain-run", known[spec.source_run]]
    keys = stored.keys(project.db, spec.pinned)
    return words + [word for id in spec.pinned if id in keys for word in ("--pin", keys[id])]


# ---------------------------------------------------------------- picked by hand


@dataclass(frozen=True)
class PinnedDocument:
    """problem: why it is not shown, "" if it can be. label: its gold. text: its beginning."""

    id: int
    key: str
    split: str | None
    label: str
    text: str
    problem: str


def pinned_documents(
    project: Project, layer: Layer, ids: Sequence[int]
) -> tuple[PinnedDocument, ...]:
    """The pinned documents in their order, those that were deleted left out."""
    fitting = set(listing.ids(project.db, _usable(layer, ids=tuple(ids))))
    info = prompt_reading.task_of(layer)
    by_id: dict[int, PinnedDocument] = {}
    for record in documents.records(project.db, layers=(layer.name,), ids=sorted({*ids})):
        document, id = record.document, row_id(record.document)
        gold = info.gold(record, layer.name) if info is not None else None
        label = ", ".join(similar.gold_names(gold))
        problem = "" if id in fitting else _not_shown(document.split)
        by_id[id] = PinnedDocument(
            id, document.key, document.split, label, document.text[:BEGINNING], problem
        )
    return tuple(by_id[id] for id in dict.fromkeys(ids) if id in by_id)


def _not_shown(split: str | None) -> str:
    if split == "train":
        return _("not submitted in the layer")
    return _("not in the training split")


def pin(project: Project, layer: Layer, keys: Sequence[str]) -> tuple[int, ...]:
    """The ids of documents by their keys. Raises SpecError for one that must not be shown."""
    ids = []
    for key in keys:
        document = documents.by_key(project.db, key)
        if document is None:
            raise SpecError(_("There is no document {key!r}.", key=key))
        ids.append(row_id(document))
    for item in pinned_documents(project, layer, ids):
        if item.problem:
            raise SpecError(
                _("{key} cannot be an example: {problem}.", key=item.key, problem=item.problem),
                hint=_("Examples are submitted documents of the training split."),
            )
    return tuple(ids)


def matching(
    project: Project, layer: Layer, text: str, most: int = 200
) -> tuple[PinnedDocument, ...]:
    """Documents that can be pinned, with `text` in their text or key; the first ones."""
    ids = listing.ids(project.db, _usable(layer, text=text))[:most]
    return pinned_documents(project, layer, list(ids))


def _usable(layer: Layer, **more: object) -> Filter:
    fields: Mapping[str, object] = {
        "split": "train", "layer_id": row_id(layer), "state": "submitted", "texts": layer.texts,
        **more,
    }  # fmt: skip
    return Filter(**fields)  # type: ignore[arg-type]  # the fields of a Filter
