"""Search and filters of the Data page."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLineEdit, QVBoxLayout, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.text.document import SPLITS
from workbench.text.rows import row_id
from workbench.ui import formats, icons, plain, theme
from workbench.ui.panels.data.state import DataState
from workbench.ui.widgets.button import Segments, icon_button
from workbench.ui.widgets.field import combo, fill
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.words import Elided, call

TYPED = 180  # milliseconds after the last key press until the search starts
STATES = (
    ("pending", _("Pending")),
    ("draft", _("Draft")),
    ("submitted", _("Submitted")),
    ("discarded", _("Discarded")),
)


class FilterBar(QWidget):
    """Search, states, splits, labels; and a caption for documents sent from another page."""

    def __init__(self, state: DataState):
        super().__init__()
        self.state = state
        self.search = QLineEdit()
        self.search.setClearButtonEnabled(True)
        self._glass = QAction(icons.icon("search", "muted", 16), "", self.search)
        self.search.addAction(self._glass, QLineEdit.ActionPosition.LeadingPosition)
        self.search.setMinimumWidth(theme.px(180))
        found = _("Search words in texts, or part of a key")
        call(self.search, _("Search"), found)
        plain.set_tip(self.search, found)
        self._typed = QTimer(self)
        self._typed.setSingleShot(True)
        self._typed.setInterval(TYPED)
        self._typed.timeout.connect(lambda: state.set_filter(text=self.search.text()))
        self.search.textEdited.connect(lambda _text: self._typed.start())
        self.search.textChanged.connect(lambda text: text or self._typed.start())
        self.search.returnPressed.connect(self._now)
        self._states = Segments(("", _("All")), *STATES, name=_("State"))
        self._states.chosen.connect(lambda value: state.set_filter(state=value or None))
        self._split = combo(name=_("Split"))
        self._split.activated.connect(
            lambda _i: state.set_filter(split=self._split.currentData() or None)
        )
        self._label = combo(name=_("Label"))
        self._label.activated.connect(
            lambda _i: state.set_filter(label=self._label.currentData() or None)
        )
        self._caption = Elided("", "small", "accent", weight=600)
        self._close = icon_button(
            "x", _("Show all documents again"), lambda: state.set_filter(only=None), small=True
        )
        self._only = row((self._caption, 1), self._close, gap=8, margins=(24, 8, 16, 0))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._only)
        self._choices = row(self._states, None, self._split, self._label, gap=10)
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._line.setContentsMargins(24, 12, 24, 12)
        self._line.setSpacing(10)
        self._line.addWidget(self.search, 1)
        self._line.addWidget(self._choices)
        layout.addLayout(self._line)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """One row if there is room, else the search field has a row of its own."""
        widths = {self._split: theme.px(128), self._label: theme.px(168)}
        needed = (
            theme.px(200) + self._states.sizeHint().width() + sum(widths.values()) + 3 * 10 + 2 * 24
        )
        beside = self.width() >= needed
        for box, width in widths.items():
            box.setMinimumWidth(width if beside else min(90, width))
            box.setMaximumWidth(width)
        self._line.setDirection(
            QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        )

    def _now(self) -> None:
        self._typed.stop()
        self.state.set_filter(text=self.search.text())

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if (
            concerns(fields, "text")
            and self.search.text() != state.text
            and not self._typed.isActive()
        ):
            self.search.setText(state.text)
            self._typed.stop()
        if concerns(fields, "counts", "state"):
            self._show_states()
            self._explain_states()
        if concerns(fields, "counts", "split"):
            splits = state.counts.splits if state.counts else {}
            items = [("", _("All splits"))] + [
                (one, f"{term(one)}  {formats.count(splits.get(one, 0))}") for one in SPLITS
            ]
            fill(
                self._split,
                [*items, ("none", _("no split  {n:,}").format(n=splits.get("none", 0)))],
                state.split or "",
            )
        if concerns(fields, "labels", "layers", "off", "label"):
            fill(self._label, [("", _("All labels")), *self._label_items()], state.label or "")
            self._label.view().setMinimumWidth(theme.px(220))
        if concerns(fields, "only"):
            self._only.setVisible(state.only is not None)
            if state.only is not None:
                self._caption.setText(
                    _("Only: {caption} ({n:,})").format(caption=state.only[1], n=len(state.only[0]))
                )
        if concerns(fields, "counts"):
            told = ngettext("Search {n:,} document", "Search {n:,} documents", state.total)
            self.search.setPlaceholderText(told.format(n=state.total))

    def _show_states(self) -> None:
        state = self.state
        counts = state.counts.states if state.counts else {}
        self._states.set(state.state or "")
        for one, title in STATES:
            self._states.set_words(one, f"{title}  {formats.count(counts.get(one, 0))}")
        # Most projects discard nothing, so the choice is hidden then.
        self._states.button("discarded").setVisible(
            bool(counts.get("discarded")) or state.state == "discarded"
        )
        self._fit()

    def _explain_states(self) -> None:
        """Explain how the states of several layers are combined, as in `storage.states.overall`."""
        outside = self.state.counts.outside if self.state.counts else 0
        every = ngettext(
            "All documents. {n} of them belongs to none of the selected layers and has no state.",
            "All documents. {n} of them belong to none of the selected layers and have no state.",
            outside,
        )
        tips = {
            "": every.format(n=outside) if outside else _("All documents"),
            "pending": _("Not started in any of the selected layers"),
            "draft": _("Draft in a layer, or submitted in only some of the selected layers"),
            "submitted": _("Submitted in all selected layers in which it is not discarded"),
            "discarded": _("Discarded in all selected layers"),
        }
        for state, tip in tips.items():
            plain.set_tip(self._states.button(state), tip)

    def _label_items(self) -> list[tuple[tuple[int, int | None], str]]:
        items: list[tuple[tuple[int, int | None], str]] = []
        for layer in self.state.shown:
            if layer.labels:
                layer_id = row_id(layer)
                items.append(((layer_id, None), _("{layer}: any").format(layer=layer.name)))
                items += [
                    ((layer_id, label.id), f"{layer.name}: {label.name}") for label in layer.labels
                ]
        return items

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == event.Type.PaletteChange:
            self._glass.setIcon(icons.icon("search", "muted", 16))
            self._fit()
        super().changeEvent(event)
