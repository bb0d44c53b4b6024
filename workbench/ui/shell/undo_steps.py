"""Undo and redo from the window: small steps at once, large ones with progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.journal.history import HistoryStep
    from workbench.ui.application import Application
    from workbench.ui.shell.local_steps import LocalStep

LARGE_STEP_ROWS = 2000  # rows; a larger step is undone in a thread


def step(app: Application, way: str, doing: str, did: str, steps: int | None) -> None:
    """Undo or redo (`way`) steps of the history, all or none; large ones in a thread to keep the
    window responsive. None: one step, which may be a local one. `doing` and `did` are messages
    with {title}.
    """
    project = app.project
    if project is None or project.read_only or project.busy or app.working:
        return
    if steps is None and (local := _local(app, way)) is not None:
        app.note(did.format(title=local.title))
        getattr(app.local_steps, way)(local)
        app.commands_changed()
        return
    changes = _next(project, way, steps or 1)
    if not changes:
        return

    def done(title: str | None) -> None:
        if title is not None:
            app.note(did.format(title=title))

    if sum(step.rows for step in changes) <= LARGE_STEP_ROWS:
        try:
            done(getattr(project, way)(len(changes)))
        except WorkbenchError as error:
            app.fail(error)
        return
    app.tasks.start(
        "history",
        lambda watch: getattr(project, way)(len(changes), watch=watch),
        done,
        title=doing.format(title=changes[-1].title),
        writes=True,
    )


def title(app: Application, way: str) -> str | None:
    """The title of the step that Undo or Redo (`way`) applies to; None if there is none."""
    if (local := _local(app, way)) is not None:
        return local.title
    project = app.project
    if project is None:
        return None
    return project.undo_title if way == "undo" else project.redo_title


def _local(app: Application, way: str) -> LocalStep | None:
    steps = app.local_steps
    if steps is None:
        return None
    return steps.to_undo if way == "undo" else steps.to_redo


def _next(project: Project, way: str, steps: int) -> list[HistoryStep]:
    """The next `steps` steps to undo or redo, in that order."""
    undone = way == "redo"
    fitting = [step for step in project.history() if step.undone == undone]
    return (fitting[::-1] if undone else fitting)[:steps]


def undo_of_latest(app: Application) -> Callable[[], None]:
    """A function that undoes the most recent step, unless another step has been made since."""
    newest = app.project.history(1) if app.project is not None else ()

    def undo() -> None:
        if app.project is not None and app.project.history(1) == newest:
            app.undo(1)
        else:
            app.note(
                _(
                    "Another change was made since then. Edit ▸ Undo reverts that one "
                    "first; History lists all steps."
                )
            )

    return undo
