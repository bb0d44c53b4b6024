"""The right side of Annotate: guideline, and the lists of the tools. It divides the height."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout

from workbench.base.events import concerns
from workbench.ui.panels.annotate.guideline.guideline_pane import GuidelinePane
from workbench.ui.panels.annotate.metadata import MetadataPane
from workbench.ui.panels.annotate.questions.question_list import QuestionPane
from workbench.ui.panels.annotate.relations.relation_list import RelationList
from workbench.ui.panels.annotate.spans.span_list import SpanList
from workbench.ui.panels.annotate.suggestions.suggestion_list import SuggestionList
from workbench.ui.panels.annotate.tokens.token_side import TokenSide
from workbench.ui.style import theme
from workbench.ui.widgets.layout import free_height, layout_of, widgets

if TYPE_CHECKING:
    from workbench.ui.panels.annotate.state import Desk

WIDEST_LEAST = 340  # maximum width in pixels, independent of the text size
GUIDELINE, SPANS = 5, 4  # share of the height if there are many spans
QUESTIONS = 8  # and that of questions
CONTENT = ("doc", "off", "predicted", "layers", "errors", "arrange")  # fields of the session


class AnnotationPane(QFrame):
    """The guideline if it is open, suggestions, spans and metadata."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk, self.session = desk, desk.session
        self.setProperty("part", "side-right")
        self.setMinimumWidth(min(theme.px(248), WIDEST_LEAST))
        self.setMaximumWidth(700)
        self.guideline = GuidelinePane(desk.guideline)
        self.guideline.hide()
        self.questions, self.token = QuestionPane(desk.questions), TokenSide(desk.tokens)
        self.suggested, self.listed = SuggestionList(desk.suggested), SpanList(desk.spans)
        self.suggestions, self.spans = self.suggested.table, self.listed.table
        self.relations, self.metadata = RelationList(desk.relations), MetadataPane(desk.session)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.guideline, GUIDELINE)
        layout.addWidget(self.token)
        layout.addWidget(self.questions, QUESTIONS)
        layout.addWidget(self.suggested.part)
        layout.addWidget(self.relations.part)
        layout.addWidget(self.listed.part, SPANS)
        layout.addWidget(self.metadata)
        layout.addStretch()  # the room that hidden parts leave

    # ------------------------------------------------------------ showing

    def render(self, fields: frozenset[str]) -> None:
        if concerns(fields, *CONTENT):
            self._show_content()
        elif "spans" in fields:
            self.listed.render()
            self._share_height()
        if concerns(fields, "remarks"):
            self.listed.show_remarks()
        if concerns(fields, "chosen", "doc", "off", "predicted", "spans"):
            for part in (self.relations, self.suggested, self.listed):
                part.show_chosen()

    def _show_content(self) -> None:
        for part in (self.suggested, self.token, self.relations, self.metadata, self.listed):
            part.render()
        self._share_height()
        asking = self.session.question_layer is not None
        self.questions.setVisible(asking)
        if asking:
            self.questions.render()
            share = QUESTIONS if self.desk.questions.shown_questions else 0
            layout_of(self).setStretchFactor(self.questions, share)
        if self.guideline_shown:
            self.guideline.fill_text()
        self._fit_suggestions()
        QTimer.singleShot(0, self, self._fit_suggestions)  # with the new heights of the others

    @property
    def empty(self) -> bool:
        """Whether no part has anything to show."""
        return all(part.isHidden() for part in widgets(layout_of(self)))

    def _share_height(self) -> None:
        """The guideline gets what the spans do not need, at least half of the height."""
        layout, crowded = layout_of(self), self.listed.crowded
        takes = SPANS if crowded else 0 if self.guideline_shown else 1
        part = self.listed.part
        if layout.stretch(layout.indexOf(part)) != takes:  # it lays out in any case
            layout.setStretchFactor(part, takes)
        self.listed.fit(in_full=self.guideline_shown and not crowded)

    def _fit_suggestions(self) -> None:
        table = self.suggested.table
        self.suggested.fit(free_height(self) if table.isVisibleTo(self) else None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.metadata.fit(self.height())
        self._fit_suggestions()

    # ------------------------------------------------------------ guideline

    @property
    def guideline_shown(self) -> bool:
        return self.guideline.isVisibleTo(self)

    def show_guideline(self, show: bool) -> None:
        self.guideline.setVisible(show)
        self._share_height()
        if show:
            self.guideline.open()

    def restyle(self) -> None:
        """Called after the theme or text size has changed."""
        for part in (self.suggested, self.listed, self.relations, self.metadata):
            part.restyle()
        self.setMinimumWidth(min(theme.px(248), WIDEST_LEAST))
        self._fit_suggestions()
        self._share_height()
