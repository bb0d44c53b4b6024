"""Words as points in a plane: labels without overlap, zoom with the wheel, pan by dragging."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetricsF, QPainter, QResizeEvent
from PySide6.QtWidgets import QFrame

from workbench.base.i18n import _
from workbench.ui.style import theme
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.charts.saving import Savable, save_menu
from workbench.ui.widgets.layout import fill, row
from workbench.ui.widgets.words import Elided, words

GAP = 5  # pixels between a point and its word
LABELS_MS = 60  # after a change of the range
MOST_LABELS = 250


class WordPlot(Savable, QFrame):
    """`show_words` replaces the points. Words that come first are labelled first."""

    def __init__(self, title: str) -> None:
        super().__init__()
        import pyqtgraph

        self._pg, self._title = pyqtgraph, title
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.setInterval(LABELS_MS)
        self._clock.timeout.connect(self.place_labels)
        self._words: tuple[str, ...] = ()
        self._places: tuple[tuple[float, float], ...] = ()
        self._strong: frozenset[str] = frozenset()
        self._labels: list[Any] = []  # TextItem; pyqtgraph has no types
        self.setProperty("part", "card")
        self._hint = Elided("", "caption", "muted")
        self._all = Button(_("Show all"), kind="quiet", small=True, on=self.show_all)
        more = save_menu("words", _("Save {title}").format(title=title), self)
        self.view = pyqtgraph.PlotWidget()
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setMenuEnabled(False)
        menu = self.view.getPlotItem().ctrlMenu  # without a parent it would outlive the plot
        menu.setParent(self.view, menu.windowFlags())
        self.view.hideButtons()
        self.view.setAccessibleName(title)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setAspectLocked(True)
        self.view.scene().sigMouseMoved.connect(self._hover)
        self.view.getPlotItem().vb.sigRangeChanged.connect(lambda *_range: self._clock.start())
        self._points = pyqtgraph.ScatterPlotItem(pxMode=True)
        self.view.addItem(self._points)
        head = row(words(title, weight=600), (self._hint, 1), self._all, more, gap=8)
        fill(self, head, (self.view, 1), gap=2, margins=(14, 6, 8, 6))
        self._dress()

    def show_words(
        self,
        shown: Sequence[str],
        places: Sequence[tuple[float, float]],
        *,
        axes: tuple[str, str],
        strong: Sequence[str] = (),
    ) -> None:
        """Words at their places; axes: their titles. strong: words that stand out."""
        self._words, self._places = tuple(shown), tuple(places)
        self._strong = frozenset(strong)
        for side, name in zip(("bottom", "left"), axes, strict=True):
            self.view.getAxis(side).setLabel(name, color=theme.colour("muted"))
            self.view.getAxis(side).enableAutoSIPrefix(False)
        self.view.setAccessibleDescription(", ".join(self._words)[:4000])
        self._draw()
        self.show_all()

    def show_all(self) -> None:
        """Fit the range to the points."""
        self.view.getPlotItem().vb.autoRange(padding=0.06)
        self._clock.start()

    def labels(self) -> tuple[str, ...]:
        """The words that are labelled now."""
        return tuple(item.toPlainText() for item in self._labels)

    def _draw(self) -> None:
        accent, faint = theme.colour("accent"), theme.colour("strong_line")
        spots = [
            {
                "pos": place,
                "size": 8 if word in self._strong else 5,
                "symbol": "s" if word in self._strong else "o",
                "pen": None,
                "brush": accent if word in self._strong else faint,
                "data": word,
            }
            for word, place in zip(self._words, self._places, strict=True)
        ]
        self._points.setData(spots)
        self._hint.setText(_("Scroll to zoom in and label more words; drag to move"))
        self._clock.start()

    def place_labels(self) -> None:
        """Label as many words as fit without overlap."""
        for item in self._labels:
            self.view.removeItem(item)
        self._labels = []
        box = self.view.getPlotItem().vb
        area, taken = box.sceneBoundingRect(), list[QRectF]()
        pairs = zip(self._words, self._places, strict=True)
        for word, place in sorted(pairs, key=lambda pair: pair[0] not in self._strong):
            at = box.mapViewToScene(QPointF(*place))
            if not area.contains(at) or len(self._labels) >= MOST_LABELS:
                continue
            font = theme.font("caption", 600 if word in self._strong else 400)
            metrics = QFontMetricsF(font)
            wide, high = metrics.horizontalAdvance(word) + 2, metrics.height()
            for right in (True, False):
                left = at.x() + GAP if right else at.x() - GAP - wide
                spot = QRectF(left, at.y() - high / 2, wide, high)
                if area.contains(spot) and not any(spot.intersects(f) for f in taken):
                    taken += [spot, QRectF(at.x() - 3, at.y() - 3, 6, 6)]
                    edge = QPointF(spot.left() if right else spot.right(), at.y())
                    self._label(word, box.mapSceneToView(edge), font, right=right)
                    break

    def _label(self, word: str, place: QPointF, font: Any, *, right: bool) -> None:
        tone = "accent" if word in self._strong else "text"
        item = self._pg.TextItem(word, color=theme.colour(tone), anchor=(0 if right else 1, 0.5))
        item.setFont(font)
        item.textItem.document().setDocumentMargin(0)
        item.updateTextPos()
        item.setPos(place)
        self.view.addItem(item, ignoreBounds=True)
        self._labels.append(item)

    def _hover(self, at: QPointF) -> None:
        found = self._points.pointsAt(self.view.getPlotItem().vb.mapSceneToView(at))
        names = ", ".join(str(point.data()) for point in found[:6]) if len(found) else ""
        self._hint.setText(names or _("Scroll to zoom in and label more words; drag to move"))

    # ---------------------------------------------------------------- appearance

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._clock.start()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_points"):
            self._dress()
            self._draw()
        super().changeEvent(event)

    def _dress(self) -> None:
        self.view.setBackground(theme.colour("surface"))
        for side in ("left", "bottom"):
            axis = self.view.getAxis(side)
            axis.setPen(self._pg.mkPen(theme.colour("line")))
            axis.setTextPen(self._pg.mkPen(theme.colour("muted")))
            axis.setStyle(tickLength=-4, tickFont=theme.font("caption"))
            axis.enableAutoSIPrefix(False)
        self.view.showGrid(x=True, y=True, alpha=0.1)

    # ---------------------------------------------------------------- saving

    def picture_size(self) -> QSize:
        return QSize(self.view.size())

    def draw_picture(self, painter: QPainter, area: QRectF) -> None:
        self.view.render(painter, area)

    def numbers(self) -> Iterator[Sequence[object]]:
        yield "word", "x", "y"
        for word, place in zip(self._words, self._places, strict=True):
            yield word, *place
