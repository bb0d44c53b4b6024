"""The actions on the document below its text: discard, flag, note, skip, submit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.ui import theme
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.key_cap import CommandCap, follow_tip
from workbench.ui.widgets.layout import bar
from workbench.ui.widgets.words import Elided, set_tone

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.acts import AnnotateActs
    from workbench.ui.panels.annotate.remarks_view import RemarkParts


class ActsBar(QWidget):
    """Hides the key hints and the words of flag and note where they have no room."""

    def __init__(self, state: AnnotateActs, remarks: RemarkParts) -> None:
        super().__init__()
        self._state, self._remarks = state, remarks
        self._discard = Button(
            _("Discard"),
            "x",
            "quiet",
            on=state.discard,
        )
        follow_tip(
            self._discard, _("Exclude the document from labelling and training data"),
            state.context.settings, "annotate.discard", "Ctrl+Backspace",
        )  # fmt: skip
        self._said = Elided("", "small", "muted", whole=True)
        self._said.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        skip = Button(
            _("Skip"),
            "skip-forward",
            on=state.skip,
            tip=_("Leave the document unchanged and move it to the end of the queue"),
        )
        self._submit = Button(
            _("Submit"),
            "check",
            "primary",
            on=state.submit,
            tip=_("Submit in the selected layers and open the next document"),
        )
        kept = state.context.settings
        self.caps = (
            CommandCap(kept, "annotate.space", "Space"),
            CommandCap(kept, "annotate.submit", "Ctrl+Return"),
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(
            bar(
                self._discard,
                remarks.flag,
                remarks.note,
                (self._said, 1),
                skip,
                self.caps[0],
                8,
                self._submit,
                self.caps[1],
            )
        )

    def render(self) -> None:
        state = self._state
        for part in (self._discard, self._submit):
            part.setEnabled(state.can_edit)
        discarded = state.state_of_document == "discarded"
        self._discard.set_text(_("Restore") if discarded else _("Discard"))
        said, tone = state.saved_as
        self._said.setText(said if state.doc and state.doc.document else "")
        self._said.tip = state.lacks
        set_tone(self._said, tone)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        for cap in self.caps:
            cap.setVisible(self.width() >= theme.px(500))
        self._remarks.show_words(self.width() >= theme.px(700))
