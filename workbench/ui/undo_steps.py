"""Undo and redo from the window: small steps at once, large ones with progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.history import HistoryStep
    from workbench.ui.app import App

LARGE = 2000  # rows; a larger step is undone in a thread


def step(app: App, way: str, doing: str, did: str, steps: int) -> None:
    """Undo or redo (`way`) steps, all or none; large ones in a thread to keep the window
    responsive. `doing` and `did` are messages with {title}.
    """
    project = app.project
    if project is None or project.read_only or project.busy or app.working:
        return
    found = _next(project, way, steps)
    if not found:
        return

    def done(title: str | None) -> None:
        if title is not None:
            app.note(did.format(title=title))

    if sum(step.rows for step in found) <= LARGE:
        try:
            done(getattr(project, way)(len(found)))
        except WorkbenchError as error:
            app.fail(error)
        return
    app.work.start(
        doing.format(title=found[-1].title),
        lambda watch: getattr(project, way)(len(found), watch=watch),
        done,
    )


def _next(project: Project, way: str, steps: int) -> list[HistoryStep]:
    """The next `steps` steps to undo or redo, in that order."""
    undone = way == "redo"
    fitting = [step for step in project.history() if step.undone == undone]
    return (fitting[::-1] if undone else fitting)[:steps]


def undo_of_latest(app: App) -> Callable[[], None]:
    """A function that undoes the most recent step, unless another step has been made since."""
    newest = app.project.history(1) if app.project is not None else ()

    def undo() -> None:
        if app.project is not None and app.project.history(1) == newest:
            app.undo()
        else:
            app.note(
                _(
                    "Another change was made since then. Edit ▸ Undo reverts that one "
                    "first; History lists all steps."
                )
            )

    return undo
