"""State of the dialog about a damaged project: what can be recovered; without widgets."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.i18n import _
from workbench.project import recovery
from workbench.project.recovery import Recovered
from workbench.ui.dialogs.operation_state import OperationState

if TYPE_CHECKING:
    from workbench.ui.application import Application


class DamagedState(OperationState):
    """recovered: what can be recovered, None while it is read or if there is nothing."""

    def __init__(self, app: Application, path: Path):
        super().__init__(app)
        self.path = path
        self.recovered: Recovered | None = None
        self.run(
            _("Reading what can be recovered…"),
            partial(recovery.recoverable, path),
            lambda recovered: self.update(recovered=recovered),
        )

    @property
    def target(self) -> Path:
        """Where the recovered project will be written: beside the damaged one."""
        stem = _("{name} recovered", name=self.path.stem)
        return paths.free_name(self.path.parent, stem, paths.PROJECT_SUFFIX)

    def recover(self) -> None:
        """Write the new project and open it."""
        target = self.target

        def written(_recovered: Recovered | None) -> None:
            self.update(over=True)
            self.app.open_project(target)

        self.run(
            _("Recovering the project…"),
            partial(recovery.recover, self.path, target),
            written,
        )
