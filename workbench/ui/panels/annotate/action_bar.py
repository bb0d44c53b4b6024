"""The actions on the document below its text: discard, flag, note, skip, submit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.key_cap import CommandCap, follow_tip
from workbench.ui.widgets.controls.words import Elided, set_tone
from workbench.ui.widgets.layout import TurningRow, bar, row

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.remarks.remarks_view import RemarkParts
    from workbench.ui.panels.annotate.state import Desk


class ActionBar(QWidget):
    """Hides the key hints, the words beside icons and the option where they have no room."""

    def __init__(self, state: Desk, remarks: RemarkParts) -> None:
        super().__init__()
        self._state, self._remarks = state, remarks
        self._discard = Button(_("Discard"), "x", "quiet", on=state.submission.discard)
        follow_tip(
            self._discard, _("Exclude the document from labelling and training data"),
            state.context.settings, "annotate.discard", "Ctrl+Backspace",
        )  # fmt: skip
        self._said = Elided("", "small", "muted", whole=True)
        self._said.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        skip = Button(
            _("Skip"),
            "skip-forward",
            on=state.queue.skip,
            tip=_("Leave the document unchanged and move it to the end of the queue"),
        )
        self._submit = Button(
            _("Submit"),
            "check",
            "primary",
            on=state.submission.submit,
            tip=_("Submit in the selected layers and open the next document"),
        )
        self._goes_on = QCheckBox()
        self._goes_on.setAccessibleName(_("A key also submits and goes on"))
        self._goes_on.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._goes_on.clicked.connect(state.submission.set_goes_on)
        escaping.set_tip(
            self._goes_on,
            _("The key of a class submits the document and opens the next; Undo returns to it"),
        )
        settings = state.context.settings
        self.caps = (
            CommandCap(settings, "annotate.space", "Space"),
            CommandCap(settings, "annotate.submit", "Ctrl+Return"),
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(
            bar(
                (
                    TurningRow(
                        (row(self._discard, remarks.flag, remarks.note, (self._said, 1)), 1),
                        row(
                            *(None, self._goes_on, skip, self.caps[0]),
                            *(8, self._submit, self.caps[1]),
                        ),
                        gap=8,
                    ),
                    1,
                )
            )
        )

    def render(self) -> None:
        state = self._state
        for part in (self._discard, self._submit):
            part.setEnabled(state.session.can_edit)
        self._goes_on.setEnabled(state.session.can_edit)
        self._goes_on.setChecked(state.submission.goes_on)
        discarded = state.session.state_of_document == "discarded"
        self._discard.setAccessibleName(_("Restore") if discarded else _("Discard"))
        self.fit()
        message, tone = state.submission.saved_as
        self._said.setText(message if state.session.doc and state.session.doc.document else "")
        self._said.tip = state.submission.lacks
        set_tone(self._said, tone)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        """Without room for it, the option is in the menu alone."""
        width, option = self.width(), self._state.submission.can_go_on
        long = width >= theme.px(680)
        option &= width >= theme.px(570)
        self._goes_on.setVisible(option)
        self._goes_on.setText(self._goes_on.accessibleName() if long else _("Key submits"))
        for cap in self.caps:
            cap.setVisible(width >= theme.px(760 if option else 570))
        if width < theme.px(480):
            self._discard.setText("")  # its name is in the tooltip
        else:
            self._discard.set_text(self._discard.accessibleName())
        self._remarks.show_words(width >= theme.px(870 if option else 700))
