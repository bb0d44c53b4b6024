"""Which sides of Annotate are collapsed: by the user, in a narrow window, or without contents."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any, cast

from PySide6.QtWidgets import QApplication, QSplitter, QWidget

from workbench.ui.style import theme

LEAST_CENTRE = 415  # minimum width of the text, pixels at 100%; below it, sides collapse
GUIDELINE_WIDTH = 400  # pixels at 100%


class Sides:
    """Collapses the sides of the splitter (left, text, right). `kept` are the settings.

    `leave()` moves the focus to the text: hiding a side would pass it on to an arbitrary widget.
    """

    def __init__(
        self, splitter: QSplitter, settings: MutableMapping[str, Any], leave: Callable[[], None]
    ):
        self._splitter, self._kept, self._leave = splitter, settings, leave
        self._parts = {
            "left": cast(QWidget, splitter.widget(0)),
            "right": cast(QWidget, splitter.widget(2)),
        }
        self._no_room: set[str] = set()
        self._empty = False  # whether the right side has nothing to show
        self._held = False  # whether the left side is of no use
        self._show()

    def fit(self, width: int) -> None:
        """Collapse sides in a narrow window, or with large text, until the text is readable."""
        left, right = (self._parts[side].minimumWidth() for side in ("left", "right"))
        room = width - theme.px(LEAST_CENTRE)
        folded = set() if room >= left + right else {"right"} if room >= left else {"left", "right"}
        if folded != self._no_room:
            self._no_room = folded
            self._show()

    def show_empty(self, empty: bool) -> None:
        """The right side has nothing to show, and is hidden, or has something again."""
        if empty != self._empty:
            self._empty = empty
            self._show()

    def hold_left(self, held: bool) -> None:
        """Hide the left side, whatever the user chose, or show it as before."""
        if held != self._held:
            self._held = held
            self._show()

    def folded(self, side: str) -> bool:
        return not self._parts[side].isVisibleTo(self._splitter)

    def turn(self, side: str) -> None:
        """Collapse or expand; a side that has no room beside the other collapses that one."""
        fold = not self.folded(side)
        self._kept[f"annotate.{side}"] = fold
        if not fold:
            if side in self._no_room:
                self._no_room = self._parts.keys() - {side}
            self._empty = False
        self._show()

    def widen_right(self) -> None:
        """Guidelines contain tables and lists: give them as much width as the text can spare."""
        left, centre, right = self._splitter.sizes()
        least = cast(QWidget, self._splitter.widget(1)).minimumSizeHint().width()
        spare = right + centre - max(theme.px(LEAST_CENTRE), least)
        width = min(theme.px(GUIDELINE_WIDTH), spare)
        if width > right:
            self._splitter.setSizes([left, centre + right - width, width])

    def _show(self) -> None:
        for side, part in self._parts.items():
            visible = not self._kept.get(f"annotate.{side}") and side not in self._no_room
            visible = visible and not (self._empty and side == "right")
            visible = visible and not (self._held and side == "left")
            if not visible and _has_focus(part):
                self._leave()
            part.setVisible(visible)


def _has_focus(part: QWidget) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and part.isAncestorOf(focused)
