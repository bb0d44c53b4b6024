"""Results of inspectors for a run or a pretrained model and a text.

The model stays loaded in a host process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError
from workbench.base.events import Signal
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.inspection import spec as inspectors
from workbench.inspection.spec import Inspection
from workbench.jobs.spec import JobSpec
from workbench.text.document import Document

if TYPE_CHECKING:
    from workbench.jobs.host import Host
    from workbench.jobs.spare import Spare
    from workbench.operations.inspecting.inspect import InspectableModel

Dispatch = Callable[[Callable[[], None]], None]


class InspectorHost:
    """Keeps one model at a time loaded in a host process.

    `changed(status)`: asleep, starting, ready, failed, crashed or closed.
    """

    def __init__(
        self,
        *,
        dispatch: Dispatch | None = None,
        spare: Spare | None = None,
        device: str = "auto",
        weights: str = "auto",
    ):
        self._dispatch, self._spare = dispatch, spare
        self._loading = {"device": device, "weights": weights}
        self._host: Host | None = None
        self._drop: Callable[[], None] | None = None
        self.choice: InspectableModel | None = None
        self.changed = Signal("inspector.changed")

    @property
    def status(self) -> str:
        return self._host.status if self._host else "asleep"

    @property
    def message(self) -> str:
        """Why loading failed, with advice."""
        return f"{self._host.message} {self._host.hint}".strip() if self._host else ""

    @property
    def details(self) -> str:
        """Details of the message: a traceback or the end of the log."""
        return self._host.details if self._host else ""

    def open(self, choice: InspectableModel) -> None:
        """Select this model for the next request; the previous one is unloaded."""
        if (
            self.choice is not None
            and (choice.folder, choice.key) == (self.choice.folder, self.choice.key)
            and self._host is not None
        ):
            return
        from workbench.jobs.host import Host

        self.close(wait=False)
        self.choice = choice
        self._host = Host(
            JobSpec(inspectors.TARGET, {**self._loading, **choice.params}, title=choice.title),
            dispatch=self._dispatch,
            spare=self._spare,
            read=Inspection.from_plain,
        )
        self._drop = self._host.changed.connect(self.changed.emit)

    def ask(
        self,
        inspector: str,
        *documents: Document,
        options: Mapping[str, Any] | None = None,
        timeout: float = 120.0,
        watch: Watch = QUIET,
    ) -> Inspection:
        """Inspect one document, or several in one result, and wait: in a task, or without an event
        loop. Loads the model if needed.

        A request that waits is dropped for a newer one to the same inspector; cancel its watch.
        Raises the error of the answer, JobFailed after `timeout` seconds, or Cancelled.
        """
        assert self._host is not None
        question = request(inspector, *documents, options=options)
        answer: Inspection = self._host.ask_now(question, timeout, watch, kind=inspector)
        return answer

    def close(self, *, wait: bool = True) -> None:
        """End the process and free its memory, unless `wait` on a thread."""
        if self._drop is not None:
            self._drop()
        if self._host is not None:
            self._host.close(wait=wait)
        self._host, self._drop, self.choice = None, None, None


def request(
    inspector: str, *documents: Document, options: Mapping[str, Any] | None = None
) -> dict[str, object]:
    """The request to the host: texts and, if imported with them, their tokens.

    Raises SpecError for unknown options, and for several documents if the inspector supports only
    one.
    """
    inspectors.options(inspector, options or {})
    info = inspectors.light(inspector)
    if len(documents) != 1 and not (info is not None and info.several):
        raise SpecError(_("{inspector} supports only one document at a time.", inspector=inspector))
    return {
        "inspector": inspector,
        "documents": [_contents(item) for item in documents],
        "options": dict(options or {}),
    }


def _contents(document: Document) -> dict[str, Any]:
    more = {"questions": list(document.questions)} if document.questions else {}
    return {
        "texts": dict(document.texts),
        "tokens": {name: [list(pair) for pair in pairs] for name, pairs in document.tokens.items()},
        **more,
    }
