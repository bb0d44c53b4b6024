"""The project of a page that needs one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.ui.panel import PanelContext


def opened(context: PanelContext) -> Project:
    """The open project of a panel with `needs_project`. Raises RuntimeError without one."""
    if context.project is None:
        raise RuntimeError(f"the page {context.page} is built without a project")
    return context.project
