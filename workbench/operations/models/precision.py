"""Speed measurements of bf16 on this computer: workers report them, this process stores them in the
settings.
"""

from __future__ import annotations

from contextlib import suppress

from workbench.base import settings
from workbench.base.errors import WorkbenchError
from workbench.jobs.events import Event, Output

# maximum number of stored measurements: some per processor, torch version, thread count and model
MAX_TRIALS = 300


def known() -> dict[str, float]:
    """Key of a measurement → speed of bf16 relative to fp32."""
    return dict(settings.load().precision_trials)


def remember(event: Event, user: settings.Settings) -> None:
    """Store the measurement that an event of a job reports, if it does.

    Called by the application for every event. If the settings cannot be saved, later runs measure
    again.
    """
    if not (isinstance(event, Output) and event.payload.get("kind") == "precision_trial"):
        return
    trials = {**user.precision_trials, event.payload["key"]: float(event.payload["speedup"])}
    user.precision_trials = dict(list(trials.items())[-MAX_TRIALS:])
    with suppress(WorkbenchError):
        user.save()
