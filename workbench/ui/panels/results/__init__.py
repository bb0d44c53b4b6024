"""Results: every run with its scores, errors and settings, and actions on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.ui.commands import Command
from workbench.ui.panel import Panel
from workbench.ui.panels.results.review.error_keys import ERROR_COMMANDS

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.results.state import ResultsPlace, ResultsState
    from workbench.ui.panels.results.view import ResultsView


def _usable(panel: ResultsPanel) -> bool:
    return panel.state.selection.usable


class ResultsPanel(Panel):
    state: ResultsState
    view: ResultsView

    shows_predictions = True
    commands: tuple[Command, ...] = (
        Command(
            "results.suggest",
            _("&Suggest with this run"),
            lambda p: p.state.actions.suggest(),
            "Run",
            "Ctrl+Shift+S",
            enabled=lambda p: p.state.selection.can_suggest,
            group="one",
        ),
        Command(
            "results.again",
            _("Train &again with same settings"),
            lambda p: p.state.actions.train_again(),
            "Run",
            "Ctrl+Shift+R",
            enabled=lambda p: p.state.selection.can_train_again,
            group="one",
        ),
        Command(
            "results.repeat",
            _("Repeat with seeds or &folds…"),
            lambda p: p.state.actions.repeat(),
            "Run",
            enabled=lambda p: p.state.actions.can_repeat,
            group="one",
        ),
        Command(
            "results.resume",
            _("C&ontinue this run"),
            lambda p: p.view.resume(),
            "Run",
            enabled=lambda p: p.state.selection.can_resume,
            group="one",
        ),
        Command(
            "results.further",
            _("&Use as model of a new run"),
            lambda p: p.state.actions.train_further(),
            "Run",
            enabled=_usable,
            group="one",
        ),
        Command(
            "results.inspect",
            _("&Inspect this run"),
            lambda p: p.state.actions.inspect(),
            "Run",
            "Ctrl+Shift+I",
            enabled=lambda p: not p.state.selection.cannot_inspect,
            group="one",
        ),
        Command(
            "results.apply",
            _("A&pply to files…"),
            lambda p: p.view.apply_to_files(),
            "Run",
            enabled=lambda p: p.state.selection.can_answer,
            group="one",
        ),
        Command(
            "results.export",
            _("&Export model"),
            lambda p: p.state.actions.export(),
            "Run",
            "Ctrl+Shift+E",
            enabled=_usable,
            group="one",
        ),
        Command(
            "results.test",
            _("Show &test score"),
            lambda p: p.state.actions.show_test(),
            "Run",
            enabled=lambda p: p.state.selection.can_show_test,
            group="one",
        ),
        Command(
            "results.errors",
            _("Review e&rrors"),
            lambda p: p.state.actions.review_errors(),
            "Run",
            "Ctrl+Shift+N",
            enabled=lambda p: bool(p.state.selection.errors),
            group="one",
        ),
        Command(
            "results.average",
            _("A&verage two runs"),
            lambda p: p.state.actions.average(),
            "Run",
            enabled=lambda p: not p.state.actions.no_average,
            group="one",
        ),
        Command(
            "results.rename",
            _("Re&name run"),
            lambda p: p.view.rename(),
            "Run",
            "F2",
            enabled=lambda p: p.state.listing.can_rename,
            group="list",
        ),
        Command(
            "results.organise",
            _("&Group, tags and note…"),
            lambda p: p.view.organise(),
            "Run",
            "Ctrl+Shift+G",
            enabled=lambda p: p.state.selection.can_delete,
            group="list",
        ),
        Command(
            "results.archive",
            lambda p: p.state.listing.archive_title(),
            lambda p: p.state.listing.archive(),
            "Run",
            "Ctrl+Shift+H",
            enabled=lambda p: p.state.selection.can_delete,
            group="list",
            name=_("Archive run"),
        ),
        Command(
            "results.delete",
            _("&Delete run…"),
            lambda p: p.view.delete(),
            "Run",
            "Ctrl+Delete",
            enabled=lambda p: p.state.selection.can_delete,
            group="one",
        ),
    )

    commands = (*commands, *ERROR_COMMANDS)

    def build(self, context: PanelContext) -> tuple[ResultsState, Callable[[], ResultsView]]:
        from workbench.ui.panels.results.state import ResultsState
        from workbench.ui.panels.results.view import ResultsView

        state = ResultsState(context)
        return state, lambda: ResultsView(state)

    def shown(
        self,
        run: int | None = None,
        suggest: tuple[int, ...] = (),
        place: ResultsPlace | None = None,
        group: str = "",
        label_errors: str = "",
        **_args: Any,
    ) -> None:
        self.state.selection.refresh()
        if place is not None:
            self.state.return_to(place)
        if group:
            self.state.show_group(group)
        if label_errors:
            self.state.doubts.choose_layer(label_errors)
            self.state.update(view="labels")
        if run is not None or suggest:
            self.state.update(view="runs")
        if suggest:
            self.state.update(asked=tuple(suggest))
        if run is not None:
            self.state.selection.choose((run,))

    def place(self) -> dict[str, Any]:
        return {"place": self.state.place}
