"""System check: results appear as workers report them; the report can be copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QApplication, QFrame, QVBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.base.system_check import GROUPS, OK, PROBLEM, WARNING, Check
from workbench.base.terms import term
from workbench.ui.dialogs.system_check_state import SystemCheckState
from workbench.ui.style import formats, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import IconLabel, call, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.focus_ring import FocusRing
from workbench.ui.widgets.layout import clear, column, fill, fixed, line, row, scrolled

if TYPE_CHECKING:
    from workbench.ui.application import Application

ICONS = {
    OK: ("circle-check", "good"),
    WARNING: ("triangle-alert", "warn"),
    PROBLEM: ("circle-x", "bad"),
}
TONES = {OK: "good", WARNING: "warn", PROBLEM: "bad"}
TITLE = 190  # pixels at 100%, as for dialog sizes
MIN_SIZE, DEFAULT_SIZE = (520, 320), (760, 640)
UPDATE_INTERVAL, ROWS_PER_UPDATE = 20, 5  # milliseconds between two updates; rows per update
ATTENTION = ""  # group of failed checks, shown first


class SystemCheckDialog(Dialog):
    """Starts the check when created and cancels it when closed."""

    def __init__(self, app: Application) -> None:
        super().__init__(
            app.window,
            _("System check"),
            _(
                "Versions, devices, fonts, folders and network use. The report contains none "
                "of your text or file names."
            ),
            width=MIN_SIZE[0],
        )
        self._check = SystemCheckState(app)
        self._check.listen(self._check.changed, self._later)
        self._state = Callout("", "accent")
        self._meter = Meter(None, name=_("Progress"))
        titles = {ATTENTION: _("Needs attention"), **{id: _(title) for id, title in GROUPS.items()}}
        self._groups = {id: CheckGroup(title) for id, title in titles.items()}
        area = scrolled(column(*self._groups.values(), None, gap=0, margins=(0, 0, 8, 0)))
        area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        FocusRing(area)
        self.put(column(self._state, self._meter, gap=6), call(area, _("Results")))
        self._copy = Button(_("Copy"), "copy", "quiet", on=self.copy)
        self._again = Button(_("Check again"), "rotate-ccw", "quiet", on=self.begin)
        close = Button(_("Close"), kind="primary", on=self.accept)
        self.end(self._copy, self._again, None, close)
        self._timer = QTimer(self)  # a worker reports many results at once
        self._timer.setSingleShot(True)
        self._timer.setInterval(UPDATE_INTERVAL)
        self._timer.timeout.connect(self._show)
        self.finished.connect(self._closed)
        self._fit()
        self.begin()
        close.setFocus()

    def _fit(self) -> None:
        """The default size, or what fits on the screen."""
        room = self.screen().availableSize() - QSize(0, 40)  # without the title bar
        self.setMinimumSize(QSize(*map(theme.px, MIN_SIZE)).boundedTo(room))
        self.resize(QSize(*map(theme.px, DEFAULT_SIZE)).boundedTo(room))

    def begin(self) -> None:
        """Run all checks from the start."""
        for group in self._groups.values():
            group.clear()
        self._check.begin()
        self._show()

    def _later(self, _fields: frozenset[str]) -> None:
        """Schedule an update; restarting the timer would postpone it with every result."""
        if not self._timer.isActive():
            self._timer.start()

    def copy(self) -> None:
        """Copy the current report to the clipboard."""
        QApplication.clipboard().setText(self._check.report())
        self._copy.set_text(_("Copied"))

    def _show(self) -> None:
        check = self._check
        self._meter.setVisible(check.running)
        self._again.setEnabled(not check.running)
        self._copy.set_text(_("Copy"))
        if check.running:
            self._state.set(check.stage or _("Checking…"), "accent")
        else:
            self._state.set(check.summary(), TONES[check.worst])
        if self._add_lines():
            self._timer.start()

    def _add_lines(self) -> bool:
        """Add a few results per call to keep the window responsive.

        Returns whether there are more.
        """
        groups = {id: [check for check in self._check.checks if check.group == id] for id in GROUPS}
        groups[ATTENTION] = self._check.failed
        room = ROWS_PER_UPDATE
        for id, checks in groups.items():
            room -= self._groups[id].show_checks(checks, room)
        return room <= 0

    def _closed(self, _result: int) -> None:
        self._timer.stop()
        self._check.close()


class CheckGroup(QFrame):
    """A heading and its results; hidden while there are none."""

    def __init__(self, title: str):
        super().__init__()
        self._checks: list[Check] = []
        self._lines = QVBoxLayout()
        self._lines.setSpacing(0)
        fill(self, words(title, weight=600), line(), self._lines, gap=4, margins=(0, 0, 0, 14))
        self.hide()

    def show_checks(self, checks: list[Check], most: int) -> int:
        """Add at most `limit` new results and keep the others. Returns the number added."""
        new = [check for check in checks if check not in self._checks][: max(0, most)]
        for check in new:
            place = sum(item in self._checks for item in checks[: checks.index(check)])
            self._checks.insert(place, check)
            self._lines.insertWidget(place, check_line(check))
        self.setVisible(bool(self._checks))
        return len(new)

    def clear(self) -> None:
        self._checks.clear()
        clear(self._lines)
        self.hide()


def check_line(check: Check) -> QWidget:
    """State, title and result; below it, what to do."""
    name, tone = ICONS[check.state]
    icon = call(IconLabel(name, tone, 15), term(check.state))
    screen = QApplication.primaryScreen().availableGeometry().width()
    title = fixed(words(check.title, "small", wrap=True), min(theme.px(TITLE), screen // 5))
    message = check.describe(formats.size)
    parts = [words(message, "small", wrap=True, select=True)]
    if check.advice:
        parts.append(words(check.advice, "small", "muted", wrap=True, select=True))
    title_and_space = column(title, None, margins=(0, 1, 0, 0))
    result = column(*parts, None, gap=2, margins=(0, 1, 0, 0))
    whole = row(column(icon, None), title_and_space, (result, 1), gap=10, margins=(2, 6, 2, 6))
    return call(whole, f"{term(check.state)}: {check.title}: {message}", check.advice)
