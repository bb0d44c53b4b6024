"""State of the History dock: the steps of the project, undone ones first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.ui.project.opened import opened
from workbench.ui.style.formats import when_iso

if TYPE_CHECKING:
    from workbench.project.changes import Changes
    from workbench.ui.panel import PanelContext

SHOWN = 200


@dataclass(frozen=True)
class StepRow:
    """`place`: number of steps from the current state.

    Positive: the number of steps to undo to revert this one; negative: the number to redo.
    `current` is the newest step that is not undone. `when` is short, `moment` the full time.
    """

    id: int
    title: str
    undone: bool
    when: str
    moment: str
    rows: int
    place: int

    @property
    def current(self) -> bool:
        return self.place == 1


class HistoryState(State):
    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.steps: tuple[StepRow, ...] = ()
        self.end = ""  # why the list does not go back further
        self._stale = False
        self.listen(self.project.changed, self._project_changed)
        self.refresh()

    def _project_changed(self, _changes: Changes) -> None:
        self._stale = True
        self.update(stale=object())

    def look_again(self) -> None:
        if self._stale:
            self.refresh()

    def refresh(self) -> None:
        self._stale = False
        history = self.project.history(SHOWN)
        undone = sum(step.undone for step in history)
        steps = []
        for number, step in enumerate(history):
            place = number - undone + (0 if step.undone else 1)
            brief, moment = when_iso(step.at, brief=True), when_iso(step.at)
            steps.append(StepRow(step.id, step.title, step.undone, brief, moment, step.rows, place))
        self.update(steps=tuple(steps), end=self._end(len(history)))

    def _end(self, count: int) -> str:
        if count >= SHOWN:
            return ngettext(
                "Only the last step is listed; more steps can be undone.",
                "Only the last {n} steps are listed; more steps can be undone.",
                SHOWN,
            )
        if why := self.project.history_end:
            return _("Earlier steps cannot be undone: {why}.", why=why)
        return _("The history is kept when the project is closed.") if count else ""

    @property
    def editable(self) -> bool:
        return not self.project.read_only

    def go_to(self, step: StepRow) -> None:
        """Undo up to and including this step, or redo up to and including it."""
        (self.context.redo if step.undone else self.context.undo)(abs(step.place))
        self.look_again()
