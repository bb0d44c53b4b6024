"""The index of the documents that a view needs: asked for, computed by a job, used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled
from workbench.base.i18n import _, ngettext
from workbench.base.watch import Watch
from workbench.inspection.spec import InspectorInfo
from workbench.operations.inspecting import corpus_index
from workbench.operations.inspecting.corpus_index import Need

if TYPE_CHECKING:
    from workbench.operations.inspecting.inspect import InspectableModel
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
        self._agreed = ""  # the key of the index that the user wants to be computed
        self._waiting: Callable[[], None] | None = None

    def ensure(
        self,
        model: InspectableModel,
        info: InspectorInfo,
        options: Mapping[str, Any],
        ready: Ready,
        failed: Failed,
    ) -> None:
        """Call `ready` with the options that name the index; an earlier request is dropped."""
        project = self._project
        self.close()

        def find() -> tuple[Need | None, dict[str, Any]]:
            need = corpus_index.need(project, model, info, options)
            complete = need is None or need.ready
            return need, corpus_index.completed(project, need, options) if complete else {}

        def found(result: tuple[Need | None, dict[str, Any]]) -> None:
            need, completed = result
            if need is None or need.ready:
                self._show(None)
                ready(completed)
            elif self._may_start(need):
                self._compute(need, options, ready, failed)
            else:
                self._waiting = lambda: self._compute(need, options, ready, failed)
                self._show(Build(_asking(need), waits=True))

        self._context.task(self, find, found, failed=partial(self._failed, failed))

    def build(self) -> None:
        """The user wants the index to be computed."""
        if self._waiting is not None:
            start, self._waiting = self._waiting, None
            start()

    def cancel(self) -> None:
        """Stop computing."""
        self._context.cancel(self)

    def close(self) -> None:
        self._context.drop(self)
        self._waiting = None

    def _may_start(self, need: Need) -> bool:
        small = bool(need.forms) or need.documents <= WITHOUT_ASKING
        return small or need.files.key == self._agreed or need.files.about.is_file()

    # ---------------------------------------------------------------- the job

    def _compute(
        self, need: Need, options: Mapping[str, Any], ready: Ready, failed: Failed
    ) -> None:
        project, queue = self._project, self._context.queue
        device = self._context.settings.device
        self._agreed = need.files.key
        self._show(Build(_("Reading the documents…")))

        def compute(watch: Watch) -> dict[str, Any]:
            prepared = corpus_index.prepare(project, need)
            computed = corpus_index.compute(queue, prepared, device=device, watch=watch)
            return corpus_index.completed(project, computed, options)

        def completed(options: dict[str, Any]) -> None:
            self._show(None)
            ready(options)

        self._context.task(
            self,
            compute,
            completed,
            failed=partial(self._failed, failed),
            progress=lambda watch: self._show(_build(watch)),
        )

    def _failed(self, failed: Failed, error: Exception) -> None:
        self._show(None)
        failed(_("Cancelled.") if isinstance(error, Cancelled) else str(error))


def _build(watch: Watch) -> Build:
    """How far the job is."""
    progress = watch.progress
    total, done = progress.get("total"), progress.get("done", 0)
    if watch.behind:
        return Build(_("Waiting for {name}", name=watch.behind))
    if progress.get("stage") or not total:
        message = _("Computing the map…") if progress.get("stage") else _("Starting…")
        return Build(message, share=progress.get("part"))
    message = ngettext("{done:,} of {n:,} vector", "{done:,} of {n:,} vectors", total)
    return Build(message.format(done=done, n=total), share=done / total)


def _asking(need: Need) -> str:
    return ngettext(
        "This view compares with the {n:,} document of the project. Their vectors are computed "
        "once for each model.",
        "This view compares with the {n:,} documents of the project. Their vectors are computed "
        "once for each model.",
        need.documents,
    )
