"""Earlier versions of a guideline: what each changed, and restoring one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.base.i18n import _
from workbench.text.columns import by_key
from workbench.text.line_difference import compared
from workbench.ui.commands import MenuChoice
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.context_menu import RowMenu
from workbench.ui.widgets.text.marked_text import DifferenceText

if TYPE_CHECKING:
    from workbench.ui.panels.labels.state import LabelsState, Version

CHANGES, TO_NOW = "changes", "now"


class GuidelineHistory(Dialog):
    """The versions above; below, what the selected one changed, or how it differs from today."""

    def __init__(self, parent: QWidget, state: LabelsState) -> None:
        name = state.layer.layer.name if state.layer is not None else ""
        hint = _(
            "What one person changes within ten minutes is one version. Restoring an earlier one "
            "adds it as the newest; it can be undone."
        )
        super().__init__(
            parent, _("History of the guideline of {name}", name=name), hint, width=760
        )
        self.state = state
        known = by_key(state.version_columns)
        columns = (
            Column.of(known["number"], 90),
            Column.of(known["at"], 190, tip=known["at"].value),
            Column.of(known["author"]),
        )
        self.table = Table(columns, name=_("Versions"), key=lambda row: row.number)
        self.table.setMinimumHeight(theme.px(150))
        self.table.chosen.connect(self._compare)
        RowMenu(self.table, self._choices)
        self.kind = Segments(
            (CHANGES, _("What it changed")),
            (TO_NOW, _("Difference from the present text")),
            name=_("Comparison"),
        )
        self.kind.chosen.connect(lambda _kind: self._compare())
        self.difference = DifferenceText()
        self._restore = Button(_("Restore"), "undo-2", on=self.restore)
        self.put(self.table, row(self.kind, None), self.difference)
        self.end(None, self._restore, Button(_("Close"), on=self.reject))
        self._load()
        self.table.setFocus()

    def _load(self) -> None:
        self._versions = self.state.guideline_versions()
        self.table.set_rows(self._versions)
        if self._versions:
            self.table.choose({self._versions[0].number})
        self._compare()

    def _version(self) -> Version | None:
        return next(iter(self.table.chosen_rows()), None)

    def _compare(self) -> None:
        version = self._version()
        latest = self._versions[0] if self._versions else None
        self._restore.setEnabled(self.state.editable and version not in (None, latest))
        if version is None or latest is None:
            self.difference.clear()
            return
        texts = {each.number: each.text for each in self._versions}
        pair = (
            (version.text, latest.text)
            if self.kind.value() == TO_NOW
            else (texts.get(version.number - 1, ""), version.text)
        )
        lines = compared(*pair)
        self.difference.set([(line.text, line.kind) for line in lines])

    def _choices(self) -> tuple[MenuChoice, ...]:
        return (MenuChoice(_("Restore"), self.restore, self._restore.isEnabled()),)

    def restore(self) -> None:
        if version := self._version():
            self.state.restore_guideline(version.number)
            self._load()
