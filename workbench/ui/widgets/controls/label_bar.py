"""A row of clickable labels with their keys; those that do not fit are behind "more"."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCursor, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QMenu, QSizePolicy, QWidget

from workbench.base.i18n import _, ngettext
from workbench.text.labels import Label
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.chip import ChipButton
from workbench.ui.widgets.controls.words import Elided, KeyCap
from workbench.ui.widgets.layout import row

GAP, LINE_GAP, TIED_GAP = 8, 6, 2
MOST_LINES = 2  # unless `set_most_lines` says otherwise
LEAST_WITH_TITLE = 260  # width of a bar in pixels at 100%; a narrower one has no title
WIDEST = 240  # width of a chip at 100% that its line is divided by; free room widens it


Placed = tuple[QAbstractButton, int, int]  # with its left edge and width


class _Chips(QWidget):
    """Chips from left to right, on a limited number of lines. `grown()`: its height has changed."""

    grown = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.chips: list[QAbstractButton] = []
        self.tied: dict[QAbstractButton, QAbstractButton] = {}  # chip → what stays right of it
        self.most_lines = MOST_LINES
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def lines_for(
        self, width: int, chips: Sequence[QAbstractButton] | None = None
    ) -> list[list[Placed]]:
        """The chips of each line (all, unless `chips` is given) with their left edge and width."""
        lines: list[list[Placed]] = [[]]
        cut = set()  # numbers of the lines with a shortened chip
        x, most = 0, min(theme.px(WIDEST), max(1, width))
        for chip in self.chips if chips is None else chips:
            tied = self.tied.get(chip)
            after = tied.sizeHint().width() if tied is not None else 0
            preferred = chip.sizeHint().width()
            wide = min(preferred, most - (after + TIED_GAP if after else 0))
            if lines[-1] and x + wide + (after + TIED_GAP if after else 0) > width:
                lines.append([])
                x = 0
            lines[-1].append((chip, x, wide))
            if wide < preferred:
                cut.add(len(lines) - 1)
            x += wide + GAP
            if tied is not None:
                lines[-1].append((tied, x - GAP + TIED_GAP, after))
                x += TIED_GAP + after
        for number in cut:
            lines[number] = _widened(lines[number], width)
        return lines

    def place(self) -> None:
        """Show the chips of the first lines and the selected ones; the rest is behind "more"."""
        high = theme.px(28)
        lines = self._lines_in_sight()
        placed = {chip for line in lines for chip, _x, _wide in line}
        for chip in (*self.chips, *self.tied.values()):
            chip.setVisible(chip in placed)
        for number, line in enumerate(lines):
            for chip, x, wide in line:
                chip.setGeometry(x, number * (high + LINE_GAP), wide, high)
        before = self.height()
        self.setFixedHeight(len(lines) * high + (len(lines) - 1) * LINE_GAP)
        if self.height() != before:
            self.grown.emit()

    def _lines_in_sight(self) -> list[list[Placed]]:
        lines = self.lines_for(self.width())
        if len(lines) <= self.most_lines:
            return lines
        ties = set(self.tied.values())
        first = [
            chip
            for line in lines[: self.most_lines]
            for chip, _x, _wide in line
            if chip not in ties
        ]
        chosen = [
            chip
            for line in lines[self.most_lines :]
            for chip, _x, _wide in line
            if chip.isChecked()
        ]
        while (
            chosen
            and first
            and len(lines := self.lines_for(self.width(), [*first, *chosen])) > self.most_lines
        ):
            first.pop()
        return lines[: self.most_lines]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place()


def _widened(line: list[Placed], width: int) -> list[Placed]:
    """The line with its shortened chips as wide as its free room allows, from the left."""
    free = max(0, width - sum(line[-1][1:]))
    widened, moved = [], 0
    for chip, x, wide in line:
        more = min(free - moved, max(0, chip.sizeHint().width() - wide))
        widened.append((chip, x + moved, wide + more))
        moved += more
    return widened


class LabelBar(QWidget):
    """`picked(label id)` when a chip is clicked, `more()` for the palette.

    `grown()`: its height has changed. `cap` shows the key of the palette. A label with sublabels
    has a button that folds them: `folded(label ids, whether to fold)`.
    """

    picked = Signal(int)
    more = Signal()
    folded = Signal(object, bool)
    grown = Signal()

    def __init__(
        self,
        title: str = "",
        *,
        wide_title: int = 52,
        always_more: bool = False,
        cap: QWidget | None = None,
    ):
        super().__init__()
        self._always_more = always_more
        self._labels: tuple[Label, ...] = ()
        self._groups: Mapping[int, Collection[int]] = {}
        self._folded: frozenset[int] = frozenset()
        self._named: list[ChipButton] = []  # those of the labels
        self._folds: dict[int, Button] = {}  # label id → the button that folds its sublabels
        self._title = Elided(title, "small", "muted")
        self._title.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._wide_title = wide_title
        self._chips = _Chips()
        self._chips.grown.connect(self.grown)
        self._wanted: tuple[list[ChipButton], int, int] = ([], 0, 1)  # chips, width, lines for them
        self._more = Button(
            _("more"),
            kind="quiet",
            small=True,
            on=self.more.emit,
            name=_("More labels"),
            tip=_("Find a label by typing"),
        )
        self._more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self._title, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self._chips, 1)
        self._end = row(self._more, cap or KeyCap("/"), gap=4)
        layout.addWidget(self._end, 0, Qt.AlignmentFlag.AlignTop)

    def set(
        self,
        title: str,
        labels: Sequence[Label],
        *,
        chosen: Iterable[int] = (),
        checkable: bool = False,
        enabled: bool = True,
        groups: Mapping[int, Collection[int]] | None = None,
        folded: Collection[int] = (),
        tips: Mapping[int | None, str] | None = None,
    ) -> None:
        """Set the labels; `chosen` are outlined. tips: label id → a line for its tooltip.

        groups: label id → ids of its sublabels, which follow it. folded: labels whose sublabels are
        shown only while they are chosen.
        """
        self._title.setText(title)
        self._size_ends()
        marked, changed = set(chosen), False
        visible = _shown(labels, groups or {}, folded, marked)
        state = visible, groups or {}, frozenset(folded)
        if state != (self._labels, self._groups, self._folded):
            self._labels, self._groups, self._folded = state
            self._make(checkable)
        for chip, label in zip(self.chips, self._labels, strict=True):
            changed |= chip.isChecked() != (label.id in marked)
            chip.setChecked(label.id in marked)
            chip.setEnabled(enabled)
            _set_tip(chip, label, (tips or {}).get(label.id, ""))
        if changed:
            self._chips.place()
        self._more.setEnabled(enabled)

    @property
    def most_lines(self) -> int:
        return self._chips.most_lines

    def set_most_lines(self, most: int) -> None:
        """Maximum number of lines of chips; the rest is behind "more"."""
        if most != self._chips.most_lines:
            self._chips.most_lines = most
            self._arrange()

    def lines_wanted(self) -> int:
        """Number of lines needed for all chips."""
        basis = self._named, self.width() - self._title.width() - 4
        if self._wanted[:2] != basis:
            self._wanted = *basis, len(self._chips.lines_for(max(1, basis[1])))
        return self._wanted[2]

    def height_now(self) -> int:
        """Height with the current number of lines, in pixels."""
        return self._chips.height()

    def _size_ends(self) -> None:
        """Align title and "more" with the middle of the first line; no title in a narrow bar."""
        titled = self.width() >= theme.px(LEAST_WITH_TITLE)
        self._title.setFixedSize(theme.px(self._wide_title) if titled else 0, theme.px(28))
        self._end.setFixedHeight(theme.px(28))

    def _make(self, checkable: bool) -> None:
        at = next((id for id, chip in self._folds.items() if chip.hasFocus()), None)
        for part in (*self._named, *self._folds.values()):
            part.hide()
            part.setParent(None)
            part.deleteLater()
        self._named, self._folds, self._chips.tied = [], {}, {}
        for label in self._labels:
            chip = self._chip(label, checkable)
            self._named.append(chip)
            if label.id is not None and label.id in self._groups:
                self._folds[label.id] = self._chips.tied[chip] = self._fold(label.id, label)
        self._chips.chips = list(self._named)
        if at in self._folds:
            self._folds[at].setFocus()
        self._arrange()

    def _fold(self, id: int, label: Label) -> Button:
        """The button that shows or hides the sublabels of a label."""
        many, hidden = len(self._groups[id]), id in self._folded
        message = (
            ngettext(
                "Show {n} sublabel of {label}",
                "Show {n} sublabels of {label}",
                many,
                label=label.name,
            )
            if hidden
            else _("Hide the sublabels of {label}", label=label.name)
        )
        text = f"+{many}" if hidden else "\N{MINUS SIGN}"
        button = Button(
            text,
            kind="quiet",
            small=True,
            on=lambda: self.folded.emit([id], not hidden),
            name=message,
            tip=message,
        )
        button.setParent(self._chips)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        button.customContextMenuRequested.connect(self._ask_all)
        return button

    def _ask_all(self) -> None:
        menu, every = QMenu(self), list(self._groups)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(_("Show all sublabels"), partial(self.folded.emit, every, False))
        menu.addAction(_("Hide all sublabels"), partial(self.folded.emit, every, True))
        menu.popup(QCursor.pos())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._size_ends()
        self._arrange()

    def _arrange(self) -> None:
        """Hide "more" if all chips fit without it."""
        fits = len(self._chips.lines_for(self.width() - self._title.width() - 4)) <= self.most_lines
        self._end.setVisible(self._always_more or not fits)
        self._chips.place()

    def _chip(self, label: Label, checkable: bool) -> ChipButton:
        chip = ChipButton(label.name, label, key=label.key, checkable=checkable)
        chip.setParent(self._chips)
        chip.clicked.connect(lambda _checked=False, id=label.id: self.picked.emit(id))
        return chip

    def restyle(self) -> None:
        """Called after the theme or text size has changed."""
        self._wanted = ([], 0, 1)
        self._size_ends()
        self._arrange()

    @property
    def chips(self) -> tuple[ChipButton, ...]:
        """The chips of the labels."""
        return tuple(self._named)

    @property
    def controls(self) -> tuple[QAbstractButton, ...]:
        """The buttons in reading order, also those without room."""
        buttons: list[QAbstractButton] = []
        for chip in self._named:
            buttons.append(chip)
            if (tied := self._chips.tied.get(chip)) is not None:
                buttons.append(tied)
        return (*buttons, self._more)

    @property
    def folds(self) -> Mapping[int, Button]:
        """Label id → the button that folds its sublabels."""
        return self._folds


def _shown(
    labels: Sequence[Label],
    groups: Mapping[int, Collection[int]],
    folded: Collection[int],
    chosen: Collection[int],
) -> tuple[Label, ...]:
    """The labels in order, each followed by its sublabels; folded ones only if chosen."""
    if not groups:
        return tuple(labels)
    of = {id: parent for parent, ids in groups.items() for id in ids}
    below: dict[int, list[Label]] = {}
    for label in labels:
        if label.id in of and (of[label.id] not in folded or label.id in chosen):
            below.setdefault(of[label.id], []).append(label)
    first = [label for label in labels if label.id not in of]
    return tuple(item for label in first for item in (label, *below.get(cast(int, label.id), ())))


def _set_tip(chip: ChipButton, label: Label, author: str) -> None:
    """The whole name if it is cut, the description, and who made it."""
    cut = chip.sizeHint().width() > theme.px(WIDEST)
    message = "\n".join(filter(None, (label.name if cut else "", label.description, author)))
    if chip.property("message") != message:
        chip.setProperty("message", message)
        escaping.set_tip(chip, message)
