"""A row of clickable labels with their keys; those that do not fit are behind "more"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from workbench.base.i18n import _
from workbench.text.labels import Label
from workbench.ui import plain, theme
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.chip import ChipButton
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.words import Elided, KeyCap

GAP, LINE_GAP = 8, 6
MOST_LINES = 2  # unless `set_most_lines` says otherwise
WIDEST = 240  # maximum width of a chip at 100 %, so that a long label does not take a whole line


class _Chips(QWidget):
    """Chips from left to right, on a limited number of lines."""

    def __init__(self) -> None:
        super().__init__()
        self.chips: list[ChipButton] = []
        self.most_lines = MOST_LINES
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def lines_for(
        self, width: int, chips: Sequence[ChipButton] | None = None
    ) -> list[list[tuple[ChipButton, int, int]]]:
        """The chips of each line (all, unless `chips` is given) with their left edge and width."""
        lines: list[list[tuple[ChipButton, int, int]]] = [[]]
        x, most = 0, min(theme.px(WIDEST), max(1, width))
        for chip in self.chips if chips is None else chips:
            wide = min(chip.sizeHint().width(), most)
            if lines[-1] and x + wide > width:
                lines.append([])
                x = 0
            lines[-1].append((chip, x, wide))
            x += wide + GAP
        return lines

    def place(self) -> None:
        """Show the chips of the first lines and the selected ones; the rest is behind "more"."""
        high = theme.px(28)
        lines = self._lines_in_sight()
        shown = {chip for line in lines for chip, _x, _wide in line}
        for chip in self.chips:
            chip.setVisible(chip in shown)
        for number, line in enumerate(lines):
            for chip, x, wide in line:
                chip.setGeometry(x, number * (high + LINE_GAP), wide, high)
        self.setFixedHeight(len(lines) * high + (len(lines) - 1) * LINE_GAP)

    def _lines_in_sight(self) -> list[list[tuple[ChipButton, int, int]]]:
        lines = self.lines_for(self.width())
        if len(lines) <= self.most_lines:
            return lines
        first = [chip for line in lines[: self.most_lines] for chip, _x, _wide in line]
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


class LabelBar(QWidget):
    """`picked(label id)` when a chip is clicked, `more()` for the palette."""

    picked = Signal(int)
    more = Signal()

    def __init__(self, title: str = "", *, wide_title: int = 52, always_more: bool = False):
        super().__init__()
        self._always_more = always_more
        self._labels: tuple[Label, ...] = ()
        self._title = Elided(title, "small", "muted")
        self._title.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._wide_title = wide_title
        self._chips = _Chips()
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
        self._end = row(self._more, KeyCap("/"), gap=4)
        layout.addWidget(self._end, 0, Qt.AlignmentFlag.AlignTop)

    def set(
        self,
        title: str,
        labels: Sequence[Label],
        *,
        chosen: Iterable[int] = (),
        checkable: bool = False,
        enabled: bool = True,
    ) -> None:
        """Set the labels; `chosen` are outlined."""
        self._title.setText(title)
        self._size_ends()
        if tuple(labels) != self._labels:
            self._labels = tuple(labels)
            self._make(checkable)
        marked, changed = set(chosen), False
        for chip, label in zip(self._chips.chips, self._labels, strict=True):
            changed |= chip.isChecked() != (label.id in marked)
            chip.setChecked(label.id in marked)
            chip.setEnabled(enabled)
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
        return len(self._chips.lines_for(max(1, self.width() - self._title.width() - 4)))

    def _size_ends(self) -> None:
        """Align title and "more" with the middle of the first line."""
        self._title.setFixedSize(theme.px(self._wide_title), theme.px(28))
        self._end.setFixedHeight(theme.px(28))

    def _make(self, checkable: bool) -> None:
        for chip in self._chips.chips:
            chip.hide()
            chip.setParent(None)
            chip.deleteLater()
        self._chips.chips = [self._chip(label, checkable) for label in self._labels]
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Hide "more" if all chips fit without it."""
        fits = len(self._chips.lines_for(self.width() - self._title.width() - 4)) <= self.most_lines
        self._end.setVisible(self._always_more or not fits)
        self._chips.place()

    def _chip(self, label: Label, checkable: bool) -> ChipButton:
        chip = ChipButton(label.name, label, key=label.key, checkable=checkable)
        chip.setParent(self._chips)
        cut = chip.sizeHint().width() > theme.px(WIDEST)
        plain.set_tip(
            chip, "\n".join(part for part in (label.name if cut else "", label.description) if part)
        )
        chip.clicked.connect(lambda _checked=False, id=label.id: self.picked.emit(id))
        return chip

    def restyle(self) -> None:
        """Called after the theme or text size has changed."""
        self._size_ends()
        self._arrange()

    @property
    def chips(self) -> tuple[ChipButton, ...]:
        return tuple(self._chips.chips)
