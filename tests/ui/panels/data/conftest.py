"""A panel's context without a window: work runs synchronously, messages and navigation are
recorded.
"""

import pytest

from tests.panel_tasks import add_tasks
from workbench.base import settings
from workbench.base.events import Signal
from workbench.project.project import Project


class Work:
    active = False

    def __init__(self):
        self.changed = Signal("work.changed")


class Context:
    def __init__(self, project, queue):
        self.project, self.queue = project, queue
        self.settings = settings.Settings()
        self.notes, self.went, self.failures = [], [], []
        self.work = Work()
        add_tasks(self)

    def dispatch(self, fn):
        fn()

    def note(self, text, undo=False, *, action=""):
        self.notes.append((text, bool(undo)))

    def go(self, page, **args):
        self.went.append((page, args))

    def fail(self, error):
        self.failures.append(error)


@pytest.fixture
def context(project_file, inline_jobs):
    """The small project open for writing."""
    project = Project.open(project_file)
    yield Context(project, inline_jobs)
    project.close()


@pytest.fixture
def sample_file(copy_sample, tmp_path):
    """The sample project, closed."""
    return copy_sample(tmp_path / "sample")
