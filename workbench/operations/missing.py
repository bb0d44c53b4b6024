"""Runs whose task cannot be used, as its plugin is not enabled or has an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.registry import needed_plugin
from workbench.tasks import spec as tasks

if TYPE_CHECKING:
    from workbench.storage.runs import Run


def of_run(run: Run) -> str:
    """Why the task of a run cannot be used, "" if it can or the run has none."""
    task = run.spec.get("task")
    return of_task(str(task)) if task else ""


def of_task(task: str) -> str:
    """Why a task cannot be used, "" if it can."""
    try:
        tasks.info(task)
    except WorkbenchError as error:
        return str(error)
    return ""


def title(task: str) -> str:
    """The title of a task; if it is missing, its id and the plugin that it needs."""
    if not of_task(task):
        return _(tasks.info(task).title)
    if plugin := needed_plugin(task):
        return _("{task} (needs the plugin {plugin})").format(task=task, plugin=plugin)
    return _("{task} (unknown task)").format(task=task)


def short_title(task: str) -> str:
    """A short title of a task; its id if it is missing."""
    return task if of_task(task) else _(tasks.info(task).short)
