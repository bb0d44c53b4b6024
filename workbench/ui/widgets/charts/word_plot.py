"""Words as points in a plane: labels without overlap, zoom with the wheel, pan by dragging."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFrame

from workbench.base.i18n import _
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.legend import SQUARE
from workbench.ui.widgets.charts.named_points import NamedPoint, NamedPoints, marker
from workbench.ui.widgets.charts.saving import Savable, save_menu
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import fill, row

MARGIN = 0.06  # of the range, around all points
STRONG, PLAIN = marker("accent", 8, shape=SQUARE), marker("strong_line", 5)


class WordPlot(Savable, QFrame):
    """`show_words` replaces the points. Words that come first are labelled first."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._points: tuple[NamedPoint, ...] = ()
        self.setProperty("part", "card")
        self._hint = Elided("", "caption", "muted")
        self._all = Button(_("Show all"), kind="quiet", small=True, on=self.show_all)
        more = save_menu("words", _("Save {title}", title=title), self)
        self.frame = NamedPoints(Axis(), Axis(), interactive=True, over_points=True)
        self.frame.setAccessibleName(title)
        self.frame.hovered.connect(self._hover)
        head = row(words(title, weight=600), (self._hint, 1), self._all, more, gap=8)
        fill(self, head, (self.frame, 1), gap=2, margins=(14, 6, 8, 6))

    def show_words(
        self,
        words: Sequence[str],
        places: Sequence[tuple[float, float]],
        *,
        axes: tuple[str, str],
        strong: Sequence[str] = (),
    ) -> None:
        """Words at their places; axes: their titles. strong: words that stand out."""
        points = []
        for word, (x, y) in zip(words, places, strict=True):
            if word in strong:
                points.append(NamedPoint(word, word, x, y, STRONG, "accent", 600))
            else:
                points.append(NamedPoint(word, word, x, y, PLAIN))
        self._points = tuple(points)
        self.frame.set_axes(Axis(axes[0]), Axis(axes[1]))
        self.frame.setAccessibleDescription(", ".join(words)[:4000])
        self._hint.setText(_("Scroll to zoom in and label more words; drag to move"))
        self.show_all()

    def show_all(self) -> None:
        """Fit the range to the points."""
        x = Axis().range_of(point.x for point in self._points)
        y = Axis().range_of(point.y for point in self._points)
        wide, high = MARGIN * (x[1] - x[0]), MARGIN * (y[1] - y[0])
        points = sorted(self._points, key=lambda point: point.marker is not STRONG)
        self.frame.show_points(points, (x[0] - wide, x[1] + wide), (y[0] - high, y[1] + high))

    def _hover(self, place: QPointF) -> None:
        names = ", ".join(point.name for point in self.frame.at(place)[:6])
        self._hint.setText(names or _("Scroll to zoom in and label more words; drag to move"))

    # ---------------------------------------------------------------- saving

    def picture_size(self) -> QSize:
        return self.frame.size()

    def draw_picture(self, painter: QPainter, area: QRectF) -> None:
        self.frame.draw(painter, area)

    def numbers(self) -> Iterator[Sequence[object]]:
        yield "word", "x", "y"
        for point in self._points:
            yield point.name, point.x, point.y
