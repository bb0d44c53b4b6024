"""The classes of a layer with many labels: the most probable and the latest ones, a search for all.

The rows have the same height for every document, so that text and labels keep their places.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.text.rows import row_id
from workbench.ui import formats, plain, theme
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.chip import ChipButton
from workbench.ui.widgets.key_cap import CommandCap
from workbench.ui.widgets.layout import clear, layout_of, row
from workbench.ui.widgets.meter import Meter
from workbench.ui.widgets.words import Elided, words

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from workbench.base.settings import Settings
    from workbench.text.labels import Label, Layer
    from workbench.ui.panels.annotate.label_keys import FirstLabels

LINE, GAP = 28, 4  # height of a line and the space below it, pixels at 100%
WIDEST = 330  # of a chip, pixels at 100%
ROWS = 5  # of the most probable labels
METER = 100  # pixels at 100%


class ManyLabels(QWidget):
    """`picked(label id)` when a chip is clicked, `more()` for the search."""

    picked = Signal(int)
    more = Signal()

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._shown: tuple[object, ...] = ()
        self._rows: list[list[QWidget]] = []  # what stands in each row of the most probable ones
        self._chips: dict[int, ChipButton] = {}  # of the first labels, by id
        self._title, self._about = words("", "ui", weight=600), Elided("", "small", "muted")
        self._search = Button(_("Find a class"), "search", small=True, on=self.more.emit)
        self._search.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        plain.set_tip(self._search, _("Type part of its name or description"))
        self._others = row(gap=6)  # the classes of the document that are not among the first
        cap = CommandCap(settings, "annotate.palette", "/")
        head = row(self._title, (self._about, 1), self._others, self._search, cap, gap=8)
        head.setFixedHeight(theme.px(LINE))
        self._head = head
        self._likely = QGridLayout()
        self._likely.setContentsMargins(0, 0, 0, 0)
        self._likely.setColumnStretch(3, 1)
        self._recent = row(gap=8)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(head)
        layout.addLayout(self._likely)
        layout.addWidget(self._recent)
        layout.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        self.restyle()

    def sizeHint(self) -> QSize:
        """The same for every document, also with fewer labels."""
        line, gap = theme.px(LINE), theme.px(GAP)
        return QSize(0, (ROWS + 2) * line + (ROWS - 1) * gap + 2 * layout_of(self).spacing())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show the rows that have room; of the others, the keys still work."""
        line, between = theme.px(LINE), layout_of(self).spacing()
        room = self.height() - 2 * (line + between)
        self._recent.setVisible(room >= 0)
        rows = max(0, (room + theme.px(GAP)) // (line + theme.px(GAP)))
        for number, parts in enumerate(self._rows):
            for part in parts:
                part.setVisible(number < rows)

    def minimumSizeHint(self) -> QSize:
        """With the search alone: a window can be lower than the rows need."""
        return QSize(0, theme.px(LINE))

    @property
    def controls(self) -> tuple[QAbstractButton, ...]:
        """The buttons in reading order."""
        return (self._search, *self._chips.values())

    def set(
        self,
        layer: Layer,
        first: FirstLabels,
        labels: Mapping[int, Label],
        *,
        chosen: Collection[int],
        enabled: bool,
    ) -> None:
        """labels: label id → the label with its key. `chosen` are outlined."""
        self._title.setText(layer.name)
        about = (
            _("one of {n}, the most probable first")
            if first.chances
            else _("one of {n}, the most frequent first")
        )
        self._about.setText(about.format(n=formats.count(len(layer.labels))))
        shown = first, tuple(labels.get(id) for id in (*first.likely, *first.recent))
        if shown != self._shown:
            self._shown = shown
            self._fill(first, labels)
        for id, chip in self._chips.items():
            chip.setChecked(id in chosen)
            chip.setEnabled(enabled)
        self._search.setEnabled(enabled)
        clear(layout_of(self._others))
        for label in layer.labels:
            if label.id in chosen and label.id not in self._chips:
                chip = self._chip(label, most=WIDEST // 2)
                chip.setChecked(True)
                layout_of(self._others).addWidget(chip)

    def _fill(self, first: FirstLabels, labels: Mapping[int, Label]) -> None:
        self._chips, self._rows = {}, []
        clear(self._likely)
        for number, id in enumerate(first.likely):
            label = labels[id]
            chip = self._chips[id] = self._chip(label)
            parts: list[QWidget] = [chip]
            if (chance := first.chances.get(id)) is not None:
                meter = Meter(chance, name=_("Probability of {label}").format(label=label.name))
                meter.setFixedWidth(theme.px(METER))
                said = words(formats.decimal(chance, 2), "small", weight=400 if number else 600)
                parts += [meter, said]
            parts.append(Elided(label.description, "small", "muted"))
            columns = range(4) if chance is not None else (0, 3)
            for at, part in zip(columns, parts, strict=True):
                self._likely.addWidget(part, number, at, Qt.AlignmentFlag.AlignVCenter)
            self._rows.append(parts)
        layout = layout_of(self._recent)
        clear(layout)
        layout.addWidget(words(_("Recent"), "small", "muted"))
        for id in first.recent:
            chip = self._chips[id] = self._chip(labels[id], most=WIDEST // 2)
            layout.addWidget(chip)
        layout.addStretch(1)
        self._fit()

    def _chip(self, label: Label, *, most: int = WIDEST) -> ChipButton:
        chip = ChipButton(label.name, label, key=label.key, checkable=True)
        chip.setMaximumWidth(theme.px(most))
        chip.clicked.connect(partial(self._pick, row_id(label)))
        plain.set_tip(chip, "\n".join(filter(None, (label.name, label.description))))
        return chip

    def _pick(self, label_id: int, _checked: bool = False) -> None:
        self.picked.emit(label_id)

    def restyle(self) -> None:
        """Called after the theme or text size has changed."""
        self._head.setFixedHeight(theme.px(LINE))
        self._recent.setFixedHeight(theme.px(LINE))
        self._likely.setVerticalSpacing(theme.px(GAP))
        self._likely.setColumnMinimumWidth(0, theme.px(WIDEST))  # the others keep their place, too
        self._likely.setHorizontalSpacing(theme.px(10))
        layout_of(self).setSpacing(theme.px(GAP) + 2)
        self._shown = ()
