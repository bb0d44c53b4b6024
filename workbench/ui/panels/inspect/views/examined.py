"""Base class of views whose inspector examines the documents of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtWidgets import QComboBox, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.project.queue_position import QueuePosition
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.layout import card, layout_of, row
from workbench.ui.widgets.wait_line import WaitLine

if TYPE_CHECKING:
    from workbench.ui.panels.inspect.examined import Examined
    from workbench.ui.panels.inspect.inspector_state import InspectorState


class ExaminedView(InspectorView):
    """Settings, a button that starts the job with its progress, and below the result.

    A subclass calls `put` once, and implements `fill_fields`.
    """

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._note = words("", "caption", "muted")
        self._start = Button(_("Examine documents"), "play", small=True, on=self.examined.start)
        self._cancel = Button(_("Cancel"), small=True, on=self.examined.cancel)
        self._meter = Meter(0.0, name=_("Progress"))
        self._meter.setFixedWidth(120)
        self._waiting = WaitLine(QueuePosition(self.page.context, self.examined.runs))
        self._empty = EmptyState("scan-search", "")
        self._meter.hide()
        self._cancel.hide()

    @property
    def examined(self) -> Examined:
        return cast("Examined", self.state)

    def put(self, title: str, fields: list[tuple[str, QComboBox]], shown: QWidget) -> None:
        """The parts of the view: settings, and the widget with the result."""
        self._shown = shown
        acts = (self._note, self._meter, self._waiting, self._cancel, self._start)
        head = row(words(title, weight=600), None, *acts)
        boxes = [TitledField(name, box) for name, box in fields]
        layout_of(self).addWidget(
            card(head, row(*((box, 1) for box in boxes), gap=12), (shown, 1), (self._empty, 1),
                 gap=8)
        )  # fmt: skip
        self._shown.hide()

    def fill_fields(self) -> None:
        """Show the settings that can be chosen, and those that are."""
        raise NotImplementedError

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if concerns(fields, "options", "layers", "choices", "choice"):
            self.fill_fields()
        state = self.examined
        running = state.share is not None
        self._meter.setVisible(running and not state.waiting)
        self._meter.set(state.share or 0.0)
        self._cancel.setVisible(running)
        self._note.setText(state.note)
        self._start.setVisible(not running and not state.current)
        self._start.setEnabled(state.can_start)
        self._shown.setVisible(state.result is not None)
        self._empty.setVisible(state.result is None)
        self._empty.set(*self._describe())

    def _describe(self) -> tuple[str, str]:
        """Title and hint without a result."""
        state = self.examined
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
