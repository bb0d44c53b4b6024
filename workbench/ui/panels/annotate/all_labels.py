"""All classes of a layer by topic: the topics on the left, the classes of the chosen one beside."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QListView,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from workbench.base.i18n import _
from workbench.text.rows import row_id
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.delegates import ground
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.words import Elided, words

if TYPE_CHECKING:
    from workbench.text.labels import Label
    from workbench.ui.panels.annotate.label_topics import Topic

LINE, TITLE = 24, 28  # heights, pixels at 100%
TOPICS, COLUMN = 170, 230  # widths of the topics and, at least, of a column, pixels at 100%
LEAST_LINES = 3
SCROLL = 24  # width of a scroll bar and the space beside it, pixels at 100%
SQUARE, PAD = 8, 9  # of the colour and around it, pixels at 100%
_LABEL, _COUNT, _CHOSEN = (Qt.ItemDataRole.UserRole + number for number in range(3))
_RETURN = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class _Line(QStyledItemDelegate):
    """A square in the colour of the label, the name, and a number at the right."""

    def __init__(self, shown: QListWidget) -> None:
        super().__init__(shown)
        self._view = shown

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex) -> QSize:
        return self._view.gridSize()

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        painter.save()
        ground(painter, option, last_line=False)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.fillRect(option.rect, theme.qcolour("accent_soft"))
        box, square, pad = QRectF(option.rect), theme.px(SQUARE), theme.px(PAD)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.label_colours(index.data(_LABEL)).line))
        middle = box.center().y() - square / 2
        painter.drawRoundedRect(QRectF(box.left() + pad, middle, square, square), 2.5, 2.5)
        count = formats.count(index.data(_COUNT))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.qcolour("muted"))
        right = box.adjusted(0, 0, -2 * pad, 0)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(right, flags, count)
        right.setRight(right.right() - painter.fontMetrics().horizontalAdvance(count) - pad)
        right.setLeft(box.left() + square + 2 * pad)
        painter.setFont(theme.font("small", 600 if index.data(_CHOSEN) else 400))
        painter.setPen(theme.qcolour("text"))
        name = index.data(Qt.ItemDataRole.DisplayRole)
        shown = painter.fontMetrics().elidedText(
            name, Qt.TextElideMode.ElideMiddle, int(right.width())
        )
        painter.drawText(right, Qt.AlignmentFlag.AlignVCenter, shown)
        painter.restore()


class _Lines(QListWidget):
    """`key_pressed(row)` for Enter or the space bar, `widened()` for another width."""

    key_pressed = Signal(int)
    widened = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keys to the text
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _RETURN and self.currentRow() >= 0:
            if not event.isAutoRepeat():
                self.key_pressed.emit(self.currentRow())
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.widened.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self.currentRow() < 0 and self.count():
            self.setCurrentRow(0)


class AllLabels(QWidget):
    """`picked(label id)` for a click on a class, `entered(label id)` for Enter."""

    picked = Signal(int)
    entered = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._topics: tuple[Topic, ...] = ()
        self._counts: Mapping[int, int] = {}
        self._chosen: Collection[int] = ()
        self._labels: Mapping[int, Label] = {}
        about = Elided("", "small", "muted")
        self._about, self._title = (
            about,
            row(words(_("All classes"), "small", weight=600), (about, 1), gap=8),
        )
        self.topics, self.classes = _Lines(_("Topics")), _Lines(_("Classes of the topic"))
        self.topics.setItemDelegate(_Line(self.topics))
        self.topics.currentRowChanged.connect(lambda _row: self._fill())
        self.classes.setItemDelegate(_Line(self.classes))
        self.classes.setFlow(QListView.Flow.LeftToRight)
        self.classes.setWrapping(True)
        self.classes.setResizeMode(QListView.ResizeMode.Adjust)
        self.classes.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.classes.widened.connect(self._fit_columns)
        self.classes.itemClicked.connect(lambda item: self.picked.emit(item.data(_LABEL).id))
        self.classes.key_pressed.connect(
            lambda at: self.entered.emit(self.classes.item(at).data(_LABEL).id)
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._title)
        layout.addWidget(row(self.topics, (self.classes, 1), gap=12), 1)
        self.restyle()

    def _room(self) -> int:
        """Width for the columns beside a scroll bar, in pixels."""
        return max(1, self.classes.width() - theme.px(SCROLL))

    def _columns(self) -> int:
        return max(1, self._room() // theme.px(COLUMN))

    def _fit_columns(self) -> None:
        column = QSize(self._room() // self._columns(), theme.px(LINE))
        if column != self.classes.gridSize():  # else it would lay out its lines without end
            self.classes.setGridSize(column)
        self.topics.setGridSize(QSize(theme.px(TOPICS - SCROLL), theme.px(LINE)))

    def height_of_line(self) -> int:
        return theme.px(LINE)

    def height_of(self, lines: int) -> int:
        """Height with this number of lines, in pixels."""
        return theme.px(TITLE) + lines * theme.px(LINE) + 4

    def height_wanted(self) -> int:
        """Height with which nothing scrolls, in pixels."""
        most = max((len(topic.labels) for topic in self._topics), default=0)
        return self.height_of(max(len(self._topics), -(-most // self._columns())))

    def set(
        self,
        topics: tuple[Topic, ...],
        labels: Mapping[int, Label],
        counts: Mapping[int, int],
        *,
        chosen: Collection[int],
        by_letter: bool,
        enabled: bool,
    ) -> None:
        """labels: label id → the label in its colour. counts: label id → number of documents."""
        self._about.setText(
            _("by first letter, with the number of documents")
            if by_letter
            else _("by topic, with the number of documents")
        )
        self.classes.setEnabled(enabled)
        chosen = frozenset(chosen) & labels.keys()
        now = topics, labels, counts, chosen
        if now == (self._topics, self._labels, self._counts, self._chosen):
            return
        before = [topic.name for topic in self._topics]
        self._topics, self._labels, self._counts, self._chosen = now
        names = [topic.name for topic in topics]
        if names != before:
            self._fill_topics(self._shown_topic(before))
        self._fill()

    def _shown_topic(self, names: Sequence[str]) -> str:
        at = self.topics.currentRow()
        return names[at] if 0 <= at < len(names) else ""

    def _fill_topics(self, shown: str) -> None:
        self.topics.blockSignals(True)
        self.topics.clear()
        for topic in self._topics:
            item = QListWidgetItem(topic.name, self.topics)
            item.setData(_LABEL, self._labels[row_id(topic.labels[0])])
            item.setData(_COUNT, len(topic.labels))
        names = [topic.name for topic in self._topics]
        self.topics.setCurrentRow(names.index(shown) if shown in names else 0)
        self.topics.blockSignals(False)

    def _fill(self) -> None:
        """Show the classes of the chosen topic; the current one stays."""
        at, place = self.topics.currentRow(), self.classes.currentRow()
        self.classes.clear()
        for label in self._topics[at].labels if 0 <= at < len(self._topics) else ():
            id = row_id(label)
            item = QListWidgetItem(label.name, self.classes)
            item.setData(_LABEL, self._labels[id])
            count = self._counts.get(id, 0)
            item.setData(_COUNT, count)
            spoken = _("{label}, documents: {n}").format(label=label.name, n=formats.count(count))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, spoken)
            item.setData(_CHOSEN, id in self._chosen)
            escaping.set_tip(item, "\n".join(filter(None, (label.name, label.description))))
        if self.classes.hasFocus():
            self.classes.setCurrentRow(min(max(0, place), self.classes.count() - 1))

    def restyle(self) -> None:
        """Called after the theme or text size has changed."""
        self._title.setFixedHeight(theme.px(TITLE))
        self.topics.setFixedWidth(theme.px(TOPICS))
        self._fit_columns()
