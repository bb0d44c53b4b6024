"""Which sides of Annotate are folded: by choice, or because the text has no room beside them."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

from PySide6.QtWidgets import QApplication, QSplitter, QWidget

from workbench.ui import theme

LEAST_CENTRE = 340  # pixels at 100 % of the text; below, sides fold
GUIDELINE_WIDTH = 400  # pixels at 100 %


class Sides:
    """The splitter holds the left side, the text and the right side. `kept` are the settings.

    `leave()` gives the focus to the text: a side that folds would pass it on to anything.
    """

    def __init__(
        self, splitter: QSplitter, kept: MutableMapping[str, Any], leave: Callable[[], None]
    ):
        self._splitter, self._kept, self._leave = splitter, kept, leave
        self._parts = {"left": splitter.widget(0), "right": splitter.widget(2)}
        self._no_room: set[str] = set()
        self._show()

    def fit(self, width: int) -> None:
        """In a narrow window, or with large text, sides fold until the text can be read."""
        left, right = (self._parts[side].minimumWidth() for side in ("left", "right"))
        room = width - theme.px(LEAST_CENTRE)
        found = set() if room >= left + right else {"right"} if room >= left else {"left", "right"}
        if found != self._no_room:
            self._no_room = found
            self._show()

    def folded(self, side: str) -> bool:
        return not self._parts[side].isVisibleTo(self._splitter)

    def turn(self, side: str) -> None:
        """Fold or unfold; unfolding goes before the want of room."""
        fold = not self.folded(side)
        self._kept[f"annotate.{side}"] = fold
        if not fold:
            self._no_room.discard(side)
        self._show()

    def widen_right(self) -> None:
        """A guideline has tables and lists: as much room as the text can spare."""
        left, centre, right = self._splitter.sizes()
        least = self._splitter.widget(1).minimumSizeHint().width()
        spare = right + centre - max(theme.px(LEAST_CENTRE), least)
        wanted = min(theme.px(GUIDELINE_WIDTH), spare)
        if wanted > right:
            self._splitter.setSizes([left, centre + right - wanted, wanted])

    def _show(self) -> None:
        for side, part in self._parts.items():
            shown = not self._kept.get(f"annotate.{side}") and side not in self._no_room
            if not shown and _has_focus(part):
                self._leave()
            part.setVisible(shown)


def _has_focus(part: QWidget) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and part.isAncestorOf(focused)
