"""Pages of which one is shown at a time, each created on first use."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QFrame, QWidget

from workbench.ui.widgets.pages import PageLayout


class LaterStack(QFrame):
    """A stack of pages, given by functions that create them. Page 0 is shown initially.

    Creating widgets is slow, and a page with tabs has several times as many as are visible.
    Creating only visible ones keeps the first visit short. `made(number)` is called after a page
    was created, before it is shown.
    """

    def __init__(self, *make: Callable[[], QWidget], made: Callable[[int], None] | None = None):
        super().__init__()
        self._make, self._made = make, made
        self._pages: dict[int, QWidget] = {}
        self._stack = PageLayout(self)
        self._current = -1

    def setCurrentIndex(self, number: int) -> None:
        page = self.widget(number)
        self._current = number
        self._stack.setCurrentWidget(page)

    def currentIndex(self) -> int:
        """The index of the current page; -1 before the first."""
        return self._current

    def widget(self, number: int) -> QWidget:
        """The page at this index; it is created if necessary."""
        if number not in self._pages:
            page = self._pages[number] = self._make[number]()
            if self._made is not None:
                self._made(number)
            self._stack.addWidget(page)
        return self._pages[number]

    def made(self) -> tuple[int, ...]:
        """The indices of the pages created so far."""
        return tuple(self._pages)
