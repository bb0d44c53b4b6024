"""The Labels page: layers on the left, labels and guideline in the middle, details on the right."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.text.columns import by_key
from workbench.ui.panel import View
from workbench.ui.panels.labels.changes import MERGE, MOVE, SPLIT
from workbench.ui.panels.labels.chosen import CHOSEN_WIDTH, Chosen
from workbench.ui.panels.labels.guideline import Guideline
from workbench.ui.panels.labels.rules import kind_icon
from workbench.ui.panels.labels.state import LabelRow, LabelsState, LayerRow, label_columns
from workbench.ui.panels.labels.values import ValuesPage
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.chip import chip_width
from workbench.ui.widgets.controls.words import Elided, call, words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.layout import bar, fill, line, row
from workbench.ui.widgets.pages import PageLayout
from workbench.ui.widgets.tables.delegates import INDENT
from workbench.ui.widgets.tables.table import Column, Table

SIDE_WIDTH = 230  # pixels; large text is wrapped
NAMES, CHIP_PAD = 190, 24  # pixels: minimum width of names at 100%; margin beside a chip


class LabelsView(View):
    state: LabelsState

    def __init__(self, state: LabelsState):
        super().__init__(state)
        self._add_layer = Button(_("Add layer…"), "plus", "primary", on=self.ask_layer)
        self._header = PageHeader(
            _("Labels"),
            _("Layers with their labels, keys and annotation guidelines"),
            self._add_layer,
        )
        self._side, self._middle = _Layers(state), _Labels(state)
        self._chosen = Chosen(state, self.ask_change)
        self._guideline = self._middle.guideline
        self.first = self._middle.table
        page = QSplitter(Qt.Orientation.Horizontal)
        page.setChildrenCollapsible(False)
        for part, stretch in ((self._side, 0), (self._middle, 1), (self._chosen, 0)):
            page.addWidget(part)
            page.setStretchFactor(page.count() - 1, stretch)
        page.setSizes([SIDE_WIDTH, 690, CHOSEN_WIDTH])
        hint = _(
            "A layer is one kind of annotation: a class for each text, or spans in it. Each "
            "layer has its own labels."
        )
        self._first_layer = Button(_("Add first layer…"), "plus", "primary", on=self.ask_layer)
        self._empty = EmptyState("tags", _("No layers yet"), hint, self._first_layer)
        self._stack = PageLayout()
        self._stack.addWidget(page)
        self._stack.addWidget(self._empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._header)
        layout.addLayout(self._stack, 1)

    def ask_layer(self) -> None:
        from workbench.ui.panels.labels.dialogs import AddLayer

        AddLayer(self.window(), self.state).exec()

    def ask_label(self) -> None:
        self._middle.new.setFocus()

    def ask_change(self, change: str) -> None:
        """Show the dialog of a change of the selected labels: merge, split or move."""
        from workbench.ui.panels.labels import change_dialogs as dialogs

        kinds = {
            MERGE: dialogs.MergeLabels,
            SPLIT: dialogs.SplitLabel,
            MOVE: dialogs.MoveLabels,
        }
        kinds[change](self.window(), self.state).exec()

    def show_guideline_history(self) -> None:
        self._guideline.show_history()

    def save_guideline(self) -> None:
        self._guideline.save()

    def take_focus(self) -> None:
        cast(QWidget, self.first if self.state.layers else self._first_layer).setFocus()

    def render(self, fields: frozenset[str]) -> None:
        some, editable = bool(self.state.layers), self.state.editable
        self._stack.setCurrentIndex(0 if some else 1)
        self._add_layer.setVisible(some)
        for button in (self._add_layer, self._first_layer):
            button.setEnabled(editable)
        for part in (self._side, self._middle, self._chosen):
            part.render(fields)

    def showEvent(self, event: QShowEvent) -> None:
        self.state.look_again()
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self.save_guideline()
        super().hideEvent(event)

    def _state_changed(self, fields: frozenset[str]) -> None:
        if "stale" in fields and self.isVisible():
            self.state.look_again()
        super()._state_changed(fields)


def _mark(table: Table, ids: set[int]) -> None:
    """Select these rows; if they are selected already, keep the current cell."""
    if {item.id for item in table.chosen_rows()} != ids:
        table.choose(ids)


def _name_tip(label_row: LabelRow) -> str:
    if not label_row.label.parent:
        return label_row.label.name
    return _(
        "{name}, sublabel of {parent}", name=label_row.label.name, parent=label_row.label.parent
    )


def _label_count(layer_row: LayerRow) -> str:
    return str(len(layer_row.layer.labels)) if layer_row.layer.traits.has_labels else "–"


class _Layers(QFrame):
    """The layers; the selected one is shown in the middle."""

    def __init__(self, state: LabelsState):
        super().__init__()
        self.state = state
        self.setProperty("part", "side")
        self.setMinimumWidth(180)
        self.setMaximumWidth(320)

        columns = (
            Column(
                _("Layer"),
                lambda row: row.layer.name,
                icon=lambda row: (kind_icon(row.layer), "muted"),
                tip=lambda row: row.kind,
                edit=lambda row, text: state.rename_layer(row.id, text),
            ),
            Column(_("Labels"), _label_count, 66, right=True),
        )
        self.table = Table(columns, name=_("Layers"), key=lambda row: row.id)
        self.table.chosen.connect(self._choose)
        self._triggers = self.table.editTriggers()
        fill(self, self.table)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.table.setColumnHidden(1, self.width() < theme.px(160))  # the name shrinks first

    def _choose(self) -> None:
        if rows := self.table.chosen_rows():
            self.state.choose_layer(rows[0].id)

    def render(self, fields: frozenset[str]) -> None:
        if concerns(fields, "layers", "layer"):
            self.table.setEditTriggers(
                self._triggers if self.state.editable else self.table.EditTrigger.NoEditTriggers
            )
            self.table.set_rows(self.state.layers)
            _mark(self.table, {self.state.layer.id} if self.state.layer else set())


class _NewLabel(QLineEdit):
    """If the line edit has nothing to undo, Ctrl+Z undoes the last added label."""

    def event(self, event: QEvent) -> bool:
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and not self.isUndoAvailable()
            and cast(QKeyEvent, event).matches(QKeySequence.StandardKey.Undo)
        ):
            event.ignore()
            return False
        return super().event(event)


class _Labels(QFrame):
    """Heading, labels, the line for a new label, and the guideline."""

    def __init__(self, state: LabelsState):
        super().__init__()
        self.state = state
        self._title, self._message = words("", "heading", weight=600), Elided("", "small", "muted")
        self._up = icon_button(
            "chevron-up", _("Move label up"), lambda: state.groups.move(-1), small=True
        )
        self._down = icon_button(
            "chevron-down", _("Move label down"), lambda: state.groups.move(1), small=True
        )
        self.table = self._make_table()
        self.new = _NewLabel()
        self.new.setPlaceholderText(_("New label"))
        call(self.new, _("New label"))
        self.new.returnPressed.connect(self._add)
        self.new.textChanged.connect(lambda _text: self._enable())
        self._add_button = Button(_("Add label"), "plus", on=self._add)
        self.guideline = Guideline(state)
        head = row(
            self._title, (self._message, 1), self._up, self._down, gap=10, margins=(20, 12, 12, 10)
        )
        self._adding = bar((self.new, 1), self._add_button, margins=(12, 8, 12, 8))
        self._none = EmptyState(
            "tags", _("No labels yet"), _("Type the first label below and press Enter.")
        )
        self._stack = PageLayout()
        self._stack.addWidget(self.table)
        self._stack.addWidget(self._none)
        self.values = ValuesPage(state)
        self._stack.addWidget(self.values)
        self._questions = EmptyState("tags", _("A layer for questions has no labels"))
        self._stack.addWidget(self._questions)
        upper, box = QFrame(), QVBoxLayout()
        upper.setProperty("part", "surface")
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        for part in (head, line()):
            box.addWidget(part)
        box.addLayout(self._stack, 1)
        box.addWidget(self._adding)
        upper.setLayout(box)
        halves = QSplitter(Qt.Orientation.Vertical)
        halves.setChildrenCollapsible(False)
        halves.addWidget(upper)
        halves.addWidget(self.guideline)
        halves.setSizes([400, 260])
        halves.setStretchFactor(0, 3)
        halves.setStretchFactor(1, 2)
        fill(self, halves)

    def _make_table(self) -> Table:
        state, known = self.state, by_key(label_columns())
        chip = lambda item: (item.label.name, item.label, "")  # noqa: E731
        columns = (
            Column.of(
                known["name"],
                NAMES,
                chip=chip,
                indent=lambda row: bool(row.label.parent),
                tip=_name_tip,
                edit=lambda row, text: state.rename(row.id, text),
            ),
            Column.of(known["key"], 60, edit=lambda row, text: state.set_key(row.id, text)),
            Column.of(
                known["count"],
                76,
                display=lambda row: "…" if row.count is None else formats.count(row.count),
            ),
            Column(
                _("Description"),
                lambda row: row.label.description,
                tip=lambda row: row.label.description,
                prose=True,
                edit=lambda row, text: state.describe(row.id, text),
            ),
        )
        table = Table(columns, name=_("Labels of the layer"), key=lambda row: row.id, many=True)
        table.chosen.connect(lambda: state.choose([item.id for item in table.chosen_rows()]))
        table.removed.connect(state.delete_chosen)
        self._triggers = table.editTriggers()
        return table

    def _add(self) -> None:
        name = self.new.text().strip()
        if name and self.state.add_label(name):
            self.new.setText("")  # unlike clear(), this leaves nothing to undo in the line edit
            self.table.scrollToBottom()
        self.new.setFocus()

    def _enable(self) -> None:
        self.new.setEnabled(self.state.can_add)
        self._add_button.setEnabled(self.state.can_add and bool(self.new.text().strip()))
        self._up.setEnabled(self.state.groups.can_move(-1))
        self._down.setEnabled(self.state.groups.can_move(1))

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "layer", "labels"):
            self._show_head(state.layer)
            self.table.setEditTriggers(
                self._triggers if state.editable else self.table.EditTrigger.NoEditTriggers
            )
            self.table.set_rows(state.labels)
            self._fit_names()
        if concerns(fields, "asked"):
            message = _("Questions are asked about each document in Annotate, or imported.")
            hint = "\n".join(filter(None, (state.asked, message)))
            self._questions.set(_("A layer for questions has no labels"), hint)
        if concerns(fields, "layer", "labels", "values"):
            traits = state.layer.layer.traits if state.layer is not None else None
            has_labels, asks = (
                traits is None or traits.has_labels,
                traits is not None and traits.asks,
            )
            page = 3 if asks else 1 if has_labels else 2
            self._stack.setCurrentIndex(0 if state.labels else page)
            for part in (self._adding, self._up, self._down):
                part.setVisible(has_labels and not asks)
            self.values.render()
        if concerns(fields, "labels", "chosen"):
            _mark(self.table, set(state.chosen))
        self._enable()
        self.guideline.render(fields)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_names()

    def _fit_names(self) -> None:
        """Show the longest name in full, in at most half of the width."""
        widest = max(
            (
                chip_width(label.label.name) + theme.px(INDENT) * bool(label.label.parent)
                for label in self.state.labels
            ),
            default=0,
        )
        room = self.table.viewport().width() // 2
        if room > theme.px(NAMES):
            self.table.setColumnWidth(0, min(max(widest + CHIP_PAD, theme.px(NAMES)), room))

    def _show_head(self, layer_row: LayerRow | None) -> None:
        self._title.setText(layer_row.layer.name if layer_row else "")
        if layer_row is None or layer_row.submitted is None:
            self._message.setText(layer_row.kind if layer_row else "")
            return
        submitted = ngettext(
            "{n} document submitted", "{n} documents submitted", layer_row.submitted
        )
        count = formats.count(layer_row.submitted)
        self._message.setText(f"{layer_row.kind}  ·  {submitted.format(n=count)}")
