"""Work on many documents, here or off the main thread: what a command line waits for must not hold a window up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.base.errors import WorkbenchError

Done = Callable[[Any, "Exception | None"], None]
Background = Callable[[Callable[[], Any], Done], None]
"""`background(work, done)` runs `work()` on another thread and `done(result, None)` or `done(None, error)` on the main one."""


def here(work: Callable[[], Any], done: Done) -> None:
    """The background of whoever waits anyway: at once, on this thread."""
    try:
        result = work()
    except WorkbenchError as error:
        done(None, error)
    else:
        done(result, None)
