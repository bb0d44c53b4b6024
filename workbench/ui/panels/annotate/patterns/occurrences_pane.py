"""The list of all occurrences below the text: where, what is there, ticks, and the button."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
)

from workbench.base.i18n import _, ngettext
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.patterns.occurrences import (
    DOCUMENT,
    PROJECT,
    QUEUE,
    OccurrenceTool,
)
from workbench.ui.style import icons, theme
from workbench.ui.widgets.controls.button import Button, Segments, icon_button
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.words import Elided, IconLabel, KeyCap
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.tables.delegates import ground
from workbench.ui.widgets.tables.table import Column, RowsModel, Table
from workbench.ui.widgets.text.offsets import Utf16Map

MAX_HEADING_LENGTH = 60  # code points of the text in the heading
MIN_HEIGHT, MAX_HEIGHT = 176, 330  # height in pixels at 100%, at least and at most
TICK, PLACE = 0, 2  # columns


class _Tick(QStyledItemDelegate):
    """A box in the first column; a place that cannot be labelled has none."""

    def __init__(self, table: Table, state: OccurrenceTool):
        super().__init__(table)
        self._state = state

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        ground(painter, option)
        number = cast(RowsModel, index.model()).rows[index.row()]
        if not self._state.found.rows[number].may_be_labelled(gold=self._state.gold):
            return
        ticked = number in self._state.ticked
        side, at = theme.px(16), option.rect.center()
        icon = icons.pixmap(
            "square-check" if ticked else "square", "accent" if ticked else "muted", side
        )
        painter.drawPixmap(at.x() - side // 2, at.y() - side // 2, side, side, icon)


class _InContext(QStyledItemDelegate):
    """The text on one line, the occurrence in bold; grey if it does not get the label."""

    def __init__(self, table: Table, state: OccurrenceTool):
        super().__init__(table)
        self._state = state

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        ground(painter, option)
        number = cast(RowsModel, index.model()).rows[index.row()]
        place = self._state.found.rows[number]
        line = QTextLayout(f"{place.before}{place.text}{place.after}", theme.font("small"))
        wrapping = QTextOption()
        wrapping.setWrapMode(QTextOption.WrapMode.NoWrap)
        line.setTextOption(wrapping)
        bold = QTextLayout.FormatRange()
        bold.start, bold.length = Utf16Map(place.before).units, Utf16Map(place.text).units
        looks = QTextCharFormat()
        looks.setFont(theme.font("small", 700))
        bold.format = looks
        line.setFormats([bold])
        line.beginLayout()
        laid = line.createLine()
        laid.setLineWidth(1e6)
        line.endLayout()
        box = QRectF(option.rect).adjusted(8, 0, -8, 0)
        left, width = (
            cast(tuple[float, int], laid.cursorToX(bold.start))[0],
            laid.naturalTextWidth(),
        )
        # the occurrence stays in view: the text begins at most a third of the width before it
        edge = min(width - laid.naturalTextRect().left(), left)
        shift = max(0.0, edge - box.width() / 3) if width > box.width() else 0.0
        painter.save()
        painter.setClipRect(box)
        ticked = number in self._state.ticked
        painter.setPen(theme.qcolour("text" if ticked else "muted"))
        top = box.center().y() - laid.height() / 2
        line.draw(painter, QPointF(box.left() - laid.naturalTextRect().left() - shift, top))
        painter.restore()


class OccurrencesPane(QFrame):
    """Hidden until `open`; Enter adds the label, Esc closes."""

    def __init__(
        self,
        state: OccurrenceTool,
        what: Callable[[], tuple[str, int | None] | None],
        focus_text: Callable[[], None],
    ) -> None:
        """what: the text to search for, and the label that it may get; None without a selection."""
        super().__init__()
        self.state, self._what, self._focus_text = state, what, focus_text
        self.setProperty("part", "card")
        self.setAccessibleName(_("Label all occurrences"))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._heading = Elided("", "ui", weight=600, mode=Qt.TextElideMode.ElideMiddle)
        self._label = combo(name=_("Label"))
        self._label.currentIndexChanged.connect(
            lambda _index: state.set(label_id=self._label.currentData())
        )
        close = icon_button("x", _("Close (Esc)"), self.leave, small=True)
        head = row(IconLabel("list-checks"), (self._heading, 1), (self._label, 0), close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 10, 14, 10)
        layout.setSpacing(8)
        for part in (head, self._build_options(), self._build_table(), self._build_end()):
            layout.addWidget(part)
        self.hide()
        self._size()
        state.listen(state.changed, lambda fields: self.render(fields))
        state.listen(theme.changed, self._size)

    def _size(self) -> None:
        self.setMinimumHeight(theme.px(MIN_HEIGHT))
        self.setMaximumHeight(theme.px(MAX_HEIGHT))

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), theme.px(MAX_HEIGHT))

    def _build_options(self) -> QFrame:
        state = self.state
        self._where = Segments(
            (DOCUMENT, _("This document")),
            (QUEUE, _("Filtered queue")),
            (PROJECT, _("All documents")),
            name=_("Where"),
        )
        self._where.chosen.connect(lambda where: state.set(where=where))
        self._as = Segments(
            (False, _("As suggestions")), (True, _("As gold")), name=_("Kind of label")
        )
        self._as.chosen.connect(lambda gold: state.set(gold=gold))
        self._whole = QCheckBox(_("Whole word"))
        self._whole.toggled.connect(lambda on: state.set(whole_words=on))
        self._case = QCheckBox(_("Match case"))
        self._case.toggled.connect(lambda on: state.set(match_case=on))
        return flow(self._where, self._as, self._whole, self._case)

    def _build_table(self) -> Table:
        state = self.state
        columns = (
            Column(
                _("Label"), lambda number: _("Yes") if number in state.ticked else _("No"), width=34
            ),
            Column(_("Document"), lambda number: state.found.rows[number].key, width=130),
            Column(_("Text"), self._text_of),
            Column(_("Position"), self._there, width=120),
        )
        self.table = Table(columns, name=_("Occurrences"), key=lambda number: number, many=True)
        self.table.horizontalHeader().hide()
        self.table.setItemDelegateForColumn(TICK, _Tick(self.table, state))
        self.table.setItemDelegateForColumn(PLACE, _InContext(self.table, state))
        self.table.opened.connect(lambda _row: state.add())
        self.table.clicked.connect(self._clicked)
        self.table.installEventFilter(self)
        return self.table

    def _build_end(self) -> QFrame:
        self._count = Elided("", "small", "muted")
        self._add = Button("", "plus", small=True, on=self._added)
        return row((self._count, 1), KeyCap(_("Esc")), self._add, KeyCap("↵"))

    def _text_of(self, number: int) -> str:
        place = self.state.found.rows[number]
        return f"{place.before}{place.text}{place.after}"

    def _there(self, number: int) -> str:
        return self.state.words_of(number)

    # ------------------------------------------------------------ actions

    def open(self) -> None:
        """All occurrences of what is selected."""
        selected = self._what()
        if selected is None:
            self.state.context.note(_("Select a word or a span first."))
        elif selected[0]:
            self.state.open(*selected)
        if self.state.shown:
            self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> None:
        self.state.leave()

    def _added(self) -> None:
        self.state.add()

    def _clicked(self, index: QModelIndex) -> None:
        if index.column() == TICK:
            self.state.toggle([self.table.rows()[index.row()]])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Space and not event.modifiers():
                rows = self.table.chosen_rows() or [self.table.current_row()]
                self.state.toggle(row for row in rows if row is not None)
                return True
            labels = {label.key: row_id(label) for label in self.state.labels if label.key}
            if event.text() in labels and not event.modifiers():
                self.state.set(label_id=labels[event.text()])
                return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.state.add()
        else:
            super().keyPressEvent(event)

    # ------------------------------------------------------------ showing

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if "shown" in fields and not state.shown and self.isVisible():
            self._focus_text()
        if "found" in fields:  # while hidden, too: it is painted before the next search ends
            self.table.set_rows(range(len(state.found.rows)))
        self.setVisible(state.shown)
        if not state.shown:
            return
        if fields & {"shown", "text"}:
            excerpt = " ".join(state.text[: MAX_HEADING_LENGTH + 1].split())
            cut = (
                f"{excerpt[:MAX_HEADING_LENGTH]}…" if len(excerpt) > MAX_HEADING_LENGTH else excerpt
            )
            self._heading.setText(_("Label all occurrences of “{text}” as", text=cut))
        fill(self._label, [(row_id(label), label.name) for label in state.labels], state.label_id)
        self._where.button(QUEUE).setVisible(state.filtered)
        self._where.set(state.where)
        self._as.set(state.gold)
        for box, on in ((self._whole, state.whole_words), (self._case, state.match_case)):
            blocked = box.blockSignals(True)
            box.setChecked(on)
            box.blockSignals(blocked)
        self.table.viewport().update()
        self._show_count()

    def _show_count(self) -> None:
        state, n = self.state, len(self.state.ticked)
        if state.share is not None:
            self._count.setText(_("Searching… {share:.0%}", share=state.share))
        else:
            self._count.setText(self._describe())
        if state.gold:
            message = ngettext("Label {n:,} place", "Label {n:,} places", n)
        else:
            message = ngettext("Add {n:,} suggestion", "Add {n:,} suggestions", n)
        self._add.set_text(message.format(n=n))
        self._add.setEnabled(state.can_add)

    def _describe(self) -> str:
        occurrences = self.state.found
        n, documents = len(occurrences.rows), occurrences.documents
        if not n:
            return _("No occurrences found")
        if occurrences.cut:
            message = ngettext(
                "The first {n:,} occurrence; there are more.",
                "The first {n:,} occurrences; there are more.",
                n,
            )
            return message.format(n=n)
        places = ngettext("{n:,} occurrence", "{n:,} occurrences", n)
        message = ngettext("{places} in {n:,} document", "{places} in {n:,} documents", documents)
        return message.format(places=places, n=documents)
