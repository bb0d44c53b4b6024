"""The Export page: what is exported on the left; what it costs, and the checks, on the right."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panel import View
from workbench.ui.panels.export.checks import ChecksCard
from workbench.ui.panels.export.choices import Choices
from workbench.ui.panels.export.serving import ServingCard
from workbench.ui.panels.export.state import ExportState
from workbench.ui.panels.export.weights import WeightsCard
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.layout import column, row, scrolled
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.pages import PageLayout


class ExportView(View):
    state: ExportState

    def __init__(self, state: ExportState):
        super().__init__(state)
        self._choices, self.checks = Choices(state), ChecksCard(state)
        self._weights, self._serving = WeightsCard(state.weights), ServingCard(state.serving)
        self.first = self._choices.run
        lead = Button(_("Train a model"), "play", "primary", on=lambda: state.context.go("train"))
        hint = _(
            "Trained runs can be exported for other programs, and so can models that were "
            "published for a task, such as taggers."
        )
        self._empty = EmptyState("package-open", _("Nothing to export yet"), hint, lead)
        right = scrolled(
            column(
                self._weights, self.checks, self._serving, None, gap=14, margins=(20, 16, 20, 16)
            ),
            upright=True,
        )
        self._body = row(self._choices, (right, 1), gap=0)
        below = QFrame()
        self._stack = PageLayout(below)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._body)
        fill_with(
            self,
            PageHeader(
                _("Export"),
                _("A model for other programs, checked against the original on your own texts"),
            ),
            (below, 1),
            gap=0,
        )

        self.shows(state.weights, self._weights.render)
        self.shows(state.serving, self._serving.render)

    def render(self, fields: frozenset[str]) -> None:
        if concerns(fields, "runs", "models"):
            some = bool(self.state.runs or self.state.models)
            self._stack.setCurrentWidget(self._body if some else self._empty)
            self.first = self._choices.run if some else self._empty
        self._choices.render(fields)
        self.checks.render(fields)
        if "*" in fields:
            self._weights.render(fields)
            self._serving.render(fields)
