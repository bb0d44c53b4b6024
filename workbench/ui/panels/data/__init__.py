"""Data: search and filter documents, bulk edits, import and export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.ui.commands import Command
from workbench.ui.panel import Panel
from workbench.ui.shell.window_commands import can_write, has_documents

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.data.state import DataState
    from workbench.ui.panels.data.view import DataView
    from workbench.ui.shell.window import Window


def _some(panel: DataPanel) -> bool:
    """Not while another view hides the selection."""
    return panel.state.selection.can_act and panel.state.view == "documents"


def _can_split(panel: DataPanel) -> bool:
    return panel.state.selection.can_split


def _may_split(window: Window) -> bool:
    return can_write(window) and has_documents(window)


class DataPanel(Panel):
    state: DataState
    view: DataView

    commands = (
        Command(
            "data.clear",
            _("&Clear all filters"),
            lambda panel: panel.state.selection.filters.clear_filters(),
            "Edit",
            "Ctrl+Shift+F",
            enabled=lambda panel: panel.state.selection.filters.filtered,
            group="find",
        ),
        Command(
            "data.splits",
            _("Create s&plits…"),
            lambda panel: panel.view.ask_splits(),
            "File",
            enabled=_can_split,
            anywhere=True,
            possible=_may_split,
            group="data",
        ),
        Command(
            "data.parts",
            _("Split into sentences or paragrap&hs…"),
            lambda panel: panel.view.split_chosen(),
            "Edit",
            enabled=_some,
            group="choose",
        ),
        Command(
            "data.delete",
            _("&Delete the selected documents"),
            lambda panel: panel.view.delete_chosen(),
            "Edit",
            enabled=_some,
            group="choose",
        ),
        Command(
            "data.remove",
            _("Remove the selected documents permanently…"),
            lambda panel: panel.view.remove_chosen(),
            "Edit",
            enabled=_some,
            group="choose",
        ),
        Command(
            "data.delete-key", _("Delete the selected documents"), keys="Delete", shown_only=True
        ),
        Command("data.open", _("Open the document in Annotate"), keys="Return", shown_only=True),
    )

    def build(self, context: PanelContext) -> tuple[DataState, Callable[[], DataView]]:
        from workbench.ui.panels.data.state import DataState
        from workbench.ui.panels.data.view import DataView

        state = DataState(context)
        return state, lambda: DataView(state)

    @property
    def can_find(self) -> bool:
        return (
            self.state.selection.counts is None or self.state.selection.total > 0
        )  # None: still being counted

    def find(self) -> None:
        self.view.focus_search()

    def shown(
        self,
        *,
        files: Sequence[Path] = (),
        ids: Sequence[int] | None = None,
        caption: str = "",
        dialog: str = "",
        place: tuple[str, tuple[tuple[int, ...], str] | None] | None = None,
        **_args: Any,
    ) -> None:
        if place is not None:
            self.state.selection.filters.set_filter(text=place[0], only=place[1])
        if ids is not None:
            self.state.selection.filters.show_only(ids, caption)
        if files or dialog == "import":
            self.view.ask_import(files)
        elif dialog == "export":
            self.view.ask_export()

    def place(self) -> dict[str, Any]:
        return {
            "place": (self.state.selection.filters.query.text, self.state.selection.filters.only)
        }
