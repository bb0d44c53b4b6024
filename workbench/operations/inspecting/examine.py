"""Inspectors that examine the documents of a project: prepared, computed by a job, kept on disk.

A result is identified by inspector, options, model, and the sampled documents with their labels.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import paths, scratch
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.records import from_plain
from workbench.base.watch import QUIET, Watch
from workbench.inspection import spec
from workbench.inspection.spec import InspectorInfo
from workbench.jobs.spec import JobSpec
from workbench.operations.inspecting.corpus_index import model_files
from workbench.operations.runs import train
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.queries import listing
from workbench.tasks import spec as tasks
from workbench.text import dataset
from workbench.text.dataset import Dataset, Record
from workbench.version import __version__

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.project.project import Project
    from workbench.text.labels import Layer

TARGET = "workbench.inspection.examining:run"
FOLDER = "examined"
DOCUMENTS = "documents.jsonl"
MOST_FILES = 200  # results that are kept, those used last
SPLITS = ("train", "dev")  # test stays closed


@dataclass(frozen=True)
class PreparedExamination:
    """A sample of documents for an inspector. output: where its result is kept.

    options: all of them; task: reads the labels, "" without. documents: of the sample.
    """

    inspector: str
    model: InspectableModel
    options: Mapping[str, Any]
    task: str
    data: Dataset
    output: Path

    @property
    def documents(self) -> int:
        return len(self.data.records)


def examined(inspector: str) -> bool:
    """Whether an inspector examines the documents of a project."""
    info = spec.light(inspector)
    return info is not None and bool(info.examines)


def layers(project: Project, model: InspectableModel) -> tuple[str, ...]:
    """Names of the layers whose labels can be examined, that of a run first."""
    names = [layer.name for layer in labels.layers(project.db) if _task_of(layer)]
    return tuple(sorted(names, key=lambda name: name != model.layer))


def prepare(
    project: Project, model: InspectableModel, inspector: str, chosen: Mapping[str, Any]
) -> PreparedExamination:
    """Draw the sample. Not for the main thread. Raises WorkbenchError if there is nothing to draw,
    SpecError for wrong options.
    """
    info = spec.light(inspector)
    assert info is not None
    options = spec.options(inspector, chosen)
    if info.examines == spec.LABELS:
        layer, task = _layer(project, model, str(options[spec.LAYER]))
        options = {**options, spec.LAYER: layer.name}
        data = Dataset((layer,), tuple(_labelled(project, layer, options)))
    else:
        task, data = "", Dataset((), tuple(_texts(project, options)))
    if not data.records:
        raise WorkbenchError(
            _("There are no documents to examine."),
            hint=_("Import text, and submit labelled documents where labels are examined."),
        )
    root = paths.cache_folder() / FOLDER
    key = _key(info, model, options, task, data)
    return PreparedExamination(inspector, model, options, task, data, root / f"{key}.json")


def _layer(project: Project, model: InspectableModel, name: str) -> tuple[Layer, str]:
    """The layer of labels, and the task that reads them. Raises WorkbenchError."""
    every = {layer.name: layer for layer in labels.layers(project.db)}
    names = layers(project, model)
    chosen = name or next(iter(names), "")
    if chosen not in names:
        raise WorkbenchError(
            _("There is no layer {name!r} with labels of words or documents.", name=chosen)
        )
    layer = every[chosen]
    return layer, _task_of(layer, model.task)


def _task_of(layer: Layer, preferred: str = "") -> str:
    """The task that reads one label per word or document of a layer, "" if none does."""
    fitting = [task.id for task in tasks.fitting(layer) if task.texts == 1]
    return preferred if preferred in fitting else next(iter(fitting), "")


def _labelled(project: Project, layer: Layer, options: Mapping[str, Any]) -> Iterable[Record]:
    """A sample of the submitted documents of each split."""
    for split in SPLITS:
        filter_ = listing.Filter(split=split, layer_id=layer.id, state="submitted")
        ids = _drawn(list(listing.ids(project.db, filter_)), options)
        for record in documents.records(project.db, layers=(layer.name,), ids=ids):
            yield _bare(record)


def _texts(project: Project, options: Mapping[str, Any]) -> Iterable[Record]:
    """A sample of all documents but those of test."""
    text_ids: list[int] = []
    for split in (*SPLITS, "none"):
        text_ids += listing.ids(project.db, listing.Filter(split=split))
    ids = _drawn(sorted(text_ids), options)
    return map(_bare, documents.records(project.db, layers=(), ids=ids))


def _drawn(ids: list[int], options: Mapping[str, Any]) -> list[int]:
    most = int(options[spec.DOCUMENTS])
    if len(ids) > most:
        ids = sorted(random.Random(int(options.get("seed", 1))).sample(ids, most))
    return ids


def _bare(record: Record) -> Record:
    """Without metadata, which no inspector reads."""
    return replace(record, document=replace(record.document, meta={}, group=None))


def _key(
    info: InspectorInfo,
    model: InspectableModel,
    options: Mapping[str, Any],
    task: str,
    data: Dataset,
) -> str:
    digest = hashlib.blake2b(digest_size=16)
    about = json.dumps([info.id, __version__, dict(options), task], sort_keys=True)
    compared = Path(str(options.get("other") or model.folder))
    folders = [Path(item.folder) for item in model.members or (model,)]
    for part in (
        about,
        data.fingerprint(),
        *(file for folder in (*folders, compared) for file in model_files(folder)),
    ):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


# ---------------------------------------------------------------- results


def kept(prepared: PreparedExamination) -> Any:
    """The result that is on disk; None if there is none that can be read."""
    info = spec.light(prepared.inspector)
    try:
        raw = json.loads(prepared.output.read_text(encoding="utf-8"))
        prepared.output.touch()  # the time of its last use
    except (OSError, ValueError):
        return None
    if info is None:
        return raw
    result: Any = from_plain(info.result, raw)
    name = prepared.model.name
    return result.named(name) if name and isinstance(result, spec.OfModel) else result


def compute(
    queue: Queue, prepared: PreparedExamination, *, device: str = "auto", watch: Watch = QUIET
) -> Any:
    """Examine the documents in a worker; the result is kept. Raises Cancelled or JobFailed."""
    folder = scratch.make("examine")
    draft = folder / "examined.json"
    try:
        dataset.write(folder / DOCUMENTS, prepared.data.layers, prepared.data.records)
        queue.run(_spec(prepared, folder, draft, train.wanted_device(device)), watch)
        prepared.output.parent.mkdir(parents=True, exist_ok=True)
        prepared.output.write_bytes(draft.read_bytes())
        trim(prepared.output.parent)
        return kept(prepared)
    finally:
        scratch.remove(folder)


def _spec(prepared: PreparedExamination, folder: Path, draft: Path, device: str) -> JobSpec:
    params = {
        **prepared.model.params,
        "inspector": prepared.inspector,
        "device": device,
        "input": str(folder / DOCUMENTS),
        "task": prepared.task,
        "options": dict(prepared.options),
        "output": str(draft),
    }
    title = _(
        "{inspector} of {model}", inspector=_title(prepared.inspector), model=prepared.model.title
    )
    queue_device = train.queue_device(device)
    return JobSpec(TARGET, params, str(folder), device=queue_device, title=title, short=True)


def computes(job: JobSpec, prepared: PreparedExamination) -> bool:
    """Whether a job computes the result of this sample."""
    known = {
        **prepared.model.params, "inspector": prepared.inspector, "options": dict(prepared.options)
    }  # fmt: skip
    return job.target == TARGET and all(job.params.get(name) == known[name] for name in known)


def _title(inspector: str) -> str:
    info = spec.light(inspector)
    return _(info.title) if info is not None else inspector


def trim(root: Path, most: int = MOST_FILES) -> None:
    """Delete the results that were not used for longest until `most` are left."""

    def used(path: Path) -> float:
        with suppress(OSError):
            return path.stat().st_mtime
        return 0.0

    for file in sorted(root.glob("*.json"), key=used, reverse=True)[most:]:
        with suppress(OSError):
            file.unlink()
