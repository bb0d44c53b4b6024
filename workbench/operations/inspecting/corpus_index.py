"""Indexes of a project's documents for inspectors: computed by a job, kept on disk.

An index is identified by model, texts of the documents, and what it holds, so that a change of
labels keeps it and a change of model or texts makes another one.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import extras, paths, scratch
from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.inspection.corpus.spec import (
    DOCUMENTS,
    MAX_DOCUMENTS,
    MAX_USES,
    MAX_WORDS,
    TARGET,
    UMAP,
    USES,
    WORDS,
    IndexFiles,
    Projection,
)
from workbench.inspection.spec import InspectorInfo
from workbench.jobs.spec import JobSpec
from workbench.operations.models import installed
from workbench.operations.runs import train
from workbench.storage.documents import documents, gold_labels
from workbench.text import dataset
from workbench.text.document import TEXT
from workbench.text.segment import tokens_of

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.project.project import Project
    from workbench.text.dataset import Record
    from workbench.text.document import Document

FOLDER = "indexes"
INPUT = "asked.jsonl"  # the documents that a job reads
MOST_BYTES = 4 << 30  # of all indexes together
SEED = 1
VECTORS = "word_vectors"  # what the model of static neighbours gives


@dataclass(frozen=True)
class Need:
    """The index that an inspector needs. documents: of the project. ready: whether it exists.

    forms: of the word, in lower case; () for documents. projection: of a map of the index.
    layer: that is read, -1 for the last one, or if all are.
    """

    model: InspectableModel
    files: IndexFiles
    kind: str
    forms: tuple[str, ...]
    documents: int
    ready: bool
    projection: Projection | None = None
    layer: int = -1


def need(
    project: Project, model: InspectableModel, info: InspectorInfo, options: Mapping[str, Any]
) -> Need | None:
    """None if the inspector needs none with these options, as for no word. Not for the main thread.

    options: all of the inspector.
    """
    kind = options.get("of", info.corpus)
    forms = tuple(dict.fromkeys(options.get("word", "").casefold().split()))
    if not kind or (kind == USES and not forms):
        return None
    forms = forms if kind == USES else ()
    projection = None
    if "method" in options:
        projection = Projection(options["method"], options["layer"], options["clusters"])
    index_need = _need(project, model, kind, forms, projection)
    return replace(index_need, layer=options.get("layer", -1))


def of_documents(project: Project, model: InspectableModel) -> Need:
    """An index of all documents. Not for the main thread."""
    return _need(project, model, DOCUMENTS)


def of_words(project: Project, model: InspectableModel) -> Need:
    """An index of all words of the documents, of one layer. Not for the main thread."""
    return _need(project, model, WORDS)


def _need(
    project: Project,
    model: InspectableModel,
    kind: str,
    forms: tuple[str, ...] = (),
    projection: Projection | None = None,
) -> Need:
    hashes = documents.text_hashes(project.db)
    digest = hashlib.blake2b(digest_size=12)
    for part in (project.uid, kind, *forms, *model_files(Path(model.folder))):
        digest.update(part.encode() + b"\0")
    for id, text in hashes:
        digest.update(f"{id} {text}\n".encode())
    files = IndexFiles(paths.cache_folder() / FOLDER, digest.hexdigest())
    ready = files.about.is_file() and (projection is None or files.map(projection).is_file())
    return Need(model, files, kind, forms, len(hashes), ready, projection)


def model_files(model: Path) -> list[str]:
    """Path, size and time of every file of a model: a hash of its weights would take seconds."""
    lines = [f"{model.resolve()}"]
    for file in sorted(model.rglob("*")) if model.is_dir() else [model]:
        if file.is_file():
            about = file.stat()
            lines.append(f"{file.name} {about.st_size} {about.st_mtime_ns}")
    return lines


# ---------------------------------------------------------------- computing


@dataclass(frozen=True)
class PreparedIndex:
    """Input of the job that computes an index, in a folder that it deletes. rows: of the index."""

    need: Need
    folder: Path
    rows: int
    total: int


def prepare(project: Project, need: Need) -> PreparedIndex:
    """Write the documents, or those with uses of the word. Not for the main thread."""
    folder = scratch.make("index")
    rows, total = need.documents, need.documents
    if not need.files.about.is_file():
        if need.kind == USES:
            rows, total = _write_uses(project, need.forms, folder)
        elif need.kind == WORDS:
            rows = total = _write_words(project, folder)
        else:
            rows = _write_documents(project, folder)
    return PreparedIndex(need, folder, rows, total)


def _write_documents(project: Project, folder: Path) -> int:
    ids = [id for id, _hash in documents.text_hashes(project.db)]
    if len(ids) > MAX_DOCUMENTS:
        ids = sorted(random.Random(SEED).sample(ids, MAX_DOCUMENTS))
    records = documents.records(project.db, layers=(), ids=ids)
    _write(folder, map(_bare, records))
    return len(ids)


def _write_words(project: Project, folder: Path) -> int:
    """Number of words in the documents that are written: all, or a random sample of documents."""
    every = documents.records(project.db, layers=())
    counts = {
        record.document.id or 0: len(tokens_of(record.document)) for record in map(_bare, every)
    }
    order = list(counts)
    random.Random(SEED).shuffle(order)
    chosen, total = set[int](), 0
    for id in order:
        if total + counts[id] <= MAX_WORDS:
            chosen.add(id)
            total += counts[id]
    _write(folder, map(_bare, documents.records(project.db, layers=(), ids=chosen)))
    return total


def _write_uses(project: Project, forms: Sequence[str], folder: Path) -> tuple[int, int]:
    """(uses that are indexed, uses in all or -1). A random sample if there are many."""
    matching = {
        int(id) for form in forms for id in documents.ids(project.db, documents.Filter(text=form))
    }
    order = sorted(matching)
    random.Random(SEED).shuffle(order)
    places: dict[str, list[tuple[int, int]]] = {}
    records, count = list[Any](), 0
    for start in range(0, len(order), 500):
        if count >= MAX_USES:
            break
        for record in documents.records(project.db, layers=(), ids=order[start : start + 500]):
            if uses := _uses(record.document, forms):
                places[str(record.document.id)] = uses[: MAX_USES - count]
                count += len(places[str(record.document.id)])
                records.append(_bare(record))
            if count >= MAX_USES:
                break
    _write(folder, records)
    (folder / "places.json").write_text(json.dumps(places), encoding="utf-8")
    return count, count if count < MAX_USES else -1


def _uses(document: Document, forms: Sequence[str]) -> list[tuple[int, int]]:
    """Offsets of the forms in the first text, ignoring case."""
    text = document.text
    return [
        (start, end) for start, end in tokens_of(document) if text[start:end].casefold() in forms
    ]


def _bare(record: Record) -> dataset.Record:
    """The first text, without annotations and metadata, as every model can read it."""
    item = record.document
    tokens = {TEXT: item.tokens[TEXT]} if TEXT in item.tokens else {}
    return dataset.Record(replace(item, texts=item.texts[:1], meta={}, tokens=tokens))


def _write(folder: Path, records: Any) -> None:
    dataset.write(folder / INPUT, (), records, ids=True)


def texts_of(project: Project, need: Need) -> Path:
    """The documents of an index as JSON lines, in a scratch folder of their own. Not for the main
    thread.
    """
    folder = scratch.make("texts")
    if need.kind == WORDS:
        _write_words(project, folder)
    else:
        _write_documents(project, folder)
    return folder / INPUT


def compute(
    queue: Queue,
    prepared: PreparedIndex,
    *,
    device: str = "auto",
    background: bool = False,
    watch: Watch = QUIET,
) -> Need:
    """Compute the index in a worker; returns the need, which is ready then, unless there is no use
    of the word. background: on the CPU, trainings and predictions do not wait for it.

    Raises Cancelled or JobFailed.
    """
    need, folder = prepared.need, prepared.folder
    try:
        if not prepared.rows:
            return need
        queue.run(_spec(prepared, device, background), watch)
        trim(need.files.root)
        return replace(need, ready=True)
    finally:
        scratch.remove(folder)


def _spec(prepared: PreparedIndex, device: str, background: bool) -> JobSpec:
    need, folder = prepared.need, prepared.folder
    wanted_device = train.wanted_device(device)
    params = {
        "model": need.model.folder,
        "allow_pickle": need.model.allow_pickle,
        "device": wanted_device,
        "root": str(need.files.root),
        "key": need.files.key,
        "kind": need.kind,
        "input": str(folder / INPUT),
        "places": str(folder / "places.json"),
        "count": prepared.rows,
        "total": prepared.total,
        "layer": need.layer,
    }
    if need.projection is not None:
        params["projection"] = asdict(need.projection)
    return JobSpec(
        TARGET,
        params,
        str(folder),
        device=train.queue_device(wanted_device),
        title=_title(need),
        short=True,
        background=background,
    )


def _title(need: Need) -> str:
    if need.kind == USES:
        return _("Index the uses of “{word}”", word=" ".join(need.forms))
    return _("Index the documents with {name}", name=need.model.title)


def trim(root: Path, most: int = MOST_BYTES) -> None:
    """Delete the indexes that were not used for longest until the rest has at most `most` bytes."""
    total = 0
    for about in sorted(root.glob("*.json"), key=_used, reverse=True):
        files = IndexFiles(root, about.stem).every()
        total += sum(file.stat().st_size for file in files if file.is_file())
        if total > most:
            for file in files:
                with suppress(OSError):
                    file.unlink()


def _used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


# ---------------------------------------------------------------- using


def completed(project: Project, need: Need | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an inspector with its index, the labels of its rows, and the model of static
    vectors. Not for the main thread.
    """
    params = dict(options)
    if need is None or not need.files.about.is_file():
        return {**params, "index": ""} if "index" in params else params
    with suppress(OSError):
        need.files.about.touch()  # the time of its last use
    params["index"] = str(need.files.about)
    if need.projection is not None:
        params["map"] = str(need.files.map(need.projection))
    if params.get("senses"):
        params["labels"] = json.dumps(labels_of(project, places_of(need), params["senses"]))
    if "static" in params:
        params["static"] = vectors_of(params["static"]) if params["static"] else static_vectors()
    return params


