"""Inspect: models and views on the left; the text at the top, and one view of it below."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QSizePolicy,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from workbench.base.events import ALL, concerns
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.ui import theme
from workbench.ui.panel import View
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.saving import fill_menu
from workbench.ui.panels.inspect.state import InspectState
from workbench.ui.panels.inspect.view_list import ViewList
from workbench.ui.panels.inspect.views.plain import PlainView
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.field import Field, combo, fill
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.layout import column, row
from workbench.ui.widgets.meter import Meter
from workbench.ui.widgets.words import IconLabel, words

SIDE = 236  # pixels at 100 %
NARROW = 620  # below this width, buttons beside the text show their icons alone
PAUSE = 600  # milliseconds after the last key press until a typed text is sent to the model


class InspectView(View):
    state: InspectState

    def __init__(self, state: InspectState, parent: QWidget | None = None):
        super().__init__(state, parent)
        self._correct = Button(
            _("Fix gold labels"),
            "arrow-up-right",
            "primary",
            on=state.correct,
            tip=_("Open this document in Annotate"),
        )
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE)
        self._pause.timeout.connect(self._typed)
        self._views: dict[str, InspectorView] = {}  # by inspector, created when first shown
        self._listed = ViewList()
        self._listed.chosen.connect(state.show)
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
            _("Run a model on a text"),
            _("Type a text above and press Enter, or pick a document."),
        )
        hint = _("The model stays loaded, so later results appear immediately.")
        self._opening = EmptyState("scan-search", _("Loading the model"), hint)
        self._stand_ins = (self._empty, self._opening)
        self._answered: dict[str, object] = {}  # inspector → the model of its last result
        self._shows = words("", "caption", "muted", wrap=True)
        self._foot = row(IconLabel("info", "muted", 14), (self._shows, 1), gap=6)
        for page in (self._empty, self._opening):
            self._pages.addWidget(page)
        above = column(
            self._asking(),
            self._second_row(),
            self._warning,
            self._fault,
            gap=10,
            margins=(24, 14, 24, 0),
        )
        above.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        body = QVBoxLayout()
        body.setContentsMargins(24, 10, 24, 12)
        body.setSpacing(8)
        body.addLayout(self._pages, 1)
        body.addWidget(self._foot)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(above)
        right.addLayout(body, 1)
        below = QHBoxLayout()
        below.setSpacing(0)
        below.addWidget(self._side())
        below.addLayout(right, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._saving = QMenu(self)
        self._saving.aboutToShow.connect(
            lambda: fill_menu(self._saving, self._views.get(state.view))
        )
        save = Button(_("Save"), "save", name=_("Save the view"), menu=self._saving)
        layout.addWidget(
            PageHeader(
                _("Inspect"),
                _("How the model reads a text, what it predicts, and why"),
                save,
                self._correct,
            )
        )
        layout.addLayout(below, 1)
        self.first = self._input

    # ---------------------------------------------------------------- parts

    def _side(self) -> QWidget:
        self._model = combo(name=_("Model"))
        self._model.activated.connect(lambda index: self.state.choose(self._model.itemData(index)))
        model = Field(_("Run or model"), self._model, name=_("Model"))
        side = column(
            model, (self._listed, 1), self._bar(), gap=8, margins=(12, 14, 12, 10), part="side"
        )
        self._left = side
        return side

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        share = max(self.width() // 4, self._listed.needed_width())
        self._left.setFixedWidth(min(theme.px(SIDE), share))
        self._pick.shorten(self.width() < theme.px(NARROW), _("Pick document…"))

    def _asking(self) -> QWidget:
        self._input, self._second = QLineEdit(), QLineEdit()
        self._input.setPlaceholderText(_("Type a text, or pick a document"))
        for line in (self._input, self._second):
            line.textEdited.connect(lambda _text: self._pause.start())
            line.returnPressed.connect(self._ask_at_once)
        text = Field(_("Text, or a document of the project"), self._input, name=_("Input"))
        self._pick = Button(_("Pick document…"), "database", on=self.pick)
        back = Button(
            "", "chevron-left", on=lambda: self.state.step(-1), name=_("Previous document")
        )
        on = Button("", "chevron-right", on=lambda: self.state.step(1), name=_("Next document"))
        beside = column(text.above(), row(self._pick, back, on, gap=6), None, gap=0)
        return row((text, 1), beside, gap=12)

    def _second_row(self) -> QWidget:
        self._second_field = Field(
            _("Second text of the pair"), self._second, name=_("Second input")
        )
        return self._second_field

    def _bar(self) -> QWidget:
        return column(self._loading, self._busy, gap=6)

    # ---------------------------------------------------------------- input

    def _typed(self) -> None:
        text = self._input.text()
        if text.strip():
            self.state.type_text(text, self._second.text())

    def _ask_at_once(self) -> None:
        """Enter runs the model even on an unchanged text; a selected document stays selected."""
        waiting = self._pause.isActive()
        self._pause.stop()
        if waiting or self.state.document is None:
            self._typed()
        else:
            self.state.ask()

    def pick(self) -> None:
        """Choose a document of the project from a searchable list."""
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
            self._second_field.setVisible(state.texts == 2)
        if concerns(fields, "offers", "view"):
            self._listed.set(state.offers, state.view)
        if concerns(fields, "document", "document_id"):
            self._show_text()
        self._show_answer()
        if (view := self._view_of(state.view)) is not None:
            view.show_state(ALL if concerns(fields, "view") else fields)

    def _shown_changed(self, id: str, fields: frozenset[str]) -> None:
        """The state of an inspector has changed."""
        if id == self.state.view and self.isVisible():
            self._show_answer()
            if (view := self._views.get(id)) is not None:
                view.show_state(fields)

    def _show_answer(self) -> None:
        state = self.state
        self._warning.set(" ".join(state.warnings))
        self._fault.set(state.error)
        self._show_progress()
        self._pages.setCurrentWidget(self._page())
        shown = state.current
        told = _(shown.info.shows) if shown is not None and shown.info is not None else ""
        self._shows.setText(told)
        self._foot.setVisible(bool(told) and self._pages.currentWidget() not in self._stand_ins)

    def _view_of(self, id: str) -> InspectorView | None:
        """The view of an inspector, created when first shown."""
        if id and id not in self._views:
            shown = self.state.of(id)
            make = self.state.context.attempt(registry().view, "inspector", id) or PlainView
            self._views[id] = make(shown)
            self._pages.addWidget(self._views[id])
            shown.listen(shown.changed, lambda fields: self._shown_changed(id, fields))
        return self._views.get(id)

    def _page(self) -> QWidget:
        """Show a view once it has a result; its last result stays until the next one arrives."""
        state, shown = self.state, self.state.current
        view = self._view_of(state.view)
        if shown is None or view is None:
            return self._empty
        if shown.result is not None:
            self._answered[state.view] = state.choice
            return view
        seen = self._answered.get(state.view) == state.choice
        if state.loading and not seen:
            return self._opening
        return view if state.asking else self._empty

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
            told = _("Loading the model…")
        elif state.asking:
            told = _("Running the model…")
        self._loading.setText(told)
        self._loading.setVisible(bool(told))
