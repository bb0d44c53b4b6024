"""The versions of a prompt, and what each has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.base.i18n import _
from workbench.ui.commands import MenuChoice
from workbench.ui.panels.prompts.prompt_state import PromptState, VersionRow
from workbench.ui.style import formats, run_text, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.tables.table import Column, Table, ValueKind
from workbench.ui.widgets.text.context_menu import RowMenu
from workbench.ui.widgets.text.marked_text import DifferenceText

if TYPE_CHECKING:
    from workbench.operations.prompts.prompt_versions import PromptDifference


def version_text(version: VersionRow) -> str:
    """Number, time, and the score of its latest run on dev."""
    about = {"number": version.number, "time": formats.when_iso(version.at, brief=True)}
    if not version.metric:
        return _("{number}, {time}", **about)
    more = {"metric": run_text.score_title(version.metric), "score": score_text(version)}
    return _("{number}, {time}, {metric} {score}", **about, **more)


def score_text(version: VersionRow) -> str:
    return run_text.score_text(version.metric, version.score) if version.metric else "–"


class History(Dialog):
    """Enter shows a version on the page; the lower part compares it with another one."""

    def __init__(self, parent: QWidget, state: PromptState):
        title = _("Versions of {name}", name=state.name)
        super().__init__(parent, title, width=760)
        self.state = state
        columns = (
            Column(_("Version"), lambda row: row.number, 90, kind=ValueKind.COUNT),
            Column(_("Saved"), lambda row: row.at, kind=ValueKind.TIME, tip=lambda row: row.at),
            Column(_("Score on dev"), score_text, 130, right=True),
            Column(_("Run"), lambda row: row.run or "–", 160),
        )
        self.table = Table(columns, name=_("Versions"), key=lambda row: row.number)
        self.table.setMinimumHeight(theme.px(150))
        self.table.chosen.connect(self._chosen)
        self.table.opened.connect(lambda _row: self._show())
        RowMenu(self.table, self._choices)
        self.other = combo(name=_("Compared with"))
        self.other.activated.connect(lambda _i: self._compare())
        self.difference = DifferenceText()
        self._open = Button(_("Show version"), on=self._show)
        self._restore = Button(_("Restore"), "undo-2", on=self._restore_chosen)
        other = TitledField(_("Compared with"), self.other, name=_("Compared with"))
        self.put(self.table, row((other, 1), None), self.difference)
        self.end(None, self._restore, self._open, Button(_("Close"), on=self.reject))
        self._load()
        self.table.setFocus()

    def _load(self) -> None:
        self._versions = self.state.versions
        self.table.set_rows(self._versions)
        self.table.choose({self.state.number or self.state.latest})
        self._chosen()

    def _version(self) -> VersionRow | None:
        return next(iter(self.table.chosen_rows()), None)

    def _chosen(self) -> None:
        version = self._version()
        numbers = [each.number for each in self._versions if each != version]
        before = [number for number in numbers if version and number < version.number]
        message = _("version {number}")
        items = [(number, message.format(number=number)) for number in numbers]
        fill(self.other, items, next(iter(before or numbers[::-1]), None))
        self.other.setEnabled(bool(numbers))
        can = not self.state.project.read_only
        last = version is None or version.number == self.state.latest
        self._restore.setEnabled(can and not last)
        self._compare()

    def _compare(self) -> None:
        version, other = self._version(), self.other.currentData()
        difference = self.state.difference(other, version.number) if version and other else None
        if difference is None:
            self.difference.clear()
        else:
            self.difference.set(_lines(difference))

    def _choices(self) -> tuple[MenuChoice, ...]:
        return (
            MenuChoice(_("Show version"), self._show, key=_("Enter")),
            MenuChoice(_("Restore"), self._restore_chosen, self._restore.isEnabled()),
        )

    def _show(self) -> None:
        if version := self._version():
            self.state.choose_version(version.number)
            self.accept()

    def _restore_chosen(self) -> None:
        if version := self._version():
            self.state.restore(version.number)
            self._load()


def _lines(difference: PromptDifference) -> list[tuple[str, str]]:
    """The settings that differ, then the template, as lines with their kinds."""
    lines = [(change.text, "") for change in difference.settings]
    if difference.template and lines:
        lines.append(("", ""))
    return [*lines, *((line.text, line.kind) for line in difference.template)]
