"""A place on the Results page that Back returns to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.operations.evaluation.errors import ErrorFilters
    from workbench.ui.panels.results.review.errors_state import Identity
    from workbench.ui.panels.results.state import ResultsState


@dataclass(frozen=True)
class ResultsPlace:
    """The view, the selected runs, the part of the run, and the errors that are listed."""

    view: str
    chosen: tuple[int, ...]
    part: str
    split: str
    filters: ErrorFilters
    caption: str
    error: Identity | None


def place_of(state: ResultsState) -> ResultsPlace:
    errors = state.browser
    return ResultsPlace(
        state.view,
        state.chosen,
        state.part,
        errors.split,
        errors.filters,
        errors.caption,
        errors.chosen,
    )


def return_to(state: ResultsState, place: ResultsPlace) -> None:
    """Show a place again, without runs that were deleted meanwhile."""
    known = {run.id for run in state.runs}
    chosen = tuple(id for id in place.chosen if id in known)
    if chosen:
        state.choose(chosen)
    if chosen == place.chosen:
        state.browser.restore(place.split, place.filters, place.caption, place.error)
    state.update(view=place.view, part=place.part)
