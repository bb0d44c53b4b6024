"""The editors of numbers and written texts, below the text of a document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QApplication, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from workbench.text.rows import row_id
from workbench.ui.panels.annotate.values.editors import EDITORS, ValueEditor
from workbench.ui.widgets.layout import remove

if TYPE_CHECKING:
    from workbench.text.labels import Layer
    from workbench.ui.panels.annotate.values.values import ValueTool

GAP = 6  # pixels between two editors


class ValueStack(QScrollArea):
    """Editors below each other; they become lower, and scroll, if they get less height than they
    need. `left()`: Escape in one of them. `done()`: Enter, which submits the document.
    """

    left, done = Signal(), Signal()

    def __init__(self, tool: ValueTool) -> None:
        super().__init__()
        self._tool = tool
        self._most = 0  # pixels; 0: as many as needed
        self.editors: dict[int, ValueEditor] = {}  # by layer id
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._inside = QWidget()
        self._inside.setProperty("part", "scrolled")
        self._layout = QVBoxLayout(self._inside)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(GAP)
        self.setWidget(self._inside)
        self.hide()
        cast(QApplication, QApplication.instance()).focusChanged.connect(self._follow)

    def _follow(self, _before: QWidget | None, now: QWidget | None) -> None:
        """Scroll to the editor that gets the focus."""
        if now is not None and self.isAncestorOf(now):
            self.ensureWidgetVisible(now, 0, 0)

    def show_layers(self, layers: Iterable[Layer]) -> None:
        """The editors of the layers that have values, in order."""
        by_id = {row_id(layer): layer for layer in layers if layer.traits.editor in EDITORS}
        for id in [id for id in self.editors if id not in by_id]:
            remove(self.editors.pop(id))
        for id, layer in by_id.items():
            if id not in self.editors:
                editor = self.editors[id] = EDITORS[layer.traits.editor](self._tool, layer)
                editor.left.connect(self.left)
                editor.done.connect(self.done)
                self._layout.addWidget(editor)
            self.editors[id].render(layer)
        self.setVisible(bool(self.editors))
        self.updateGeometry()

    def set_room(self, pixels: int) -> None:
        """The height that is left for all editors: if it is too little, they become lower."""
        low = bool(self.editors) and pixels < self._needed(low=False)
        for editor in self.editors.values():
            editor.set_low(low)
        most = 0 if not low else max(self.least(), min(pixels, self._needed(low=True)))
        if most != self._most:
            self._most = most
            self.updateGeometry()

    def least(self) -> int:
        """The height of the lowest editor in pixels, 0 without editors."""
        return min((editor.height_of(low=True) for editor in self.editors.values()), default=0)

    def _needed(self, *, low: bool) -> int:
        heights = [editor.height_of(low=low) for editor in self.editors.values()]
        return sum(heights) + GAP * max(0, len(heights) - 1)

    def sizeHint(self) -> QSize:
        needed = self._needed(low=False)
        return QSize(0, min(needed, self._most) if self._most else needed)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()
