"""File ▸ Merge: take the labels of another project file, after a preview."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QCheckBox, QComboBox, QFileDialog, QFrame, QGridLayout

from workbench.base import paths
from workbench.base.events import ALL
from workbench.base.i18n import _
from workbench.ui.dialogs.merge_state import LABEL, Mapping, MergeState, people_columns
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import combo
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import clear, column, layout_of, row, scrolled
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.ui.application import Application

MOST_MAPPED = 190  # height of the list of labels and people, pixels at 100%; more scroll


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
        self._matches = row(gap=20)
        self._mapping_title = words(
            _("Not in this project. Map to existing names:"),
            "small",
            weight=600,
            wrap=True,
        )
        self._mappings, self._grid = QFrame(), QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(6)
        for number in (0, 1):
            self._grid.setColumnStretch(number, 1)
        self._mappings.setLayout(self._grid)
        self._mapped: tuple[Mapping, ...] | None = None  # in the grid
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
        self._mapping_area = scrolled(self._mappings, upright=True)
        self.put(self._matches, self._sentences, self._mapping_title, self._mapping_area)
        self.put(self.table, self._progress)
        self._close = Button(_("Close"), on=self.reject)
        self.end(None, self._close, self._merge)
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
        self._show_matches()
        self._show_mappings()
        self.table.set_rows(preview.people if preview is not None else ())
        self.table.setVisible(preview is not None)
        self._running.setText(state.title)
        self._meter.set(state.share)
        self._progress.setVisible(bool(state.title))
        for part in (self._choose, self._add, self._mappings):
            part.setEnabled(not state.title)
        self._merge.setEnabled(state.can_merge)
        if state.can_merge and self.focusWidget() in (None, self._close):
            self._merge.setFocus()  # the button that had it was disabled while the file was read
        self.fault(state.fault)
        if state.over:
            self.accept()
        elif preview is None and self.isVisible():  # after that of another file
            self.fit_height(shrink=True)

    def _show_matches(self) -> None:
        clear(layout_of(self._matches))
        for title, n, tip in self.state.matches:
            number = words(formats.count(n), "heading", "" if n else "faint", weight=600)
            part = column(number, words(title, "caption", "muted"), gap=0)
            escaping.set_tip(part, tip)
            layout_of(self._matches).addWidget(part)
        layout_of(self._matches).addStretch(1)
        self._matches.setVisible(bool(self.state.matches))

    def _show_mappings(self) -> None:
        mappings = self.state.mappings
        if mappings == self._mapped:
            return
        self._mapped = mappings
        clear(self._grid)
        for number, mapping in enumerate(mappings):
            new = _("Add as new") if mapping.kind == LABEL else _("New person")
            items: list[tuple[object, str]] = [("", new), *((n, n) for n in mapping.names)]
            box = combo(items, value=mapping.chosen, name=mapping.title)
            box.activated.connect(partial(self._map, box, mapping))
            self._grid.addWidget(Elided(mapping.title, "small"), number, 0)
            self._grid.addWidget(box, number, 1)
        shown = bool(mappings)
        self._mapping_title.setVisible(shown)
        self._mapping_area.setVisible(shown)
        height = theme.px(theme.ROW + 10) * len(mappings)
        self._mapping_area.setFixedHeight(min(height, theme.px(MOST_MAPPED)))
        if self.isVisible():
            self.fit_height()

    def _map(self, box: QComboBox, mapping: Mapping, _at: int) -> None:
        self.state.map(mapping, box.currentData())

    def done(self, result: int) -> None:
        """Also called on Escape; cancels a running operation instead of closing."""
        if self.state.title:
            self.state.cancel()
            return
        self.state.close()
        super().done(result)
