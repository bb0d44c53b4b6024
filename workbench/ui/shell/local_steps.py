"""Undo and redo of changes that the history of a project does not contain.

Names and groups of runs, thresholds and the list of models are not stored as steps of the project's
history, but Undo must revert what the user did last. These steps last until the project is closed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.project.project import Project


@dataclass(eq=False)
class LocalStep:
    """`back` reverts the change, `again` makes it again."""

    title: str
    back: Callable[[], object]
    again: Callable[[], object]
    after: int  # the last step of the history that was not undone when this one was made
    newest: int = 0  # the last step of the history, undone or not, when this one was undone


class LocalSteps:
    """The steps of one project, each placed after the step of the history that preceded it."""

    def __init__(self, project: Project):
        self._project = project
        self._done: list[LocalStep] = []
        self._undone: list[LocalStep] = []

    def add(self, title: str, back: Callable[[], object], again: Callable[[], object]) -> LocalStep:
        step = LocalStep(title, back, again, self._last())
        self._done.append(step)
        self._undone.clear()
        return step

    @property
    def to_undo(self) -> LocalStep | None:
        """The most recent step, unless a later one of the history is not undone."""
        fits = self._done and self._done[-1].after >= self._last()
        return self._done[-1] if fits else None

    @property
    def to_redo(self) -> LocalStep | None:
        """The step undone last, unless a step was added to the history since or lies between."""
        if not self._undone:
            return None
        step = self._undone[-1]
        fits = (step.after, step.newest) == (self._last(), self._newest())
        return step if fits else None

    def undo(self, step: LocalStep) -> None:
        """Revert a step, which need not be the most recent one."""
        if step in self._done:
            self._done.remove(step)
            step.after, step.newest = self._last(), self._newest()
            self._undone.append(step)
            step.back()

    def redo(self, step: LocalStep) -> None:
        if step in self._undone:
            self._undone.remove(step)
            self._done.append(step)
            step.again()

    def _last(self) -> int:
        """The last step of the history that is not undone; 0 if there is none."""
        return self._project.undo_step or 0

    def _newest(self) -> int:
        """The last step of the history, undone or not; 0 if there is none."""
        return max((step.id for step in self._project.history(1)), default=0)
