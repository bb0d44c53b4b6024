"""Runs whose task cannot be used, as its plugin is not enabled or has an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.registry import needed_plugin
from workbench.operations.runs import run_results
from workbench.tasks import spec as tasks

if TYPE_CHECKING:
    from workbench.storage.runs.runs import Run


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


def title(run: Run) -> str:
    """The title of the task of a run; if the task is missing, with the plugin that it needs."""
    task = str(run.spec["task"])
    if not of_task(task):
        return _(tasks.info(task).title)
    stored = run_results.trained(run).scoring.task
    if plugin := needed_plugin(task):
        title = _(stored) if stored else _words(task)
        return _("{task} (needs the plugin {plugin})", task=title, plugin=plugin)
    return _("{task} (unknown task)", task=task)


def short_title(run: Run) -> str:
    """A short title of the task of a run."""
    task = str(run.spec["task"])
    if not of_task(task):
        return _(tasks.info(task).short)
    stored = run_results.trained(run).scoring.short
    return _(stored) if stored else _words(task)


def _words(task: str) -> str:
    """Words made from the id of a task, without its plugin, for runs that stored no title."""
    return task.rpartition(".")[2].replace("_", " ").capitalize()
