"""Speed measurements of bf16 on this computer: workers report them, this process stores them in the
settings.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from workbench.base import settings
from workbench.base.errors import WorkbenchError
from workbench.jobs.events import Event, Output

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue

# maximum number of stored measurements: one per processor, torch version, thread count and shape
MAX_TRIALS = 100


def known() -> dict[str, float]:
    """Key of a measurement → speed of bf16 relative to fp32."""
    return dict(settings.load().precision_trials)


def remember(queue: Queue, chosen: Callable[[], settings.Settings]) -> Callable[[], None]:
    """Store the measurements of jobs in the settings that `chosen()` returns.

    Returns a function that disconnects it. If the settings cannot be saved, later runs measure
    again.
    """

    def heard(_job: Job, event: Event) -> None:
        if isinstance(event, Output) and event.payload.get("kind") == "precision_trial":
            user = chosen()
            trials = {
                **user.precision_trials,
                event.payload["key"]: float(event.payload["speedup"]),
            }
            user.precision_trials = dict(list(trials.items())[-MAX_TRIALS:])
            with suppress(WorkbenchError):
                user.save()

    return queue.changed.connect(heard)
