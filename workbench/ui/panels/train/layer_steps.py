"""The learning rate of each layer over the steps of a run, and where it is frozen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QSizePolicy, QVBoxLayout, QWidget

from workbench.base.i18n import _, ngettext
from workbench.ui.style import escaping, formats, theme
from workbench.ui.style.run_text import part_name
from workbench.ui.widgets.charts import heat
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.focus_ring import FocusRing

if TYPE_CHECKING:
    from workbench.training.rates import LayerRates

ROW, LEAST_ROW, MOST_HEIGHT = 18, 6, 260  # pixels at 100%
SAME = 1.5  # ratio of peaks up to which rates are drawn on a linear scale
MIN_RELATIVE_RATE = (
    0.05  # of the lowest peak of a part: lower rates have the faintest logarithmic colour
)
FAINTEST = 0.1
NAMES, AXIS = 86, 18  # width of the names, height of the axis
EDGE = 4  # left of the names, for the frame of the focus


class LayerSteps(QFrame):
    """A button that folds the picture out; `ask` computes it, None where there is none.

    beside: a widget to the right of the button. frozen: how many of the lowest parts are frozen by
    the setting, None without it; freeze: called with the number that the user chooses.
    """

    def __init__(
        self,
        ask: Callable[[], LayerRates | None],
        beside: QWidget | None = None,
        *,
        frozen: Callable[[], int | None] = lambda: None,
        freeze: Callable[[int], None] = lambda levels: None,
    ):
        super().__init__()
        self._ask, self._frozen = ask, frozen
        self._picture = Picture()
        self._picture.frozen_chosen.connect(freeze)
        self._message = words("", "caption", "muted", wrap=True)
        self._more = Button(
            _("Which layers learn when"),
            "chevron-right",
            "quiet",
            on=self._fold,
            tip=_("Learning rate of each layer over the run, and where it is frozen"),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(flow(self._more, None, *filter(None, (beside,))))
        for part in (self._picture, self._message):
            part.hide()
            layout.addWidget(part)

    def _fold(self) -> None:
        unfolds = self._picture.isHidden()
        self._picture.setVisible(unfolds)
        self._message.setVisible(unfolds)
        self._more.set_icon("chevron-down" if unfolds else "chevron-right")
        self.render()

    def render(self) -> None:
        """Compute the picture again where it is shown."""
        if self._picture.isHidden():
            return
        rates = self._ask()
        frozen = self._frozen()
        self._picture.set_rates(rates, frozen)
        if rates is None:
            self._message.setText(_("First choose data and settings that can be trained."))
            return
        low, peak = colour_range(np.array(rates.rates))
        message = _("Colour: learning rate, from 0 to {peak}. Hatched: frozen. Lines: epochs.")
        if low:
            message = _(
                "Colour: learning rate from {low} or less to {peak}, logarithmic. Hatched: frozen. "
                "Lines: epochs."
            )
        numbers = {"low": formats.scientific(low), "peak": formats.scientific(peak)}
        click = _("Click a part, or press ↑ and ↓, to freeze it with all parts below it.")
        lines = [message.format(**numbers), *([] if frozen is None else [click])]
        self._message.setText("\n".join(lines))


class Picture(QWidget):
    """Rows from the head down to the embeddings, columns from the first step to the last.

    `frozen_chosen(levels)`: the user wants this many of the lowest parts frozen.
    """

    frozen_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._rates: LayerRates | None = None
        self._frozen: int | None = None
        FocusRing(self)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(_("Learning rate of each layer over the steps"))

    def set_rates(self, rates: LayerRates | None, frozen: int | None = None) -> None:
        """frozen: how many of the lowest parts are frozen for the whole run, None if that cannot be
        chosen.
        """
        self._rates, self._frozen = rates, None if rates is None else frozen
        policy = Qt.FocusPolicy
        self.setFocusPolicy(policy.NoFocus if self._frozen is None else policy.StrongFocus)
        self.setFixedHeight(self._row() * len(rates.parts) + theme.px(AXIS) if rates else 0)
        self.setAccessibleDescription("\n".join(_ranges(rates)) if rates else "")
        self.update()

    def _row(self) -> int:
        count = len(self._rates.parts) if self._rates else 1
        return int(min(theme.px(ROW), max(theme.px(LEAST_ROW), theme.px(MOST_HEIGHT) // count)))

    def _area(self, rates: LayerRates) -> QRect:
        left = theme.px(NAMES)
        return QRect(left, 0, max(1, self.width() - left - 1), self._row() * len(rates.parts))

    def paintEvent(self, _event: QPaintEvent) -> None:
        rates = self._rates
        if rates is None:
            return
        painter, area = QPainter(self), self._area(rates)
        values = np.array(rates.rates)[::-1]  # head first
        frozen = values == 0
        painter.drawImage(area, heat.image(colour_shares(values), frozen))
        self._hatch(painter, area, frozen)
        painter.setPen(QPen(theme.qcolour("surface"), 1))
        starts = range(rates.first_steps, rates.total, rates.steps_per_epoch)
        for step in filter(None, starts):
            at = area.left() + area.width() * step // rates.total
            painter.drawLine(at, area.top(), at, area.bottom())
        self._label(painter, area, rates)

    def _hatch(self, painter: QPainter, area: QRect, frozen: np.ndarray) -> None:
        columns, high = frozen.shape[1], self._row()
        for number, steps in enumerate(frozen):
            edges = np.flatnonzero(np.diff(np.pad(steps.astype(np.int8), 1)))
            for start, end in edges.reshape(-1, 2):
                left = area.left() + area.width() * int(start) // columns
                right = area.left() + area.width() * int(end) // columns
                painter.fillRect(QRect(left, number * high, right - left, high), heat.hatch())

    def _label(self, painter: QPainter, area: QRect, rates: LayerRates) -> None:
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.qcolour("muted"))
        high, names = self._row(), [*map(part_name, reversed(rates.parts))]
        every = 1 if high >= theme.px(12) else -(-theme.px(12) // high)
        side = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        for number, name in enumerate(names):
            if number % every and number != len(names) - 1:
                continue
            middle = number * high + high // 2
            painter.drawText(QRect(EDGE, middle - 8, theme.px(NAMES) - 6, 16), side, name)
        below = QRect(area.left(), area.bottom() + 1, area.width(), theme.px(AXIS))
        painter.drawText(below, side, "0")
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(below, right, _steps(rates.total))

    # ---------------------------------------------------------------- freezing

    def _part_at(self, place: QPoint) -> int | None:
        """The part in a row that can be frozen, from the embeddings on; the head cannot."""
        if self._rates is None or self._frozen is None or place.y() < 0:
            return None
        part = len(self._rates.parts) - 1 - place.y() // self._row()
        return part if 0 <= part < len(self._rates.parts) - 1 else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """The highest frozen part is trained again, any other one is frozen with those below."""
        part = self._part_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and part is not None:
            self.frozen_chosen.emit(part if part + 1 == self._frozen else part + 1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        shape = Qt.CursorShape
        can = self._part_at(event.position().toPoint()) is not None
        self.setCursor(shape.PointingHandCursor if can else shape.ArrowCursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        by = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()))
        if by is None or self._frozen is None or self._rates is None:
            super().keyPressEvent(event)
        elif 0 <= self._frozen + by < len(self._rates.parts):
            self.frozen_chosen.emit(self._frozen + by)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            escaping.show_tip(event.globalPos(), self.text_at(event.pos()), self)
            return True
        return super().event(event)

    def text_at(self, place: QPoint) -> str:
        """Part, step and rate at a place of the picture; "" outside."""
        rates = self._rates
        if rates is None or not self._area(rates).contains(place):
            return ""
        area = self._area(rates)
        part = len(rates.parts) - 1 - place.y() // self._row()
        column = (place.x() - area.left()) * len(rates.steps) // area.width()
        rate = rates.rates[part][column]
        about = {
            "part": part_name(rates.parts[part]),
            "step": formats.count(rates.steps[column]),
            "epoch": formats.count(rates.epochs[column] + 1),
            "rate": formats.scientific(rate),
        }
        if rates.epochs[column] < 0:
            return _("{part}, step {step}, pairs: {rate}", **about)
        if not rate:
            return _("{part}, step {step}, epoch {epoch}: frozen", **about)
        return _("{part}, step {step}, epoch {epoch}: {rate}", **about)


def colour_range(rates: np.ndarray) -> tuple[float, float]:
    """The lowest and the highest rate of the colours, of rates (parts, steps). The lowest is 0, and
    the scale linear, where all parts that are trained have about the same peak.
    """
    peaks = rates.max(1)
    peaks = peaks[peaks > 0]
    if not len(peaks) or peaks.max() <= SAME * peaks.min():
        return 0.0, float(rates.max())
    return MIN_RELATIVE_RATE * float(peaks.min()), float(rates.max())


def colour_shares(rates: np.ndarray) -> np.ndarray:
    """Shares (parts, steps) of the full colour, in [0, 1]; 0 where frozen."""
    low, peak = colour_range(rates)
    if not low:
        return np.asarray(rates / max(peak, 1e-30))
    logs = np.log(np.maximum(rates, low) / low) / np.log(peak / low)
    return np.where(rates > 0, FAINTEST + (1 - FAINTEST) * logs, 0.0)


def _ranges(rates: LayerRates) -> list[str]:
    message, frozen = _("{part}: from {low} to {high}"), _("{part}: frozen")
    return [
        (message if max(row) else frozen).format(
            part=name, low=formats.scientific(min(row)), high=formats.scientific(max(row))
        )
        for name, row in zip(map(part_name, rates.parts), rates.rates, strict=True)
    ]


def _steps(count: int) -> str:
    return ngettext("{n} step", "{n} steps", count, n=formats.count(count))
