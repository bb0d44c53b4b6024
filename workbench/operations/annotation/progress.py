"""How fast documents are labelled, and how far each layer is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from workbench.storage.annotation import states
from workbench.text.labels import Layer
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project

BREAK = 300.0  # seconds; longer pauses between two documents are not counted
WINDOW = timedelta(hours=12)  # what is looked back on
MIN_TIMED_DOCUMENTS = 3  # documents with a measured time
TOGETHER = 2  # documents finished in one second; more are a bulk act or an import


@dataclass(frozen=True)
class LayerProgress:
    """`done`: documents submitted or discarded, of `total` to which the layer applies."""

    name: str
    done: int
    total: int


@dataclass(frozen=True)
class Progress:
    """`per_hour`: documents finished per hour of work, None if too few; `measured`: how many."""

    per_hour: float | None
    measured: int
    layers: tuple[LayerProgress, ...]


def progress(project: Project, layers: Sequence[Layer], now: datetime | None = None) -> Progress:
    """The pace of the last hours in the layers, and the progress of each.

    Reads all states: some tenths of a second for a million, so not for the main thread.
    """
    since = (now or datetime.now(UTC)) - WINDOW
    finished = states.finished_since(
        project.db,
        [row_id(layer) for layer in layers],
        since.strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    times = [
        datetime.fromisoformat(at).timestamp()
        for at, n in finished
        if n <= TOGETHER
        for _ in range(n)
    ]
    per_hour, measured = pace(times)
    return Progress(per_hour, measured, tuple(_of_layer(project, layer) for layer in layers))


def pace(times: Sequence[float]) -> tuple[float | None, int]:
    """Documents per hour and the number of documents that this is measured on.

    `times`: in seconds, ascending, when each document was finished. The time of a document is that
    since the one before; it is left out if that is longer than `BREAK`.
    """
    spent = [later - earlier for earlier, later in pairwise(times) if later - earlier <= BREAK]
    if len(spent) < MIN_TIMED_DOCUMENTS or sum(spent) <= 0:
        return None, len(spent)
    return 3600 * len(spent) / sum(spent), len(spent)


def _of_layer(project: Project, layer: Layer) -> LayerProgress:
    counts = states.counts(project.db, [row_id(layer)]).states
    done = counts["submitted"] + counts["discarded"]
    return LayerProgress(layer.name, done, sum(counts.values()))
