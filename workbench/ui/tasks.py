"""Tasks: the one way from the window into work that takes time, `context.task`.

    context.task("scores", partial(results.evaluate, project, queue, run, split), self._show)

- An operation blocks and returns its result. It runs in a thread; `done(result)` follows on the
  main thread.
- The newest task with the same key wins: the answer of an older one is dropped and its watch is
  cancelled. Nothing arrives after the panel is closed, which cancels its tasks.
- An operation that takes `watch` gets one: it can be cancelled, and `progress(watch)` is called
  when there is progress. One that needs a worker waits for it with `queue.run(spec, watch)`;
  `on_event(payload)` is called with each object that the worker yields, until it is cancelled.
- `failed(error)` gets every error, also Cancelled. Without it, `context.fail` shows the error, and
  a task with a title that was cancelled leaves a note.
- With a title, work longer than 300 ms is shown at the bottom of the window; Cancel is offered if
  it takes `watch`.
- `writes=True`: work on the project file, one at a time. Editing is disabled meanwhile, Cancel
  rolls everything back, and closing the project waits for it.

Without Qt; used on the main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any, Protocol

from workbench.base.errors import Cancelled, ProjectBusy
from workbench.base.i18n import _
from workbench.base.watch import OnEvent, Watch, takes_watch

Done = Callable[[Any, Exception | None], None]


class RunningTask:
    """Work that has been started and has not ended. `watch` is None if it cannot be cancelled."""

    def __init__(self, title: str, watch: Watch | None, writes: bool):
        self.title, self.watch, self.writes = title, watch, writes
        self.skip: Callable[[], None] = lambda: None  # its answer is no longer wanted

    def cancel(self) -> None:
        if self.watch is not None:
            self.watch.cancel()


class TaskBoard(Protocol):
    """Where the window shows the tasks that have a title or write: `ui.shell.work.Work`."""

    def begin(self, task: RunningTask) -> None:
        """Raises ProjectBusy if the task writes and another one does."""

    def report(self, task: RunningTask) -> None: ...

    def end(self, task: RunningTask) -> None: ...


class Tasks:
    """The tasks of a panel, or of the window itself. For the rules see above.

    run: starts work in a thread, such as `jobs.threads.run`: `run(work, done)` returns an object
    with `cancel`, after which `done(result, error)` is not called. dispatch: calls a function on
    the main thread. board: called when a task with a title begins. fail, note: show an error and a
    message.
    """

    def __init__(
        self,
        run: Callable[[Callable[[], Any], Done], Any],
        *,
        dispatch: Callable[[Callable[[], None]], None],
        board: Callable[[], TaskBoard],
        fail: Callable[[Exception], None],
        note: Callable[[str], None],
    ):
        self._run, self._dispatch, self._board = run, dispatch, board
        self._fail, self._note = fail, note
        self._tasks: dict[Hashable, RunningTask] = {}
        self._closed = False

    def start(
        self,
        key: Hashable,
        work: Callable[..., Any],
        done: Callable[[Any], None],
        *,
        failed: Callable[[Exception], None] | None = None,
        progress: Callable[[Watch], None] | None = None,
        on_event: OnEvent | None = None,
        title: str = "",
        writes: bool = False,
    ) -> None:
        """Call `work()`, or `work(watch=…)`, in a thread, then `done(result)`."""
        if self._closed:
            return
        task = RunningTask(title, None, writes)
        if takes_watch(work):
            task.watch = self._watch(key, task, progress, on_event)
        try:
            if task.title or writes:
                self._board().begin(task)
        except ProjectBusy as error:
            (failed or self._fail)(error)
            return
        self.drop(key)
        self._tasks[key] = task

        def ended(result: Any, error: Exception | None) -> None:
            self._off_board(task)
            if self._tasks.get(key) is not task:
                return
            del self._tasks[key]
            if error is None:
                done(result)
            else:
                (failed or self._show_error(task))(error)

        act = work if task.watch is None else partial(work, watch=task.watch)
        running = self._run(act, ended)
        if running is not None and not writes:  # one that writes is shown until it has ended
            task.skip = running.cancel

    def waiting(self, key: Hashable) -> bool:
        """Whether a task with this key is running."""
        return key in self._tasks

    def cancel(self, key: Hashable) -> None:
        """Cancel the task with this key as its Cancel button does: `failed` gets Cancelled."""
        if (task := self._tasks.get(key)) is not None:
            task.cancel()

    def drop(self, key: Hashable) -> None:
        """Drop the answer of the task with this key; it is cancelled unless it writes."""
        if (task := self._tasks.pop(key, None)) is not None and not task.writes:
            task.cancel()
            task.skip()
            self._off_board(task)

    def close(self) -> None:
        """Drop the answers of all tasks; no more are started."""
        self._closed = True
        for key in tuple(self._tasks):
            self.drop(key)

    def _watch(
        self,
        key: Hashable,
        task: RunningTask,
        progress: Callable[[Watch], None] | None,
        on_event: OnEvent | None,
    ) -> Watch:
        def is_current() -> bool:
            return self._tasks.get(key) is task

        def take(payload: Mapping[str, Any]) -> None:
            if on_event is not None and is_current() and not watch.cancelled:
                on_event(payload)

        def report() -> None:
            if task.watch is not None and is_current():
                if task.title or task.writes:
                    self._board().report(task)
                if progress is not None:
                    progress(task.watch)

        watch = Watch(lambda _share: self._dispatch(report), on_event=take)
        return watch

    def _off_board(self, task: RunningTask) -> None:
        if task.title or task.writes:
            self._board().end(task)

    def _show_error(self, task: RunningTask) -> Callable[[Exception], None]:
        def show(error: Exception) -> None:
            if not isinstance(error, Cancelled):
                self._fail(error)
            elif task.writes:
                message = _("{title}: cancelled. No changes were made.", title=task.title)
                self._note(message)
            elif task.title:
                self._note(_("{title}: cancelled.", title=task.title))

        return show
