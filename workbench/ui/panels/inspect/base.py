"""Base class of inspector views, both built-in and from plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.base.records import plain_rows, to_plain
from workbench.ui.panels.inspect.inspector_state import InspectorState, InspectPage
from workbench.ui.project.queue_position import QueuePosition
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.layout import card, layout_of, row
from workbench.ui.widgets.wait_line import WaitLine

if TYPE_CHECKING:
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.ui.panels.inspect.examined import Examined


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
    def page(self) -> InspectPage:
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


class Examination:
    """What starts and follows the job of a view that examines documents.

    actions: what stands beside the title of the view; empty: what is shown without a result.
    """

    def __init__(self, state: Examined):
        self._state = state
        self._note = words("", "caption", "muted")
        self._start = Button(_("Examine documents"), "play", small=True, on=state.start)
        self._cancel = Button(_("Cancel"), small=True, on=state.cancel)
        self._meter = Meter(0.0, name=_("Progress"))
        self._meter.setFixedWidth(120)
        self._meter.hide()
        self._cancel.hide()
        waiting = WaitLine(QueuePosition(state.page.context, state.runs))
        self.actions = (self._note, self._meter, waiting, self._cancel, self._start)
        self.empty = EmptyState("scan-search", "")

    def show_state(self, content: QWidget) -> None:
        """content: the widget with the result."""
        state = self._state
        running = state.share is not None
        self._meter.setVisible(running and not state.waiting)
        self._meter.set(state.share or 0.0)
        self._cancel.setVisible(running)
        self._note.setText(state.note)
        self._start.setVisible(not running and not state.current)
        self._start.setEnabled(state.can_start)
        content.setVisible(state.result is not None)
        self.empty.setVisible(state.result is None)
        self.empty.set(*self._describe())

    def _describe(self) -> tuple[str, str]:
        """Title and hint without a result."""
        state = self._state
        if state.waiting:
            return _("Waiting for another job"), _("You can use other views meanwhile.")
        if state.share is not None:
            return _("Examining the documents"), _("You can use other views meanwhile.")
        if state.prepared is None:
            return (_("Nothing to examine") if state.error else _("Reading the documents…")), ""
        count = state.prepared.documents
        hint = ngettext(
            "{n:,} document of the project is read by the model. The result is kept.",
            "{n:,} documents of the project are read by the model. The result is kept.",
            count,
        )
        return _("Not examined yet"), hint


class ExaminedView(InspectorView):
    """Settings, a button that starts the job with its progress, and below the result.

    A subclass calls `put` once, and implements `fill_fields`.
    """

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._examination = Examination(self.examined)

    @property
    def examined(self) -> Examined:
        return cast("Examined", self.state)

    def put(self, title: str, fields: list[tuple[str, QComboBox]], shown: QWidget) -> None:
        """The parts of the view: settings, and the widget with the result."""
        self._shown = shown
        head = row(words(title, weight=600), None, *self._examination.actions)
        boxes = row(*((TitledField(name, box), 1) for name, box in fields), gap=12)
        empty = self._examination.empty
        layout_of(self).addWidget(card(head, boxes, (shown, 1), (empty, 1), gap=8))
        self._shown.hide()

    def fill_fields(self) -> None:
        """Show the settings that can be chosen, and those that are."""
        raise NotImplementedError

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if concerns(fields, "options", "layers", "choices", "choice"):
            self.fill_fields()
        self._examination.show_state(self._shown)
