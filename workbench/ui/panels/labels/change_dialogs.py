"""Merge, split and move labels with their annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QComboBox, QCompleter, QLineEdit, QWidget

from workbench.base.i18n import _
from workbench.text.rows import row_id
from workbench.ui.panels.labels.changes import ChangeState, MergeState, MoveState, SplitState
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo
from workbench.ui.widgets.controls.words import call, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.tables.table import Column, Table, ValueKind

if TYPE_CHECKING:
    from workbench.ui.panels.labels.state import LabelsState


class _Change(Dialog):
    """Says what will change; stays open if it could not be done."""

    state: ChangeState

    def __init__(self, parent: QWidget, title: str, hint: str, *, width: int = 480) -> None:
        super().__init__(parent, title, hint, width=width)
        self._message = words("", "small", "muted", wrap=True)
        self.state.changed.connect(self.render)
        self.finished.connect(lambda _code: self.state.close())

    def finish(self, title: str, icon: str) -> None:
        """Add the description and the buttons."""
        self.put(self._message)
        self._act = Button(title, icon, "primary", on=self.act)
        self._act.setDefault(True)
        self.end(None, Button(_("Cancel"), on=self.reject), self._act)
        self.render(frozenset({"message"}))

    def act(self) -> None:
        if self.can_act() and self.run():
            self.accept()

    def can_act(self) -> bool:
        raise NotImplementedError

    def run(self) -> bool:
        raise NotImplementedError

    def render(self, _fields: frozenset[str]) -> None:
        self._message.setText(self.state.message)
        self.fault(self.state.fault)
        self._act.setEnabled(self.can_act())


def _names(state: ChangeState) -> str:
    return ", ".join(label.label.name for label in state.rows)


class MergeLabels(_Change):
    def __init__(self, parent: QWidget, page: LabelsState) -> None:
        self.state: MergeState = MergeState(page)
        super().__init__(
            parent,
            _("Merge labels…"),
            _(
                "All annotations, suggestions and patterns get the label that remains; the other "
                "labels are deleted. This can be undone."
            ),
        )
        self.into = _choice(
            [(target.id, target.label.name) for target in self.state.targets], self.state.into
        )
        self.into.currentIndexChanged.connect(
            lambda _index: self.state.choose(self.into.currentData())
        )
        several = len(self.state.rows) > 1
        title = _("Label that remains") if several else _("Merge {name} into")
        self.put(TitledField(title.format(name=_names(self.state)), self.into))
        self.finish(_("Merge labels"), "check")

    def can_act(self) -> bool:
        return bool(self.state.into)

    def run(self) -> bool:
        return self.state.run()


class MoveLabels(_Change):
    def __init__(self, parent: QWidget, page: LabelsState) -> None:
        self.state: MoveState = MoveState(page)
        super().__init__(
            parent,
            _("Move to another layer…"),
            _(
                "The labels are moved with all their annotations. Documents without a state in "
                "that layer get their state in this layer."
            ),
        )
        layers = [(row_id(layer), layer.name) for layer in self.state.layers]
        self.layer = _choice(layers, self.state.layer_id)
        self.layer.currentIndexChanged.connect(
            lambda _index: self.state.choose(self.layer.currentData())
        )
        hint = ""
        if not layers:
            hint = _("No other layer can hold these labels. Add a layer of the same kind first.")
        self.put(TitledField(_("Layer for {names}", names=_names(self.state)), self.layer, hint))
        self.finish(_("Move labels"), "check")

    def can_act(self) -> bool:
        return bool(self.state.layer_id)

    def run(self) -> bool:
        return self.state.run()


class SplitLabel(_Change):
    def __init__(self, parent: QWidget, page: LabelsState) -> None:
        self.state: SplitState = SplitState(page)
        hint = _("Select the documents that get another label.")
        if self.state.in_text:
            hint = _("Select the texts whose spans get another label.")
        if self.state.connects:
            hint = _("Select the relations that get another label, by the texts they connect.")
        super().__init__(parent, _("Split {name}…", name=_names(self.state)), hint, width=620)
        self.name, self.filter = QLineEdit(), QLineEdit()
        self.name.setCompleter(QCompleter([label.label.name for label in page.labels], self.name))
        self.name.textChanged.connect(self.state.set_name)
        self.filter.setPlaceholderText(_("Filter"))
        self.filter.setClearButtonEnabled(True)
        call(self.filter, _("Filter uses"))
        self.filter.textChanged.connect(self.state.set_filter)
        self.table = self._build_table()
        self._count = words("", "caption", "muted")
        every = Button(_("Select all"), small=True, on=self.table.selectAll)
        self.put(
            TitledField(_("New label"), self.name, _("A new name, or a label of this layer")),
            row((self.filter, 1), every),
            self.table,
            self._count,
        )
        self.finish(_("Split label"), "check")
        self.name.setFocus()

    def _build_table(self) -> Table:
        title = _("Text of the span") if self.state.in_text else _("Document")
        if self.state.connects:
            title = _("Texts of the spans")
        columns = [Column(title, lambda row: row.text, tip=lambda row: row.text)]
        if self.state.in_text:
            number = _("Relations") if self.state.connects else _("Spans")
            count = Column(number, lambda row: row.count, 80, kind=ValueKind.COUNT)
            columns.append(count)
        table = Table(columns, name=_("Uses of the label"), key=lambda row: row.ids, many=True)
        table.setMinimumHeight(theme.px(230))
        table.chosen.connect(lambda: self.state.choose(table.chosen_rows()))
        return table

    def can_act(self) -> bool:
        return self.state.can_run

    def run(self) -> bool:
        return self.state.run()

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if fields & {"shown", "message"} and self.table.rows() != list(state.shown):
            self.table.set_rows(state.shown)
        message = _("Reading…") if state.uses is None else ""
        if state.cut:
            message = _("Only the first {n} are listed.", n=formats.count(len(state.uses or ())))
        self._count.setText(message)
        self._count.setVisible(bool(message))
        super().render(fields)


def _choice(items: list[tuple[int, str]], value: int) -> QComboBox:
    return combo(items, value=value)
