"""The right side of Annotate: guideline, suggestions, spans and metadata."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QModelIndex, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDoubleSpinBox, QFrame, QMenu, QSizePolicy, QVBoxLayout

from workbench.base.i18n import _
from workbench.text.labels import Label
from workbench.ui.panels.annotate.label_rows import LabelAndText, LabelTable, Sign
from workbench.ui.panels.annotate.metadata import MetadataPane
from workbench.ui.panels.annotate.question_list import QuestionPane
from workbench.ui.panels.annotate.relation_list import RelationList
from workbench.ui.panels.annotate.remarks import GOLD
from workbench.ui.panels.annotate.source_menu import source_choices
from workbench.ui.panels.annotate.sources import (
    BELOW,
    BY_SCORE,
    BY_SOURCE,
    EVERY,
    IN_TEXT,
    SURE_ONES,
)
from workbench.ui.panels.annotate.state import SUGGESTED
from workbench.ui.panels.annotate.token_side import TokenSide
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.key_cap import CommandCap, follow_tip, with_key
from workbench.ui.widgets.controls.words import Counted, Elided, call, words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import column, free_height, layout_of, line, row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text import context_menu
from workbench.ui.widgets.text.markdown import MarkdownView

if TYPE_CHECKING:
    from workbench.storage.annotation.annotations import SpanRow
    from workbench.storage.annotation.suggestions import SuggestionRow
    from workbench.ui.panels.annotate.actions import AnnotateActions

WIDEST_LEAST = 340  # maximum width in pixels, independent of the text size
EXCERPT = 120  # code points of a span shown in a row
ACCEPT, REJECT = 1, 2  # columns of the suggestions
GUIDELINE, SPANS = 5, 4  # share of the height if there are many spans
QUESTIONS = 8  # and that of questions
MAX_VISIBLE_ROWS, MIN_VISIBLE_ROWS = 5, 2  # suggestions in sight
SUGGESTION = 44  # height of a label with its source, pixels at 100%
FEW_SPANS = 6  # up to this number, spans are shown in full beside a guideline


QWIDGETSIZE_MAX = 16_777_215  # Qt's own name: no limit


class AnnotationPane(QFrame):
    """The guideline if it is open, suggestions, spans and metadata."""

    def __init__(self, state: AnnotateActions) -> None:
        super().__init__()
        self.state = state
        self._remarks: object = None  # those that are shown
        self.setProperty("part", "side-right")
        self.setMinimumWidth(min(theme.px(248), WIDEST_LEAST))
        self.setMaximumWidth(700)
        self._build_guideline()
        self.questions = QuestionPane(state)
        self._build_suggestions()
        self._build_spans()
        self.relations = RelationList(state)
        self.token, self.metadata = TokenSide(state), MetadataPane(state)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._guideline_part, GUIDELINE)
        layout.addWidget(self.token)
        layout.addWidget(self.questions, QUESTIONS)
        layout.addWidget(self._suggested_part)
        layout.addWidget(self.relations.part)
        layout.addWidget(self._spans_part, SPANS)
        layout.addWidget(self.metadata)
        layout.addStretch()  # the room that hidden parts leave

    # ------------------------------------------------------------ parts

    def _build_guideline(self) -> None:
        self._text = MarkdownView(_("Guideline text"), compact=True)
        self._guideline_part = column(
            words(_("Guideline"), weight=600),
            (self._text, 1),
            line(),
            gap=6,
            margins=(14, 12, 14, 0),
        )
        self._guideline_part.hide()

    def _build_suggestions(self) -> None:
        state, settings = self.state, self.state.context.settings
        self.suggestions = self._suggestion_table()
        self._from = Elided("", "small", "muted")
        head = row(
            words(_("Suggested"), weight=600),
            (self._from, 1),
            CommandCap(settings, "annotate.accept", "A"),
            CommandCap(settings, "annotate.reject", "X"),
            gap=6,
            margins=(14, 12, 14, 4),
        )
        self._actions = self._suggestion_actions()
        message = _("No suggestion of this document matches the filter.")
        self._nothing = words(message, "small", "muted", wrap=True)
        self._none = column(self._nothing, margins=(14, 0, 14, 10))
        self._source = combo(name=_("Source of the suggestions"))
        self._source.currentIndexChanged.connect(
            lambda _index: state.show_source(self._source.currentData())
        )
        named = (_("By position"), _("By score"), _("By source"))
        orders = tuple(zip((IN_TEXT, BY_SCORE, BY_SOURCE), named, strict=True))
        self._order = combo(orders, name=_("Order of the suggestions"))
        self._order.currentIndexChanged.connect(
            lambda _index: state.sort_suggestions(self._order.currentData())
        )
        self._scores = combo(name=_("Scores of the suggestions"))
        self._scores.currentIndexChanged.connect(
            lambda _index: state.show_scores(self._scores.currentData())
        )
        both = row((self._source, 1), (self._order, 1), gap=6)
        self._sorting = column(both, self._scores, gap=6, margins=(12, 2, 12, 6))
        for part in (self._sorting, head):
            part.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._actions.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._suggested_part = column(
            head, self._sorting, self.suggestions, self._actions, self._none, line(), gap=0
        )
        policy = QSizePolicy.Policy
        self._suggested_part.setSizePolicy(policy.Preferred, policy.Maximum)

    def _suggestion_table(self) -> Table:
        settings = self.state.context.settings
        columns = (
            Column(_("Label and text"), self._words_of, tip=self._tip_of),
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
        self._plain(table, below_of=self.state.briefly_made)
        for column_, icon, tone in ((ACCEPT, "check", "good"), (REJECT, "x", "bad")):
            table.setItemDelegateForColumn(column_, Sign(table, icon, tone))
            table.setColumnHidden(column_, not self.state.can_write)
        table.chosen.connect(lambda: self._choose(SUGGESTED, table))
        table.clicked.connect(self._clicked)
        return table

    def _suggestion_actions(self) -> QFrame:
        """Buttons that accept the confident suggestions, or reject all."""
        state, settings = self.state, self.state.context.settings
        self._sure = QDoubleSpinBox()
        self._sure.setRange(0.0, 1.0)
        self._sure.setSingleStep(0.05)
        self._sure.setDecimals(2)
        self._sure.setFixedWidth(theme.px(74))
        self._sure.setValue(state.sure)
        self._sure.valueChanged.connect(state.set_sure)
        call(self._sure, _("Minimum score to accept"))
        self._accept = Button(
            _("Accept ≥"),
            small=True,
            on=state.accept_all,
            name=_("Accept all confident suggestions"),
        )
        self._reject = Button(
            _("Reject all"),
            kind="quiet",
            small=True,
            on=state.reject_all,
            name=_("Reject all suggestions"),
        )
        follow_tip(self._accept, "", settings, "annotate.accept-all", "Ctrl+Shift+A")
        follow_tip(self._reject, "", settings, "annotate.reject-all", "Ctrl+Shift+X")
        self._menu = QMenu(self)
        self._more = icon_button("ellipsis", _("More suggestion actions"), self._ask, small=True)
        actions = flow(row(self._accept, self._sure, gap=6), self._reject, gap=6)
        return row((actions, 1), self._more, gap=6, margins=(12, 6, 12, 10))

    def _build_spans(self) -> None:
        columns = (Column(_("Label and text"), self._words_of, tip=self._span_tip),)
        self.spans = LabelTable(columns, name=_("Spans"), key=lambda r: r.id)
        delete = self._delete if self.state.can_write else None
        self._plain(self.spans, delete, self.state.briefly_made, self._span_text)
        self.spans.chosen.connect(lambda: self._choose(GOLD, self.spans))
        self.spans.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._number = Counted("", "small", "muted")
        self._title = words(_("Spans"), weight=600)
        head = row(self._title, None, self._number, margins=(14, 12, 14, 4))
        self._no_spans = words("", "small", "muted", wrap=True)
        self._no_spans_part = column(self._no_spans, None, margins=(14, 0, 14, 10))
        self._spans_part = column(head, (self.spans, 1), (self._no_spans_part, 1), gap=0)

    def _plain(
        self,
        table: Table,
        on_cross: Callable[[Any], None] | None = None,
        below_of: Callable[[Any], str] | None = None,
        text_of: Callable[[Any], str] | None = None,
    ) -> None:
        table.horizontalHeader().hide()
        delegate = LabelAndText(
            table,
            self._chip_of,
            text_of or self._text_of,
            on_cross,
            below_of,
            depends_on=self._basis,
        )
        table.setItemDelegateForColumn(0, delegate)

    # ------------------------------------------------------------ rows

    def _basis(self) -> tuple[object, ...]:
        """What the texts of rows depend on: labels, text, questions, notes, the time of day."""
        state, minute = self.state, time.time() // 60
        doc = state.shown_doc
        return state.layers, doc.document, doc.questions, state.remarks.found, minute

    def _chip_of(self, span: SpanRow | SuggestionRow) -> tuple[str, Any]:
        if question := self.state.question_number(span):
            return question, None
        if (named := self.state.number_named(span)) is not None:
            return named[0], None
        entry = self.state.label_of.get(span.label_id) if span.label_id is not None else None
        if entry and (chain := getattr(span, "chain", None)) is not None:
            title = _("{chain} · {label}", chain=chain, label=entry[1].name)
            return title, Label(entry[1].name, position=chain - 1)
        return (entry[1].name, entry[1]) if entry else ("?", None)

    def _words_of(self, span: SpanRow | SuggestionRow) -> str:
        score = getattr(span, "score", None)
        return f"{self._chip_of(span)[0]}: {self._text_of(span)}" + (
            f" ({formats.decimal(score, 2)})" if score is not None else ""
        )

    def _tip_of(self, span: SpanRow | SuggestionRow) -> str:
        return f"{self._words_of(span)}\n{self.state.made(span)}"

    def _span_tip(self, span: SpanRow) -> str:
        return "\n".join(filter(None, (self._tip_of(span), self.state.remarks.line(span.id))))

    def _span_text(self, span: SpanRow) -> str:
        """The text, then flags and note of the span."""
        return " · ".join(filter(None, (self._text_of(span), self.state.remarks.line(span.id))))

    def _ask(self) -> None:
        """The actions on suggestions of one source, and of all documents."""
        self._menu.clear()
        context_menu.fill(self._menu, source_choices(self.state))
        self._menu.popup(self._more.mapToGlobal(self._more.rect().bottomLeft()))

    def _text_of(self, span: SpanRow | SuggestionRow) -> str:
        question = self.state.question_number(span)
        if not question and (named := self.state.number_named(span)) is not None:
            return _("as {layer}", layer=named[1])
        if span.start is None or span.end is None:
            if question:
                return _("no answer in the text")
            entry = self.state.label_of.get(span.label_id) if span.label_id is not None else None
            view = self.state.view_of(getattr(span, "run_id", None))
            return view.suggestion(entry[0], entry[1].name) if entry else ""
        content = self.state.shown_doc.document.content(span.field)
        if parts := getattr(span, "parts", ()):
            return " … ".join(" ".join(content[a : min(b, a + EXCERPT)].split()) for a, b in parts)
        text = content[span.start : min(span.end, span.start + EXCERPT)]
        return " ".join(text.split()) + ("…" if span.end - span.start > EXCERPT else "")

    def _choose(self, kind: str, table: Table) -> None:
        chosen = table.chosen_rows()
        if chosen:
            self.state.choose((kind, chosen[0].id))

    def _clicked(self, index: QModelIndex) -> None:
        rows = self.suggestions.rows()
        item = rows[index.row()] if index.row() < len(rows) else None
        if item is not None and index.column() == ACCEPT:
            self.state.accept(item.id)
        elif item is not None and index.column() == REJECT:
            self.state.reject(item.id)

    def _delete(self, span: SpanRow) -> None:
        self.state.choose((GOLD, span.id))
        self.state.delete_chosen()

    # ------------------------------------------------------------ showing

    def render(self) -> None:
        state = self.state
        suggestions = state.suggestions
        self.suggestions.set_rows(suggestions)
        self.suggestions.setVisible(bool(suggestions))
        self._actions.setVisible(bool(suggestions) and self.state.can_write)
        filtered = state.source is not None or state.scores != EVERY
        self._suggested_part.setVisible(bool(suggestions) or filtered)
        self._none.setVisible(not suggestions)
        for part in (self._accept, self._reject):
            part.setEnabled(state.can_edit)
        scored = any(row.score is not None for row in suggestions)
        self._accept.setText(_("Accept ≥") if scored else _("Accept all"))
        self._sure.setVisible(scored)
        every = len(state.every_suggestion)
        self._from.setText(formats.count(every) if every else "")
        self._sorting.setVisible(every > 1 or filtered)
        names = [(origin, f"{title} ({formats.count(n)})") for origin, title, n in state.origins]
        fill(self._source, [(None, _("All sources")), *names], state.source)
        self._fill_scores()
        self.token.render()
        self.relations.render()
        self.metadata.render()
        self._title.setText(_("Tags") if state.only_tags else _("Spans"))
        has_layer = self.show_spans()
        self._no_spans.setText(
            _("No tags yet. Select a token and press the key of a label.")
            if state.only_tags
            else _("No spans yet. Select words and press the key of a label.")
        )
        asking = state.question_layer is not None
        self.questions.setVisible(asking)
        self._spans_part.setVisible(has_layer)
        if asking:
            self.questions.render()
            share = QUESTIONS if state.shown_questions else 0
            layout_of(self).setStretchFactor(self.questions, share)
        if self.guideline_shown:
            self._fill_guideline()
        self._fit_suggestions()
        QTimer.singleShot(0, self, self._fit_suggestions)  # with the new heights of the others

    @property
    def empty(self) -> bool:
        """Whether no part has anything to show."""
        layout = layout_of(self)
        items = (layout.itemAt(at) for at in range(layout.count()))
        parts = (item.widget() for item in items if item is not None)
        return all(part is None or part.isHidden() for part in parts)

    def show_spans(self) -> bool:
        """Show the spans of the document in the list; returns whether a layer may have any."""
        spans = self.state.spans
        self.spans.set_rows(spans)
        self.spans.setVisible(bool(spans))
        self._no_spans_part.setVisible(not spans)
        self._share_height()
        has_layer = any(layer.traits.in_text for layer in self.state.active)
        self._number.setText(formats.count(len(spans)) if has_layer else "")
        return has_layer

    def _share_height(self) -> None:
        """The guideline gets what the spans do not need, at least half of the height."""
        layout = layout_of(self)
        crowded = len(self.state.spans) > FEW_SPANS
        takes = SPANS if crowded else 0 if self.guideline_shown else 1
        if layout.stretch(layout.indexOf(self._spans_part)) != takes:  # it lays out in any case
            layout.setStretchFactor(self._spans_part, takes)
        few = self.guideline_shown and not crowded
        self.spans.set_row_height(theme.px(SUGGESTION))
        rows = len(self.state.spans) * theme.px(SUGGESTION) + 8
        self.spans.setFixedHeight(rows) if few else _any_height(self.spans)

    def _fit_suggestions(self) -> None:
        """Height for all suggestions, up to five, and fewer where the other parts need the room."""
        lines = min(MAX_VISIBLE_ROWS, max(1, len(self.state.suggestions)))
        self.suggestions.set_row_height(theme.px(SUGGESTION))
        if self.suggestions.isVisibleTo(self):
            free = free_height(self) + self.suggestions.minimumHeight() - 4
            lines = min(lines, max(MIN_VISIBLE_ROWS, free // theme.px(SUGGESTION)))
        self.suggestions.setFixedHeight(lines * theme.px(SUGGESTION) + 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.metadata.fit(self.height())
        self._fit_suggestions()

    def show_sure(self) -> None:
        if abs(self._sure.value() - self.state.sure) > 0.004:
            self._sure.setValue(self.state.sure)
        self._fill_scores()

    def _fill_scores(self) -> None:
        state = self.state
        sure = formats.decimal(state.sure, 2)
        choices = [
            (EVERY, _("All scores")),
            (SURE_ONES, _("From {score}, or without a score", score=sure)),
            (BELOW, _("Below {score}", score=sure)),
        ]
        fill(self._scores, choices, state.scores)
        scored = any(suggestion.score is not None for suggestion in state.every_suggestion)
        self._scores.setVisible(scored or state.scores != EVERY)

    def show_remarks(self) -> None:
        """Flags and notes are shown beside the texts of the spans."""
        remarks = self.state.remarks.found
        if remarks is not self._remarks:
            self._remarks = remarks
            self.spans.viewport().update()

    def show_chosen(self) -> None:
        self.relations.show_chosen()
        name = self.state.chosen
        for kind, table in ((SUGGESTED, self.suggestions), (GOLD, self.spans)):
            ids = {name[1]} if name is not None and name[0] == kind else set()
            if {item.id for item in table.chosen_rows()} != ids:
                table.choose(ids)

    @property
    def guideline_shown(self) -> bool:
        return self._guideline_part.isVisibleTo(self)

    def show_guideline(self, show: bool) -> None:
        self._guideline_part.setVisible(show)
        self._share_height()
        if show:
            self._fill_guideline()

    def _fill_guideline(self) -> None:
        text = self.state.guideline or _(
            "The selected layers have no guideline yet. Write it on the Labels page."
        )
        self._text.set_markdown(text)

    def restyle(self) -> None:
        """Called after the theme or text size has changed."""
        for table in (self.suggestions, self.spans):
            cast(LabelAndText, table.itemDelegateForColumn(0)).restyle()
        self.relations.restyle()
        self.metadata.restyle()
        self.setMinimumWidth(min(theme.px(248), WIDEST_LEAST))
        self._sure.setFixedWidth(theme.px(74))
        self._fit_suggestions()
        self._share_height()


def _any_height(table: Table) -> None:
    table.setMinimumHeight(0)
    table.setMaximumHeight(QWIDGETSIZE_MAX)
