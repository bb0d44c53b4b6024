"""The Welcome page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from workbench.base import paths
from workbench.base.events import concerns
from workbench.base.i18n import N_, _
from workbench.ui.panel import View
from workbench.ui.panels.welcome.state import WelcomeState
from workbench.ui.shell.recent import Recent
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.person_fields import PersonFields
from workbench.ui.widgets.controls.words import Elided, IconLabel, words
from workbench.ui.widgets.job_row import JobList, JobRow
from workbench.ui.widgets.layout import (
    TurningRow,
    card,
    clear,
    column,
    fill,
    layout_of,
    line,
    row,
    scrolled,
    widgets,
)

if TYPE_CHECKING:
    from workbench.jobs.queue import Job

# minimum width in pixels at 100%; in a narrower window they are placed below
LEAST_LEFT, LEAST_RIGHT, LEAST_STEP = 400, 300, 130
STEPS = (
    (N_("Import"), N_("JSONL, CSV, CoNLL or plain text, in any script."), "database"),
    (N_("Label"), N_("Classes and spans, by mouse or keyboard."), "highlighter"),
    (N_("Fine-tune"), N_("Runs in the background, on the GPU if available."), "activity"),
    (N_("Inspect"), N_("Labels of every token; fix gold labels."), "scan-search"),
    (N_("Export"), N_("A model folder and ONNX, checked on your texts."), "package-open"),
)


class WelcomeView(View):
    state: WelcomeState

    def __init__(self, state: WelcomeState):
        super().__init__(state)
        self._jobs = JobList(self._job_row)
        self._running = card(self._jobs, title=_("Running"), margins=(4, 10, 4, 6))
        widgets(layout_of(self._running))[0].setContentsMargins(12, 0, 12, 0)
        self._person = self._person_card()
        self._recent = QVBoxLayout()
        self._recent.setSpacing(8)
        self._recent_title = words(_("Recent"), "heading", weight=600)
        left, right = self._left(), self._right()
        left.setMinimumWidth(theme.px(LEAST_LEFT))
        right.setMinimumWidth(theme.px(LEAST_RIGHT))
        page = column(
            TurningRow((left, 5), (right, 4), gap=48), None, 16, _steps(), margins=(56, 48, 56, 32)
        )
        fill(self, scrolled(page))

    def _left(self) -> QFrame:
        sample = Button(
            _("Open the sample project"), "sparkles", "primary", on=lambda: self.state.act("sample")
        )
        new = Button(_("New project…"), "file-plus-2", on=lambda: self.state.act("new"))
        old = Button(_("Open…"), "folder-open", on=lambda: self.state.act("open"))
        self.first = sample
        return column(
            words("Glossbench", "display", weight=700),
            words(
                _("From raw text to a fine-tuned model, on your own machine."),
                "heading",
                "muted",
                wrap=True,
            ),
            20,
            _starts(
                (
                    sample,
                    _(
                        "420 messages to a transport service, two thirds labelled: to try "
                        "labelling, training and review."
                    ),
                ),
                (new, _("Creates one file on your disk. Nothing leaves this computer.")),
                (old, _("Open a project, or start one from data: JSONL, CSV, CoNLL, text.")),
            ),
            12,
            Callout(_("Drop a project or data files anywhere on this window."), icon="lightbulb"),
            None,
            gap=12,
        )

    def _right(self) -> QWidget:
        it = QWidget()
        layout = QVBoxLayout(it)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self._running)
        layout.addWidget(self._person)
        layout.addWidget(self._recent_title)
        layout.addLayout(self._recent)
        layout.addSpacing(8)
        if self.state.news:
            layout.addWidget(self._news())
        layout.addStretch(1)
        return it

    def _person_card(self) -> QFrame:
        self._fields = PersonFields()
        self._save = Button(_("Save"), small=True, on=self._introduce, name=_("Save who labels"))
        self._save.setEnabled(False)
        later = Button(_("Not now"), kind="quiet", small=True, on=self.state.ask_person_later)
        self._fields.changed.connect(
            lambda: self._save.setEnabled(bool(self._fields.values["name"].strip()))
        )
        self._fields.entered.connect(self._save.click)
        hint = _("Stored with the labels you create, so that several people can label together.")
        return card(
            words(hint, "small", "muted", wrap=True),
            self._fields,
            row(None, later, self._save),
            title=_("Who labels on this computer?"),
            gap=8,
        )

    def _introduce(self) -> None:
        if problem := self.state.introduce(self._fields.values):
            self._fields.set_error(problem)
        elif self.first is not None:
            self.first.setFocus()

    def _news(self) -> QFrame:
        entries = [
            row(
                column(IconLabel("sparkles", "accent", 14), None),
                (words(_(text), "small", wrap=True), 1),
                gap=8,
            )
            for text in self.state.news
        ]
        every = Button(
            _("All changes…"), kind="quiet", small=True, on=lambda: self.state.act("changes")
        )
        title = _("New in version {version}", version=self.state.version)
        return card(*entries, title=title, note=every, gap=8)

    def render(self, fields: frozenset[str]) -> None:
        if concerns(fields, "jobs"):
            self._jobs.set_jobs(self.state.jobs)
            self._running.setVisible(bool(self.state.jobs))
        if concerns(fields, "changed_job"):
            self._jobs.show_job(self.state.changed_job)
        if concerns(fields, "asks_person"):
            self._person.setVisible(self.state.asks_person)
        if concerns(fields, "recent"):
            self._show_recent()

    def _job_row(self, job: Job) -> JobRow:
        name = self.state.project_name(job)
        if not name:
            return JobRow(job, stacked=True)
        leads = Button(
            _("Go to project {name}", name=name),
            "arrow-up-right",
            small=True,
            on=lambda: self.state.go_to(job),
        )
        return JobRow(job, stacked=True, action=leads)

    def _show_recent(self) -> None:
        clear(self._recent)
        self._recent_title.setVisible(bool(self.state.recent))
        for item in self.state.recent[:8]:
            self._recent.addWidget(self._entry(item))

    def _entry(self, item: Recent) -> QWidget:
        mark = IconLabel(
            "triangle-alert" if item.missing else "database", "warn" if item.missing else "accent"
        )
        place = _("{folder}  ·  not found", folder=item.folder) if item.missing else item.folder
        middle = column(
            Elided(item.name, weight=600, mode=Qt.TextElideMode.ElideMiddle),
            Elided(
                place,
                "small",
                "warn" if item.missing else "muted",
                mode=Qt.TextElideMode.ElideMiddle,
            ),
            gap=2,
        )
        remove = icon_button(
            "x",
            _("Remove {name} from the list", name=item.name),
            lambda: self.state.remove(item.path),
            small=True,
        )
        if item.missing:
            locate = Button(
                _("Locate…"),
                small=True,
                on=lambda: self._locate(item),
                name=_("Locate {name}", name=item.name),
            )
            return card(row(mark, (middle, 1), locate, remove, gap=12), margins=(14, 10, 10, 10))
        return _Card(
            lambda: self.state.open(item.path),
            _("Open {name}", name=item.name),
            mark,
            middle,
            words(item.when, "small", "muted"),
            remove,
        )

    def _locate(self, item: Recent) -> None:
        start = str(
            Path(item.path).parent if Path(item.path).parent.exists() else paths.documents_folder()
        )
        path, _kind = QFileDialog.getOpenFileName(
            self,
            _("Locate {name}", name=item.name),
            start,
            f"Glossbench (*{paths.PROJECT_SUFFIX})",
        )
        if path:
            self.state.locate(item.path, path)


class _Card(Button):
    """A recent project as a clickable card."""

    def __init__(
        self,
        on: Callable[[], object],
        name: str,
        mark: QWidget,
        middle: QWidget,
        when: QWidget,
        remove: QWidget,
    ) -> None:
        super().__init__("", on=on, name=name, kind="card")
        escaping.set_tip(self, "")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(14, 8, 10, 8)
        layout.setSpacing(12)
        for part, stretch in ((mark, 0), (middle, 1), (when, 0), (remove, 0)):
            layout.addWidget(part, stretch)
        self.setSizePolicy(self.sizePolicy().Policy.Expanding, self.sizePolicy().Policy.Fixed)
        self.setMinimumHeight(54)

    def sizeHint(self) -> QSize:
        return layout_of(self).sizeHint().expandedTo(QSize(100, 54))


def _starts(*starts: tuple[Button, str]) -> QFrame:
    """Buttons of equal width at every text size, each with a description."""
    it = QFrame()
    grid = QGridLayout(it)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(12)
    grid.setColumnStretch(1, 1)
    for number, (button, hint) in enumerate(starts):
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        grid.addWidget(button, number, 0)
        grid.addWidget(words(hint, "small", "muted", wrap=True), number, 1)
    return it


def _steps() -> QFrame:
    """The steps from text to model, as plain text: nothing here looks clickable."""
    parts = []
    for number, (title, hint, icon) in enumerate(STEPS, 1):
        head = row(
            IconLabel(icon, "accent", 20),
            (words(f"{number}. {_(title)}", weight=600), 1),
        )
        part = column(head, words(_(hint), "small", "muted", wrap=True), None, gap=4)
        part.setMinimumWidth(theme.px(LEAST_STEP))
        parts.append((part, 1))
    return column(line(), TurningRow(*parts, gap=20), gap=16)
