"""Opens the dialogs of the queue, which are imported when first shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.actions import AnnotateActions


class QueueDialogs:
    """Over the window of a page."""

    def __init__(self, page: QWidget, state: AnnotateActions) -> None:
        self._page, self._state = page, state

    def show_order(self) -> None:
        from workbench.ui.panels.annotate.order_dialog import OrderDialog

        OrderDialog(self._page.window(), self._state).exec()

    def show_learning(self) -> None:
        from workbench.ui.panels.annotate.learning_dialog import LearningDialog

        LearningDialog(self._page.window(), self._state).exec()
