"""The left side of Annotate: the documents of the queue, its filters, and what predicts them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QActionGroup, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QMenu,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from workbench.base.events import ALL, concerns
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.text.document import SPLITS
from workbench.ui.commands import MenuChoice
from workbench.ui.panels.annotate.queue import NO_SPLIT, UNLABELLED
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.key_cap import follow_tip, with_key
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import clear, column, layout_of, line, row
from workbench.ui.widgets.pages import PageLayout
from workbench.ui.widgets.tables.document_list import DocumentList
from workbench.ui.widgets.tables.query_bar import QueryBar
from workbench.ui.widgets.text import context_menu

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.actions import AnnotateActions
    from workbench.ui.panels.annotate.queue_dialogs import QueueDialogs


class InstantPart(QFrame):
    """Hidden where no selected layer can be learned."""

    def __init__(self, state: AnnotateActions, show_learning: Callable[[], None]) -> None:
        super().__init__()
        self.state = state
        self._state = words("", "small", "muted")
        self._line = words("", "small", "muted", wrap=True)
        self._switch = Button("", small=True, on=state.toggle_instant)
        key = ("annotate.instant", "Ctrl+Shift+D")
        follow_tip(self._switch, "", state.context.settings, *key)
        self._curve = Button(_("Learning curve"), "activity", "quiet", small=True, on=show_learning)
        self._keep = Button(
            _("Keep suggestions"),
            kind="quiet",
            small=True,
            on=state.keep_instant,
            tip=_("Store its suggestions for all unfinished documents (one undo step)"),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(line())
        title = words(_("Instant model"), "small", weight=600)
        layout.addWidget(row(title, None, self._state, margins=(14, 2, 14, 0)))
        self._lines = row((self._line, 1), margins=(14, 0, 14, 0))
        layout.addWidget(self._lines)
        layout.addWidget(
            row((flow(self._switch, self._curve, self._keep, gap=4), 1), margins=(14, 0, 14, 10))
        )

    def compact(self, compact: bool) -> None:
        """In a low window with large text, show what it has learned only as a tooltip."""
        self._lines.setHidden(compact)

    def render(self) -> None:
        state = self.state
        self.setVisible(state.can_instant and not state.errors)
        is_on = state.instant is not None
        self._state.setText(_("on") if is_on else _("off"))
        self._line.setText(state.instant_line)
        escaping.set_tip(self._state, state.instant_line)
        self._switch.set_text(_("Turn off") if is_on else _("Turn on"))
        self._switch.setVisible(is_on or not state.project.read_only)
        self._curve.setVisible(is_on)
        self._keep.setVisible(state.can_keep_instant)


class PreannotationPart:
    """`button`: with a menu of the runs. `line`: how many of the next documents are predicted."""

    def __init__(self, state: AnnotateActions, parent: QWidget) -> None:
        self.state = state
        self.menu = QMenu(parent)
        self.menu.setAccessibleName(_("Pre-annotate with"))
        self.menu.aboutToShow.connect(self._fill)
        self.button = icon_button("sparkles", _("Pre-annotate"), self.popup, small=True)
        self.line = Elided("", "small", "muted")

    def popup(self) -> None:
        """Open the menu by key."""
        self.menu.popup(self.button.mapToGlobal(self.button.rect().bottomLeft()))

    def _fill(self) -> None:
        choices = self.state.ahead_choices
        if not choices:
            none = _("No run of the selected layers yet. Train one.")
            context_menu.fill(self.menu, (MenuChoice(none, enabled=False),))
            return
        layers = {
            choice.layer: tuple(
                MenuChoice(
                    escaping.menu_text(title),
                    partial(self.state.choose_ahead, choice.layer, run),
                    enabled=run not in choice.refused,
                    on=run == choice.chosen,
                    tip=choice.refused.get(run or 0, ""),
                )
                for run, title in choice.runs
            )
            for choice in choices
        }
        entries: tuple[MenuChoice | None, ...] = (
            next(iter(layers.values()))
            if len(layers) == 1
            else tuple(
                MenuChoice(escaping.menu_text(name), choices=of) for name, of in layers.items()
            )
        )
        if self.state.ahead_failed:
            entries = (*entries, None, MenuChoice(_("&Try again"), self.state.retry_ahead))
        context_menu.fill(self.menu, entries)

    def render(self) -> None:
        state = self.state
        visible = state.can_ahead and not state.errors
        self.button.setVisible(visible)
        message = _("Pre-annotate: predict the next documents with a run before they are opened")
        key = ("annotate.ahead", "Ctrl+Shift+Y")
        escaping.set_tip(self.button, with_key(message, state.context.settings, *key))
        self.line.setVisible(visible and bool(state.ahead_line))
        self.line.setText(state.ahead_line)
        self.line.tip = state.ahead_tip


# minimum width in pixels at 100%; upper limit, independent of the text size
MIN_WIDTH, MAX_MIN_WIDTH = 180, 340
BESIDE = 30  # width of a button beside the search, pixels at 100%
FILTER = 150  # width of a filter's name, pixels at 100%
ONLY_ROWS = frozenset({"stale_rows", "doc", "chosen", "linking"})  # as after each label
STATES = ("pending", "draft", "submitted", "discarded")
FRAME = 16  # milliseconds
LOW = 420  # height at 100% below which the instant model is shown without its explanation
_CLEARED = {
    "state": None, "suggested": False, "label_id": None, "split": None, "source": None,
    "origin": None,
}  # fmt: skip


class QueueSide(QFrame):
    """The documents in queue order, the progress, and the button for the next unlabelled one."""

    def __init__(self, state: AnnotateActions, dialogs: QueueDialogs) -> None:
        super().__init__()
        self.state = state
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
        follow_tip(self._unlabelled, title, state.context.settings, *key)
        self._filter = icon_button("filter", _("Filter the queue"), self._ask_filter, small=True)
        title = _("Order of the queue")
        self._order = icon_button("arrow-down-up", title, dialogs.show_order, small=True)
        self.ahead = PreannotationPart(state, self)
        self._beside = (self._filter, self._order, self.ahead.button, self._unlabelled)
        self.bar = QueryBar(state.query, placeholder=_("Search"), beside=self._beside)
        self._size()
        self._menu = FilterMenu(state, self, self.bar.saved)
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
            self.ahead.line,
            self._filters,
            gap=7,
            margins=(14, 12, 14, 10),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 1, 0)
        layout.setSpacing(0)
        layout.addWidget(head)
        layout.addWidget(self._place, 1)
        self._instant = InstantPart(state, dialogs.show_learning)
        layout.addWidget(self._instant)

    def _build_list(self) -> None:
        self.list = DocumentList(self.state.rows, _("Queue"), self.state.queue_note)
        self.list.picked.connect(self.state.open)
        all_again = Button(_("Clear all filters"), "x", small=True, on=self.state.clear_filters)
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
        self._instant.compact(self.height() < theme.px(LOW))

    def _ask_filter(self) -> None:
        self._menu.popup(self._filter.mapToGlobal(self._filter.rect().bottomLeft()))

    def _next(self) -> None:
        if not self.state.next_unlabelled():
            self.state.say_all_is_done()

    def restyle(self) -> None:
        self._size()
        self.list.restyle()
        self._show_filters()

    # ------------------------------------------------------------ showing

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "ids"):
            self.list.show_ids(state.ids, state.place)
            self._stack.setCurrentIndex(0 if state.ids or state.narrowed.empty else 1)
        else:
            if concerns(fields, "stale_rows"):
                self._forget(state.stale_rows)
            if concerns(fields, "document_id"):
                self.list.show_row(state.place)
        if concerns(fields, "narrowed", "errors", "layers"):
            self._show_filters()
        if fields <= ONLY_ROWS:
            return
        self._instant.render()
        self.ahead.render()
        self._title.setText(_("Errors") if state.errors else _("Queue"))
        self.bar.setVisible(not state.errors)
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
        if not self.state.project.closed:
            self.list.documents.forget(stale)

    def _show_order(self) -> None:
        state = self.state
        title = _("Ordering…") if state.computing else state.order_title
        self._ordered.setText(title)
        in_files = state.queue_order is None and not state.computing
        self._ordered.setVisible(not in_files and not state.errors)
        tip = _("{order}. Ctrl+Shift+O changes the order.", order=title)
        tip = title if state.computing else tip
        missing = state.missing_order
        escaping.set_tip(self._order, f"{tip}\n{missing}" if missing else tip)

    def _show_count(self) -> None:
        state = self.state
        total = len(state.ids) if state.errors else state.total
        if state.errors:
            place = (state.place or 0) + 1
            self._count.setText(f"{formats.count(place)} / {formats.count(total)}")
            self._meter.set(place / total if total else 0.0)
            escaping.set_tip(self._count, "")
        elif state.left is not None:
            done = max(0, total - state.left)
            self._meter.set(done / total if total else 0.0)
            if state.narrowed.empty:
                self._count.setText(f"{formats.count(done)} / {formats.count(total)}")
            else:
                self._count.setText(_("{n:,} of {all:,}", n=len(state.ids), all=total))
            escaping.set_tip(self._count, self._describe(done, total))

    def _show_layers(self) -> None:
        """How much is finished of each layer, if several are labelled."""
        layers = self.state.progress.layers if self.state.progress else ()
        message = _("{layer} {done:,} / {total:,}")
        parts = (
            message.format(layer=layer.name, done=layer.done, total=layer.total) for layer in layers
        )
        self._of_layers.setText(" · ".join(parts))
        self._of_layers.setVisible(len(layers) > 1 and not self.state.errors)

    def _show_pace(self) -> None:
        """Documents per hour, and the time that the others take at this pace."""
        progress, left = self.state.progress, self.state.left
        visible = progress is not None and progress.per_hour is not None and not self.state.errors
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
        state = self.state
        message = _("{done:,} done, {left:,} left in the selected layers")
        lines = [message.format(done=done, left=state.left)]
        if not state.narrowed.empty:
            n = len(state.ids)
            fits = ngettext(
                "{n:,} of {all:,} documents matches the filter",
                "{n:,} of {all:,} documents match the filter",
                n,
                all=total,
            )
            lines.insert(0, fits)
        for layer in state.progress.layers if state.progress else ():
            message = _("{layer}: {done:,} of {total:,} done")
            lines.append(message.format(layer=layer.name, done=layer.done, total=layer.total))
        return "\n".join(lines)

    def _show_filters(self) -> None:
        """A button for each filter, which removes it."""
        clear(layout_of(self._filters))
        metrics = QFontMetrics(theme.font("small"))
        for number, name in () if self.state.errors else self.state.filters:
            title = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, theme.px(FILTER))
            button = Button(
                escaping.menu_text(title),
                "x",
                small=True,
                name=_("Remove the filter {name}", name=name),
                tip=_("Remove the filter {name}", name=name),
                on=partial(self.state.query.remove, number),
            )
            layout_of(self._filters).addWidget(button)
        self._filters.setVisible(layout_of(self._filters).count() > 0)


class FilterMenu(QMenu):
    """The available filters of the queue; filled each time the menu opens."""

    def __init__(self, state: AnnotateActions, parent: QWidget, saved: QMenu) -> None:
        super().__init__(parent)
        self.state, self._saved = state, saved
        self.setAccessibleName(_("Filter the queue"))
        self.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        self.clear()
        now = self.state.narrowed
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
            (
                source_file.name,
                _("{name}  ({n:,})", name=source_file.name, n=source_file.documents),
            )
            for source_file in self.state.source_files
        ]
        self._choices(_("Source &file"), "source", [(None, _("any file")), *files])
        makers = self.state.origin_choices
        self._choices(_("&Made by"), "origin", [(None, _("any source")), *makers])
        self.addSeparator()
        self.addMenu(self._saved)
        again = self.addAction(_("&Clear all filters"), self.state.clear_filters)
        again.setEnabled(not now.empty)

    def _toggle(self, title: str, field: str, value: object, on: bool) -> None:
        action = self.addAction(title)
        action.setCheckable(True)
        action.setChecked(on)
        action.toggled.connect(
            lambda on: self.state.narrow(**{field: value if on else _CLEARED[field]})
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
            action.setChecked(value == getattr(self.state.narrowed, field))
            action.triggered.connect(
                lambda _on=False, value=value: self.state.narrow(**{field: value})
            )
            group.addAction(action)
            menu.addAction(action)
        return menu

    def _labels(self) -> None:
        """The labels of each layer, in a submenu per layer if there are several."""
        layers = [layer for layer in self.state.layers if layer.labels]
        menu = self._choices(_("&Label"), "label_id", [(None, _("any label"))])
        menu.setEnabled(bool(layers))
        for layer in layers:
            labels = [(label.id, label.name) for label in layer.labels]
            self._choices(escaping.menu_text(layer.name), "label_id", labels, menu).setEnabled(True)
