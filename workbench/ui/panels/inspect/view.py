"""Inspect: model and text on top; below, by token, gold beside predicted, or the classes."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QStackedLayout, QVBoxLayout, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panel import View
from workbench.ui.panels.inspect.classes import ClassView
from workbench.ui.panels.inspect.spans import SpansView
from workbench.ui.panels.inspect.state import CLASS, SPANS, TOKENS, InspectState
from workbench.ui.panels.inspect.tokens import TokensView
from workbench.ui.widgets.button import Button, Segments
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.field import Field, combo, fill
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.layout import column, row
from workbench.ui.widgets.meter import Meter
from workbench.ui.widgets.words import words

PAUSE = 600  # milliseconds after the last letter until a typed text is asked about


class InspectView(View):
    def __init__(self, state: InspectState, parent: QWidget | None = None):
        super().__init__(state, parent)
        self._correct = Button(
            _("Correct the gold"),
            "arrow-up-right",
            "primary",
            on=state.correct,
            tip=_("Open this document in Annotate"),
        )
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE)
        self._pause.timeout.connect(self._typed)
        self._tokens, self._spans, self._classes = (
            TokensView(state),
            SpansView(state),
            ClassView(state),
        )
        self._views = {TOKENS: self._tokens, SPANS: self._spans, CLASS: self._classes}
        self._segments = Segments(
            (TOKENS, _("By token")),
            (SPANS, _("Gold and predicted")),
            (CLASS, _("Class")),
            name=_("View"),
        )
        self._segments.chosen.connect(state.show)
        self._warning, self._fault = (
            Callout("", "warn"),
            Callout("", "bad", Button(_("Try again"), "rotate-ccw", small=True, on=state.ask)),
        )
        for one in (self._warning, self._fault):
            one.hide()
        self._pages = QStackedLayout()
        self._loading, self._busy = (
            words("", "small", "muted"),
            Meter(None, name=_("Loading the model")),
        )
        self._empty = EmptyState(
            "scan-search",
            _("Ask a model about a text"),
            _("Type a text above and press Return, or pick a document."),
        )
        hint = _("It stays loaded, so the answers after the first one come at once.")
        self._opening, self._answered = (
            EmptyState("scan-search", _("The model is being loaded"), hint),
            None,
        )
        for page in (*self._views.values(), self._empty, self._opening):
            self._pages.addWidget(page)
        above = column(
            self._asking(),
            self._second_row(),
            self._warning,
            self._fault,
            self._bar(),
            gap=10,
            margins=(24, 14, 24, 0),
        )
        above.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        body = QVBoxLayout()
        body.setContentsMargins(24, 10, 24, 16)
        body.addLayout(self._pages)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(
            PageHeader(_("Inspect"), _("What the model sees and why it answers so"), self._correct)
        )
        layout.addWidget(above)
        layout.addLayout(body, 1)
        self.first = self._input

    # ---------------------------------------------------------------- parts

    def _asking(self) -> QWidget:
        self._model = combo(name=_("Model"))
        self._model.activated.connect(lambda index: self.state.choose(self._model.itemData(index)))
        self._input, self._second = QLineEdit(), QLineEdit()
        self._input.setPlaceholderText(_("Type a text, or pick a document"))
        for line in (self._input, self._second):
            line.textEdited.connect(lambda _text: self._pause.start())
            line.returnPressed.connect(self._ask_at_once)
        model = Field(_("Run or model"), self._model, name=_("Model"))
        model.setMinimumWidth(250)
        text = Field(_("Text, or a document of the project"), self._input, name=_("Input"))
        self._pick = Button(_("Pick document…"), "database", on=self.pick)
        back = Button(
            "", "chevron-left", on=lambda: self.state.step(-1), name=_("Previous document")
        )
        on = Button("", "chevron-right", on=lambda: self.state.step(1), name=_("Next document"))
        beside = column(text.above(), row(self._pick, back, on, gap=6), None, gap=0)
        return row((model, 3), (text, 7), beside, gap=12)

    def _second_row(self) -> QWidget:
        self._second_field = Field(
            _("Second text of the pair"), self._second, name=_("Second input")
        )
        return self._second_field

    def _bar(self) -> QWidget:
        self._busy.setFixedWidth(120)
        return row(self._segments, None, self._loading, self._busy, gap=10)

    # ---------------------------------------------------------------- input

    def _typed(self) -> None:
        text = self._input.text()
        if text.strip():
            self.state.type_text(text, self._second.text())

    def _ask_at_once(self) -> None:
        """Return asks even about an unchanged text; a document that is shown stays that document."""
        waiting = self._pause.isActive()
        self._pause.stop()
        if waiting or self.state.document is None:
            self._typed()
        else:
            self.state.ask()

    def pick(self) -> None:
        """Choose a document of the project from a list with search."""
        from workbench.ui.panels.inspect.dialogs import PickDocument

        dialog = PickDocument(self.window(), self.state)
        if dialog.exec() and dialog.picked is not None:
            self.state.pick(dialog.picked)
        dialog.deleteLater()

    # ---------------------------------------------------------------- showing

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "choices", "choice"):
            fill(
                self._model,
                [(one.key, one.title) for one in state.choices],
                state.choice.key if state.choice else None,
            )
            for view in self._views:
                self._segments.button(view).setVisible(view in state.views)
            self._segments.setVisible(len(state.views) > 1)
            self._second_field.setVisible(state.texts == 2)
        if concerns(fields, "document", "document_id"):
            self._show_text()
        if concerns(fields, "answer", "error", "choice"):
            self._warning.set(" ".join(state.warnings))
            self._fault.set(state.error)
        if concerns(fields, "asking", "status", "answer", "error", "choice", "view"):
            self._show_progress()
            self._segments.set(state.view)
            self._pages.setCurrentWidget(self._page())
        for view in self._views.values():
            view.show_state(fields)

    def _page(self) -> QWidget:
        """A view as soon as it has something to show; the answer before stays in sight until the next one comes."""
        state = self.state
        if state.answer is not None:
            self._answered = state.choice
        elif state.loading and self._answered != state.choice:
            return self._opening
        return self._views[state.view] if state.answer is not None or state.asking else self._empty

    def _show_text(self) -> None:
        state = self.state
        texts = [text for _name, text in state.document.texts] if state.document else [""]
        for line, text in zip((self._input, self._second), (*texts, ""), strict=False):
            shown = " ".join(text.splitlines()) if "\n" in text or "\r" in text else text
            if line.text() != shown and not (
                line.hasFocus() and state.document_id is None and text == line.text()
            ):
                line.setText(shown)
                line.setCursorPosition(0)
        self._correct.setEnabled(state.document_id is not None)

    def _show_progress(self) -> None:
        state = self.state
        self._busy.setVisible(state.asking)
        told = ""
        if state.loading:
            told = _("Loading the model; the first answer takes some seconds")
        elif state.asking:
            told = _("Asking…")
        self._loading.setText(told)
        self._loading.setVisible(bool(told))