def places_of(need: Need) -> list[tuple[int, int, int]]:
    """Document, start and end of every row of an index."""
    import numpy as np

    places: list[tuple[int, int, int]] = np.load(need.files.places, allow_pickle=False).tolist()
    return places


def labels_of(project: Project, places: Sequence[tuple[int, int, int]], layer: str) -> list[str]:
    """The gold label at every place (document, start, end): of spans over it, else of the document;
    "" without one.
    """
    ids = list(dict.fromkeys(id for id, _start, _end in places))
    marks = gold_labels.first_labels(project.db, layer, ids)
    spans = gold_labels.labelled_offsets(project.db, layer, ids)
    return [
        label_over(spans.get(id, ()), start, end) or marks.get(id, "") for id, start, end in places
    ]


def label_over(spans: Sequence[tuple[int, int, str]], start: int, end: int) -> str:
    """The most frequent label of spans (start, end, label) within a range, else that of the
    shortest span over it; the first of equal ones.
    """
    within = [
        name
        for first, last, name in spans
        if start <= first and last <= end and first < end and start < last
    ]
    if within:
        return within[0] if len(within) < 3 else max(within, key=within.count)
    over = [span for span in spans if span[0] < end and start < span[1]]
    return min(over, key=lambda span: span[1] - span[0])[2] if over else ""


def vectors_of(model: str) -> str:
    """The file with the vectors of a model, given by name, folder or file. Raises ModelError."""
    from workbench.models import spec

    card = installed.find(model)
    if VECTORS not in card.gives:
        raise ModelError(
            _("{name} has no static vectors.", name=card.name),
            hint=_("Choose word vectors from the Models page, for example starter-vectors."),
        )
    return str(spec.vectors_file(card))


def static_vectors() -> str:
    """The file of the first model with static vectors, "" without one."""
    from workbench.models import spec

    usable = (model for model in installed.list() if model.usable and VECTORS in model.gives)
    first = next(usable, None)
    return str(spec.vectors_file(first)) if first is not None else ""


def refused_methods() -> dict[str, str]:
    """Projections that cannot be computed here, with the reason."""
    from importlib.util import find_spec

    if find_spec(UMAP) is not None:
        return {}
    return {UMAP: f"{_('UMAP is not installed.')} {extras.advice('umap-learn')}"}
