"""File ▸ Merge: take the labels of another project file, after a preview."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QCheckBox, QFileDialog

from workbench.base import paths
from workbench.base.events import ALL
from workbench.base.i18n import _
from workbench.ui.dialogs.merge_state import MergeState, people_columns
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.ui.application import Application


class Merge(Dialog):
    def __init__(self, app: Application) -> None:
        hint = _(
            "The labels of each person stay apart, and nothing here is overwritten. Documents are "
            "matched by their identity, else by key and text, else by text. A merge is one step "
            "that can be undone."
        )
        super().__init__(app.window, _("Merge another project"), hint, width=720)
        self.state = MergeState(app)
        self._choose = Button(_("Choose file…"), "folder-open", on=self.choose)
        self._path = Elided("", "small")
        self._add = QCheckBox(_("Add documents that are not here"))
        self._add.setChecked(True)
        self._add.toggled.connect(self.state.set_add)
        self._sentences = words("", wrap=True)
        name, *numbers = people_columns()
        self.table = Table(
            (Column.of(name), *(Column.of(column, 90) for column in numbers)),
            name=_("Labels by person"),
            key=lambda row: row.name,
        )
        self.table.setMinimumHeight(theme.px(150))
        self._running = words("", "small", "muted")
        self._meter = Meter(0.0, name=_("Progress"))
        self._cancel = Button(_("Cancel"), small=True, on=self.state.cancel)
        self._progress = row(self._running, (self._meter, 1), self._cancel, gap=12)
        self._merge = Button(_("Merge"), "plus", "primary", on=self.state.merge)
        self.put(row(self._choose, (self._path, 1), gap=10), self._add)
        self.put(self._sentences, self.table, self._progress)
        self.end(None, Button(_("Close"), on=self.reject), self._merge)
        self.state.listen(self.state.changed, self.render)
        self.render(ALL)
        self._choose.setFocus()

    def choose(self) -> None:
        kinds = _("Glossbench projects (*{suffix})", suffix=paths.PROJECT_SUFFIX)
        folder = str(self.state.project.path.parent)
        path, _kind = QFileDialog.getOpenFileName(self, _("Project to merge"), folder, kinds)
        if path:
            self.state.read(Path(path))

    def render(self, _fields: frozenset[str]) -> None:
        state = self.state
        self._path.setText(state.path.name if state.path is not None else "")
        self._sentences.setText("\n".join(state.sentences))
        self._sentences.setVisible(bool(state.sentences))
        preview = state.preview
        self.table.set_rows(preview.people if preview is not None else ())
        self.table.setVisible(preview is not None)
        self._running.setText(state.title)
        self._meter.set(state.share)
        self._progress.setVisible(bool(state.title))
        for part in (self._choose, self._add):
            part.setEnabled(not state.title)
        self._merge.setEnabled(state.can_merge)
        self.fault(state.fault)
        if state.over:
            self.accept()

    def done(self, result: int) -> None:
        """Also called on Escape; cancels a running operation instead of closing."""
        if self.state.title:
            self.state.cancel()
            return
        self.state.close()
        super().done(result)
