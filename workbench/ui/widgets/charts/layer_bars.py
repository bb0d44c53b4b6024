"""Bars of the weights of layers, from the embeddings up."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QVBoxLayout, QWidget

from workbench.base.i18n import _
from workbench.ui.style import escaping, formats, theme
from workbench.ui.style.run_text import LayerMix, gamma_text, weight_texts
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.frame import ChartFrame
from workbench.ui.widgets.charts.layers import Bars, ChartLayer, ChartLine, ChartText
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, layout_of

HEIGHT = 92  # pixels at 100%
VALUES = 16  # height of the values above the bars
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
            message = _("Layer weights of {model}", model=name) if name else _("Layer weights")
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
        self._frame = ChartFrame(Axis(), Axis(names=()), self, baseline=False)
        self._frame.above = VALUES - 10

    def set_weights(self, weights: Sequence[float]) -> None:
        """Set the weights from the embeddings up, sum 1."""
        self._weights = tuple(weights)
        self.setAccessibleDescription(", ".join(weight_texts(self._weights)))
        escaping.set_tip(self, "\n".join(weight_texts(self._weights)))
        self._draw()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._frame.setGeometry(self.rect())
        self._draw()

    def _draw(self) -> None:
        """Bars are as broad as the width allows, at most BROAD."""
        count = len(self._weights)
        if not count:
            self._frame.show_layers(())
            return
        names = tuple((at + 0.5, str(at) if at else _("Emb.")) for at in range(count))
        self._frame.set_axes(Axis(names=names), Axis(names=()))
        wide = self._frame.area().width()
        end = max(float(count), wide / theme.px(BROAD))
        most, even = max(*self._weights, 2 / count), 1 / count
        layers: list[ChartLayer] = [
            Bars([at + 0.15 for at in range(count)], 0.7, self._weights),
            ChartLine((0.0, float(count)), (even, even), "strong_line", 1.0, dashed=True),
        ]
        if wide / end >= theme.px(MIN_LABELLED_BAR_WIDTH):
            for at, weight in enumerate(self._weights):
                layers.append(
                    ChartText(at + 0.5, weight, formats.decimal(weight, 2), anchor=(0.5, 1.1))
                )
        self._frame.show_layers(layers, (0.0, end), (0.0, most))
