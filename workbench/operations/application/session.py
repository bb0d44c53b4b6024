"""An open project and a job queue, connected to each other, in a program without an event loop."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import settings
from workbench.base.errors import ProjectError
from workbench.base.i18n import _

if TYPE_CHECKING:
    from workbench.jobs.dispatch import Mailbox
    from workbench.jobs.queue import Queue
    from workbench.operations.runs.run_recorder import RunRecorder
    from workbench.project.project import Project


class Session:
    """`project` (if there is one) and `queue`. Close it when done.

    Raises ProjectLocked if another process writes to the project, ProjectError if there is none.
    """

    def __init__(self, file: Path | None, *, read_only: bool = False):
        from workbench.jobs.dispatch import Mailbox
        from workbench.jobs.queue import Queue
        from workbench.operations.models import precision

        self.mailbox = Mailbox()
        self._project: Project | None = None
        self.wiring: RunRecorder | None = None
        if file is not None:
            self._project = _open(file, read_only, self.mailbox)
        self.queue: Queue = Queue(dispatch=self.mailbox)
        self.queue.changed.connect(lambda _job, event: precision.remember(event, settings.load()))
        if self._project is not None:
            from workbench.operations.runs.run_recorder import wire

            self.wiring = wire(self._project, self.queue)

    @property
    def project(self) -> Project:
        """Raises RuntimeError for a session without a project."""
        if self._project is None:
            raise RuntimeError("the session has no project")
        return self._project

    def close(self) -> None:
        self.queue.close()
        if self.wiring is not None:
            self.wiring.close()
        if self._project is not None:
            self._project.close()


def _open(file: Path, read_only: bool, mailbox: Mailbox) -> Project:
    from workbench.project.project import Project

    if not file.exists():
        raise ProjectError(
            _("{path} does not exist.", path=file),
            hint=_(
                "Check the name, or create it with: glossbench project new {path}",
                path=shlex.quote(str(file)),
            ),
        )
    return Project.open(file, read_only=read_only, dispatch=mailbox)
