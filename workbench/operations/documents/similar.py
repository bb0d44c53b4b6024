"""The labelled documents that are most similar to a document, by vectors of an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from workbench.inspection.corpus.spec import IndexFiles
from workbench.operations.annotation import queue_orders
from workbench.operations.inspecting import inspect
from workbench.storage.documents import documents
from workbench.storage.queries import listing
from workbench.storage.queries.listing import Filter
from workbench.tasks import spec as tasks
from workbench.text.rows import row_id

if TYPE_CHECKING:
    import numpy as np

    from workbench.base.settings import Settings
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.labels import Layer

INSPECTOR = "near_documents"  # whose index is used
SHOWN = 8
CHUNK = 16_384  # rows of an index that are compared at a time
BEGINNING = 400  # characters


@dataclass(frozen=True, slots=True)
class SimilarDocument:
    """text: its beginning. gold: its labels, each once, or its number; () for none. cosine: in
    [-1, 1].
    """

    id: int
    key: str
    text: str
    split: str
    gold: tuple[str, ...]
    cosine: float


def fits(layer: Layer) -> bool:
    """Whether the documents of a layer can be compared: an index holds their first text alone."""
    return layer.texts == 1 and not layer.traits.in_choices


def model_for(
    project: Project, run: Run | None, settings: Settings | None
) -> InspectableModel | None:
    """The model of the vectors: that of the run if it has states, else the first pretrained one."""
    own = inspect.of_run(project, run) if run is not None else None
    if own is not None and _has_index(own):
        return own
    return next(iter(queue_orders.vector_models(settings)), None)


def _has_index(choice: InspectableModel) -> bool:
    return any(offer.id == INSPECTOR and not offer.refused for offer in inspect.offers(choice))


def nearest(
    project: Project, layer: Layer, task: str, document_id: int, index: str
) -> tuple[SimilarDocument, ...]:
    """The documents submitted in the layer with the highest cosine, nearest first.

    index: the path of an index of the documents. () if the document is not in it, as in a sample.
    Not for the main thread. Raises OSError or ValueError if the index cannot be read.
    """
    import numpy as np

    files = IndexFiles.at(index)
    ids = np.load(files.places, allow_pickle=False)[:, 0]
    own = np.flatnonzero(ids == document_id)
    if not len(own):
        return ()
    last = max(cast(Sequence[int], files.read_about()["layers"]))
    cosines = _cosines(files.layer(last), int(own[0]))
    submitted = listing.ids(project.db, Filter(layer_id=row_id(layer), state="submitted"))
    cosines[~np.isin(ids, np.asarray(submitted, np.int64))] = -2
    cosines[own] = -2
    best = np.argsort(-cosines, kind="stable")[:SHOWN]
    near = {int(ids[at]): float(cosines[at]) for at in best if cosines[at] > -2}
    return _read(project, layer, task, near)


def _cosines(path: Path, row: int) -> np.ndarray:
    """float32 (N,) of all rows with one of them; rows have length 1."""
    import numpy as np

    rows = np.load(path, mmap_mode="r", allow_pickle=False)
    query = rows[row].astype(np.float32)
    cosines = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), CHUNK):
        cosines[start : start + CHUNK] = rows[start : start + CHUNK].astype(np.float32) @ query
    return cosines


def _read(
    project: Project, layer: Layer, task: str, near: dict[int, float]
) -> tuple[SimilarDocument, ...]:
    info = tasks.info(task)
    neighbours = []
    for record in documents.records(project.db, layers=(layer.name,), ids=sorted(near)):
        document, id = record.document, row_id(record.document)
        gold = gold_names(info.gold(record, layer.name))
        text = document.text[:BEGINNING]
        split = document.split or ""
        neighbours.append(SimilarDocument(id, document.key, text, split, gold, near[id]))
    return tuple(sorted(neighbours, key=lambda item: -item.cosine))


def gold_names(gold: Any) -> tuple[str, ...]:
    """The labels of gold, each once, or its number; () for none."""
    if gold is None:
        return ()
    value = gold.to_json()
    return (f"{value:g}",) if isinstance(value, float) else tuple(dict.fromkeys(gold.labels()))
