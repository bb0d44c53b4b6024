"""Errors that a person is meant to read. All others are bugs."""

import errno

from workbench.base.i18n import _

LONGEST = 2000  # characters of a message


class WorkbenchError(Exception):
    """Something could not be done.

    `message` says what happened, with the value and the place; `hint` says what to do about it.
    """

    def __init__(self, message: str, *, hint: str = ""):
        super().__init__(message)
        self.message = _short(message)
        self.hint = _short(hint)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


def _short(text: str) -> str:
    """For a dialog or a line: a value that is quoted may be of any length, what stands at both ends tells enough."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"


class ImportFailed(WorkbenchError):
    """A file could not be read as data."""


class ExportFailed(WorkbenchError):
    """Labels or a model could not be written."""


class ModelError(WorkbenchError):
    """A model folder is incomplete, unknown or unsafe."""


class SpecError(WorkbenchError):
    """A setting has a value that does not fit."""


class ProjectError(WorkbenchError):
    """A project file cannot be opened or written."""


class ProjectBusy(ProjectError):
    """Another thread is writing to the project just now."""


class ProjectLocked(ProjectError):
    """Another process has the project open for writing."""


class JobFailed(WorkbenchError):
    """A background job ended without a result."""


class Cancelled(WorkbenchError):
    """The user called it off; nothing was changed."""

    def __init__(self, message: str = ""):
        super().__init__(message or _("Cancelled."))


class TimeLimitExceeded(BaseException):
    """Raised by a timer in a worker whose request has used up its processor time.

    Not an Exception, so that a library which catches those cannot swallow it.
    """


def is_disk_full(error: BaseException) -> bool:
    """By words too: SQLite and the writers of weights have errors of their own for it."""
    words = str(error).lower()
    told = any(one in words for one in ("no space left", "disk is full", "disk quota"))
    return told or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
