"""Errors with a message for the user. Any other exception is a bug."""

import errno

from workbench.base.i18n import _

MAX_LENGTH = 2000  # characters of a message
STOPS = ("", ".", ":", "!", "?", "…", "。", "؟", "।")  # ends of a message, before its hint


class WorkbenchError(Exception):
    """An operation failed for a reason that the user can understand.

    `message` says what happened, with the value and the place; `hint` says what to do about it.
    A message without a full stop gets one before a hint.
    """

    def __init__(self, message: str, *, hint: str = ""):
        super().__init__(message)
        stop = "." if hint and message[-1:] not in STOPS else ""
        self.message = _short(message) + stop
        self.hint = _short(hint)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


def _short(text: str) -> str:
    """The text shortened in the middle for display, as a quoted value may have any length."""
    return (
        text
        if len(text) <= MAX_LENGTH
        else f"{text[: MAX_LENGTH // 2]} … {text[-MAX_LENGTH // 2 :]}"
    )


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
    """Another thread is currently writing to the project."""


class ProjectDamaged(ProjectError):
    """The contents of the file are not what SQLite or this program wrote."""


class ProjectLocked(ProjectError):
    """Another process has the project open for writing."""


class ProjectMoved(ProjectError):
    """The open project was renamed, moved, deleted or replaced by another program."""


class JobFailed(WorkbenchError):
    """A background job ended without a result.

    `details`: the traceback of the worker or the end of its log, "" if there is none. `crashed`:
    its process has ended without reporting an error.
    """

    def __init__(self, message: str, *, hint: str = "", details: str = "", crashed: bool = False):
        super().__init__(message, hint=hint)
        self.details, self.crashed = details, crashed


class InEventLoop(Exception):
    """Handled while the event loop of the window runs, so it is the context of what is raised."""


def traceback_of(error: BaseException) -> str:
    """The traceback of an exception and those before it, without `InEventLoop`."""
    import traceback

    at = error
    while (before := at.__cause__ or at.__context__) is not None:
        if isinstance(before, InEventLoop):
            at.__context__ = None
            break
        at = before
    return "".join(traceback.format_exception(error))


def as_exception(error: BaseException) -> Exception:
    """The error, or a JobFailed if it is none that callers handle: the panic of a native library,
    for example of a tokenizer whose regular expression does not end, or SystemExit.
    """
    if isinstance(error, Exception):
        return error
    failure = JobFailed(
        _("The operation was ended by an error in a library: {error}", error=brief(error)),
        details=traceback_of(error),
    )
    failure.__cause__ = error
    return failure


def details_of(error: BaseException | None) -> str:
    """What can be expanded below the message of an error, "" if there is nothing."""
    return error.details if isinstance(error, JobFailed) else ""


class Cancelled(WorkbenchError):
    """The user cancelled the operation; nothing was changed."""

    def __init__(self, message: str = ""):
        super().__init__(message or _("Cancelled."))


def unreadable(error: Exception, most: int = 200) -> str:
    """Why a file cannot be read, for a message: the text of the error, without words of Python."""
    if isinstance(error, UnicodeDecodeError):
        return _("byte {position:,} is not valid UTF-8", position=error.start + 1)
    return str(error)[:most].rstrip(".") or type(error).__name__


def not_unicode(what: str, error: UnicodeEncodeError) -> str:
    """Why a text cannot be stored, as a clause; `what` names it. The path of a file and what was
    typed in a terminal may hold bytes that are not UTF-8.
    """
    code = ord(error.object[error.start])
    if 0xDC80 <= code <= 0xDCFF:
        message = _("{what} holds the byte 0x{code:02X} at position {start}, which is not UTF-8")
        return message.format(what=what, code=code - 0xDC00, start=error.start)
    message = _("{what} holds half a surrogate pair (U+{code:04X}) at position {start}")
    return message.format(what=what, code=code, start=error.start)


def brief(error: BaseException) -> str:
    """The type of an error and the first line of its text, without a full stop."""
    line = (str(error).strip().splitlines() or [""])[0][:500].rstrip(".")
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


class TimeLimitExceeded(BaseException):
    """Raised by a timer in a worker whose request has used up its processor time.

    Not an Exception, so that a library which catches those cannot swallow it.
    """


def is_out_of_memory(error: BaseException) -> bool:
    """Recognized by name and message, as torch is not imported here: torch.OutOfMemoryError,
    "DefaultCPUAllocator: can't allocate memory", "could not create a primitive" (oneDNN).
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    words = str(error).lower()
    return isinstance(error, RuntimeError) and any(
        literal in words
        for literal in (
            "out of memory",
            "not enough memory",
            "can't allocate memory",
            "bad_alloc",
            "could not create a primitive",
            "could not create a memory",
        )
    )


def is_disk_full(error: BaseException) -> bool:
    """Whether the disk is full. Checks the message too: some libraries raise their own types."""
    words = str(error).lower()
    message = any(literal in words for literal in ("no space left", "disk is full", "disk quota"))
    return message or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
