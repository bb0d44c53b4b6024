"""State of the server of a run: whether it runs, and a request to try."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.models import serving
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.operations.models.serving import Server
    from workbench.storage.runs.runs import Run
    from workbench.ui.panel import PanelContext

START, TRY, EXAMPLE = "export-serve", "export-try", "export-example"  # keys of tasks


class ServingState(State):
    """run: what is served next, None for a published model. server: the one that was started last,
    None before. weights: see `serving.start`; choices: those that fit the run. answer: to the last
    request that was tried.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project, self.queue = context, opened(context), context.queue
        self.run: Run | None = None
        self.server: Server | None = None
        self.weights, self.choices = serving.FP32, (serving.FP32,)
        self.request: dict[str, Any] = {}
        self.stage = self.problem = self.answer = ""

    def choose(self, run: Run | None, choices: tuple[str, ...]) -> None:
        """Another run was selected, which can be served with these weights."""
        weights = self.weights if self.weights in choices else serving.FP32
        self.update(run=run, choices=choices, weights=weights)
        if not self.running and run is not None:
            self.update(request={}, answer="")
            work = partial(serving.example, self.project, run)
            self.context.task(EXAMPLE, work, lambda request: self.update(request=request))

    @property
    def titles(self) -> list[tuple[str, str]]:
        """The choices with their titles."""
        return [(id, serving.title_of(id)) for id in self.choices]

    def set_weights(self, weights: str) -> None:
        self.update(weights=weights)

    @property
    def busy(self) -> bool:
        return self.context.waiting(START)

    @property
    def running(self) -> bool:
        return self.server is not None and self.server.running

    def start(self) -> None:
        if self.run is None or self.busy or self.running:
            return
        work = partial(serving.start, self.project, self.queue, self.run, weights=self.weights)
        self.update(problem="", answer="", stage=_("Queued"))
        self.context.task(
            START, work, self._started,
            failed=self._failed, progress=self._progressed, on_event=self._describe,
        )  # fmt: skip
        self._changed()

    def cancel(self) -> None:
        self.context.cancel(START)

    def stop(self) -> None:
        if self.server is not None:
            self.server.stop()
        self._changed()

    def _progressed(self, watch: Watch) -> None:
        if not watch.cancelled and not self.stage:
            self.update(stage=_("Starting"))

    def _describe(self, payload: Any) -> None:
        if payload.get("kind") == "stage":
            self.update(stage=str(payload["title"]))

    def _started(self, server: Server) -> None:
        self.update(server=server, stage="")
        server.changed.connect(self._changed)
        self._changed()

    def _failed(self, error: Exception) -> None:
        self.update(stage="", problem="" if isinstance(error, Cancelled) else str(error))
        self._changed()

    def _changed(self, *_args: object) -> None:
        self.changed.emit(frozenset({"server"}))
        self.context.commands_changed()

    # ---------------------------------------------------------------- a request

    @property
    def code(self) -> str:
        """The example request as a command."""
        address = self.server.address if self.server is not None else serving.ADDRESS
        body = json.dumps(self.request, ensure_ascii=False).replace("'", "'\\''")
        return f"curl {address}/predict \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'"

    def try_it(self) -> None:
        if self.server is not None and self.running:
            work = partial(serving.ask, self.server, self.request)
            self.context.task(TRY, work, self._answered, failed=self._no_answer)

    def _answered(self, answer: Any) -> None:
        self.update(answer=json.dumps(answer, ensure_ascii=False, indent=1))

    def _no_answer(self, error: Exception) -> None:
        self.update(answer=str(error))
