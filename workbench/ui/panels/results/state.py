"""State of the Results page: its parts, which see the selected runs, and which part is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.events import State
from workbench.operations.runs.run_list import RunFilter
from workbench.ui.panels.results.actions import Organising, RunActions
from workbench.ui.panels.results.board.comparison_state import Comparing
from workbench.ui.panels.results.board.state import BoardState
from workbench.ui.panels.results.people.state import PeopleState
from workbench.ui.panels.results.review.errors_state import ErrorsState
from workbench.ui.panels.results.review.label_errors_state import LabelErrorsState
from workbench.ui.panels.results.selection import GOLD, RunSelection

if TYPE_CHECKING:
    from workbench.operations.evaluation.errors import ErrorFilters
    from workbench.project.changes import Changes
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.results.review.state import Identity


@dataclass(frozen=True)
class ResultsPlace:
    """A place that Back returns to: the view, the selected runs, the part of the run, and the
    errors that are listed.
    """

    view: str
    chosen: tuple[int, ...]
    part: str
    split: str
    filters: ErrorFilters
    caption: str
    error: Identity | None


class ResultsState(State):
    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.selection = selection = RunSelection(context)
        self.context, self.project = context, selection.project
        # documents chosen on Data for which a run should suggest labels
        self.asked: tuple[int, ...] = ()
        self.part = "scores"  # the shown part of the run, a key of view.PARTS
        self.view = "runs"  # a key of view.VIEWS
        self.actions, self.listing = RunActions(selection, self.show_run), Organising(selection)
        self.browser, self.doubts = ErrorsState(selection), LabelErrorsState(context)
        self.people = PeopleState(context)
        self.comparing, self.board = Comparing(selection), BoardState(selection)
        self.listen(selection.changed, self.changed.emit)
        self.listen(selection.loading, self._compare)
        self.listen(self.browser.changed, self._errors_changed)
        self.listen(self.project.changed, self._project_changed)
        selection.refresh()

    def close(self) -> None:
        for part in (self.browser, self.doubts, self.people, self.board, self.selection):
            part.close()
        super().close()

    def watch(self, on: bool) -> None:
        """Whether the page is visible."""
        self.selection.watch(on)

    def _project_changed(self, changes: Changes) -> None:
        for part in (self.browser, self.doubts, self.people, self.selection):
            part.project_changed(changes)
        if changes.rows is None or any(map(changes.touches, (*GOLD, "run", "prediction"))):
            self.board.outdated()

    def _compare(self, ids: tuple[int, ...]) -> None:
        if ids == self.comparing.ids:
            self.comparing.load()
        else:
            self.comparing.show(ids)

    def _errors_changed(self, fields: frozenset[str]) -> None:
        if "asked" in fields and self.browser.asked:
            self.update(part="errors")

    @property
    def shown_part(self) -> str:
        """`part`, or the curves of a run that has no scores and errors."""
        scored = self.selection.scored
        return self.part if scored or self.part not in ("scores", "errors") else "quality"

    def show_run(self, run_id: int) -> None:
        """Leave the board for one run."""
        self.context.remember_place()
        self.update(view="runs")
        self.selection.choose((run_id,))

    def show_group(self, group: str) -> None:
        """List the runs of a group, also archived ones."""
        self.update(view="runs")
        self.selection.update(filter=RunFilter(group, archived=True), chosen=())
        self.selection.refresh()

    def suggest_asked(self) -> None:
        """Suggest labels for the documents chosen on Data."""
        ids = self.asked
        self.update(asked=())
        self.actions.suggest(ids)

    # ---------------------------------------------------------------- places

    @property
    def place(self) -> ResultsPlace:
        errors = self.browser
        shown = (errors.split, errors.filters, errors.caption, errors.chosen)
        return ResultsPlace(self.view, self.selection.chosen, self.part, *shown)

    def return_to(self, place: ResultsPlace) -> None:
        """Show a place again, without runs that were deleted meanwhile."""
        known = {run.id for run in self.selection.runs}
        chosen = tuple(id for id in place.chosen if id in known)
        if chosen:
            self.selection.choose(chosen)
        if chosen == place.chosen:
            self.browser.restore(place.split, place.filters, place.caption, place.error)
        self.update(view=place.view, part=place.part)
