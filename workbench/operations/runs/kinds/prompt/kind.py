"""A prompt: a language model is asked for the probability of each label."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.prompts import prompt, prompt_versions
from workbench.operations.runs.kinds.base import Kind
from workbench.operations.runs.kinds.contract import model_name
from workbench.operations.runs.kinds.prompt.info import INFO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.jobs.events import Finished
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.prompting.spec import PromptSpec
    from workbench.storage.runs.runs import Run
    from workbench.text.document import Document
    from workbench.text.fields import Prediction


class PromptKind(Kind):
    info = INFO

    def prepare(
        self,
        project: Project,
        spec: PromptSpec,
        *,
        queue: Queue | None = None,
        watch: Watch = QUIET,
    ) -> prompt.PreparedPrompt:
        return prompt.prepare(project, spec, queue=queue, watch=watch)

    def settings(self, run: Run) -> PromptSpec:
        return replace(prompt.spec_of(run), layer=run.layer)

    def identity(self, spec: PromptSpec) -> str:
        """A run on a part of the documents does not stand for one on all of them."""
        return f"{prompt_versions.identity(spec)} {spec.sample}"

    def start(
        self,
        project: Project,
        queue: Queue,
        prepared: prompt.PreparedPrompt | prompt.ResumedPrompt,
        *,
        parent_id: int | None = None,
    ) -> Run:
        return prompt.start(project, queue, prepared, parent_id=parent_id)

    def finished(self, project: Project, run_id: int, event: Finished) -> None:
        prompt.ended(project, run_id, event)

    def recover(self, project: Project, run: Run) -> None:
        prompt.recover(project, run)

    def weights(self, project: Project, run: Run) -> Path | None:
        return elsewhere(run)

    def predict(
        self,
        project: Project,
        queue: Queue,
        run: Run,
        documents: Sequence[Document],
        *,
        forget: bool = False,
        watch: Watch = QUIET,
    ) -> tuple[list[Prediction], None]:
        return prompt.answers(project, queue, run, documents, watch=watch), None

    def source(self, run: Run) -> tuple[str, str]:
        """Names the version of the prompt, which outlives the run."""
        name, version = run.spec.get("prompt_name"), run.spec.get("prompt_version")
        return "prompt", f"{run.id} {name}@{version}" if name else str(run.id)

    def command(self, project: Project, run: Run) -> str:
        return prompt.command(project, run)

    def made_from(self, run: Run) -> str:
        shots = int(run.spec.get("shots") or 0)
        message = ngettext("{model}, {n} example", "{model}, {n} examples", shots)
        if not shots:
            message = _("{model}, no examples")
        return message.format(model=model_name(run), n=shots)


def elsewhere(run: Run) -> Path | None:
    """The folder of the model that a run names; None for a model of a server."""
    folder = Path(str(run.spec.get("model") or ""))
    return folder if folder.is_absolute() else None
