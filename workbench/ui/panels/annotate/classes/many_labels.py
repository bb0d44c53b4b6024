"""The classes of a layer with many labels: the most probable and the latest ones, a search for all.

The rows have the same height for every document, so that text and labels keep their places.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QColor, QFocusEvent, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QLineEdit,
    QListView,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from workbench.base.i18n import _
from workbench.text.rows import row_id
from workbench.ui.style import escaping, formats, icons, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.chip import ChipButton
from workbench.ui.widgets.controls.key_cap import CommandCap, follow_tip
from workbench.ui.widgets.controls.label_palette import LEAST_ROWS, LabelChoice, LabelSearch
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, call, words
from workbench.ui.widgets.layout import clear, layout_of, row
from workbench.ui.widgets.tables.delegates import ground

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from workbench.base.settings import Settings
    from workbench.text.labels import Label, Layer
    from workbench.ui.panels.annotate.classes.classes import Topic
    from workbench.ui.panels.annotate.label_keys import FirstLabels

LINE, GAP = 28, 4  # height of a line and the space below it, pixels at 100%
WIDEST = 330  # of a chip, pixels at 100%
TEXT = 110  # height that a text has at least beside all classes, pixels at 100%
ROWS = 5  # of the most probable labels
METER = 100  # pixels at 100%


class ManyLabels(QWidget):
    """`picked(label id)` when a chip is clicked, `found(label id)` by the search, `left()` when the
    search is left, `more()` where there is no room for its list. `switched()`: turn the instant
    model on or off.
    """

    picked = Signal(int)
    found = Signal(int)
    left = Signal()
    more = Signal()
    switched = Signal()

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._shown: tuple[object, ...] = ()
        self._rows: list[list[QWidget]] = []  # what stands in each row of the most probable ones
        self._chips: dict[int, ChipButton] = {}  # of the first labels, by id
        self._chosen: Collection[int] = ()
        self._enabled = False
        self._title, self._about = words("", "ui", weight=600), words("", "small", "muted")
        self._search = LabelSearch(
            self, _("Find a class"), _("Find a class: type part of its name or description")
        )
        self._search.filtered.connect(self._fit)
        self._search.left.connect(self._leave)
        self._search.picked.connect(self.found)
        self._search.none.setWordWrap(False)  # else the height would depend on the width
        self._search.none.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._field = self._search.line
        self._field.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._field.installEventFilter(self)
        self._glass = QAction(icons.icon("search", "muted", theme.px(16)), "", self._field)
        self._field.addAction(self._glass, QLineEdit.ActionPosition.LeadingPosition)
        call(self._field, _("Find a class"))
        self._others = row(gap=6)  # the classes of the document that are not among the first
        self._cap = CommandCap(settings, "annotate.palette", "/")
        head = row(self._title, self._about, self._others, (self._field, 1), self._cap, gap=8)
        self._head = head
        self._kind, self._line = words("", "small", weight=600), Elided("", "small", "muted")
        self._switch = Button("", kind="quiet", small=True, on=self.switched.emit)
        self._switch.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        follow_tip(self._switch, _("Instant model"), settings, "annotate.instant", "Ctrl+Shift+D")
        self._above = row(self._kind, (self._line, 1), self._switch, gap=8)
        self._likely = QGridLayout()
        self._likely.setContentsMargins(0, 0, 0, 0)
        self._likely.setColumnStretch(3, 1)
        self._recent = row(gap=8)
        self._all, self._room = AllLabels(), 0
        self._all.picked.connect(self.picked)
        self._all.entered.connect(self.found)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        for part in (head, self._search.list, self._search.none, self._above):
            layout.addWidget(part)
        layout.addLayout(self._likely)
        layout.addWidget(self._recent)
        layout.addWidget(self._all)
        layout.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        self.restyle()

    def sizeHint(self) -> QSize:
        """The same for every document, also with fewer labels."""
        line, gap, head = theme.px(LINE), theme.px(GAP), theme.px(theme.CONTROL)
        lines = head + (ROWS + 2) * line + (ROWS - 1) * gap
        first = lines + 3 * layout_of(self).spacing()
        spare = self._room - first - layout_of(self).spacing()
        more = self._all_height(spare - max(theme.px(TEXT), spare // 2))
        return QSize(0, first + (more + layout_of(self).spacing() if more else 0))

    def _all_height(self, room: int) -> int:
        """Height of all classes in whole lines, at most `room` pixels; 0 for fewer than a few."""
        height = min(room, self._all.height_wanted())
        lines = (height - self._all.height_of(0)) // self._all.height_of_line()
        fits = lines >= LEAST_LINES or height == self._all.height_wanted()
        return self._all.height_of(lines) if fits and lines > 0 else 0

    def set_room(self, height: int) -> None:
        """Height for the classes and the text, in pixels."""
        if height != self._room:
            self._room = height
            self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()  # all classes have other columns
        self._fit()

    def _fit(self) -> None:
        """Show the rows that have room; of the others, the keys still work. What the search finds
        is shown instead of them.
        """
        line, between = theme.px(LINE), layout_of(self).spacing()
        room = self.height() - (theme.px(theme.CONTROL) + between)
        searching = bool(self._field.text().strip())
        self._search.list.setFixedHeight(max(0, room))
        self._search.list.setVisible(searching and self._search.count > 0)
        self._search.none.setVisible(searching and not self._search.count)
        room -= line + between
        self._recent.setVisible(room >= 0 and not searching)
        each = line + theme.px(GAP)
        above = room >= line + between + ROWS * each - theme.px(GAP)
        self._above.setVisible(above and not searching)
        room -= above * (line + between)
        all_rows = ROWS * each - theme.px(GAP)
        more = self._all_height(room - all_rows - between) if above and not searching else 0
        self._all.setFixedHeight(more)
        self._all.setVisible(more > 0)
        rows = 0 if searching else max(0, (room + theme.px(GAP)) // each)
        for number, parts in enumerate(self._rows):
            for part in parts:
                part.setVisible(number < rows)

    def minimumSizeHint(self) -> QSize:
        """With the search alone: a window can be lower than the rows need."""
        return QSize(0, theme.px(theme.CONTROL))

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls in reading order."""
        all_labels = self._all.topics, self._all.classes
        return (self._field, self._switch, *self._chips.values(), *all_labels)

    # ------------------------------------------------------------ search

    @property
    def has_room(self) -> bool:
        """Whether some rows that the search finds can be shown."""
        return self.height() >= theme.px((1 + LEAST_ROWS) * LINE)

    def find(self) -> None:
        """Focus the field of the search."""
        self._field.setFocus()
        self._field.selectAll()

    def _leave(self) -> None:
        self._field.clear()
        self.left.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QFocusEvent) and watched is self._field:
            entered, reason = event.gotFocus(), event.reason()
            if entered and not self.has_room:
                QTimer.singleShot(0, self.more.emit)
            elif not entered and reason != Qt.FocusReason.ActiveWindowFocusReason:
                self._field.clear()
        return super().eventFilter(watched, event)

    # ------------------------------------------------------------ showing

    def set(
        self,
        layer: Layer,
        first: FirstLabels,
        labels: Mapping[int, Label],
        *,
        chosen: Collection[int],
        enabled: bool,
        alone: bool,
    ) -> None:
        """labels: label id → the label with its key, the one used last first. `chosen` are
        outlined. alone: the key of the search is that of this layer.
        """
        self._title.setText(layer.name)
        about = _("several of {n}") if layer.traits.several else _("one of {n}")
        self._about.setText(about.format(n=formats.count(len(layer.labels))))
        self._kind.setText(_("Most probable") if first.chances else _("Most frequent"))
        self._cap.setVisible(alone)
        content = first, tuple(labels.items())
        if content != self._shown:
            self._shown = content
            self._fill(first, labels)
            self._search.offer([LabelChoice(label, "") for label in labels.values()])
        for id, chip in self._chips.items():
            chip.setChecked(id in chosen)
            chip.setEnabled(enabled)
        self._field.setEnabled(enabled)
        clear(layout_of(self._others))
        self._chosen, self._enabled = chosen, enabled
        for label in labels.values():
            if label.id in chosen and label.id not in self._chips:
                chip = self._chip(label, most=WIDEST // 2)
                chip.setChecked(True)
                layout_of(self._others).addWidget(chip)

    def set_all(
        self,
        topics: tuple[Topic, ...],
        labels: Mapping[int, Label],
        counts: Mapping[int, int],
        *,
        by_letter: bool,
    ) -> None:
        """counts: label id → number of documents."""
        chosen, enabled = self._chosen, self._enabled
        height = self._all.height_wanted()
        self._all.set(topics, labels, counts, chosen=chosen, by_letter=by_letter, enabled=enabled)
        if self._all.height_wanted() != height:
            self.updateGeometry()

    def set_instant(self, line: str, turn: str) -> None:
        """line: what the instant model does, as sentences. turn: what the button says, or ""."""
        self._line.setText(line)
        self._switch.set_text(turn)
        self._switch.setVisible(bool(turn))

    def _fill(self, first: FirstLabels, labels: Mapping[int, Label]) -> None:
        self._chips, self._rows = {}, []
        clear(self._likely)
        for number, id in enumerate(first.likely):
            label = labels[id]
            chip = self._chips[id] = self._chip(label)
            parts: list[QWidget] = [chip]
            if (chance := first.chances.get(id)) is not None:
                meter = Meter(chance, name=_("Probability of {label}", label=label.name))
                meter.setFixedWidth(theme.px(METER))
                percent = words(formats.decimal(chance, 2), "small", weight=400 if number else 600)
                parts += [meter, percent]
            parts.append(Elided(label.description, "small", "muted"))
            columns = range(4) if chance is not None else (0, 3)
            for at, part in zip(columns, parts, strict=True):
                self._likely.addWidget(part, number, at, Qt.AlignmentFlag.AlignVCenter)
            self._rows.append(parts)
        layout = layout_of(self._recent)
        clear(layout)
        if first.recent:
            layout.addWidget(words(_("Recent"), "small", "muted"))
        for id in first.recent:
            chip = self._chips[id] = self._chip(labels[id], most=WIDEST // 2)
            layout.addWidget(chip)
        layout.addStretch(1)
        self._fit()

    def _chip(self, label: Label, *, most: int = WIDEST) -> ChipButton:
        chip = ChipButton(label.name, label, key=label.key, checkable=True)
        chip.setMaximumWidth(theme.px(most))
        chip.clicked.connect(partial(self._pick, row_id(label)))
        escaping.set_tip(chip, "\n".join(filter(None, (label.name, label.description))))
        return chip

    def _pick(self, label_id: int, _checked: bool = False) -> None:
        self.picked.emit(label_id)

    def restyle(self) -> None:
        """Called after the theme or text size has changed."""
        self._head.setFixedHeight(theme.px(theme.CONTROL))
        self._above.setFixedHeight(theme.px(LINE))
        self._glass.setIcon(icons.icon("search", "muted", theme.px(16)))
        self._recent.setFixedHeight(theme.px(LINE))
        self._likely.setVerticalSpacing(theme.px(GAP))
        self._likely.setColumnMinimumWidth(0, theme.px(WIDEST))  # the others keep their place, too
        self._likely.setHorizontalSpacing(theme.px(10))
        layout_of(self).setSpacing(theme.px(GAP) + 2)
        self._all.restyle()
        self._shown = ()


LINE, TITLE = 24, 28  # heights, pixels at 100%
TOPICS, COLUMN = 170, 230  # widths of the topics and, at least, of a column, pixels at 100%
LEAST_LINES = 3
SCROLL = 24  # width of a scroll bar and the space beside it, pixels at 100%
SQUARE, PAD = 8, 9  # of the colour and around it, pixels at 100%
_LABEL, _COUNT, _CHOSEN = (Qt.ItemDataRole.UserRole + number for number in range(3))
_RETURN = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class _Line(QStyledItemDelegate):
    """A square in the colour of the label, the name, and a number at the right."""

    def __init__(self, labels: QListWidget) -> None:
        super().__init__(labels)
        self._view = labels

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
        text = painter.fontMetrics().elidedText(
            name, Qt.TextElideMode.ElideMiddle, int(right.width())
        )
        painter.drawText(right, Qt.AlignmentFlag.AlignVCenter, text)
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

    def _fill_topics(self, current: str) -> None:
        self.topics.blockSignals(True)
        self.topics.clear()
        for topic in self._topics:
            item = QListWidgetItem(topic.name, self.topics)
            item.setData(_LABEL, self._labels[row_id(topic.labels[0])])
            item.setData(_COUNT, len(topic.labels))
        names = [topic.name for topic in self._topics]
        self.topics.setCurrentRow(names.index(current) if current in names else 0)
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
            spoken = _("{label}, documents: {n}", label=label.name, n=formats.count(count))
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
