"""Who has labelled how much, and how fast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from workbench.operations.people import hand_out
from workbench.operations.people.people import Person, every
from workbench.storage.annotation import people as store
from workbench.storage.labels import labels
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project

PAUSE = 10  # minutes without a submitted document from which the time is no work


@dataclass(frozen=True, slots=True)
class Progress:
    """The documents of a person in a layer. assigned: None if none were handed out to the person;
    done: those of them that are submitted.
    """

    person: Person
    layer: str
    submitted: int
    drafts: int
    assigned: int | None
    done: int

    @property
    def share(self) -> float | None:
        return self.done / self.assigned if self.assigned else None

    def to_json(self) -> dict[str, Any]:
        raw = {key: value for key, value in asdict(self).items() if key != "person"}
        return {"name": self.person.name, **raw}


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast a person submits documents, from the times of these.

    timed: documents with a time of work before them. hours: that they took. left_out: documents
    after a pause, the first one, and those that were submitted together (imports).
    """

    person: Person
    timed: int
    hours: float
    left_out: int

    @property
    def per_hour(self) -> float | None:
        """None without a timed document."""
        return self.timed / self.hours if self.hours else None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.person.name,
            "timed": self.timed,
            "hours": self.hours,
            "per_hour": self.per_hour,
            "left_out": self.left_out,
        }


def progress(project: Project) -> tuple[Progress, ...]:
    """Of every person and layer that has documents of the person, or where some are assigned."""
    states = store.states(project.db)
    assigned = hand_out.assigned(project)
    rows = []
    for person in every(project):
        handed = assigned.get(person.uid)
        for layer in labels.layers(project.db):
            of_layer = states.get((row_id(layer), person.id), {})
            if not of_layer and handed is None:
                continue
            counts = Counter(of_layer.values())
            done = sum(of_layer.get(id) == "submitted" for id in handed or ())
            rows.append(
                Progress(
                    person,
                    layer.name,
                    counts["submitted"],
                    counts["draft"],
                    None if handed is None else len(handed),
                    done,
                )
            )
    return tuple(rows)


def speeds(project: Project, *, pause: float = PAUSE) -> tuple[Speed, ...]:
    """Of every person with submitted documents. pause: minutes."""
    return tuple(
        speed(person, times, pause=pause)
        for person in every(project)
        if (times := store.submission_times(project.db, person.id))
    )


def speed(person: Person, times: Sequence[str], *, pause: float = PAUSE) -> Speed:
    """times: of the documents, ISO 8601 in seconds. A document takes the time since the one before;
    what was submitted in one second came together, by an import or by one command.
    """
    counts = Counter(times)
    single = sorted(datetime.fromisoformat(at) for at, count in counts.items() if count == 1)
    gaps = [(after - before).total_seconds() for before, after in pairwise(single)]
    work = [gap for gap in gaps if gap <= 60 * pause]
    return Speed(person, len(work), sum(work) / 3600, len(times) - len(work))
