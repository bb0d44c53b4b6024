"""Pretraining on plain text or on the documents of a project, as a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from workbench.base import scratch
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.jobs.spec import JobSpec
from workbench.operations.models import precision
from workbench.operations.runs import new_runs, train
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.kinds.pretrain.info import INFO as PRETRAINING
from workbench.operations.transfer import plain_text
from workbench.pretraining.results import PretrainResult
from workbench.pretraining.spec import PretrainSpec, objective
from workbench.pretraining.texts import files_of
from workbench.storage.connections.header import is_project
from workbench.storage.documents import documents
from workbench.storage.runs import runs

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

TARGET = "workbench.pretraining.loop:run"
SHOW = "workbench.pretraining.loop:show_batch"
OUT = "out"  # in the settings of a run: the folder of its model
TEXTS, HELD_OUT = "texts", "held_out"  # files, folders and projects that a command can name


class PretrainingJob:
    """One pretraining: its job, and the text that was copied from projects for it.

    source: where the text is from, as JSON; stored with the job to write the text again.
    Raises WorkbenchError if a text is missing or the project has no documents.
    """

    kind: ClassVar[str] = PRETRAINING.id

    def __init__(self, spec: PretrainSpec, out: Path, source: Mapping[str, Any] | None = None):
        self.copies: list[Path] = []
        self.source = source
        self.named = spec.texts, spec.held_out  # before projects were copied
        try:
            texts = [self._text_of(Path(path)) for path in spec.texts]
            held_out = [self._text_of(Path(path)) for path in spec.held_out]
        except BaseException:
            self.close()
            raise
        self.spec = replace(spec, texts=tuple(map(str, texts)), held_out=tuple(map(str, held_out)))
        self.out = out.absolute()

    def start(self, queue: Queue, project: Project | None = None) -> Job:
        """Start it in a worker; with a project open for writing, as a run of that project."""
        if project is None or project.read_only:
            return queue.add(self._job("", {}))
        run = kinds.start(project, queue, self)
        return cast("Job", train.job_of(queue, project, run.id))

    def start_run(self, project: Project, queue: Queue, *, parent_id: int | None = None) -> Run:
        """Start it as a run, see `kinds.start`."""
        spec, created = self.spec, self.spec.created
        texts, held_out = self.named
        if self.copies and self.source is not None:  # documents that were chosen in the window
            texts = held_out = ()
        return new_runs.queued(
            project,
            queue,
            PRETRAINING.id,
            runs.free_name(project.db, self.out.name),
            lambda folder, about: replace(
                self._job(str(folder), {"run": about}), project=str(project.path)
            ),
            spec={
                "objective": spec.objective,
                "model": spec.model,
                "model_name": created.architecture if created else Path(spec.model).name,
                "seed": spec.seed,
                "options": dict(spec.options),
                **({TEXTS: list(texts)} if texts else {}),
                **({HELD_OUT: list(held_out)} if held_out else {}),
                OUT: str(self.out),
            },
            parent_id=parent_id,
        )

    def _job(self, folder: str, about: Mapping[str, Any]) -> JobSpec:
        device = train.wanted_device(self.spec.settings()["device"])
        here = replace(self.spec, options={**self.spec.options, "device": device})
        params = {
            "spec": here.to_json(),
            "out": str(self.out),
            "precision_trials": precision.known(),
            "source": self.source,
            **about,
        }
        return JobSpec(
            TARGET,
            params,
            folder,
            device=train.queue_device(device),
            title=_("Pretrain {name}", name=self.out.name),
            name=self.out.name,
            stoppable=True,
            scratch=tuple(map(str, self.copies)),
        )

    @property
    def batch_title(self) -> str:
        """The title of the job of `first_batches`."""
        return _("First batch of {name}", name=_(objective(self.spec.objective).title))

    def first_batches(
        self, queue: Queue, *, batches: int = 1, watch: Watch = QUIET
    ) -> dict[str, Any]:
        """The first batch of the run: {"objective", "rows", "fingerprint"}.

        With several batches, the rows of each of the others are in "more". Raises Cancelled or
        JobFailed.
        """
        params = {"spec": self.spec.to_json(), "batches": batches}
        return queue.run(JobSpec(SHOW, params, title=self.batch_title, short=True), watch)

    def result(self, job: Job) -> PretrainResult:
        """The result of a job that is done."""
        return PretrainResult.from_json(job.result)

    def close(self) -> None:
        """Delete the copied text of a job that was not started."""
        for folder in self.copies:
            scratch.remove(folder)

    def _text_of(self, path: Path) -> Path:
        """The file or folder itself, or a file with the texts of the project."""
        if not (path.is_file() and is_project(path)):
            files_of([path])
            return path.absolute()
        from workbench.project.project import Project

        folder = scratch.make("texts")
        self.copies.append(folder)
        project = Project.open(path, read_only=True)
        try:
            return _written(project, folder / "texts.txt")
        finally:
            project.close()


def project_of(spec: PretrainSpec) -> Path | None:
    """The only project among the texts, which lists the run; None without one."""
    projects = [
        Path(text) for text in spec.texts if Path(text).is_file() and is_project(Path(text))
    ]
    return projects[0] if len(projects) == 1 else None


def _written(project: Project, path: Path) -> Path:
    texts = (record.document for record in documents.records(project.db))
    if not plain_text.write(path, texts):
        raise WorkbenchError(
            _("The project {name} has no documents.", name=project.path.name),
            hint=_("Import text first."),
        )
    return path
