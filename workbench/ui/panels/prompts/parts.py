"""What the boxes and tabs of the Prompts page have in common."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QWidget

from workbench.base.events import State


class Part(QFrame):
    """A box on the left or a tab on the right. It sees the states that it is made with, not the
    page; `render_part` gets the fields of `states` that have changed, ALL at first.
    """

    states: tuple[State, ...] = ()

    def render_part(self, fields: frozenset[str]) -> None:
        """Show these fields of the states."""
        raise NotImplementedError


class Tab(Part):
    """side: what is shown on the left in place of the boxes, None to keep them. buttons: what is
    shown beside the tabs.
    """

    side: QWidget | None = None
    buttons: QWidget | None = None
