"""The experiments on the Train page: one page each, and the choice between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PySide6.QtWidgets import QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panel import View
from workbench.ui.panels.train.experiments import state as ids
from workbench.ui.panels.train.experiments.curves_view import CurvesView
from workbench.ui.panels.train.experiments.ladder_view import LadderView
from workbench.ui.panels.train.experiments.layers_view import LayersView
from workbench.ui.panels.train.experiments.repeat_view import RepeatView
from workbench.ui.panels.train.experiments.search_view import SearchView
from workbench.ui.panels.train.experiments.state import Experiments
from workbench.ui.widgets.controls.button import Segments
from workbench.ui.widgets.later import LaterStack
from workbench.ui.widgets.layout import fill

VIEWS: Mapping[str, Callable[[Any], QWidget]] = {
    ids.LADDER: LadderView,
    ids.SEARCH: SearchView,
    ids.CURVES: CurvesView,
    ids.REPEAT: RepeatView,
    ids.LAYERS: LayersView,
}


class ExperimentsView(View):
    state: Experiments

    def __init__(self, state: Experiments):
        super().__init__(state)
        self._order = tuple(ids.TITLES)
        self._stack = LaterStack(*(partial(self._make, id) for id in self._order))
        fill(self, self._stack, gap=0)

    def _make(self, id: str) -> QWidget:
        return VIEWS[id](self.state.part(id))

    def render(self, fields: frozenset[str]) -> None:
        if self.state.shown and concerns(fields, "shown", "current"):
            self._stack.setCurrentIndex(self._order.index(self.state.current))


def choice(state: Experiments) -> Segments:
    """The choice of the experiment that is shown, for the header of the page; hidden at first."""
    titles = [(id, _(title)) for id, title in ids.TITLES.items()]
    segments = Segments(*titles, value=state.current, name=_("Experiment"))
    segments.chosen.connect(lambda id: state.show(True, str(id)))
    segments.hide()
    return segments
