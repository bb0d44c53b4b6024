"""Model export: the chosen formats as folders; the ONNX model is then verified against the original
on the user's texts.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import owned_folder, scratch
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.exporters.model import spec as exporters
from workbench.exporters.model.results import ExportResult
from workbench.exporters.model.spec import FORMATS, ExportSpec, Format, loading_code
from workbench.jobs.events import Event, Finished, Started
from workbench.jobs.spec import JobSpec
from workbench.operations import results, train
from workbench.operations.outcomes import trained
from workbench.storage import documents
from workbench.tasks import spec as tasks
from workbench.text import dataset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.storage.runs import Run
    from workbench.text.document import Document

__all__ = ["FORMATS", "Format", "loading_code"]


def formats_of(names: str | Sequence[str]) -> tuple[str, ...]:
    """ "hf,onnx" → ("hf", "onnx"). Raises SpecError for an unknown format."""
    return exporters.parse_formats(names)


def exportable_runs(project: Project) -> tuple[Run, ...]:
    """Finished runs with a model, newest first."""
    return tuple(
        one
        for one in results.all_runs(project)
        if one.status in ("done", "stopped") and _has_model(project, one)
    )


def _has_model(project: Project, run: Run) -> bool:
    try:
        train.model_folder(project, run)
    except WorkbenchError:
        return False
    return True


def check_documents(project: Project, run: Run) -> tuple[Document, ...]:
    """Texts for the verification: dev and test documents of the run's layer, at most 500, evenly
    sampled.

    Any documents to which the layer applies if there are none.
    """
    texts = results.layer_of(project, run).texts
    ids: list[int] = []
    for split in ("dev", "test"):
        ids += documents.ids(project.db, documents.Filter(split=split, texts=texts))
    ids = ids or list(documents.ids(project.db, documents.Filter(texts=texts)))
    step = max(1.0, len(ids) / exporters.MOST_TEXTS)
    chosen = [ids[int(number * step)] for number in range(min(len(ids), exporters.MOST_TEXTS))]
    return tuple(
        one.document
        for one in documents.records(project.db, layers=(), ids=chosen)
        if one.document.text.strip()
    )


def sizes(project: Project, run: Run) -> dict[str, int]:
    """Estimated size in bytes of each format that the run supports."""
    folder = train.model_folder(project, run)
    return exporters.forecast(folder, [one.id for one in exporters.offered(folder)])


def start(
    project: Project,
    queue: Queue,
    run: Run,
    out: Path | str,
    formats: Sequence[str] = ("hf", "onnx"),
) -> Job:
    """Export in a worker. Its result is an ExportResult as JSON.

    Raises WorkbenchError if the weights are missing; an unusable folder ends the job with a
    message.
    """
    model = train.model_folder(project, run)
    folder = scratch.make("export")
    texts = folder / "texts.jsonl"
    dataset.write(
        texts, (), (dataset.Record(one) for one in check_documents(project, run)), ids=True
    )
    spec = ExportSpec(
        str(model), str(texts), str(Path(out).absolute()), tuple(formats), facts(project, run)
    )
    params = {**spec.to_json(), "run": {"project": project.uid, "id": run.id, "purpose": "export"}}
    job = queue.add(
        JobSpec(
            exporters.TARGET,
            params,
            str(folder),
            device="cpu",
            title=_("Export {name}").format(name=run.name),
            project=str(project.path),
        )
    )
    workers: list[int] = []

    def heard(event: Event) -> None:
        if isinstance(event, Started):
            workers.append(event.pid)
        elif isinstance(event, Finished):
            scratch.remove(folder)
            for pid in workers:  # a worker that was killed left its temporary folder
                owned_folder.remove(exporters.draft_of(Path(spec.out), pid))

    job.changed.connect(heard)
    return job


def result_of(job: Job) -> ExportResult:
    """What a finished export has written."""
    return ExportResult.from_json(job.result)


def facts(project: Project, run: Run) -> dict[str, Any]:
    """Training details for the model card. Contains none of the user's texts."""
    spec, made, result = train.spec_of(run), run.spec.get("plan", {}), trained(run)
    return {
        "run": run.name,
        "project": project.name,
        "layer": run.layer,
        "base_model": spec.model_name or Path(spec.model).name,
        "base_licence": run.spec.get("licence", ""),
        "seed": spec.seed,
        "options": dict(result.options or spec.options),
        "counts": dict(result.used or made.get("used", {})),
        "left_out": made.get("left_out", []),
        "cut": result.cut or 0,
        "scores": run.scores,
        "definition": tasks.info(spec.task).definition,
        "versions": run.versions,
        "at": run.at,
    }
