"""The index of the documents that a view needs: asked for, computed by a job, used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled
from workbench.base.i18n import _, ngettext
from workbench.inspection.spec import InspectorInfo
from workbench.operations.inspecting import corpus_index
from workbench.operations.inspecting.corpus_index import Need, Prepared

if TYPE_CHECKING:
    from workbench.jobs.queue import Job
    from workbench.operations.inspecting.inspect import Choice
    from workbench.project.project import Project
    from workbench.ui.panel import PanelContext

WITHOUT_ASKING = 1_000  # documents up to which an index is computed without a click

Ready = Callable[[dict[str, Any]], None]
Failed = Callable[[str], None]


@dataclass(frozen=True)
class Build:
    """What is shown instead of a result. waits: for a click of the user; share: None if unknown."""

    message: str
    waits: bool = False
    share: float | None = None


class Indexing:
    """Builds the index of one view. `show(build)` is called with every change, with None when there
    is an index.
    """

    def __init__(
        self, context: PanelContext, project: Project, show: Callable[[Build | None], None]
    ):
        self._context, self._project, self._show = context, project, show
        self._job: Job | None = None
        self._ticket: object = None
        self._agreed = ""  # the key of the index that the user wants to be computed
        self._waiting: Callable[[], None] | None = None

    def ensure(
        self,
        model: Choice,
        info: InspectorInfo,
        options: Mapping[str, Any],
        ready: Ready,
        failed: Failed,
    ) -> None:
        """Call `ready` with the options that name the index; an earlier request is dropped."""
        project, ticket = self._project, object()
        self._drop()
        self._ticket = ticket

        def find() -> tuple[Need | None, dict[str, Any]]:
            wanted = corpus_index.need(project, model, info, options)
            complete = wanted is None or wanted.ready
            return wanted, corpus_index.completed(project, wanted, options) if complete else {}

        def found(result: tuple[Need | None, dict[str, Any]]) -> None:
            wanted, completed = result
            if self._ticket is not ticket:
                return
            if wanted is None or wanted.ready:
                self._show(None)
                ready(completed)
            elif self._may_start(wanted):
                self._prepare(wanted, options, ready, failed)
            else:
                self._waiting = lambda: self._prepare(wanted, options, ready, failed)
                self._show(Build(_asking(wanted), waits=True))

        self._context.run(find, found, lambda error: self._failed(ticket, error, failed))

    def build(self) -> None:
        """The user wants the index to be computed."""
        if self._waiting is not None:
            start, self._waiting = self._waiting, None
            start()

    def cancel(self) -> None:
        """Stop computing."""
        if self._job is not None and not self._job.over:
            self._job.cancel()

    def close(self) -> None:
        self._drop()
        self._ticket = None

    def _drop(self) -> None:
        self.cancel()
        self._job, self._waiting = None, None

    def _may_start(self, wanted: Need) -> bool:
        small = bool(wanted.forms) or wanted.documents <= WITHOUT_ASKING
        return small or wanted.files.key == self._agreed or wanted.files.about.is_file()

    # ---------------------------------------------------------------- the job

    def _prepare(
        self, wanted: Need, options: Mapping[str, Any], ready: Ready, failed: Failed
    ) -> None:
        ticket = self._ticket
        self._agreed = wanted.files.key
        self._show(Build(_("Reading the documents…")))

        def prepared(found: Prepared) -> None:
            if self._ticket is ticket:
                self._start(found, options, ready, failed)
            else:
                corpus_index.discard(found)

        self._context.run(
            lambda: corpus_index.prepare(self._project, wanted),
            prepared,
            lambda error: self._failed(ticket, error, failed),
        )

    def _start(
        self, found: Prepared, options: Mapping[str, Any], ready: Ready, failed: Failed
    ) -> None:
        ticket = self._ticket

        def ended(wanted: Need | None, error: Exception | None) -> None:
            if self._ticket is not ticket:
                return
            if error is not None:
                self._failed(ticket, error, failed)
                return
            self._context.run(
                lambda: corpus_index.completed(self._project, wanted, options),
                lambda completed: self._completed(ticket, completed, ready),
                lambda error: self._failed(ticket, error, failed),
            )

        device = self._context.settings.device
        job = corpus_index.start(self._context.queue, found, ended, device=device)
        if job is not None and self._ticket is ticket and not job.over:
            self._job = job
            job.changed.connect(lambda _event: self._heard(job))
            self._heard(job)

    def _completed(self, ticket: object, options: dict[str, Any], ready: Ready) -> None:
        if self._ticket is ticket:
            self._show(None)
            ready(options)

    def _heard(self, job: Job) -> None:
        if job is not self._job or job.over:
            return
        total, done = job.progress.get("total"), job.progress.get("done", 0)
        if job.status == "waiting":
            self._show(Build(_("Waiting for {name}").format(name=job.behind)))
        elif job.progress.get("stage") or not total:
            message = _("Computing the map…") if job.progress.get("stage") else _("Starting…")
            self._show(Build(message, share=job.progress.get("part")))
        else:
            message = ngettext("{done:,} of {n:,} vector", "{done:,} of {n:,} vectors", total)
            self._show(Build(message.format(done=done, n=total), share=done / total))

    def _failed(self, ticket: object, error: Exception, failed: Failed) -> None:
        if self._ticket is ticket:
            self._job = None
            self._show(None)
            failed(_("Cancelled.") if isinstance(error, Cancelled) else str(error))


def _asking(wanted: Need) -> str:
    message = ngettext(
        "This view compares with the {n:,} document of the project. Their vectors are computed "
        "once for each model.",
        "This view compares with the {n:,} documents of the project. Their vectors are computed "
        "once for each model.",
        wanted.documents,
    )
    return message.format(n=wanted.documents)
