"""The examples in the prompt: how many, how they are selected, and those of the text in Preview."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.ui.panels.prompts.draft import PromptDraft
from workbench.ui.panels.prompts.examples_state import (
    ARRANGEMENTS,
    BY_VECTORS,
    DRAWN,
    MOST_ORDERS,
    MOST_SHOTS,
    PINNED,
    SELECTIONS,
    ExamplesState,
)
from workbench.ui.panels.prompts.parts import Part
from workbench.ui.panels.prompts.preview_state import PreviewState
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import TurningRow, column, row
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.tables.delegates import TWO_LINES, TwoLines
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.operations.prompts.prompt_examples import ExampleRow, PinnedDocument

ROWS = 8  # of the list; more scroll
PICKED_ROWS = 10
ORDERS = 4  # of shuffled examples that are scored at first
SETTINGS = (
    "shots", "order", "seed", "every_label", "arrangement", "orders", "vectors", "source_run",
    "diversity", "models", "runs", "layer",
)  # fmt: skip


class ExamplesBox(Part):
    def __init__(self, draft: PromptDraft, state: ExamplesState, preview: PreviewState):
        super().__init__()
        self.draft, self.state, self.preview = draft, state, preview
        self.states = (draft, state, preview)
        self._settings, self._more = self._make_settings()
        self._meter = Meter(None, name=_("Selection of examples"))
        self._message = words("", "small", "muted", wrap=True)
        self._compute = Button(_("Compute"), "play", small=True, on=state.compute)
        self._cancel = Button(_("Cancel"), "x", "quiet", small=True, on=state.cancel)
        self._work = column(
            row((self._message, 1), self._compute, self._cancel), self._meter, gap=4
        )
        self._pick = Button(
            _("Choose by hand…"), "list-checks", "quiet", small=True, on=self._choose
        )
        self._pin = Button(
            _("Pin this set"),
            "copy",
            "quiet",
            small=True,
            on=state.pin_these,
            tip=_("Show these examples in every prompt"),
        )
        self.title = words("", "small", "muted", weight=500)
        self.table = _table(state)
        self._remove = Button(
            _("Remove"), "trash-2", "quiet", small=True, on=lambda: _remove(self.table, state)
        )
        self.table.chosen.connect(self._show_remove)
        self._dropped = words("", "caption", "muted", wrap=True)
        head = flow(self.title, None, self._pick, self._pin, self._remove, gap=6)
        self.list = column(head, self.table, self._dropped, gap=4)
        fill_with(self, self._settings, self._more, self._work, self.list, gap=8)

    def _make_settings(self) -> tuple[QWidget, QWidget]:
        """What every selection has, and what a method has of its own."""
        draft = self.draft
        self._order = combo([(name, term(name)) for name in SELECTIONS])
        self._order.activated.connect(lambda _i: self._choose_order(self._order.currentData()))
        self._shots, self._seed = SpinBox(0, MOST_SHOTS), SpinBox(0, 99_999)
        for box in (self._shots, self._seed):
            box.setKeyboardTracking(False)
        self._shots.valueChanged.connect(lambda value: draft.change(shots=value))
        self._seed.valueChanged.connect(lambda value: draft.change(seed=value))
        self._every = QCheckBox(_("every class at least once"))
        self._every.toggled.connect(lambda on: draft.change(every_label=on))
        self._arrangement = combo([(name, term(name)) for name in ARRANGEMENTS])
        self._arrangement.activated.connect(
            lambda _i: self._arrange(self._arrangement.currentData())
        )
        self._orders = SpinBox(1, MOST_ORDERS)
        self._orders.setKeyboardTracking(False)
        self._orders.valueChanged.connect(lambda value: draft.change(orders=value))
        self._vectors, self._run = combo(), combo()
        self._vectors.activated.connect(
            lambda _i: draft.change(vectors=self._vectors.currentData())
        )
        self._run.activated.connect(lambda _i: draft.change(source_run=self._run.currentData()))
        self._diversity = SpinBox(0, 100)
        self._diversity.setSuffix("%")
        self._diversity.setKeyboardTracking(False)
        self._diversity.valueChanged.connect(lambda value: draft.change(diversity=value / 100))
        seed = TitledField(_("Seed"), self._seed)
        number = row((TitledField(_("Examples"), self._shots), 2), (seed, 2), gap=10)
        sampling = TitledField(_("Sampling"), self._order, name=_("Sampling"))
        arrangement = TitledField(_("Order in the prompt"), self._arrangement)
        self._own = {
            "orders": TitledField(_("Orders that are scored"), self._orders),
            "vectors": TitledField(_("Compared by"), self._vectors, name=_("Vectors")),
            "diversity": TitledField(_("Diversity"), self._diversity),
            "run": TitledField(_("Uncertain run"), self._run),
        }
        first = TurningRow((sampling, 3), (number, 4), gap=10)
        parts = [(arrangement, 3), *((field, 3) for field in self._own.values())]
        return first, column(TurningRow(*parts, gap=10), self._every, gap=8)

    # ---------------------------------------------------------------- actions

    def _choose_order(self, order: str) -> None:
        """Chosen by hand begins with the examples that are shown."""
        if order == PINNED and not self.draft.spec.pinned and self.state.rows:
            self.state.pin_these()
        else:
            self.draft.change(order=order)

    def _arrange(self, arrangement: str) -> None:
        """Several orders of shuffled examples are scored; each costs as much as the first."""
        orders = ORDERS if arrangement == "shuffled" else 1
        self.draft.change(arrangement=arrangement, orders=orders)

    def _choose(self) -> None:
        dialog = PickDialog(self.window(), self.state)
        dialog.exec()
        dialog.close_search()
        dialog.deleteLater()

    # ---------------------------------------------------------------- showing

    def render_part(self, fields: frozenset[str]) -> None:
        if concerns(fields, *SETTINGS):
            self._show_settings()
        if concerns(fields, "share", "message", "not_computed", "order", "shots"):
            self._show_work()
        if concerns(fields, "prompt", "pinned", "every_label", *SETTINGS):
            self._show_list()

    def _show_settings(self) -> None:
        spec, state = self.draft.spec, self.state
        values = (
            (self._shots, spec.shots),
            (self._seed, spec.seed),
            (self._diversity, round(100 * spec.diversity)),
            (self._orders, spec.orders),
        )
        for box, value in values:
            blocked = box.blockSignals(True)
            box.setValue(value)
            box.blockSignals(blocked)
        blocked = self._every.blockSignals(True)
        self._every.setChecked(spec.every_label)
        self._every.blockSignals(blocked)
        refused = {} if state.has_labels else {"uncertain": _("The layer has no labels.")}
        if not state.models:
            refused |= dict.fromkeys(BY_VECTORS, _("No model is installed that gives vectors."))
        fill(self._order, [(name, term(name)) for name in SELECTIONS], spec.order, refused=refused)
        fill(self._arrangement, [(name, term(name)) for name in ARRANGEMENTS], spec.arrangement)
        first = next(iter(state.models), ("", ""))
        fill(self._vectors, state.models, spec.vectors or first[0])
        runs = [(None, _("newest run")), *state.runs]
        fill(self._run, runs, spec.source_run)
        self._own["orders"].setVisible(spec.arrangement == "shuffled")
        self._own["vectors"].setVisible(spec.order in BY_VECTORS)
        self._own["diversity"].setVisible(spec.order == "mmr")
        self._own["run"].setVisible(spec.order == "uncertain")
        self._seed.setEnabled(spec.order in DRAWN or spec.arrangement == "shuffled")
        self._every.setEnabled(state.has_labels and spec.order != PINNED)
        self._more.setVisible(bool(spec.shots))

    def _show_work(self) -> None:
        state, preview = self.state, self.preview
        computing = state.share is not None
        lacking = preview.not_computed and not computing
        message = state.message
        if computing:
            uncertain = self.draft.spec.order == "uncertain"
            message = _("Predicting the training documents…")
            message = message if uncertain else _("Computing the vectors of the documents…")
        self._message.setText(message)
        self._meter.set(state.share or None)
        self._meter.setVisible(computing)
        self._cancel.setVisible(computing)
        self._compute.setVisible(lacking)
        self._work.setVisible(bool(message) and bool(self.draft.spec.shots))

    def _show_list(self) -> None:
        spec, rows = self.draft.spec, self.state.listed
        self.list.setVisible(bool(rows) or spec.order == PINNED)
        self.table.set_rows(rows)
        self.table.fit_height(ROWS)
        title = ngettext("{n} example for this text", "{n} examples for this text", len(rows))
        self.title.setText(title)
        self._pin.setVisible(spec.order != PINNED)
        self._pin.setEnabled(bool(rows))
        self._remove.setVisible(spec.order == PINNED)
        self._show_remove()
        message = self.state.left_out
        self._dropped.setText(message)
        self._dropped.setVisible(bool(message))

    def _show_remove(self) -> None:
        self._remove.setEnabled(bool(self.table.chosen_rows()))


def _chip(state: ExamplesState) -> Any:
    def chip(row: ExampleRow | PinnedDocument) -> tuple[str, Any, str]:
        layer = state.draft.layer
        labels = layer.labels if layer is not None else ()
        return row.label or "–", next((it for it in labels if it.name == row.label), None), ""

    return chip


def _line(row: ExampleRow | PinnedDocument) -> str:
    return " ".join(row.text.split())


def _about(row: ExampleRow | PinnedDocument) -> str:
    split = term(row.split) if row.split else _("no split")
    return f"{row.key} · {split}\n{row.text}"


def _table(state: ExamplesState) -> Table:
    columns = (
        Column(_("Example"), _two_lines, tip=_about),
        Column(_("Label"), lambda row: row.label, 110, most=150, chip=_chip(state)),
    )
    table = Table(columns, name=_("Examples"), key=lambda row: (row.id, row.label, row.place))
    table.setItemDelegateForColumn(0, TwoLines(table))
    table.verticalHeader().setDefaultSectionSize(theme.px(TWO_LINES))
    table.opened.connect(state.open)
    table.removed.connect(lambda: _remove(table, state))
    return table


def _two_lines(row: ExampleRow) -> str:
    """The text, and below it key, split and reason."""
    split = term(row.split) if row.split else _("no split")
    reason = row.reason
    if row.place is None:
        reason = _("left out as the prompt is too long; {reason}", reason=row.reason)
    return f"{_line(row)}\n{row.key}, {split}, {reason}"


def _remove(table: Table, state: ExamplesState) -> None:
    if state.draft.spec.order == PINNED:
        state.remove([row.id for row in table.chosen_rows()])


class PickDialog(Dialog):
    """A list of training documents with a search; those that are selected are pinned."""

    def __init__(self, parent: QWidget, state: ExamplesState):
        hint = _("Submitted documents of the training split. They are shown in every prompt.")
        super().__init__(parent, _("Choose examples…"), hint, width=720)
        self.state = state
        self.line = QLineEdit()
        self.line.setPlaceholderText(_("Search in texts and keys"))
        self.line.setAccessibleName(_("Search"))
        self.line.setClearButtonEnabled(True)
        self.line.textChanged.connect(state.search)
        self.line.returnPressed.connect(self._to_list)
        columns = (
            Column(_("Key"), lambda row: row.key, 90),
            Column(_("Label"), lambda row: row.label, 110, most=170, chip=_chip(state)),
            Column(_("Text"), _line, tip=_about, prose=True),
        )
        self.table = Table(columns, name=_("Training documents"), key=lambda row: row.id, many=True)
        self.table.setMinimumHeight(theme.px(theme.ROW) * PICKED_ROWS)
        self.table.chosen.connect(self._show_count)
        self.table.opened.connect(lambda _row: self._take())
        self._add = Button("", "plus", "primary", on=self._take)
        self.put(self.line, self.table)
        self.end(None, Button(_("Cancel"), on=self.reject), self._add)
        self._drop = state.changed.connect(self._render)
        state.search("")
        self._show_count()

    def close_search(self) -> None:
        self._drop()

    def _render(self, fields: frozenset[str]) -> None:
        if "matching" in fields:
            self.table.set_rows(self.state.matching)

    def _to_list(self) -> None:
        self.table.setFocus()
        if not self.table.chosen_rows():
            self.table.selectRow(0)

    def _show_count(self) -> None:
        n = len(self.table.chosen_rows())
        self._add.set_text(ngettext("Add {n} example", "Add {n} examples", n))
        self._add.setEnabled(bool(n))

    def _take(self) -> None:
        if rows := self.table.chosen_rows():
            self.state.add([row.id for row in rows])
            self.accept()
