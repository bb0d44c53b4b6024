"""The status bar: saved state, file, current run with time left, device."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QStatusBar

from workbench.base.i18n import _, ngettext
from workbench.ui.style import escaping
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import IconLabel, words
from workbench.ui.widgets.job_row import progress_of
from workbench.ui.widgets.layout import fixed, row

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.jobs.queue import Job
    from workbench.operations.people.people import Mark
    from workbench.project.project import Project


class Status(QStatusBar):
    """Shows the values passed to it; a click on the run opens the Train page, one on the person who
    labels the dialog People.
    """

    def __init__(self, show_run: Callable[[], None], show_people: Callable[[], None]) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self._mark, self._saved = IconLabel("circle-check", "good", 14), words("", "small", "muted")
        self._file = words("", "small", "muted")
        self._run = Button("", "activity", "quiet", small=True, on=show_run, name=_("Current run"))
        self._meter = fixed(Meter(0.0, name=_("Progress of the current run")), 90)
        self._device = words("", "small", "muted")
        self._person = Button("", "user", "quiet", small=True, on=show_people, name=_("People"))
        self._blind = row(IconLabel("eye-off", "muted", 14), words(_("Blind mode"), "small"), gap=5)
        self._person.hide()
        self._adjudicates = False
        self._blind.hide()
        who = row(self._person, self._blind, gap=8, margins=(8, 0, 0, 0))
        self._left = row(self._mark, self._saved, self._file, who, gap=6, margins=(8, 0, 0, 0))
        self._busy = row(self._run, self._meter, gap=6, margins=(0, 0, 12, 0))
        self.addWidget(self._left)
        self.addPermanentWidget(self._busy)
        self._where = row(IconLabel("cpu", "muted", 14), self._device, gap=6, margins=(0, 0, 10, 0))
        self.addPermanentWidget(self._where)
        self._busy.hide()

    def unused(self) -> QRect:
        """The free range between the file name and the run, or the device if nothing runs."""
        right = self._busy if self._busy.isVisible() else self._where
        left = (
            self._left.geometry().left() + self._left.sizeHint().width()
            if self._left.isVisible()
            else 0
        )
        return QRect(QPoint(left + 16, 0), QPoint(right.geometry().left() - 16, self.height() - 1))

    def show_project(self, project: Project | None) -> None:
        self._left.setVisible(project is not None)
        if project is None:
            return
        if project.read_only:
            self._mark.set("eye", "warn")
            self._saved.setText(_("Read-only"))
        else:
            self.show_saved(True)
        self._file.setText(project.path.name)
        escaping.set_tip(self._file, str(project.path))

    def show_adjudication(self, on: bool) -> None:
        """Whether what is labelled now is saved as gold; `show_person` follows."""
        self._adjudicates = on

    def show_person(self, mark: Mark) -> None:
        """Who labels, if it needs a mention, and blind mode."""
        text = _("Labelling as {name}", name=mark.name) if mark.is_other else mark.name
        icon = "triangle-alert" if mark.is_other else "user"
        tip = _("Not the person of this computer. Labels are saved as those of {name}.")
        tip = tip.format(name=mark.name) if mark.is_other else _("People")
        if self._adjudicates:
            text, icon = _("Adjudicating: saved as gold"), "users"
            tip = _("Decisions are saved as gold. The labels of the people do not change.")
        self._person.set_text(escaping.menu_text(text))
        self._person.set_icon(icon)
        escaping.set_tip(self._person, tip)
        self._person.setVisible(bool(text))
        self._blind.setVisible(mark.is_blind)

    def show_saved(self, saved: bool) -> None:
        """Whether the latest change is in the project file."""
        self._mark.set("circle-check" if saved else "circle-x", "good" if saved else "bad")
        self._saved.setText(_("Saved") if saved else _("Not saved"))

    def show_jobs(self, jobs: Sequence[Job]) -> None:
        """`jobs`: running and queued jobs, running ones first."""
        self._busy.setVisible(bool(jobs))
        if not jobs:
            return
        share, left = progress_of(jobs[0])
        title = jobs[0].spec.title or _("Job")
        more = f" (+{len(jobs) - 1})" if len(jobs) > 1 else ""
        self._run.set_text(
            escaping.menu_text(" · ".join(part for part in (title + more, left) if part))
        )
        self._meter.set(share)

    def show_device(self, settings: Settings) -> None:
        name = settings.device if settings.device != "auto" else settings.devices.get("best", "cpu")
        known = settings.devices.get("all", ())
        message: dict[str, Any] = next((item for item in known if item.get("name") == name), {})
        cores = os.cpu_count() or 1
        title = message.get("title") or (
            ngettext("CPU, {count} core", "CPU, {count} cores", cores, count=cores)
            if name == "cpu"
            else name.upper()
        )
        self._device.setText(title.replace(", ", " · "))
