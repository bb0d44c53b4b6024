"""A job while it runs: what it is, how far it is, its buttons, and why it has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy

from workbench.base.i18n import _
from workbench.ui.project.queue_position import QueuePosition
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.chip import Chip
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.job_row import status_words
from workbench.ui.widgets.layout import column, fill
from workbench.ui.widgets.tables.delegates import RUN_TONES
from workbench.ui.widgets.wait_line import WaitLine

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext
    from workbench.ui.project.job_progress import JobProgress

# status, or "pause" until the current run has ended → tone of its chip
TONES = {**RUN_TONES, "paused": "warn", "pause": "warn"}
# status → tone of the message, "bad" for all others
MESSAGE_TONES = {"interrupted": "warn", "cancelled": "accent"}


class FollowedJob(Protocol):
    """A state with a job that is shown while it runs."""

    context: PanelContext

    def is_live(self, job: Any) -> bool:
        """Whether a job is the one that is shown."""


class JobView(QFrame):
    """Call `show_job` after each event. Its owner places `message`, the reason of a bad end."""

    def __init__(
        self,
        state: FollowedJob,
        stop: Button,
        cancel: Button,
        results: Button | None = None,
        *more: Button,
        beside: bool = True,
        gap: int = 12,
    ):
        """The buttons are shown when they can be pressed; more: others, which come first. Stop and
        Cancel are placed elsewhere unless they are `beside` the title.
        """
        super().__init__()
        self.stop, self.cancel, self.results = stop, cancel, results
        self.title = Elided("", weight=600, mode=Qt.TextElideMode.ElideMiddle)
        self.chip, self.when = Chip(""), Elided("", "small", "muted")
        self.meter = Meter(0.0, name=_("Progress"))
        self.message = Callout(tone="bad")
        self.message.hide()
        self._waits = QueuePosition(state.context, state.is_live)
        buttons = [*more, *([results] if results else []), *((stop, cancel) if beside else ())]
        titles = column(self._title_box(), self.when, gap=2)
        fill(self, flow(titles, None, WaitLine(self._waits), *buttons), self.meter, gap=gap)

    def _title_box(self) -> QFrame:
        box = QFrame()
        layout = QHBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        policy = QSizePolicy.Policy
        self.title.setSizePolicy(policy.Maximum, policy.Fixed)  # the chip is placed after the text
        layout.addWidget(self.title)
        layout.addWidget(self.chip)
        layout.addStretch(1)
        return box

    def show_job(self, live: JobProgress, when: str) -> None:
        """`when`: the line below the title."""
        self._waits.refresh()
        self.title.setText(live.title)
        self.when.setText(when)
        self.when.setVisible(bool(when))
        status = "" if live.status == "preparing" else status_words(live.status, live.ending)
        self.chip.set(status, tone=TONES.get(live.ending) or TONES.get(live.status, ""))
        self.chip.setVisible(bool(status))
        focused = self.stop.hasFocus() or self.cancel.hasFocus() or self.hasFocus()
        if focused and live.ending:
            # else Qt moves it from the disabled button to the next one, which may be Cancel
            self.setFocus()
        self.stop.setEnabled(not live.ending)
        self.cancel.setEnabled(live.ending != "cancel")
        self.stop.setVisible(live.status == "running")
        self.cancel.setVisible(live.active)
        has_results = not live.active and live.status != "cancelled"
        if self.results is not None:
            self.results.setVisible(has_results)
        # hidden buttons would pass the focus to an arbitrary widget
        if focused and not live.active:
            (self.results if self.results and has_results else self).setFocus()
        running, over = live.status == "running", live.status in ("done", "stopped")
        self.meter.set(1.0 if over else live.share if running else live.share or 0.0)
        text = " ".join(part for part in (live.message, live.hint) if part)
        self.message.set(text, MESSAGE_TONES.get(live.status, "bad"), live.details)
