"""Bars of the weights of layers, from the embeddings up."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QVBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.ui.style import escaping, formats, theme
from workbench.ui.style.run_text import LayerMix, gamma_text, weight_texts
from workbench.ui.widgets.layout import card, layout_of
from workbench.ui.widgets.words import words

HEIGHT = 92  # pixels at 100%
NAMES, VALUES = 18, 16  # height of the names below the bars and the values above them
MIN_LABELLED_BAR_WIDTH = 34  # least width of a bar with a value above it
BROAD = 64  # largest width of a bar


class LayerMixes(QFrame):
    """A card with the bars of each model whose layers are mixed; hidden without any."""

    def __init__(self) -> None:
        super().__init__()
        self._names: tuple[str, ...] | None = None
        self._shown: list[tuple[LayerBars, QLabel]] = []
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        self.set_mixes(())

    def set_mixes(self, mixes: Sequence[LayerMix]) -> None:
        names = tuple(mix.part for mix in mixes)
        if names != self._names:
            self._names, self._shown = names, [_bars() for _name in names]
            self._build()
        for (bars, gamma), mix in zip(self._shown, mixes, strict=True):
            bars.set_weights(mix.weights)
            gamma.setText(gamma_text(mix.gamma))
        self.setVisible(bool(mixes))

    def _build(self) -> None:
        layout = layout_of(self)
        while (item := layout.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.deleteLater()
        for name, (bars, gamma) in zip(self._names or (), self._shown, strict=True):
            message = (
                _("Layer weights of {model}").format(model=name) if name else _("Layer weights")
            )
            layout.addWidget(card(bars, title=message, note=gamma, gap=6))


def _bars() -> tuple[LayerBars, QLabel]:
    return LayerBars(), words("", "caption", "muted")


class LayerBars(QWidget):
    """One bar per layer; a dashed line is the weight of each layer in a uniform mean."""

    def __init__(self) -> None:
        super().__init__()
        self._weights: tuple[float, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(theme.px(HEIGHT))
        self.setAccessibleName(_("Layer weights"))

    def set_weights(self, weights: Sequence[float]) -> None:
        """Set the weights from the embeddings up, sum 1."""
        self._weights = tuple(weights)
        self.setAccessibleDescription(", ".join(weight_texts(self._weights)))
        escaping.set_tip(self, "\n".join(weight_texts(self._weights)))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self._weights:
            return
        painter = QPainter(self)
        painter.setFont(theme.font("caption"))
        names, top = theme.px(NAMES), theme.px(VALUES)
        room = self.height() - names - top
        slot = min(self.width() / len(self._weights), float(theme.px(BROAD)))
        most = max(*self._weights, 2 / len(self._weights))
        for number, weight in enumerate(self._weights):
            left, high = slot * number, room * weight / most
            bar = QRectF(left + slot * 0.15, top + room - high, slot * 0.7, high)
            painter.fillRect(bar, theme.qcolour("accent"))
            self._text(painter, number, slot, bar, weight)
        level = top + room * (1 - 1 / len(self._weights) / most)
        painter.setPen(QPen(theme.qcolour("strong_line"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(0, level), QPointF(slot * len(self._weights), level))

    def _text(
        self, painter: QPainter, number: int, slot: float, bar: QRectF, weight: float
    ) -> None:
        middle = Qt.AlignmentFlag.AlignCenter
        painter.setPen(theme.qcolour("muted"))
        below = QRectF(slot * number, self.height() - theme.px(NAMES), slot, theme.px(NAMES))
        painter.drawText(below, middle, _("Emb.") if number == 0 else str(number))
        if slot >= theme.px(MIN_LABELLED_BAR_WIDTH):
            painter.setPen(theme.qcolour("text"))
            above = QRectF(slot * number, bar.top() - theme.px(VALUES), slot, theme.px(VALUES))
            painter.drawText(above, middle, formats.decimal(weight, 2))
