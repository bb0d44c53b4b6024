"""Run work on many documents on this thread or in the background: a command waits for it, a window
must not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.base.errors import WorkbenchError

Done = Callable[[Any, "Exception | None"], None]
Background = Callable[[Callable[[], Any], Done], None]
"""`background(work, done)` runs `work()` on another thread and calls `done(result, None)` or
`done(None, error)` on the main thread.
"""


def here(work: Callable[[], Any], done: Done) -> None:
    """The background of a caller that waits: run at once on this thread."""
    try:
        result = work()
    except WorkbenchError as error:
        done(None, error)
    else:
        done(result, None)
