"""An inspector that examines the documents of the project: looked up on disk, computed by a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled, details_of
from workbench.base.i18n import _
from workbench.inspection.spec import BASE, Answer
from workbench.operations.inspecting import examine
from workbench.operations.inspecting.examine import Prepared
from workbench.text import groups
from workbench.ui.panels.inspect.shown import Shown

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.jobs.queue import Job
    from workbench.ui.panels.inspect.state import InspectState


class Examined(Shown):
    """Its result belongs to the model and the documents, not to the text of the page.

    prepared: the sample to examine; None while it is drawn, or for an error. share: of the job that
    waits or is running, else None; waiting: whether it waits for another job. current: whether the
    result is that of the sample. layers: names of the layers whose labels can be examined.
    """

    needs_text = False
    base = BASE  # as the model to compare with: the one that a run was trained from

    def __init__(self, page: InspectState, id: str):
        super().__init__(page, id)
        self.prepared: Prepared | None = None
        self.share: float | None = None
        self.waiting, self.current = False, False
        self.layers: tuple[str, ...] = ()
        self._job: Job | None = None
        self._running: dict[str, Any] = {}  # the options of the job
        self._ticket: object = None  # of the job that is being prepared

    @property
    def word_lists(self) -> tuple[str, ...]:
        """Names of the lists of words by group."""
        return tuple(groups.lists())

    def forget(self, *, model: bool = False) -> None:
        """Another text changes nothing."""
        if model:
            self.cancel()
            self._job = None
            self.update(prepared=None, share=None, waiting=False, current=False)
            super().forget(model=True)

    def labels_changed(self) -> None:
        if self.result is not None or self.share is not None:
            self.ask()

    def failed(self, message: str) -> None:
        """The process with the model has ended: nothing here is asked of it."""

    def close(self) -> None:
        self.cancel()
        super().close()

    def _ask(self, options: dict[str, Any], before: Any) -> None:
        """Draw the sample, and read its result if there is one."""
        page = self.page
        choice = page.choice
        if choice is None:
            return
        if self.share is not None and options != self._running:
            self.cancel()
        asked = self._asked = (choice, options)

        def look() -> tuple[Prepared, Any, tuple[str, ...]]:
            prepared = examine.prepare(page.project, choice, self.id, options)
            return prepared, examine.kept(prepared), examine.layers(page.project, choice)

        def found(answer: tuple[Prepared, Any, tuple[str, ...]]) -> None:
            if self._asked is asked:
                prepared, result, layers = answer
                self.update(prepared=prepared, layers=layers, error="")
                self._show(result, current=True)

        def failed(error: Exception) -> None:
            if self._asked is asked:
                self.update(prepared=None, current=False, error=str(error), details="")

        page.context.run(look, found, failed)

    def _show(self, result: Any, *, current: bool) -> None:
        if result is None:
            self.update(current=False)
        else:
            self.update(result=result, answer=Answer(self.id, result), current=current)

    # ---------------------------------------------------------------- the job

    @property
    def can_start(self) -> bool:
        return self.prepared is not None and self.share is None

    def start(self) -> None:
        """Examine the documents in a worker."""
        prepared = self.prepared
        if prepared is None or not self.can_start:
            return
        ticket = self._ticket = object()
        self._running = dict(self.options)
        self.update(share=0.0, error="")

        def written(folder: Path) -> None:
            if self._ticket is ticket:
                self._start(prepared, folder)
            else:
                examine.discard(folder)

        def failed(error: Exception) -> None:
            if self._ticket is ticket:
                self._ticket = None
                self.update(share=None, error=str(error), details=details_of(error))

        self.page.context.run(lambda: examine.write(prepared), written, failed)

    def _start(self, prepared: Prepared, folder: Path) -> None:
        context = self.page.context
        self._ticket = None

        def ended(result: Any, error: Exception | None) -> None:
            if self._job is not job:
                return
            self._job = None
            self.update(share=None, waiting=False)
            if error is None:  # unless documents or labels have changed meanwhile
                now = self.prepared
                self._show(result, current=now is not None and now.output == prepared.output)
            elif not isinstance(error, Cancelled):
                self.update(error=str(error), details=details_of(error))

        device = context.settings.device
        job = examine.start(context.queue, prepared, folder, ended, device=device)
        self._job = job
        self.listen(job.changed, lambda _event: self._heard(job))
        self._heard(job)

    def _heard(self, job: Job) -> None:
        if job is self._job and not job.over:
            part = float(job.progress.get("part") or 0.0)
            self.update(share=part, waiting=job.status == "waiting")

    def runs(self, job: Job) -> bool:
        """Whether a job of the queue is the one of this view."""
        return job is self._job

    def cancel(self) -> None:
        """Stop the job."""
        if self._ticket is not None:
            self._ticket = None
            self.update(share=None)
        if self._job is not None and not self._job.over:
            self._job.cancel()

    @property
    def note(self) -> str:
        """What is shown beside the button."""
        if self.waiting:
            return ""
        if self.share is not None:
            return _("{percent}%").format(percent=int(100 * self.share))
        if self.result is not None and not self.current and self.prepared is not None:
            return _("The documents or the settings have changed.")
        return ""
