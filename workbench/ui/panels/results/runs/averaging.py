"""Making an ensemble of the selected runs. No Qt."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.operations.runs import ensemble
from workbench.operations.runs.kinds import contract as kinds

if TYPE_CHECKING:
    from workbench.storage.runs.runs import Run
    from workbench.ui.panels.results.state import ResultsState


class Averaging:
    """Averages the class probabilities of the runs that are selected in a state."""

    def __init__(self, state: ResultsState):
        self._state = state

    @property
    def problem(self) -> str:
        """Why the selected runs cannot be averaged, "" if they can."""
        project = self._state.project
        if project.read_only:
            return project.read_only_reason or _("The project is open read-only.")
        return self._state.busy or ensemble.unfit(self._members)

    @property
    def _members(self) -> list[Run]:
        runs = (self._state.run_of(id) for id in sorted(self._state.chosen))
        return [run for run in runs if run is not None]

    @staticmethod
    def borrows(run: Run) -> bool:
        """Whether a run has no weights of its own: a prompt, an ensemble, a published model."""
        return not kinds.info(run.kind).own_weights

    def borrows_all(self, run: Run) -> bool:
        """Whether a run has no weights of its own and everything that it predicts with is there."""
        return self.borrows(run) and not ensemble.lacking(self._state.project, run)

    def start(self) -> None:
        """Add an ensemble of the selected runs, and select it."""
        if self.problem:
            return
        state, members = self._state, self._members
        state.update(busy=_("Averaging the runs…"))

        def added(run: Run) -> None:
            state.update(busy="")
            state.refresh()
            state.choose((run.id,))
            names = ", ".join(member.name for member in members)
            message = _(
                "{name} averages the class probabilities of {members}.",
                name=run.name,
                members=names,
            )
            state.context.note(message)

        work = partial(ensemble.create, state.project, state.context.queue, members)
        state.context.task("average", work, added, failed=state.not_done)
