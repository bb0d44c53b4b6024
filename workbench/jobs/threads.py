"""Short tasks off the main thread: search, backup, bulk edits. The only thread pool.

The threads are daemons: a search that hangs in a regular expression does not block the exit of the
application. A task that waits for a job does not count as one of the few that compute, see
`waiting`.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from workbench.base.errors import Cancelled, as_exception

NAME = "glossbench-pool"
SIZE = max(2, min(4, os.cpu_count() or 2))

Dispatch = Callable[[Callable[[], None]], None]
Work = Callable[[], Any]
Done = Callable[[Any, Exception | None], None]
Task = list[Any]  # work, done, dispatch, token, then (result, error); emptied on the main thread
_tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
_lock = threading.Lock()
_threads: list[threading.Thread] = []
_busy = 0  # unfinished tasks
_waiting = 0  # threads of the pool that wait for a job


class Token:
    """Cancels a running task whose result is no longer needed."""

    def __init__(self) -> None:
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """After this call, `done` is not called."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def check(self) -> None:
        """Raises Cancelled if the token is cancelled; tasks call it regularly."""
        if self.cancelled:
            raise Cancelled()


def run(
    work: Callable[[], Any],
    done: Callable[[Any, Exception | None], None],
    *,
    dispatch: Dispatch,
    token: Token | None = None,
) -> Token:
    """Call `work()` in a thread, then `done(result, None)` or `done(None, error)` through
    `dispatch`.

    Returns the token; pass one in if `work` itself checks it. After `token.cancel()`, `done` is not
    called.
    """
    global _busy
    token = token or Token()
    with _lock:
        _busy += 1
        _grow()
    _tasks.put([work, done, dispatch, token])
    return token


@contextmanager
def waiting() -> Iterator[None]:
    """Around the wait for a job or another process: another thread computes meanwhile."""
    global _waiting
    if threading.current_thread() not in _threads:
        yield
        return
    with _lock:
        _waiting += 1
        _grow()
    try:
        yield
    finally:
        with _lock:
            _waiting -= 1


def _grow() -> None:
    """Start a thread if a task has none and fewer than SIZE threads compute. Hold the lock."""
    if _busy > len(_threads) and len(_threads) - _waiting < SIZE:
        thread = threading.Thread(target=_serve, name=f"{NAME}-{len(_threads) + 1}", daemon=True)
        _threads.append(thread)
        thread.start()


def idle() -> bool:
    """Whether no task is posted or running."""
    return _busy == 0


def computing() -> bool:
    """Whether a task is posted or running that does not wait for a job or another process."""
    return _busy > _waiting


def _serve() -> None:
    global _busy
    while not _is_surplus():
        task = _tasks.get()
        try:
            _do(task)
        finally:
            del task  # a closure would keep a closed project alive until the next task
            with _lock:
                _busy -= 1


def _is_surplus() -> bool:
    """Whether more threads compute than should: one that has waited goes on. Ends this one."""
    with _lock:
        surplus = len(_threads) - _waiting > SIZE
        if surplus:
            _threads.remove(threading.current_thread())
        return surplus


def _do(task: Task) -> None:
    """Do the work, then hand over the task with all that it refers to: the last reference to a
    widget must not end in this thread.
    """
    if not task[3].cancelled:
        try:
            task.append((task[0](), None))
        except BaseException as raised:  # passed to `done`; a panic must not end the thread
            task.append((None, as_exception(raised)))  # its traceback refers to widgets too
    task[2](partial(_end, task))


def _end(task: Task) -> None:
    """On the thread of `dispatch`."""
    _work, done, _dispatch, token, *outcome = task
    task.clear()
    if not token.cancelled:
        result, error = outcome[0]
        done(result, error)
