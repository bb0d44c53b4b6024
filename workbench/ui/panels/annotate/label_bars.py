"""Where the label bars of a document are: below each other, above or below its text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from workbench.ui.style import theme
from workbench.ui.widgets.controls.label_bar import MOST_LINES, LabelBar
from workbench.ui.widgets.layout import widgets

GAP = 6  # between two bars
LINE = 28  # height of a line of labels, pixels at 100%
BAR_LINE = LINE + GAP


class BarStack(QScrollArea):
    """Label bars below each other; they scroll if they get less height than they need.

    `widened()`: the bars have another width, so that they may want other numbers of lines.
    """

    widened = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._most = 0  # pixels; 0: as many as needed
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        inside = QWidget()
        inside.setProperty("part", "scrolled")
        self._layout = QVBoxLayout(inside)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(GAP)
        self.setWidget(inside)
        self.hide()
        cast(QApplication, QApplication.instance()).focusChanged.connect(self._follow)

    def _follow(self, _before: QWidget | None, now: QWidget | None) -> None:
        """Scroll to the label that gets the focus."""
        if now is not None and self.isAncestorOf(now):
            self.ensureWidgetVisible(now, 0, 0)

    def add(self, bar: LabelBar) -> None:
        self._layout.addWidget(bar)
        bar.grown.connect(self.updateGeometry)
        self.show()

    def remove(self, bar: LabelBar) -> None:
        self._layout.removeWidget(bar)
        self.setVisible(bool(self.bars))

    @property
    def bars(self) -> list[LabelBar]:
        return [bar for bar in widgets(self._layout) if isinstance(bar, LabelBar)]

    def height_of(self, heights: Iterable[int]) -> int:
        """Height of all bars with these heights and the gaps between them, in pixels."""
        each = list(heights)
        return sum(each) + GAP * max(0, len(each) - 1)

    def needed(self) -> int:
        """Height of all bars, in pixels."""
        return self.height_of(bar.height_now() for bar in self.bars)

    def set_most(self, pixels: int) -> None:
        """Maximum height; 0 for none."""
        if pixels != self._most:
            self._most = pixels
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        needed = self.needed()
        return QSize(0, min(needed, self._most) if self._most else needed)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.widened.emit()


def share(stacks: Sequence[BarStack], *, free: int, room: int) -> None:
    """Divide the height among the bars of stacks, the bar with the fewest labels first.

    A bar has MOST_LINES lines, more while `free` pixels suffice, and fewer where all of them would
    be higher than `room` pixels. Where one line each is too high, the stacks scroll.
    """
    bars = [bar for stack in stacks for bar in stack.bars]
    lines, most = (pixels // theme.px(BAR_LINE) for pixels in (free, room))
    needed = {bar: bar.lines_wanted() for bar in bars}
    for number, bar in enumerate(sorted(bars, key=needed.__getitem__)):
        left = len(bars) - number
        allowed = min(max(MOST_LINES, lines // left), max(1, most // left))
        bar.set_most_lines(allowed)
        lines -= min(allowed, needed[bar])
        most -= min(allowed, needed[bar])
    filled = sorted((stack for stack in stacks if stack.bars), key=BarStack.needed)
    for number, stack in enumerate(filled):
        height = max(theme.px(LINE), min(stack.needed(), room // (len(filled) - number)))
        stack.set_most(height)
        room -= height
