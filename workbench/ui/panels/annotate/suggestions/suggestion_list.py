"""The list of suggestions on the right side of Annotate: which are shown, accept and reject."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QDoubleSpinBox, QFrame, QMenu, QSizePolicy, QWidget

from workbench.base.i18n import _, ngettext
from workbench.ui.commands import SEPARATOR, MenuChoice
from workbench.ui.panels.annotate.label_rows import LabelAndText, Sign, choose_row
from workbench.ui.panels.annotate.row_words import RowWords
from workbench.ui.panels.annotate.session import SUGGESTED
from workbench.ui.panels.annotate.suggestions.suggestions import (
    BELOW,
    BY_SCORE,
    BY_SOURCE,
    EVERY,
    IN_TEXT,
    SURE_ONES,
    SuggestionTool,
)
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.key_cap import CommandCap, follow_tip, with_key
from workbench.ui.widgets.controls.words import Elided, call, words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import column, line, row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text import context_menu

if TYPE_CHECKING:
    from workbench.storage.annotation.provenance import Origin
    from workbench.ui.panels.annotate.suggestions.suggestions import SuggestionTool

ACCEPT, REJECT = 1, 2  # columns
ROW = 44  # height of a label with its source, pixels at 100%
MAX_VISIBLE_ROWS, MIN_VISIBLE_ROWS = 5, 2


Choices = tuple[MenuChoice | None, ...]


class SuggestionList:
    """`part` is the widget, hidden without suggestions; `table` has a row for each."""

    def __init__(self, tool: SuggestionTool) -> None:
        self.tool, settings = tool, tool.context.settings
        self._row_words = RowWords(tool.session)
        self.table = self._build_table()
        self._from = Elided("", "small", "muted")
        head = row(
            words(_("Suggested"), weight=600),
            (self._from, 1),
            CommandCap(settings, "annotate.accept", "A"),
            CommandCap(settings, "annotate.reject", "X"),
            gap=6,
            margins=(14, 12, 14, 4),
        )
        message = _("No suggestion of this document matches the filter.")
        self._none = column(words(message, "small", "muted", wrap=True), margins=(14, 0, 14, 10))
        self._build_filters()
        both = row((self._source, 1), (self._order, 1), gap=6)
        self._sorting = column(both, self._scores, gap=6, margins=(12, 2, 12, 6))
        policy = QSizePolicy.Policy
        for widget in (self._sorting, head):
            widget.setSizePolicy(policy.Preferred, policy.Fixed)
        self._actions = self._build_actions()
        self._actions.setSizePolicy(policy.Preferred, policy.Minimum)
        self.part: QWidget = column(
            head, self._sorting, self.table, self._actions, self._none, line(), gap=0
        )
        self._menu = QMenu(self.part)
        self.part.setSizePolicy(policy.Preferred, policy.Maximum)

    def _build_filters(self) -> None:
        tool = self.tool
        self._source = combo(name=_("Source of the suggestions"))
        self._source.currentIndexChanged.connect(
            lambda _index: tool.show_source(self._source.currentData())
        )
        named = (_("By position"), _("By score"), _("By source"))
        orders = tuple(zip((IN_TEXT, BY_SCORE, BY_SOURCE), named, strict=True))
        self._order = combo(orders, name=_("Order of the suggestions"))
        self._order.currentIndexChanged.connect(
            lambda _index: tool.sort_suggestions(self._order.currentData())
        )
        self._scores = combo(name=_("Scores of the suggestions"))
        self._scores.currentIndexChanged.connect(
            lambda _index: tool.show_scores(self._scores.currentData())
        )

    def _build_table(self) -> Table:
        tool, settings, rows = self.tool, self.tool.context.settings, self._row_words
        columns = (
            Column(_("Label and text"), rows.line, tip=rows.tip),
            Column(
                _("Accept"),
                lambda _row: _("Accept"),
                width=34,
                tip=lambda _row: with_key(_("Accept"), settings, "annotate.accept", "A"),
            ),
            Column(
                _("Reject"),
                lambda _row: _("Reject"),
                width=34,
                tip=lambda _row: with_key(_("Reject"), settings, "annotate.reject", "X"),
            ),
        )
        table = Table(columns, name=_("Suggestions"), key=lambda r: r.id)
        table.horizontalHeader().hide()
        below = tool.session.origins.briefly_made
        delegate = LabelAndText(table, rows.chip, rows.text, below_of=below, depends_on=rows.basis)
        table.setItemDelegateForColumn(0, delegate)
        for number, icon, tone in ((ACCEPT, "check", "good"), (REJECT, "x", "bad")):
            table.setItemDelegateForColumn(number, Sign(table, icon, tone))
            table.setColumnHidden(number, not tool.session.can_write)
        table.chosen.connect(self._choose)
        table.clicked.connect(self._clicked)
        return table

    def _build_actions(self) -> QFrame:
        """Buttons that accept the confident suggestions, or reject all."""
        tool, settings = self.tool, self.tool.context.settings
        self._sure = QDoubleSpinBox()
        self._sure.setRange(0.0, 1.0)
        self._sure.setSingleStep(0.05)
        self._sure.setDecimals(2)
        self._sure.setFixedWidth(theme.px(74))
        self._sure.setValue(tool.sure)
        self._sure.valueChanged.connect(tool.set_sure)
        call(self._sure, _("Minimum score to accept"))
        self._accept = Button(
            _("Accept ≥"),
            small=True,
            on=tool.accept_all,
            name=_("Accept all confident suggestions"),
        )
        self._reject = Button(
            _("Reject all"),
            kind="quiet",
            small=True,
            on=tool.reject_all,
            name=_("Reject all suggestions"),
        )
        follow_tip(self._accept, "", settings, "annotate.accept-all", "Ctrl+Shift+A")
        follow_tip(self._reject, "", settings, "annotate.reject-all", "Ctrl+Shift+X")
        self._more = icon_button("ellipsis", _("More suggestion actions"), self._ask, small=True)
        actions = flow(row(self._accept, self._sure, gap=6), self._reject, gap=6)
        return row((actions, 1), self._more, gap=6, margins=(12, 6, 12, 10))

    # ------------------------------------------------------------ actions

    def _ask(self) -> None:
        """The actions on suggestions of one source, and of all documents."""
        self._menu.clear()
        context_menu.fill(self._menu, source_choices(self.tool))
        self._menu.popup(self._more.mapToGlobal(self._more.rect().bottomLeft()))

    def _choose(self) -> None:
        chosen = self.table.chosen_rows()
        if chosen:
            self.tool.session.choose((SUGGESTED, chosen[0].id))

    def _clicked(self, index: QModelIndex) -> None:
        rows = self.table.rows()
        item = rows[index.row()] if index.row() < len(rows) else None
        if item is not None and index.column() == ACCEPT:
            self.tool.accept(item.id)
        elif item is not None and index.column() == REJECT:
            self.tool.reject(item.id)

    # ------------------------------------------------------------ showing

    def render(self) -> None:
        tool, session = self.tool, self.tool.session
        suggestions = session.suggestions
        self.table.set_rows(suggestions)
        self.table.setVisible(bool(suggestions))
        self._actions.setVisible(bool(suggestions) and session.can_write)
        filtered = tool.source is not None or tool.scores != EVERY
        self.part.setVisible(bool(suggestions) or filtered)
        self._none.setVisible(not suggestions)
        for button in (self._accept, self._reject):
            button.setEnabled(session.can_edit)
        scored = any(suggestion.score is not None for suggestion in suggestions)
        self._accept.setText(_("Accept ≥") if scored else _("Accept all"))
        self._sure.setVisible(scored)
        every = len(session.every_suggestion)
        self._from.setText(formats.count(every) if every else "")
        self._sorting.setVisible(every > 1 or filtered)
        names = [(origin, f"{title} ({formats.count(n)})") for origin, title, n in tool.origins]
        fill(self._source, [(None, _("All sources")), *names], tool.source)
        self._fill_scores()

    def show_sure(self) -> None:
        """Show another score from which suggestions are accepted."""
        if abs(self._sure.value() - self.tool.sure) > 0.004:
            self._sure.setValue(self.tool.sure)
        self._fill_scores()

    def _fill_scores(self) -> None:
        tool = self.tool
        sure = formats.decimal(tool.sure, 2)
        choices = [
            (EVERY, _("All scores")),
            (SURE_ONES, _("From {score}, or without a score", score=sure)),
            (BELOW, _("Below {score}", score=sure)),
        ]
        fill(self._scores, choices, tool.scores)
        scored = any(row.score is not None for row in tool.session.every_suggestion)
        self._scores.setVisible(scored or tool.scores != EVERY)

    def show_chosen(self) -> None:
        choose_row(self.table, self.tool.session.chosen, SUGGESTED)

    def fit(self, free: int | None) -> None:
        """Height for all suggestions, up to five, and fewer where the other parts need the room:
        there are `free` pixels beside the table, None while it is hidden.
        """
        lines = min(MAX_VISIBLE_ROWS, max(1, len(self.tool.session.suggestions)))
        self.table.set_row_height(theme.px(ROW))
        if free is not None:
            free += self.table.minimumHeight() - 4
            lines = min(lines, max(MIN_VISIBLE_ROWS, free // theme.px(ROW)))
        self.table.setFixedHeight(lines * theme.px(ROW) + 4)

    def restyle(self) -> None:
        """Called after the theme or text size has changed."""
        cast(LabelAndText, self.table.itemDelegateForColumn(0)).restyle()
        self._sure.setFixedWidth(theme.px(74))


def source_choices(tool: SuggestionTool) -> Choices:
    """A submenu for each source of suggestions in the document; actions on all documents."""
    can = tool.session.can_edit
    sure = formats.decimal(tool.sure, 2)
    return (
        *(
            MenuChoice(escaping.menu_text(title), enabled=can, choices=of_source(tool, origin, n))
            for origin, title, n in tool.origins
        ),
        SEPARATOR,
        MenuChoice(
            _("Accept at or above {score} in &all documents", score=sure),
            partial(tool.decide_everywhere, accept=True, least=tool.sure),
            can,
        ),
        MenuChoice(
            _("&Reject below {score} in this document", score=sure),
            tool.reject_unsure,
            can and bool(tool.unsure),
        ),
        MenuChoice(
            _("Reject &below {score} in all documents", score=sure),
            partial(tool.decide_everywhere, accept=False, below=tool.sure),
            can,
        ),
    )


def of_source(tool: SuggestionTool, origin: Origin, n: int) -> Choices:
    """The actions on one source; `n`: number of its suggestions in the document."""
    here = ngettext("&Accept {n:,} in this document", "&Accept {n:,} in this document", n)
    not_here = ngettext("&Reject {n:,} in this document", "&Reject {n:,} in this document", n)
    in_all = partial(tool.decide_everywhere, origin=origin)
    return (
        MenuChoice(here.format(n=n), partial(tool.decide_here, origin, accept=True), n > 0),
        MenuChoice(not_here.format(n=n), partial(tool.decide_here, origin, accept=False), n > 0),
        SEPARATOR,
        MenuChoice(_("Accept in a&ll documents"), partial(in_all, accept=True)),
        MenuChoice(_("Reject in all &documents"), partial(in_all, accept=False)),
        SEPARATOR,
        MenuChoice(_("Re&vert everything from this source"), partial(tool.revert, origin)),
    )
