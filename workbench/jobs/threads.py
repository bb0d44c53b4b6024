"""Short work off the main thread: search, backup, bulk edits. The only thread pool.

The threads are daemons that stay: a search that hangs in a regular expression does not hold up the end of the application.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import Any

from workbench.base.errors import Cancelled

NAME = "glossbench-pool"
SIZE = max(2, min(4, os.cpu_count() or 2))

Dispatch = Callable[[Callable[[], None]], None]
_tasks: queue.SimpleQueue[tuple] = queue.SimpleQueue()
_lock = threading.Lock()
_threads: list[threading.Thread] = []
_busy = 0  # tasks posted and not yet ended


class Token:
    """Says to work under way that nobody wants its result any more."""

    def __init__(self) -> None:
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """From then on `done` is not called."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def check(self) -> None:
        """Raises Cancelled once the token is cancelled; for the work to call now and then."""
        if self.cancelled:
            raise Cancelled()


def run(
    work: Callable[[], Any],
    done: Callable[[Any, Exception | None], None],
    *,
    dispatch: Dispatch,
    token: Token | None = None,
) -> Token:
    """Call `work()` in a thread, then `done(result, None)` or `done(None, error)` through `dispatch`.

    Returns the token; pass one in where `work` itself looks at it. After `token.cancel()` `done` is not called.
    """
    global _busy
    token = token or Token()
    with _lock:
        _busy += 1
        if _busy > len(_threads) and len(_threads) < SIZE:
            thread = threading.Thread(
                target=_serve, name=f"{NAME}-{len(_threads) + 1}", daemon=True
            )
            _threads.append(thread)
            thread.start()
    _tasks.put((work, done, dispatch, token))
    return token


def idle() -> bool:
    """Whether no work is posted or under way."""
    return _busy == 0


def _serve() -> None:
    global _busy
    while True:
        task = _tasks.get()
        try:
            _do(*task)
        finally:
            del task  # a closure would keep a closed project alive until the next task
            with _lock:
                _busy -= 1


def _do(work: Callable, done: Callable, dispatch: Dispatch, token: Token) -> None:
    result, error = None, None
    if not token.cancelled:
        try:
            result = work()
        except Exception as raised:  # it is told to `done`, which is the one to judge
            error = raised
    dispatch(lambda: None if token.cancelled else done(result, error))
