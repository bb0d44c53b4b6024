"""Measurements of bf16 on this computer: workers report them, this process keeps them in the settings."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from workbench.base import settings
from workbench.base.errors import WorkbenchError
from workbench.jobs.events import Event, Output

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue

MOST = 100  # measurements that are kept: one per processor, torch version, thread number and shape


def known() -> dict[str, float]:
    """Key of a measurement → how many times as fast as fp32 bf16 is."""
    return dict(settings.load().precision_trials)


def remember(queue: Queue, chosen: Callable[[], settings.Settings]) -> Callable[[], None]:
    """Keep what the jobs of a queue measure in the settings that `chosen()` returns.

    Returns a function that ends this. If the settings cannot be saved, later runs measure again.
    """

    def heard(_job: Job, event: Event) -> None:
        if isinstance(event, Output) and event.payload.get("kind") == "precision_trial":
            user = chosen()
            found = {**user.precision_trials, event.payload["key"]: float(event.payload["speedup"])}
            user.precision_trials = dict(list(found.items())[-MOST:])
            with suppress(WorkbenchError):
                user.save()

    return queue.changed.connect(heard)
