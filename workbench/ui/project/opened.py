"""The project of a page that needs one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from workbench.project.project import Project


class _OfPage(Protocol):
    page: str

    @property
    def project(self) -> Project | None: ...


def opened(context: _OfPage) -> Project:
    """The open project of a panel with `needs_project`. Raises RuntimeError without one."""
    if context.project is None:
        raise RuntimeError(f"the page {context.page} is built without a project")
    return context.project
