"""An inspector that examines the documents of the project: looked up on disk, computed by a job."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled, details_of
from workbench.base.i18n import _
from workbench.inspection.spec import BASE, Inspection
from workbench.operations.inspecting import examine
from workbench.operations.inspecting.examine import PreparedExamination
from workbench.ui.panels.inspect.inspector_state import InspectorState

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.jobs.queue import Job
    from workbench.ui.panels.inspect.inspector_state import InspectPage


class Examined(InspectorState):
    """Its result belongs to the model and the documents, not to the text of the page.

    prepared: the sample to examine; None while it is drawn, or for an error. share: of the job that
    waits or is running, else None; waiting: whether it waits for another job. current: whether the
    result is that of the sample. layers: names of the layers whose labels can be examined.
    """

    needs_text = False
    base = BASE  # as the model to compare with: the one that a run was trained from

    def __init__(self, page: InspectPage, id: str):
        super().__init__(page, id)
        self.prepared: PreparedExamination | None = None
        self.share: float | None = None
        self.waiting, self.current = False, False
        self.layers: tuple[str, ...] = ()
        self._running: PreparedExamination | None = None  # what is examined, None for nothing
        self._options_running: dict[str, Any] = {}

    def forget(self, *, model: bool = False) -> None:
        """Another text changes nothing."""
        if model:
            self.cancel()
            self.page.context.drop((self, "look"))
            self.update(prepared=None, share=None, waiting=False, current=False)
            super().forget(model=True)

    def labels_changed(self) -> None:
        if self.result is not None or self.share is not None:
            self.ask()

    def failed(self, message: str) -> None:
        """The process with the model has ended: nothing here is asked of it."""

    def close(self) -> None:
        self.cancel()
        self.page.context.drop((self, "look"))
        super().close()

    def _ask(self, options: dict[str, Any], before: Any) -> None:
        """Draw the sample, and read its result if there is one."""
        page = self.page
        choice = page.choice
        if choice is None:
            return
        if self._running is not None and options != self._options_running:
            self.cancel()

        def look() -> tuple[PreparedExamination, Any, tuple[str, ...]]:
            prepared = examine.prepare(page.project, choice, self.id, options)
            return prepared, examine.kept(prepared), examine.layers(page.project, choice)

        def show(answer: tuple[PreparedExamination, Any, tuple[str, ...]]) -> None:
            prepared, result, layers = answer
            self.update(prepared=prepared, layers=layers, error="")
            self._show(result, current=True)

        def failed(error: Exception) -> None:
            self.update(prepared=None, current=False, error=str(error), details="")

        page.context.task((self, "look"), look, show, failed=failed)

    def _show(self, result: Any, *, current: bool) -> None:
        if result is None:
            self.update(current=False)
        else:
            self.update(result=result, answer=Inspection(self.id, result), current=current)

    # ---------------------------------------------------------------- the job

    @property
    def can_start(self) -> bool:
        return self.prepared is not None and self.share is None

    def start(self) -> None:
        """Examine the documents in a worker."""
        prepared = self.prepared
        if prepared is None or not self.can_start:
            return
        context = self.page.context
        self._running, self._options_running = prepared, dict(self.options)
        self.update(share=0.0, error="")
        work = partial(examine.compute, context.queue, prepared, device=context.settings.device)
        context.task(
            (self, "examine"), work, self._ended, failed=self._failed, progress=self._progressed
        )

    def _progressed(self, watch: Watch) -> None:
        self.update(share=watch.share, waiting=bool(watch.behind))

    def _ended(self, result: Any) -> None:
        started, self._running = self._running, None
        self.update(share=None, waiting=False)
        now = self.prepared  # other than `started` if documents or labels have changed meanwhile
        same = now is not None and started is not None and now.output == started.output
        self._show(result, current=same)

    def _failed(self, error: Exception) -> None:
        self._running = None
        self.update(share=None, waiting=False)
        if not isinstance(error, Cancelled):
            self.update(error=str(error), details=details_of(error))

    def runs(self, job: Job) -> bool:
        """Whether a job of the queue is the one of this view."""
        return self._running is not None and examine.computes(job.spec, self._running)

    def cancel(self) -> None:
        """Stop the job."""
        if self._running is not None:
            self._running = None
            self.page.context.drop((self, "examine"))
            self.update(share=None, waiting=False)

    @property
    def note(self) -> str:
        """What is shown beside the button."""
        if self.waiting:
            return ""
        if self.share is not None:
            return _("{percent}%", percent=int(100 * self.share))
        if self.result is not None and not self.current and self.prepared is not None:
            return _("The documents or the settings have changed.")
        return ""
