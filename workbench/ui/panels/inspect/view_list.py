"""The views of the Inspect page, grouped by the question that they answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QIcon, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyleOptionViewItem,
    QVBoxLayout,
)

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.inspector_state import by_question
from workbench.ui.style import escaping, icons, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import column, layout_of, scrolled

if TYPE_CHECKING:
    from workbench.operations.inspecting.inspect import InspectorChoice

VIEW = Qt.ItemDataRole.UserRole
FRAME = 4  # width of the focus ring and the padding, in pixels
SIDES = 14  # margin of the list and space in its button, in pixels


class ViewList(QFrame):
    """Views that support the model can be selected; the others are listed below with the reason.

    `chosen(id)` is emitted when the user selects a view, `beside(id)` on Ctrl+Enter or Ctrl+click:
    for the other pane. Icons show what is open in which pane.
    """

    chosen = Signal(str)
    beside = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._offers: Sequence[InspectorChoice] = ()
        self._marked: tuple[tuple[str, str], str] = (("", ""), "")
        self._list = _Views(self.beside)
        self._list.setAccessibleName(_("Views"))
        self._list.setProperty("part", "views")
        self._list.setIconSize(QSize(theme.px(16), theme.px(16)))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._list.currentItemChanged.connect(self._choose)
        self._fold = Button("", "chevron-right", "quiet", small=True, on=self._toggle)
        self._reasons = column(gap=2, margins=(10, 0, 8, 8))
        self._scroll = scrolled(self._reasons)
        self._scroll.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self._list, 60)
        layout.addWidget(self._fold)
        layout.addWidget(self._scroll, 30)
        layout.addStretch(1)
        drop = theme.changed.connect(self._fill)
        self.destroyed.connect(lambda *_: drop())

    def needed_width(self) -> int:
        """The width at which the number of refused views is not cut."""
        return self._fold.sizeHint().width() + 2 * SIDES

    def set(self, offers: Sequence[InspectorChoice], opened: tuple[str, str], current: str) -> None:
        """Set the views, those that are open left and right, and the one in the active pane.

        Emits nothing.
        """
        marked = (opened, current)
        if offers is not self._offers:
            self._offers, self._marked = offers, marked
            self._fill()
        elif marked != self._marked:
            self._marked = marked
            self._mark()

    def _fill(self) -> None:
        self._list.blockSignals(True)
        self._list.clear()
        for heading, offers in by_question(self._offers):
            self._add_heading(heading)
            for offer in offers:
                self._add(offer)
        self._list.blockSignals(False)
        sizes = (self._list.item(number).sizeHint() for number in range(self._list.count()))
        self._list.setMaximumHeight(sum(size.height() for size in sizes) + 2 * FRAME)
        self._mark()
        self._show_refused([offer for offer in self._offers if offer.refused])

    def _add_heading(self, title: str) -> None:
        item = QListWidgetItem(title)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        item.setFont(theme.font("small", 600))
        item.setForeground(theme.qcolour("muted"))
        item.setSizeHint(QSize(0, theme.px(34)))
        item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
        self._list.addItem(item)

    def _add(self, offer: InspectorChoice) -> None:
        item = QListWidgetItem(offer.title)
        item.setData(VIEW, offer.id)
        item.setSizeHint(QSize(0, theme.px(theme.CONTROL_SMALL + 2)))
        self._list.addItem(item)

    def _mark(self) -> None:
        """Select the view in the left pane, and mark all open ones if there are two."""
        (left, right), current = self._marked
        self._list.blockSignals(True)
        for number in range(self._list.count()):
            item = self._list.item(number)
            view = item.data(VIEW)
            places = {left: "panel-left", right: "panel-right"} if right else {}
            icon = places.get(view) if view else None
            item.setIcon(icons.icon(icon, "accent", theme.px(15)) if icon else QIcon())
            if view and view == current:
                self._list.setCurrentItem(item)
        self._list.blockSignals(False)

    def _show_refused(self, refused: Sequence[InspectorChoice]) -> None:
        count = len(refused)
        message = ngettext("{n} view not available", "{n} views not available", count)
        self._fold.set_text(message)
        self._fold.setVisible(bool(refused))
        escaping.set_tip(
            self._fold, "\n".join(f"{offer.title}: {offer.refused}" for offer in refused)
        )
        layout = layout_of(self._reasons)
        while (item := layout.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for offer in refused:
            layout.addWidget(words(offer.title, "small", "muted", weight=500))
            layout.addWidget(words(offer.refused, "caption", "muted", wrap=True))
        layout.addStretch(1)
        self._open(bool(refused) and self._scroll.isVisibleTo(self))

    def _toggle(self) -> None:
        self._open(not self._scroll.isVisibleTo(self))

    def _open(self, on: bool) -> None:
        self._scroll.setVisible(on)
        self._fold.set_icon("chevron-down" if on else "chevron-right")

    def _choose(self, item: QListWidgetItem | None, _before: object = None) -> None:
        if item is not None and not self._list.elsewhere and (view := item.data(VIEW)):
            self.chosen.emit(view)


class _Views(QListWidget):
    """A list whose items have their icons on the right; Ctrl opens an item elsewhere."""

    def __init__(self, beside: SignalInstance) -> None:
        super().__init__()
        self._beside, self.elsewhere = beside, False

    def initViewItemOption(self, option: QStyleOptionViewItem) -> None:
        super().initViewItemOption(option)
        option.decorationPosition = QStyleOptionViewItem.Position.Right

    def mousePressEvent(self, event: QMouseEvent) -> None:
        item = self.itemAt(event.position().toPoint())
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if control and item is not None and item.data(VIEW):
            self._beside.emit(item.data(VIEW))
            return
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        item = self.currentItem()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and item is not None:
            if control:
                self._beside.emit(item.data(VIEW))
            return
        self.elsewhere = control  # Ctrl with an arrow moves without opening a view
        super().keyPressEvent(event)
        self.elsewhere = False
