"""The system check: three workers check versions and folders, torch and the devices, and Qt."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.events import Signal
from workbench.base.i18n import N_, _, ngettext
from workbench.base.system_check import GROUPS, PROBLEM, WARNING, Check, worst
from workbench.base.terms import term
from workbench.jobs.events import Finished, Output
from workbench.jobs.spec import JobSpec
from workbench.operations.application import local_checks
from workbench.operations.models import precision

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue


@dataclass(frozen=True)
class Part:
    """The part of the check done by one worker; `id` and `title` are used if it does not finish."""

    id: str
    title: str
    target: str


PARTS = (
    Part("storage.check", N_("Versions and folders"), local_checks.TARGET),
    Part("computing.check", N_("Computing"), "workbench.models.system_check:run"),
    Part("display.check", N_("Display"), "workbench.ui.shell.system_check:run"),
)


class SystemCheck:
    """Runs the check once. `changed` is emitted on the main thread when `checks` or `doing` change.

    `checks` are the finished ones, in report order; `doing` describes the current step.
    A worker that fails or crashes gives a problem instead of its remaining checks.
    """

    def __init__(self, queue: Queue, *, project: str = ""):
        """`project`: the folder of the open project, if there is one."""
        self.changed = Signal("system_check.changed")
        self.doing = ""
        self.jobs: list[Job] = []
        self._queue, self._project = queue, project
        self._found: list[tuple[int, Check]] = []  # (number of the part, check) in order of arrival
        self._running = 0

    @property
    def running(self) -> bool:
        return self._running > 0

    @property
    def checks(self) -> tuple[Check, ...]:
        groups = list(GROUPS)
        ordered = sorted(self._found, key=lambda pair: (groups.index(pair[1].group), pair[0]))
        return tuple(check for _part, check in ordered)

    @property
    def state(self) -> str:
        """The most severe state so far."""
        return worst(self.checks)

    def start(self) -> None:
        self._running = len(PARTS)
        for number, part in enumerate(PARTS):
            title = _("System check: {part}").format(part=_(part.title))
            spec = JobSpec(part.target, self._params(), device="", title=title, env=_env(part))
            try:
                job = self._queue.add(spec)
            except WorkbenchError as error:
                self._ended(number, Finished("failed", message=error.message, hint=error.hint))
                continue
            self.jobs.append(job)
            job.changed.connect(partial(self._heard, number, job))

    def cancel(self) -> None:
        for job in self.jobs:
            if not job.over:
                job.cancel()

    def _params(self) -> dict[str, object]:
        return {"known": precision.known(), "project": self._project}

    def _heard(self, number: int, job: Job, event: object) -> None:
        if isinstance(event, Output) and event.payload.get("kind") == "check":
            self._found.append((number, Check.from_event(event.payload)))
        elif isinstance(event, Output) and event.payload.get("kind") == "stage":
            self.doing = str(event.payload["text"])
        elif isinstance(event, Finished):
            self._queue.forget(job)
            self._ended(number, event)
            return
        self.changed.emit()

    def _ended(self, number: int, event: Finished) -> None:
        self._running -= 1
        if event.status not in ("done", "stopped"):
            part, text = PARTS[number], event.message or term(event.status)
            self._found.append((number, Check(part.id, _(part.title), text, PROBLEM, event.hint)))
        if not self._running:
            self.doing = ""
        self.changed.emit()


def _env(part: Part) -> Mapping[str, str]:
    """Environment of a check: on Linux, fonts and plugins can be checked without a display."""
    offscreen = part.id == "display.check" and sys.platform not in ("win32", "darwin")
    return {"QT_QPA_PLATFORM": "offscreen"} if offscreen else {}


def by_group(checks: Sequence[Check]) -> list[tuple[str, list[Check]]]:
    """(title of a group, its checks) for all non-empty groups."""
    groups = [
        (title, [check for check in checks if check.group == id]) for id, title in GROUPS.items()
    ]
    return [(_(title), members) for title, members in groups if members]


def summary(checks: Sequence[Check]) -> str:
    """A one-sentence summary."""
    problems = sum(check.state == PROBLEM for check in checks)
    warnings = sum(check.state == WARNING for check in checks)
    if not problems and not warnings:
        return _("No problems found.")
    message = ngettext("{n} problem.", "{n} problems.", problems).format(n=problems)
    more = ngettext("{n} warning.", "{n} warnings.", warnings).format(n=warnings)
    if not problems:
        return _("No problems. {warnings}").format(warnings=more)
    return " ".join([message, more]) if warnings else message


def as_text(checks: Sequence[Check]) -> str:
    """The report as text for a terminal or a message."""
    width = max((len(term(check.state)) for check in checks), default=0)
    lines = []
    for title, members in by_group(checks):
        lines.append(title)
        for check in members:
            state = term(check.state).ljust(width)
            lines.append(f"  {state}  {check.title}: {check.describe()}")
            if check.advice:
                lines.append(f"  {' ' * width}  → {check.advice}")
        lines.append("")
    return "\n".join([*lines, summary(checks)])


def as_json(checks: Sequence[Check]) -> dict[str, object]:
    names = ("id", "group", "title", "state", "advice")
    rows = [
        {**{name: getattr(check, name) for name in names}, "result": check.describe()}
        for check in checks
    ]
    return {"state": worst(tuple(checks)), "checks": rows}
