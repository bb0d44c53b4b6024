"""The Annotate page: queue on the left, text in the middle, suggestions and spans on the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QSplitter, QVBoxLayout, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panel import View
from workbench.ui.panels.annotate.action_bar import ActionBar
from workbench.ui.panels.annotate.adjudication_part import AdjudicationPart
from workbench.ui.panels.annotate.annotation_pane import AnnotationPane
from workbench.ui.panels.annotate.context_menus import ContextMenus
from workbench.ui.panels.annotate.document_head import DocumentHead, LayersButton
from workbench.ui.panels.annotate.document_pane import DocumentPane
from workbench.ui.panels.annotate.find_in_text import Find
from workbench.ui.panels.annotate.folding import Sides
from workbench.ui.panels.annotate.instant.instant_part import InstantPart
from workbench.ui.panels.annotate.keys import Keys
from workbench.ui.panels.annotate.patterns.occurrences_pane import OccurrencesPane
from workbench.ui.panels.annotate.prefetch.prefetch_part import PreannotationPart
from workbench.ui.panels.annotate.queue.queue_side import QueueSide
from workbench.ui.panels.annotate.remarks.remarks_view import RemarkParts
from workbench.ui.panels.annotate.review.error_review import ErrorReview
from workbench.ui.panels.annotate.selection_bar import SelectionBar
from workbench.ui.panels.annotate.session import SpanTarget
from workbench.ui.panels.annotate.text_shortcuts import Links, QuestionShortcuts
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.key_cap import follow_tip, with_key
from workbench.ui.widgets.controls.label_palette import LabelPalette
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.pages import PageLayout
from workbench.ui.widgets.text.view import TextView

if TYPE_CHECKING:
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.annotate.session import Name
    from workbench.ui.panels.annotate.state import Desk

BELOW = 16  # pixels between the card with the text and the actions
SPARED = 60  # pixels, more than what tighter margins save
# fields of the session that change neither the page nor the height of its parts
FITS_AS_BEFORE = frozenset({"spans", "chosen", "place"})
AGAIN = "annotate.again"  # the command that trains the newest run again


class AnnotateView(View):
    state: Desk

    def __init__(self, state: Desk) -> None:
        super().__init__(state)
        self.session = state.session
        self._kept = state.context.settings.window
        self._build_header()
        self._build_centre()
        self.ahead = PreannotationPart(state.prefetch, self)
        self.instant = InstantPart(state.instant)
        self.queue = QueueSide(
            state.queue,
            beside=self.ahead.button,
            note=self.ahead.line,
            foot=self.instant,
            compact=self.instant.compact,
        )
        self.right = AnnotationPane(state)
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.setChildrenCollapsible(False)
        for part in (self.queue, self._centre, self.right):
            self._splitter.addWidget(part)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([256, 716, 306])
        page = QWidget()
        below = QVBoxLayout(page)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(0)
        below.addWidget(self._header)
        below.addWidget(self._splitter, 1)
        self._empty_pages: tuple[QWidget, ...] = ()
        self._stack = PageLayout(self)
        self._stack.addWidget(page)
        self._page = page
        self._palette = LabelPalette(self)
        self._palette.picked.connect(self.label_found)
        self._beside = SelectionBar(self)
        self._beside.picked.connect(self.label)
        self.links = Links(self)
        self._keys = Keys(self)
        right = (self.right.spans, self.right.suggestions, self.right.relations.table)
        for part in (self.queue.list, *right):
            self._keys.watch(part)
        self._menus = ContextMenus(self)
        self._keys.watch(self._document_pane.tokens.grid)
        for text in self._document_pane.texts:
            self._watch_text(text)
        self._document_pane.text_made.connect(self._watch_text)
        self._shown_layers: tuple[object, ...] | None = None
        self._sides = Sides(self._splitter, self._kept, lambda: self._document_pane.focus_text())
        self.right.show_guideline(bool(self._kept.get("annotate.guideline")))
        state.listen(theme.changed, self._restyle)
        self.first = self._document_pane.texts[0]
        self.asking = QuestionShortcuts(self)
        self._follow_tools(state)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._keys.press(event):
            super().keyPressEvent(event)

    # ------------------------------------------------------------ parts

    def _build_header(self) -> None:
        self._layers = LayersButton(self.state, self)
        self._guideline = Button(_("Guideline"), "info", on=self.toggle_guideline)
        follow_tip(
            self._guideline, _("Show the labelling guideline beside the text"),
            self.state.context.settings, "annotate.guideline", "Ctrl+G",
        )  # fmt: skip
        self._train = Button(_("Train"), "play", on=self._train_again)
        self._header = PageHeader(_("Annotate"), "", self._layers, self._guideline, self._train)

    def _train_again(self) -> None:
        """Train the newest run of the layers again, or open Train for the first one."""
        if self.state.instant.last_run is not None and self.session.can_write:
            self.state.instant.train_again()
        else:
            self.state.context.go("train")

    def _show_train(self) -> None:
        run = self.state.instant.last_run if self.session.can_write else None
        self._train.set_text(_("Train again") if run is not None else _("Train"))
        message = _("Train {run} again on the current labels", run=run.name) if run else ""
        key = (AGAIN, "Ctrl+Shift+T")
        tip = with_key(message, self.state.context.settings, *key) if message else ""
        escaping.set_tip(self._train, tip)

    def _build_centre(self) -> None:
        state = self.state
        self.head = DocumentHead(state)
        self._errors = ErrorReview(state.review)
        self.adjudication = AdjudicationPart(state.adjudication, self, self.show_text)
        self._document_pane = DocumentPane(state)
        self._find = Find(state, self._document_pane)
        self.occurrences = OccurrencesPane(
            state.occurrences, self._selected_text, self._document_pane.focus_text
        )
        self._document_pane.picked.connect(self.label)
        self._document_pane.found.connect(self.label_found)
        self._document_pane.more.connect(self._show_palette)
        self._centre = QWidget()
        self._centre.setMinimumWidth(360)
        layout = QVBoxLayout(self._centre)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.head)
        self.remarks = RemarkParts(self, state.remarks)
        self._actions = ActionBar(state, self.remarks)
        layout.addWidget(self.remarks.line)
        framed = self._framed = QVBoxLayout()
        framed.setContentsMargins(24, 0, 24, BELOW)
        framed.setSpacing(8)
        above = (self._find, self._errors, self.adjudication.line)
        for part in (*above, self._document_pane, self.occurrences):
            framed.addWidget(part, int(part is self._document_pane))
        layout.addLayout(framed, 1)
        layout.addWidget(self._actions)

    def _watch_text(self, text: TextView) -> None:
        self._keys.watch(text)
        self._menus.watch(text)
        self._beside.watch(text)
        text.word_steps = False  # Ctrl+Left and Ctrl+Right go to the neighbouring documents
        text.set_zoom(int(self._kept.get("annotate.zoom", 100)))
        text.boundaries_move = self.session.can_write
        text.span_clicked.connect(self.session.choose)
        text.span_resized.connect(self.state.spans.resize)
        text.connected.connect(self.links.connect)
        text.zoomed.connect(self._zoomed)

    # ------------------------------------------------------------ showing

    def _state_changed(self, fields: frozenset[str]) -> None:
        super()._state_changed(fields)
        if "selected" in fields and self.isVisible():  # in a window of its own
            QTimer.singleShot(0, self.session.follow)

    def _follow_tools(self, desk: Desk) -> None:
        """Each part shows what changes of its tool; `render` shows changes of the session."""
        pane, right, fit = self._document_pane, self.right, self._fit_header
        self.shows(desk.queue, self.queue.render)
        self.shows(desk.queue, self._render_total)
        for state, *acts in (
            (desk.prefetch, self.ahead.render),
            (desk.instant, self.instant.render, pane.show_instant, fit),
            (desk.submission, self._actions.render),
            (desk.session.units, pane.show_unit, self.head.render, fit),
            (desk.tokens, pane.tokens.show_token, right.token.render),
            (desk.questions, pane.show_answers, right.questions.render),
            (desk.relations, self._beside.hide, pane.show_chosen, fit),
            (desk.suggested, right.suggested.show_sure),
            (desk.remarks, self.remarks.render),
        ):
            self.shows(state, partial(_call, acts))
        self.shows(desk.adjudication, self._show_adjudication)
        self.shows(desk.guideline, right.guideline.render)
        right.guideline.left.connect(lambda: pane.focus_text())

    def render(self, fields: frozenset[str]) -> None:
        """Show changed fields of the session."""
        if concerns(fields, "layers", "off", "doc"):
            self._show_layers()
        if concerns(fields, "layers", "off", "run_changes"):
            self._show_train()
        self.queue.render(fields)
        if concerns(fields, "layers", "off", "errors"):
            self.instant.render()
            self.ahead.render()
        self._document_pane.render(fields)
        self.right.render(fields)
        if concerns(fields, "doc", "off", "predicted", "layers", "errors", "arrange"):
            self._sides.show_empty(self.right.empty)
            self._show_head()
            self._find.render()
        if concerns(fields, "remarks"):
            self.remarks.render()
        if concerns(fields, "chosen", "doc", "off", "predicted", "spans"):
            self._beside.hide()
        if not fields <= FITS_AS_BEFORE:
            self._show_page()

    def _render_total(self, fields: frozenset[str]) -> None:
        if "total" in fields:
            self._show_page()

    def _show_adjudication(self, fields: frozenset[str]) -> None:
        """Show the mode that is on; the part fills its own page."""
        part, tool = self.adjudication, self.state.adjudication
        if tool.is_on and part.page is None:
            self._stack.addWidget(part.build())
        part.render(fields)
        if concerns(fields, "people", "editing"):
            self._show_page()
            self._sides.hold_left(tool.editing)
            self.take_focus()
            part.show_place()

    def _show_page(self) -> None:
        state = self.state
        if state.adjudication.is_shown and self.adjudication.page is not None:
            self._stack.setCurrentWidget(self.adjudication.page)
            return
        page = 0
        if not state.queue.total and self.session.doc is None:
            page = 1
        elif not self.session.has_labels:
            page = 3 if self.session.blind and not self.session.layers else 2
        if page and not self._empty_pages:  # rarely shown, so created on first use
            self._empty_pages = empty_states(state.context)
            for part in self._empty_pages:
                self._stack.addWidget(part)
        self._stack.setCurrentWidget(self._empty_pages[page - 1] if page else self._page)
        self._fit_header()

    def _fit_header(self) -> None:
        """Where large text leaves no room for some lines of it, the header gives way: its actions
        are in the menus, and the layers above the text.
        """
        parts = (self._header, self.head, self._actions)
        needed = sum(part.sizeHint().height() for part in parts) + BELOW
        needed += self._document_pane.height_with_lines() + (
            SPARED if self._header.isHidden() else 0
        )
        folded = needed > self.height()
        if folded == self._header.isHidden():
            return
        focused = self._header.isAncestorOf(self.focusWidget() or self)
        self._header.setVisible(not folded)
        self.head.show_layers(folded)
        self._document_pane.tighten(folded)
        self._framed.setContentsMargins(24, 0, 24, 4 if folded else BELOW)
        if focused:
            self._document_pane.focus_text()

    def _show_layers(self) -> None:
        now = (
            self.session.layers,
            self.session.off,
            tuple(layer.id for layer in self.session.active),
        )
        if now == self._shown_layers:
            return
        self._shown_layers = now
        self._layers.show_layers()
        self.head.layers.show_layers()
        on = (
            [layer.name for layer in self.session.active]
            if self.session.doc
            else [layer.name for layer in self.session.layers if layer.id not in self.session.off]
        )
        self._header.set_hint(
            _("Labelling: {layers}", layers=", ".join(on))
            if on
            else _("No layer for this document is selected")
        )
        self._guideline.setEnabled(bool(self.session.layers))

    def _show_head(self) -> None:
        self.head.render()
        self._actions.render()
        self._errors.render()

    @property
    def document_pane(self) -> DocumentPane:
        return self._document_pane

    def take_focus(self) -> None:
        if self.adjudication.is_shown:
            self.adjudication.take_focus()
        elif self._stack.currentIndex() == 0:
            self._document_pane.focus_text(self._document_pane.texts[0])
        else:
            page = cast(QWidget, self._stack.currentWidget())
            cast(Button, page.findChild(Button)).setFocus()  # the recommended next action

    def _restyle(self) -> None:
        self._document_pane.restyle()
        self.queue.restyle()
        self.right.restyle()
        self._show_head()
        self._actions.fit()
        self.adjudication.restyle()
        self._sides.fit(self.width())
        self._fit_header()

    # ------------------------------------------------------------ actions that need the view

    def label(self, label_id: int) -> None:
        """A label was picked by key, chip or palette: apply it to the selected span, text or word
        at the caret.
        """
        before, snap = self.session.chosen, self.state.spans.snap_of(label_id)
        self.session.label(label_id, self.links.target(self._document_pane.text, snap))
        self.leave_selection(before)

    def label_by_key(self, label_id: int) -> None:
        """As `label`; a key also steps through sublabels, or submits and goes on."""
        if self.state.submission.goes_on or not self.session.step_sublabel(label_id):
            self.label_found(label_id)

    def label_found(self, label_id: int) -> None:
        """As `label`; what was typed to find it can also submit and go on."""
        if self.state.submission.goes_on:
            self.state.submission.choose_and_go_on(label_id)
        else:
            self.label(label_id)

    def leave_selection(self, before: Name | None) -> None:
        """Select no words any more if they became a span. `before`: what was chosen."""
        text = self._document_pane.text
        if self.session.chosen != before and text.selection:
            text.select(text.caret, text.caret, show=False)

    def open_palette(self) -> None:
        """The search of the card where that is of all there is to label, else the palette."""
        if self.session.can_edit and not self._document_pane.find_class():
            self._show_palette()

    def _show_palette(self) -> None:
        """All labels, beside the text to be labelled; while a relation is being made, those that it
        may have.
        """
        if self.session.can_edit:
            middle = QPoint(self._document_pane.width() // 2, self._document_pane.height() - 52)
            above = self._document_pane.mapTo(self, middle)
            texts = self._document_pane.text_areas(self)
            self._palette.ask(self.links.choices(), above, beside=self.links.place(), texts=texts)

    def _selected_text(self) -> tuple[str, int | None] | None:
        """The selected span or suggestion with its label, else the selected words; where only tags
        are shown, the selected token with its tag or the one suggested first.
        """
        session, text = self.session, self._document_pane.text
        chosen = session.chosen_span() or session.chosen_suggestion()
        if chosen is not None and chosen.start is not None and chosen.end is not None:
            content = session.shown_doc.document.content(chosen.field)
            return content[chosen.start : chosen.end], chosen.label_id
        if session.only_tags or self._document_pane.tokens.grid.hasFocus():
            return self.state.tokens.token_text, self.state.tokens.likely_tag
        if not text.target:
            return None
        start, end = text.target
        return text.text.text[start:end], None

    def show_patterns(self) -> None:
        from workbench.ui.panels.annotate.patterns.patterns import PatternTool
        from workbench.ui.panels.annotate.patterns.patterns_dialog import PatternsDialog

        PatternsDialog(self.window(), PatternTool(self.session)).exec()

    def ask_adjudication(self) -> None:
        """Ask who is compared, and in which layers."""
        self.adjudication.ask()

    def find(self) -> None:
        self._find.open()

    def find_step(self, way: int) -> None:
        self._find.go(way)

    def show_text(self, field: str, start: int, end: int) -> None:
        """Select code points of a text of the open document and scroll to them."""
        self._document_pane.choose_text(field, start, end)

    def leave_find(self) -> None:
        self._find.leave()

    def unselect(self) -> None:
        text = self._document_pane.text
        if text.cancel_drag():
            return
        if self.state.finder.shown:
            self._find.leave()
        elif self.state.relations.linking is not None:
            self.state.relations.leave_link()
        elif self.occurrences.state.shown:
            self.occurrences.leave()
        elif self.session.chosen is not None:
            self.session.choose(None)
        elif text.selection:
            text.select(text.caret, text.caret)

    def step_span(self, way: int) -> None:
        text = self._document_pane.text
        self.state.spans.choose_step(way, text.field, text.caret)

    def text_of_chosen(self) -> TextView | None:
        span = self.session.chosen_span()
        return next(
            (
                text
                for text in self._document_pane.texts
                if span is not None and text.field == span.field
            ),
            None,
        )

    def go_unlabelled(self) -> None:
        if not self.state.queue.next_unlabelled():
            self.state.queue.say_all_is_done()

    def choose_ahead(self) -> None:
        """Ask which run pre-annotates the next documents."""
        if self.folded("left"):
            self.fold("left")
        self.ahead.popup()

    def panes(self) -> list[QWidget]:
        """The text, suggestions, relations, spans and queue, as far as they are visible."""
        if self.adjudication.is_shown:
            return self.adjudication.panes()
        tables = [
            table
            for table in (self.right.suggestions, self.right.relations.table, self.right.spans)
            if table.isVisible() and table.rows()
        ]
        return [
            *self._document_pane.panes,
            *tables,
            *([self.queue.list] if self.queue.isVisible() else []),
        ]

    def next_pane(self, way: int) -> None:
        """Focus the next pane; after the last comes the first."""
        focus_next(self.panes(), way)

    # ------------------------------------------------------------ collapsing, guideline, zoom

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._sides.fit(self.width())
        self._fit_header()

    @property
    def _sides_shown(self) -> Sides:
        return self.adjudication.sides or self._sides

    def folded(self, side: str) -> bool:
        return self._sides_shown.folded(side)

    def fold(self, side: str) -> None:
        self._sides_shown.turn(side)

    @property
    def guideline_shown(self) -> bool:
        shown = self.adjudication.guideline_shown
        if shown is None:
            shown = self.right.guideline_shown
        return shown and not self.folded("right")

    def toggle_guideline(self) -> None:
        if self.adjudication.is_shown:
            self.adjudication.toggle_guideline()
            return
        show = not self.guideline_shown
        if show and self.folded("right"):
            self.fold("right")
        self.right.show_guideline(show)
        self._sides.show_empty(self.right.empty)
        self._kept["annotate.guideline"] = show
        if show:
            self._sides.widen_right()

    def find_in_guideline(self) -> None:
        if not self.guideline_shown:
            self.toggle_guideline()
        self.right.guideline.begin_search()

    def add_example(self, *, positive: bool) -> None:
        """Add what is selected to the guideline at once; selected words without a label, and a
        document without a class, through the dialog.
        """
        tool = self.state.guideline
        if not self.session.can_edit:
            return
        words = self._example_words()
        if words is None and tool.case is not None:
            self.state.context.attempt(tool.add, tool.case, positive=positive)
        else:
            self.ask_example(positive=positive)

    def ask_example(self, *, positive: bool = True) -> None:
        """Ask for the label and a remark of an example."""
        from workbench.ui.panels.annotate.guideline.example_dialog import ExampleDialog

        tool, words = self.state.guideline, self._example_words()
        case = tool.case if words is None else None
        target = words or (case.words if case is not None else None)
        if not tool.cases(target):
            message = _("No selected layer has labels for this. Choose a layer above the text.")
            self.state.context.note(message)
            return
        ExampleDialog(self.window(), tool, target, case=case, positive=positive).exec()

    def _example_words(self) -> SpanTarget | None:
        """The selected text that has no label yet."""
        text = self._document_pane.text
        if self.session.chosen is not None or not text.selection:
            return None
        return SpanTarget(text.field, *text.selection)

    @property
    def zoomed_by(self) -> int:
        """Set the zoom of the reading text, in percent."""
        return self._document_pane.texts[0].zoom

    def zoom(self, step: int) -> None:
        if self.adjudication.is_shown:
            self.adjudication.zoom(step)
            return
        self._document_pane.texts[0].zoom_by(step)

    def _zoomed(self, per_cent: int) -> None:
        self._kept["annotate.zoom"] = per_cent
        self._document_pane.tokens.grid.set_zoom(per_cent)
        for text in self._document_pane.texts:
            text.set_zoom(per_cent)
        self._fit_header()


def focus_next(panes: Sequence[QWidget], way: int) -> None:
    """Focus the pane after (`way` 1) or before (-1) the one that has the focus."""
    now = QApplication.focusWidget()
    focused = (
        number for number, pane in enumerate(panes) if pane is now or pane.isAncestorOf(now or pane)
    )
    at = next(focused, -1 if way > 0 else 0)
    if panes:
        panes[(at + way) % len(panes)].setFocus(Qt.FocusReason.ShortcutFocusReason)


def empty_states(context: PanelContext) -> tuple[QWidget, ...]:
    """Without documents, without labels, and while blind mode hides all layers."""
    go, to_people = context.go, Button(_("People…"), on=lambda: context.app.act("people"))
    to_import = Button(_("Import…"), "download", "primary", on=lambda: go("data", dialog="import"))
    to_labels = Button(_("Define labels"), "tags", "primary", on=lambda: go("labels"))
    return (
        EmptyState(
            "highlighter",
            _("No documents yet"),
            _("Import text: JSONL, CSV, CoNLL or plain text."),
            to_import,
        ),
        EmptyState(
            "tags",
            _("No labels yet"),
            _("Define what to label: classes, spans or sentence pairs."),
            to_labels,
        ),
        EmptyState(
            "eye-off",
            _("Blind mode hides all layers"),
            _("They show the labels of other people."),
            to_people,
        ),
    )


def _call(acts: Sequence[Callable[[], None]], _fields: frozenset[str]) -> None:
    for act in acts:
        act()
