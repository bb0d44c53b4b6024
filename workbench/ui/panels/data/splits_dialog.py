"""Create splits: fractions, seed, layers, and a preview per label before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QWidget

from workbench.base.events import ALL, concerns
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.text.labels import Label
from workbench.ui.panels.data.splits_state import SplitsState, split_columns
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.controls.words import call, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.layout import column, row
from workbench.ui.widgets.tables.table import Column, Table, ValueKind

if TYPE_CHECKING:
    from workbench.operations.documents.splits import LabelSplits

SPLITS = ("train", "dev", "test")
HEIGHT = 680  # pixels at 100%
ROWS = 3  # minimum number of visible rows below the header
SHOWN_AFTER = 200  # milliseconds before a progress bar appears for the preview


class SplitsDialog(Dialog):
    """Accepted with the choice in the state; the page then creates the splits."""

    def __init__(
        self, parent: QWidget, state: SplitsState, labels: dict[tuple[str, str], Label]
    ) -> None:
        super().__init__(
            parent,
            _("Create splits"),
            _(
                "Divides the submitted documents into train, dev and test, with the same "
                "proportions for each label. Documents of one group and documents with equal "
                "text stay together."
            ),
            width=720,
        )
        self._state, self._labels = state, labels
        self._accepts = False  # as soon as the preview is complete
        self.resize(theme.px(720), theme.px(HEIGHT))
        self._boxes: dict[str, QCheckBox] = {}
        self.put(self._numbers(), self._layer_field(), self._kept_field())
        self._rule = self._rule_field()
        self.put(self._rule)
        self._rule.setVisible(bool(state.fields))
        self._message = words("", "small", "muted", wrap=True)
        self._meter = Meter(None, name=_("Computing preview"))
        policy = self._meter.sizePolicy()
        # reserves the height, so that the layout does not move
        policy.setRetainSizeWhenHidden(True)
        self._meter.setSizePolicy(policy)
        self._table = self._make_table()
        self._warning = Callout("", "warn")
        self.put(row(words(_("Preview"), weight=600), (self._message, 1), gap=12))
        self.put(column(self._meter, self._table, gap=4), self._warning)
        self._make = Button(_("Create splits"), "filter", "primary", on=self.accept)
        self._make.setDefault(True)
        self.end(None, Button(_("Cancel"), on=self.reject), self._make)
        self._delay = QTimer(self)
        self._delay.setSingleShot(True)
        self._delay.setInterval(SHOWN_AFTER)
        self._delay.timeout.connect(self._meter.show)
        self._meter.hide()
        state.listen(state.changed, self.render)
        self.render(ALL)
        self._shares["train"].setFocus()
        self._shares["train"].selectAll()

    # ------------------------------------------------------------ parts

    def _numbers(self) -> QFrame:
        state, self._shares = self._state, {}
        for split in SPLITS:
            box = self._shares[split] = _spin(
                100, state.percent[split], _("Share of {split}"), split
            )
            box.setPrefix(f"{term(split)}  ")
            box.setSuffix("%")
            box.valueChanged.connect(lambda value, split=split: state.set_share(split, value))
        self._share_field = TitledField(
            _("Shares"),
            row(*((box, 1) for box in self._shares.values()), gap=8),
            _("Percentages of all divided documents, including those that keep their split"),
        )
        seed = _spin(2**31 - 1, state.seed, _("Seed"))
        seed.valueChanged.connect(state.set_seed)
        return row(
            (self._share_field, 3),
            (TitledField(_("Seed"), seed, _("The same seed gives the same splits")), 1),
            gap=16,
        )

    def _layer_field(self) -> TitledField:
        area = QFrame()
        flow = FlowLayout(area, gap=16)
        for name, submitted in self._state.layers.items():
            message = _("{layer} ({n:,} submitted)", layer=name, n=submitted)
            box = QCheckBox(escaping.menu_text(message))
            box.setAccessibleName(name)
            box.setChecked(name in self._state.chosen)
            box.setEnabled(submitted > 0)
            box.toggled.connect(lambda on, name=name: self._state.switch_layer(name, on))
            self._boxes[name] = box
            flow.addWidget(box)
        return TitledField(
            _("Layers whose documents are divided, stratified by their labels"),
            area,
            name=_("Layers"),
        )

    def _kept_field(self) -> TitledField:
        self._kept = Segments(
            (True, _("Keep existing splits")), (False, _("Reassign all")), name=_("Existing splits")
        )
        self._kept.chosen.connect(self._state.set_keep)
        return TitledField(
            _("Documents that already have a split"), self._kept, name=_("Existing splits")
        )

    def _rule_field(self) -> TitledField:
        state = self._state
        self._field, self._train_on, self._test_on = combo(), combo(), combo()
        names = {
            self._field: _("Metadata field"),
            self._train_on: _("Train on"),
            self._test_on: _("Test on"),
        }
        for box, name in names.items():
            call(box, name)
        self._field.activated.connect(lambda _at: state.set_field(self._field.currentData()))
        self._train_on.activated.connect(
            lambda _at: state.set_values(train_on=self._train_on.currentData())
        )
        self._test_on.activated.connect(
            lambda _at: state.set_values(test_on=self._test_on.currentData())
        )
        fill(self._field, [("", _("None")), *((name, name) for name in state.fields)], "")
        self._values = row((self._train_on, 1), (self._test_on, 1), gap=8)
        return TitledField(
            _("Train and test on different values of a metadata field, such as languages"),
            row((self._field, 1), (self._values, 2), gap=8),
            name=_("Rule by metadata"),
        )

    def _show_rule(self) -> None:
        state = self._state
        self._values.setVisible(bool(state.field))
        values = state.fields.get(state.field, ())
        train = [(value, _("Train on {value}", value=value)) for value in values]
        test = [(v, _("Test on {value}", value=v)) for v in values if v != state.train_on]
        fill(self._train_on, train, state.train_on)
        fill(self._test_on, [("", _("Test on all others")), *test], state.test_on)

    def _make_table(self) -> Table:
        layer, label, *counts = split_columns()
        columns = [
            Column.of(label, display=_name, tip=_name, chip=self._chip),
            *([Column.of(layer, 150, tip=layer.value)] if len(self._state.layers) > 1 else []),
            *(
                Column.of(count, 100, title=_capital(count.title), kind=ValueKind.COUNT)
                for count in counts
            ),
        ]
        table = Table(columns, name=_("Preview by label"), key=lambda row: (row.layer, row.label))
        table.setMinimumHeight(theme.px((ROWS + 1) * theme.ROW))
        return table

    # ------------------------------------------------------------ showing

    def render(self, fields: frozenset[str]) -> None:
        state = self._state
        if concerns(fields, "error"):
            self._share_field.set_error(state.error)
            for box in self._shares.values():
                _mark(box, bool(state.error))
            self._table.setEnabled(not state.error)
        if concerns(fields, "field", "train_on", "test_on"):
            self._show_rule()
        if concerns(fields, "busy"):
            self._delay.start() if state.busy else self._delay.stop()
            if not state.busy:
                self._meter.hide()
        if concerns(fields, "preview"):
            self._table.set_rows(state.preview.rows if state.preview else ())
            self._warning.set("\n".join(state.preview.warnings) if state.preview else "")
        self._message.setText(self._summary())
        self._make.setEnabled(state.ready)
        if self._accepts and not state.busy:
            self._accepts = False
            self._make.click()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter while the preview is computed creates the splits when it is complete."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._state.busy:
            self._accepts = True
            return
        super().keyPressEvent(event)

    def _chip(self, row: LabelSplits) -> tuple[str, Label, str] | None:
        label = self._labels.get((row.layer, row.label))
        return (row.label, label, "") if label else None

    def _summary(self) -> str:
        state = self._state
        if not any(state.layers.values()):
            return _("No documents are submitted yet, so there is nothing to split.")
        if not state.chosen:
            return _("Choose a layer.")
        if state.preview is None or state.error:
            return ""
        preview = state.preview
        if not preview.changed and preview.kept and state.keep:
            return _(
                "All documents already have a split. To apply these percentages, choose "
                "Reassign all."
            )
        parts = [ngettext("{n:,} document changes", "{n:,} documents change", preview.changed)]
        if preview.kept:
            keep = ngettext("{n:,} keeps its split", "{n:,} keep their split", preview.kept)
            parts.append(keep)
        if preview.outside:
            others = ngettext(
                "{n:,} other document is not divided",
                "{n:,} other documents are not divided",
                preview.outside,
            )
            parts.append(others)
        return " · ".join(parts)


def _spin(highest: int, value: int, name: str, split: str = "") -> SpinBox:
    box = SpinBox(0, highest)
    box.setValue(value)
    box.setMinimumWidth(80)
    call(box, name.format(split=term(split)) if split else name)
    return box


def _mark(box: QWidget, wrong: bool) -> None:
    if box.property("wrong") != wrong:
        box.setProperty("wrong", wrong)
        box.style().unpolish(box)
        box.style().polish(box)


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _name(row: LabelSplits) -> str:
    return row.label or _("unlabelled")
