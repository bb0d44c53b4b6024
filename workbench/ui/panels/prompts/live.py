"""A prompt run on dev while it is scored."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.jobs.events import Event, Finished, Output, Started


@dataclass
class PromptProgress:
    """The active run, or the last one. `share` is its progress, None while the model loads."""

    run_id: int
    name: str
    status: str = "waiting"
    done: int = 0
    total: int = 0
    seconds_left: float | None = None
    message: str = ""
    ending: str = ""  # requested by the user: "", stop, cancel

    @property
    def active(self) -> bool:
        return self.status in ("waiting", "running")

    @property
    def share(self) -> float | None:
        return self.done / self.total if self.total else None

    def follow(self, event: Event) -> None:
        """Update the fields with one event of the run's job."""
        if isinstance(event, Started):
            self.status = "running"
        elif isinstance(event, Output) and event.payload.get("kind") == "progress":
            self.done, self.total = event.payload["done"], event.payload["total"]
            self.seconds_left = event.payload.get("seconds_left")
        elif isinstance(event, Finished):
            self.status, self.ending = event.status, ""
            self.message = f"{event.message} {event.hint}".strip()
