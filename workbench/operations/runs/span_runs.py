"""Runs whose predicted spans a run of relations connects, in place of the spans of its layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.operations.runs import missing, results
from workbench.operations.runs.kinds import contract as kinds
from workbench.tasks import spec as tasks
from workbench.text.fields import Chains, SpanScores, WordTags
from workbench.text.relations import span_layer

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.labels import Layer

FINISHED = ("done", "stopped")
FIELDS = SpanScores, WordTags, Chains  # predictions that have spans


def connects(project: Project, run: Run) -> str:
    """The layer of spans that a run of relations connects; "" for any other run."""
    layer = _layer(project, run)
    return span_layer(layer) if layer is not None and layer.traits.between_spans else ""


def span_runs(project: Project, run: Run) -> tuple[Run, ...]:
    """The finished runs that predict the spans which `run` connects, newest first; () for a run of
    another task.
    """
    name = connects(project, run)
    if not name:
        return ()
    return tuple(other for other in results.all_runs(project) if _finds(project, other, name))


def check(project: Project, run: Run, spans: Run) -> None:
    """Raises WorkbenchError if `spans` does not predict what `run` connects."""
    name = connects(project, run)
    if not name:
        raise WorkbenchError(
            _("Run {name!r} predicts no relations between spans.", name=run.name),
            hint=_("Predicted spans are for runs of relations and roles."),
        )
    if not _finds(project, spans, name):
        known = ", ".join(other.name for other in span_runs(project, run)) or _("none yet")
        raise WorkbenchError(
            _(
                "Run {name!r} does not predict spans of layer {layer!r}.",
                name=spans.name,
                layer=name,
            ),
            hint=_("Runs: {known}.", known=known),
        )


def _finds(project: Project, run: Run, name: str) -> bool:
    layer = _layer(project, run)
    if layer is None or layer.name != name or run.status not in FINISHED:
        return False
    task = results.task_of(run)
    return kinds.info(run.kind).predicts and tasks.view_of(task).field in FIELDS


def _layer(project: Project, run: Run) -> Layer | None:
    """None if it was deleted, or the run has no task that can be used."""
    if not run.spec.get("task") or missing.of_run(run):
        return None
    try:
        return results.layer_of(project, run)
    except WorkbenchError:
        return None
