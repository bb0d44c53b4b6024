"""Pages of which one is shown at a time, each made when it is first needed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QFrame, QStackedLayout, QWidget


class LaterStack(QFrame):
    """A stack of pages, given by functions that make them. Page 0 is shown at first.

    Widgets are slow to make, and a page with tabs has several times as many as can be seen: only
    those that are seen are made, so that the first visit does not hold up the window.
    `made(number)` is called after a page was made, before it is shown.
    """

    def __init__(self, *make: Callable[[], QWidget], made: Callable[[int], None] | None = None):
        super().__init__()
        self._make, self._made = make, made
        self._pages: dict[int, QWidget] = {}
        self._stack = QStackedLayout(self)
        self._current = -1

    def setCurrentIndex(self, number: int) -> None:
        page = self.widget(number)
        self._current = number
        self._stack.setCurrentWidget(page)

    def currentIndex(self) -> int:
        """The number of the page shown; -1 before the first."""
        return self._current

    def widget(self, number: int) -> QWidget:
        """The page of this number; it is made if need be."""
        if number not in self._pages:
            page = self._pages[number] = self._make[number]()
            if self._made is not None:
                self._made(number)
            self._stack.addWidget(page)
        return self._pages[number]

    def made(self) -> tuple[int, ...]:
        """The numbers of the pages that have been made."""
        return tuple(self._pages)
