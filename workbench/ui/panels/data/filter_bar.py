"""Search and filters of the Data page."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from workbench.base.events import ALL, concerns
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.text.document import SPLITS
from workbench.text.rows import row_id
from workbench.ui.panels.data.column_menu import ColumnMenu
from workbench.ui.panels.data.selection import DocumentSelection
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.controls.button import Segments, icon_button
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.words import Elided
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.tables.query_bar import QueryBar

STATES = (
    ("pending", _("Pending")),
    ("draft", _("Draft")),
    ("submitted", _("Submitted")),
    ("discarded", _("Discarded")),
)


OTHER = "?"  # a condition that the choices beside the query cannot show


class FilterBar(QWidget):
    """Search, states, splits, labels; and a caption for documents sent from another page."""

    def __init__(self, selection: DocumentSelection, into: Callable[[], None]) -> None:
        super().__init__()
        self._selection, self._filters = selection, selection.filters
        filters = selection.filters
        self.bar = QueryBar(filters.query, into=into)
        self.search = self.bar.line
        self.search.setMinimumWidth(theme.px(180))
        self._states = Segments(("", _("All")), *STATES, name=_("State"))
        self._states.chosen.connect(lambda value: filters.set_filter(state=value or None))
        self._split = combo(name=_("Split"))
        self._split.activated.connect(lambda _i: self._choose("split", self._split.currentData()))
        self._label = combo(name=_("Label"))
        self._label.activated.connect(lambda _i: self._choose("label", self._label.currentData()))
        self._caption = Elided("", "small", "accent", weight=600)
        self._close = icon_button(
            "x", _("Show all documents again"), lambda: filters.set_filter(only=None), small=True
        )
        self._only = row((self._caption, 1), self._close, gap=8, margins=(24, 8, 16, 0))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._only)
        self._columns = ColumnMenu(selection, self)
        columns = icon_button("columns-3", _("Columns"), self._columns.ask)
        self._columns.button = columns
        self._choices = row(self._states, None, self._split, self._label, columns, gap=10)
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._line.setContentsMargins(24, 12, 24, 12)
        self._line.setSpacing(10)
        self._line.addWidget(self.bar, 1)
        self._line.addWidget(self._choices, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(self._line)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """One row if there is room, else the search field has a row of its own."""
        widths = {self._split: theme.px(128), self._label: theme.px(168)}
        needed = (
            theme.px(276) + self._states.sizeHint().width() + sum(widths.values()) + 4 * 10 + 2 * 24
        )
        beside = self.width() >= needed
        for box, width in widths.items():
            box.setMinimumWidth(width if beside else min(90, width))
            box.setMaximumWidth(width)
        self._line.setDirection(
            QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        )

    def _choose(self, key: str, value: object) -> None:
        if value != OTHER:
            self._filters.set_filter(**{key: value or None})

    def render(self, fields: frozenset[str]) -> None:
        selection, filters = self._selection, self._filters
        query = concerns(fields, "query_changes")
        if query:
            self.bar.render(ALL)
        if query or concerns(fields, "counts"):
            self._show_states()
            self._explain_states()
            splits = selection.counts.splits if selection.counts else {}
            items = [("", _("All splits"))] + [
                (split, f"{term(split)}  {formats.count(splits.get(split, 0))}") for split in SPLITS
            ]
            fill(
                self._split,
                [
                    *items,
                    ("none", _("no split  {n:,}", n=splits.get("none", 0))),
                    *self._other("split"),
                ],
                filters.split or (OTHER if filters.asks("split") else ""),
            )
        if query or concerns(fields, "labels", "layers", "off"):
            other = self._other("label", "layer")
            labels: list[tuple[object, str]] = [("", _("All labels")), *self._label_items()]
            fill(self._label, [*labels, *other], filters.label or (OTHER if other else ""))
            self._label.view().setMinimumWidth(theme.px(220))
        if concerns(fields, "only"):
            self._only.setVisible(filters.only is not None)
            if filters.only is not None:
                self._caption.setText(
                    _("Only: {caption} ({n:,})", caption=filters.only[1], n=len(filters.only[0]))
                )
        if concerns(fields, "counts"):
            message = ngettext(
                "Search {n:,} document, or filter: label:PER -state:submitted",
                "Search {n:,} documents, or filter: label:PER -state:submitted",
                selection.total,
            )
            self.search.setPlaceholderText(message)

    def _show_states(self) -> None:
        selection, filters = self._selection, self._filters
        counts = selection.counts.states if selection.counts else {}
        self._states.set(filters.state or (OTHER if filters.asks("state") else ""))
        for item, title in STATES:
            self._states.set_words(item, f"{title}  {formats.count(counts.get(item, 0))}")
        # Most projects discard nothing, so the choice is hidden then.
        self._states.button("discarded").setVisible(
            bool(counts.get("discarded")) or filters.state == "discarded"
        )
        self._fit()

    def _other(self, *keys: str) -> list[tuple[object, str]]:
        """A choice for a condition in the query that is none of the others."""
        in_query = any(self._filters.asks(key) for key in keys)
        plain_value = self._filters.split if "split" in keys else self._filters.label
        return [(OTHER, _("in query"))] if in_query and not plain_value else []

    def _explain_states(self) -> None:
        """Explain how the states of several layers are combined, as `states.overall` does."""
        outside = self._selection.counts.outside if self._selection.counts else 0
        every = ngettext(
            "All documents. {n} of them belongs to none of the selected layers and has no state.",
            "All documents. {n} of them belong to none of the selected layers and have no state.",
            outside,
        )
        tips = {
            "": every if outside else _("All documents"),
            "pending": _("Not started in any of the selected layers"),
            "draft": _("Draft in a layer, or submitted in only some of the selected layers"),
            "submitted": _("Submitted in all selected layers in which it is not discarded"),
            "discarded": _("Discarded in all selected layers"),
        }
        for state, tip in tips.items():
            escaping.set_tip(self._states.button(state), tip)

    def _label_items(self) -> list[tuple[tuple[int, int | None], str]]:
        items: list[tuple[tuple[int, int | None], str]] = []
        for layer in self._filters.shown:
            if layer.labels:
                layer_id = row_id(layer)
                items.append(((layer_id, None), _("{layer}: any", layer=layer.name)))
                items += [
                    ((layer_id, label.id), f"{layer.name}: {label.name}") for label in layer.labels
                ]
        return items

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == event.Type.PaletteChange:
            self._fit()
        super().changeEvent(event)
