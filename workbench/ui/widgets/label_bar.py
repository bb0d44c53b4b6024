"""A row of labels to press, with their keys; those for which there is no room are behind "more"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from workbench.base.i18n import _
from workbench.text.labels import Label
from workbench.ui import theme
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.chip import ChipButton
from workbench.ui.widgets.words import Elided, KeyCap

GAP = 8


class _Chips(QWidget):
    """Chips on one line, as many as fit."""

    def __init__(self):
        super().__init__()
        self.chips: list[ChipButton] = []
        self.hidden_chips = 0
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(200, theme.px(28))

    minimumSizeHint = sizeHint

    def place(self) -> None:
        """Those that fit stand in a row; the others are hidden."""
        x, self.hidden_chips = 0, 0
        for chip in self.chips:
            width = min(chip.sizeHint().width(), self.width())
            fits = x + width <= self.width() and not self.hidden_chips
            chip.setVisible(fits)
            if fits:
                chip.setGeometry(x, (self.height() - chip.sizeHint().height()) // 2, width, chip.sizeHint().height())
                x += width + GAP
            else:
                self.hidden_chips += 1

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self.place()


class LabelBar(QWidget):
    """`picked(label id)` when a chip is pressed, `more()` for the palette."""

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
        self._more = Button(_("more"), kind="quiet", small=True, on=self.more.emit, name=_("More labels"), tip=_("Find a label by typing"))
        self._more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self._title)
        layout.addWidget(self._chips, 1)
        layout.addWidget(self._more)
        self._cap = KeyCap("/")
        layout.addWidget(self._cap)

    def set(
        self, title: str, labels: Sequence[Label], *, chosen: Iterable[int] = (), checkable: bool = False, enabled: bool = True
    ) -> None:
        """Show these labels; `chosen` are outlined."""
        self._title.setText(title)
        self._title.setFixedWidth(theme.px(self._wide_title))
        if tuple(labels) != self._labels:
            self._labels = tuple(labels)
            self._make(checkable)
        marked = set(chosen)
        for chip, label in zip(self._chips.chips, self._labels, strict=True):
            chip.setChecked(label.id in marked)
            chip.setEnabled(enabled)
        self._more.setEnabled(enabled)

    def _make(self, checkable: bool) -> None:
        for chip in self._chips.chips:
            chip.hide()
            chip.setParent(None)
            chip.deleteLater()
        self._chips.chips = [self._chip(label, checkable) for label in self._labels]
        self._arrange()

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Where all chips fit without it, "more" gives its room away."""
        need = sum(chip.sizeHint().width() + GAP for chip in self._chips.chips)
        fits = need <= self.width() - self._title.width() - 8
        for part in (self._more, self._cap):
            part.setVisible(self._always_more or not fits)
        self._chips.place()

    def _chip(self, label: Label, checkable: bool) -> ChipButton:
        chip = ChipButton(label.name, label, key=label.key, checkable=checkable)
        chip.setParent(self._chips)
        chip.setToolTip(label.description)
        chip.clicked.connect(lambda _checked=False, id=label.id: self.picked.emit(id))
        return chip

    def restyle(self) -> None:
        """After another theme or text size."""
        self._title.setFixedWidth(theme.px(self._wide_title))
        self._chips.updateGeometry()
        self._arrange()

    @property
    def chips(self) -> tuple[ChipButton, ...]:
        return tuple(self._chips.chips)
