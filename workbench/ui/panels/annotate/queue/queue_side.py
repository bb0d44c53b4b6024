"""The left side of Annotate: the documents of the queue, its filters, and what predicts them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QActionGroup, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QFrame, QMenu, QSizePolicy, QVBoxLayout, QWidget

from workbench.base.events import ALL, concerns
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.text.document import SPLITS
from workbench.ui.panels.annotate.queue.queue import NO_SPLIT, UNLABELLED
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.key_cap import follow_tip
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import clear, column, layout_of, row
from workbench.ui.widgets.pages import PageLayout
from workbench.ui.widgets.tables.document_list import DocumentList
from workbench.ui.widgets.tables.query_bar import QueryBar

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.queue.queue import QueueTool


# minimum width in pixels at 100%; upper limit, independent of the text size
MIN_WIDTH, MAX_MIN_WIDTH = 180, 340
BESIDE = 30  # width of a button beside the search, pixels at 100%
FILTER = 150  # width of a filter's name, pixels at 100%
# fields of the queue and of the session that the head shows
HEAD = (
    "ids", "left", "total", "narrowed", "query_changes", "progress", "queue_order", "computing",
    "document_id", "errors", "layers", "off",
)  # fmt: skip
STATES = ("pending", "draft", "submitted", "discarded")
FRAME = 16  # milliseconds
LOW = 420  # height at 100% below which the instant model is shown without its explanation
_CLEARED = {
    "state": None, "suggested": False, "label_id": None, "split": None, "source": None,
    "origin": None,
}  # fmt: skip


class QueueSide(QFrame):
    """The documents in queue order, the progress, and the button for the next unlabelled one."""

    def __init__(
        self,
        tool: QueueTool,
        *,
        beside: QWidget,
        note: QWidget,
        foot: QWidget,
        compact: Callable[[bool], None],
    ) -> None:
        """beside: a button beside the search. note: a line below it. foot: below the documents;
        compact(True): it is to be lower.
        """
        super().__init__()
        self.tool, self._compact = tool, compact
        self.setProperty("part", "side")
        self._stale: set[int] = set()  # ids of rows that are shown as they were
        self._refresh = QTimer(self, singleShot=True, interval=FRAME)
        self._refresh.timeout.connect(self._read_stale)
        self.setMaximumWidth(480)
        self._title = words(_("Queue"), "ui", weight=600)
        self._count = words("", "small", "muted")
        self._meter = Meter(0.0, name=_("Done"))
        self._of_layers = Elided("", "small", "muted")
        self._pace = Elided("", "small", "muted")
        title = _("Next unlabelled")
        self._unlabelled = icon_button("chevrons-down", title, self._next, small=True)
        key = ("annotate.unlabelled", "Ctrl+Down")
        follow_tip(self._unlabelled, title, tool.context.settings, *key)
        self._filter = icon_button("filter", _("Filter the queue"), self._ask_filter, small=True)
        title = _("Order of the queue")
        self._order = icon_button("arrow-down-up", title, self.show_order, small=True)
        self._beside = (self._filter, self._order, beside, self._unlabelled)
        self.bar = QueryBar(tool.query, placeholder=_("Search"), beside=self._beside)
        self._size()
        self._menu = FilterMenu(tool, self, self.bar.saved)
        self._ordered = Elided("", "small", "muted")
        self._filters = flow(gap=4)
        self._build_list()
        head = column(
            row(self._title, None, self._count),
            self._meter,
            self._of_layers,
            self._pace,
            self.bar,
            self._ordered,
            note,
            self._filters,
            gap=7,
            margins=(14, 12, 14, 10),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 1, 0)
        layout.setSpacing(0)
        layout.addWidget(head)
        layout.addWidget(self._place, 1)
        layout.addWidget(foot)

    def _build_list(self) -> None:
        self.list = DocumentList(self.tool.rows, _("Queue"), self.tool.queue_note)
        self.list.picked.connect(self.tool.session.open)
        all_again = Button(_("Clear all filters"), "x", small=True, on=self.tool.clear_filters)
        self._none = EmptyState("filter", _("No matching documents"), "", all_again)
        policy = QSizePolicy.Policy
        self._none.setSizePolicy(policy.Preferred, policy.Ignored)  # the list may be low
        self._place = QWidget()
        self._stack = PageLayout(self._place)
        self._stack.addWidget(self.list)
        self._stack.addWidget(self._none)

    def _size(self) -> None:
        self.setMinimumWidth(min(theme.px(MIN_WIDTH), MAX_MIN_WIDTH))
        for part in self._beside:
            part.setFixedWidth(theme.px(BESIDE))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._compact(self.height() < theme.px(LOW))

    def show_order(self) -> None:
        """Ask for the order of the queue."""
        from workbench.ui.panels.annotate.queue.order_dialog import OrderDialog

        OrderDialog(self.window(), self.tool).exec()

    def _ask_filter(self) -> None:
        self._menu.popup(self._filter.mapToGlobal(self._filter.rect().bottomLeft()))

    def _next(self) -> None:
        if not self.tool.next_unlabelled():
            self.tool.say_all_is_done()

    def restyle(self) -> None:
        self._size()
        self.list.restyle()
        self._show_filters()

    # ------------------------------------------------------------ showing

    def render(self, fields: frozenset[str]) -> None:
        tool = self.tool
        if concerns(fields, "ids"):
            self.list.show_ids(tool.ids, tool.place)
            self._stack.setCurrentIndex(0 if tool.ids or tool.narrowed.empty else 1)
        else:
            if concerns(fields, "stale_rows"):
                self._forget(tool.stale_rows)
            if concerns(fields, "document_id"):
                self.list.show_row(tool.place)
        if concerns(fields, "narrowed", "errors", "layers"):
            self._show_filters()
        if not concerns(fields, *HEAD):
            return
        self._title.setText(_("Errors") if tool.session.errors else _("Queue"))
        self.bar.setVisible(not tool.session.errors)
        if concerns(fields, "query_changes"):
            self.bar.render(ALL)
        self._show_order()
        self._show_count()
        if concerns(fields, "progress", "left", "errors"):
            self._show_layers()
            self._show_pace()

    def _forget(self, ids: Iterable[int] | None) -> None:
        """Read these rows again (None: all), some in the frame that follows that of the text."""
        if ids is None:
            self._stale.clear()
            self.list.documents.forget(None)
        else:
            self._stale.update(ids)
            self._refresh.start()

    def _read_stale(self) -> None:
        stale, self._stale = self._stale, set()
        if not self.tool.session.project.closed:
            self.list.documents.forget(stale)

    def _show_order(self) -> None:
        tool = self.tool
        title = _("Ordering…") if tool.computing else tool.order_title
        self._ordered.setText(title)
        in_files = tool.queue_order is None and not tool.computing
        self._ordered.setVisible(not in_files and not tool.session.errors)
        tip = _("{order}. Ctrl+Shift+O changes the order.", order=title)
        tip = title if tool.computing else tip
        missing = tool.missing_order
        escaping.set_tip(self._order, f"{tip}\n{missing}" if missing else tip)

    def _show_count(self) -> None:
        tool = self.tool
        total = len(tool.ids) if tool.session.errors else tool.total
        if tool.session.errors:
            place = (tool.place or 0) + 1
            self._count.setText(f"{formats.count(place)} / {formats.count(total)}")
            self._meter.set(place / total if total else 0.0)
            escaping.set_tip(self._count, "")
        elif tool.left is not None:
            done = max(0, total - tool.left)
            self._meter.set(done / total if total else 0.0)
            if tool.narrowed.empty:
                self._count.setText(f"{formats.count(done)} / {formats.count(total)}")
            else:
                self._count.setText(_("{n:,} of {all:,}", n=len(tool.ids), all=total))
            escaping.set_tip(self._count, self._describe(done, total))

    def _show_layers(self) -> None:
        """How much is finished of each layer, if several are labelled."""
        layers = self.tool.progress.layers if self.tool.progress else ()
        message = _("{layer} {done:,} / {total:,}")
        parts = (
            message.format(layer=layer.name, done=layer.done, total=layer.total) for layer in layers
        )
        self._of_layers.setText(" · ".join(parts))
        self._of_layers.setVisible(len(layers) > 1 and not self.tool.session.errors)

    def _show_pace(self) -> None:
        """Documents per hour, and the time that the others take at this pace."""
        progress, left = self.tool.progress, self.tool.left
        visible = (
            progress is not None and progress.per_hour is not None and not self.tool.session.errors
        )
        self._pace.setVisible(visible)
        if progress is None or progress.per_hour is None:
            return
        per_hour, measured = round(progress.per_hour), progress.measured
        pace = ngettext("{n:,} document per hour", "{n:,} documents per hour", per_hour)
        self._pace.setText(pace)
        on = ngettext(
            "Measured on {n:,} document of the last 12 hours.",
            "Measured on {n:,} documents of the last 12 hours.",
            measured,
        )
        lines = [on, _("Breaks of more than 5 minutes are not counted.")]
        if left:
            rest = ngettext(
                "At this pace, the {n:,} document left takes {time} h.",
                "At this pace, the {n:,} documents left take {time} h.",
                left,
                time=formats.decimal(left / progress.per_hour, 1),
            )
            lines.append(rest)
        escaping.set_tip(self._pace, "\n".join(lines))

    def _describe(self, done: int, total: int) -> str:
        tool = self.tool
        message = _("{done:,} done, {left:,} left in the selected layers")
        lines = [message.format(done=done, left=tool.left)]
        if not tool.narrowed.empty:
            n = len(tool.ids)
            fits = ngettext(
                "{n:,} of {all:,} documents matches the filter",
                "{n:,} of {all:,} documents match the filter",
                n,
                all=total,
            )
            lines.insert(0, fits)
        for layer in tool.progress.layers if tool.progress else ():
            message = _("{layer}: {done:,} of {total:,} done")
            lines.append(message.format(layer=layer.name, done=layer.done, total=layer.total))
        return "\n".join(lines)

    def _show_filters(self) -> None:
        """A button for each filter, which removes it."""
        clear(layout_of(self._filters))
        metrics = QFontMetrics(theme.font("small"))
        for number, name in () if self.tool.session.errors else self.tool.filters:
            title = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, theme.px(FILTER))
            button = Button(
                escaping.menu_text(title),
                "x",
                small=True,
                name=_("Remove the filter {name}", name=name),
                tip=_("Remove the filter {name}", name=name),
                on=partial(self.tool.query.remove, number),
            )
            layout_of(self._filters).addWidget(button)
        self._filters.setVisible(layout_of(self._filters).count() > 0)


class FilterMenu(QMenu):
    """The available filters of the queue; filled each time the menu opens."""

    def __init__(self, tool: QueueTool, parent: QWidget, saved: QMenu) -> None:
        super().__init__(parent)
        self.tool, self._saved = tool, saved
        self.setAccessibleName(_("Filter the queue"))
        self.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        self.clear()
        now = self.tool.narrowed
        self._toggle(_("&Unlabelled"), "state", UNLABELLED, now.state == UNLABELLED)
        self._toggle(_("With &suggestions"), "suggested", True, now.suggested)
        self.addSeparator()
        states = [(state, term(state)) for state in STATES]
        self._choices(_("S&tate"), "state", [(None, _("any state")), *states])
        splits = [(split, term(split)) for split in SPLITS]
        self._choices(
            _("S&plit"), "split", [(None, _("any split")), *splits, (NO_SPLIT, _("no split"))]
        )
        self._labels()
        files = [
            (source_file.name, _("{name}  ({n:,})", name=source_file.name, n=source_file.documents))
            for source_file in self.tool.source_files
        ]
        self._choices(_("Source &file"), "source", [(None, _("any file")), *files])
        makers = self.tool.origin_choices
        self._choices(_("&Made by"), "origin", [(None, _("any source")), *makers])
        self.addSeparator()
        self.addMenu(self._saved)
        again = self.addAction(_("&Clear all filters"), self.tool.clear_filters)
        again.setEnabled(not now.empty)

    def _toggle(self, title: str, field: str, value: object, on: bool) -> None:
        action = self.addAction(title)
        action.setCheckable(True)
        action.setChecked(on)
        action.toggled.connect(
            lambda on: self.tool.narrow(**{field: value if on else _CLEARED[field]})
        )

    def _choices(
        self, title: str, field: str, choices: Sequence[tuple[Any, str]], into: QMenu | None = None
    ) -> QMenu:
        """A submenu of exclusive choices; empty if there is nothing to choose from."""
        menu = (into or self).addMenu(title)
        menu.setEnabled(len(choices) > 1)
        group = QActionGroup(menu)
        for value, name in choices:
            action = QAction(escaping.menu_text(name), menu)
            action.setCheckable(True)
            action.setChecked(value == getattr(self.tool.narrowed, field))
            action.triggered.connect(
                lambda _on=False, value=value: self.tool.narrow(**{field: value})
            )
            group.addAction(action)
            menu.addAction(action)
        return menu

    def _labels(self) -> None:
        """The labels of each layer, in a submenu per layer if there are several."""
        layers = [layer for layer in self.tool.session.layers if layer.labels]
        menu = self._choices(_("&Label"), "label_id", [(None, _("any label"))])
        menu.setEnabled(bool(layers))
        for layer in layers:
            labels = [(label.id, label.name) for label in layer.labels]
            self._choices(escaping.menu_text(layer.name), "label_id", labels, menu).setEnabled(True)
