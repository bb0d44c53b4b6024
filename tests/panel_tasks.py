"""Tasks of a panel without a window: the work is done at once, on this thread."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from workbench.base.errors import ProjectBusy
from workbench.operations.runs import train
from workbench.storage.runs.runs import Run
from workbench.ui.tasks import Tasks


class Runner:
    """Runs work at once; `tests.held.Held` holds it back."""

    def run(self, work, done):
        try:
            result = work()
        except Exception as error:
            done(None, error)
        else:
            done(result, None)


class Board:
    """The tasks that a window would show: `shown` are their titles."""

    def __init__(self):
        self.shown: list[str] = []
        self._writing = None

    def begin(self, task):
        if task.writes and self._writing is not None:
            raise ProjectBusy(f"“{self._writing.title}” is still running.")
        self._writing = task if task.writes else self._writing
        self.shown.append(task.title)

    def report(self, task):
        pass

    def end(self, task):
        self._writing = None if task is self._writing else self._writing


def add_tasks(context: Any) -> Any:
    """Give a context `task`, `waiting`, `cancel`, `drop`, `follow` and `close`; returns it.

    Its `fail` and `note` are called; `context.board.shown` are the titles of tasks.
    """
    context.runner, context.board = Runner(), Board()
    tasks = Tasks(
        lambda work, done: context.runner.run(work, done),
        dispatch=lambda act: act(),
        board=lambda: context.board,
        fail=lambda error: context.fail(error),
        note=lambda text: context.note(text),
    )
    context.tasks = tasks
    context.task, context.waiting = tasks.start, tasks.waiting
    context.cancel, context.drop = tasks.cancel, tasks.drop
    drops = []

    def follow(what, on_event):
        drops.append(_follow(context, what, on_event))
        return drops[-1]

    def close():
        tasks.close()
        for drop in drops:
            drop()

    context.follow, context.close = follow, close
    return context


def hold(context: Any, name: str) -> list[Any]:
    """Hold back the tasks of a context that call a function of this name, from now on.

    Returns the list to which they are added, as functions that let them run.
    """
    at_once, held = context.runner.run, []

    def run(work, done):
        if getattr(getattr(work, "func", None), "__name__", "") == name:
            held.append(lambda: Runner().run(work, done))
        else:
            at_once(work, done)

    context.runner.run = run
    return held


def _follow(context, what, on_event):
    changed = context.queue.changed
    if what is None:
        return changed.connect(on_event)
    if isinstance(what, Run):
        of_run = partial(train.trains, project=context.project, run_id=what.id)
        return changed.connect(lambda job, event: on_event(job, event) if of_run(job) else None)
    return what.changed.connect(lambda event: on_event(what, event))


def context(**values: Any) -> Any:
    """A context with tasks and these attributes; `faults` and `notes` collect what is shown."""
    made = SimpleNamespace(faults=[], notes=[], **values)
    made.fail = made.faults.append
    made.note = lambda text, *_rest, **_named: made.notes.append(text)
    return add_tasks(made)
