"""A server that is added or edited: its settings and its test. Without Qt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import N_
from workbench.base.options import Option, complete
from workbench.operations.prompts import servers as operations
from workbench.prompting.servers import CONCURRENCY, TIME_LIMIT, Server

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.project.project import Project
    from workbench.ui.panel import PanelContext

TEST = "server-test"  # task
OPTIONS = (
    Option("concurrency", "int", CONCURRENCY, "", title=N_("Requests at once"), low=1, high=64),
    Option(
        "time_limit",
        "float",
        TIME_LIMIT,
        "",
        title=N_("Time limit of a request, s"),
        low=1,
        high=3600,
    ),
    Option("price_in", "float", 0.0, "", title=N_("Price of a million tokens sent"), low=0.0),
    Option("price_out", "float", 0.0, "", title=N_("Price of a million tokens received"), low=0.0),
)


@dataclass(frozen=True)
class Consent:
    """What the user is asked before texts of a project leave the computer."""

    project: Project
    address: str
    example: str

    @property
    def is_encrypted(self) -> bool:
        return operations.is_encrypted(self.address)

    def give(self) -> None:
        operations.agree(self.project, self.address)


def needed_consent(project: Project, backend: str, path: str, example: str) -> Consent | None:
    """None for a model on this computer, and where the user has agreed before."""
    address = operations.needs_consent(project, backend, path)
    return Consent(project, address, example) if address else None


class ServerState(State):
    """server: as saved, None before the first test. busy: while it is tested. error: of the last
    test. model: the one that was tested, "" if the server has several and one is to be chosen.
    """

    def __init__(
        self, context: PanelContext, server: Server | None, changed: Callable[[], None]
    ) -> None:
        """changed: called when a server was saved or removed."""
        super().__init__()
        self.context, self.server = context, server
        self.busy, self.error, self.model = False, "", ""
        self._changed = changed

    def close(self) -> None:
        super().close()
        self.context.cancel(TEST)

    @property
    def models(self) -> tuple[str, ...]:
        return self.server.models if self.server is not None else ()

    def test(
        self, address: str, title: str, key: str, values: Mapping[str, str], model: str = ""
    ) -> None:
        """Test a server with these settings and save it. A key is kept in the key store first.

        "" leaves a key as it is.
        """
        try:
            settings = complete(OPTIONS, values, owner=operations.BACKEND)
        except WorkbenchError as error:
            self.update(error=str(error))
            return
        queue = self.context.queue
        all_settings = replace(self.context.settings)

        def work(watch: Watch) -> Server:
            with operations.adding(address, key, all_settings) as server:
                changed = replace(server, title=title.strip(), **settings)
                return operations.tested(queue, changed, model, watch=watch)

        self.update(busy=True, error="")
        self.context.task(TEST, work, partial(self._tested, model), failed=self._failed)

    def _tested(self, model: str, server: Server) -> None:
        operations.save(server, self.context.settings)
        only = server.models[0] if len(server.models) == 1 else ""
        self.update(busy=False, server=server, model=model or only)
        self._changed()

    def _failed(self, error: Exception) -> None:
        if not isinstance(error, WorkbenchError):
            self.context.fail(error)
        self.update(busy=False, error="" if isinstance(error, Cancelled) else str(error))

    def cancel(self) -> None:
        self.context.cancel(TEST)

    def remove(self) -> bool:
        """Remove the server with its key. Returns whether that succeeded."""
        if self.server is None:
            return False
        try:
            operations.remove(self.server.address, self.context.settings)
        except WorkbenchError as error:
            self.update(error=str(error))
            return False
        self._changed()
        return True

    def abilities(self) -> str:
        """What the tested model can do, in words."""
        probe = self.server.probes.get(self.model) if self.server is not None else None
        return operations.abilities(probe.can) if probe is not None else ""

    def values(self) -> dict[str, Any]:
        """Of OPTIONS, where they differ from the defaults."""
        server = self.server
        if server is None:
            return {}
        known = {option.name: getattr(server, option.name) for option in OPTIONS}
        defaults = {option.name: option.default for option in OPTIONS}
        return {name: value for name, value in known.items() if value != defaults[name]}
