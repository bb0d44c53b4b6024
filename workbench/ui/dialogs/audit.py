"""The alignment audit, a window beside the pages: each row opens its place in Annotate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QComboBox

from workbench.base.i18n import _
from workbench.text.columns import titled
from workbench.ui.dialogs.audit_state import KINDS, MEANINGS, TITLES, AuditState, columns
from workbench.ui.shell import key_positions
from workbench.ui.style import formats, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import KeyCap, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.evaluation.alignment_audit import Finding
    from workbench.ui.application import Application

ICONS = {
    "word": ("whole-word", "warn"),
    "split": ("case-sensitive", "warn"),
    "lost": ("circle-x", "bad"),
    "overlap": ("boxes", "warn"),
    "cut": ("x", "bad"),
    "long": ("triangle-alert", "warn"),
}
AROUND = 24  # characters of context on both sides of a label


def show(app: Application, layer: str = "", model: str = "") -> None:
    """Open the audit of the open project, on a layer and a model by name."""
    if app.project is not None:
        dialog = AuditDialog(app, AuditState(app, app.project, layer, model))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()


class FindingTable(Table):
    """S snaps the chosen label to words."""

    def __init__(self, state: AuditState):
        self._state = state
        what, document, label, _text = titled(columns())
        findings = (
            Column.of(what, 210, icon=lambda row: ICONS[row.kind],
                      tip=lambda row: _(MEANINGS[row.kind])),
            Column.of(document, 90),
            Column.of(label, 110, chip=lambda row: (
                row.label or "–", state.looks.get(row.label), "")),
            Column(_("Text"), _context, tip=_context, prose=True),
            Column(_("Snapped"), _snapped, 150, tip=_snapped),
        )  # fmt: skip
        key = lambda item: (item.kind, item.document_id, item.span_id)  # noqa: E731
        super().__init__(findings, name=_("Findings"), key=key, many=True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = (key_positions.meant(event) or event.text()).lower()
        if key == "s" and not event.modifiers():
            self._state.fix(self.chosen_rows())
        else:
            super().keyPressEvent(event)


class AuditDialog(Dialog):
    def __init__(self, app: Application, state: AuditState):
        hint = _("Labels that training would move, split, lose or truncate, and long texts")
        super().__init__(app.window, _("Check word boundaries"), hint, width=980)
        self.state = state
        self._layer, self._model = _combo(_("Layer")), _combo(_("Model"))
        for layer in state.layers:
            self._layer.addItem(layer.name, layer.name)
        self._layer.activated.connect(lambda _at: state.choose(layer=self._layer.currentData()))
        self._model.activated.connect(lambda _at: state.choose(model=self._model.currentData()))
        self._task = _combo(_("Task"))
        self._task.activated.connect(lambda _at: state.choose(task=self._task.currentData()))
        self._kind = _combo(_("Kind of finding"))
        self._kind.activated.connect(lambda _at: state.narrow(self._kind.currentData()))
        again = Button(_("Check again"), "rotate-ccw", "quiet", small=True, on=state.check)
        self._message = words("", "small", "muted")
        self._meter = Meter(name=_("Progress"))
        self._cancel = Button(_("Cancel"), "x", small=True, on=state.cancel)
        self._wait = row((self._meter, 1), self._cancel)
        self._outdated = Callout(_("Labels have changed since this check."), "accent")
        self.table = FindingTable(state)
        self._at = 0  # number of the row that was chosen last
        self.table.setMinimumHeight(theme.px(320))
        self.table.opened.connect(state.open)
        self.table.chosen.connect(self._show_meaning)
        self._meaning = words("", "small", "muted", wrap=True)
        head = flow(self._layer, self._model, self._task, self._kind, again, gap=8)
        self.put(head, self._message, self._wait, self._outdated, self.table, self._meaning)
        self._open = Button(_("Open in Annotate"), "arrow-up-right", on=self._open_chosen)
        self._snap = Button(_("Snap to word"), "whole-word", on=self._snap_chosen)
        self._all = Button(_("Snap all"), on=lambda: state.fix(state.fixable))
        close = Button(_("Close"), on=self.accept)
        self.end(self._open, KeyCap("Enter"), self._snap, KeyCap("S"), self._all, None, close)
        for key, act in (
            (QKeySequence.StandardKey.Undo, app.undo),
            (QKeySequence.StandardKey.Redo, app.redo),
        ):
            QShortcut(key, self, act)
        state.listen(state.changed, lambda _fields: self.render_state())
        self._drop = app.opened.connect(lambda _project: self.accept())
        self.render_state()
        self.table.setFocus()

    def done(self, result: int) -> None:
        """Also called on Escape and the close button."""
        self._drop()
        self.state.close()
        super().done(result)

    def render_state(self) -> None:
        state = self.state
        if state.closed:
            return
        self._layer.setCurrentIndex(self._layer.findData(state.layer))
        names = [card.name for card in state.cards]
        if [self._model.itemData(at) for at in range(self._model.count())] != names:
            self._model.clear()
            for name in names:
                self._model.addItem(name, name)
        self._model.setCurrentIndex(self._model.findData(state.model))
        self._show_tasks()
        self._show_kinds()
        self._wait.setVisible(state.share is not None)
        self._meter.set(state.share)
        self._message.setText(state.describe())
        self._outdated.setVisible(state.outdated and state.share is None)
        self.fault(state.problem)
        self._show_rows()
        can = not state.project.read_only
        self._all.setEnabled(can and bool(state.fixable))
        self._all.set_text(_("Snap all ({n})", n=formats.count(len(state.fixable))))
        self._show_meaning()

    def _show_rows(self) -> None:
        """A row is always chosen: the next one after a snapped one, so that S works at once."""
        if self.table.has_chosen:
            self._at = self.table.currentIndex().row()
        rows = self.state.shown
        self.table.set_rows(rows)
        if rows and not self.table.has_chosen:
            self.table.selectRow(min(self._at, len(rows) - 1))

    def _show_tasks(self) -> None:
        """Only where there is a choice."""
        titles = {info.id: _(info.title) for info in self.state.tasks}
        if [self._task.itemData(at) for at in range(self._task.count())] != [*titles]:
            self._task.clear()
            for id, title in titles.items():
                self._task.addItem(title, id)
        self._task.setVisible(len(titles) > 1)
        self._task.setCurrentIndex(max(self._task.findData(self.state.task), 0))

    def _show_kinds(self) -> None:
        state = self.state
        counts = state.audit.counts if state.audit is not None else {}
        total = formats.count(sum(counts.values()))
        self._kind.clear()
        self._kind.addItem(_("All findings ({n})", n=total), "")
        for kind in KINDS:
            if counts.get(kind):
                n = formats.count(counts[kind])
                self._kind.addItem(_("{kind} ({n})", kind=_(TITLES[kind]), n=n), kind)
        self._kind.setCurrentIndex(max(self._kind.findData(state.kind), 0))

    def _show_meaning(self) -> None:
        chosen: list[Finding] = self.table.chosen_rows()
        state = self.state
        clean = state.audit is not None and not state.audit.findings
        message = _("No findings: every label is trained unchanged.") if clean else ""
        self._meaning.setText(_(MEANINGS[chosen[0].kind]) if chosen else message)
        can = not state.project.read_only
        self._open.setEnabled(bool(chosen))
        self._snap.setEnabled(can and any(finding.fix is not None for finding in chosen))

    def _open_chosen(self) -> None:
        for item in self.table.chosen_rows()[:1]:
            self.state.open(item)

    def _snap_chosen(self) -> None:
        self.state.fix(self.table.chosen_rows())


def _combo(name: str) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    return box


def _context(finding: Finding) -> str:
    """The label in brackets with the text around it, or the beginning of a document."""
    if finding.start is None or finding.end is None:
        return finding.quote.replace("\n", " ")
    before = finding.text[max(0, finding.start - AROUND) : finding.start]
    after = finding.text[finding.end : finding.end + AROUND]
    return f"{before}[{finding.quote}]{after}".replace("\n", " ")


def _snapped(finding: Finding) -> str:
    return finding.text[slice(*finding.fix)] if finding.fix is not None else ""
