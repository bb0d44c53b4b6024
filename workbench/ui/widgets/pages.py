"""Stacks of pages that fill the room they get, whatever the height of their contents."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QFrame, QStackedLayout, QWidget

from workbench.ui.widgets.layout import least_size


class PageLayout(QStackedLayout):
    """A stacked layout without height for width, at least as large as the page shown requires.

    Qt computes the height of every page, hidden ones too, each time a text in one of them changes,
    and lays out all their wrapped labels for it. The result is not needed: the pages are stretched.
    """

    def hasHeightForWidth(self) -> bool:
        return False

    def minimumSize(self) -> QSize:
        """Of the page shown: with large text, a hidden one could need more than there is."""
        page = self.currentWidget()
        return QSize(0, 0) if page is None else least_size(page)


class Pages(QFrame):
    """As a QStackedWidget, with a `PageLayout`."""

    def __init__(self) -> None:
        super().__init__()
        self._pages = PageLayout(self)

    def addWidget(self, page: QWidget) -> None:
        self._pages.addWidget(page)

    def removeWidget(self, page: QWidget) -> None:
        self._pages.removeWidget(page)

    def indexOf(self, page: QWidget) -> int:
        return self._pages.indexOf(page)

    def setCurrentWidget(self, page: QWidget) -> None:
        self._pages.setCurrentWidget(page)

    def currentWidget(self) -> QWidget | None:
        return self._pages.currentWidget()
