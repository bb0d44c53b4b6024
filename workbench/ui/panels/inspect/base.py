"""Base class of inspector views, both built-in and from plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.base.records import plain_rows, to_plain
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.state import InspectState
from workbench.ui.style import theme

if TYPE_CHECKING:
    from workbench.operations.inspecting.inspect import InspectableModel


class InspectorView(QWidget):
    """Shows the result of one inspector. Named `view` in the index, created when first shown.

    A subclass builds its widgets in `__init__(state)`, adds them to `self.layout()`, and implements
    `show_result`. It reads `self.state` (result, options, asking) and `self.page` (document, gold,
    labels, chosen_token), and calls their methods on user actions. `visible` is the result that is
    on screen: after a change of the text, `state.result` is None until the next one arrives, while
    tables are still painted, hovered and clicked.
    """

    def __init__(self, state: InspectorState):
        super().__init__()
        self.state = state
        self.visible: Any = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        self._of: InspectableModel | None = None  # the model whose result is shown
        drop = theme.changed.connect(self._restyle)
        self.destroyed.connect(lambda *_: drop())

    @property
    def page(self) -> InspectState:
        return self.state.page

    def show_state(self, fields: frozenset[str]) -> None:
        """Fields of the inspector's state or of the page have changed.

        The previous result stays visible until the next one of the same model arrives.
        """
        if concerns(fields, "result", "gold", "labels", "choice"):
            if self.state.result is not None:
                self._of, self.visible = self.page.choice, self.state.result
                self.show_result(self.state.result)
            elif self.page.choice is not self._of:
                self._of, self.visible = self.page.choice, None
                self.clear()

    def _restyle(self) -> None:
        """Results can hold colours of the theme."""
        if self.state.result is not None and self.isVisible():
            self.show_result(self.state.result)

    def show_result(self, result: Any) -> None:
        """Show a result; also called when gold or labels have changed."""
        raise NotImplementedError

    def data(self) -> list[list[object]]:
        """The numbers that are shown, as rows of a table; the first names the columns."""
        rows: list[list[object]] = [[_("Value"), _("Result")]]
        return rows + [list(pair) for pair in plain_rows(to_plain(self.state.result))]

    def picture(self) -> QWidget:
        """The widget whose picture is saved."""
        return self

    def clear(self) -> None:
        """Show nothing: the result belongs to another model."""
