"""The Errors part: a list of single errors on the left, the chosen one in its text on the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLineEdit

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.text.mistakes import BOUNDARY, DIRECTION, KINDS, LABEL, MISSED, SPURIOUS, TITLES
from workbench.text.result_view import DISTANCE
from workbench.ui.panels.results.review.errors_state import ACCEPTED, OPEN, REVIEWED
from workbench.ui.panels.results.review.state import NONE, VERDICTS
from workbench.ui.panels.results.review.view import ReviewView, combo, fill
from workbench.ui.panels.results.runs.gold_text import SPLITS
from workbench.ui.style import theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import column, row
from workbench.ui.widgets.tables.table import Column

if TYPE_CHECKING:
    from workbench.operations.evaluation.reviews import ReviewItem
    from workbench.ui.panels.results.review.errors_state import ErrorsState

ICONS = {
    LABEL: ("tags", "warn"),
    BOUNDARY: ("circle-dot", "warn"),
    DIRECTION: ("arrow-down-up", "warn"),
    MISSED: ("circle", "bad"),
    SPURIOUS: ("circle-x", "bad"),
}
LIST = 470  # width of the list in pixels at 100%
NARROW_LIST, WIDE_LIST = 400, 600
MOST_SHARE = 0.4  # of the width for the list
LONG_NAMES = 30  # added to the width for long names of labels
KIND, ICON_ONLY = 118, 60  # widths of the column of kinds
VALUE, DISTANCE_WIDTH = 66, 84  # widths of the column of values
STATES = ((_("Open and reviewed"), ""), (_("Open"), OPEN), (_("Reviewed"), REVIEWED))
WAIT = 250  # milliseconds after the last letter of a search


class ErrorsView(ReviewView):
    """Errors of the selected run on one split."""

    state: ErrorsState

    def __init__(self, state: ErrorsState):
        self._one_kind = False  # its name is left out then
        super().__init__(state, EmptyState("triangle-alert", ""))
        self._clear = Button(_("Clear filters"), "x", "quiet", small=True, on=state.clear)
        self._on_data = Button(
            _("Show documents on Data"), "database", "quiet", small=True, on=state.show_documents
        )
        self._only = Callout("", "accent", self._on_data, icon="filter")
        self._filters = self._filter_bar(state)
        left = self._list_side(state)
        self._lay_out(left, self._filters, self._only, margins=(0, 0, 0, 0), gap=8)

    # ---------------------------------------------------------------- parts

    def _list(self) -> tuple[str, Sequence[Column]]:
        columns = (
            Column(
                _("Kind"),
                self._kind_or_outcome,
                KIND,
                icon=lambda row: ("check", "good") if row.verdict else ICONS[row.mistake.kind],
                tip=_describe,
            ),
            Column(_("Text"), self._text, tip=_describe, prose=True),
            *self._sides(_("Predicted"), 96, 180),
            Column(_("Value"), self._value, VALUE, right=True),
        )
        return _("Errors"), columns

    def _filter_bar(self, state: ErrorsState) -> QFrame:
        self._split = Segments(*SPLITS.items(), name=_("Errors on"))
        self._split.chosen.connect(state.show_split)
        kinds = [(kind, _(TITLES[kind])) for kind in KINDS]
        self._kind = Segments(("", _("All")), *kinds, name=_("Kind of error"))
        self._kind.chosen.connect(lambda kind: state.narrow(kind=kind))
        self._gold = combo(_("Gold label"), lambda name: state.narrow(gold=name))
        self._predicted = combo(_("Predicted label"), lambda name: state.narrow(predicted=name))
        self._state = combo(_("State of the review"), lambda name: state.narrow(state=name))
        self._search = QLineEdit()
        self._search.setPlaceholderText(_("Search in documents"))
        self._search.setAccessibleName(_("Search in documents"))
        self._search.setClearButtonEnabled(True)
        self._search.setFixedWidth(theme.px(180))
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(WAIT)
        self._wait.timeout.connect(lambda: state.narrow(match=self._search.text().strip()))
        self._search.textEdited.connect(lambda _text: self._wait.start())
        parts = (self._split, self._kind, self._gold, self._predicted, self._state)
        return flow(*parts, self._search, self._clear, gap=8)

    def _list_side(self, state: ErrorsState) -> QFrame:
        self._count = words("", weight=600)
        self._reviewed = words("", "small", "muted")
        self._meter = Meter(name=_("Reviewed errors"))
        self._sort = combo(_("Order"), lambda name: state.narrow(sort=name))
        head = row(self._count, None, self._reviewed)
        return column(head, self._meter, self._sort, (self.table, 1), gap=6)

    # ---------------------------------------------------------------- cells

    def _text(self, item: ReviewItem) -> str:
        return self._view.about(item.mistake, item.quote)

    def _kind_or_outcome(self, item: ReviewItem) -> str:
        if item.verdict:
            return _(VERDICTS[item.verdict])
        return "" if self._one_kind else self._view.kind_title(item.mistake.kind)

    # ---------------------------------------------------------------- showing

    def _show_list(self) -> None:
        state = self.state
        has = bool(state.items)
        self._body.setVisible(has)
        self._filters.setVisible(has or "test" in state.selection.splits_shown)
        self._none.setVisible(state.items is not None and not has)
        if state.problem:
            self._none.set(_("Errors cannot be listed"), state.problem, "triangle-alert")
        else:
            self._none.set(_("No errors"), _("Nothing differs from gold."), "circle-check")
        self._show_filters()
        self._one_kind = len(state.counts) < 2
        self.table.set_width(0, KIND if state.count() or not self._one_kind else ICON_ONLY)
        self.table.rows_model.set_title(4, self._value_title())
        self.table.set_width(4, DISTANCE_WIDTH if state.filters.sort == DISTANCE else VALUE)
        self.table.set_rows(state.shown)
        self._fit_list()
        self._show_counts()

    def _show_filters(self) -> None:
        state, filters = self.state, self.state.filters
        self._split.setVisible("test" in state.selection.splits_shown)
        self._split.set(state.split)
        counts = state.counts
        self._kind.setVisible(len(counts) > 1)
        self._kind.set_words("", f"{_('All')}  {sum(counts.values())}")
        for kind in KINDS:
            self._kind.set_words(kind, f"{self._view.kind_title(kind)}  {counts[kind]}")
            self._kind.button(kind).setVisible(counts[kind] > 0)
        self._kind.set(filters.kind)
        for box, side, every in (
            (self._gold, "gold", _("All gold labels")),
            (self._predicted, "predicted", _("All predictions")),
        ):
            names = [(name, name) for name in state.labels(side)]
            fill(box, [(every, ""), *names], getattr(filters, side))
            box.setVisible(self._view.by_label)
        fill(self._state, STATES, filters.state)
        fill(self._sort, state.orders, filters.sort)
        if not self._wait.isActive() and self._search.text().strip() != filters.match:
            self._search.setText(filters.match)
        self._clear.setVisible(filters.restricts)
        self._only.set(self._restricted())
        self._on_data.setVisible(filters.documents is not None)

    def _restricted(self) -> str:
        state = self.state
        if not state.caption:
            return ""
        documents = state.filters.documents
        if documents is None:
            return state.caption
        wrong = len({item.document_id for item in state.shown})
        return ngettext(
            "{what}: {wrong} of {n} document has an error.",
            "{what}: {wrong} of {n} documents have an error.",
            len(documents),
            what=state.caption,
            wrong=wrong,
        )

    def _show_counts(self) -> None:
        state = self.state
        n, every = len(state.shown), len(state.items or ())
        about = {"n": n, "total": every, "split": term(state.split)}
        if n == every:
            message = ngettext("{n:,} error on {split}", "{n:,} errors on {split}", n)
        else:
            message = ngettext(
                "{n:,} of {total:,} error on {split}", "{n:,} of {total:,} errors on {split}", every
            )
        self._count.setText(message.format(**about))
        done, accepted = state.count(), state.count(ACCEPTED)
        text = _("{n:,} reviewed, {accepted:,} accepted", n=done, accepted=accepted)
        self._reviewed.setText(text)
        self._reviewed.setVisible(done > 0)
        self._meter.set(done / every if every else 0.0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit_list()
        super().resizeEvent(event)

    def _fit_list(self) -> None:
        """In a wide window the list takes more room, most of all for long names of labels."""
        width = self.width()
        wide = WIDE_LIST if width > theme.px(1600) else LIST if width > theme.px(1150) else None
        most = 4 * LONG_NAMES if wide == WIDE_LIST else LONG_NAMES if wide else 0
        more = min(theme.px(most), self.table.room_for_names())
        most_of_all = int(width * MOST_SHARE)  # with large text, the document needs its room
        self._left.setFixedWidth(min(theme.px(wide or NARROW_LIST) + more, most_of_all))


def _describe(item: ReviewItem) -> str:
    """The tooltip of a row."""
    mistake = item.mistake
    message = _(
        "{key}: {kind}, gold {gold}, predicted {predicted}",
        key=item.key,
        kind=_(TITLES[mistake.kind]),
        gold=mistake.gold or NONE,
        predicted=mistake.predicted or NONE,
    )
    return f"{message} ({_(VERDICTS[item.verdict])})" if item.verdict else message
