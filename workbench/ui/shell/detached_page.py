"""A page in a window of its own."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QMainWindow, QWidget


class DetachedPage(QMainWindow):
    """Holds one page; closing it returns the page to the main window.

    The main window's shortcuts work here too.
    """

    def __init__(
        self, title: str, view: QWidget, main: QMainWindow, given_back: Callable[[], None]
    ):
        super().__init__()
        self._given_back = given_back
        self.setWindowTitle(f"{title} – Glossbench")
        self.setWindowIcon(main.windowIcon())
        self.setStyleSheet(main.styleSheet())
        self.setCentralWidget(view)
        self.addActions(main.actions())
        self.resize(main.size() * 0.85)
        view.show()

    def take(self) -> QWidget | None:
        """Return the page, which this window no longer owns."""
        return self.takeCentralWidget()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._given_back()
        event.accept()
