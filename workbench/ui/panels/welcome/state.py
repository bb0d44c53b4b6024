"""State of the Welcome page: active jobs, and recent projects with missing ones marked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.ui.shell.recent import Recent, projects

if TYPE_CHECKING:
    from workbench.jobs.queue import Job
    from workbench.ui.panel import PanelContext


CHANGES = "help/changes.md"
ASKS_PERSON = "welcome.person"  # setting: whether the page asks who labels
MAX_ENTRIES = 6  # number of entries on the Welcome page
HIGHLIGHTS = "### Highlights"  # the section of a version that the Welcome page shows


def newest() -> tuple[str, tuple[str, ...]]:
    """Entries of the included change list; empty if it is missing."""
    try:
        return read(paths.resource(CHANGES).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return "", ()


def read(text: str, most: int = MAX_ENTRIES) -> tuple[str, tuple[str, ...]]:
    """The newest version in a change list, and its highlights.

    They are the entries below "### Highlights"; a version without that section has none. Entries
    are lines that start with "- "; indented lines continue an entry.
    """
    version, section, entries = "", "", list[str]()
    for line in text.splitlines():
        if line.startswith("## "):
            if version:
                break
            version = line[3:].strip()
        elif line.startswith("### "):
            section = line.strip()
        elif section != HIGHLIGHTS:
            continue
        elif line.startswith("- "):
            entries.append(line[2:].strip())
        elif line.startswith("  ") and entries:
            entries[-1] += " " + line.strip()
    return version, tuple(_plain(entry) for entry in entries[:most])


def _plain(entry: str) -> str:
    """Without Markdown markup."""
    return re.sub(r"[`*]", "", entry).rstrip(".;")


class WelcomeState(State):
    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context = context
        self.recent: tuple[Recent, ...] = ()
        self.jobs: tuple[Job, ...] = ()
        self.changed_job: Job | None = None  # the job of the last event
        self.version, self.news = newest()
        self.asks_person = False  # who labels on this computer
        self.listen(context.app.jobs_changed, self._job_changed)
        self.listen(context.app.recent_changed, self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Read the recent files and the active jobs again."""
        self.update(
            recent=projects(self.context.settings.recent),
            jobs=self._active(),
            asks_person=self._asks_person(),
        )

    def _active(self) -> tuple[Job, ...]:
        jobs = tuple(self.context.app.active_jobs())
        return self.jobs if jobs == self.jobs else jobs

    def _job_changed(self, job: Job, event: object) -> None:
        self.update(jobs=self._active())
        self.changed_job = job
        self.changed.emit(frozenset({"changed_job"}))

    def project_name(self, job: Job) -> str:
        """The project of a job, "" if it has none."""
        return Path(job.spec.project).stem if job.spec.project else ""

    def go_to(self, job: Job) -> None:
        """Open the project of a job, on the page that shows its run."""
        from workbench.operations.runs.kinds import contract as kinds

        self.context.app.open_project(job.spec.project, page=kinds.of_job(job).page)

    def open(self, path: str) -> None:
        self.context.app.open_project(path)
        self.refresh()

    # ------------------------------------------------------------ who labels

    def _asks_person(self) -> bool:
        settings = self.context.settings
        return not settings.is_named and settings.window.get(ASKS_PERSON, True)

    def introduce(self, values: dict[str, str]) -> str:
        """Save who labels on this computer; returns what is wrong with the values, or ""."""
        from workbench.operations.people import people

        app = self.context.app
        try:
            people.introduce(self.context.settings, values, app.project)
        except WorkbenchError as error:
            return str(error)
        app.person_changed()
        self.update(asks_person=False)
        name = self.context.settings.annotator
        self.context.note(_("Labels are saved as {name}. Settings can change it.", name=name))
        return ""

    def ask_person_later(self) -> None:
        """Settings and New project still ask."""
        self.context.settings.window[ASKS_PERSON] = False
        self.context.settings.save()
        self.update(asks_person=False)

    def act(self, name: str) -> None:
        self.context.app.act(name)

    def locate(self, old: str, new: str) -> None:
        """Open a moved project at its new path and forget the old one."""
        if self.context.app.open_project(new):
            self.context.settings.forget_project(old)

    def remove(self, path: str) -> None:
        """Remove a project from the list; its file is kept."""
        settings, before = self.context.settings, list(self.context.settings.recent)
        settings.forget_project(path)
        self.refresh()
        self.context.note(
            _("{name} was removed from the list. The file is kept.", name=Path(path).name),
            lambda: self._put_back(before),
        )

    def _put_back(self, recent: list[str]) -> None:
        self.context.settings.recent = recent
        self.context.settings.save()
        self.refresh()
