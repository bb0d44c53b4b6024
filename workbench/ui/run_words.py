"""What the window says about a run in few words: its task and its scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.tasks import spec as tasks
from workbench.tasks.spec import score_names, score_title
from workbench.ui.formats import points

if TYPE_CHECKING:
    from workbench.storage.runs import Run

__all__ = ["first_score", "main_score", "score_names", "score_title", "short_title", "title_of"]


def title_of(run: Run) -> str:
    """The task of a run as text."""
    task = run.spec.get("task")
    return _(tasks.info(task).title) if task else term(run.kind)


def short_title(run: Run) -> str:
    """A short title of a run's task for narrow columns."""
    task = run.spec.get("task")
    return _(tasks.info(task).short) if task else term(run.kind)


def main_score(run: Run) -> str:
    """The score used to select the best checkpoint, on dev, as run."""
    task = run.spec.get("task")
    return points(run.scores.get("dev", {}).get(tasks.info(task).main)) if task else points(None)


def first_score(scores: Mapping[str, float], task: str) -> str:
    """The most important of the scores on dev as text; "" if there are none."""
    if not scores:
        return ""
    main = score_names(scores, task)[0]
    return _("{name} {value} on dev").format(name=score_title(main), value=points(scores[main]))
