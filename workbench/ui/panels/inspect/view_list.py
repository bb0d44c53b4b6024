"""The views of the Inspect page, grouped by the question that they answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListWidget, QListWidgetItem, QVBoxLayout

from workbench.base.i18n import _, ngettext
from workbench.ui import plain, theme
from workbench.ui.panels.inspect.shown import by_question
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.layout import column, layout_of, scrolled
from workbench.ui.widgets.words import words

if TYPE_CHECKING:
    from workbench.operations.inspect import Offer

VIEW = Qt.ItemDataRole.UserRole
FRAME = 4  # width of the focus ring and the padding, in pixels
SIDES = 14  # margin of the list and space in its button, in pixels


class ViewList(QFrame):
    """Views that support the model can be selected; the others are listed below with the reason.

    `chosen(id)` is emitted when the user selects a view.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._offers: Sequence[Offer] = ()
        self._view = ""
        self._list = QListWidget()
        self._list.setAccessibleName(_("Views"))
        self._list.setProperty("part", "views")
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
        layout.addWidget(self._list, 6)
        layout.addWidget(self._fold)
        layout.addWidget(self._scroll, 3)
        layout.addStretch(1)
        drop = theme.changed.connect(self._fill)
        self.destroyed.connect(lambda *_: drop())

    def needed_width(self) -> int:
        """The width at which the number of refused views is not cut."""
        return self._fold.sizeHint().width() + 2 * SIDES

    def set(self, offers: Sequence[Offer], view: str) -> None:
        """Set the views or the current one; emits nothing."""
        if offers is not self._offers:
            self._offers = offers
            self._view = view
            self._fill()
        elif view != self._view:
            self._view = view
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
        self._show_refused([one for one in self._offers if one.refused])

    def _add_heading(self, title: str) -> None:
        item = QListWidgetItem(title)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        item.setFont(theme.font("small", 600))
        item.setForeground(theme.qcolour("muted"))
        item.setSizeHint(QSize(0, theme.px(34)))
        item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
        self._list.addItem(item)

    def _add(self, offer: Offer) -> None:
        item = QListWidgetItem(offer.title)
        item.setData(VIEW, offer.id)
        item.setSizeHint(QSize(0, theme.px(theme.CONTROL_SMALL + 2)))
        self._list.addItem(item)

    def _mark(self) -> None:
        self._list.blockSignals(True)
        for number in range(self._list.count()):
            item = self._list.item(number)
            if item.data(VIEW) == self._view:
                self._list.setCurrentItem(item)
        self._list.blockSignals(False)

    def _show_refused(self, refused: Sequence[Offer]) -> None:
        count = len(refused)
        told = ngettext("{n} view not available", "{n} views not available", count)
        self._fold.set_text(told.format(n=count))
        self._fold.setVisible(bool(refused))
        plain.set_tip(self._fold, "\n".join(f"{one.title}: {one.refused}" for one in refused))
        layout = layout_of(self._reasons)
        while (item := layout.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for one in refused:
            layout.addWidget(words(one.title, "small", "muted", weight=500))
            layout.addWidget(words(one.refused, "caption", "muted", wrap=True))
        layout.addStretch(1)
        self._open(bool(refused) and self._scroll.isVisibleTo(self))

    def _toggle(self) -> None:
        self._open(not self._scroll.isVisibleTo(self))

    def _open(self, on: bool) -> None:
        self._scroll.setVisible(on)
        self._fold.set_icon("chevron-down" if on else "chevron-right")

    def _choose(self, item: QListWidgetItem | None, _before: object = None) -> None:
        if item is not None and (view := item.data(VIEW)):
            self._view = view
            self.chosen.emit(view)
